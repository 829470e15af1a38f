// Present: one stage at a time over the whole window, for a room; keys go through stages and
// queries. What is seen are the board's own panes, so hovers, edits and answers go on in them.

import { make } from '../elements.js'
import { isMaskless } from './arrange.js'
import { follow } from './edit/pointer.js'
import { productOf } from './layout/product.js'

const BESIDE = /_(a|ours|theirs|difference|inf)$/ // ends the names of the same stage elsewhere
const STAGES = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 } // clickers page
const QUERIES = { ArrowDown: 1, ArrowUp: -1 }
const SWIPE = 50 // px: a finger that moves less taps
const TYPED = 'input, textarea, select, [contenteditable=true]'
const KEYS = '→ ← stages · ↓ ↑ queries · Esc leaves'
const CODE = 'q' // the key that shows the link as a QR code
const WHOLE = 'all' // not one stage, but the whole formula
const NARROW = 620 // px of the window
const LISTED = 8 // numbers of a row that are written once more

const ROLE = { role: 'dialog', ariaModal: 'true', ariaLabel: 'Presentation', tabIndex: -1 }

const stageOf = spec => spec.name.replace(BESIDE, '')

export class Presenter {
  constructor(board) {
    this.board = board
    this.stage = null
    this.query = -1 // or the one whose row is lit
    this.keyBefore = 0 // of the last cell that was about one
    const { root } = board
    this.foot = make('div', 'board-foot', root)
    this.line = make('p', 'board-line', this.foot)
    const bar = make('div', 'board-steps', this.foot)
    const button = (text, label, act) => {
      const node = make('button', 'board-tool', bar, text)
      Object.assign(node, { type: 'button', title: label, ariaLabel: label, onclick: act })
      return node
    }
    button('←', 'Previous stage', () => this.turn(-1))
    button('→', 'Next stage', () => this.turn(1))
    button('↑', 'Previous query', () => this.choose(-1))
    button('↓', 'Next query', () => this.choose(1))
    this.where = make('span', 'board-where', bar)
    make('span', 'board-keys', bar, KEYS)
    const shows = 'Show the link as a QR code (Q)'
    this.asksForCode = button('QR code', shows, () => this.showCode(this.code.hidden))
    this.asksForCode.classList.add('wide')
    this.code = make('img', 'board-code', root)
    Object.assign(this.code, { hidden: true, alt: 'The link to this page as a QR code' })
    this.code.onclick = () => this.showCode(false)
    button('Leave', 'Leave the presentation', () => this.leave())
    this.foot.hidden = true
    root.addEventListener('focusout', ({ relatedTarget }) => {
      if (this.stage && !root.contains(relatedTarget)) root.focus() // what is behind is not seen
    })
    root.addEventListener('pointerdown', event => this.swiped(event), true)
    root.addEventListener('fullscreenchange', () => {
      if (this.stage && !document.fullscreenElement) this.leave()
      board.draw(true)
    })
  }

  // Whether a pane is seen: of a formula a stage with its factors, or all of it.
  shows({ spec }) {
    if (!this.stage || this.stage === WHOLE) return true
    if (stageOf(spec) === this.stage) return true
    return this.board.isPlanned && this.factors.includes(spec.name)
  }

  // The stage that is presented alone, or the one that the board shows alone.
  get spec() {
    const { panes, only } = this.board.head
    return panes.find(({ name }) => name === (this.stage ?? only))
  }

  get factors() {
    return (this.spec?.sources ?? []).map(([name]) => name)
  }

  // The place of a pane in the plan that is drawn: the whole formula, or one product.
  placeOf({ spec }) {
    if (!this.spec || !this.shows({ spec })) return spec.place
    const isBias = name => this.board.panes.get(name)?.spec.rowKind === 'bias'
    return productOf(this.spec, isBias)[spec.name] ?? spec.place
  }

  // What the rows of the lower line are.
  get rowKind() {
    return this.spec?.place?.line === 'upper' ? this.spec.rowKind : 'queries'
  }

  // The stages to go through, in the order of the board; with a query those that have its row. Of a
  // formula first all of it, then what is computed.
  get stages() {
    const { panes } = this.board.head
    if (!this.board.isPlanned) {
      const wanted = panes.filter(spec => this.query < 0 || spec.queries)
      return [...new Set(wanted.map(stageOf))]
    }
    const repeats = isMaskless([...this.board.panes.values()]) ? ['joined', 'masked'] : ['joined']
    const isSeen = ({ name, sources }) => sources?.length && !repeats.includes(name)
    // not where one stage is all there is, nor where no cell of all of them could be read
    const isCut = this.board.head.only || window.innerWidth < NARROW
    const whole = isCut ? [] : [WHOLE]
    return [...whole, ...panes.filter(isSeen).map(({ name }) => name)]
  }

  get panes() {
    return [...this.board.panes.values()].filter(pane => this.shows(pane))
  }

  enter(pane) {
    const { board } = this
    const { root, head } = board
    if (this.stage || document.querySelector('.board.presenting')) return
    this.from = /** @type {HTMLElement} */ (document.activeElement)
    const focused = [...board.panes.values()].find(({ element }) => element.contains(this.from))
    if (!head.panes.length) return
    this.chosen = head.cell
    const asked = pane ?? focused
    this.stage = asked ? stageOf(asked.spec) : this.stages[0]
    root.parentElement.style.minHeight = `${root.offsetHeight}px` // so that nothing scrolls
    root.classList.add('presenting')
    root.prepend(board.around.formula)
    Object.assign(root, ROLE)
    this.foot.hidden = false
    root.focus({ preventScroll: true })
    board.draw(true)
    this.ask()
    const above = () => {
      root.popover = 'manual'
      root.showPopover()
      root.focus({ preventScroll: true })
    }
    const whole = root.requestFullscreen?.() ?? Promise.reject()
    whole.then(
      () => this.stage || this.shrink(), // it was left before the window was filled
      () => this.stage && root.isConnected && above() // unless its page was left
    )
  }

  // Show the link as a QR code over all of the window, for the cameras of a room; or no longer.
  showCode(on) {
    const { code } = this.board.head
    this.code.hidden = !(on && code)
    if (!this.code.hidden) this.code.src = code
  }

  shrink() {
    if (document.fullscreenElement === this.board.root) document.exitFullscreen()
  }

  leave() {
    const { root } = this.board
    Object.assign(this, { stage: null, query: -1 })
    this.foot.hidden = true
    this.showCode(false)
    root.classList.remove('presenting')
    this.board.groups.prepend(this.board.around.formula)
    root.parentElement.style.minHeight = ''
    this.shrink()
    if (root.popover) root.hidePopover()
    for (const name of ['popover', 'role', 'aria-modal', 'aria-label', 'tabindex'])
      root.removeAttribute(name)
    this.board.live.textContent = ''
    this.board.draw(true)
    this.choosesAgain()
    this.from?.focus({ preventScroll: true })
  }

  // The cell that was chosen before.
  choosesAgain() {
    const { head, panes } = this.board
    const [stage, i, j] = this.chosen ?? []
    if (!head.card || String(head.cell) === String(this.chosen)) return
    if (panes.get(stage)?.spec.picks) this.board.ahead.pick(stage, i, j)
  }

  turn(step) {
    const { stages } = this
    const next = stages.indexOf(this.stage) + step
    this.stage = stages[Math.min(Math.max(next, 0), stages.length - 1)]
    this.board.draw(true)
    this.ask()
  }

  // Ask for the arithmetic of the stage that is presented, of the query and the key of before.
  ask() {
    const { spec, board } = this
    const { card } = board.head
    if (!spec?.picks || !card || this.isCardOf(card)) return
    if (board.key >= 0) this.keyBefore = board.key
    const asked = { queries: Math.max(board.query, 0), keys: this.keyBefore }
    const [i, j] = [asked[spec.rowKind] ?? 0, asked[spec.columnKind] ?? 0]
    board.ahead.pick(spec.name, i, j)
  }

  // Whether a card is of what is presented: of another stage, or another query, there is none.
  isCardOf({ stage, row }) {
    if (!this.spec) return true
    const isOther = this.query >= 0 && this.spec.rowKind === 'queries' && row !== this.query
    return stage === this.spec.name && !isOther
  }

  // From a stage without rows of queries the way of a query begins.
  choose(step) {
    const spec = this.board.head.panes.find(({ queries }) => queries)
    if (!spec) return
    this.query = Math.min(Math.max(this.query + step, -1), spec.rows.length - 1)
    this.board.draw(true)
    this.ask()
  }

  key(event) {
    const { key, target } = event
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest?.(TYPED)) return
    if (!this.stage) {
      const naming = [...this.board.panes.values()].some(
        ({ frame, grid }) => frame === target && grid?.at?.[1] < 0
      )
      if (key.toLowerCase() !== 'p' || naming) return
      this.enter()
    } else if (!this.code.hidden) this.showCode(false) // any key goes back to the board
    else if (key.toLowerCase() === CODE) this.showCode(true)
    else if (STAGES[key]) this.turn(STAGES[key])
    else if (QUERIES[key]) this.choose(QUERIES[key])
    else if (key === 'Escape') this.leave()
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  swiped(down) {
    if (!this.stage || down.pointerType !== 'touch') return
    follow(down, () => {}, up => {
      const [x, y] = [up.clientX - down.clientX, up.clientY - down.clientY]
      if (Math.max(Math.abs(x), Math.abs(y)) < SWIPE) return
      if (Math.abs(x) > Math.abs(y)) this.turn(x < 0 ? 1 : -1)
      else this.choose(y < 0 ? 1 : -1)
    })
  }

  // Before the panes are drawn: which are seen, which row is lit, and the words below.
  dress() {
    const { board, stages } = this
    if (this.stage && !stages.includes(this.stage)) this.stage = stages[0] ?? null
    for (const pane of board.panes.values()) {
      pane.element.classList.toggle('shown', !!this.stage && this.shows(pane))
    }
    this.lightPart()
    if (!this.stage) return
    this.asksForCode.hidden = !board.head.code
    this.showCode(!this.code.hidden) // of what is set now
    const named = board.head.panes.find(({ queries }) => queries)
    this.query = Math.min(this.query, (named?.rows.length ?? 0) - 1) // a token may have gone
    const first = this.panes.find(({ spec }) => stageOf(spec) === this.stage) ?? this.panes[0]
    const token = this.query < 0 ? '' : ` · query ${named.rows[this.query]}`
    const place = `${stages.indexOf(this.stage) + 1} of ${stages.length}`
    const name = this.stage === WHOLE ? 'The whole board' : first.spec.symbol.split(',')[0]
    this.where.textContent = `${name}, ${place}${token}`
    board.live.textContent = this.where.textContent
    this.line.textContent = this.sum(first)
  }

  // The part of the formula that is presented; where it has none, what it is made of.
  lightPart() {
    const { parts } = this.board.around
    const stages = parts.map(part => part.dataset.stage)
    const lit = stages.includes(this.stage) ? [this.stage] : this.factors
    for (const part of parts) part.classList.toggle('presented', lit.includes(part.dataset.stage))
  }

  // What the row of the query is made of, and what it is.
  sum(pane) {
    const written = ({ texts, spec }) =>
      texts?.[0].length <= LISTED && `${spec.symbol} (${texts[this.query].join(', ')})`
    if (this.query < 0 || !pane.spec.queries) return ''
    const made = pane.spec.sources.filter(([, what]) => ['row i', 'cell'].includes(what))
    const before = made.map(([stage]) => this.board.panes.get(stage)).find(Boolean)
    if (!before || !written(before) || !written(pane)) return ''
    return `${pane.spec.rows[this.query]}: ${written(before)} → ${written(pane)}`
  }

  // The window's room for the panes, where they are presented.
  get room() {
    if (!this.stage) return null
    const top = node => node.getBoundingClientRect().top
    const { groups } = this.board
    const height = top(this.foot) - top(groups)
    return { width: groups.clientWidth, height, presenting: true, phone: false }
  }
}
