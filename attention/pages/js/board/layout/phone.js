// The board of a phone: its products below each other, [Q, Kᵀ, scores · scaled · masked], then
// [weights, V, output], then [joined, W_O, projected]. The page scrolls down, never sideways.

import { boxOf, rowLabelsOf } from './boxes.js'
import { setNumbers } from './digits.js'
import { placesOf } from './places.js'
import { RULES, bottom, clamp, half, right, stripe, sum, whole } from './rules.js'
import { longestOf, slantOf, tabsWidth, textsOf } from './measures.js'

const ALL_SHARE = 3 // scores, scaled, M and masked are in one place
const LABEL = 11 // px
const HEADING = 13.5
const HEAD = 22 // px: the height of a heading
const WORDS = 4.6 // em: a row's word takes no more
const WIDEST = 40 // px: of a cell
const ROW = [20, 28] // px: the height of one with a number
const NUMBERED = 12 // tokens, beyond which rows are lower
const STRIPES = 96 // px: what a striped matrix takes, across or down
const NAMED = 52 // px: the least width of output, so that its name is to be read above it
const LARGEST = 14 // px: of numbers
const GAP = 16
const CARD = 190
const CORNER = [96, 60] // px: the least that the formula needs
const FOLDED = 26
const INPUT = [28, 20] // px: a cell of an input; it is wider where its numbers need that

/**
 * @param {import('./rules.js').Asked} asked
 * @param {ReturnType<typeof textsOf>} texts
 * @returns {import('./rules.js').Plan}
 */
export function phoneLayout(asked, texts) {
  const places = placesOf(asked.stages, asked.order, ALL_SHARE)
  const board = { asked, texts, places, keys: asked.keys.length, blocks: blocksOf(places) }
  const sizes = sizesOf(board)
  const boxes = []
  /** @type {Record<string, import('./rules.js').Box>} */
  const at = {}
  const lit = []
  const band = inputsBand(board, 0)
  const top = band ? bottom(band.rect) + GAP : 0
  let y = top
  for (const block of board.blocks) {
    const { end, low } = blockBoxes(board, sizes, block, y, boxes, at)
    // not across words that are higher than their rows
    const x = sizes.ch + 3 < LABEL ? sizes.labelWidth - 3 : 0
    if (low !== null) lit.push({ x, w: asked.width - x, y: low, ch: sizes.ch })
    y = end + GAP
  }
  const card = asked.sheet === false ? cardBelow(asked, y) : null
  if (card) y = bottom(card) + GAP
  if (band) boxes.push(...band.boxes)
  const limits = { smallest: RULES.smallest, largest: RULES.largest, least: [0, 0], most: LARGEST }
  const number = setNumbers(boxes, asked.stages, texts, limits)
  const weights = boxes.filter(box => asked.stages[box.name].unsigned)
  return {
    ...{ boxes, at, lit, number, label: LABEL, heading: HEADING, slant: sizes.slant },
    ...{ card, formula: formulaOf(board, at, top), inputs: band?.rect ?? null },
    ...{ arrows: [], phone: true },
    way: { open: asked.inputs === 'open', sharing: ALL_SHARE, striped: false, low: 0, foot: false },
    ...{ cost: 0, width: asked.width, height: asked.height, used: asked.width },
    end: y - GAP,
    cell: { w: sizes.cw, h: sizes.ch },
    headHeight: HEAD,
    colours: weights.length > 0 && weights.every(box => box.numbers === 'none')
  }
}

// On a tablet the card is below the blocks.
const cardBelow = ({ width }, y) => ({ x: 0, y, w: width, h: CARD, beside: false, tooSmall: false })

// In the corner above the first left factor.
const formulaOf = ({ blocks }, at, top) => {
  const [first] = blocks
  const [left, above] = [at[first?.parts[0].id], at[first?.upper?.id]]
  if (!left || !above) return null
  const w = Math.min(above.rowLabels.x, above.heading.x) - 6
  const corner = { x: 0, y: top, w, h: left.heading.y - 2 - top }
  return corner.w < CORNER[0] || corner.h < CORNER[1] ? null : corner
}

// A product and its left factor are side by side, with the right factor above the product.
const blocksOf = ({ lower, upper, below }) => {
  const blocks = []
  lower.forEach((place, k) => {
    const last = blocks.at(-1)
    const [left] = last?.parts ?? []
    const follows = left && (!place.stages.length || left.ids.includes(place.left))
    const above = upper.find(each => each.index === k)
    const under = below.filter(each => each.index === k)
    if (follows && last.parts.length === 1 && !last.upper && !last.under.length) {
      Object.assign(last, { parts: [left, place], upper: above, under })
    } else blocks.push({ parts: [place], upper: above, under })
  })
  return blocks
}

const columnsOf = ({ keys }, place) => (place.square ? keys : place.columns)

/** The width of a column of a striped matrix; 0 where it is not striped. */
const stripeOf = columns => (columns > RULES.columns ? stripe(STRIPES, columns, [1, 8]) : 0)

const wordsOf = (texts, kind) =>
  Math.ceil(Math.min(Math.max(longestOf(texts, kind), 1), WORDS) * LABEL + 8)

const upperWords = (texts, { rowKind }) =>
  texts.lines[rowKind] ? wordsOf(texts, rowKind) : 16

// ---- sizes --------------------------------------------------------------------------------------

const sizesOf = board => {
  const { asked, texts, keys, blocks } = board
  const firsts = blocks.filter(block => block.upper && block.parts.length === 1)
  const words = firsts.map(block => upperWords(texts, block.upper) + 2)
  const labelWidth = Math.max(wordsOf(texts, 'queries'), ...words)
  const room = asked.width - labelWidth - RULES.product
  const cw = whole(Math.min(WIDEST, ...blocks.map(block => cellIn(board, block, room))))
  const least = keys > NUMBERED ? Math.min(2, 340 / keys) : ROW[0]
  const ch = whole(clamp(cw / 1.25, least, ROW[1]))
  const sizes = { labelWidth, room, cw, ch, widths: {} }
  for (const block of blocks) Object.assign(sizes.widths, ownWidths(board, block, sizes))
  const squares = board.places.lower.filter(place => place.square)
  const narrowest = Math.min(cw, ...squares.map(place => sizes.widths[place.id] ?? cw))
  const slant = slantOf(texts.lines.keys, LABEL, narrowest)
  const long = Math.min(texts.lines.keys.longest * LABEL, 56)
  const aslant = slant === 45 ? Math.ceil(0.72 * long + 12) : Math.ceil(long + 8)
  return { ...sizes, slant, labelHeight: slant ? aslant : LABEL + 6 }
}

// The width of a cell with which a block fills the line.
const cellIn = (board, { parts }, room) => {
  const stripes = parts.map(place => (place.square ? 0 : stripeOf(place.columns)))
  const taken = sum(parts.map((place, k) => stripes[k] * columnsOf(board, place)))
  const cells = sum(parts.map((place, k) => (stripes[k] ? 0 : columnsOf(board, place))))
  return (room - taken) / Math.max(cells, 1)
}

// Widths of a block's own, where a number or a name would not fit the cell that all have.
const ownWidths = (board, { parts }, sizes) => {
  const flat = parts.find(place => !place.square)
  const square = parts.find(place => place.square)
  if (!flat || !square) return {}
  const { asked, keys } = board
  const { room, cw } = sizes
  const columns = flat.columns
  const stripes = stripeOf(columns)
  const need = needOf(board, flat)
  const shares = asked.stages[square.stages[0]]?.unsigned
  const found = shares && weightWidths(board, { square, flat, stripes, need }, sizes)
  if (found) return { [square.id]: found.weights, [flat.id]: found.output }
  const named = columns * (stripes || cw) < NAMED
  const wanted = named ? Math.ceil(NAMED / columns) : need
  if (!named && (stripes || wanted <= cw)) return {}
  const squares = (room - wanted * columns) / keys
  if (!named && squares < 16) return {}
  return { [flat.id]: wanted, [square.id]: Math.min(cw, whole(squares)) }
}

const needOf = ({ asked, texts }, place) => {
  const name = frontOf(place, asked.tabs)
  const ems = name ? texts.stepped(asked.stages[name].ems) : texts.ladder.usual
  return Math.ceil(RULES.smallest * ems + RULES.air)
}

const frontOf = ({ ids, stages }, tabs = {}) =>
  ids.map(id => tabs[id]).find(name => stages.includes(name)) ?? stages.at(-1)

// Weights keep their numbers longest: 0.47 next to numbers of output, then .47, then .47 next to
// colors.
const weightWidths = (board, { square, flat, stripes, need }, { room, cw }) => {
  const { asked, texts, keys } = board
  const { columns } = flat
  const stage = asked.stages[square.stages[0]]
  const wide = ems => Math.ceil(2 * (RULES.smallest * ems + RULES.air)) / 2
  const full = wide(Math.max(texts.ladder.share, texts.stepped(stage.ems)))
  const tight = stage.tight ? [wide(Math.max(texts.ladder.tight, stage.tight))] : []
  const named = Math.ceil(NAMED / columns)
  const least = Math.max(12, named)
  for (const output of stripes ? [stripes] : [Math.max(need, named), least]) {
    const narrow = output === least
    for (const own of narrow ? [...tight, full] : [full, ...tight]) {
      const spare = room - own * keys - output * columns
      if (spare < 0) continue
      // as wide as the scores above, where that is enough
      const beside = stripes || Math.max(output, cw)
      if (cw >= own && cw * keys + beside * columns <= room) return { weights: cw, output: beside }
      const more = spare / (stripes ? keys : keys + columns)
      const widest = Math.min(WIDEST, narrow && !stripes ? own : half(own + more))
      const weights = whole(widest) >= own ? whole(widest) : widest
      const left = (room - weights * keys) / columns
      return { weights, output: stripes || whole(Math.min(Math.max(WIDEST, output), left)) }
    }
  }
  return null
}

// ---- boxes --------------------------------------------------------------------------------------

const blockBoxes = (board, sizes, block, y, boxes, at) => {
  const { asked, texts, keys } = board
  const { labelWidth, labelHeight, ch, cw, widths } = sizes
  const { parts, upper, under } = block
  const queries = asked.queries.length
  const up = upper && upperSizes(upper, keys, ch)
  const biasHeight = upper?.bias ? ch + 6 : 0
  const above = up ? HEAD + up.rows * up.ch + biasHeight + 6 : 0
  const lowHead = y + above
  const own = needsLine(board, sizes, block) ? HEAD : 0
  const low = lowHead + own + HEAD + labelHeight
  let x = labelWidth
  let end = lowHead - 6
  const made = []
  parts.forEach((place, k) => {
    const columns = columnsOf(board, place)
    const cell = widths[place.id] ?? (place.square ? cw : stripeOf(columns) || cw)
    const frame = { x, cw: cell, columns }
    if (place.stages.length) {
      const name = frontOf(place, asked.tabs)
      const cells = { rows: queries, cols: columns, cw: cell, ch }
      const box = boxOf(place, name, 'lower', x, low, cells)
      const top = lowHead + (k ? own : 0)
      box.heading = headingOf(box, k, own ? 1 : parts.length, top, labelWidth, asked.width)
      box.columnLabels = columnLabels(board, sizes, place, box, low)
      if (!made.length) box.rowLabels = rowLabelsOf(box, LABEL, 'queries', labelWidth, 5)
      for (const id of place.ids) at[id] = box
      boxes.push(box)
      made.push(box)
      end = bottom(box)
    }
    Object.assign(block, { frame })
    x += columns * cell + RULES.product
  })
  if (made.length === 2) wideTabs(texts, made[0], made[1], asked.width, own)
  if (up) {
    const box = upperBox(board, sizes, block, { y: y + HEAD, up, at, boxes })
    end = Math.max(end, bottom(box))
    const empty = !parts.at(-1).stages.length
    if (empty) {
      box.columnLabels = columnLabels(board, sizes, parts.at(-1), box, low)
      if (box.columnLabels) end = Math.max(end, bottom(box.columnLabels))
    }
  }
  for (const { id, stages: names } of under) {
    const name = names.at(-1)
    const { rows, cols } = asked.stages[name]
    const { x: start, cw: width } = block.frame
    const cells = { rows, cols, cw: width, ch }
    const box = boxOf({ id, stages: names }, name, 'below', start, end + 6, cells)
    box.rowLabels = rowLabelsOf(box, LABEL, 'sum', 16, 3)
    at[id] = box
    boxes.push(box)
    end = bottom(box)
  }
  return { end, low: made.length ? low : null }
}

const headingOf = (box, k, count, y, labelWidth, width) => {
  const x = k ? box.x : 0
  const own = k ? 0 : labelWidth - 6
  const after = k + 1 < count ? RULES.product : Math.max(0, width - box.x - box.w)
  return { x, y, w: own + box.w + after, h: HEAD }
}

// Where the names of a product begin: further left than its box where they need more.
const namesStart = (texts, names, x, width) => {
  const wide = tabsWidth(texts, names, HEADING, true) + 2
  return names.length > 1 && wide > width - x ? Math.max(width - wide, 60) : x
}

// Whether the names of a left factor need a line of their own, above those of the product.
const needsLine = ({ asked, texts, keys }, { labelWidth, cw, widths }, { parts }) => {
  const [left, product] = parts
  if (!product || left.stages.length < 2) return false
  const cell = widths[left.id] ?? (left.square ? cw : stripeOf(left.columns) || cw)
  const x = labelWidth + (left.square ? keys : left.columns) * cell + RULES.product
  const start = namesStart(texts, product.stages, x, asked.width)
  return tabsWidth(texts, left.stages, HEADING, true) > start - 6
}

const wideTabs = (texts, left, { tabs, heading }, width, own) => {
  const x = namesStart(texts, tabs, heading.x, width)
  if (x === heading.x) return
  Object.assign(heading, { x, w: width - x })
  if (!own) left.heading.w = x - 6
}

const columnLabels = ({ texts }, { labelHeight, slant }, place, { x, w, cw, cols }, low) => {
  const kind = place.columnKind
  const labels = { px: LABEL, kind, x, w }
  if (place.square) return { ...labels, y: low - labelHeight, h: labelHeight - 1, slant }
  if (stripeOf(cols)) return null
  const line = texts.lines[kind]
  if (line && slantOf(line, LABEL, cw)) return null
  return { ...labels, y: low - LABEL - 5, h: LABEL + 4, slant: 0 }
}

const upperSizes = ({ rows, rowKind }, keys, ch) => {
  const striped = rowKind !== 'keys' && stripeOf(rows)
  if (striped) return { rows, ch: stripe(STRIPES, rows, [1, 6]), striped: true }
  const low = rowKind === 'keys' && keys > NUMBERED
  const least = Math.min(2, 340 / keys)
  const height = low ? Math.max(least, Math.floor(120 / keys)) : Math.min(ch, 24)
  return { rows, ch: height, striped: false }
}

const upperBox = ({ asked, texts }, { ch }, block, { y, up, at, boxes }) => {
  const { upper, frame } = block
  const name = frontOf({ ...upper, ids: [upper.id] }, asked.tabs)
  const { x, cw, columns: cols } = frame
  const cells = { rows: upper.rows, cols, cw, ch: up.ch, transposed: upper.turned }
  const box = boxOf(upper, name, 'upper', x, y, cells)
  const words = upperWords(texts, upper)
  box.rowLabels = rowLabelsOf(box, LABEL, upper.rowKind, words, 3, !up.striped)
  box.heading = { x: box.x, y: y - HEAD, w: asked.width - box.x, h: HEAD }
  const names = tabsWidth(texts, box.tabs, HEADING, true) + 2
  const lack = Math.max(0, names - box.heading.w)
  Object.assign(box.heading, { x: box.x - lack, w: box.heading.w + lack })
  at[upper.id] = box
  boxes.push(box)
  if (!upper.bias) return box
  const bias = Object.keys(asked.stages).find(id => asked.stages[id].place.of === upper.bias)
  const place = { id: upper.bias, stages: [bias] }
  const under = boxOf(place, bias, 'upper', x, bottom(box) + 6, { rows: 1, cols, cw, ch })
  under.rowLabels = rowLabelsOf(under, LABEL, 'bias', words, 3)
  at[upper.bias] = under
  boxes.push(under)
  return under
}

// ---- inputs: above all, as they come first -----------------------------------------------------

const inputsBand = ({ asked, texts, places }, y) => {
  if (!places.inputs.length) return null
  const open = asked.inputs === 'open'
  const rect = { x: 0, y, w: asked.width, h: FOLDED, open, note: null, signs: [], outside: false }
  if (!open) return { boxes: [], rect }
  const boxes = []
  let [x, top, end] = [0, y + FOLDED, y + FOLDED]
  for (const { name } of places.inputs) {
    const { rows, cols, rowKind, ems } = asked.stages[name]
    const words = Math.max(texts.lines[rowKind] ? wordsOf(texts, rowKind) : 0, 16)
    const numbers = Math.ceil(RULES.smallest * texts.stepped(ems) + RULES.air)
    const widest = Math.max(INPUT[0], numbers)
    const cell = stripeOf(cols) || whole(Math.min(widest, (asked.width - words) / cols))
    const names = tabsWidth(texts, [name], HEADING, true) + 18
    const wide = Math.max(words + cols * cell, names)
    if (x && x + wide > asked.width) [x, top] = [0, end + GAP]
    const cells = { rows, cols, cw: cell, ch: INPUT[1] }
    const place = { id: name, stages: [name] }
    const box = boxOf(place, name, 'inputs', x + words, top + HEAD, cells)
    box.heading = { x, y: top, w: wide, h: HEAD }
    box.rowLabels = rowLabelsOf(box, LABEL, rowKind, words, 4)
    boxes.push(box)
    x = Math.max(right(box), right(box.heading)) + 10
    end = Math.max(end, bottom(box))
  }
  return { boxes, rect: { ...rect, h: end - y } }
}
