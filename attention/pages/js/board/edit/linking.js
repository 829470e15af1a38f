// What is pointed at or chosen: its frame, its words, and the cells it was made from.

import { moved, px } from '../../elements.js'
import { calledOf, textOf } from '../text/cells.js'
import { axesOf, same } from '../paint/part.js'

const SEEN = 3 // px: a frame around a smaller cell
const EDGE = 1e-6 // px: what no more than an edge is seen of

export class Linking {
  constructor(board, tip) {
    this.board = board
    this.tip = tip
    this.marked = null
  }

  mark(pane, i, j, named = true) {
    const { board, tip } = this
    this.clear()
    this.marked = [pane, i, j, named]
    this.box(pane, pane.cursor, i, i, j, j)
    const [row, column] = pane.swap([i, j])
    this.follow(pane, row, column, new Map())
    if (!named || board.edits.stroke) return board.around.point(null) // it is read in its cell
    board.around.point(board.isLit(pane, row) ? [pane.spec.name, row, column] : null)
    tip.textContent = `${calledOf(pane, i, j)}   ${textOf(pane, i, j)}`
    const area = board.root.getBoundingClientRect()
    const box = pane.cursor.getBoundingClientRect()
    tip.style.display = 'block'
    const middle = box.left - area.left + box.width / 2 - tip.offsetWidth / 2
    const left = Math.min(Math.max(middle, 0), area.width - tip.offsetWidth)
    const top = box.top - area.top - tip.offsetHeight - 6
    Object.assign(tip.style, px({ left, top }))
  }

  // Nothing is pointed at: the cell that has the keyboard is marked, or else the chosen one, with
  // what it was made from. Where Enter went on from a wrong answer, the hint is still about that.
  rest() {
    const { panes, head } = this.board
    const focused = [...panes.values()].find(({ frame }) => frame === document.activeElement)
    const [stage, ...cell] = (head.planned && head.cell) || []
    const chosen = panes.get(stage)
    const hinted = focused?.grid?.between && isWrong(chosen, cell)
    const pane = focused?.grid?.at && !hinted ? focused : chosen
    const [i, j] = (pane === focused && !hinted ? pane?.grid?.at : pane?.swap(cell)) ?? [0, -1]
    if (j < 0 || !pane.next || i >= pane.n || j >= pane.m) return this.unmark()
    this.mark(pane, i, j, false)
  }

  // Mark the rows, columns and cells that a cell of a stage was made from; a cell-to-cell step is
  // followed further back.
  follow(pane, i, j, used) {
    for (const [stage, what] of pane.spec.sources ?? []) {
      const source = this.board.panes.get(stage)
      if (!source?.n) continue
      const k = used.get(stage) ?? 0
      const node = source.marks[Math.min(k, 2)]
      used.set(stage, k + 1)
      const own = what === 'bucket' ? pane.spec.buckets[i][j] : 0
      const ends = endsOf(what, i, j, own, source)
      if (ends) this.box(source, node, ...ends)
      if (what === 'cell') this.follow(source, i, j, used)
    }
  }

  box(pane, node, i0, i1, j0, j1) {
    if (!pane.places || pane.table || pane.element.hidden || i1 >= pane.n || j1 >= pane.m) return
    const { x, y } = axesOf(pane)
    const { left, right, top, width, height } = pane.places
    const across = v => Math.min(Math.max(x(v), left), width - right)
    const down = v => Math.min(Math.max(y(v), top), top + height)
    const [x0, x1, y0, y1] = [across(j0 - 0.5), across(j1 + 0.5), down(i0 - 0.5), down(i1 + 0.5)]
    const [w, h] = [x1 - x0, y1 - y0]
    const [more, higher] = [Math.max(SEEN - w, 0), Math.max(SEEN - h, 0)]
    if (w < EDGE || h < EDGE) return
    const rect = { x: x0 - more / 2, y: y0 - higher / 2, w: w + more, h: h + higher }
    Object.assign(node.style, moved(rect))
    node.style.display = 'block'
  }

  // What is pointed at stays marked while it is drawn anew, where it is still there.
  remark() {
    const [pane, i, j, named] = this.marked ?? []
    const here = pane?.element.isConnected && !pane.element.hidden && i < pane.n && j < pane.m
    if (here && named) this.mark(pane, i, j, named)
    else this.rest()
  }

  unmark() {
    this.clear()
    this.board.around.point(null)
  }

  clear() {
    this.marked = null
    this.tip.style.display = 'none'
    for (const pane of this.board.panes.values()) {
      for (const node of [...(pane.marks ?? []), pane.cursor]) if (node) node.style.display = 'none'
    }
  }
}

// Whether a blank was answered, and wrongly: a right answer is a blank no longer.
const isWrong = (pane, cell) => {
  const [i, j] = pane?.n ? pane.swap(cell) : []
  return !!pane?.blanks?.some(blank => same(blank, [i, j])) && textOf(pane, i, j) !== '?'
}

// The first and last row and column, as they are seen, of what a cell takes from a stage.
const endsOf = (what, i, j, bucket, { n, m, turned }) => {
  const [rows, columns] = turned ? [m, n] : [n, m]
  const row = k => [k, k, 0, columns - 1]
  const found = {
    cell: [i, i, j, j],
    same: [i, i, j, j], // of another state
    'row i': row(i),
    'row j': row(j),
    bucket: row(bucket),
    'column j': [0, rows - 1, j, j]
  }[what]
  return turned && found ? [found[2], found[3], found[0], found[1]] : found
}
