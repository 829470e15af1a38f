// Numbers as they are entered: typed, pasted from a spreadsheet, or dragged.

export const NUMBER = /^[+\-\u2212]?(\d+(\.\d*)?|\.\d+)(e[+\-\u2212]?\d+)?$/i
const COMMA = /^[+\-\u2212]?\d*,\d+(e[+\-\u2212]?\d+)?$/i

/**
 * A block with decimal commas, as half the world's spreadsheets copy one: with points. Where every
 * comma has three digits behind it, it may group thousands, and stays, to be refused.
 * @param {string[][]} rows
 */
export const pointed = rows => {
  const commas = rows.flat().filter(text => COMMA.test(text.trim()))
  const points = rows.flat().some(text => text.includes('.'))
  if (points || commas.every(text => /,\d{3}$/.test(text.trim()))) return rows
  return rows.map(row => row.map(text => text.replace(',', '.')))
}

/**
 * A number that was dragged so many steps, each fit to its size; `fine` are the parts of a step.
 * @param {number} begun
 * @param {number} steps
 * @param {number} fine
 */
export const scrubbed = (begun, steps, fine) => {
  const place = Math.floor(Math.log10(Math.max(Math.abs(begun), 0.1)))
  const moved = (Math.round(steps * fine) / fine) * 10 ** (place - 1)
  return Number((begun + moved).toPrecision(12))
}

const turned = block => block[0].map((_, column) => block.map(row => row[column]))

/**
 * A block that is pasted on a stage drawn transposed, as that stage takes it: it is laid down as it
 * is seen. A block that has the stage's own shape, and not the one that is seen, is the stage
 * itself. Returns the block, where it begins, and whether it was taken as it came.
 * @param {string[][]} block
 * @param {Cell} cell of the stage
 * @param {{ rows: number, cols: number }} shape of the stage
 */
export const laidDown = (block, [row, column], { rows, cols }) => {
  const [high, wide] = [block.length, block[0].length]
  const isOwn = high === rows && wide === cols
  const isSeen = high === cols && wide === rows
  if (isOwn && !isSeen) return { block, row: 0, column: 0, asIs: true }
  return { block: turned(block), row, column, asIs: false }
}
