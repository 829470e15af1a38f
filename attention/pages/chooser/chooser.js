// The chooser of files. A file within the limit is sent whole, of a larger one the first bytes, in
// one message for all that were chosen at once; Python answers with their names.

const LARGER = { kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 }

const sizeOf = bytes => {
  const units = Object.entries(LARGER).filter(([, size]) => bytes >= size)
  const [unit, size] = units.at(-1) ?? ['bytes', 1]
  return `${Number((bytes / size).toPrecision(2))} ${unit}`
}

// Its bytes as base64, the way that costs least in every browser.
const base64 = blob => new Promise((resolve, reject) => {
  const reader = new FileReader()
  reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(',') + 1))
  reader.onerror = () => reject(reader.error)
  reader.readAsDataURL(blob)
})

class Chooser {
  constructor (root) {
    this.root = root
    this.turn = 0    // counts the choices
    this.awaited = 0 // the one that Python has not answered yet
    this.area = make('label', 'chooser-area', root)
    this.input = make('input', 'chooser-input', this.area)
    this.input.type = 'file'
    this.label = make('span', 'chooser-label', this.area)
    this.says = make('span', 'chooser-says', this.area)
    this.list = make('ul', 'chooser-list', root)
    this.status = make('p', 'chooser-status', root)
    this.status.setAttribute('role', 'status')
    this.input.onchange = () => {
      const files = [...this.input.files]
      this.input.value = '' // so that the same file can be chosen again
      if (files.length) this.send(files)
    }
    this.over = 0 // how many parts of the area a file is held over
    const held = event => event.dataTransfer?.types.includes('Files')
    const on = (kind, act) => this.area.addEventListener(kind, event => {
      if (!held(event)) return
      event.preventDefault()
      act(event)
      this.area.classList.toggle('over', this.over > 0)
    })
    on('dragenter', () => { this.over += 1 })
    on('dragleave', () => { this.over -= 1 })
    on('dragover', () => {})
    on('drop', event => {
      this.over = 0
      this.send([...event.dataTransfer.files])
    })
    this.ended = new AbortController()
    for (const kind of ['dragover', 'drop']) { // beside the area the browser would open the file
      const stay = event => { if (held(event)) event.preventDefault() }
      window.addEventListener(kind, stay, { signal: this.ended.signal })
    }
    this.lost = new MutationObserver(() => {
      if (this.awaited && !connected()) this.failed(UNTAKEN)
    })
    const page = document.querySelector('[data-testid=stApp]')
    if (page) this.lost.observe(page, { attributeFilter: ['data-test-connection-state'] })
    root.addEventListener('keydown', event => event.stopPropagation()) // no shortcuts of the page
  }

  async send (files) {
    const { files: most, bytes, state, head } = this.last.limits
    const many = files.length > 1 ? `${files.length} files` : files[0]?.name
    if (files.length > most) {
      this.status.textContent = `These are ${many}; ` +
        (most > 1 ? `at most ${most} are taken at once.` : 'one is taken at a time.')
      return
    }
    const turn = this.awaited = this.turn += 1
    this.list.replaceChildren()
    this.status.textContent = files.length ? `Reading ${many} …` : ''
    const mayBeState = files.some(file => file.name.toLowerCase().endsWith('.json'))
    let room = mayBeState ? state : bytes // that is left of what is sent in one message
    let beginnings = head
    const parts = files.map(file => {
      const whole = file.size <= room
      const size = whole ? file.size : Math.min(beginnings, file.size)
      if (whole) room -= size
      else beginnings -= size
      return file.slice(0, size)
    })
    try {
      const sent = await Promise.all(parts.map(base64))
      if (turn !== this.turn) return // others were chosen meanwhile
      const found = files.map(({ name, size }, k) => ({ name, size, sent: sent[k] }))
      if (connected()) this.setTriggerValue('chosen', { turn, files: found })
      else this.failed(UNTAKEN)
    } catch (error) {
      if (turn !== this.turn) return
      this.failed(`This browser cannot read ${many}, as if it were a folder or had changed` +
        ` meanwhile (${error?.message ?? error}).`)
    }
  }

  // All stays as it was.
  failed (sentence) {
    this.awaited = 0
    this.show(this.last)
    this.status.textContent = sentence
  }

  show (data) {
    this.last = data
    this.input.multiple = data.limits.files > 1
    this.label.textContent = data.label
    this.says.textContent = data.says
    if (data.turn < this.awaited) return // what was chosen since is on its way
    const answered = this.awaited > 0 && data.files.length > 0
    this.awaited = 0
    this.turn = Math.max(this.turn, data.turn)
    this.status.textContent = ''
    this.list.replaceChildren()
    for (const [name, size] of data.files) {
      const line = make('li', '', this.list)
      make('span', 'chooser-name', line, name)
      make('span', 'chooser-size', line, sizeOf(size))
    }
    if (data.files.length) this.remove(data.files)
    if (answered) this.bringIntoSight()
  }

  // On a phone what was read stands below the fold: once it is there, the name goes to the top.
  async bringIntoSight () {
    const part = this.root.closest('.st-key-dock_content')
    if (!part || window.innerWidth > 640) return
    const { turn } = this
    const page = document.querySelector('[data-testid=stApp]')
    const last = performance.now() + 5000
    do await new Promise(resolve => setTimeout(resolve, 100))
    while (page.dataset.testScriptState !== 'notRunning' && performance.now() < last)
    if (turn !== this.turn) return // others were chosen meanwhile
    part.scrollTop += this.list.getBoundingClientRect().top - part.getBoundingClientRect().top
  }

  remove (files) {
    const away = make('button', 'chooser-remove', this.list.lastChild, '✕')
    away.type = 'button'
    away.title = `Take ${files.length > 1 ? 'these files' : files[0][0]} away`
    away.setAttribute('aria-label', away.title)
    away.onclick = () => {
      this.send([])
      this.input.focus()
    }
  }

  end () {
    this.ended.abort()
    this.lost.disconnect()
    this.root.replaceChildren()
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector('.chooser')
  return callOn(root, Chooser, chooser => {
    chooser.setTriggerValue = setTriggerValue
    chooser.show(JSON.parse(new TextDecoder().decode(data)))
  })
}
