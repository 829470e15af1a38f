import assert from 'node:assert/strict'
import test from 'node:test'

import { labelsOf } from '../../../../../attention/pages/js/board/paint/labels.js'
import { widthOf } from '../../widths.mjs'

const WORDS = ['the', 'animal', 'because', 'because']
const look = { measure: widthOf, query: -1, key: -1, waiting: [], palette: {} }
const axes = { x: j => 10 + 20 * j, y: i => 10 * i, across: 20, columns: [0, 3], rows: [0, 0] }

// The words over four columns of 20 px, in a pane that is so wide.
const over = (width, slant) => {
  const columns = { px: 11, slant, room: 50, kind: 'keys' }
  const pane = { spec: {}, labels: { columns: WORDS }, places: { width, top: 60, columns } }
  return labelsOf(pane, axes, look).columns
}

test('a slanted word is cut where its pane ends, not drawn past it', () => {
  assert.deepEqual(over(200, 45).map(({ text }) => text), WORDS)
  const texts = over(90, 45).map(({ text }) => text)
  assert.deepEqual(texts.slice(0, 3), WORDS.slice(0, 3))
  assert.match(texts[3], /^b[a-z]*…$/)
  for (const { text, x, size } of over(90, 45)) assert.ok(x + 0.72 * widthOf(text, size) <= 91)
})

test('an upright word has the height that there is', () => {
  assert.deepEqual(over(90, 90).map(({ text }) => text), WORDS)
})
