import assert from 'node:assert/strict'
import test from 'node:test'

import {
  aligned,
  flow,
  linesOf,
  pictured,
  presented,
  widened
} from '../../../../../attention/pages/js/board/layout/flow.js'
import { widthOf } from '../../widths.mjs'

const SMALLEST = 10.5 // px: letters
const WIDTHS = [336, 366, 700, 904, 1110, 1070, 1624]
const words = (count, word) => Array.from({ length: count }, (_, k) => `${word}${k}`)
const pane = (rows, cols, more = {}) => ({
  ...{ rows, cols, ems: widthOf('−12.50', 1) },
  ...{ rowWords: words(rows, 'the'), columnWords: words(cols, 'cat'), corner: [], ...more }
})
const SHAPES = [[1, 1], [4, 4], [6, 6], [6, 12], [12, 6], [24, 24], [16, 64], [64, 16], [512, 512]]
const textless = (rows, cols) => pane(rows, cols, { ems: null })

const within = place => place.width - place.left - place.right

test('cells, labels and edges are inside the width they were given', () => {
  for (const width of WIDTHS) {
    for (const [rows, cols] of SHAPES) {
      for (const make of [pane, textless]) {
        const { places, columns, column } = flow([make(rows, cols)], width, widthOf)
        const [place] = places
        assert.ok(place.width <= width + 0.01, `${rows} × ${cols} in ${width}: ${place.width}`)
        assert.ok(within(place) > 0 && place.height > 0)
        assert.ok(place.width <= column && columns === 1)
      }
    }
  }
})

test('a column is as wide as the widest pane, and as many are side by side as have room', () => {
  const panes = [pane(4, 4), pane(4, 6), pane(4, 2), pane(4, 4)]
  const { places, columns, column } = flow(panes, 1110, widthOf)
  assert.equal(column, Math.ceil(Math.max(...places.map(({ width }) => width))))
  assert.ok(columns * column + (columns - 1) * 16 <= 1110)
  assert.ok((columns + 1) * column + columns * 16 > 1110 || columns === panes.length)
})

test('a column has room for the longest heading, and is no wider than the page', () => {
  const panes = [pane(4, 4), pane(4, 4, { heading: 310.2 })]
  assert.equal(flow(panes, 1110, widthOf).column, 311)
  assert.equal(flow(panes, 300, widthOf).column, 300)
})

test('columns of groups stand below each other, except where fewer would have room', () => {
  const three = { columns: 3, column: 200 }
  assert.deepEqual(aligned([three, { columns: 3, column: 253 }], 1070), [253, 253])
  assert.deepEqual(aligned([three, { columns: 1, column: 700 }], 1070), [200, 700])
  assert.deepEqual(aligned([three, { columns: 3, column: 253 }], 3 * 253 + 2 * 16), [253, 253])
  assert.deepEqual(aligned([three, { columns: 2, column: 253 }], 3 * 253 + 31), [200, 253])
  assert.deepEqual(aligned([], 1070), [])
})

test('a lone pane keeps its width, and groups that share a line go on to share it', () => {
  const [three, one] = [{ columns: 3, column: 200 }, { columns: 1, column: 199 }]
  assert.deepEqual(aligned([one, three, { columns: 3, column: 253 }], 1070), [199, 253, 253])
  const both = [{ columns: 2, column: 200 }, { columns: 2, column: 300 }]
  assert.deepEqual(aligned(both, 4 * 300 + 3 * 16), [300, 300])
  assert.deepEqual(aligned(both, 2 * 200 + 2 * 300 + 3 * 16), [200, 300])
  assert.deepEqual(aligned(both, 2 * 200 + 2 * 300 + 3 * 16 - 1), [300, 300])
})

test('columns that have a line to themselves take its room, and no more height', () => {
  for (const width of [1070, 1144, 1624]) {
    const panes = [pane(6, 6), pane(6, 6), pane(6, 6)]
    const found = flow(panes, width, widthOf)
    const wide = widened(panes, found, width, widthOf)
    assert.equal(wide.columns, found.columns)
    assert.ok(wide.column > found.column)
    assert.ok(wide.columns * wide.column + (wide.columns - 1) * 16 <= width)
    wide.places.forEach((place, k) => {
      assert.ok(place.px >= found.places[k].px && place.height <= found.places[k].height)
      assert.ok(within(place) / 6 === 54 || width - 3 * place.width < 3 * 16)
    })
  }
  assert.ok(!widened([pane(6, 6)], { columns: 1, column: 300 }, 1070, widthOf))
  const colours = [textless(6, 6), textless(6, 6)]
  assert.ok(!widened(colours, flow(colours, 1070, widthOf), 1070, widthOf))
})

test('groups that fit side by side share a line', () => {
  const groups = [{ columns: 3 }, { columns: 3 }]
  assert.equal(linesOf(groups, [150, 150], 6 * 150 + 5 * 16), 1)
  assert.equal(linesOf(groups, [150, 151], 6 * 150 + 5 * 16), 2)
})

test('on a phone panes are below each other', () => {
  const { columns } = flow([pane(6, 6), pane(6, 6)], 336, widthOf)
  assert.equal(columns, 1)
})

test('numbers are large enough to read and have room in their cells, or are colours', () => {
  for (const width of WIDTHS) {
    for (const [rows, cols] of SHAPES) {
      const given = pane(rows, cols)
      const [place] = flow([given], width, widthOf).places
      if (!place.px) continue
      assert.ok(place.px >= SMALLEST, `${rows} × ${cols} in ${width}: ${place.px} px`)
      assert.ok(place.px * given.ems < within(place) / cols)
      assert.ok(place.px < place.height / rows)
    }
  }
})

test('usual panes have numbers, many cells or wide numbers are colours', () => {
  const px = (given, width) => flow([given], width, widthOf).places[0].px
  for (const width of WIDTHS) assert.ok(px(pane(4, 4), width) >= 12, `${width}`)
  assert.ok(px(pane(6, 6), 366) >= SMALLEST)
  assert.equal(px(textless(4, 4), 1110), 0)
  assert.equal(px(pane(64, 64), 366), 0)
  assert.equal(px(pane(4, 12, { ems: 9 }), 366), 0)
})

test('more decimals never make letters larger', () => {
  let before = Infinity
  for (let ems = 1; ems < 12; ems += 0.25) {
    const { px } = flow([pane(6, 6, { ems })], 700, widthOf).places[0]
    assert.ok(px <= before)
    before = px
  }
  assert.equal(before, 0)
})

test('words over narrow columns are aslant or upright, with room above', () => {
  const slant = (given, width) => flow([given], width, widthOf).places[0].columns
  assert.equal(slant(pane(4, 4), 700).slant, 0)
  const long = { columnWords: words(6, 'understanding') }
  const aslant = slant(pane(6, 6, long), 366)
  assert.ok(aslant.slant > 0)
  assert.ok(aslant.room > slant(pane(6, 6), 700).room)
})

test('a long word beside the cells takes no more than a share of them', () => {
  const given = pane(6, 6, { rowWords: words(6, 'counterrevolutionaries') })
  const [place] = flow([given], 366, widthOf).places
  assert.ok(place.left <= 0.35 * 366 + 11)
  assert.ok(place.rows.room < place.left)
})

test('in a picture the cells fill its width, beside the colour bar', () => {
  for (const bar of [false, true]) {
    for (const given of [pane(4, 4), pane(6, 12), textless(64, 64), textless(512, 512)]) {
      const place = pictured({ ...given, bar }, 900, widthOf)
      const { rows, cols } = given
      assert.ok(place.width <= 900.01 && place.width > 800, `${rows} × ${cols}: ${place.width}`)
      assert.equal(place.bar, bar)
      if (bar) assert.ok(place.right >= 50)
    }
  }
})

test('a picture has room for more numbers than the page', () => {
  const given = { ...pane(16, 16), bar: true }
  assert.equal(flow([given], 500, widthOf).places[0].px, 0)
  assert.ok(pictured(given, 900, widthOf).px >= SMALLEST)
})

test('presented side by side, or below each other, numbers are for a room', () => {
  const three = [pane(4, 4), pane(4, 4), pane(4, 4)]
  for (const [width, height, least] of [[1863, 850, 28], [1313, 590, 20], [366, 700, 15]]) {
    const { places, column } = presented(three, { width, height }, widthOf)
    const beside = width > height
    for (const place of places) {
      assert.ok(place.px >= least, `${width} × ${height}: ${place.px}`)
      assert.ok(place.width <= column + 0.01)
      assert.ok((place.top + place.height) * (beside ? 1 : 3) <= height)
    }
    assert.ok(beside ? 3 * column + 32 <= width + 0.01 : column === width)
  }
})
