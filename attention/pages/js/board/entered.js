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
