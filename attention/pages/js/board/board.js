// The board: panes that stay where they are. Python sends stages; they are painted on canvases at
// once. Hovers are linked, and Python is told what was clicked, typed, dragged and turned.

import {
  UNTAKEN,
  callOn,
  childrenOf,
  connected,
  make,
  measured,
  modeAround,
  moved,
  pageAround,
  px,
  watchThemes
} from '../elements.js'
import { Ahead } from './ahead.js'
import { flowed, flowedInRoom, isMaskless, measureIn, placed, planned, roomOf } from './arrange.js'
import { Editor } from './edit/editor.js'
import { Edits, PATIENCE } from './edit/edits.js'
import { Files } from './files.js'
import { Asked } from './card/asked.js'
import { Strip } from './card/draw_strip.js'
import { ALL, Around } from './card/formula.js'
import { Linking } from './edit/linking.js'
import { listen } from './edit/sliders.js'
import { fit, glow, paint } from './paint/paint.js'
import { read, readMarks, waitingOn } from './text/pane.js'
import { create, describe, head, toolsWidth } from './panes.js'
import { areaOf, isSeen } from './paint/part.js'
import { Player } from './play/player.js'
import { Presenter } from './present.js'
import { fillTable } from './text/tables.js'
import { forgetWidths, formulaText } from './text/text.js'

const STAYS = 4000 // ms that a sentence stays at least while more is typed
const SHORTLY = 2000 // and until other numbers are on the board
const HEADING = 14 // px: of a pane that is no part of a plan

// Where this page was opened in the browser's history: what was changed is not undone past it.
window.__attentionOpened ??= window.navigation?.currentEntry?.index ?? 0

class Board {
  constructor(root) {
    this.root = root
    this.panes = new Map()
    this.hadMask = false // when Python last answered
    this.fronts = [] // stages that were brought in front of their places, the last one last
    this.inputs = 'auto' // or 'open' or 'folded'
    this.strip = new Strip(this)
    this.groups = make('div', 'board-groups', root)
    this.around = new Around(this)
    this.live = make('div', 'board-live', root)
    this.live.setAttribute('aria-live', 'polite')
    this.untaken = make('p', 'board-untaken', root)
    this.untaken.setAttribute('role', 'status')
    this.untaken.hidden = true
    this.linking = new Linking(this, make('div', 'board-tip', root))
    this.files = new Files(this)
    this.editor = new Editor()
    this.edits = new Edits(
      message => this.send('edited', message),
      stage => this.touched(stage),
      sentence => this.say(sentence),
      message => this.ahead.edited(message)
    )
    this.asked = new Asked(() => this.head.asks ?? '', () => this.came())
    this.ahead = new Ahead(this)
    this.presenter = new Presenter(this)
    this.player = new Player(this)
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
    // a message that comes or goes above the board leaves it another height
    this.shift = new ResizeObserver(() => {
      if (!this.plan || this.presenter.room || Math.abs(this.top - this.above) < 2) return
      this.soon(false)
    })
    const page = this.root.closest('[data-testid=stMainBlockContainer]')?.firstElementChild
    if (page) this.shift.observe(page)
    this.themes = watchThemes(this.root, () => {
      if (this.head && modeAround(this.root) !== this.drawn) this.draw(true)
    })
    this.ended = new AbortController()
    const { signal } = this.ended
    const loaded = () => {
      forgetWidths()
      this.measured = null
      this.around.forget()
      for (const pane of this.panes.values()) pane.forms = undefined
      if (this.head) this.soon(true)
    }
    document.fonts?.addEventListener('loadingdone', loaded, { signal })
    window.addEventListener('beforeunload', event => this.leaving(event), { signal })
    window.addEventListener('click', event => this.following(event), { signal, capture: true })
    const key = event => this.player.key(event) || this.presenter.key(event)
    window.addEventListener('keydown', key, { signal, capture: true }) // before all others
    window.addEventListener('resize', () => this.head && this.soon(false), { signal })
    listen((name, value) => this.ahead.moved(name, value), signal)
    window.addEventListener('popstate', () => this.ahead.forgetMoves(), { signal })
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
    this.send = emit
    if (this.ahead.holds(head)) return
    const other = head.tag !== this.answered // though it may be seen already
    if (other && performance.now() - (this.saidAt ?? 0) > SHORTLY) this.say('')
    this.player.heard(head)
    this.answered = head.tag
    this.told = head
    // among other numbers the cell that is pointed at may be gone: that is seen once they are drawn
    if (head.asks !== this.head?.asks) this.around.pointed = null
    this.takeTold()
    this.edits.heard(head.edits)
    this.ahead.mark()
    this.drawHead()
    this.player.arrived()
  }

  // Go by Python's last answer, and by the cell that was picked since.
  takeTold() {
    this.head = this.ahead.asPicked({ ...this.told })
  }

  // Draw what was sent.
  drawHead() {
    this.around.writeFormula(this.head)
    this.arrange()
    this.draw(false, true)
  }

  drawPreview(bytes) {
    measured(REPAINT, () => {
      Object.assign(this.head, received(bytes))
      this.drawHead()
    })
  }

  // Cards have come.
  came() {
    this.ahead.showPicked()
    this.around.showCard()
  }

  // Tell Python, and whether it could be. Streamlit drops what a component sends while the
  // connection is down, so then the person is told.
  emit(name, value) {
    this.untaken.hidden = true
    const isTaken = connected()
    if (isTaken) this.send(name, value)
    else this.say(UNTAKEN)
    return isTaken
  }

  // One sentence below the board; "" takes it away. That something was done goes by itself.
  say(sentence, done = false) {
    this.said = sentence
    formulaText(this.untaken, sentence)
    this.untaken.hidden = !sentence
    this.untaken.classList.toggle('done', done)
    this.saidAt = performance.now()
    if (done) setTimeout(() => this.said === sentence && this.say(''), STAYS)
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
    await this.until(() => this.edits.idle && this.rests, 3000)
    const { navigation } = window
    const index = (navigation?.currentEntry?.index ?? 0) + step
    const { url, key } = navigation?.entries()[index] ?? {}
    if (!url || index < window.__attentionOpened) return
    if (new URL(url).pathname !== location.pathname) return
    await navigation.traverseTo(key).finished.catch(() => {}) // overtaken by another
  }

  // Whether no run of the page goes on.
  get rests() {
    return pageAround(this.root).dataset.testScriptState === 'notRunning'
  }

  // ---- stages ---------------------------------------------------------------------------------

  // Whether the panes are the stages of one formula, each in its place.
  get isPlanned() {
    return !!this.head.planned
  }

  light(stage) {
    for (const [name, pane] of this.panes) pane.element.classList.toggle('lit', name === stage)
    for (const part of this.around.parts)
      part.classList.toggle('lit', !!stage && part.dataset.stage === stage)
  }

  // Bring a stage into sight, also one behind another.
  bring(stage) {
    const pane = this.panes.get(stage)
    if (!pane) return
    if (pane.box && !pane.front) this.choose(pane)
    if (!pane.box && this.isPlanned && pane.spec.group === 'inputs') this.fold(true)
    pane.element.scrollIntoView({ block: 'nearest', behavior: 'smooth' })
    pane.element.focus({ preventScroll: true })
  }

  // Put a stage before those that share its place.
  choose(pane) {
    const isTab = document.activeElement?.classList.contains('board-tab')
    this.front(pane.spec.name)
    this.draw(false)
    if (isTab) pane.tabs.querySelector('[aria-selected=true]')?.focus({ preventScroll: true })
  }

  front(stage) {
    this.fronts = [...this.fronts.filter(name => name !== stage), stage]
  }

  fold(open) {
    this.inputs = open ? 'open' : 'folded'
    this.draw(false)
    this.around.band.querySelector('button')?.focus({ preventScroll: true })
    this.around.band.scrollIntoView({ block: 'nearest' }) // on a phone it is elsewhere then
  }

  // Stages that the page does not speak of are dimmed.
  accompany() {
    const { spokenOf } = this.head
    for (const [name, { element }] of this.panes) {
      element.classList.toggle('dim', spokenOf.length > 0 && !spokenOf.includes(name))
    }
  }

  get lines() {
    return childrenOf(this.groups).filter(node => node.classList.contains('board-group'))
  }

  // A pane for each stage, in the groups and the order that Python has them.
  arrange() {
    this.tag = this.head.tag ?? ''
    const wanted = new Set(this.head.panes.map(({ name }) => name))
    for (const [name, pane] of this.panes) {
      if (wanted.has(name)) continue
      pane.element.remove()
      this.panes.delete(name)
    }
    const groups = new Map()
    for (const spec of this.head.panes) {
      const pane = this.panes.get(spec.name) ?? create(this, spec)
      this.panes.delete(spec.name) // one that comes, as masked with a mask, is not the last
      this.panes.set(spec.name, pane)
      pane.spec = spec
      const name = this.isPlanned ? 'plan' : spec.group
      groups.set(name, [...(groups.get(name) ?? []), pane.element])
    }
    for (const node of this.lines) if (!groups.has(node.dataset.group)) node.remove()
    const inOrder = [...groups].map(([name, elements]) => {
      let group = this.lines.find(node => node.dataset.group === name)
      if (!group) {
        group = make('div', 'board-group', this.groups)
        group.dataset.group = name
      }
      putInOrder(group, elements)
      return group
    })
    putInOrder(this.groups, inOrder, this.groups.children.length - inOrder.length)
  }

  // ---- drawing --------------------------------------------------------------------------------

  get palette() {
    return this.head.palettes[this.drawn]
  }

  // The width of texts in the page's own font.
  get measure() {
    const { font } = this
    if (this.measured?.font !== font) this.measured = { font, by: measureIn(font) }
    return this.measured.by
  }

  // The query whose row is lit: the one that is presented, or that Python says.
  get query() {
    const { presenter, head } = this
    return presenter.query >= 0 ? presenter.query : (head.query ?? -1)
  }

  // The key that the chosen cell is about.
  get key() {
    const [stage, i, j] = this.head.cell ?? []
    const chosen = this.panes.get(stage)?.spec
    return chosen ? keyOf(chosen, i, j) : -1
  }

  // Whether a row of a stage, as Python has it, is that of the query.
  isLit({ spec }, row) {
    return spec.rowKind === 'queries' && row === this.query && !!spec.picks
  }

  // The chosen cell, where it is one of this pane.
  chosenIn({ spec, swap }) {
    const [stage, ...cell] = this.head.cell ?? []
    return stage === spec.name ? swap(cell) : null
  }

  // Whether nothing is masked: then the masked scores are the scaled ones, and share their place.
  get isMaskless() {
    return !this.head.steady && isMaskless([...this.panes.values()])
  }

  // How panes are painted now.
  look(pane) {
    const { palette, font, measure, plan } = this
    return {
      ...{ palette, font, measure, query: this.query, presented: this.presenter.query },
      decimals: plan?.decimals ?? Infinity,
      key: this.key,
      isPlayed: this.player.on,
      waiting: waitingOn(this.edits, pane)
    }
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
      for (const role of ['query', 'source', 'soft']) {
        this.root.style.setProperty(`--board-${role}`, this.palette[role])
      }
    }
    this.font = getComputedStyle(this.root).fontFamily
    this.strip.show(this.head.strip, mode)
    if (this.isPlanned) this.lookAround()
    this.around.writeParts()
    const before = new Map()
    const changed = new Set()
    for (const [name, pane] of this.panes) {
      const place = this.isPlanned ? this.presenter.placeOf(pane) : null
      const isSame = pane.inPlan === !!place && pane.turned === !!place?.turned
      pane.place = place
      if (pane.digest === pane.spec.digest && isSame) continue
      if (pane.digest && pane.digest !== pane.spec.digest) changed.add(name)
      pane.digest = pane.spec.digest
      before.set(name, pane.z)
      const shape = `${pane.n} × ${pane.m}`
      read(pane, place)
      if (shape !== `${pane.n} × ${pane.m}`) this.keepPart(pane, null)
      if (pane.table) fillTable(this, pane)
    }
    const panes = [...this.panes.values()]
    panes.forEach(readMarks)
    this.presenter.dress()
    if (answered) this.showChanged(changed)
    if (answered) this.showChosen()
    this.root.classList.toggle('planned', this.isPlanned)
    if (this.isPlanned) this.findPlan(panes)
    else this.placeLines(panes)
    const isSeen = ({ element, table, next }) => next && !table && (this.plan || !element.hidden)
    const others = panes.filter(
      pane => isSeen(pane) && this.isOther(pane, all || before.has(pane.spec.name))
    )
    // painted before more is written: to set a canvas's font has the style of the page computed
    others.forEach(fit)
    others.forEach(pane => this.paint(pane))
    if (this.plan) this.placePlan(panes)
    others.forEach(pane => this.placeCells(pane))
    this.glowSoon(others, before)
    this.linking.remark()
    if (answered) this.accompany()
    this.player.draw()
    this.root.dataset.tag = this.tag
  }

  // A place that several stages share shows one that has changed: a mask leaves the scores as
  // they are, and not the masked ones behind them. Once it is gone, these are the scaled ones.
  showChanged(changed) {
    const { isMaskless, hadMask } = this
    this.hadMask = !isMaskless
    if (this.head.steady || !this.plan) return
    if (isMaskless && hadMask) this.fronts = this.fronts.filter(name => name !== 'masked')
    const isNew = name => changed.has(name) && !(isMaskless && name === 'masked')
    for (const { name, tabs } of this.plan.boxes) {
      const first = !changed.has(name) && tabs.find(isNew)
      if (first) this.front(first)
    }
  }

  // A place that several stages share shows the one that a step speaks of, or of the chosen cell.
  showChosen() {
    const { spokenOf } = this.head
    if (spokenOf.join() !== this.spokenBefore) {
      this.spokenBefore = spokenOf.join()
      spokenOf.forEach(name => this.front(name))
      if (this.speaksOfInputs) this.inputs = this.head.steady ? 'auto' : 'open'
    }
    const [stage] = this.head.cell ?? []
    if (!stage || stage === this.chosenBefore) return // what was brought there since stays
    this.chosenBefore = stage
    for (const name of [...this.sourcesOf(stage), stage]) this.front(name)
  }

  get speaksOfInputs() {
    const isInput = name => this.panes.get(name)?.spec.place?.line === 'inputs'
    return this.head.spokenOf.some(isInput)
  }

  // What a stage is made of; without a mask the scaled scores stand for the masked ones.
  sourcesOf(stage) {
    const sources = this.panes.get(stage)?.spec.sources ?? []
    return sources.map(([name]) => name).filter(name => name !== 'masked' || !this.isMaskless)
  }

  // Read where the page has the board, before anything is written that has it laid out once more.
  lookAround() {
    this.above = this.top
    this.room = roomOf(this.root, this.above, this)
    this.around.lookAround()
  }

  findPlan(panes) {
    const room = this.presenter.room ?? this.room
    const shown = panes.filter(pane => this.presenter.shows(pane))
    const { measure } = this
    const { fronts } = this.player
    const { order, steady } = this.head
    const opens = steady && this.inputs === 'auto' && !room.presenting
    const inputs = this.usesInputs || opens ? 'open' : this.inputs
    const yields = opens && !this.usesInputs && !this.speaksOfInputs
    const { rowKind } = this.presenter
    const asked = { ...room, inputs, yields, fronts, order, rowKind, steady }
    if (room.presenting && inputs === 'auto') asked.inputs = 'folded'
    this.plan = planned(shown, asked, measure)
    placed(this.plan, panes)
    this.root.classList.toggle('phone', !!room.phone)
    const high = room.phone ? this.plan.end : Math.max(this.plan.end, room.height)
    this.groups.style.height = `${high}px`
  }

  placePlan(panes) {
    const { measure, plan } = this
    panes.forEach(describe)
    const inColours = plan.boxes.every(box => box.numbers === 'none')
    const unsaid = [] // the stages whose headings have no room to say that they are in colours
    for (const pane of panes) {
      const { element, next, rect, box, front } = pane
      element.hidden = !next
      if (!next) {
        pane.made = null
        if (!pane.table) pane.canvas.painted = null // a table is there as it was
        continue
      }
      element.classList.toggle('behind', !front)
      Object.assign(element.style, moved(rect))
      pane.header.hidden = !box.heading
      if (!box.heading) continue
      const { heading } = box
      const own = { ...heading, x: heading.x - rect.x, y: heading.y - rect.y }
      Object.assign(pane.header.style, moved(own), px({ fontSize: plan.heading }))
      const tabs = box.tabs.map(name => this.panes.get(name)).filter(Boolean)
      const note = inColours || box.numbers !== 'none' ? '' : 'in colours'
      const choose = tab => this.choose(tab)
      const how = { room: heading.w, px: plan.heading, tabs, note, measure, choose }
      if (!head(pane, how) && front) unsaid.push(pane.spec.symbol)
    }
    this.around.place(plan, this.query, inColours ? ALL : unsaid)
  }

  placeLines(panes) {
    this.plan = null
    this.groups.style.height = ''
    this.around.clear()
    panes.forEach(describe)
    const { measure, presenter } = this
    if (presenter.stage) return this.placePresented(panes.filter(pane => presenter.shows(pane)))
    const inside = group => {
      return panes.filter(pane => pane.element.parentElement === group && !pane.table)
    }
    const groups = this.lines.map(inside).filter(found => found.length)
    flowed(groups, this.width, HEADING, measure).forEach(({ columns, column }, k) => {
      const group = groups[k][0].element.parentElement
      group.style.gridTemplateColumns = `repeat(${columns}, minmax(0, ${column}px))`
      for (const pane of groups[k]) {
        pane.element.hidden = false
        const note = pane.next.px ? '' : 'in colours'
        head(pane, { room: column - toolsWidth(pane, measure), px: HEADING, note, measure })
      }
    })
  }

  placePresented(panes) {
    const { measure, presenter } = this
    const shown = panes.filter(pane => !pane.table)
    const column = flowedInRoom(shown, presenter.room, measure)
    for (const pane of shown) {
      const px = parseFloat(getComputedStyle(pane.header).fontSize)
      head(pane, { room: column, px, note: pane.next.px ? '' : 'in colours', measure })
    }
  }

  // Whether an input is being edited: then it is not folded away under the hand.
  get usesInputs() {
    return [...this.panes.values()].some(
      ({ spec, box, element, wanted }) =>
        spec.place?.line === 'inputs' &&
        (wanted !== undefined || (box && element.contains(document.activeElement)))
    )
  }

  // Where the stages begin, from the top of the page.
  get top() {
    return this.groups.getBoundingClientRect().top + this.scrolled
  }

  get scrolled() {
    return this.root.closest('[data-testid=stMain]')?.scrollTop ?? 0
  }

  // Whether the board fills what is left of the window, and the height of what is below it.
  get fills() {
    return !!this.root.closest('.st-key-board')
  }

  get dock() {
    return parseFloat(getComputedStyle(this.root).getPropertyValue('--dock')) || 0
  }

  // Whether another stage is before that of a pane, at the place that they share.
  isBehind({ box, front }) {
    return !!this.plan && !!box && !front
  }

  // Whether a pane is to be painted, at its places: it has others, or what is `changed`.
  isOther(pane, changed) {
    if (this.edits.stroke && this.isBehind(pane)) { // until the drag of a number has ended
      pane.made = null
      return false
    }
    const look = this.look(pane)
    const { query, presented, key, isPlayed, decimals } = look
    const behind = this.isBehind(pane) // painted once it is in front
    const made = JSON.stringify([pane.next, query, presented, key, isPlayed, decimals, behind])
    if (!changed && made === pane.made && !look.waiting.length && !pane.waited) return false
    Object.assign(pane, { made, places: pane.next })
    return true
  }

  // Lay out a pane that was painted, and what is over its cells.
  placeCells(pane) {
    const { top, height, bottom, width } = pane.places
    Object.assign(pane.frame.style, px({ width, height: top + height + bottom }))
    const { left: x, top: y, width: w, height: h } = areaOf(pane)
    Object.assign(pane.cells.style, moved({ x, y, w, h }))
    pane.grid.place()
    if (this.editor.open?.grid === pane.grid) this.editor.place()
    if (pane.wanted === undefined || pane.n <= pane.wanted) return
    pane.frame.focus({ preventScroll: true })
    pane.grid.choose(pane.wanted, -1)
    pane.grid.write(true)
    pane.wanted = undefined
  }

  // Mark what has changed in panes since they had the numbers of `before`, once they are on screen.
  glowSoon(panes, before) {
    const changed = panes.filter(({ spec }) => before.get(spec.name))
    const mark = () => {
      for (const pane of changed) glow(pane, before.get(pane.spec.name), this.palette.query)
    }
    if (changed.length) requestAnimationFrame(() => setTimeout(mark)) // after that frame
  }

  paint(pane) {
    cancelAnimationFrame(pane.soon)
    pane.soon = undefined
    if (!pane.places) return
    const look = this.look(pane)
    pane.waited = look.waiting.length > 0
    paint(pane, look, this.isBehind(pane))
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
    if (this.isPlanned) this.draw(false)
    this.linking.unmark()
  }

  keepPart(pane, view) {
    pane.view = view
    pane.whole.hidden = !view || !!pane.table
  }

  // ---- cells ----------------------------------------------------------------------------------

  pick(pane, i, j) {
    const [row, column] = pane.swap([i, j])
    if (pane.spec.picks) this.ahead.pick(pane.spec.name, row, column)
  }

  // The next blank, or the one before, of all panes, of those without an answer on its way.
  nextBlank(pane, at, back) {
    const names = this.head.panes.map(({ name }) => name)
    const rank = (/** @type {any[]} */ [name, row, column]) =>
      (names.indexOf(name) * 1e3 + row) * 1e3 + column
    const here = rank([pane.spec.name, ...pane.swap(at)])
    const answered = ([name, row, column]) =>
      this.edits.of(name).some(op => op.row === row && op.column === column)
    const free = this.head.panes
      .flatMap(({ name, blanks }) => (blanks ?? []).map(cell => [name, ...cell]))
      .filter(one => rank(one) !== here && !answered(one))
      .sort((one, other) => (rank(one) - rank(other)) * (back ? -1 : 1))
    const next = free.find(one => (back ? rank(one) < here : rank(one) > here)) ?? free[0]
    if (!next) return
    const to = this.panes.get(next[0])
    if (to.box && !to.front) this.choose(to)
    const [row, column] = to.swap(next.slice(1))
    to.frame.focus({ preventScroll: true })
    to.grid.between = true
    to.grid.choose(row, column, false)
    if (this.byTouch) to.grid.openCell(row, column) // no key would open it
    to.element.scrollIntoView({ block: 'nearest' })
  }

  toggleTable(pane) {
    const on = !pane.table
    pane.tableButton.textContent = on ? 'Show as heatmap' : 'Show as table'
    pane.frame.hidden = on
    if (on) {
      pane.table = make('div', 'board-table', pane.element)
      pane.table.tabIndex = 0
      this.keepPart(pane, pane.view)
      fillTable(this, pane)
      return
    }
    pane.table.remove()
    pane.table = null
    this.keepPart(pane, pane.view)
    this.draw(true)
  }

  end() {
    this.resize.disconnect()
    this.shift.disconnect()
    this.themes.disconnect()
    this.ended.abort()
    this.edits.close()
    this.ahead.end()
    clearTimeout(this.around.moment)
    cancelAnimationFrame(this.pending)
    this.player.leave(false)
    this.root.replaceChildren()
    this.tag = null
    delete this.root.dataset.tag // nothing is painted any more
  }
}

// Let these be the children of a node, after so many others. What is in its place is not moved, as
// it would lose the focus.
const putInOrder = (node, wanted, others = 0) => {
  wanted.forEach((child, k) => {
    const there = node.children[others + k]
    if (there !== child) node.insertBefore(child, there ?? null)
  })
}

// The key that a cell of a stage is about.
const keyOf = ({ rowKind, columnKind, place }, i, j) => {
  if (columnKind === 'keys') return j
  return rowKind === 'keys' && place.line === 'upper' ? i : -1
}

// What Python sent: JSON, and behind a zero the bytes of heatmaps, one after the other: a code for
// each cell, and of all but large ones the numbers.
const received = bytes => {
  const end = bytes.indexOf(0)
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)))
  let at = end + 1
  for (const spec of head.panes) {
    const count = spec.rows.length * spec.columns.length
    spec.codes = bytes.slice(at, (at += count))
    if (!spec.large) spec.values = new Float64Array(bytes.slice(at, (at += 8 * count)).buffer)
  }
  return head
}

const REPAINT = 'attention: repaint' // what the browser's tools and benchmarks call it

export default function (component) {
  const { data, parentElement, setTriggerValue } = component
  const root = parentElement.querySelector('.board')
  const bytes = data instanceof Uint8Array ? data : new Uint8Array(data)
  return measured(REPAINT, () =>
    callOn(root, Board, board => board.show(received(bytes), setTriggerValue))
  )
}
