// Where the words around the cells of a heatmap are written.

import { number } from '../numbers.js'
import { cornerOf, every } from './fit.js'
import { longest, shortened } from './text.js'

/**
 * The labels of rows and columns that are seen, the names of the axes, and the numbers of the bar.
 * A token that was typed and has no answer yet stands in place of its label.
 * @param {Pane} pane
 * @param {Axes} axes
 * @param {Operation[]} waiting
 * @returns {Labels}
 */
export const labelsOf = (pane, axes, waiting) => {
  const { places, spec } = pane
  const { x, y, across, down, columns, rows } = axes
  const { left, right, top, width, height, labelSize, slanted, small } = places
  const names = new Map(waiting.filter(op => op.kind === 'token').map(op => [op.row, op.text]))
  const among = ([first, last], step) => {
    const all = Array.from({ length: last - first + 1 }, (_, k) => first + k)
    return all.filter(k => k % step === 0)
  }
  const step = every(slanted ? labelSize + 2 : longest(spec.columns, labelSize) + 5, across)
  const corner = cornerOf(spec)
  const bar = [0, 0.5, 1].map((share, k) => {
    const [low, high] = spec.limits
    const value = Number((low + share * (high - low)).toPrecision(2))
    const [first, last] = [top + small / 2, top + height - small / 2]
    const at = Math.min(Math.max(top + (1 - share) * height, first), last)
    const text = spec.ticks?.[k] ?? number(value, 2)
    return { text, x: width - right + 4 + small, y: at, size: small, align: 'left' }
  })
  return {
    rows: among(rows, every(labelSize + 1, down)).map(i => {
      const text = shortened(names.get(i) ?? spec.rows[i], left - 10, labelSize)
      return { text, x: left - 5, y: y(i), size: labelSize, align: 'right' }
    }),
    columns: among(columns, step).map(j => {
      const text = shortened(spec.columns[j], slanted ? top - 10 : 1e3, labelSize)
      const at = slanted ? top - 5 : top - 4 - labelSize / 2
      const align = slanted ? 'left' : 'center'
      return { text, x: x(j), y: at, size: labelSize, align, turned: slanted }
    }),
    corner: corner.map((text, k) => {
      const at = top - 4 - (corner.length - k - 0.5) * small
      return { text, x: left - 5, y: at, size: small, align: 'right' }
    }),
    bar: places.bar ? bar : []
  }
}
