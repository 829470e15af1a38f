// The band of inputs: X, and what is like it, then the weights, each bias under its own.

import { boxOf, rowLabelsOf } from './boxes.js'
import { RULES, bottom, right, stripe } from './rules.js'
import { BIAS, isLowInput, lowInput } from './sizes.js'
import { longestOf } from './measures.js'

const FOLDED = 26 // px: one line
const LABEL = 12.5 // px: words of the band are no larger
const NUMBERS = 15 // px: the room of row numbers
const NOTE = [150, 230] // px: the least and the most that a line on what one can do here takes
const STRIPED = 130 // px: what a striped input takes
const GAP = 26
const SIGN = 24 // px: what a sign takes instead of a gap

/** Inputs folded to one line. */
export const foldedBand = ({ asked }) => {
  const band = { x: 0, y: 0, w: asked.width, h: FOLDED }
  return { boxes: [], rect: { ...band, open: false, note: null, signs: [], outside: false } }
}

/** An open band, with its boxes. */
export function bandOf(board, sizes, starts) {
  const band = measured(board, sizes)
  const columns = columnsOf(band, board, sizes, starts)
  const { boxes, signs, x } = laid(band, sizes, columns)
  cutHeadings(boxes, board.asked.width)
  const end = Math.max(...boxes.map(bottom))
  const outside = x > board.asked.width + 0.5 || band.cell < RULES.numbered[0]
  const note = noteOf(boxes, board.asked.width, end)
  const rect = { x: 0, y: 0, w: board.asked.width, h: end, open: true, signs, outside, note }
  return { boxes, rect }
}

// The inputs of the line, the width of their words, and one width of cells with which all fit.
const measured = (board, sizes) => {
  const { asked, texts, way, places } = board
  const { stages, width } = asked
  const label = Math.min(sizes.label, LABEL)
  const all = places.inputs
  const list = all.filter(input => !input.under)
  const isStriped = cols => way.striped && cols > RULES.columns
  const cellOf = (name, cell) => {
    const { cols } = stages[name]
    return isStriped(cols) ? stripe(STRIPED, cols, [2, 8]) : cell
  }
  const words = kind => Math.ceil(Math.min(longestOf(texts, kind), RULES.words) * label + 8)
  const labelled = ({ name, sequence, sign }) => {
    const { rowKind } = stages[name]
    if (sequence) return sign ? 0 : words(rowKind)
    if (texts.lines[rowKind]) return Math.max(words(rowKind), NUMBERS)
    return all.some(input => input.under === name) || stages[name].rows > 1 ? NUMBERS : 0
  }
  const gap = (before, input) => (!before ? 0 : input.sign ? SIGN : GAP)
  const wide = cell =>
    list.reduce((x, input, k) => {
      const cells = stages[input.name].cols * Math.min(cell, cellOf(input.name, cell))
      return x + gap(list[k - 1], input) + labelled(input) + cells
    }, 0)
  const most = Math.min(sizes.flat, Math.round(sizes.inputs * RULES.wide))
  let cell = most
  while (cell > 3 && wide(cell) > width) cell -= 1
  const biasOf = name => all.find(input => input.under === name)?.name
  const isLow = rows => isLowInput(way, rows)
  return { stages, list, label, cell, most, labelled, gap, cellOf, biasOf, isLow }
}

// The columns of the lines below, where all inputs find room on them: X above Q, W_V above V, the
// others between.
const columnsOf = (band, { asked, places }, { labelWidth }, starts) => {
  const { stages, list, cell, most, labelled, cellOf } = band
  const [first] = list
  const values = places.upper.find(place => !place.turned)
  if (cell !== most || !first.sequence || !values) return []
  if (labelled(first) > labelWidth || list.length > places.lower.length) return []
  const ends = starts.slice(1, values.index + 1)
  const others = list.slice(1)
  const picked = others.map(({ sequence }, k) =>
    sequence ? ends[k] : ends.at(k - others.length)
  )
  const columns = [starts[0], ...picked]
  let end = 0
  for (const [k, input] of list.entries()) {
    const start = columns[k] - labelled(input)
    if (!(start >= end + (k ? 8 : 0))) return []
    end = columns[k] + stages[input.name].cols * cellOf(input.name, cell)
  }
  return end > asked.width ? [] : columns
}

const laid = (band, { headHeight, inputs }, columns) => {
  const { stages, list, label, cell, labelled, gap, cellOf, biasOf, isLow } = band
  const boxes = []
  const signs = []
  let x = 0
  for (const [k, input] of list.entries()) {
    const { name, sign, sequence } = input
    const words = labelled(input)
    x = columns.length ? columns[k] - words : x + gap(list[k - 1], input)
    if (sign && k) signs.push({ x: x - SIGN, w: SIGN, text: sign, y: headHeight, h: 0 })
    const { rows, cols, rowKind } = stages[name]
    const low = isLow(rows)
    const cells = { rows, cols, cw: cellOf(name, cell), ch: low ? lowInput(rows) / rows : inputs }
    const place = { id: name, stages: [name] }
    const box = boxOf(place, name, 'inputs', x + words, headHeight, cells)
    const start = !k ? 0 : sequence && words ? x : box.x
    box.heading = { x: start, y: 0, w: right(box) - start + 18, h: headHeight }
    if (words) box.rowLabels = rowLabelsOf(box, label, rowKind, words, 4, !low)
    boxes.push(box)
    const bias = biasOf(name)
    if (bias) boxes.push(biasBelow(stages, bias, box, { words, inputs, label }))
    x = right(box)
  }
  const rows = Math.min(...boxes.map(box => box.rows))
  for (const sign of signs) sign.h = rows * inputs
  return { boxes, signs, x }
}

const biasBelow = (stages, name, box, { words, inputs, label }) => {
  const y = bottom(box) + Math.round((BIAS - 1) * inputs)
  const { rows, cols } = stages[name]
  const cells = { rows, cols, cw: box.cw, ch: inputs }
  const under = boxOf({ id: name, stages: [name] }, name, 'inputs', box.x, y, cells)
  under.rowLabels = rowLabelsOf(under, label, 'bias', words, 4)
  return under
}

const cutHeadings = (boxes, width) => {
  const headed = boxes.filter(box => box.heading)
  headed.forEach(({ heading }, k) => {
    const end = k + 1 < headed.length ? headed[k + 1].heading.x - 4 : width
    heading.w = Math.min(heading.w, end - heading.x)
  })
}

// A line on what one can do here, between X and the weights or behind all of them.
const noteOf = (boxes, width, end) => {
  const shown = boxes.filter(box => box.heading)
  const spaces = shown.map((box, k) => {
    const x = right(box) + 20
    const next = shown[k + 1]
    const edge = next ? Math.min(next.rowLabels?.x ?? next.x, next.heading.x) - 14 : width
    return { x, y: 2, w: edge - x, h: end - 2 }
  })
  const found = spaces.find(space => space.w >= NOTE[0])
  return found ? { ...found, w: Math.min(found.w, NOTE[1]) } : null
}
