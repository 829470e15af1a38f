// Seeing a part of a pane closer: what a drag over its cells means.

export const CLICK = 8 // px: what moves less is a click
const BAND = 20 // px: a drag that is narrower takes whole rows, one that is lower whole columns,
const FLAT = 0.6 // where it is this flat, too
const SLACK = 0.15 // of a cell: a drag that meets less of it did not mean it

// Rows as columns.
export const transposed = rows => Array.from(rows[0], (_, j) => rows.map(row => row[j]))

/** @param {any[]} a @param {any[]} b */
export const same = (a, b) => a.every((value, k) => value === b[k])

/**
 * Where the cells of a pane are in its frame, and how large all of them.
 * @param {Pane} pane
 */
export const areaOf = ({ places: { left, right, top, width, height } }) => {
  return { left, top, width: width - left - right, height }
}

/**
 * Where cells stand: x(j) and y(i) are the middle of a column and a row, in the pane's frame.
 * @param {Pane} pane
 * @returns {Axes}
 */
export const axesOf = pane => {
  const { left, right, top, width, height } = pane.places
  const [x0, x1, y0, y1] = pane.view ?? wholeOf(pane)
  const [across, down] = [(width - left - right) / (x1 - x0), height / (y1 - y0)]
  const inside = (value, count) => Math.min(Math.max(value, 0), count - 1)
  return {
    x: j => left + (j - x0) * across,
    y: i => top + (i - y0) * down,
    at: (i, j) => [left + (j - x0) * across, top + (i - y0) * down],
    column: px => Math.round((px - left) / across + x0),
    row: px => Math.round((px - top) / down + y0),
    across,
    down,
    columns: [inside(Math.round(x0 + 1e-9), pane.m), inside(Math.round(x1 - 1e-9), pane.m)],
    rows: [inside(Math.round(y0 + 1e-9), pane.n), inside(Math.round(y1 - 1e-9), pane.n)]
  }
}

/**
 * The frames around the row of the query, which is lit otherwise where it is that of a whole line,
 * and around the chosen cell; around small ones wider, so that they are still seen. A query that is
 * presented is framed in place of another.
 * @param {Pane} pane
 * @param {Axes} axes
 * @param {number} [presented] its row
 */
export const framesOf = ({ spec, m, inPlan, swap }, { x, y, across, down }, presented = -1) => {
  const isOwn = mark => mark[0] !== 'query' || (!inPlan && presented < 0)
  /** @type {typeof spec.marks} */
  const query = !inPlan && presented >= 0 && spec.queries ? [['query', presented, null]] : []
  return [...spec.marks.filter(isOwn), ...query].map(([role, row, column]) => {
    const [i, j] = column === null ? [row, null] : swap([row, column])
    const line = j === null ? 2 : 3 // px
    const [left, wide] = j === null ? [x(-0.5), m * across] : [x(j - 0.5), across]
    const [more, higher] = [wide, down].map(side => Math.max(0, line + 2 - side))
    const corner = { x: left - more / 2, y: y(i - 0.5) - higher / 2 }
    return { role, line, ...corner, width: wide + more, height: down + higher }
  })
}

/**
 * Whether a cell is inside of what is seen; of a label, [row, -1], its row.
 * @param {Pane} pane
 * @param {Cell} cell
 */
export const isSeen = (pane, [i, j]) => {
  const { rows, columns } = axesOf(pane)
  const inside = (k, /** @type {number[]} */ [first, last]) => k >= first && k <= last
  return inside(i, rows) && (j < 0 || inside(j, columns))
}

/** @param {{ n: number, m: number }} pane @returns {Part} */
export const wholeOf = ({ n, m }) => [-0.5, m - 0.5, -0.5, n - 0.5]

/**
 * From where to where a drag goes across and down an area, or null where it is short.
 * @param {number[]} from
 * @param {number[]} to
 * @param {{ width: number, height: number }} area
 * @returns {[across: number[], down: number[]] | null}
 */
export const dragged = ([x0, y0], [x1, y1], { width, height }) => {
  const inside = (value, most) => Math.min(Math.max(value, 0), most)
  const between = (a, b, most) => [inside(Math.min(a, b), most), inside(Math.max(a, b), most)]
  const [across, down] = [between(x0, x1, width), between(y0, y1, height)]
  const [wide, high] = [across, down].map(([from, to]) => to - from)
  if (Math.max(wide, high) < CLICK) return null
  const isBand = (side, other) => side < Math.min(Math.max(other * FLAT, CLICK), BAND)
  return [isBand(wide, high) ? [0, width] : across, isBand(high, wide) ? [0, height] : down]
}

/**
 * All cells that a drag meets by more than an edge, as `pane.view` has them; null is all there are.
 * @param {Pane} pane
 * @param {[across: number[], down: number[]]} drag
 */
export const partOf = (pane, [across, down]) => {
  const { width, height } = areaOf(pane)
  const [x0, x1, y0, y1] = pane.view ?? wholeOf(pane)
  const cells = (ends, length, first, last, count) => {
    const [low, high] = ends.map(px => first + (px / length) * (last - first))
    const from = Math.max(Math.floor(low + 0.5 + SLACK), 0) - 0.5
    return [from, Math.max(Math.min(Math.ceil(high + 0.5 - SLACK), count) - 0.5, from + 1)]
  }
  const part = [...cells(across, width, x0, x1, pane.m), ...cells(down, height, y0, y1, pane.n)]
  return same(part, wholeOf(pane)) ? null : part
}

/**
 * The cells on the straight way from one to another: a quick hand leaves none out.
 * @param {Cell} from
 * @param {Cell} to
 * @returns {Cell[]}
 */
export const line = ([i, j], [k, l]) => {
  const steps = Math.max(Math.abs(k - i), Math.abs(l - j), 1)
  return Array.from({ length: steps }, (_, s) => {
    const share = (s + 1) / steps
    return [Math.round(i + (k - i) * share), Math.round(j + (l - j) * share)]
  })
}
