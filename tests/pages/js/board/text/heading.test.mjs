import assert from 'node:assert/strict'
import test from 'node:test'

import { headingOf, named } from '../../../../../attention/pages/js/board/text/heading.js'
import { widthOf } from '../../widths.mjs'

const weights = { name: 'weights', formula: '= softmax(masked)', shape: '6 × 6' }
const WIDE = 1000
const says = (told, room, px = 14) => headingOf({ ...weights, ...told }, room, px, widthOf)

test('K is called Kᵀ, with its formula turned too', () => {
  assert.deepEqual(named({ symbol: 'K', formula: 'X W_K' }, true), ['Kᵀ', '= (X W_K)ᵀ'])
  assert.deepEqual(named({ symbol: 'K', formula: 'X' }, true), ['Kᵀ', '= Xᵀ'])
  assert.deepEqual(named({ symbol: 'K', formula: 'given' }, true), ['Kᵀ', 'given'])
  assert.deepEqual(named({ symbol: 'K', formula: '' }, true), ['Kᵀ', ''])
})

test('other stages are called as they are, an input without a formula', () => {
  assert.deepEqual(named({ symbol: 'Q', formula: 'X W_Q' }, false), ['Q', '= X W_Q'])
  assert.deepEqual(named({ symbol: 'X', formula: '' }, false), ['X', ''])
})

test('with room a heading says formula, shape and note', () => {
  const said = says({ note: 'in colours' }, WIDE)
  assert.deepEqual(said, { formula: '= softmax(masked)', shape: '6 × 6, in colours' })
})

test('with less room it loses its shape, then its formula, and cuts nothing', () => {
  const parts = new Set()
  for (let room = WIDE; room >= 0; room--) {
    const { formula, shape } = says({ note: 'in colours' }, room)
    parts.add(JSON.stringify([formula, shape]))
    assert.ok(['', weights.formula].includes(formula))
  }
  const expected = [
    [weights.formula, '6 × 6, in colours'],
    [weights.formula, 'in colours'],
    ['', '6 × 6, in colours'], // what has no room leaves it to what is shorter
    ['', 'in colours'],
    ['', '6 × 6'],
    ['', '']
  ]
  assert.deepEqual([...parts], expected.map(each => JSON.stringify(each)))
})

test('all that is said has room', () => {
  for (let room = 60; room < 400; room += 7) {
    for (const px of [12, 14, 20]) {
      const { formula, shape } = says({ note: 'in colours' }, room, px)
      const size = Math.max(0.84 * px, 10.5)
      const used = widthOf('weights', px, true) + widthOf(formula, 0.92 * px) + widthOf(shape, size)
      const least = widthOf('weights', px, true)
      assert.ok(used <= Math.max(room, least), `${room} px, letters of ${px}`)
    }
  }
})

test('names of tabs take their room before anything else', () => {
  const tabs = ['scaled', 'masked']
  const alone = says({}, 190)
  const several = says({ tabs }, 190)
  assert.equal(alone.formula, weights.formula)
  assert.deepEqual(several, { formula: '', shape: '6 × 6' })
})

test('an index is no wider for its underscore', () => {
  const told = { name: 'W_Q', formula: '', shape: '4 × 4' }
  const exact = widthOf('WQ', 14, true) + 9 + widthOf('4 × 4', 0.84 * 14)
  assert.equal(headingOf(told, exact + 0.1, 14, widthOf).shape, '4 × 4')
  assert.equal(headingOf(told, exact - 0.1, 14, widthOf).shape, '')
})
