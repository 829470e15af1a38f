// How large the cells of a board are, in one of the ways to lay it out: sizes that depend on each
// other settle in a few rounds.

import { LEAST, RULES, clamp, half, stripe, sum, whole } from './rules.js'
import { longestOf, slantOf, tabsWidth } from './measures.js'

const ROUNDS = 5
const FIRST = {
  cw: 28, // px: the width of a cell of queries and keys
  ch: 26, // and its height
  flat: 28, // the width of one of Q, V and output
  upper: 26, // the height of one of the upper line
  inputs: 26, // and of one of the inputs
  legible: true, // whether rows have room for numbers
  apart: false, // whether cells of Q, V and output are wider so that theirs fit
  label: 12, // px of words
  heading: 13.5,
  headHeight: 20,
  labelWidth: 50, // the room of the queries' words
  labelHeight: 18, // and of the keys'
  slant: 0,
  slants: {}, // of the words of each kind of column
  gaps: [], // px between the places of the lower line
  products: [] // which of them are in a product
}
const STRIPES = [0.17, 0.45] // of the board's width: what a striped matrix takes, and all of them
const TALL = 16 // rows of an input from which it is low where wide matrices are striped
const MANY = 48 // and always
const NAMED = 48 // px: the least width of a place without numbers, so that it can be named

/**
 * What the sizes follow from: a board, and one way to lay it out.
 * @param {import('./rules.js').Asked} asked
 * @param {ReturnType<typeof import('./measures.js').textsOf>} texts
 * @param {import('./rules.js').Way} way
 * @param {ReturnType<typeof import('./places.js').placesOf>} places
 */
export function boardOf(asked, texts, way, places) {
  const { stages, width, presenting = false } = asked
  const { presented } = RULES
  const isStriped = columns => way.striped && columns > RULES.columns
  const flats = places.lower.filter(place => !place.square)
  const striped = flats.filter(place => isStriped(place.columns)).length
  const share = Math.min(STRIPES[0], STRIPES[1] / striped)
  const stripeOf = columns => stripe(share * width, columns, RULES.stripe)
  const squares = places.lower.filter(place => place.square)
  const shown = [...places.lower, ...places.upper].flatMap(place => place.stages)
  const ems = shown
    .map(name => stages[name])
    .filter(stage => !stage.unsigned && !isStriped(stage.cols))
    .map(stage => texts.stepped(stage.ems))
  const widest = Math.max(texts.ladder.usual, ...ems)
  const keys = asked.keys.length
  const rows = places.lower.some(place => place.stages.length) ? asked.queries.length : 0
  return {
    asked,
    texts,
    way,
    places,
    isStriped,
    stripeOf,
    flats,
    squares,
    widest,
    rows,
    keys,
    need: RULES.smallest * widest + RULES.air, // px: a cell whose number is of the smallest size
    largest: presenting ? presented.largest : RULES.largest,
    cell: presenting ? presented.cell : RULES.cell,
    labels: presenting ? presented.label : RULES.label
  }
}

/** The sizes of a board, after a few rounds. */
export function sizesOf(board) {
  const sizes = Object.assign({}, FIRST)
  for (let round = 0; round < ROUNDS; round++) {
    Object.assign(sizes, lettersOf(board, sizes))
    Object.assign(sizes, gapsOf(board, sizes))
    sizes.legible = RULES.leading * sizes.ch >= RULES.smallest || round === 0
    Object.assign(sizes, widthsOf(board, sizes))
    Object.assign(sizes, columnWordsOf(board, sizes))
    Object.assign(sizes, heightsOf(board, sizes))
    Object.assign(sizes, nearSquare(board, sizes))
  }
  return sizes
}

// Words are a little larger than numbers.
const lettersOf = (board, { cw, ch, legible }) => {
  const { asked, texts, widest, largest, labels, places } = board
  const number = Math.min(RULES.leading * ch, (cw - RULES.air) / widest, largest)
  const beside = legible ? Math.max(number, RULES.smallest) + 1 : 11
  const size = asked.presenting
    ? 0.42 * Math.min(ch, cw)
    : Math.min(0.46 * Math.min(ch, cw * 1.1), beside)
  const label = clamp(half(size), ...labels)
  const heading = clamp(label + 1.5, ...RULES.heading)
  const words = Math.max(texts.lines.queries.longest, 1)
  const labelWidth = Math.ceil(Math.min(words, RULES.words) * label + 10)
  const first = places.upper.find(place => place.index === 0)
  return {
    label,
    heading,
    headHeight: Math.round(heading + 7),
    labelWidth: first ? Math.max(labelWidth, upperLabels(texts, first, label) + 4) : labelWidth
  }
}

/** The room that the words of an upper box's rows take, left of it. */
export const upperLabels = (texts, place, label) =>
  Math.ceil(Math.min(longestOf(texts, place.rowKind), RULES.words) * label + 8)

/** The width of a place of the lower line. */
export function placeWidth({ isStriped, stripeOf, keys }, place, { cw, flat }) {
  if (place.square) return keys * cw
  return place.columns * (isStriped(place.columns) ? stripeOf(place.columns) : flat)
}

// Gaps between the places of the lower line: narrow in a product, wider where an arrow is in it,
// and none so narrow that the name of the stage before it is cut, or words are above each other.
const gapsOf = (board, sizes) => {
  const { asked, texts, places } = board
  const { lower, upper } = places
  const { label, heading } = sizes
  const step = Math.round(clamp(asked.width * 0.0195, 16, 34))
  const products = lower
    .slice(1)
    .map((place, k) => !place.stages.length || lower[k].ids.includes(place.left))
  const gaps = products.map(product => (product ? RULES.product : step))
  gaps.forEach((gap, k) => {
    const words = k ? 0 : sizes.labelWidth
    const names = tabsWidth(texts, lower[k].stages, heading, true) + 9 - words
    gaps[k] = Math.max(gap, Math.ceil(names - placeWidth(board, lower[k], sizes)))
  })
  const first = lower.findIndex(place => place.stages.length)
  if (first > 0) gaps[first - 1] = Math.max(gaps[first - 1], sizes.labelWidth + 4)
  keepApart(board, sizes, gaps, upper.map(place => upperLabels(texts, place, label)))
  return { gaps, products }
}

// Widen gaps where the words of an upper box would meet the box before it.
const keepApart = (board, sizes, gaps, words) => {
  const { lower, upper } = board.places
  let edge = 0
  upper.forEach((place, k) => {
    let x = sizes.labelWidth
    for (let i = 0; i < place.index; i++) x += placeWidth(board, lower[i], sizes) + gaps[i]
    const lack = Math.ceil(edge + words[k] - x)
    if (lack > 0 && place.index) gaps[place.index - 1] += lack
    edge = x + Math.max(lack, 0) + upperWidth(board, place, sizes) + 8
  })
}

/** The width of an upper box, or of its names where these are wider. */
export const upperWidth = (board, place, sizes) => {
  const names = tabsWidth(board.texts, place.stages, sizes.heading, true) + 2
  return Math.max(placeWidth(board, board.places.lower[place.index], sizes), Math.ceil(names))
}

// One width for the cells of all. Only where a number would be lost, or a place could not be named,
// are those of Q, V and output wider than those of queries and keys.
const widthsOf = (board, { gaps, labelWidth, legible }) => {
  const { asked, flats, squares, keys, isStriped, stripeOf, need } = board
  const plain = flats.filter(place => !isStriped(place.columns))
  const striped = flats.filter(place => isStriped(place.columns))
  const cells = sum(plain.map(place => place.columns))
  const stripes = sum(striped.map(place => place.columns * stripeOf(place.columns)))
  const room = asked.width - labelWidth - sum(gaps) - stripes - 2
  const across = squares.length * keys
  let cw = room / Math.max(across + cells, 1)
  let flat = cw
  let apart = false
  if (!legible && across) {
    const named = plain.map(({ columns }) => Math.ceil(Math.min(NAMED / columns, 24)))
    flat = Math.max(cw, 3, ...named)
    cw = (room - cells * flat) / across
  } else if (snug(cw, need) < need && cells && across) {
    const own = Math.ceil(2 * need) / 2
    const other = (room - cells * own) / across
    if (other >= 3 && cells * own < 0.4 * room) [cw, flat, apart] = [other, own, true]
  }
  return { cw: clamp(cw, LEAST, board.cell[0]), flat: Math.max(flat, LEAST), apart }
}

// Whole pixels, and half ones where numbers hang on it.
const snug = (value, need) =>
  whole(value) < need && half(value) >= need ? half(value) : whole(value)

const columnWordsOf = ({ texts, flats, isStriped }, { label, cw, ch, flat }) => {
  const { keys } = texts.lines
  const slant = slantOf(keys, label, Math.min(cw, RULES.wide * ch))
  let labelHeight = wordsHeight(keys, label, slant)
  const slants = { keys: slant }
  for (const { columns, columnKind } of flats) {
    const line = texts.lines[columnKind]
    if (!line || isStriped(columns)) continue
    slants[columnKind] = slantOf(line, label, Math.min(flat, RULES.wide * ch))
    labelHeight = Math.max(labelHeight, wordsHeight(line, label, slants[columnKind]))
  }
  return { slant, slants, labelHeight }
}

const wordsHeight = (line, label, slant) => {
  if (!slant) return Math.ceil(label) + 6
  const long = Math.min(Math.max(line.longest, 1) * label, 64)
  return slant === 45 ? Math.ceil(0.72 * long + 0.72 * label + 4) : Math.ceil(long + 8)
}

// Rows of an open band of inputs: those of the highest, and a bias below it.
const inputRowsOf = ({ asked, way, places }) => {
  if (!way.open) return { rows: 0, low: 0 }
  const isLow = ({ name }) => isLowInput(way, asked.stages[name].rows)
  const rows = places.inputs
    .filter(input => !input.under)
    .map(input => (isLow(input) ? 0 : asked.stages[input.name].rows))
  const low = places.inputs.filter(isLow).map(({ name }) => lowInput(asked.stages[name].rows))
  const bias = places.inputs.some(input => input.under) ? BIAS : 0
  return { rows: Math.max(0, ...rows) + bias, low: Math.max(0, ...low) }
}

/** Whether an input has so many rows that they are low, without numbers. */
export const isLowInput = (way, rows) => rows > MANY || (way.striped && rows > TALL)

/** The height of such an input. */
export const lowInput = rows => Math.min(2 * rows, 240)

export const BIAS = 1.3 // rows that a bias below its weights takes, with what is between them

/** The rows that a place of the upper line takes, as high as those of the values. */
const upperRows = (board, place) => {
  const rows = isLong(board, place) ? Math.min(place.rows, board.keys) : place.rows
  return rows + (place.bias ? BIAS : 0)
}

// Whether its rows are squeezed into the height of those of the values, as it would be higher than
// all else.
const isLong = ({ isStriped }, place) => place.rowKind !== 'keys' && isStriped(longSide(place))

/** The numbers of a place of the upper line along its longer side; of one of keys in each row. */
export const longSide = ({ turned, rows, cols, rowKind }) => {
  if (rowKind === 'keys') return cols
  return turned ? rows : Math.max(rows, cols)
}

/** The height of the rows of an upper box. */
export function upperRowHeight(board, place, { upper }) {
  if (!isLong(board, place)) return upper
  const height = stripe(upper * board.keys, Math.max(place.rows, 1), RULES.stripe)
  return place.turned ? height : Math.min(height, upper)
}

/** Heights of all that is not cells. */
export const bandsOf = ({ way, places }, { headHeight, labelHeight }) => ({
  inputs: places.inputs.length ? (way.open ? headHeight + 12 : 30) : 0,
  upper: places.upper.length ? headHeight + 8 : 0,
  lower: headHeight + labelHeight + 4,
  below: places.below.length * 6
})

export const footOf = ({ asked, way }) => {
  if (!way.foot) return 0
  if (!asked.presenting) return RULES.card[1] + 14
  const { high, least } = RULES.presented.foot
  if (asked.queries.length > MANY) return RULES.presented.low // their cells need the height more
  return Math.max(Math.round(high * asked.height), least)
}

// One height for the rows of queries, keys and inputs, unless those of the upper line are low.
const heightsOf = (board, sizes) => {
  const { asked, way, places, rows, squares, cell } = board
  const { rows: inputRows, low: lowInputs } = inputRowsOf(board)
  const bands = bandsOf(board, sizes)
  const fixed = bands.inputs + bands.upper + bands.lower + bands.below
  const free = asked.height - fixed - footOf(board)
  const lines = rows + places.below.length
  const up = Math.max(0, ...places.upper.map(place => upperRows(board, place)))
  const most = Math.min(cell[1], RULES.tall * Math.max(sizes.cw, squares.length ? 0 : 40))
  let { ch, upper, inputs } = sizes
  if (way.low && up) {
    upper = clamp(whole((free * way.low) / up), 2 * up < 0.75 * free ? 2 : 0, 10)
    inputs = Math.min(18, ch)
    ch = (free - up * upper - inputRows * inputs - lowInputs) / Math.max(lines, 1)
  } else {
    ch = (free - lowInputs) / Math.max(lines + up + inputRows, 1)
    inputs = Math.min(ch, asked.presenting ? 48 : 24)
    ch = (free - lowInputs - inputRows * inputs) / Math.max(lines + up, 1)
  }
  ch = Math.max(whole(Math.min(ch, most)), LEAST)
  if (!way.low || !up) upper = ch
  return { ch, upper, inputs }
}

// Cells are near-square: a wide board with little height has narrower ones.
const nearSquare = (board, { cw, ch, flat, inputs, legible, apart }) => {
  const { need } = board
  const widest = Math.max(RULES.wide * Math.max(ch, 3), Math.min(Math.ceil(need), 1.9 * ch))
  const named = legible ? 0 : flat
  const narrow = snug(Math.min(cw, widest), need)
  const own = legible && !apart ? cw : flat
  const wide = snug(Math.max(Math.min(own, widest), narrow, named), need)
  return {
    cw: Math.max(narrow, LEAST),
    flat: Math.max(wide, LEAST),
    inputs: whole(Math.max(inputs, 3))
  }
}
