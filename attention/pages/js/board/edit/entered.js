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

/**
 * The cells of a stage that a block is pasted into, each with its text; also those that the stage
 * has not. On a stage that is drawn transposed it is laid down as it is seen; but a block that has
 * the stage's own shape, and not the one that is seen, is the stage itself.
 * @param {string[][]} block whose rows may differ in length
 * @param {Cell} cell of the stage, from which on it is pasted
 * @param {{ rows: number, cols: number, turned: boolean }} stage
 * @returns {{ row: number, column: number, text: string }[]}
 */
export const laidDown = (block, [row, column], { rows, cols, turned }) => {
  const [high, wide] = [block.length, Math.max(...block.map(line => line.length))]
  const isOwn = turned && high === rows && wide === cols && rows !== cols
  const at = (r, c) => {
    if (isOwn) return { row: r, column: c }
    return turned ? { row: row + c, column: column + r } : { row: row + r, column: column + c }
  }
  return block.flatMap((line, r) => line.map((text, c) => ({ ...at(r, c), text: text.trim() })))
}
