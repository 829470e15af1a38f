import assert from 'node:assert/strict'
import test from 'node:test'

import {
  areaOf,
  axesOf,
  dragged,
  framesOf,
  isSeen,
  line,
  partOf,
  wholeOf
} from '../../../../../attention/pages/js/board/paint/part.js'

// Ten rows and columns of 40 × 30 px, right of labels of 50 px and below ones of 20.
const places = { left: 50, right: 6, top: 20, bottom: 4, width: 456, height: 300 }
const pane = (more = {}) => ({ n: 10, m: 10, places, view: null, ...more })
const area = areaOf(pane())
const cells = ([left, top, right, bottom]) => [[left, right], [top, bottom]]

test('the cells are right of the labels and below them', () => {
  assert.deepEqual(area, { left: 50, top: 20, width: 400, height: 300 })
  const { x, y, across, down, columns, rows } = axesOf(pane())
  assert.deepEqual([across, down, columns, rows], [40, 30, [0, 9], [0, 9]])
  assert.deepEqual([x(0), x(9), y(0), y(9)], [70, 430, 35, 305])
})

test('a place is that of the cell it lies in, in all of a pane and in a part', () => {
  for (const view of [null, [2.5, 6.5, 0.5, 3.5]]) {
    const { x, y, column, row } = axesOf(pane({ view }))
    for (let k = 0; k < 10; k++) {
      for (const off of [-0.49, 0, 0.49]) {
        assert.deepEqual([column(x(k + off)), row(y(k + off))].map(Math.abs), [k, k])
      }
    }
  }
})

test('of a part its own cells alone are seen, and labels of its rows', () => {
  const part = pane({ view: [2.5, 6.5, 0.5, 3.5] })
  assert.deepEqual([axesOf(part).columns, axesOf(part).rows], [[3, 6], [1, 3]])
  const seen = [[1, 3], [3, 6], [1, -1]]
  const unseen = [[0, 3], [4, 3], [1, 2], [1, 7], [4, -1]]
  assert.ok(seen.every(cell => isSeen(part, cell)))
  assert.ok(!unseen.some(cell => isSeen(part, cell)))
})

test('what moves less than a click is no drag', () => {
  assert.equal(dragged([100, 100], [107, 93], area), null)
  assert.notEqual(dragged([100, 100], [108, 100], area), null)
})

test('a drag is the same from all corners and ends at the edge', () => {
  const found = [[100, 200], [60, 150]]
  const corners = [[100, 60], [200, 150], [100, 150], [200, 60]]
  assert.deepEqual(dragged(corners[0], corners[1], area), found)
  assert.deepEqual(dragged(corners[1], corners[0], area), found)
  assert.deepEqual(dragged(corners[2], corners[3], area), found)
  assert.deepEqual(dragged([300, 200], [2000, -50], area), [[300, 400], [0, 200]])
})

test('a flat drag takes whole columns, an upright one whole rows', () => {
  assert.deepEqual(dragged([100, 100], [200, 110], area), [[100, 200], [0, 300]])
  assert.deepEqual(dragged([100, 100], [110, 200], area), [[0, 400], [100, 200]])
  assert.deepEqual(dragged([100, 100], [200, 121], area), [[100, 200], [100, 121]])
})

test('a part is all cells that a drag meets by more than an edge', () => {
  assert.deepEqual(partOf(pane(), cells([60, 40, 150, 80])), [0.5, 3.5, 0.5, 2.5])
  // of columns 1 and 4 less than 0.15 of a cell
  assert.deepEqual(partOf(pane(), cells([75, 40, 165, 80])), [1.5, 3.5, 0.5, 2.5])
  assert.deepEqual(partOf(pane(), cells([62, 62, 70, 70])), [0.5, 1.5, 1.5, 2.5])
  // of two columns less than that: one cell is seen all the same
  assert.deepEqual(partOf(pane(), cells([36, 40, 44, 80])), [0.5, 1.5, 0.5, 2.5])
})

test('a part of a part is counted from the first', () => {
  const part = pane({ view: [2.5, 6.5, 0.5, 5.5] }) // cells of 100 × 60 px
  assert.deepEqual(partOf(part, cells([110, 70, 290, 170])), [3.5, 5.5, 1.5, 3.5])
})

test('a drag over all cells shows all of the pane', () => {
  assert.deepEqual(wholeOf(pane()), [-0.5, 9.5, -0.5, 9.5])
  assert.equal(partOf(pane(), cells([3, 2, 398, 299])), null)
})

test('a quick stroke leaves no cell out', () => {
  assert.deepEqual(line([0, 0], [0, 3]), [[0, 1], [0, 2], [0, 3]])
  assert.deepEqual(line([2, 2], [0, 0]), [[1, 1], [0, 0]])
  assert.deepEqual(line([5, 5], [5, 5]), [[5, 5]])
  for (const end of [[7, 3], [-4, 9], [2, -8]]) {
    let [i, j] = [0, 0]
    for (const [k, l] of line([0, 0], end)) {
      assert.equal(Math.max(Math.abs(k - i), Math.abs(l - j)), 1)
      ;[i, j] = [k, l]
    }
    assert.deepEqual([i, j], end)
  }
})

test('the query is framed in its pane, but in a plan its whole line is lit', () => {
  const spec = { marks: [['query', 1, null], ['cell', 2, 3]], queries: true }
  const framed = (more, presented) => {
    const found = pane({ spec, swap: ([i, j]) => [j, i], ...more })
    return framesOf(found, axesOf(found), presented).map(({ role, x, y }) => [role, x, y])
  }
  const chosen = ['cell', 50 + 2 * 40, 20 + 3 * 30] // where it is seen: its stage is turned
  assert.deepEqual(framed({}), [['query', 50, 50], chosen])
  assert.deepEqual(framed({ inPlan: true }), [chosen])
  // one that is presented is framed in place of another
  assert.deepEqual(framed({}, 4), [chosen, ['query', 50, 20 + 4 * 30]])
  assert.deepEqual(framed({ inPlan: true }, 4), [chosen])
  const without = { spec: { ...spec, queries: false } }
  assert.deepEqual(framed(without, 4), [chosen])
})
