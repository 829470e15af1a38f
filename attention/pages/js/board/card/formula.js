// What is between the panes of a plan: the formula, the band of inputs, the row of the query.

import { childrenOf, make, moved, px } from '../../elements.js'
import { setCard } from './card.js'
import { drawCard, drawSteps } from './draw_card.js'
import { unmarked } from '../text/notation.js'
import { pixels } from '../paint/shades.js'
import { formsOf } from '../paint/written.js'
import { RULES } from '../layout/rules.js'
import { mathText } from '../text/text.js'

const SHEET = 176 // px: the height of the card on a phone
const AWAY = 24 // px: the button that puts it away
const SHEET_GAP = 12 // px between the chosen cell and the sheet
const ON_SHEET = [15, 14, 13.5]
const PRESENTED = [34, 32, 30, 28, 26]
const PLAYED = [18, 17, 16, 15, 14.25, 13.5]
const LETTERS = [17, 16, 15, 14, 13, 12] // px of the formula
const LINE = 1.48 // its height, in letters, with indices
const BELOW = { px: 13, line: 20 } // px: what is said below it
const NOTE = { px: 13, line: 17, around: 44 } // px: the words beside open inputs
const WRAPS = 0.75 // of the width: what words that are broken into lines fill at least
const PRESENT = 'Present'
const SIGN = 15 // px: + and = between inputs
// px: a cell of an input that is folded, and all of it; its letters, and what is around
const MINI = { side: 4, high: 18, most: 20, wide: 60, px: 13.5, gap: 6, apart: 14, around: 24 }
// beside the name of a folded input: the first of these that fits
const BESIDE_NAME = [['shape', 'picture'], ['picture'], []]
const MOMENT = 400 // ms that the card of the cell pointed at stays while its next one is made
export const ALL = 'all'
const PRESENTS = 'Full screen, one stage at a time (P)'
const HOW = 'Click a number and type, or paste a block. The board follows.'

export class Around {
  constructor(board) {
    this.board = board
    const { groups } = board
    this.formula = make('div', 'board-formula', groups)
    this.formula.setAttribute('role', 'group')
    this.formula.setAttribute('aria-label', 'The formula; point at a part to find its stage')
    this.lit = [0, 1, 2].map(() => make('div', 'board-lit', groups))
    this.arrows = make('div', 'board-arrows', groups)
    this.arrows.ariaHidden = 'true'
    this.band = make('div', 'board-inputs', groups)
    this.card = make('section', 'board-card', groups)
    this.card.setAttribute('aria-label', 'Arithmetic of the chosen cell')
    /** @type {{ card: import('./card.js').Card, cell: string, until: number } | null} */
    this.last = null // what was shown of the cell that is pointed at
  }

  // Take the formula, which is written once the page has been read.
  writeFormula({ formula, remark }) {
    this.given = { formula, remark }
  }

  // Write its parts, which light their stages.
  writeParts() {
    const { formula, remark } = this.given
    const text = JSON.stringify([formula ?? [], remark])
    if (text === this.text) return
    this.text = text
    this.written = ''
    this.formula.replaceChildren()
    this.formula.hidden = !formula?.length
    const line = make('div', 'board-line-of-parts', this.formula)
    for (const [words, stage] of formula ?? []) {
      const part = make(stage ? 'button' : 'span', 'board-part', line)
      mathText(part, words.replace(/\( /g, '(').replace(/ \)/g, ')'))
      if (!stage) continue
      part.setAttribute('type', 'button')
      part.dataset.stage = stage
      part.title = `Show ${stage}`
      part.onmouseenter = part.onfocus = () => this.board.light(stage)
      part.onmouseleave = part.onblur = () => this.board.light(null)
      part.onclick = () => this.board.bring(stage)
    }
    const below = make('div', 'board-remarks', this.formula)
    this.remark = make('span', 'board-remark', below)
    mathText(this.remark, remark ?? '')
    this.said = make('span', 'board-said', below)
    const present = make('button', 'board-tool board-present', below, PRESENT)
    Object.assign(present, { type: 'button', title: PRESENTS })
    present.onclick = () => this.board.presenter.enter()
  }

  /** @returns {HTMLElement[]} */
  get parts() {
    return [...this.formula.querySelectorAll('.board-part')].map(node => /** @type {any} */ (node))
  }

  // `colours` are the stages of which it is to be said that they are in colours, or ALL.
  place(plan, query, colours) {
    const { formula, lit, arrows, inputs, card } = plan
    if (!this.board.presenter.stage) at(this.formula, formula)
    this.say(plan, saidOf(plan, colours, this.rounds(plan)))
    // in a part that is seen closer the row is elsewhere
    const isCloser = [...this.board.panes.values()].some(
      ({ view, box, front }) => view && front && box?.line === 'lower'
    )
    const isLit = query >= 0 && !isCloser
    const rows = isLit ? lit : []
    this.lit.forEach((node, k) => {
      const row = rows[k]
      at(node, row && { x: row.x - 2, y: row.y + query * row.ch - 2, w: row.w + 4, h: row.ch + 3 })
    })
    this.arrows.replaceChildren()
    for (const arrow of isLit ? arrows : []) {
      const node = make('span', 'board-arrow', this.arrows)
      const y = arrow.y + query * plan.cell.h
      at(node, { x: arrow.x + 4, y, w: arrow.w - 9, h: plan.cell.h })
    }
    this.placeInputs(inputs)
    if (!this.board.player.on) this.placeCard(card, plan) // Play has its own
  }

  // Write below the formula what is `said` and advised, where that or its room is another.
  say(plan, said) {
    const { formula, phone } = plan
    const { font, presenter } = this.board
    const advice = this.advice(plan)
    const written = JSON.stringify([formula, phone, presenter.stage, font, said, advice])
    if (written === this.written) return
    this.written = written
    this.said.textContent = [said, advice].filter(Boolean).join(' ')
    this.formula.classList.remove('brief') // what is said of numbers comes first
    const isCut = () => this.formula.scrollHeight > this.formula.clientHeight + 1
    if (phone && isCut()) {
      this.formula.classList.add('brief')
      if (isCut()) this.said.textContent = said // the advice gives way
    }
    this.fitFormula(phone || presenter.stage ? null : formula, said)
  }

  // Whether a cell says ≈0 or ≈1.
  rounds({ boxes, decimals }) {
    const { panes, measure } = this.board
    return boxes.some(({ name, numbers, px, cw }) => {
      const forms = numbers !== 'none' && formsOf(panes.get(name), decimals, measure)
      if (!forms) return false
      const isWhole = forms.ems.full * px + RULES.air <= cw
      const texts = numbers === 'tight' ? forms.tight : isWhole ? forms.full : forms.short
      return texts.some(row => row.some(text => text.startsWith('≈')))
    })
  }

  // Read what `advice` has to know, before anything is written.
  lookAround() {
    const sidebar = document.querySelector('[data-testid=stSidebar]')
    this.isBesideSidebar = (sidebar?.getBoundingClientRect().right ?? 0) > 1
  }

  // How cells that are in colours get numbers; of large stages these are not here.
  advice({ boxes, phone }) {
    const { panes, presenter } = this.board
    const hasTexts = ({ name, numbers }) => numbers === 'none' && panes.get(name)?.texts
    if (presenter.stage || !boxes.some(hasTexts)) return ''
    const ways = ['press Present']
    if (!phone) ways.push('drag over cells to enlarge them')
    if (!phone && this.isBesideSidebar) ways.push('fold the sidebar')
    return `For numbers, ${ways.join(', ').replace(/, ([^,]*)$/, ' or $1')}.`
  }

  // The largest letters with which the formula is on one line, or else all of it is in sight; where
  // there are none, the remark gives way, and then the advice, which leaves what is `least` said.
  // Without a rectangle it has those of the style.
  fitFormula(rect, least) {
    const { formula, remark, board } = this
    remark.hidden = false
    formula.style.fontSize = ''
    if (!rect || formula.hidden) return
    const [line] = formula.children
    const lines = (text, size) => Math.ceil(board.measure(text, size) / (WRAPS * rect.w))
    const whole = size => board.measure(line.textContent, size) <= rect.w
    const parts = childrenOf(line).filter(part => part.localName === 'button') // stay in one line
    const widest = size => Math.max(...parts.map(part => board.measure(part.textContent, size)))
    const fits = (size, below) =>
      widest(size) <= rect.w &&
      LINE * size * (whole(size) ? 1 : lines(line.textContent, size)) +
        BELOW.line * lines(below, BELOW.px) <= rect.h
    // measured, as to ask the page would lay all of it out once more for each size
    const sizeFor = below =>
      LETTERS.find(size => whole(size) && fits(size, below)) ??
      LETTERS.find(size => fits(size, below))
    const said = `${this.said.textContent} ${PRESENT}`
    const size = sizeFor(`${remark.textContent}  ${said}`)
    remark.hidden = !size
    const smaller = size ?? sizeFor(said)
    if (!smaller) this.said.textContent = least
    formula.style.fontSize = `${smaller ?? sizeFor(`${least} ${PRESENT}`) ?? LETTERS.at(-1)}px`
  }

  // Show how a cell of the lit row is made while it is pointed at, if not by a finger; null: the
  // chosen one.
  point(cell) {
    if (String(cell) !== this.last?.cell) this.last = null
    if (String(cell) === String(this.pointed)) return
    this.pointed = cell
    this.showCard()
  }

  // The card of the cell that is pointed at, where it is here. Of other numbers, the one of before
  // stays for a moment, as the next is on its way; no other card comes between.
  get pointedCard() {
    const { ahead, asked, presenter } = this.board
    const [stage, row] = this.pointed
    if (!presenter.isCardOf({ stage, row })) return null
    const card = ahead.isAhead ? null : asked.card(this.pointed, 'row')
    const now = performance.now()
    if (card) this.last = { card, cell: String(this.pointed), until: 0 }
    if (card || !this.last) return card
    if (!this.last.until) {
      this.last.until = now + MOMENT
      this.moment = setTimeout(() => this.showCard(), MOMENT)
    }
    return now < this.last.until ? this.last.card : null
  }

  showCard() {
    const { plan, player } = this.board
    if (plan && !player.on) this.placeCard(plan.card, plan)
  }

  // The arithmetic of the cell that is pointed at, or of the chosen one; on a phone a sheet at the
  // foot.
  placeCard(rect, { phone }) {
    const isSheet = phone && !rect
    const { head, presenter, player } = this.board
    const isAway = isSheet && !player.on && this.away === String(head.cell)
    const pointed = this.pointed && !isAway && this.pointedCard
    const given = player.card ?? (pointed || head.card)
    const { stage, row, column } = given ?? {}
    const cell = [stage, row, column].join()
    this.card.classList.toggle('sheet', isSheet)
    if (isSheet) for (const name of ['transform', 'width', 'height']) this.card.style[name] = ''
    else at(this.card, rect)
    const isAnother = !!given && !presenter.isCardOf(given)
    this.card.hidden = !given || isAnother || (isSheet ? isAway : !rect)
    if (this.card.hidden) return
    const played = player.on ? PLAYED : undefined
    const sizes = presenter.stage ? PRESENTED : isSheet ? ON_SHEET : played
    const { w, h } = isSheet ? { w: window.innerWidth - 8 - AWAY, h: SHEET } : rect
    const key = JSON.stringify([given, w, h, sizes, this.board.font, player.on && player.step])
    this.card.classList.toggle('unmade', player.on && player.hidesValue)
    if (key !== this.set) {
      this.set = key
      this.setAnew(given, isSheet, { w, h, sizes })
    }
    if (player.on || (pointed && cell !== String(head.cell))) return
    const isOther = this.shown !== undefined && this.shown !== cell
    this.shown = cell
    if (isOther) this.announce()
    if (isSheet && isOther) this.showAbove()
  }

  // Draw a card in its rectangle; a link in it that has the focus keeps it.
  setAnew(given, isSheet, { w, h, sizes }) {
    const { measure, player } = this.board
    this.card.dataset.cell = [given.stage, given.row, given.column].join()
    const links = () => [...this.card.querySelectorAll('button')]
    const focused = links().indexOf(/** @type {any} */ (document.activeElement))
    const setting = setCard(given, { w, h }, { measure, sizes, steps: player.on })
    drawCard(this.card, setting, place => {
      this.board.ahead.pick(place.stage, place.row, place.column)
    })
    if (player.on) drawSteps(this.card, player, { px: setting.px, w, measure })
    links()[focused]?.focus({ preventScroll: true })
    if (isSheet) this.addClose()
  }

  // A sheet can be put away until another cell is chosen; that of Play ends it.
  addClose() {
    const { player, head } = this.board
    const label = player.on ? 'Leave Play' : 'Put the arithmetic away'
    const close = make('button', 'board-away', this.card.querySelector('header'), '×')
    Object.assign(close, { type: 'button', ariaLabel: label })
    close.onclick = () => {
      if (player.on) return player.leave()
      this.away = String(head.cell)
      this.card.hidden = true
    }
  }

  // A screen reader is told the number that was picked.
  announce() {
    const { head, live, presenter } = this.board
    const { title, value } = head.card
    if (presenter.stage || !value) return
    live.textContent = `${title.map(([text]) => text).join('')}: ${value}`
  }

  // A cell that was tapped is not left below the sheet.
  showAbove() {
    if (!this.board.byTouch) return
    requestAnimationFrame(() => {
      const chosen = this.board.panes.get(this.board.head.cell?.[0])?.cursor
      const { top } = this.card.getBoundingClientRect()
      const lack = chosen ? chosen.getBoundingClientRect().bottom + SHEET_GAP - top : 0
      const page = this.board.root.closest('[data-testid=stMain]')
      if (lack > 0) page?.scrollBy({ top: lack, behavior: 'smooth' })
    })
  }

  // The letters are others: all that was fitted into its room is fitted again.
  forget() {
    this.set = this.written = this.told = ''
  }

  // Outside of a plan there is none of this.
  clear() {
    const { formula, lit, arrows, band, card } = this
    for (const node of [formula, ...lit, band, card]) node.hidden = true
    arrows.replaceChildren()
  }

  placeInputs(band) {
    const fold = band?.open && { x: band.w - 90, y: band.y, w: 90, h: 22 }
    at(this.band, band?.open ? (band.note ?? fold) : band)
    if (!band) return
    for (const sign of band.signs ?? []) {
      const node = make('span', 'board-sign', this.arrows, sign.text)
      at(node, { ...sign, y: sign.y + sign.h / 2 - SIGN })
    }
    const { panes, palette, measure } = this.board
    const inputs = [...panes.values()].filter(isInput)
    const minis = band.open ? [] : inputs.map(pane => mini(pane, palette))
    const told = JSON.stringify([band, minis])
    if (told === this.told) return
    this.told = told
    this.band.replaceChildren()
    const turn = (words, open) => {
      const node = make('button', 'board-fold', this.band, words)
      Object.assign(node, { type: 'button', onclick: () => this.board.fold(!open) })
      node.setAttribute('aria-expanded', String(open))
      return node
    }
    if (band.open) {
      if (band.note) {
        make('b', '', this.band, 'Inputs')
        const { w, h } = band.note
        const lines = Math.ceil(measure(HOW, NOTE.px) / (WRAPS * w))
        const isEditable = inputs.some(({ spec }) => spec.edit === 'cells')
        if (isEditable && NOTE.around + NOTE.line * lines <= h) make('p', '', this.band, HOW)
      }
      turn('Fold away', true)
      return
    }
    const folded = turn('Inputs', false)
    // measured, as to ask the page would lay all of it out once more for each
    const words = text => measure(text, MINI.px, true)
    const widthOf = ({ symbol, shape, width }, form) =>
      MINI.apart +
      words(symbol) +
      (form.includes('shape') ? MINI.gap + words(shape) : 0) +
      (form.includes('picture') ? MINI.gap + width : 0)
    const begin = MINI.around + words('Inputs')
    const fits = form => minis.reduce((all, mini) => all + widthOf(mini, form), begin) <= band.w
    // of many, or on a narrow board, the shapes go first, then the pictures
    const form = BESIDE_NAME.find(fits) ?? []
    minis.forEach(({ symbol, shape }, k) => {
      const node = make('span', 'board-mini', folded)
      mathText(make('b', '', node), symbol)
      if (form.includes('shape')) node.append(shape)
      if (form.includes('picture')) node.append(inputs[k].mini.pixels)
    })
  }
}

const isInput = ({ spec, n }) => spec.place?.line === 'inputs' && !spec.place.under && n

const at = (node, rect) => {
  node.hidden = !rect
  if (!rect) return
  Object.assign(node.style, moved(rect))
}

// What cells do not show, once for all of them.
const saidOf = ({ decimals, cut }, colours, rounds) => {
  if (colours === ALL) {
    return 'Too many cells for numbers, so they are colours. Point at a cell to read its number.'
  }
  const names = colours.map(unmarked).join(', ')
  return [
    cut ? `Numbers with ${decimals} of ${cut} decimals.` : '',
    rounds ? '≈0 and ≈1: rounded for lack of room.' : '',
    names ? `In colours: ${names}.` : ''
  ].filter(Boolean).join(' ')
}

// An input that is folded: its name, and how large its picture of a few pixels is, which stays.
const mini = (pane, palette) => {
  const { spec, codes, n, m } = pane
  const [high, wide] = [Math.floor(MINI.high / n), Math.floor(MINI.wide / m)]
  const side = Math.max(1, Math.min(MINI.side, high, wide))
  const size = { width: Math.min(m * side, MINI.wide), height: Math.min(n * side, MINI.most) }
  pane.mini = { ...pane.mini, spec, codes, n, m }
  Object.assign(pixels(pane.mini, palette, size.width, size.height).style, px(size))
  return { symbol: spec.symbol, shape: spec.shape, ...size }
}
