// Seeing a part of a pane closer: what a drag over its cells means.

const CLICK = 8 // px: what moves less is a click
const BAND = 20 // px: a drag that is narrower takes whole rows, one that is lower whole columns,
const FLAT = 0.6 // where it is this flat, too
const SLACK = 0.15 // of a cell: a drag that meets less of it did not mean it

// Where the cells of a pane are in its frame, and how large all of them.
const areaOf = ({ places: { left, right, top, width, height } }) => {
  return { left, top, width: width - left - right, height }
}

// Whether a cell is inside of what is seen; of a label, [row, -1], its row.
const isSeen = (pane, [i, j]) => {
  const { rows, columns } = axesOf(pane)
  const inside = (k, [first, last]) => k >= first && k <= last
  return inside(i, rows) && (j < 0 || inside(j, columns))
}

const wholeOf = ({ n, m }) => [-0.5, m - 0.5, -0.5, n - 0.5]

// From where to where a drag goes across and down an area, or null where it is short.
const dragged = ([x0, y0], [x1, y1], { width, height }) => {
  const inside = (value, most) => Math.min(Math.max(value, 0), most)
  const between = (a, b, most) => [inside(Math.min(a, b), most), inside(Math.max(a, b), most)]
  const [across, down] = [between(x0, x1, width), between(y0, y1, height)]
  const [wide, high] = [across, down].map(([from, to]) => to - from)
  if (Math.max(wide, high) < CLICK) return null
  const isBand = (side, other) => side < Math.min(Math.max(other * FLAT, CLICK), BAND)
  return [isBand(wide, high) ? [0, width] : across, isBand(high, wide) ? [0, height] : down]
}

// All cells that a drag meets by more than an edge, as `pane.view` has them; null is all there are.
const partOf = (pane, [across, down]) => {
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
