// Play keeps the time of a query's way through the board, turns the tabs of shared places for it,
// and gives way to whatever else is done. The server is not asked meanwhile.

import { make } from '../../elements.js'
import { CLICK } from '../paint/part.js'
import { clearPlay, matrixOf, paintPlay } from './paint_play.js'
import { boxOf, frontsOf, momentOf, stepsOf } from './play.js'
import { Controls } from './play_controls.js'

const FASTER = { 0.5: 1, 1: 2, 2: 0.5 }
const LONGEST = 60 // ms that a frame counts at most, so that a stop of the browser skips nothing
const MADE = 0.8 // of a step: its result is on the card
const ABOVE = 12 // px between the strip and the block that a step speaks of
const TYPED = 'input, textarea, select, [contenteditable=true]'
const OWN = '.board-controls, .board-card'
const TURNED = '[role=grid], [role=radiogroup], [role=tablist]' // arrow keys are theirs
const ALONE = ['Tab', 'Shift', 'Control', 'Alt', 'Meta'] // keys that do nothing here by themselves

export class Player {
  constructor(board) {
    this.board = board
    this.on = this.running = this.awaits = false
    this.speed = 1
    /** @type {ReturnType<typeof stepsOf>} */
    this.steps = []
    this.step = this.p = 0
    this.moment = null
    this.canvas = make('canvas', 'board-play', board.groups)
    this.canvas.ariaHidden = 'true'
    this.controls = new Controls(this, board.strip.root)
    board.root.addEventListener('pointerdown', event => this.pressed(event), true)
  }

  // ---- what others ask ------------------------------------------------------------------------

  // The stages in front of shared places while a step is played.
  get fronts() {
    return this.on ? [...this.board.fronts, ...this.turned] : this.board.fronts
  }

  get turned() {
    return frontsOf(this.steps, this.step, this.p >= 1)
  }

  // The card of the step; of dot products that of the key whose score is made.
  get card() {
    if (!this.on) return null
    const { cards } = this.steps[this.step]
    return cards[this.moment?.key] ?? cards[0]
  }

  get hidesValue() {
    return this.steps[this.step].kind !== 'dot' && this.p < MADE
  }

  // What the server sent is other than what is played.
  heard({ tag, play, query }) {
    const told = JSON.stringify([tag, play, query])
    if (told === this.told) return
    this.told = told
    if (this.on) this.leave(false)
  }

  // After it was drawn: a word that was chosen just before is played once it is the query.
  arrived() {
    if (this.awaits && this.board.strip.pending === null) this.start()
  }

  // ---- time -----------------------------------------------------------------------------------

  get isStill() {
    return window.matchMedia('(prefers-reduced-motion: reduce)').matches
  }

  get isOver() {
    return this.p >= 1 && this.step === this.steps.length - 1
  }

  start() {
    const { board } = this
    this.awaits = board.strip.pending !== null
    const steps = board.plan ? stepsOf(board.head.play ?? [], board.plan) : []
    if (this.awaits || !steps.length || board.presenter.stage) return
    board.editor.keep()
    for (const pane of board.panes.values()) {
      if (pane.table && pane.box) board.toggleTable(pane)
      if (pane.view) board.see(pane, null)
    }
    const { isStill } = this
    Object.assign(this, { steps, on: true, running: !isStill, step: 0, p: isStill ? 1 : 0 })
    this.changed(true)
    this.tick()
  }

  toggle() {
    if (!this.on || this.isOver) return this.start()
    if (this.isStill) return this.goBy(1)
    this.running = !this.running
    this.changed(false)
    this.tick()
  }

  tick() {
    cancelAnimationFrame(this.frame)
    let last = performance.now()
    const next = now => {
      if (!this.on || !this.running) return
      this.go((Math.min(Math.max(now - last, 0), LONGEST) / 1000) * this.speed)
      last = now
      this.frame = requestAnimationFrame(next)
    }
    if (this.running) this.frame = requestAnimationFrame(next)
  }

  // So many seconds on.
  go(seconds) {
    const before = [this.moment?.key, this.hidesValue].join()
    this.p += seconds / this.steps[this.step].seconds
    if (this.p >= 1) {
      const isLast = this.step === this.steps.length - 1
      Object.assign(this, isLast ? { p: 1, running: false } : { p: 0, step: this.step + 1 })
      return this.changed(true)
    }
    this.paint()
    if ([this.moment?.key, this.hidesValue].join() !== before) this.placeCard()
  }

  // Steps by hand show where a step has arrived; running, they begin it. None leads out of Play.
  goBy(by) {
    if (this.isOver && by > 0) return
    const isLast = this.step + by >= this.steps.length
    if (isLast) this.running = false
    this.goTo(isLast ? this.step : this.step + by)
  }

  goTo(step) {
    Object.assign(this, { step: Math.max(step, 0), p: this.running ? 0 : 1 })
    this.changed(true)
    this.tick()
  }

  faster() {
    this.speed = FASTER[this.speed]
    this.showControls()
  }

  /**
   * Stop, and turn the tabs back; or keep them, where something on the board was pressed.
   * @param {boolean} [draws] whether the board is drawn now
   * @param {boolean} [keeps]
   */
  leave(draws = true, keeps = false) {
    this.awaits = false
    if (!this.on) return
    if (keeps) for (const stage of this.turned) this.board.front(stage)
    cancelAnimationFrame(this.frame)
    Object.assign(this, { on: false, running: false, moment: null })
    clearPlay(this.canvas)
    this.board.root.classList.remove('playing')
    this.showControls()
    if (draws) this.board.draw(false)
  }

  // ---- what is seen ---------------------------------------------------------------------------

  // Draw the board as a step wants it, and say which step it is.
  changed(isOther) {
    const { board, step, steps } = this
    const { kind, label, cards } = steps[step]
    board.root.classList.add('playing')
    this.moment = null
    board.draw(false)
    this.showControls()
    if (!isOther) return
    const title = cards[0].title.map(([text]) => text).join('')
    board.live.textContent = kind === 'dot' ? label : `${label}: ${title}`
    this.bring()
  }

  // Once the board is drawn.
  draw() {
    if (!this.on) return
    this.paint()
    this.placeCard()
  }

  paint() {
    const { board, step, p } = this
    const { plan, panes, palette, font, query } = board
    const matrices = this.matrices()
    this.moment = momentOf({ plan, steps: this.steps, stages: matrices, query }, step, p)
    const width = board.groups.clientWidth
    const height = board.groups.clientHeight
    const paper = getComputedStyle(board.root).getPropertyValue('--st-background-color')
    const colours = { ...palette, paper: paper.trim() || palette.paper }
    paintPlay(this.canvas, this.moment, { width, height, panes, palette: colours, font })
  }

  // The numbers of the stages, read again when they are drawn again.
  matrices() {
    const { plan, panes } = this.board
    if (this.read?.plan !== plan) {
      const heatmaps = [...panes.values()].filter(pane => pane.box)
      const made = heatmaps.map(pane => [pane.spec.name, matrixOf(pane, this.board.look(pane))])
      this.read = { plan, matrices: Object.fromEntries(made) }
    }
    return this.read.matrices
  }

  placeCard() {
    this.board.around.placeCard(this.board.plan.card, this.board.plan)
  }

  showControls() {
    const { strip, head } = this.board
    const { query, queries } = strip.strip ?? {}
    const isOffered = !!queries && !!head.play?.length
    this.controls.root.hidden = !isOffered
    if (isOffered) this.controls.show(queries[strip.pending ?? query])
  }

  // On a phone the block that a step speaks of is brought between the strip and the card.
  bring() {
    const { board, steps, step } = this
    const page = board.root.closest('[data-testid=stMain]')
    if (!page || !board.plan.phone) return
    const block = ['weights', 'mix'].includes(steps[step].kind) ? steps.at(-1) : steps[0]
    const [above, made] = [block.above, steps[step].makes].map(name => boxOf(board.plan, name))
    const { top } = board.groups.getBoundingClientRect()
    const first = top + (above.heading ?? above).y - ABOVE
    const last = top + made.y + made.h + ABOVE
    const { root } = board.strip
    const stuck = page.getBoundingClientRect().top + parseFloat(getComputedStyle(root).top)
    const lowest = board.around.card.getBoundingClientRect().top || window.innerHeight
    if (first >= root.getBoundingClientRect().bottom && last <= lowest) return
    const by = first - stuck - root.offsetHeight
    page.scrollBy({ top: by, behavior: this.isStill ? 'auto' : 'smooth' })
  }

  // ---- what else is done ----------------------------------------------------------------------

  // Whatever is pressed on the board is meant for it; a finger may also scroll the page.
  pressed(event) {
    if (!this.on || event.target.closest(OWN)) return
    if (event.pointerType !== 'touch') return this.leave(true, true)
    const ended = new AbortController()
    const { pointerId, clientX, clientY } = event
    const over = up => {
      if (up.pointerId !== pointerId) return
      ended.abort()
      const far = Math.hypot(up.clientX - clientX, up.clientY - clientY)
      if (up.type === 'pointerup' && far < CLICK) this.leave(true, true)
    }
    for (const type of ['pointerup', 'pointercancel']) {
      window.addEventListener(type, over, { capture: true, signal: ended.signal })
    }
  }

  // Whether a key was Play's. Any other one that does something stops it, and does that.
  key(event) {
    const { key, target } = event
    if (!this.on || ALONE.includes(key)) return false
    const own = target.closest?.(OWN)
    const isTyped = target.closest?.(TYPED)
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !isTyped
    const acts = {
      Escape: () => this.leave(),
      ...(!target.closest?.(TURNED) && {
        ArrowRight: () => this.goBy(1),
        ArrowLeft: () => this.goBy(-1),
        // a button takes it by itself
        ...(!target.closest?.('button, a, summary') && { ' ': () => this.toggle() })
      })
    }
    if (isPlain && acts[key]) acts[key]()
    else {
      const isInside = this.board.root.contains(target) && !own
      if (isTyped || isInside || (isPlain && key.toLowerCase() === 'p')) this.leave(true, true)
      return false
    }
    event.preventDefault()
    event.stopPropagation()
    return true
  }
}
