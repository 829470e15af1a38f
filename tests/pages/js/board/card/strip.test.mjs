import assert from 'node:assert/strict'
import test from 'node:test'

import { wayOf } from '../../../../../attention/pages/js/board/card/strip.js'
import { widthOf, wider } from '../../widths.mjs'

const SENTENCE = 'the cat sat on the mat'.split(' ')
const words = count => Array.from({ length: count }, (_, k) => SENTENCE[k % 6])
const way = (given, width, more = {}) => {
  const shares = given.map(() => '47%')
  const rest = { compares: false, own: false, measure: widthOf }
  return wayOf({ words: given, shares, width, ...rest, ...more })
}
const takes = (given, { px, pad, gap }, measure = widthOf) =>
  given.reduce((sum, word) => sum + Math.max(measure(word, px, true), 28) + pad + gap, -gap)

test('six words are next to the sentence, in large letters, on a laptop', () => {
  assert.deepEqual([way(SENTENCE, 1070).own, way(SENTENCE, 1070).px], [false, 17])
})

test('words and sentence have the room that they take, in any window', () => {
  for (const measure of [widthOf, wider]) {
    for (const width of [336, 366, 700, 904, 1070, 1150, 1624]) {
      for (let count = 1; count <= 64; count++) {
        const found = way(words(count), width, { measure })
        const room = found.own ? width : width - found.says - 16
        assert.ok(takes(words(count), found, measure) <= room || !found.all, `${count} in ${width}`)
        assert.ok(found.px >= 13 && (found.own || found.says >= 230))
      }
    }
  }
})

test('more words never get larger letters or come back next to the sentence', () => {
  for (const width of [366, 1070, 1624]) {
    const found = Array.from({ length: 64 }, (_, k) => way(words(k + 1), width))
    const lines = found.map(({ own, all }) => (all ? Number(own) : 2))
    assert.deepEqual(lines, lines.toSorted((a, b) => a - b))
  }
})

test('a word that takes the whole line, and no word at all, have a way', () => {
  assert.equal(way(['x'.repeat(400)], 336).all, false)
  assert.equal(way([], 336).all, true)
})

test('the buttons of Play have room at the end of the line of the sentence', () => {
  const controls = [196, 146]
  assert.equal(way(SENTENCE, 1070, { controls }).controls, 196)
  const narrow = way(words(13), 1070, { controls })
  assert.deepEqual([narrow.own, narrow.controls], [false, 146])
  assert.equal(way(words(13), 1070, { controls: [196] }).own, true)
  for (const width of [700, 904, 1070, 1150, 1624]) {
    for (let count = 1; count <= 40; count++) {
      const found = way(words(count), width, { controls })
      const room = width - found.says - 16 - found.controls - 16
      assert.ok(found.own || takes(words(count), found) <= room, `${count} in ${width}`)
    }
  }
})

test('what has a line of its own anyway gets it', () => {
  assert.equal(way(SENTENCE, 1070, { own: true }).own, true)
})

test('words have room for the shares below them, of one and of two', () => {
  const shares = SENTENCE.map(() => '47→69%')
  for (const width of [366, 700, 1070, 1624]) {
    const found = way(SENTENCE, width, { shares, compares: true })
    const room = found.own ? width : width - found.says - 16
    const needs = 6 * (widthOf('<1→>99%', 12) + found.pad) + 5 * found.gap
    assert.equal(found.all, needs <= room, `${width}`)
  }
  assert.equal(way(['a', 'b'], 366, { shares: ['−0.123456789', '12345.678901'] }).own, true)
})
