// What a cell says: its number, its words.

import { number } from '../../numbers.js'
import { HIDDEN, isHidden } from '../paint/shades.js'

const VANISHED = /^0\.0+$/ // what the decimals of the others make a 0, and is none

/**
 * Of a large pane the chosen cell alone has its number: [row, column, as shown, exact].
 * @param {Pane} pane
 * @param {number} i
 * @param {number} j
 */
const chosenAt = ({ chosen }, i, j) =>
  chosen?.[0] === i && chosen[1] === j ? chosen : undefined

/**
 * The number of a cell by itself, as it is shown where there is room.
 * @param {Pane} pane
 * @param {number} i
 * @param {number} j
 */
export const textOf = (pane, i, j) => {
  const written = pane.texts?.[i][j]
  if (written && !VANISHED.test(written)) return written
  if (pane.spec.large) {
    const nothing = pane.spec.picks ? 'click for its number' : ''
    return chosenAt(pane, i, j)?.[2] ?? (isHidden(pane, i, j) ? 'hidden' : nothing)
  }
  const value = pane.z[i][j]
  return Number.isNaN(value) ? 'hidden' : number(value, pane.spec.digits)
}

/**
 * The number of a cell to the last digit: a hidden cell keeps its own behind the grey.
 * @param {Pane} pane
 * @param {number} i
 * @param {number} j
 */
export const exactOf = (pane, i, j) => {
  if (pane.spec.large) return chosenAt(pane, i, j)?.[3] ?? ''
  const [value, code] = [pane.valueAt(i, j), pane.codes[i * pane.m + j]]
  if (Number.isNaN(value) && code < HIDDEN) return '' // there is none yet
  if (Object.is(value, -0)) return '-0'
  return String(value).replace('Infinity', 'inf').replace('NaN', 'nan')
}

/**
 * The words of a cell's row and column, as its stage has them.
 * @param {Pane} pane
 * @param {number} i
 * @param {number} j
 */
export const calledOf = ({ spec: { rows, columns }, swap }, i, j, between = ' · ') => {
  const [row, column] = swap([i, j])
  return rows[row] + between + columns[column]
}
