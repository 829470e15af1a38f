import assert from 'node:assert/strict'
import test from 'node:test'

import {
  BLANK,
  BROKEN,
  HIDDEN,
  LAST
} from '../../../../../attention/pages/js/board/paint/shades.js'
import { toSvg } from '../../../../../attention/pages/js/board/paint/svg.js'

const flat = colour => [[0, colour], [1, colour]]
const palette = {
  share: [[0, '#000000'], [1, '#fcfcfc']],
  hidden: flat('#010203'),
  broken: flat('#040506'),
  blank: flat('#070809'),
  ...{ ink: '#111111', paper: '#eeeeee', stroke: '#222222', query: '#333333', cell: '#444444' }
}
// Two rows of three cells, each 20 × 10, right of labels of 30 px and below ones of 15.
const sides = { left: 30, right: 6, top: 15, bottom: 4 }
const places = { ...sides, width: 96, height: 20, small: 9, bar: false }
const pane = (more = {}, spec = {}) => ({
  ...{ n: 2, m: 3, places, codes: Uint8Array.of(0, 84, LAST, HIDDEN, BROKEN, BLANK) },
  swap: place => place,
  ...more,
  spec: { role: 'share', limits: [0, 1], marks: [], ...spec }
})
const none = { rows: [], columns: [], corner: [], bar: [] }
const heading = { parts: [{ text: 'X', low: false }], size: 14, x: 30, y: 20 }
const size = { size: 0, above: 40, width: 96 }
const how = { labels: none, texts: null, ...size, heading, font: 'Arial', palette }
const written = (some = pane(), more = {}) => toSvg(some, { ...how, ...more })

// The tags of a name, each as a record of its attributes and what is inside.
const tags = (svg, name) =>
  [...svg.matchAll(new RegExp(`<${name}((?: [\\w-]+="[^"]*")*)(?:/>|>([^<]*))`, 'g'))].map(
    ([, attributes, inside]) => {
      const pairs = [...attributes.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, ...pair]) => pair)
      return { ...Object.fromEntries(pairs), inside }
    }
  )
const cells = svg => tags(svg, 'rect').filter(({ fill, x }) => x && fill !== 'none')

test('each cell is a rectangle at its place in the colour of its shade', () => {
  const found = cells(written())
  assert.deepEqual(found.map(({ fill }) => fill), [
    ...['#000000', '#545454', '#fcfcfc'],
    ...['#010203', '#040506', '#070809']
  ])
  const { x, y, width, height } = found[4] // with half a pixel of edge on each side
  assert.deepEqual([x, y, width, height].map(Number), [50.5, 25.5, 19, 9])
})

test('small cells touch, so that no paper is seen between them', () => {
  const low = { ...places, height: 8 }
  const [first] = cells(written(pane({ places: low })))
  assert.deepEqual([first.x, first.width, first.height].map(Number), [30, 20, 4])
})

test('only hidden cells are struck through, from corner to corner', () => {
  const [{ d, stroke }, ...others] = tags(written(), 'path')
  assert.deepEqual([d, stroke, others], ['M30 35L50 25', palette.stroke, []])
})

test('numbers are text in the middle of their cells', () => {
  const texts = [['1', '2', '3'], ['4', '\u2212∞', '?']]
  const found = tags(written(pane(), { texts, size: 10 }), 'text').filter(({ inside }) => inside)
  assert.deepEqual(found.map(({ inside }) => inside), texts.flat())
  const { x, y, 'text-anchor': anchor, 'font-size': size } = found[4]
  assert.deepEqual([x, y, anchor, size], ['60', '33.5', 'middle', '10'])
})

test('labels stand where they are laid, upright ones turned', () => {
  const labels = {
    ...none,
    rows: [{ text: 'the', x: 25, y: 20, size: 11, align: 'right' }],
    columns: [{ text: 'cat', x: 40, y: 10, size: 11, align: 'left', angle: 90 }]
  }
  const [, row, column] = tags(written(pane(), { labels }), 'text')
  assert.deepEqual([row.inside, row.x, row['text-anchor']], ['the', '25', 'end'])
  assert.deepEqual([column.inside, column.transform], ['cat', 'translate(40 10) rotate(-90)'])
})

test('what was typed stays text, without signs that no XML has', () => {
  const text = '<b>"&\u0000\u000b\ufffe</b>'
  const labels = { ...none, rows: [{ text, x: 0, y: 0, size: 11, align: 'right' }] }
  const svg = written(pane(), { labels, font: '"Source Sans", Arial' })
  assert.ok(svg.includes('>&#60;b&#62;&#34;&#38;&#60;/b&#62;<'))
  assert.ok(svg.includes('font-family="&#34;Source Sans&#34;, Arial"'))
})

test('the heading stands above, its indices low', () => {
  const parts = ['X W', 'Q', ' · a'].map((text, k) => ({ text, low: k === 1 }))
  const found = tags(written(pane(), { heading: { ...heading, parts } }), 'tspan')
  assert.deepEqual(found.map(({ inside }) => inside), ['X W', 'Q', ' · a'])
  const falls = found.map(({ dy }) => Number(dy))
  assert.ok(falls[0] === 0 && falls[1] > 0 && falls[2] === -falls[1])
  const [root] = tags(written(), 'svg')
  assert.deepEqual([root.width, root.height], ['96', '79'])
})

test('the query and the chosen cell are framed', () => {
  const marks = [['query', 1, null], ['cell', 0, 2]]
  const found = tags(written(pane({}, { marks })), 'rect').filter(({ fill }) => fill === 'none')
  const boxes = found.map(({ x, y, width, height }) => [x, y, width, height].map(Number))
  assert.deepEqual(boxes, [[30, 25, 60, 10], [70, 15, 20, 10]])
  assert.deepEqual(found.map(({ stroke }) => stroke), [palette.query, palette.cell])
})

test('a large pane has one path for each shade', () => {
  const codes = Uint8Array.of(0, 0, LAST, HIDDEN, HIDDEN, 0)
  const [dark, light, hidden] = tags(written(pane({ codes }, { large: true })), 'path')
  assert.deepEqual([dark.fill, dark.d], ['#000000', 'M0 0h1v1h-1zM1 0h1v1h-1zM2 1h1v1h-1z'])
  assert.deepEqual([light.fill, light.d], ['#fcfcfc', 'M2 0h1v1h-1z'])
  assert.equal(hidden.fill, '#010203')
})

test('a bar goes through the colours of the scale', () => {
  const svg = written(pane({ places: { ...places, bar: true, right: 38 } }))
  const stops = tags(svg, 'stop').map(stop => stop['stop-color'])
  assert.deepEqual([stops[0], stops.at(-1)], ['#000000', '#fcfcfc'])
})
