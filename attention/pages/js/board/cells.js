// From the screen to a stage, and back. K is drawn as Kᵀ, so rows and columns are told as K has
// them.

import { bottom, right } from './rules.js'

const within = (k, count) => k >= 0 && k < count

/**
 * What is at a point: a cell of a stage, the word of a row or column, or null.
 * @param {import('./rules.js').Plan} plan
 */
export function cellAt(plan, x, y) {
  for (const box of plan.boxes) {
    const { name: stage, place, rowLabels, columnLabels } = box
    const col = Math.floor((x - box.x) / box.cw)
    const row = Math.floor((y - box.y) / box.ch)
    const inColumns = within(col, box.cols)
    const inRows = within(row, box.rows)
    if (inColumns && inRows) {
      return { stage, place, ...(box.transposed ? { row: col, col: row } : { row, col }) }
    }
    const beside = rowLabels?.show && x >= rowLabels.x && x < right(rowLabels) + 4
    if (beside && inRows) return { label: rowLabels.kind, row, stage }
    const above = columnLabels && y >= columnLabels.y && y < bottom(columnLabels)
    if (above && inColumns) return { label: columnLabels.kind, col, stage }
  }
  return null
}

/** Where a cell is drawn, with its box; row and col as the stage has them. */
export function rectOf(plan, stage, row, col) {
  const box = plan.boxes.find(each => each.name === stage)
  if (!box) return null
  const [i, j] = box.transposed ? [col, row] : [row, col]
  return { x: box.x + j * box.cw, y: box.y + i * box.ch, w: box.cw, h: box.ch, box }
}

const turned = block => block[0].map((_, col) => block.map(row => row[col]))

/**
 * A block pasted on a cell, as the stage takes it. On Kᵀ it is laid down as it is seen, so it is
 * transposed to be K; a block that has the shape of K, and not of Kᵀ, is K itself. `asIs` says
 * whether it was taken as it came.
 * @param {unknown[][]} block
 * @param {{stage: string, row: number, col: number, transposed: boolean, rows: number,
 *   cols: number}} place rows and cols of the stage, not of its box
 */
export function pasted(block, { stage, row, col, transposed, rows, cols }) {
  const [high, wide] = [block.length, block[0].length]
  if (!transposed) return { stage, row, col, block, asIs: true }
  const isWhole = high === rows && wide === cols
  const isSeen = high === cols && wide === rows
  if (isWhole && !isSeen) return { stage, row: 0, col: 0, block, asIs: true }
  return { stage, row, col, block: turned(block), asIs: false }
}
