// What a cell says: its number, its words.

import { number } from '../numbers.js'
import { isHidden } from './shades.js'

/**
 * Of a large pane the chosen cell alone has its number: [row, column, as shown, exact].
 * @param {Pane} pane
 * @param {number} i
 * @param {number} j
 */
const chosenAt = ({ spec: { chosen } }, i, j) =>
  chosen?.[0] === i && chosen[1] === j ? chosen : undefined

/**
 * The number of a cell as it is shown where there is room.
 * @param {Pane} pane
 * @param {number} i
 * @param {number} j
 */
export const textOf = (pane, i, j) => {
  const written = pane.texts?.[i][j]
  if (written) return written
  if (pane.spec.large) {
    const nothing = pane.spec.picks ? 'click for its number' : ''
    return chosenAt(pane, i, j)?.[2] ?? (isHidden(pane, i, j) ? 'hidden' : nothing)
  }
  const value = pane.z[i][j]
  return Number.isNaN(value) ? 'hidden' : number(value, pane.spec.digits)
}

/**
 * The number of a cell to the last digit: a hidden cell keeps its own behind the grey, −∞ only as
 * text.
 * @param {Pane} pane
 * @param {number} i
 * @param {number} j
 */
export const exactOf = (pane, i, j) => {
  if (pane.spec.large) return chosenAt(pane, i, j)?.[3] ?? ''
  const value = pane.z[i][j]
  if (!Number.isNaN(value)) return Object.is(value, -0) ? '-0' : String(value)
  const trace = pane.traces.find(({ z }) => z && !Number.isNaN(z[i][j]))
  if (['blank', 'waits'].includes(trace?.meta)) return '' // there is none yet
  const text = trace?.text?.[i][j] ?? ''
  if (!/^[\u2212-]?∞$|^NaN$/.test(text)) return String(trace?.z[i][j] ?? 'nan')
  return text.replace('\u2212', '-').replace('∞', 'inf').toLowerCase()
}

/**
 * The words of a cell's row and column.
 * @param {Pane} pane
 * @param {number} i
 * @param {number} j
 */
export const calledOf = ({ spec: { rows, columns } }, i, j, between = ' · ') =>
  rows[i] + between + columns[j]
