import assert from 'node:assert/strict'
import test from 'node:test'

import { inCells } from '../../../../../attention/pages/js/board/paint/paint.js'
import { widthOf } from '../../widths.mjs'

const TEXTS = [['0.47000000', '0.12500001'], ['0.00000002', '0.33333333']]
const pane = (px, more = {}) => ({
  ...{ texts: TEXTS, n: 2, m: 2, view: null, spec: { role: 'share' }, isHidden: () => false },
  valueAt: (i, j) => Number(TEXTS[i][j]),
  places: { px, tight: false },
  ...more
})
const written = (found, across, decimals, down = 30) =>
  inCells(found, { across, down }, { measure: widthOf, decimals })
const decimalsOf = ({ texts }) => texts[0][0].split('.')[1].length
const part = (px = 0) => pane(px, { view: [-0.5, 0.5, -0.5, 0.5] })

test('a pane has the decimals of its board and says which', () => {
  const found = written(pane(12), 60, 3)
  assert.deepEqual([decimalsOf(found), found.size, found.note], [3, 12, '3 of 8 decimals'])
  assert.equal(written(pane(12), 100, Infinity).note, '')
})

test('a pane without room for letters is in colours', () => {
  assert.deepEqual(written(pane(0), 5, 3), { texts: null, size: 0, note: 'in colours' })
  const textless = pane(12, { texts: undefined })
  assert.equal(written(textless, 60, 3).note, 'in colours')
})

test('a part has as many decimals as fit, in letters that can be read', () => {
  let before = 0
  for (let across = 1; across < 120; across++) {
    const found = written(part(12), across, 2)
    if (!found.texts) {
      assert.equal(before, 0)
      continue
    }
    assert.ok(decimalsOf(found) >= before && found.size >= 10.5)
    assert.ok(widthOf(found.texts[0][0], found.size) < across)
    before = decimalsOf(found)
  }
  assert.equal(before, 8)
})

test('a part has no fewer decimals than its board', () => {
  assert.equal(written(part(12), 30, 8).note, 'in colours')
  assert.equal(written(part(12), 30, 2).note, '4 of 8 decimals')
})

test('a part of a board in colours has its numbers', () => {
  assert.deepEqual(written(part(), 120, Infinity).texts, TEXTS)
})
