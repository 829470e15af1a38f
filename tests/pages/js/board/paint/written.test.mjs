import assert from 'node:assert/strict'
import test from 'node:test'

import { HIDDEN, LAST } from '../../../../../attention/pages/js/board/paint/shades.js'
import {
  decimalsOf,
  formsOf,
  shorter,
  tightened
} from '../../../../../attention/pages/js/board/paint/written.js'
import { widthOf } from '../../widths.mjs'

// A pane of these numbers and of the texts that Python sent for them; null is a hidden cell.
const pane = (numbers, texts, role = 'share') => {
  const codes = numbers.flat().map(value => (value === null ? HIDDEN : 0))
  const m = numbers[0].length
  return {
    ...{ texts, n: numbers.length, m, spec: { role } },
    isHidden: (i, j) => codes[i * m + j] > LAST,
    hides: codes.some(code => code > LAST),
    valueAt: (i, j) => numbers[i][j] ?? 0
  }
}
const forms = (found, most = Infinity) => formsOf(found, most, widthOf)

test('decimals are counted, of a power of ten one more', () => {
  assert.equal(decimalsOf([['1', '0.25', '−3.50']]), 2)
  assert.equal(decimalsOf([['4', '−12']]), 0)
  assert.equal(decimalsOf([['3.1e−7', '0.250']]), 3 - 1)
  assert.equal(decimalsOf([['2.50000e6']]), 6)
  assert.equal(decimalsOf([['', '0.1250']]), 4)
  assert.equal(decimalsOf([['−∞', 'NaN', '0.5']]), 1)
})

test('fewer decimals round to the even one, as Python does', () => {
  assert.equal(shorter('0.1250', 0.125, 2), '0.12')
  assert.equal(shorter('−0.3750', -0.375, 2), '−0.38')
  assert.equal(shorter('2.6667', 8 / 3, 1), '2.7')
  assert.equal(shorter('5.0000', 5, 2), '5.00')
})

test('a text with no more decimals than asked for stays as it is', () => {
  for (const [text, value] of [['0.25', 0.25], ['3', 3], ['−∞', -Infinity], ['', 0], ['0', 0]]) {
    assert.equal(shorter(text, value, 2), text)
  }
  assert.equal(shorter('−∞', -Infinity, 0), '−∞')
  assert.equal(shorter('7', 7, 0), '7')
})

test('with fewer decimals a number that would become 0 is ≈0, and 0 stays 0', () => {
  assert.equal(shorter('3.10e−7', 3.1e-7, 3), '≈0')
  assert.equal(shorter('0.0004', 0.0004, 2), '≈0')
  assert.equal(shorter('−0.0004', -0.0004, 2), '≈0')
  assert.equal(shorter('0', 0, 2), '0')
  assert.equal(shorter('0.0060', 0.006, 2), '0.01')
})

test('with fewer decimals a share that would become 1 is ≈1, and 1 stays 1', () => {
  assert.equal(shorter('0.9975', 0.9975, 2, true), '≈1')
  assert.equal(shorter('1', 1, 2, true), '1')
  assert.equal(shorter('0.9975', 0.9975, 2), '1.00')
})

test('with all decimals a weight that only rounds to 0 or 1 has them', () => {
  const texts = [['1.00', '0.00', '0'], ['0', '1', '0']]
  const found = forms(pane([[0.9975, 0.0025, 0], [0, 1, 0]], texts))
  assert.deepEqual([found.full, found.short], [texts, texts])
  assert.deepEqual(found.tight, [['≈1', '≈0', '0'], ['0', '1', '0']])
})

test('decimals are left out only where all numbers end before them', () => {
  const short = (values, texts) => forms(pane([values], [texts], 'diverging')).short[0]
  assert.deepEqual(short([0.5, 3], ['0.50', '3.00']), ['0.5', '3.0'])
  assert.deepEqual(short([0.1 + 0.2, 3], ['0.30', '3.00']), ['0.3', '3.0'])
  assert.deepEqual(short([0.9975, 3], ['1.00', '3.00']), ['1.00', '3.00'])
  assert.deepEqual(short([0.001, 3], ['0.00', '3.00']), ['0.00', '3.00'])
})

test('of shares two decimals are kept where others have one', () => {
  const texts = [['0.470', '0.125']]
  assert.deepEqual(forms(pane([[0.47, 0.125]], texts), 1).full, [['0.47', '0.12']])
  assert.deepEqual(forms(pane([[0.47, 0.125]], texts, 'diverging'), 1).full, [['0.5', '0.1']])
})

test('powers of ten keep their exponent and at least two digits', () => {
  assert.equal(shorter('2.50000e6', 2500000.5, 3), '2.50e6')
  assert.equal(shorter('−1.23457e6', -1234567.25, 4), '−1.235e6')
  assert.equal(shorter('−1.23457e6', -1234567.25, 1), '−1.2e6')
})

test('with any number of decimals a text is as near as they allow', () => {
  for (const value of [0.5, 1 / 3, 0.999, 12.3456789, 0.0451, -7.77777]) {
    const whole = value.toFixed(8).replace('-', '−')
    for (let decimals = 0; decimals < 8; decimals++) {
      const text = shorter(whole, value, decimals)
      const unit = 10 ** -decimals
      if (text === '≈0') assert.ok(Math.abs(value) <= unit / 2, `${value} ${decimals}`)
      else {
        assert.equal(text.split('.')[1]?.length ?? 0, decimals)
        assert.ok(Math.abs(Number(text.replace('−', '-')) - value) <= 0.501 * unit, text)
      }
    }
  }
})

test('a share loses the 0 before its point, and is 1 only where it is', () => {
  assert.equal(tightened('0.47'), '.47')
  assert.equal(tightened('1.00'), '≈1')
  assert.equal(tightened('0.00'), '≈0')
  assert.equal(tightened('1'), '1')
  assert.equal(tightened('0'), '0')
  assert.equal(tightened('≈0'), '≈0')
})

test('numbers are as they were sent where all decimals are kept', () => {
  const texts = [['3.10e−7', '0.470'], ['0.125', '0.875']]
  const found = forms(pane([[3.1e-7, 0.47], [0.125, 0.875]], texts))
  assert.deepEqual(found.full, texts)
  assert.deepEqual(found.short, [['≈0', '0.470'], ['0.125', '0.875']])
  assert.deepEqual(found.tight, [['≈0', '.470'], ['.125', '.875']])
  assert.deepEqual([found.lost, found.asked], [null, 3])
})

test('with fewer decimals it is said how many of how many', () => {
  const found = forms(pane([[0.47, 0.125]], [['0.4700', '0.1250']]), 2)
  assert.deepEqual([found.full, found.short], [[['0.47', '0.12']], [['0.47', '0.12']]])
  assert.deepEqual([found.lost, found.asked], [2, 4])
})

test('hidden numbers make no room for themselves, and need little', () => {
  const found = forms(pane([[0.5, null]], [['0.500', '0']]), 2)
  assert.deepEqual(found.full, [['0.50', '0']])
  const open = forms(pane([[50, null]], [['50', '−1000000000']], 'diverging'))
  assert.equal(open.ems.full, widthOf('50', 1))
  const filled = forms(pane([[0.25, null]], [['0.2500', '−1.000e9']], 'diverging'))
  assert.deepEqual([filled.full, filled.short], [[['0.2500', '−1e9']], [['0.25', '−1e9']]])
  const none = forms(pane([[null, null]], [['−∞', '−∞']], 'diverging'))
  assert.equal(none.ems.full, widthOf('−∞', 1))
})

test('an answer that is marked wrong stays as it was typed', () => {
  for (const answer of ['0.7123 ✗', '2.5000 ✗', '1/0.25 ✗', '3.1e-7 ✗', '0.33… ✗', '?', '…']) {
    assert.equal(decimalsOf([[answer, '0.250']]), 3)
    const found = forms(pane([[NaN, 0.25]], [[answer, '0.250']], 'diverging'), 2)
    assert.deepEqual([found.full, found.short], [[[answer, '0.25']], [[answer, '0.25']]])
    assert.equal(forms(pane([[NaN, 3]], [[answer, '3.00']], 'diverging')).short[0][0], answer)
  }
})

test('the width is that of the widest number, written each way', () => {
  const { ems } = forms(pane([[3.1e-7, 0.47]], [['3.1e−7', '0.47']]))
  assert.ok(ems.full > ems.short && ems.short > ems.tight)
  assert.equal(ems.short, widthOf('0.47', 1))
  assert.equal(ems.tight, Math.max(widthOf('.47', 1), widthOf('≈0', 1)))
})

test('numbers that are no shares have no tight form', () => {
  const found = forms(pane([[0.47]], [['0.47']], 'diverging'))
  assert.deepEqual([found.tight, found.ems.tight], [false, false])
})

test('a pane too large for texts has no forms', () => {
  assert.equal(forms(pane([[0]], undefined)), null)
})
