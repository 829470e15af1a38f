// Where everything on the board is. Pure: stages, words and the size of the window in, rectangles
// and sizes of letters out. Nothing here touches the page; nothing is random.
//
// Every product is drawn as on paper. The left factor is left of the result, the right factor
// above it, so the sources of a cell are its row to the left and its column above.
//
//           Kᵀ            [the card: arithmetic of one cell]          V      W_O
//      Q    scores  →  scaled  →  masked  →  weights          output  →  joined   projected
//
// All rows of the lower line are the queries. Of the ways to lay a board out (`waysOf`) the one
// that gives up least is taken (COSTS).

import { boxOf, rowLabelsOf } from './boxes.js'
import { BESIDE, HEADING, cardOf, formulaOf, hasMiddle } from './free.js'
import { bandOf, foldedBand } from './inputs.js'
import { setNumbers } from './digits.js'
import { phoneLayout } from './phone.js'
import { placesOf } from './places.js'
import { COSTS, RULES, bottom, clamp, right } from './rules.js'
import {
  boardOf,
  footOf,
  longSide,
  placeWidth,
  sizesOf,
  upperLabels,
  upperRowHeight,
  upperWidth
} from './sizes.js'
import { longestOf, tabsWidth, textsOf } from './measures.js'

const NEARLY = 1e-9
const LARGER = 1e-3 // of equal costs the larger cells win
const MOST = 200 // px
const LOW = [0, 0.36, 0.27] // the shares of the height that low rows of the upper line may take
const SHARINGS = [0, 1, 2, 3]
const FRAME = 3 // px that the frame of a row is higher than it
const ARROW = 8 // px: the least height of a row with arrows
const MANY = 24 // rows of an input beyond which a board that scrolls is not made longer

/**
 * The plan of a board.
 * @param {import('./rules.js').Asked} asked
 * @returns {import('./rules.js').Plan}
 */
export function layout(asked) {
  const texts = textsOf(asked)
  const board = { ...asked, height: Math.max(asked.height, RULES.height) }
  if (asked.phone) return phoneLayout(board, texts)
  const found = cheapest(board, texts)
  if (asked.inputs !== 'open' || !found.inputs || !inColours(found)) return found
  const longer = scrolling(board, texts)
  const isCramped = found.cost >= COSTS.output || inColours(longer) < inColours(found)
  return isCramped ? longer : found
}

const inColours = ({ boxes }) => boxes.filter(({ numbers }) => numbers === 'none').length

// Inputs opened where they have no room: the board keeps its shape further down, and the page
// scrolls.
const scrolling = (asked, texts) => {
  const folded = cheapest({ ...asked, inputs: 'folded' }, texts)
  if (!folded.boxes) return folded
  const inputs = Object.values(asked.stages).filter(({ place }) => place.line === 'inputs')
  const rows = Math.max(...inputs.map(stage => Math.min(stage.rows, MANY)))
  const row = clamp(folded.cell.h, 16, 24)
  const height = asked.height + rows * row + folded.headHeight + 12
  return cheapest({ ...asked, height }, texts)
}

const cheapest = (asked, texts) => {
  const places = SHARINGS.map(sharing => placesOf(asked.stages, asked.order, sharing))
  let best
  for (const way of waysOf(asked, places[0])) {
    if (best && leastCost(way, best) > best.cost) continue
    const plan = planOf(asked, texts, way, places[way.sharing])
    if (!best || plan.cost < best.cost - NEARLY) best = plan
  }
  return best
}

// What a way costs at least, which spares most of them.
const leastCost = (way, best) => {
  const low = way.low && best.cost < COSTS.weights ? COSTS.low : 0
  return COSTS.shared[way.sharing] + (way.open ? 0 : COSTS.folded) + low - LARGER * MOST
}

function* waysOf({ inputs = 'auto', presenting }, places) {
  const openings = { auto: [true, false], open: [true], folded: [false] }[inputs]
  const shares = places.lower.map(place => place.shares)
  // M by itself, or scaled with masked, is only tried where there is such a stage
  const sharings = SHARINGS.filter(n => n === 1 || shares.includes(n || 1))
  const wide = ({ columns, square }) => !square && columns > RULES.columns
  const isLong = place => longSide(place) > RULES.columns
  const long = places.lower.some(wide) || places.upper.some(isLong)
  // where no room is left for the card between two factors, it may be below all
  const isLine = presenting && !places.upper.length // as wide as the board
  const feet = hasMiddle(places) ? [false] : isLine ? [true] : [false, true]
  for (const open of places.inputs.length ? openings : [false]) {
    for (const sharing of sharings) {
      for (const striped of long ? [false, true] : [false]) {
        for (const low of LOW) for (const foot of feet) yield { open, sharing, striped, low, foot }
      }
    }
  }
}

/**
 * The plan of one way.
 * @returns {import('./rules.js').Plan}
 */
function planOf(asked, texts, way, places) {
  const board = boardOf(roomFor(asked, way, places), texts, way, places)
  const sizes = sizesOf(board)
  const again = spread(board, sizes)
  const starts = startsOf(board, sizes)
  const band = inputsBand(board, sizes, starts)
  const lines = linesOf(board, sizes, band)
  const boxes = band ? [...band.boxes] : []
  /** @type {Record<string, import('./rules.js').Box>} */
  const at = {}
  lowerLine(board, sizes, { starts, lines, again, boxes, at })
  upperLine(board, sizes, { starts, lines, boxes, at })
  belowLine(board, sizes, { starts, lines, boxes, at })
  const lower = boxes.filter(box => box.line === 'lower')
  const used = starts.at(-1)
  const end = Math.max(...boxes.map(bottom), band ? bottom(band.rect) : 0, lines.end)
  const plan = {
    way,
    width: asked.width,
    height: asked.height,
    phone: false,
    boxes,
    at,
    inputs: band?.rect ?? null,
    used,
    end,
    cell: { w: sizes.cw, h: sizes.ch },
    label: sizes.label,
    heading: sizes.heading,
    headHeight: sizes.headHeight,
    slant: sizes.slant,
    number: 0,
    formula: formulaOf(board, at, lines, used),
    card: null,
    lit: [],
    arrows: arrowsOf(board, sizes, { starts, lines, again }),
    colours: false,
    cost: 0
  }
  plan.card = cardOf(board, plan, lines)
  headLast(board, sizes, plan)
  plan.number = setNumbers(boxes, asked.stages, texts, limitsOf(board))
  if (lower.length) {
    const x = litFrom(sizes)
    plan.lit.push({ x, w: Math.max(...lower.map(right)) - x, y: lines.low, ch: sizes.ch })
  }
  const weights = boxes.filter(box => asked.stages[box.name].unsigned)
  plan.colours = weights.length > 0 && weights.every(box => box.numbers === 'none')
  plan.cost = costOf(board, sizes, plan)
  return plan
}

// What is left of the room where a presented product has its card beside it.
const roomFor = (asked, way, places) =>
  asked.presenting && !way.foot && !hasMiddle(places)
    ? { ...asked, width: asked.width - RULES.presented.beside - BESIDE }
    : asked

const limitsOf = ({ asked, largest }) => ({
  largest,
  least: RULES.numbered,
  smallest: asked.presenting ? RULES.presented.smallest : RULES.smallest
})

// Use what is left over of the width: for the queries' words once more before the weights, then for
// wider gaps, so that the card has room between the factors. Returns the room of those words, or 0.
const spread = (board, sizes) => {
  const { asked, texts, places, squares, keys } = board
  const { gaps, products, label, labelWidth, cw, ch } = sizes
  const widths = places.lower.map(place => placeWidth(board, place, sizes))
  const all = list => list.reduce((a, b) => a + b, 0)
  let spare = asked.width - 2 - labelWidth - all(gaps) - all(widths)
  let again = 0
  const weights = places.lower.findIndex(place => isShares(asked, place))
  const words = Math.min(longestOf(texts, 'keys'), RULES.words) * label
  const middle = Math.max(squares.length - 1, 0) * keys * cw
  const between = middle + all(gaps.slice(1, -1)) - 40 - words
  const short = RULES.card[0] + 4 - between // of what the card needs
  const isMiddle = hasMiddle(places)
  const widened = isMiddle && short > 0 && short <= Math.min(spare, RULES.again)
  const beside = isMiddle && !widened && between < RULES.card[0] && spare > between
  if (beside) return 0
  if (!widened && weights > 1 && spare >= labelWidth && ch >= label) {
    again = labelWidth
    gaps[weights - 1] += again
    spare -= again
  }
  const steps = gaps.map((_, k) => k).filter(k => !products[k])
  const more = widened ? Math.ceil(short / steps.length) : Math.floor(spare / steps.length)
  for (const k of steps) gaps[k] += widened ? more : clamp(more, 0, 16)
  return again
}

/** Where the frame of a row begins: left of its word, which it would cross where rows are lower. */
const litFrom = ({ ch, label, labelWidth }) => (ch + FRAME < label ? labelWidth - FRAME : 0)

const isShares = (asked, place) => asked.stages[place.stages[0]]?.unsigned

/** Where the places of the lower line begin, and, last, where it ends. */
const startsOf = (board, sizes) => {
  const starts = [sizes.labelWidth]
  board.places.lower.forEach((place, k) => {
    starts.push(starts[k] + placeWidth(board, place, sizes) + (sizes.gaps[k] ?? 0))
  })
  return starts
}

const inputsBand = (board, sizes, starts) => {
  if (!board.places.inputs.length) return null
  return board.way.open ? bandOf(board, sizes, starts) : foldedBand(board)
}

// The heights at which the lines are.
const linesOf = (board, sizes, band) => {
  const { places, rows } = board
  const { headHeight, labelHeight } = sizes
  const top = band ? band.rect.y + band.rect.h + (board.way.open ? 12 : 4) : 0
  const highest = Math.max(0, ...places.upper.map(place => upperHeight(board, place, sizes)))
  const upBottom = top + (highest ? headHeight + highest : 0)
  const lowHead = upBottom + (highest ? 8 : 0)
  const low = lowHead + (places.lower.length ? headHeight + labelHeight : 0)
  const end = low + rows * sizes.ch
  return { top, upBottom, lowHead, low, end }
}

const biasHeight = (place, { ch, upper }) => (place.bias ? Math.min(ch, upper) + 6 : 0)

const upperHeight = (board, place, sizes) =>
  place.rows * upperRowHeight(board, place, sizes) + biasHeight(place, sizes)

// The stage of a place that is in front: the tab that was chosen, else the last one.
const frontOf = ({ ids, stages }, tabs = {}) =>
  ids.map(id => tabs[id]).find(name => stages.includes(name)) ?? stages.at(-1)

const lowerLine = (board, sizes, { starts, lines, again, boxes, at }) => {
  const { asked, places } = board
  const first = places.lower.findIndex(place => place.stages.length)
  places.lower.forEach((place, k) => {
    if (!place.stages.length) return
    const name = frontOf(place, asked.tabs)
    const { rows, cols } = asked.stages[name]
    const width = placeWidth(board, place, sizes)
    const x = starts[k]
    const cells = { rows, cols, cw: width / cols, ch: sizes.ch }
    const box = boxOf(place, name, 'lower', x, lines.low, cells)
    // a heading may run into the gap behind its box
    const gap = k + 1 < places.lower.length ? sizes.gaps[k] - 8 : 0
    const own = k ? 0 : sizes.labelWidth
    box.heading = { x: x - own, y: lines.lowHead, w: own + box.w + gap, h: sizes.headHeight }
    box.columnLabels = columnLabels(board, sizes, box, place, lines.low)
    const repeated = again && isShares(asked, place)
    const words = k === first ? sizes.labelWidth : again
    if (k === first || repeated) {
      box.rowLabels = rowLabelsOf(box, sizes.label, 'queries', words, 5)
    }
    for (const id of place.ids) at[id] = box
    boxes.push(box)
  })
}

// The words above the columns of a place; none where they are too narrow for any.
const columnLabels = ({ asked, texts }, sizes, box, place, low) => {
  const { label, labelHeight, slants } = sizes
  const { columnKind } = place
  const kind = columnKind
  const slant = slants[kind] ?? 0
  if (place.square || slants[kind] !== undefined) {
    const h = labelHeight - 1
    return { px: label, kind, x: box.x, y: low - labelHeight, w: box.w, h, slant }
  }
  const digits = String(box.cols).length * texts.digit
  const narrow = box.cw < digits * Math.max(RULES.smallest, 0.82 * label) + 4
  if (narrow || asked.names?.[kind]) return null
  return { px: label, kind, x: box.x, y: low - label - 5, w: box.w, h: label + 4, slant: 0 }
}

const upperLine = (board, sizes, { starts, lines, boxes, at }) => {
  const { asked, texts, places } = board
  places.upper.forEach((place, k) => {
    const below = places.lower[place.index]
    const name = frontOf({ ...place, ids: [place.id] }, asked.tabs)
    const { rows, cols } = place
    const ch = upperRowHeight(board, place, sizes)
    const y = lines.upBottom - upperHeight(board, place, sizes)
    const cw = placeWidth(board, below, sizes) / cols
    const cells = { rows, cols, cw, ch, transposed: place.turned }
    const box = boxOf(place, name, 'upper', starts[place.index], y, cells)
    const words = upperLabels(texts, place, sizes.label)
    const show = place.rowKind === 'keys' || !(place.turned && board.isStriped(rows))
    box.rowLabels = rowLabelsOf(box, sizes.label, place.rowKind, words, 3, show)
    const next = places.upper[k + 1]
    const room = next
      ? starts[next.index] - upperLabels(texts, next, sizes.label) - 8 - box.x
      : asked.width - box.x
    const named = Math.max(Math.min(60, room), upperWidth(board, place, sizes))
    const w = Math.min(Math.max(box.w, named), Math.max(room, box.w))
    box.heading = { x: box.x, y: y - sizes.headHeight, w, h: sizes.headHeight }
    // without a result below it nothing else names its columns
    if (!below.stages.length) {
      const low = lines.upBottom + sizes.labelHeight + 3
      box.columnLabels = columnLabels(board, sizes, box, below, low)
    }
    at[place.id] = box
    boxes.push(box)
    if (place.bias) boxes.push(biasUnder(board, sizes, box, place, at))
  })
}

const biasUnder = ({ asked }, sizes, box, place, at) => {
  const name = Object.keys(asked.stages).find(stage => asked.stages[stage].place.of === place.bias)
  const { rows, cols } = asked.stages[name]
  const ch = Math.min(sizes.ch, sizes.upper)
  const bias = { id: place.bias, stages: [name] }
  const cells = { rows, cols, cw: box.cw, ch }
  const under = boxOf(bias, name, 'upper', box.x, bottom(box) + 6, cells)
  under.rowLabels = rowLabelsOf(under, sizes.label, 'bias', box.x - box.rowLabels.x, 3)
  at[place.bias] = under
  return under
}

const belowLine = (board, sizes, { starts, lines, boxes, at }) => {
  const { asked, places } = board
  for (const place of places.below) {
    const name = place.stages.at(-1)
    const { rows, cols } = asked.stages[name]
    const cw = placeWidth(board, places.lower[place.index], sizes) / cols
    const cells = { rows, cols, cw, ch: sizes.ch }
    const box = boxOf(place, name, 'below', starts[place.index], lines.end + 6, cells)
    box.rowLabels = rowLabelsOf(box, sizes.label, 'sum', 16, 3)
    at[place.id] = box
    boxes.push(box)
    lines.end = bottom(box)
  }
}

// The last heading may be as wide as what is free; where even so its name is cut, as over a single
// column, it begins in the gap before.
const headLast = (board, sizes, plan) => {
  const { asked, texts, places } = board
  const boxes = places.lower.map(place => plan.at[place.id])
  const last = boxes.at(-1)
  if (!last) return
  const room = plan.card?.beside ? plan.card.x - 8 - last.x : Infinity
  const most = Math.max(last.heading.w, Math.min(asked.width - last.x, HEADING))
  last.heading.w = Math.min(most, room)
  const names = tabsWidth(texts, last.tabs, sizes.heading, true)
  const lack = Math.ceil(names + 2 - last.heading.w)
  const before = boxes.at(-2)
  if (lack <= 0 || !before) return
  Object.assign(last.heading, { x: last.heading.x - lack, w: last.heading.w + lack })
  before.heading.w -= Math.max(0, lack - 4)
}

// Between two stages, of which the second is not a product of the first, is an arrow.
const arrowsOf = (board, sizes, { starts, lines, again }) => {
  const { asked, places } = board
  const arrows = []
  if (sizes.ch < ARROW) return arrows
  places.lower.slice(1).forEach((place, k) => {
    if (sizes.products[k] || !places.lower[k].stages.length) return
    const x = starts[k] + placeWidth(board, places.lower[k], sizes)
    const words = again && isShares(asked, place) ? again : 0
    const w = starts[k + 1] - x - words
    arrows.push({ x, y: lines.low, w, h: board.rows * sizes.ch })
  })
  return arrows
}

/** What a plan gives up. */
const costOf = (board, sizes, plan) => {
  const { asked, way } = board
  const { cw, ch } = sizes
  const { inputs } = plan
  let cost = COSTS.shared[way.sharing] + lostOf(board, plan)
  if (inputs && !way.open) cost += COSTS.folded
  if (way.low && !plan.colours) cost += COSTS.low
  if (plan.number < RULES.comfort[1]) cost += COSTS.small
  const comfortable = ch >= RULES.comfort[0] && plan.number >= RULES.comfort[1]
  if (way.open && !comfortable) cost += COSTS.cramped
  if (way.open && inputs?.outside) cost += COSTS.cramped
  if (plan.used > asked.width + 0.5) cost += COSTS.outside + plan.used - asked.width
  const end = plan.end + footOf(board)
  if (end > asked.height + 0.5) cost += 2 * COSTS.outside + end - asked.height
  if (!plan.card || plan.card.tooSmall) cost += COSTS.card
  if (!plan.formula) cost += COSTS.formula
  const cut = ({ tabs, heading }) =>
    tabs.length > 1 && tabsWidth(board.texts, tabs, sizes.label + 1.5) > heading.w
  if (plan.boxes.some(cut)) cost += COSTS.tabs
  return cost - LARGER * Math.min(cw, ch, MOST)
}

// What colors instead of numbers cost.
const lostOf = (board, { boxes, colours }) => {
  const { asked, isStriped } = board
  let cost = 0
  let scores = 0
  for (const box of boxes) {
    if (box.numbers !== 'none' || box.line === 'inputs' || box.line === 'below') continue
    const stage = asked.stages[box.name]
    if (stage.unsigned) cost += COSTS.weights
    else if (stage.columnKind === 'keys') scores += box.tabs.length
    else if (isStriped(stage.cols)) cost += COSTS.striped
    else cost += asked.stages[stage.place.left]?.unsigned ? COSTS.output : COSTS.others
  }
  // all stages of a place count, as one that is shared shows no more of them in colours
  return cost + COSTS.scores * (colours ? Math.min(scores, 1) : scores)
}
