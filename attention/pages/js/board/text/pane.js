// A pane of the board: what Python sent of a stage, as it is seen. K is seen as Kᵀ, so its rows are
// columns here; `swap` and `waitingOn` go between the two.

import { transposed } from '../paint/part.js'
import { HIDDEN, LAST, isHidden } from '../paint/shades.js'
import { short } from './text.js'

/**
 * Take what Python sent of a heatmap. `z` has the rows of the numbers that are shown, NaN where a
 * cell is hidden or not finite; what is made of the texts is made when it is wanted.
 * @param {Pane} pane
 * @param {import('../layout/rules.js').Place | null} place in the plan of a formula, where K is
 *   turned
 */
export const read = (pane, place) => {
  const { spec } = pane
  const [n, m] = [spec.rows.length, spec.columns.length]
  const turned = !!place?.turned
  const swap = place => (turned ? [place[1], place[0], ...place.slice(2)] : place)
  const shown = spec.values?.map((value, k) => (spec.codes[k] > LAST ? NaN : value))
  const z = shown && spec.rows.map((_, i) => shown.subarray(i * m, (i + 1) * m))
  const words = { rows: spec.rows.map(short), columns: spec.columns.map(short) }
  Object.assign(pane, {
    turned,
    inPlan: !!place,
    swap,
    n: turned ? m : n,
    m: turned ? n : m,
    z: turned && z ? transposed(z) : z,
    texts: turned && spec.texts ? transposed(spec.texts) : spec.texts,
    codes: turned ? turnedCodes(spec.codes, n, m) : spec.codes,
    labels: turned ? { rows: words.columns, columns: words.rows } : words,
    forms: undefined,
    decimals: undefined,
    hides: spec.codes.includes(HIDDEN),
    isHidden: (i, j) => isHidden(pane, i, j),
    valueAt: (i, j) => {
      const [row, column] = swap([i, j])
      return spec.values[row * m + column]
    }
  })
}

/**
 * What Python says of cells besides their numbers; it may be another while these are the same.
 * @param {Pane} pane
 */
export const readMarks = pane => {
  const { spec, swap, turned } = pane
  pane.blanks = spec.blanks?.map(swap)
  pane.chosen = spec.chosen && swap(spec.chosen)
  pane.tokens = turned ? undefined : spec.tokens
}

const turnedCodes = (codes, n, m) => {
  const found = new Uint8Array(n * m)
  for (let i = 0; i < n; i++) for (let j = 0; j < m; j++) found[j * n + i] = codes[i * m + j]
  return found
}

/**
 * What waits for Python's answer on a pane, at its places here.
 * @param {import('../edit/edits.js').Edits} edits
 * @param {Pane} pane
 * @returns {Operation[]}
 */
export const waitingOn = (edits, pane) =>
  edits.of(pane.spec.name).map(operation => {
    const [row, column] = pane.swap([operation.row, operation.column])
    return { ...operation, row, column }
  })
