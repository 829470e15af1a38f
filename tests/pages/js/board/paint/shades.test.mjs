import assert from 'node:assert/strict'
import test from 'node:test'

import { STEPS, colours } from '../../../../../attention/pages/js/board/paint/scales.js'
import {
  BLANK,
  BROKEN,
  HIDDEN,
  LAST,
  inks,
  isHidden,
  pixels,
  strongest,
  struck
} from '../../../../../attention/pages/js/board/paint/shades.js'

const flat = colour => [[0, colour], [1, colour]]
const palette = {
  share: [[0, '#000000'], [0.5, '#804020'], [1, '#ffffff']],
  hidden: flat('#010203'),
  broken: flat('#040506'),
  blank: flat('#070809')
}

test('a colour between two stops is their mixture', () => {
  const table = colours(palette.share)
  assert.equal(table.length, STEPS + 1)
  assert.deepEqual([table[0], table[STEPS / 2], table[STEPS]], [
    [0, 0, 0],
    [128, 64, 32],
    [255, 255, 255]
  ])
  assert.deepEqual(table[STEPS / 4], [64, 32, 16])
})

test('each shade is four bytes of a picture', () => {
  const table = inks('share', palette)
  const bytes = code => [...new Uint8Array(table.buffer, 4 * code, 4)]
  assert.deepEqual(bytes(0), [0, 0, 0, 255])
  assert.deepEqual(bytes(LAST), [255, 255, 255, 255])
  assert.deepEqual(bytes(HIDDEN), [1, 2, 3, 255])
  assert.deepEqual(bytes(BROKEN), [4, 5, 6, 255])
  assert.deepEqual(bytes(BLANK), [7, 8, 9, 255])
})

// The strongest of each pixel's cells, by a loop over pixels.
const expected = ({ codes, n, m }, high, wide, rank) =>
  Array.from({ length: high * wide }, (_, at) => {
    const [row, column] = [Math.floor(at / wide), at % wide]
    let found = HIDDEN
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < m; j++) {
        const isHere = Math.floor((i * high) / n) === row && Math.floor((j * wide) / m) === column
        if (isHere && rank(codes[i * m + j]) > rank(found)) found = codes[i * m + j]
      }
    }
    return found
  })

test('of cells that share a pixel the one furthest from 0 is shown', () => {
  const [n, m] = [30, 47]
  const codes = Uint8Array.from({ length: n * m }, (_, k) => (k * 7919) % 256)
  for (let k = 0; k < codes.length; k++) if (codes[k] === BLANK) codes[k] = 0
  for (const [role, middle] of [['share', 0], ['diverging', LAST / 2]]) {
    const rank = code => {
      if (code === HIDDEN) return -1
      return code === BROKEN ? Infinity : Math.abs(code - middle)
    }
    const pane = { codes, n, m, spec: { role } }
    for (const [high, wide] of [[30, 47], [7, 11], [1, 1], [30, 5]]) {
      assert.deepEqual(
        [...strongest(pane, high, wide)].map(rank),
        expected(pane, high, wide, rank).map(rank)
      )
    }
  }
})

test('a single weight among hundreds keeps its pixel, a hidden one none of it', () => {
  const codes = new Uint8Array(512 * 512).fill(LAST / 2)
  codes[301 * 512 + 301] = LAST
  codes.fill(HIDDEN, 0, 512)
  const pane = { codes, n: 512, m: 512, spec: { role: 'diverging' } }
  const found = strongest(pane, 200, 200)
  const place = Math.floor((301 * 200) / 512)
  assert.deepEqual([...found.keys()].filter(k => found[k] === LAST), [place * 200 + place])
  assert.ok(!found.includes(HIDDEN))
})

test('a picture of cells has no more pixels than the screen, and is kept', () => {
  let puts = 0
  globalThis.document = {
    createElement: () => ({
      getContext: () => ({
        createImageData: (width, height) => ({ data: new Uint8Array(4 * width * height) }),
        putImageData: () => puts++
      })
    })
  }
  const codes = new Uint8Array(12).fill(LAST)
  const pane = { codes, n: 3, m: 4, spec: { role: 'share' } }
  const size = (wide, high) => {
    const { width, height } = pixels(pane, palette, wide, high)
    return [width, height, puts]
  }
  assert.deepEqual(size(400, 300), [4, 3, 1])
  assert.deepEqual(size(800, 600), [4, 3, 1])
  assert.deepEqual(size(2, 0.2), [2, 1, 2])
  pane.codes = codes.slice()
  assert.deepEqual(size(2, 1), [2, 1, 2]) // the same shades once more
  pane.codes = codes.with(11, 0)
  assert.deepEqual(size(2, 1), [2, 1, 3])
})

test('hidden cells are struck through, small ones so that lines stay apart', () => {
  const codes = new Uint8Array(100).fill(HIDDEN)
  codes[0] = 0
  const pane = { codes, n: 10, m: 10 }
  assert.ok(!isHidden(pane, 0, 0) && isHidden(pane, 9, 9))
  assert.equal(struck(pane, 20).length, 99)
  assert.deepEqual(struck(pane, 0), [])
  const found = struck(pane, 2) // three cells from line to line
  assert.ok(found.length > 30 && found.every(([i, j]) => (i + j) % 3 === 0))
  const part = struck(pane, 2, [4, 7], [5, 9])
  const inside = found.filter(([i, j]) => i >= 4 && i <= 7 && j >= 5)
  assert.deepEqual(part, inside)
})
