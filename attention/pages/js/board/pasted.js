// Numbers as they are typed or pasted from a spreadsheet.

export const NUMBER = /^[+\-\u2212]?(\d+(\.\d*)?|\.\d+)(e[+\-\u2212]?\d+)?$/i
export const COMMA = /^[+\-\u2212]?\d*,\d+(e[+\-\u2212]?\d+)?$/i

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
