// The board: panes that stay where they are. Python sends figures; heatmaps are painted on canvases
// at once, charts are drawn by Plotly, which is fetched for the first of them. Hovers are linked,
// and Python is told what was clicked, typed, dragged and turned.

import { copyImage, copyText, saveFile } from '../clipboard.js'
import {
  UNTAKEN,
  callOn,
  childrenOf,
  connected,
  make,
  modeAround,
  pageAround,
  px,
  watchThemes
} from '../elements.js'
import { plotly } from '../plotly.js'
import { calledOf, textOf } from './cells.js'
import { Editor } from './editor.js'
import { Edits, PATIENCE } from './edits.js'
import { GAP, HIGHEST, LOWEST, ROW, SHORT, TALL, chart, fitted, read, usualTop } from './fit.js'
import { Grid } from './grid.js'
import { boardPicture, panePicture } from './image.js'
import { glow, paint } from './paint.js'
import { areaOf, axesOf, isSeen } from './part.js'
import { Presenter } from './present.js'
import { TOO_MANY, asText, fillTable } from './tables.js'
import { forgetWidths, mathText, widthOf } from './text.js'

const SOON = 500 // ms: what takes longer is said to be made
const STAYS = 4000 // ms that a sentence stays at least while more is typed
const SEEN = 3 // px: a frame around a smaller cell
const SHORTLY = 2000 // and until other numbers stand on the board
const PRESENTS = 'One stage at a time, for a room: P'
const SHAPE = 14 // px: letters that are as wide as those of a pane's shape, which are bold

// Where this page was opened in the browser's history: what was changed is not undone past it.
window.__attentionOpened ??= window.navigation?.currentEntry?.index ?? 0

class Board {
  constructor(root) {
    this.root = root
    this.panes = new Map()
    this.formula = make('div', 'board-formula', root)
    this.formula.setAttribute('role', 'group')
    this.formula.setAttribute('aria-label', 'The formula; point at a part to find its stage')
    this.groups = make('div', 'board-groups', root)
    this.live = make('div', 'board-live', root)
    this.live.setAttribute('aria-live', 'polite')
    this.untaken = make('p', 'board-untaken', root)
    this.untaken.setAttribute('role', 'status')
    this.untaken.hidden = true
    this.tip = make('div', 'board-tip', root)
    this.editor = new Editor()
    this.edits = new Edits(
      message => this.send('edited', message),
      stage => this.touched(stage),
      sentence => this.say(sentence)
    )
    this.presenter = new Presenter(this)
    this.width = 0
    this.byTouch = false // the last click
    this.watch()
  }

  // Draw anew where the width, the theme or the screen is another.
  watch() {
    // Streamlit listens for its shortcuts on the document: keys of the board are the board's own
    for (const type of ['keydown', 'keyup', 'keypress']) {
      this.root.addEventListener(type, event => event.stopPropagation())
    }
    this.resize = new ResizeObserver(() => {
      if (!this.head || Math.abs(this.root.clientWidth - this.width) < 2) return
      this.soon(false)
    })
    this.resize.observe(this.root)
    this.themes = watchThemes(this.root, () => {
      if (this.head && modeAround(this.root) !== this.drawn) this.draw(true)
    })
    this.ended = new AbortController()
    const { signal } = this.ended
    const loaded = () => {
      forgetWidths()
      if (this.head) this.soon(true)
    }
    document.fonts?.addEventListener('loadingdone', loaded, { signal })
    window.addEventListener('beforeunload', event => this.leaving(event), { signal })
    window.addEventListener('click', event => this.following(event), { signal, capture: true })
    const key = event => this.presenter.key(event)
    window.addEventListener('keydown', key, { signal, capture: true }) // before all others
    window.addEventListener('resize', () => this.presenter.stage && this.soon(true), { signal })
    this.sharpen()
  }

  // The browser asks before it leaves what was typed and has not arrived.
  leaving(event) {
    this.editor.keep()
    if (!this.edits.idle) event.preventDefault()
  }

  // A link to another page is followed once all that was typed has arrived.
  following(event) {
    const link = event.target.closest?.('a[href]')
    const elsewhere = link?.download || link?.target || event.ctrlKey || event.metaKey
    if (!link || elsewhere || event.shiftKey || this.edits.idle) return
    event.preventDefault()
    event.stopImmediatePropagation()
    this.until(() => this.edits.idle, PATIENCE).then(arrived => {
      if (arrived) link.click()
      else this.say('What you typed has not arrived yet, so the page stays; try again.')
    })
  }

  // Wait until it holds, at most so many ms; whether it does.
  async until(holds, patience) {
    const last = performance.now() + patience
    while (!holds()) {
      if (performance.now() > last) return false
      await new Promise(resolve => setTimeout(resolve, 20))
    }
    return true
  }

  soon(all) {
    cancelAnimationFrame(this.pending)
    this.pending = requestAnimationFrame(() => this.draw(all))
  }

  // Another screen may have other pixels; each is asked about once.
  sharpen() {
    const query = window.matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`)
    const other = () => {
      this.sharpen()
      if (this.head) this.soon(true)
    }
    query.addEventListener('change', other, { once: true, signal: this.ended.signal })
  }

  show(head, emit) {
    const other = head.tag !== this.head?.tag
    if (other && performance.now() - (this.saidAt ?? 0) > SHORTLY) this.say('')
    this.head = head
    this.send = emit
    this.edits.heard(head.edits)
    this.writeFormula()
    this.arrange()
    this.draw(false, true)
    if (this.Plotly || head.panes.every(({ rows }) => rows)) return
    plotly(head.plotly)
      .then(Plotly => {
        // one that ended meanwhile may have another in its place, whose tag it must not take
        if (!this.root.isConnected || this.Plotly || this.ended.signal.aborted) return
        this.Plotly = Plotly
        this.draw(false)
      })
      .catch(error => {
        this.root.dataset.error = String(error)
        this.live.textContent = String(error)
      })
  }

  // Tell Python. Streamlit drops what a component sends while the connection is down, so then the
  // person is told.
  emit(name, value) {
    this.untaken.hidden = true
    if (connected()) return this.send(name, value)
    this.say(UNTAKEN)
  }

  // One sentence below the board; "" takes it away. That something was done goes by itself.
  say(sentence, done = false) {
    this.untaken.textContent = sentence
    this.untaken.hidden = !sentence
    this.untaken.classList.toggle('done', done)
    this.saidAt = performance.now()
    if (done) setTimeout(() => this.untaken.textContent === sentence && this.say(''), STAYS)
  }

  // Something was typed: what was said before is over, unless it was said just now.
  touched(stage) {
    if (performance.now() - (this.saidAt ?? 0) > STAYS) this.untaken.hidden = true
    const pane = this.panes.get(stage)
    if (pane) pane.soon ??= requestAnimationFrame(() => this.paint(pane)) // a paste touches many
  }

  // Back and forward through what was changed, a step after the other.
  undo(step) {
    this.travels = (this.travels ?? Promise.resolve()).then(() => this.travel(step))
  }

  // One step, once all that was changed has arrived; never past the opening.
  async travel(step) {
    const rests = () => pageAround(this.root).dataset.testScriptState === 'notRunning'
    await this.until(() => this.edits.idle && rests(), 3000)
    const { navigation } = window
    const index = (navigation?.currentEntry?.index ?? 0) + step
    const { url, key } = navigation?.entries()[index] ?? {}
    if (!url || index < window.__attentionOpened) return
    if (new URL(url).pathname !== location.pathname) return
    await navigation.traverseTo(key).finished.catch(() => {}) // overtaken by another
  }

  writeFormula() {
    const text = JSON.stringify([this.head.formula ?? [], this.head.remark])
    if (text === this.formulaText) return
    this.formulaText = text
    this.formula.replaceChildren()
    this.formula.hidden = !this.head.formula?.length
    const remark = make('span', 'board-remark', this.formula, this.head.remark ?? '')
    const present = make('button', 'board-tool board-present', this.formula, 'Present')
    Object.assign(present, { type: 'button', title: PRESENTS })
    present.onclick = () => this.presenter.enter()
    for (const [words, stage] of this.head.formula ?? []) {
      const part = make(stage ? 'button' : 'span', 'board-part')
      remark.before(part)
      mathText(part, words)
      if (!stage) continue
      part.setAttribute('type', 'button')
      part.dataset.stage = stage
      part.title = `Show ${stage}`
      part.onmouseenter = part.onfocus = () => this.light(stage)
      part.onmouseleave = part.onblur = () => this.light(null)
      part.onclick = () => {
        const pane = this.panes.get(stage)?.element
        pane?.scrollIntoView({ block: 'center', behavior: 'smooth' })
        pane?.focus({ preventScroll: true })
      }
    }
  }

  light(stage) {
    for (const [name, pane] of this.panes) pane.element.classList.toggle('lit', name === stage)
    for (const part of childrenOf(this.formula))
      part.classList.toggle('lit', !!stage && part.dataset.stage === stage)
  }

  // Light the stage that the walk speaks of, and bring it into sight when the walk goes on.
  accompany() {
    const { lit, spokenOf } = this.head
    for (const [name, { element }] of this.panes) {
      element.classList.toggle('dim', spokenOf.length > 0 && !spokenOf.includes(name))
      if (name === lit) element.setAttribute('aria-current', 'step')
      else element.removeAttribute('aria-current')
    }
    for (const part of childrenOf(this.formula))
      part.classList.toggle('walked', !!lit && part.dataset.stage === lit)
    if (lit && this.lit && lit !== this.lit)
      this.panes.get(lit)?.element.scrollIntoView({ block: 'nearest' })
    this.lit = lit
  }

  arrange() {
    this.tag = this.head.tag ?? ''
    const wanted = new Set(this.head.panes.map(p => p.name))
    for (const [name, pane] of this.panes) {
      if (wanted.has(name)) continue
      this.purge(pane)
      pane.element.remove()
      this.panes.delete(name)
    }
    const groups = new Map(childrenOf(this.groups).map(node => [node.dataset.group, node]))
    for (const spec of this.head.panes) {
      let group = groups.get(spec.group)
      if (!group) {
        group = make('div', 'board-group', this.groups)
        group.dataset.group = spec.group
        groups.set(spec.group, group)
      }
      const pane = this.panes.get(spec.name) ?? this.create(spec)
      pane.spec = spec
      this.describe(pane)
      if (pane.element.parentElement !== group) group.append(pane.element)
    }
    const order = this.head.panes.map(p => p.name)
    for (const group of groups.values()) {
      const inside = order.filter(name => this.panes.get(name).element.parentElement === group)
      inside.forEach((name, k) => {
        const node = this.panes.get(name).element
        if (group.children[k] !== node) group.insertBefore(node, group.children[k] ?? null)
      })
      group.style.setProperty('--panes', inside.length)
      if (!inside.length) group.remove()
    }
    const place = name => this.head.panes.findIndex(p => p.group === name)
    const sorted = childrenOf(this.groups).sort(
      (a, b) => place(a.dataset.group) - place(b.dataset.group)
    )
    sorted.forEach((node, k) => {
      if (this.groups.children[k] !== node) this.groups.insertBefore(node, this.groups.children[k])
    })
  }

  create(spec) {
    const element = make('section', 'board-pane')
    element.dataset.stage = spec.name
    element.tabIndex = -1
    const body = make('div', 'board-body', element)
    const pane = /** @type {any} */ ({ element, body, spec })
    const header = make('header', 'board-head', body)
    pane.symbol = make('strong', 'board-symbol', header)
    pane.equals = make('span', 'board-equals', header)
    this.addTools(pane, header)
    const line = make('p', 'board-sentence', body)
    pane.shape = make('span', 'board-shape', line)
    pane.sentence = make('span', '', line)
    pane.frame = make('div', 'board-plot', body)
    pane.frame.tabIndex = 0
    if (spec.rows) {
      pane.canvas = make('canvas', 'board-canvas', pane.frame)
      pane.canvas.ariaHidden = 'true' // the active cell says what is there
      pane.cells = make('div', 'board-cells', pane.frame)
      pane.box = make('div', 'board-box', pane.cells)
      pane.box.hidden = true
      pane.glow = make('canvas', 'board-glow', pane.frame)
      pane.marks = [0, 1, 2].map(() => make('div', 'board-mark', pane.frame))
      pane.cursor = make('div', 'board-cursor', pane.frame)
      pane.grid = new Grid(this, pane)
      this.addBelow(pane)
    } else {
      pane.plot = make('div', '', pane.frame)
      pane.frame.setAttribute('role', 'img')
    }
    element.onmouseenter = () => this.light(spec.name)
    element.onmouseleave = () => this.light(null)
    this.panes.set(spec.name, pane)
    return pane
  }

  // Below the cells: one more token, or the switch to draw a mask.
  addBelow(pane) {
    pane.under = make('div', 'board-under', pane.body) // not in the grid, which has rows alone
    pane.draw = make('button', 'board-below', pane.under, 'Draw mask')
    Object.assign(pane.draw, { type: 'button', title: 'Clicks hide or show cells, drags paint' })
    pane.draw.setAttribute('aria-pressed', 'false')
    pane.draw.onclick = () => {
      this.drawing = !this.drawing
      pane.draw.setAttribute('aria-pressed', String(this.drawing))
      pane.frame.classList.toggle('drawing', this.drawing)
    }
    pane.more = make('button', 'board-below', pane.under, '+ token')
    Object.assign(pane.more, { type: 'button', title: 'Add a token' })
    pane.more.onclick = () => {
      pane.wanted = pane.n // the row to name once it is there
      this.edits.add('add', pane.spec.name, 0, pane.n)
    }
    pane.less = make('button', 'board-below', pane.under)
    Object.assign(pane.less, { type: 'button', hidden: true })
    pane.less.onmousedown = event => event.preventDefault() // the label stays chosen
    pane.less.onclick = () => this.edits.add('delete', pane.spec.name, pane.grid.at[0], pane.n)
  }

  // The menu of a pane.
  addTools(pane, header) {
    const tools = make('div', 'board-tools', header)
    const button = (parent, text, act) => {
      const node = make('button', 'board-tool', parent, text)
      node.type = 'button'
      node.onclick = act
      return node
    }
    pane.whole = button(tools, 'Zoom out', () => {
      this.see(pane, null)
      pane.frame.focus({ preventScroll: true })
    })
    pane.whole.hidden = true
    const open = button(tools, '⋯', () => toggle(menu.hidden))
    open.setAttribute('aria-label', `tools of ${pane.spec.symbol}`)
    open.setAttribute('aria-expanded', 'false')
    const menu = make('div', 'board-menu', pane.body)
    menu.hidden = true
    // keep the focus, or the menu closes before the click
    menu.onmousedown = open.onmousedown = event => event.preventDefault()
    const toggle = on => {
      menu.hidden = !on
      open.setAttribute('aria-expanded', String(on))
      if (on) childrenOf(menu)[0].focus()
    }
    const away = event => {
      if (!menu.contains(event.relatedTarget) && event.relatedTarget !== open) toggle(false)
    }
    menu.addEventListener('focusout', away)
    menu.onkeydown = event => {
      if (event.key !== 'Escape') return
      event.preventDefault()
      toggle(false)
      open.focus()
    }
    const item = (text, act) =>
      button(menu, text, () => {
        act()
        toggle(false)
        open.focus({ preventScroll: true })
      })
    if (pane.spec.rows) pane.tableButton = item('Show as table', () => this.toggleTable(pane))
    button(menu, 'Present', () => {
      toggle(false)
      open.focus({ preventScroll: true })
      this.presenter.enter(pane)
    }).title = PRESENTS
    if (pane.spec.rows) item('Copy numbers', () => this.copyNumbers(pane))
    item('Copy picture', () =>
      this.copyPicture(panePicture(this, pane), `The picture of ${pane.spec.symbol}`, pane)
    )
    item('Copy board as picture', () => {
      this.copyPicture(boardPicture(this), 'The picture of the board')
    })
    item('Download PNG', () => this.download(pane, 'png'))
    item('Download SVG', () => this.download(pane, 'svg'))
  }

  describe(pane) {
    const { spec } = pane
    const { symbol, formula, shape, sentence, alt, edit, tokens, picks, large } = spec
    const words = JSON.stringify([
      ...[symbol, formula, shape, sentence, alt, edit, !tokens, picks, large]
    ])
    if (words === pane.words) return
    pane.words = words
    mathText(pane.symbol, symbol ?? '')
    mathText(pane.equals, formula ? `=\u00a0${formula}` : '')
    pane.equals.title = formula ?? ''
    this.note(pane, ...(pane.noted ?? []))
    mathText(pane.sentence, sentence ?? '')
    pane.sentence.parentElement.title = sentence ?? ''
    const name = `${symbol} ${formula ? '= ' + formula : ''} ${shape ?? ''}`
    pane.element.setAttribute('aria-label', name)
    if (!spec.rows) return pane.frame.setAttribute('aria-label', alt)
    pane.more.hidden = !tokens
    pane.draw.hidden = edit !== 'mask'
    pane.more.setAttribute('aria-label', `Add a token to ${symbol}`)
    pane.frame.setAttribute('aria-label', name)
    pane.frame.setAttribute('aria-description', `${alt} ${this.keysOf(spec)}`)
    pane.frame.setAttribute('aria-readonly', String(!edit))
  }

  // Say beside the shape of a pane, or in its place where it is narrow, what its cells have no room
  // for; whether that is news.
  note(pane, note = '', { width = Infinity } = {}) {
    const both = [pane.spec.shape, note].filter(Boolean).join(', ')
    const said = note && widthOf(both, SHAPE) > width ? note : both
    pane.noted = [note, { width }]
    if (pane.shape.textContent === said) return false
    pane.shape.textContent = said
    pane.shape.title = note && pane.texts ? 'Point at a cell to read it in full' : ''
    return true
  }

  // What keys do in a pane, for those who do not see it.
  keysOf({ edit, picks, large }) {
    const keys = ['Arrow keys move from cell to cell']
    if (large && picks) keys.push('Enter gives the number of one')
    if (edit === 'cells') keys.push('type to change a number, Enter keeps it, Esc gives it back')
    if (edit === 'blanks') keys.push('type a number into a blank, Enter goes on to the next')
    if (edit === 'mask') keys.push('Space hides or shows one')
    if (picks && edit !== 'cells') keys.push('Enter shows where its number comes from')
    return keys.join('; ') + '.'
  }

  // ---- drawing --------------------------------------------------------------------------------

  get palette() {
    return this.head.palettes[this.drawn]
  }

  // Paint what has other numbers, another size or another theme, and nothing else; or what came as
  // an answer of Python's.
  draw(all, answered) {
    this.width = this.root.clientWidth
    if (!this.width) return // it leaves the page, or is hidden; shown again, it has another width
    const mode = modeAround(this.root)
    if (mode !== this.drawn) {
      all = true
      this.drawn = mode
      this.root.dataset.mode = mode
    }
    this.font = getComputedStyle(this.root).fontFamily
    const before = new Map()
    for (const [name, pane] of this.panes) {
      if (pane.digest === pane.spec.digest) continue
      pane.digest = pane.spec.digest
      before.set(name, pane.z)
      const shape = `${pane.n} × ${pane.m}`
      read(pane)
      if (shape !== `${pane.n} × ${pane.m}`) this.keepPart(pane, null)
      if (pane.table) fillTable(this, pane)
    }
    this.presenter.dress()
    this.settle()
    this.place()
    const charts = []
    for (const [name, pane] of this.panes) {
      if (!this.presenter.shows(pane)) continue
      if (!pane.spec.rows) charts.push(this.drawChart(pane, all || before.has(name)))
      else if (!pane.table) this.drawHeatmap(pane, all, before.has(name), before.get(name))
    }
    this.remark()
    if (answered) this.accompany()
    const { tag } = this // of what is painted now; by the end another state may have come
    const done = () => {
      if (tag === this.tag && this.root.isConnected) this.root.dataset.tag = tag
    }
    if (charts.length && !this.Plotly) return
    if (charts.length) Promise.all(charts).then(done)
    else done()
  }

  // Where each heatmap stands: all of one line begin their cells at one level. What their words say
  // of the numbers follows from that, and may need another line: then it is found once more.
  place(again = false) {
    const heatmaps = this.presenter.panes.filter(pane => pane.spec.rows && !pane.table)
    const [widths, tops] = [new Map(), new Map()]
    for (const pane of heatmaps) {
      widths.set(pane, pane.frame.clientWidth)
      const top = Math.round(pane.element.getBoundingClientRect().top)
      tops.set(top, [...(tops.get(top) ?? []), pane])
    }
    const room = this.presenter.room(tops.size, heatmaps)
    const fit = (pane, row) => fitted(pane, widths.get(pane), { row, ...room })
    for (const pane of heatmaps) pane.next = fit(pane, ROW) // for the room that its labels take
    const shares = this.shares([...tops.values()])
    for (const line of tops.values()) {
      const { row, room } = shares.get(line) ?? { row: ROW, room: 0 }
      for (const pane of line) pane.next = fit(pane, row)
      const top = Math.max(...line.map(pane => pane.next.top))
      const height = Math.max(...line.map(pane => pane.next.height))
      const rest = this.fills ? Math.max(room - height, 0) : 0
      for (const pane of line) Object.assign(pane.next, { top, rest })
    }
    const news = heatmaps.filter(pane => !pane.view && this.note(pane, pane.next.note, pane.next))
    if (news.length && !again) this.place(true)
  }

  // Whether the lines of the board share the window: each then begins where it did, whatever is
  // drawn in those above.
  get fills() {
    return !!this.root.closest('.st-key-board') && this.width >= 700
  }

  // The height of what stands below the board of Explore, at rest.
  get dock() {
    return parseFloat(getComputedStyle(this.root).getPropertyValue('--dock')) || 0
  }

  // How high the rows of each line are, and the room of its cells. Lines of short heatmaps share
  // what is left of the window alike, as far as those with many rows let them.
  shares(lines) {
    const rows = new Map(lines.map(line => [line, Math.max(...line.map(pane => pane.n))]))
    const lowest = this.fills ? LOWEST : ROW
    const isShort = line => rows.get(line) <= SHORT
    const scrolled = this.root.closest('[data-testid=stMain]')?.scrollTop ?? 0
    const above = this.groups.getBoundingClientRect().top + scrolled
    let left = window.innerHeight - above - (this.fills ? this.dock : 0)
    const usual = line => this.around(line, usualTop) // so that longer words move no line
    for (const line of lines) left -= usual(line) + (isShort(line) ? 0 : TALL)
    let sharing = lines.filter(isShort)
    const share = () => Math.floor(left / sharing.length)
    for (let over = sharing; over.length; ) {
      over = sharing.filter(line => lowest * rows.get(line) > share())
      sharing = sharing.filter(line => !over.includes(line))
      for (const line of over) left -= lowest * rows.get(line)
    }
    const found = line => {
      if (!isShort(line)) return { row: ROW, room: 0 }
      const least = lowest * rows.get(line)
      const most = Math.min(share(), HIGHEST * rows.get(line))
      const whole = usual(line) + (sharing.includes(line) ? most : least)
      const room = Math.max(whole - this.around(line), least)
      return { row: Math.min(Math.floor(room / rows.get(line)), HIGHEST), room }
    }
    return new Map(lines.map(line => [line, found(line)]))
  }

  // What stands around the cells of a line: its words, the labels of its columns, a gap.
  around(line, above = pane => pane.next.top) {
    const top = node => node.getBoundingClientRect().top
    const words = line.map(pane => top(pane.frame) - top(pane.element))
    const labels = line.map(pane => above(pane) + pane.next.bottom)
    return Math.max(...words) + Math.max(...labels) + GAP
  }

  drawHeatmap(pane, all, changed, before) {
    const waiting = this.edits.of(pane.spec.name).length
    const moved = JSON.stringify(pane.next) !== JSON.stringify(pane.places)
    if (!all && !changed && !moved && !waiting && !pane.waited) return
    pane.places = pane.next
    const { top, height, bottom, rest } = pane.places
    Object.assign(pane.frame.style, px({ height: top + height + bottom, marginBottom: rest }))
    Object.assign(pane.cells.style, px(areaOf(pane)))
    pane.under.style.top = `${pane.frame.offsetTop + top + height}px`
    this.paint(pane)
    if (before) setTimeout(() => glow(pane, before, this.palette.query)) // after this frame
    pane.grid.place()
    if (this.editor.open?.grid === pane.grid) this.editor.place()
    if (pane.wanted === undefined || pane.n <= pane.wanted) return
    pane.frame.focus({ preventScroll: true })
    pane.grid.choose(pane.wanted, -1)
    pane.grid.write(true)
    pane.wanted = undefined
  }

  paint(pane) {
    cancelAnimationFrame(pane.soon)
    pane.soon = undefined
    if (!pane.places) return
    const waiting = this.edits.of(pane.spec.name)
    pane.waited = waiting.length > 0
    paint(pane, this.palette, this.font, waiting)
    const { note } = pane.canvas.painted
    if (this.note(pane, note, pane.places)) this.soon(false) // its words may need more room
  }

  drawChart(pane, changed) {
    const width = pane.frame.clientWidth
    if (!changed && pane.width === width && pane.drawn) return null
    const layout = structuredClone(pane.spec.figure.layout)
    layout.font = { ...layout.font, color: this.palette.ink }
    delete layout.title
    Object.assign(layout, { width, uirevision: `${pane.spec.shape}` })
    const { tallest = 0 } = this.presenter.room(1, [pane])
    const figure = chart(pane, layout, this.palette, tallest)
    pane.frame.style.height = `${layout.height}px` // also before Plotly has come
    if (!this.Plotly) return null
    Object.assign(pane, { width, drawn: true })
    pane.drawing = this.Plotly.react(pane.plot, figure.data, figure.layout, CONFIG)
    return pane.drawing
  }

  // Once Plotly, which does not expect it meanwhile, has drawn a chart.
  purge(pane) {
    const drawn = Promise.resolve(pane.drawing).catch(() => {})
    drawn.then(() => pane.drawing && this.Plotly.purge(pane.plot))
  }

  // See a part of a pane closer, or all of it by null; where the same stage of other states stands
  // beside it in the same shape, the same part of these.
  see(pane, view) {
    this.editor.keep()
    const alike = new Set([pane])
    for (const { spec, n, m } of alike) {
      for (const [stage, what] of spec.sources ?? []) {
        const other = this.panes.get(stage)
        if (what === 'same' && other?.n === n && other.m === m) alike.add(other)
      }
    }
    for (const each of alike) {
      this.keepPart(each, view)
      const { grid } = each
      if (grid.at && !isSeen(each, grid.at)) grid.at = null
      this.paint(each)
      grid.place()
    }
    this.unmark()
  }

  keepPart(pane, view) {
    pane.view = view
    pane.whole.hidden = !view || !!pane.table
  }

  // Give each pane the width it needs: a group that does not fit takes more lines, as even as can
  // be. Only the board's width is asked, not the groups', so that no layout follows from another.
  settle() {
    for (const group of childrenOf(this.groups)) {
      const inside = childrenOf(group).map(node => this.panes.get(node.dataset.stage))
      if (!inside.every(pane => pane.need)) continue // charts
      const { tracks, dense, total } = this.fitting(inside)
      const columns = tracks.length
      group.classList.toggle('dense', dense)
      group.classList.toggle('narrow', columns > 3)
      group.style.gridTemplateColumns = tracks
        .map(track => `minmax(min(100%, ${track}px), 1fr)`)
        .join(' ')
      // two groups may share a line
      const alone = columns < inside.length
      group.style.flexBasis = alone ? '100%' : `${Math.max(total, inside.length * 180)}px`
      inside.forEach((pane, k) => pane.element.classList.toggle('last', (k + 1) % columns === 0))
    }
  }

  // The columns of a group that let it be read in the fewest lines, close together where that
  // saves one. What a setting added at its end takes a line more, and moves none of the others.
  fitting(inside) {
    const lone = inside.filter(pane => !pane.spec.added)
    for (let lines = 1; ; lines++) {
      const columns = Math.ceil(lone.length / lines)
      for (const more of inside.length > lone.length && lines === 1 ? [1, 0] : [0]) {
        for (const dense of columns + more > 4 ? [columns + more > 5, true] : [false]) {
          const found = this.tracked(inside, columns + more, dense)
          if (columns === 1 || found.total <= this.width) return found
        }
      }
    }
  }

  // The widths of so many columns, and of all of them with the gaps that board.css has.
  tracked(inside, columns, dense) {
    const tracks = Array(columns).fill(dense ? 120 : 168)
    inside.forEach(({ need }, k) => {
      tracks[k % columns] = Math.max(tracks[k % columns], Math.ceil(need + (dense ? 0 : 8)))
    })
    const gaps = (columns - 1) * (dense ? 7.2 : 11.2)
    return { tracks, dense, total: tracks.reduce((a, b) => a + b) + gaps }
  }

  // ---- hover and clicks -----------------------------------------------------------------------

  pick(pane, i, j) {
    if (pane.spec.picks) this.emit('picked', { stage: pane.spec.name, i, j })
  }

  mark(pane, i, j, named = true) {
    this.unmark()
    this.marked = [pane, i, j, named]
    this.box(pane, pane.cursor, i, i, j, j)
    this.follow(pane, i, j, new Map())
    if (!named) return
    this.tip.textContent = `${calledOf(pane, i, j)}   ${textOf(pane, i, j)}`
    const area = this.root.getBoundingClientRect()
    const box = pane.cursor.getBoundingClientRect()
    this.tip.style.display = 'block'
    const middle = box.left - area.left + box.width / 2 - this.tip.offsetWidth / 2
    const left = Math.min(Math.max(middle, 0), area.width - this.tip.offsetWidth)
    const top = box.top - area.top - this.tip.offsetHeight - 6
    Object.assign(this.tip.style, px({ left, top }))
  }

  // Nothing is pointed at: the chosen cell and its sources are marked while it has the keyboard.
  rest() {
    const pane = [...this.panes.values()].find(({ frame }) => frame === document.activeElement)
    const [i, j] = pane?.grid?.at ?? [0, -1]
    if (j < 0) return this.unmark()
    this.mark(pane, i, j, false)
  }

  // Mark the rows, columns and cells that this cell was made from; a cell-to-cell step is followed
  // further back.
  follow(pane, i, j, used) {
    for (const [stage, what] of pane.spec.sources ?? []) {
      const source = this.panes.get(stage)
      if (!source?.n) continue
      const { n, m } = source
      const k = used.get(stage) ?? 0
      const box = source.marks[Math.min(k, 2)]
      used.set(stage, k + 1)
      if (what === 'cell') {
        this.box(source, box, i, i, j, j)
        this.follow(source, i, j, used)
      }
      if (what === 'same') this.box(source, box, i, i, j, j) // of another state
      if (what === 'row i') this.box(source, box, i, i, 0, m - 1)
      if (what === 'row j') this.box(source, box, j, j, 0, m - 1)
      const row = what === 'bucket' && pane.spec.buckets[i][j]
      if (what === 'bucket') this.box(source, box, row, row, 0, m - 1)
      if (what === 'column j') this.box(source, box, 0, n - 1, j, j)
    }
  }

  box(pane, node, i0, i1, j0, j1) {
    if (!pane.places || pane.table || i1 >= pane.n || j1 >= pane.m) return
    const { x, y } = axesOf(pane)
    const { left, right, top, width, height } = pane.places
    const across = v => Math.min(Math.max(x(v), left), width - right)
    const down = v => Math.min(Math.max(y(v), top), top + height)
    const [x0, x1, y0, y1] = [across(j0 - 0.5), across(j1 + 0.5), down(i0 - 0.5), down(i1 + 0.5)]
    const [w, h] = [x1 - x0, y1 - y0]
    const [more, higher] = [Math.max(SEEN - w, 0), Math.max(SEEN - h, 0)]
    if (w <= 0 || h <= 0) return
    const corner = { left: x0 - more / 2, top: y0 - higher / 2 }
    Object.assign(node.style, px({ ...corner, width: w + more, height: h + higher }))
    node.style.display = 'block'
  }

  // What is pointed at stays marked while it is drawn anew, where it is still there.
  remark() {
    const [pane, i, j, named] = this.marked ?? []
    if (pane?.element.isConnected && i < pane.n && j < pane.m) this.mark(pane, i, j, named)
    else this.unmark()
  }

  unmark() {
    this.marked = null
    this.tip.style.display = 'none'
    for (const pane of this.panes.values()) {
      for (const node of [...(pane.marks ?? []), pane.cursor]) if (node) node.style.display = 'none'
    }
  }

  // The next blank, or the one before, of all panes, of those without an answer on its way.
  nextBlank(pane, [i, j], back) {
    const names = this.head.panes.map(({ name }) => name)
    const rank = ([name, row, column]) => (names.indexOf(name) * 1e3 + row) * 1e3 + column
    const here = rank([pane.spec.name, i, j])
    const answered = ([name, row, column]) =>
      this.edits.of(name).some(op => op.row === row && op.column === column)
    const free = this.head.panes
      .flatMap(({ name, blanks }) => (blanks ?? []).map(cell => [name, ...cell]))
      .filter(one => rank(one) !== here && !answered(one))
      .sort((one, other) => (rank(one) - rank(other)) * (back ? -1 : 1))
    const next = free.find(one => (back ? rank(one) < here : rank(one) > here)) ?? free[0]
    if (!next) return
    const [name, row, column] = next
    const to = this.panes.get(name)
    to.frame.focus({ preventScroll: true })
    to.grid.between = true
    to.grid.choose(row, column, false)
    if (this.byTouch) to.grid.openCell(row, column) // no key would open it
    to.element.scrollIntoView({ block: 'nearest' })
  }

  // ---- tables and downloads --------------------------------------------------------------------

  toggleTable(pane) {
    const on = !pane.table
    pane.tableButton.textContent = on ? 'Show as heatmap' : 'Show as table'
    pane.frame.hidden = pane.under.hidden = on
    if (on) {
      pane.table = make('div', 'board-table', pane.body)
      pane.table.tabIndex = 0
      this.note(pane) // a table has room for all
      this.keepPart(pane, pane.view)
      fillTable(this, pane)
      return
    }
    pane.table.remove()
    pane.table = null
    this.keepPart(pane, pane.view)
    this.draw(true)
  }

  async copyNumbers(pane) {
    const numbers = `The numbers of ${pane.spec.symbol}`
    if (pane.spec.large) return this.say(`${numbers} ${TOO_MANY}`)
    if (await copyText(asText(pane))) this.say(`${numbers} were copied.`, true)
    else this.say(`${numbers} could not be copied: this browser gives no clipboard here.`)
  }

  // To the clipboard, or where there is none, as a file.
  async copyPicture(promised, name, pane) {
    this.making(promised, name)
    if (await copyImage(promised)) return this.say(`${name} was copied.`, true)
    const filename = `${pane?.spec.filename ?? 'attention_board'}.png`
    if (!(await this.save(promised, filename))) return
    this.say(`This browser gives no clipboard for pictures here; ${filename} was saved instead.`)
  }

  async download(pane, format) {
    const filename = `${pane.spec.filename}.${format}`
    const promised = panePicture(this, pane, format)
    this.making(promised, filename)
    const saved = await this.save(promised, filename)
    if (saved) this.say(`${filename} was saved.`, true)
  }

  // Say of a picture that takes long, as that of the first chart does, that it is made.
  making(promised, name) {
    const timer = setTimeout(() => this.say(`${name} is being made …`), SOON)
    const over = () => clearTimeout(timer)
    promised.then(over, over)
  }

  // Whether a picture could be made, and so was saved.
  async save(promised, filename) {
    try {
      saveFile(await promised, filename)
      return true
    } catch {
      this.say(`${filename} could not be made; reload the page and try again.`)
      return false
    }
  }

  end() {
    this.resize.disconnect()
    this.themes.disconnect()
    this.ended.abort()
    this.edits.close()
    cancelAnimationFrame(this.pending)
    for (const pane of this.panes.values()) this.purge(pane)
    this.root.replaceChildren()
    this.tag = null
    delete this.root.dataset.tag // nothing is painted any more
  }
}

// What Python sent: JSON, and behind a zero the bytes of heatmaps, one after the other: a code for
// each cell, and of all but large ones the numbers.
const received = bytes => {
  const end = bytes.indexOf(0)
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)))
  let at = end + 1
  for (const spec of head.panes.filter(({ rows }) => rows)) {
    const count = spec.rows.length * spec.columns.length
    spec.codes = bytes.slice(at, (at += count))
    if (!spec.large) spec.values = new Float64Array(bytes.slice(at, (at += 8 * count)).buffer)
  }
  return head
}

const CONFIG = { displayModeBar: false, responsive: false, doubleClick: 'reset', showTips: false }

export default function (component) {
  const { data, parentElement, setTriggerValue } = component
  const root = parentElement.querySelector('.board')
  const bytes = data instanceof Uint8Array ? data : new Uint8Array(data)
  return callOn(root, Board, board => board.show(received(bytes), setTriggerValue))
}
