// The numbers and what Python makes of them are in a file that tests/pages/test_js.py writes.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'

import { among, number } from '../../../attention/pages/js/numbers.js'

const { NUMBERS } = process.env
const { values, alone, mixed } = NUMBERS ? JSON.parse(readFileSync(NUMBERS, 'utf8')) : {}
const skip = NUMBERS ? false : 'tests/pages/test_js.py writes the numbers'
const read = text => Number(text.replace('inf', 'Infinity'))

test('numbers are written as Python writes them', { skip }, () => {
  assert.ok(values.length > 1000)
  alone.forEach((texts, digits) => {
    assert.deepEqual(values.map(value => number(read(value), digits)), texts)
  })
})

test('among others they have decimals, as in Python', { skip }, () => {
  mixed.forEach((texts, digits) => {
    assert.deepEqual(values.map(value => among(read(value), digits)), texts)
  })
})

test('more significant digits can be asked for', () => {
  assert.equal(among(0.0123, 3, 2), '0.012')
  assert.equal(among(0.0123, 3, 3), '1.23e\u22122')
})
