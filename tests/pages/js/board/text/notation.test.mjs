import assert from 'node:assert/strict'
import test from 'node:test'

import {
  formulaParts,
  mathParts,
  unmarked
} from '../../../../../attention/pages/js/board/text/notation.js'

test('a letter after a letter and an underscore is an index, other underscores are text', () => {
  const low = text => mathParts(text).filter(part => part.low).map(part => part.text)
  assert.deepEqual(low('X W_Q / √d_k'), ['Q', 'k'])
  assert.deepEqual(low('jax.nn.dot_product_attention, need_weights'), [])
})

test('what is in braces after a circumflex is a power, and quoted words are no notation', () => {
  const parts = formulaParts('e^{−0.50} of “d_k”')
  assert.deepEqual(parts.filter(part => part.high).map(part => part.text), ['−0.50'])
  assert.ok(!parts.some(part => part.low))
})

test('marks are not seen', () => {
  assert.equal(unmarked('e^{2} / √d_k'), 'e2 / √dk')
  assert.equal(unmarked('jax.nn.dot_product_attention'), 'jax.nn.dot_product_attention')
})
