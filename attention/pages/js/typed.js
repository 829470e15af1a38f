// What is typed, kept in this tab (sessionStorage) until it is closed. Python says which values of
// the page are kept and what they are; a text that is being typed is kept before Python has it.

const PREFIX = 'attention-stage-by-stage typed '
const PAUSE = 200             // ms without a letter, then a text is written
const known = new Set()       // names that are kept
const waiting = new Map()     // name: a text that is not written yet
const told = new Map()        // name: what Python said last
const before = new Map()      // session: what the tab kept as that session began
const lost = new Map()        // name: why it is not kept
const said = new Map()        // session: what was said of that last
let timer = 0
let report = () => {}

const write = (name, value) => {
  try {
    if (value === undefined || value === '') sessionStorage.removeItem(PREFIX + name)
    else sessionStorage.setItem(PREFIX + name, JSON.stringify(value))
    lost.delete(name)
  } catch (error) {
    const isLong = error?.name === 'QuotaExceededError'
    lost.set(name, isLong ? 'it is too long' : String(error?.message || error?.name || error))
    try { sessionStorage.removeItem(PREFIX + name) } catch { /* nothing is kept */ }
  }
}
const flush = () => {
  for (const [name, text] of waiting) write(name, text)
  waiting.clear()
  report()
}
const read = names => {
  const found = {}
  for (const name of names) {
    try {
      const text = sessionStorage.getItem(PREFIX + name)
      if (text !== null) found[name] = JSON.parse(text)
    } catch { /* nothing is kept */ }
  }
  return found
}
const nameOf = box => box.closest('[class*=st-key-set_]')?.className.match(/st-key-set_(\w+)/)?.[1]
const focused = () => /** @type {HTMLTextAreaElement} */ (document.activeElement)
const isTyped = name => {
  const box = focused()
  return box?.tagName === 'TEXTAREA' && nameOf(box) === name
}

document.addEventListener('input', event => {
  const target = /** @type {HTMLTextAreaElement} */ (event.target)
  const name = target.tagName === 'TEXTAREA' ? nameOf(target) : undefined
  if (!known.has(name)) return
  waiting.set(name, target.value)
  clearTimeout(timer)
  timer = setTimeout(flush, PAUSE)
})
window.addEventListener('pagehide', flush)

export default function ({ data, setTriggerValue }) {
  const { names, values, session, ask } = JSON.parse(new TextDecoder().decode(data))
  const mark = `${session} ${names}`
  report = () => {
    const why = [...lost.values()][0] ?? ''
    if (why === (said.get(mark) ?? '')) return
    said.set(mark, why)
    setTriggerValue('failed', why)
  }
  if (!before.has(mark)) {
    write('probe', true)
    flush()
    before.set(mark, read(names))
  }
  for (const name of names) known.add(name)
  const missing = Object.entries(before.get(mark)).filter(([name]) => ask && !(name in values))
  if (missing.length) {
    // a text that is typed just now stays as it is, and comes with its next move
    const there = missing.filter(([name]) => !isTyped(name))
    setTriggerValue('found', Object.fromEntries(there))
    return
  }
  before.set(mark, {})
  for (const name of names) {
    const value = values[name]
    if (told.has(name) && told.get(name) === value) continue
    told.set(name, value)
    write(name, isTyped(name) ? focused().value : value)
  }
  report()
}
