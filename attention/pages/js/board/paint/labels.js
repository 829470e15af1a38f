// Where the words around the cells of a heatmap are written.

import { number } from '../../numbers.js'
import { RULES } from '../layout/rules.js'

const APART = 5 // px between the cells and a word
const ANGLES = { 0: 0, 45: 45, 90: 90 }
const NUMBERED = /^[\d,–]+$/ // numbers, and ranges of them

/**
 * The labels of rows and columns that are seen, the names of the axes, and the numbers of the bar.
 * A token that was typed and has no answer yet is written in place of its label.
 * @param {Pane} pane
 * @param {Axes} axes
 * @param {Look} look
 * @returns {Labels}
 */
export const labelsOf = (pane, axes, look) => {
  const { places, spec } = pane
  return {
    rows: places.rows ? rowsOf(pane, axes, look) : [],
    columns: places.columns ? columnsOf(pane, axes, look) : [],
    corner: places.corner ? cornerOf(spec, places, look) : [],
    bar: places.bar ? barOf(spec, places, look) : []
  }
}

const rowsOf = (pane, { y, down, rows }, look) => {
  const { px, room, end, kind } = pane.places.rows
  const typed = look.waiting.filter(op => op.kind === 'token').map(op => [op.row, op.text])
  const names = new Map(/** @type {[number, string][]} */ (typed))
  const chosen = kind === 'queries' ? look.query : kind === 'keys' ? look.key : -1
  return spaced(rows, px + 0.5, down, chosen).map(i => {
    const label = names.get(i) ?? pane.labels.rows[i]
    const style = styled(label, px, i === chosen, kind, look)
    const text = cut(label, room, style, look.measure)
    return { text, ...style, x: end, y: y(i) - 0.5, align: 'right', angle: 0 }
  })
}

const columnsOf = (pane, { x, across, columns }, look) => {
  const { px, slant, room, kind } = pane.places.columns
  const chosen = kind === 'keys' ? look.key : -1
  const wide = Math.max(...pane.labels.columns.map(text => look.measure(text, px)))
  const level = NUMBERED.test(pane.labels.columns[0]) ? wide + APART : 0
  return spaced(columns, slant ? px + 0.5 : level, across, chosen).map(j => {
    const label = pane.labels.columns[j]
    const style = styled(label, px, j === chosen, kind, look)
    const middle = x(j) - 0.5
    const free = Math.min(room - style.size * 0.72, pane.places.width - middle) // up and aside
    const long = slant === 45 ? free / 0.72 : room - 4
    const text = slant ? cut(label, long, style, look.measure) : label
    const at = slant
      ? { x: middle - (slant === 45 ? 1 : 0), y: pane.places.top - APART }
      : { x: middle, y: pane.places.top - APART - style.size / 2 }
    return { text, ...style, ...at, align: slant ? 'left' : 'center', angle: ANGLES[slant] }
  })
}

/**
 * The names of both axes, which are written where the labels of rows and columns meet.
 * @param {Spec} spec
 */
export const axisNames = ({ axes }) => (axes ? [`${axes[1]} →`, `${axes[0]} ↓`] : [])

const cornerOf = (spec, { left, top }, { palette }) => {
  const names = axisNames(spec)
  const size = RULES.smallest
  return names.map((text, k) => {
    const y = top - APART - (names.length - k - 0.5) * size
    return { text, x: left - APART, y, size, align: 'right', angle: 0, colour: palette.soft }
  })
}

const barOf = (spec, { width, right, top, height }, { palette }) => {
  const size = RULES.smallest
  return [0, 0.5, 1].map((share, k) => {
    const [low, high] = spec.limits
    const value = Number((low + share * (high - low)).toPrecision(2))
    const [first, last] = [top + size / 2, top + height - size / 2]
    const y = Math.min(Math.max(top + (1 - share) * height, first), last)
    const text = spec.ticks?.[k] ?? number(value, 2)
    return { text, x: width - right + 14, y, size, align: 'left', angle: 0, colour: palette.ink }
  })
}

// Which labels have room, so many px each; always the chosen one, in place of its neighbors.
const spaced = ([first, last], room, cell, chosen) => {
  const step = Math.max(1, Math.ceil(room / cell))
  const found = []
  for (let k = first; k <= last; k++) {
    const near = chosen >= 0 && step > 1 && Math.abs(k - chosen) < step
    if (k === chosen || (k % step === 0 && !near)) found.push(k)
  }
  return found
}

const styled = (label, px, bold, kind, { palette }) => {
  const isNumber = NUMBERED.test(label)
  const chosen = kind === 'queries' ? palette.query : palette.source
  const size = isNumber ? Math.max(RULES.smallest, 0.82 * px) : px
  return { size, bold, colour: bold ? chosen : isNumber ? palette.soft : palette.ink }
}

// A word that has no room is cut, as a heading never is.
const cut = (text, room, { size, bold }, measure) => {
  if (measure(text, size, bold) <= room + 1) return text
  const points = Array.from(text)
  do points.pop()
  while (points.length > 1 && measure(`${points.join('')}…`, size, bold) > room)
  return `${points.join('')}…`
}
