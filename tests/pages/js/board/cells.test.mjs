import assert from 'node:assert/strict'
import test from 'node:test'

import { calledOf, exactOf, textOf } from '../../../../attention/pages/js/board/cells.js'
import * as shades from '../../../../attention/pages/js/board/shades.js'
import { asText } from '../../../../attention/pages/js/board/tables.js'

const { NaN: none } = Number
const { HIDDEN, BROKEN, BLANK } = shades
const pane = (numbers, spec = {}, codes = []) => {
  const [rows, m] = [numbers.map(row => Float64Array.from(row)), numbers[0].length]
  const values = Float64Array.from(numbers.flat())
  codes = Uint8Array.from(values, (_, k) => codes[k] ?? 0)
  const z = rows.map((row, i) => row.map((value, j) => (codes[i * m + j] > 252 ? none : value)))
  return { values, codes, z, n: rows.length, m, texts: spec.texts, spec: { digits: 2, ...spec } }
}
const large = more => ({
  codes: Uint8Array.from([0, 254]),
  m: 2,
  spec: { large: true, chosen: [0, 0, '0.33', '0.3333333333333333'], ...more }
})

test('a cell says the text it came with, else its number', () => {
  const numbers = [[0.125, 3]]
  assert.equal(textOf(pane(numbers), 0, 0), '0.12')
  assert.equal(textOf(pane(numbers, { digits: 4 }), 0, 0), '0.1250')
  assert.equal(textOf(pane(numbers), 0, 1), '3')
  assert.equal(textOf(pane(numbers, { texts: [['≈0', '']] }), 0, 0), '≈0')
  assert.equal(textOf(pane(numbers, {}, [HIDDEN]), 0, 0), 'hidden')
})

test('of a large pane the chosen cell alone has a number', () => {
  assert.equal(textOf(large(), 0, 0), '0.33')
  assert.equal(exactOf(large(), 0, 0), '0.3333333333333333')
  assert.deepEqual([textOf(large(), 0, 1), exactOf(large(), 0, 1)], ['hidden', ''])
  assert.equal(textOf(large({ chosen: undefined }), 0, 0), '')
  assert.equal(textOf(large({ chosen: undefined, picks: true }), 0, 0), 'click for its number')
})

test('the exact number keeps every digit and the sign of a zero', () => {
  const found = pane([[0.1 + 0.2, -0, 1e-300]])
  assert.deepEqual([0, 1, 2].map(j => exactOf(found, 0, j)), [
    '0.30000000000000004',
    '-0',
    '1e-300'
  ])
})

test('a hidden cell keeps its own number, and −∞ is inf in files', () => {
  const numbers = [[7.5, -Infinity, Infinity, none]]
  for (const code of [HIDDEN, BROKEN]) {
    const found = pane(numbers, {}, [HIDDEN, code, code, code])
    assert.deepEqual([0, 1, 2, 3].map(j => exactOf(found, 0, j)), ['7.5', '-inf', 'inf', 'nan'])
  }
})

test('a blank and what waits for it have no number', () => {
  for (const code of [BLANK, 0, 126]) assert.equal(exactOf(pane([[none]], {}, [code]), 0, 0), '')
})

test('a cell is called by the words of its row and column', () => {
  const spec = { rows: ['the', 'cat'], columns: ['1', '2'] }
  assert.equal(calledOf({ spec }, 1, 0), 'cat · 1')
  assert.equal(calledOf({ spec }, 1, 0, ', '), 'cat, 1')
})

test('a spreadsheet gets labels and exact numbers, and no formula', () => {
  const spec = { rows: ['=1+1', 'a "b"'], columns: ['x\ty', '-z'] }
  const found = pane([[0.1, 2], [-3, 4]], spec)
  assert.equal(
    asText(found),
    ["\tx y\t'-z", "'=1+1\t0.1\t2", '"a ""b"""\t-3\t4'].join('\n')
  )
})
