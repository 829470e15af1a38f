import assert from 'node:assert/strict'
import test from 'node:test'

import {
  NUMBER,
  laidDown,
  pointed,
  scrubbed
} from '../../../../../attention/pages/js/board/edit/entered.js'

test('numbers are decimals with a sign and a power of ten', () => {
  for (const text of ['0', '-1', '+2.5', '\u22122', '.5', '3.', '1e9', '2E-3', '1e\u22127']) {
    assert.ok(NUMBER.test(text), text)
  }
  for (const text of ['', '-', '.', '1,5', '1 2', 'x', '1e', '0x1', 'nan', 'inf', '1.2.3']) {
    assert.ok(!NUMBER.test(text), text)
  }
})

test('decimal commas of a block become points', () => {
  assert.deepEqual(pointed([['0,5', '1,25'], ['-2', ' 3,0 ']]), [['0.5', '1.25'], ['-2', ' 3.0 ']])
  assert.deepEqual(pointed([['1,234', '2,5']]), [['1.234', '2.5']])
})

test('commas that may group thousands stay, and with them the refusal', () => {
  for (const rows of [[['1,234', '2,500']], [['0.5', '1,25']], [['1,2,3']], [['a,b']]]) {
    assert.deepEqual(pointed(rows), rows)
  }
})

test('a dragged number goes by steps of a tenth of its size', () => {
  assert.deepEqual([1, -3].map(steps => scrubbed(2, steps, 1)), [2.1, 1.7])
  assert.equal(scrubbed(250, 1, 1), 260)
  assert.equal(scrubbed(-0.3, 2, 1), -0.28)
  assert.equal(scrubbed(0, 1, 1), 0.01)
})

test('with Shift it goes by hundredths, and leaves no rounding behind', () => {
  assert.equal(scrubbed(2, 0.1, 10), 2.01)
  assert.equal(scrubbed(0.1, 0.2, 10), 0.102)
  assert.equal(String(scrubbed(0.7, 1, 1)), '0.71')
})

test('a block pasted on a stage drawn transposed is laid down as it is seen', () => {
  const K = { rows: 6, cols: 4, turned: true }
  const seen = [['1', '2', ' 3'], ['4', '5', '6']] // two rows of Kᵀ, three columns
  const written = cells => cells.map(({ row, column, text }) => `${row},${column}: ${text}`)
  assert.deepEqual(written(laidDown(seen, [1, 0], K)), [
    ...['1,0: 1', '2,0: 2', '3,0: 3'],
    ...['1,1: 4', '2,1: 5', '3,1: 6']
  ])
  const own = Array.from({ length: 6 }, (_, row) => Array(4).fill(`${row}`))
  const taken = laidDown(own, [1, 0], K)
  assert.deepEqual([taken[0], taken.at(-1)], [
    { row: 0, column: 0, text: '0' },
    { row: 5, column: 3, text: '5' }
  ])
  const turned = Array.from({ length: 4 }, (_, row) => Array(6).fill(`${row}`))
  assert.deepEqual(laidDown(turned, [0, 0], K).at(-1), { row: 5, column: 3, text: '3' })
})

test('rows of a block may differ in length, and nothing of them is lost', () => {
  const ragged = [['1'], ['2', '3']]
  const places = turned =>
    laidDown(ragged, [0, 1], { rows: 3, cols: 3, turned }).map(({ row, column }) => [row, column])
  assert.deepEqual(places(false), [[0, 1], [1, 1], [1, 2]])
  assert.deepEqual(places(true), [[0, 1], [0, 2], [1, 2]])
})
