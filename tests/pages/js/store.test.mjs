import assert from 'node:assert/strict'
import test from 'node:test'

import { drop, named } from '../../../attention/pages/js/store.js'

// What is deleted of these states, the newest first, and of these texts.
const dropped = (states, texts) => {
  const gone = { states: [], texts: [] }
  const table = list => ({ delete: key => list.push(key) })
  drop(states, new Set(texts), table(gone.states), table(gone.texts))
  return gone
}
const state = (mark, sizes = {}) => [mark, { link: {}, at: 0, sizes }]

test('a link names the texts that it holds by digest', () => {
  assert.deepEqual(named({ X: '@a1', mask: 'none', W_Q: '@b2' }), ['a1', 'b2'])
})

test('states that fit are kept, and a text that none names is not', () => {
  const states = [state('new', { a: 10 }), state('old', { a: 10, b: 5 })]
  assert.deepEqual(dropped(states, ['a', 'b', 'c']), { states: [], texts: ['c'] })
})

test('of more than fifty states the oldest go, with their texts', () => {
  const states = Array.from({ length: 53 }, (_, k) => state(`s${k}`, { [`t${k}`]: 1 }))
  const texts = states.map((_, k) => `t${k}`)
  assert.deepEqual(dropped(states, texts), {
    states: ['s50', 's51', 's52'],
    texts: ['t50', 't51', 't52']
  })
})

test('states of more than fifty million characters go, but never the newest', () => {
  const large = state('large', { a: 60e6 })
  assert.deepEqual(dropped([large], ['a']), { states: [], texts: [] })
  assert.deepEqual(dropped([large, state('old', { b: 1 })], ['a', 'b']), {
    states: ['old'],
    texts: ['b']
  })
  assert.deepEqual(dropped([state('new', { a: 1 }), large], ['a']), { states: [], texts: [] })
})

test('a text that several states name is counted once', () => {
  const states = Array.from({ length: 3 }, (_, k) => state(`s${k}`, { a: 30e6 }))
  assert.deepEqual(dropped(states, ['a']), { states: [], texts: [] })
})
