// The store: large states in this browser's IndexedDB, each under the mark in its address. Python
// sends one order at a time: find a state, keep one, or forget them all. A state is a link whose
// matrices are named "@digest"; their texts are kept once, under the digest.

const NAME = 'attention-stage-by-stage'
const STATES = 50            // the newest stay
const CHARACTERS = 50e6      // of all states together
const LONGEST = 18 * 2 ** 20 // characters of a state that Python takes
const PATIENCE = 20_000      // ms for the database to answer
const TRIES = 3              // a message too large closes the connection, and the server asks again

const opened = () => new Promise((resolve, reject) => {
  const request = indexedDB.open(NAME, 1) // throws, or reports an error, where storage is refused
  request.onupgradeneeded = () => {
    for (const name of ['states', 'parts']) request.result.createObjectStore(name)
  }
  request.onsuccess = () => resolve(request.result)
  request.onerror = () => reject(request.error)
})
const answer = request => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result)
  request.onerror = () => reject(request.error)
})

// Do something within one transaction on both tables; it is over when all is written.
const within = async (mode, act) => {
  const base = await opened()
  try {
    const transaction = base.transaction(['states', 'parts'], mode)
    const over = new Promise((resolve, reject) => {
      transaction.oncomplete = resolve
      transaction.onabort = transaction.onerror = () =>
        reject(transaction.error ?? new Error('it was not written'))
    })
    over.catch(() => {}) // also where `act` fails first
    const result = await act(transaction.objectStore('states'), transaction.objectStore('parts'))
    await over
    return result
  } finally { base.close() }
}
const inTime = promise => {
  const late = new Error('its database does not answer')
  const waited = new Promise((_, reject) => setTimeout(() => reject(late), PATIENCE))
  return Promise.race([promise, waited])
}

const isDigest = text => text.startsWith('@')
export const named = link => Object.values(link).filter(isDigest).map(text => text.slice(1))

const keep = ({ keep: mark, link, parts }) => within('readwrite', async (states, pieces) => {
  const held = new Set(await answer(pieces.getAllKeys()))
  const marks = await answer(states.getAllKeys())
  const known = await answer(states.getAll())
  const lacking = named(link).filter(digest => !held.has(digest) && !(digest in parts))
  if(lacking.length) return lacking
  // By digest, as the states say them, so that no text is read to be counted.
  const sizes = Object.assign({}, ...known.map(state => state.sizes))
  for(const [digest, text] of Object.entries(parts)) {
    pieces.put(text, digest)
    sizes[digest] = text.length
    held.add(digest)
  }
  const own = Object.fromEntries(named(link).map(digest => [digest, sizes[digest] ?? 0]))
  const state = { link, at: Date.now(), sizes: own }
  states.put(state, mark)
  const others = marks.map((other, place) => [other, known[place]])
    .filter(([other]) => other !== mark)
    .sort(([, a], [, b]) => b.at - a.at)
  drop([[mark, state], ...others], held, states, pieces)
  return []
})

// The newest states stay as long as they fit; and of the texts, those that such a state names.
export const drop = (newestFirst, held, states, pieces) => {
  const used = new Set()
  let characters = 0
  newestFirst.forEach(([mark, state], place) => {
    const more = Object.entries(state.sizes).filter(([digest]) => !used.has(digest))
    characters += more.reduce((sum, [, size]) => sum + size, JSON.stringify(state.link).length)
    if (place > 0 && (place >= STATES || characters > CHARACTERS)) states.delete(mark)
    else for (const digest of Object.keys(state.sizes)) used.add(digest)
  })
  for(const digest of held) if (!used.has(digest)) pieces.delete(digest)
}

// The state as a file, or null where there is none under this mark.
const find = mark => within('readonly', async (states, pieces) => {
  const state = await answer(states.get(mark))
  if(!state) return null
  const link = {}
  for(const [name, text] of Object.entries(state.link))
    link[name] = isDigest(text) ? await answer(pieces.get(text.slice(1))) : text
  if(Object.values(link).some(text => typeof text !== 'string')) return null
  const file = JSON.stringify({ attention: 'stage by stage', link })
  if(file.length > LONGEST) throw new Error('it is too large for the server')
  return file
})

const forget = () => within('readwrite', async (states, pieces) => {
  for(const key of Object.keys(sessionStorage)) { // what was typed: typed.js
    if (key.startsWith(NAME)) sessionStorage.removeItem(key)
  }
  states.clear()
  pieces.clear()
})

const tried = new Map()      // mark: how often the server asked for it within a minute
const done = new WeakMap()   // element: the order it carried out last

export default function ({ data, parentElement, setTriggerValue }) {
  const bytes = data instanceof Uint8Array ? data : new Uint8Array(data)
  const order = JSON.parse(new TextDecoder().decode(bytes))
  if(done.get(parentElement) === order.turn) return
  done.set(parentElement, order.turn)
  const why = error => String(error?.message || error?.name || error)
  if(order.find) {
    const mark = order.find
    tried.set(mark, (tried.get(mark) ?? 0) + 1)
    setTimeout(() => tried.set(mark, tried.get(mark) - 1), 60_000)
    const answered = tried.get(mark) > TRIES
      ? Promise.reject(new Error('the server does not take it'))
      : inTime(find(mark))
    answered.then(
      file => setTriggerValue('found', { mark, file }),
      error => setTriggerValue('found', { mark, file: null, why: why(error) }))
  } else if (order.keep) {
    const failed = error => setTriggerValue('failed', { mark: order.keep, why: why(error) })
    const told = digests => { if (digests.length) setTriggerValue('lacks', { digests }) }
    inTime(keep(order)).then(told, failed)
  } else if (order.forget) {
    inTime(forget()).catch(error => setTriggerValue('failed', { mark: '', why: why(error) }))
  }
}
