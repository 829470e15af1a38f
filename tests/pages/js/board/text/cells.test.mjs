import assert from 'node:assert/strict'
import test from 'node:test'

import { calledOf, exactOf, textOf } from '../../../../../attention/pages/js/board/text/cells.js'
import { read as readPane, readMarks } from '../../../../../attention/pages/js/board/text/pane.js'
import * as shades from '../../../../../attention/pages/js/board/paint/shades.js'
import { asText } from '../../../../../attention/pages/js/board/text/tables.js'

const { NaN: none } = Number
const { HIDDEN, BROKEN, BLANK } = shades
const TURNED = { turned: true }

// A pane as the board reads it: of these numbers, its cells of these codes.
const read = (spec, place = null) => {
  const found = { spec: { digits: 2, ...spec } }
  readPane(found, place)
  readMarks(found)
  return found
}
const words = (count, word) => Array.from({ length: count }, (_, k) => `${word}${k}`)
const pane = (numbers, spec = {}, codes = [], place = null) => {
  const values = Float64Array.from(numbers.flat())
  codes = Uint8Array.from(values, (_, k) => codes[k] ?? 0)
  const [rows, columns] = [words(numbers.length, 'r'), words(numbers[0].length, 'c')]
  return read({ values, codes, rows, columns, ...spec }, place)
}
const large = more => {
  const chosen = [0, 0, '0.33', '0.3333333333333333']
  const codes = Uint8Array.from([0, 254])
  return read({ large: true, codes, rows: ['r'], columns: ['c', 'd'], chosen, ...more })
}

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
  const numbers = [[1, 2], [3, 4]]
  assert.equal(calledOf(pane(numbers, spec), 1, 0), 'cat · 1')
  assert.equal(calledOf(pane(numbers, spec), 1, 0, ', '), 'cat, 1')
  assert.equal(calledOf(pane(numbers, spec, [], TURNED), 0, 1), 'cat · 1')
})

test('a spreadsheet gets labels and exact numbers, and no formula', () => {
  const spec = { rows: ['=1+1', 'a "b"'], columns: ['x\ty', '-z'] }
  const found = pane([[0.1, 2], [-3, 4]], spec)
  assert.equal(
    asText(found),
    ["\tx y\t'-z", "'=1+1\t0.1\t2", '"a ""b"""\t-3\t4'].join('\n')
  )
})

test('full-width signs, which a spreadsheet takes for a formula too, get an apostrophe', () => {
  const rows = ['＝1+1', '＋', '－2', '＠me', '\nx']
  const found = pane(rows.map(() => [1]), { rows, columns: ['a'] })
  const copied = asText(found).split('\n').slice(1)
  assert.deepEqual(copied, ["'＝1+1\t1", "'＋\t1", "'－2\t1", "'＠me\t1", "' x\t1"])
})

test('K is seen as Kᵀ in a plan, and copied as K', () => {
  const numbers = [[0.1, 2, 3], [-3, 4, 5]]
  const spec = { texts: [['0.10', '2', '3'], ['−3', '4', '5']] }
  const [K, turned] = [null, TURNED].map(place => pane(numbers, spec, [], place))
  assert.deepEqual([turned.n, turned.m, turned.swap([2, 1])], [3, 2, [1, 2]])
  for (const [i, j] of [[0, 0], [0, 1], [1, 0], [1, 2]]) {
    assert.equal(textOf(turned, j, i), spec.texts[i][j])
    assert.equal(exactOf(turned, j, i), String(numbers[i][j]))
    assert.equal(calledOf(turned, j, i), `r${i} · c${j}`)
  }
  assert.equal(asText(turned), asText(K))
  assert.equal(asText(turned), '\tc0\tc1\tc2\nr0\t0.1\t2\t3\nr1\t-3\t4\t5')
})
