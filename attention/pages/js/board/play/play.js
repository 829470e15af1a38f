// Play: the way of one query through the board. What is seen of a step at a share p of its time.
// Pure. attention/explain/play.py makes the steps, with the texts of their arithmetic.

import { number } from '../../numbers.js'

/**
 * @typedef {import('../layout/rules.js').Rect} Rect
 * @typedef {import('../layout/rules.js').Box} Box
 * @typedef {import('../layout/rules.js').Plan} Plan
 * @typedef {{ kind: 'dot' | 'each' | 'weights' | 'mix', name: string, takes: string,
 *   above: string, makes: string, cards: import('../card/card.js').Card[] }} Step
 *
 * @typedef {{ rows: number, cols: number, digits: number, value: (r: number, c: number) => number,
 *   text: (r: number, c: number) => string, hidden: (r: number, c: number) => boolean }} Matrix a
 *   stage as it is drawn; without numbers its values are NaN and its texts ''
 *
 * @typedef {Rect & { solid?: boolean, framed?: boolean, alpha?: number }} Veil solid: a cell that
 *   is not made yet; framed: as an empty frame; alpha: as solid, and so far to be seen through
 * @typedef {Rect & { cell?: [stage: string, row: number, column: number], value?: number,
 *   text: string, px: number, bold?: boolean, edge?: 'query' | 'source', lifted?: boolean,
 *   alpha?: number }} Ghost a number on its way, in the colour of a cell, or of another value there
 * @typedef {Rect & { role: 'query' | 'source' | 'cell' }} Frame
 * @typedef {{ veils: Veil[], ghosts: Ghost[], bars: Rect[], frames: Frame[], key: number }} Moment
 *   key: the one whose score is made, or −1
 */

const SECONDS = { dot: 3, each: 1, weights: 2, mix: 2 }
export const MANY = 12 // keys: more than this pass too fast for numbers
const MOST = 1200 // cells of V, beyond which its rows do not fall one by one
const SMALL = 9 // px: a smaller cell has no edge
const HOP = 14 // px that a row jumps on its way, and a number of it
const LOW = 3
const TALLEST = 4 // rows that a bar is high at most
const FAINT = 0.1 // of a row of V whose weight is 0, so that it is still seen
const VISIBLE = 1.6 // how much more a row is seen than it weighs
const LATE = 0.55 // of its way, from which on a number is what it becomes

const ease = t => (t < 0.5 ? 4 * t ** 3 : 1 - (-2 * t + 2) ** 3 / 2)
const clamp = (value, low, high) => Math.min(Math.max(value, low), high)
const span = (p, from, to) => clamp((p - from) / (to - from), 0, 1)
const mix = (a, b, t) => a + (b - a) * t

/** @type {(a: Rect, b: Rect, t: number, hop?: number) => Rect} */
const between = (a, b, t, hop = 0) => ({
  x: mix(a.x, b.x, t),
  y: mix(a.y, b.y, t) - Math.sin(t * Math.PI) * hop,
  w: mix(a.w, b.w, t),
  h: mix(a.h, b.h, t)
})

/** @type {(box: Box, row: number, column: number) => Rect} */
const cellOf = (box, row, column) => ({
  x: box.x + column * box.cw,
  y: box.y + row * box.ch,
  w: box.cw,
  h: box.ch
})

/** @type {(box: Box, row: number) => Rect} */
const rowOf = (box, row) => ({ x: box.x, y: box.y + row * box.ch, w: box.w, h: box.ch })

/** @type {(plan: Plan, stage: string) => Box | undefined} */
export const boxOf = (plan, stage) => plan.boxes.find(({ tabs }) => tabs.includes(stage))

/**
 * The steps that have a place on a plan, each with its seconds and the words of its button.
 * @param {Step[]} steps
 * @param {Plan} plan
 * @returns {(Step & { seconds: number, label: string })[]}
 */
export const stepsOf = (steps, plan) =>
  steps
    .filter(({ takes, above, makes }) =>
      [takes, above, makes].every(stage => !stage || boxOf(plan, stage))
    )
    .map((step, k) => ({ ...step, seconds: SECONDS[step.kind], label: `${k + 1} ${step.name}` }))

/**
 * The stages to be in front of places that several share, the most important one last: what is
 * made later, what was made before, and of this step what it takes until it has ended.
 * @param {Step[]} steps
 * @param {number} k
 * @param {boolean} hasEnded
 */
export const frontsOf = (steps, k, hasEnded) => {
  const { takes, above, makes } = steps[k]
  const later = steps.slice(k + 1).map(step => step.makes)
  const before = steps.slice(0, k).map(step => step.makes)
  const own = hasEnded ? [takes, makes] : [makes, takes]
  return [...later.reverse(), ...before, above, ...own].filter(Boolean)
}

/**
 * What is seen of a step.
 * @param {{ plan: Plan, steps: Step[], stages: Record<string, Matrix>, query: number }} board
 * @param {number} k which step
 * @param {number} p 0 to 1
 * @returns {Moment}
 */
export const momentOf = ({ plan, steps, stages, query }, k, p) => {
  const step = steps[k]
  const [taken, above, made] = [step.takes, step.above, step.makes].map(
    stage => /** @type {Box} */ (boxOf(plan, stage))
  )
  /** @type {Moment} */
  const moment = { veils: [], ghosts: [], bars: [], frames: [], key: -1 }
  const board = { step, stages, query, moment, taken, above, made, p }
  stepBack(plan, step, query, moment)
  const later = steps.slice(k + 1).map(({ makes }) => boxOf(plan, makes))
  for (const box of new Set(later)) if (box !== taken && box !== made) empty(moment, box, query)
  for (const box of plan.boxes) if (isAfter(box, steps)) empty(moment, box, query)
  PARTS[step.kind](board)
  return moment
}

// What is made of the output, which no step speaks of.
const isAfter = ({ line, name, place, tabs }, steps) => {
  const isMade = steps.some(({ takes, makes }) => tabs.includes(takes) || tabs.includes(makes))
  return !isMade && (line === 'below' || ['joined', 'projected'].includes(place ?? name))
}

// Other rows, and what a step does not use, step back.
const stepBack = (plan, { takes, above, makes }, query, { veils }) => {
  const used = [takes, above, makes].map(stage => boxOf(plan, stage))
  for (const box of plan.boxes) {
    if (box.line === 'lower' && box.rows > 1) {
      const { x, y, w, h, ch } = box
      const under = { x: x - 1, y: y + (query + 1) * ch + 1, w: w + 1 }
      if (query) veils.push({ x: x - 1, y: y - 1, w: w + 1, h: query * ch })
      if (query < box.rows - 1) veils.push({ ...under, h: y + h - under.y + 1 })
    } else if (box.line !== 'lower' && !used.includes(box)) {
      veils.push({ x: box.x - 1, y: box.y - 1, w: box.w + 2, h: box.h + 2 })
    }
  }
}

// Cells of the row that are not made yet, from one on.
const empty = ({ veils }, box, query, from = 0) => {
  const row = box.line === 'below' ? 0 : query
  if (from >= box.cols) return
  if (box.cw >= SMALL) {
    for (let c = from; c < box.cols; c++) {
      veils.push({ ...cellOf(box, row, c), solid: true, framed: box.ch >= SMALL })
    }
    return
  }
  const whole = rowOf(box, row)
  veils.push({ ...whole, x: box.x + from * box.cw, w: box.w - from * box.cw, solid: true })
}

// A cell of a stage, wherever it is; it shows its number where that has numbers.
const show = ({ stages, moment }, rect, [stage, row, column], box, more = {}) => {
  const text = box.px ? stages[stage].text(row, column) : ''
  moment.ghosts.push({ ...rect, cell: [stage, row, column], text, px: box.px, ...more })
}

// ---- dot products -----------------------------------------------------------------------------

const TURN = 0.2 // of the time: the row of the query turns upright
const [MULTIPLIED, FALLS, FALLEN] = [0.3, 0.58, 0.9] // of the time of one key
const DROPPED = 0.85 // the score is there

const dots = board => {
  const { step, stages, query, moment, taken: Q, above: K, made, p } = board
  const n = made.cols
  const turn = span(p, 0, TURN)
  const through = span(p, TURN, 1) * n
  const j = Math.min(Math.floor(through), n - 1)
  const f = p >= 1 ? 1 : through - j
  const isMany = n > MANY
  const isDropped = f >= DROPPED
  moment.key = j
  empty(moment, made, query, isDropped ? j + 1 : j)
  moment.frames.push({ ...rowOf(Q, query), role: 'query' })
  if (p >= 1) return
  const slide = isMany || !j ? 1 : ease(span(f, 0, MULTIPLIED))
  const x = K.x + mix(Math.max(j - 1, 0), j, slide) * K.cw
  const falls = isMany ? 0 : ease(span(f, FALLS, FALLEN))
  const target = cellOf(made, query, j)
  const products = productsOf(step.cards[j], Q.cols)
  for (let c = 0; c < Q.cols; c++) {
    const above = { ...cellOf(K, c, 0), x }
    if (turn < 1 || isMany || f < MULTIPLIED) {
      const at = between(cellOf(Q, query, c), above, ease(turn), HOP)
      const px = turn < 1 ? Q.px : Math.min(Q.px, K.px || Q.px)
      const more = { edge: 'query', lifted: turn < 1, px }
      show(board, at, [step.takes, query, c], isMany && turn >= 1 ? NUMBERLESS : Q, more)
      continue
    }
    const y = mix(above.y, target.y, falls)
    const text = Q.px ? products[c] : ''
    const alpha = 1 - span(falls, 0.7, 1)
    const more = { edge: 'source', bold: true, alpha, text, px: Math.min(Q.px, K.px || Q.px) }
    show({ stages, moment }, { ...above, y }, [step.above, c, j], K, more)
  }
  if (isDropped) moment.frames.push({ ...target, role: 'cell' })
  else moment.frames.push({ x, y: K.y, w: K.cw, h: K.h, role: 'source' })
}

const NUMBERLESS = { px: 0 }

// The products of a card in the order of their terms, where all were sent.
const productsOf = (card, count) => {
  const cells = card?.table?.rows.find(({ kind }) => kind === 'product')?.cells
  return cells?.length === count ? cells : Array(count).fill('')
}

// ---- from number to number --------------------------------------------------------------------

const each = board => {
  const { step, query, moment, taken, made, p } = board
  const { takes, makes } = step
  const isApart = taken !== made
  moment.frames.push({ ...rowOf(made, query), role: 'source' })
  if (p >= 1) return
  if (isApart) empty(moment, made, query)
  const t = isApart ? ease(span(p, 0.1, 0.75)) : 0
  const isMoving = isApart ? t > 0 && t < 1 : p > 0.2 && p < 0.8
  const n = made.cols
  for (let c = 0; c < n; c++) {
    // one after the other, where they stay at their place
    const isLate = isApart ? t > LATE : p > 0.3 + (0.5 * c) / Math.max(n - 1, 1)
    const rect = between(cellOf(taken, query, c), cellOf(made, query, c), t, LOW)
    const more = { edge: isMoving ? 'query' : undefined, lifted: isApart && isMoving }
    show(board, rect, [isLate ? makes : takes, query, c], made, more)
  }
}

// ---- weights ----------------------------------------------------------------------------------

const toWeights = board => {
  const { step, stages, query, moment, taken, made, p } = board
  const { takes, makes, cards } = step
  moment.frames.push({ ...rowOf(made, query), role: 'source' })
  if (p >= 1) return
  const n = made.cols
  const powers = powersOf(board, cards[0])
  const fly = ease(span(p, 0, 0.25))
  const grow = ease(span(p, 0.27, 0.55))
  const settle = ease(span(p, 0.62, 0.9))
  empty(moment, made, query)
  if (!powers || grow <= 0) {
    const isLate = !powers && p > 0.5
    for (let c = 0; c < n; c++) {
      const rect = between(cellOf(taken, query, c), cellOf(made, query, c), fly)
      const lifted = fly > 0 && fly < 1
      show(board, rect, [isLate ? makes : takes, query, c], made, { lifted })
    }
    return
  }
  // over rows that stepped back, those above, so that no bar meets a number; of the first row below
  const rows = Math.min(query || made.rows - 1, TALLEST)
  const rise = Math.max(rows * made.ch - 2, 0)
  for (let c = 0; c < n; c++) {
    const { x, y, w, h } = cellOf(made, query, c)
    const size = mix(powers.sizes[c], stages[makes].value(query, c), settle) * grow
    const foot = (query ? y : y + h + rows * made.ch) - 1
    const bar = { x: x + 1, y: foot - size * rise, w: Math.max(w - 3, 1), h: size * rise }
    if (!stages[makes].hidden(query, c) && rise) moment.bars.push(bar)
    const isSettled = settle > 0.5
    const text = isSettled ? stages[makes].text(query, c) : powers.texts[c]
    const cell = { x, y, w, h, px: made.px }
    const coloured = { ...cell, cell: [makes, query, c], text: '', alpha: settle }
    if (settle > 0) moment.ghosts.push(coloured)
    if (made.px) moment.ghosts.push({ ...cell, text, bold: isSettled })
  }
}

// How high the power of e of each score is, by that of the largest, and its text where it was sent;
// null where there is no softmax, or no number to show.
const powersOf = ({ step, stages, query, made }, card) => {
  const row = card?.table?.rows.find(({ name }) => name.startsWith(POWER))
  if (!row) return null
  const seen = c => !stages[step.makes].hidden(query, c)
  const scores = Array.from({ length: made.cols }, (_, c) =>
    seen(c) ? stages[step.takes].value(query, c) : -Infinity
  )
  const top = Math.max(...scores)
  if (!Number.isFinite(top) || scores.some(Number.isNaN)) return null
  const areSent = made.cols <= MANY
  const texts = scores.map((_, c) => (areSent ? row.cells[c] : ''))
  return { sizes: scores.map(score => Math.exp(score - top)), texts }
}
const POWER = 'e^{s' // or e^{s − 16}

// ---- the rows of V ----------------------------------------------------------------------------

const mixed = board => {
  const { step, stages, query, moment, taken: weights, above: V, made, p } = board
  const { makes, takes, above } = step
  const n = weights.cols
  const fly = ease(span(p, 0, 0.25)) // the weights turn, to stand beside the rows of V
  const times = span(p, 0.28, 0.45) // each row becomes weight × row
  const fall = ease(span(p, 0.6, 0.92)) // all rows fall into one, and add up
  const isFew = n * V.cols <= MOST
  const share = j => stages[takes].value(query, j)
  const faint = j => clamp(Math.abs(share(j)) * VISIBLE || 0, FAINT, 1)
  moment.frames.push({ ...rowOf(made, query), role: 'source' })
  if (p >= 1) {
    for (let j = 0; j < n; j++) {
      moment.veils.push({ ...rowOf(V, j), alpha: 0.85 * (1 - faint(j)) })
    }
    return
  }
  empty(moment, made, query)
  const words = V.rowLabels
  const beside = (words ? words.x + words.w : V.x) - weights.cw + 1
  const isBeside = V.ch >= SMALL && fall < 1
  if (isBeside && words && fly > 0) {
    // the weights take the place of the words
    const { x, w } = words
    moment.veils.push({ x: x - 1, y: V.y - 1, w: w + 3, h: V.h + 2, alpha: fly * (1 - fall) })
  }
  for (let j = 0; j < n; j++) {
    const row = rowOf(V, j)
    const gone = isFew ? times * (1 - faint(j)) + fall * faint(j) : times * (1 - faint(j))
    moment.veils.push({ ...row, alpha: gone })
    if (isBeside) {
      const rect = between(cellOf(weights, query, j), { ...row, x: beside, w: weights.cw }, fly)
      const edge = stages[takes].hidden(query, j) ? undefined : 'query'
      const more = { lifted: fly > 0 && fly < 1, alpha: 1 - fall, edge }
      show(board, rect, [takes, query, j], weights, more)
    }
    for (let c = 0; isFew && times > 0 && c < V.cols; c++) {
      const weighted = share(j) * stages[above].value(j, c) || 0
      const rect = between(cellOf(V, j, c), cellOf(made, query, c), fall)
      const isRead = V.px && times > 0.5 && fall < 0.02 && n <= MANY
      const text = isRead ? brief(weighted, stages[makes].digits) : ''
      const more = { text, px: V.px, value: times >= 1 ? weighted : undefined }
      const alpha = fall > 0 ? faint(j) * (1 - 0.5 * fall) : times
      show(board, { ...rect, x: V.x + c * V.cw, w: V.cw }, [above, j, c], V, { ...more, alpha })
    }
  }
}

// A number that is on its way: never as long as with a power of ten.
const brief = (value, digits) => {
  const text = number(value, digits)
  return text.includes('e\u2212') ? '≈0' : text
}

const PARTS = { dot: dots, each, weights: toWeights, mix: mixed }
