// Cells in colours: a byte for each, row by row, as Python sends them.

import { STEPS, colours } from './scales.js'

export const LAST = 252 // the shade of the upper limit; 0 is that of the lower one
export const HIDDEN = 254
export const BROKEN = 255
export const BLANK = 253 // to be filled in; what waits for that has the colour of 0
const APART = 6 // px between the strokes through hidden cells

/** @param {Pick<Pane, 'codes' | 'm'>} pane @param {number} i @param {number} j */
export const isHidden = ({ codes, m }, i, j) => codes[i * m + j] === HIDDEN

/**
 * Hidden cells are struck through, so that they differ by more than their colour; where they are
 * small, only so many that the lines stay apart. Each is [row, column], of those from the first to
 * the last row and column.
 * @param {Pane} pane
 * @param {number} cell
 */
export const struck = (pane, cell, rows = [0, pane.n - 1], columns = [0, pane.m - 1]) => {
  /** @type {Cell[]} */
  const found = []
  if (cell <= 0) return found // a pane without room
  const step = Math.ceil(APART / cell)
  for (let i = rows[0]; i <= rows[1]; i++) {
    const before = (i + columns[0]) % step // the same lines, wherever the part begins
    for (let j = columns[0] + ((step - before) % step); j <= columns[1]; j += step) {
      if (isHidden(pane, i, j)) found.push([i, j])
    }
  }
  return found
}

/**
 * The colour of each shade, as red, green and blue.
 * @param {string} role
 * @param {Palette} palette
 */
export const coloured = (role, palette) => {
  const table = colours(palette[role])
  const shown = Array.from({ length: LAST + 1 }, (_, k) => table[Math.round((k / LAST) * STEPS)])
  shown[HIDDEN] = colours(palette.hidden)[0]
  shown[BROKEN] = colours(palette.broken)[0]
  shown[BLANK] = colours(palette.blank)[0]
  return shown
}

/** @type {Map<string, Uint32Array>} */
const tables = new Map() // by what they are made of: each answer brings a palette of its own

// The same, as four bytes of a picture in one number.
export const inks = (role, palette) => {
  const key = [palette[role], palette.hidden, palette.broken, palette.blank].join(';')
  let table = tables.get(key)
  if (!table) {
    const bytes = new Uint8ClampedArray(4 * 256)
    coloured(role, palette).forEach((colour, code) => bytes.set([...colour, 255], 4 * code))
    tables.set(key, (table = new Uint32Array(bytes.buffer)))
  }
  return table
}

/**
 * The shades in fewer rows and columns. Of the cells that share a pixel the one furthest from 0 is
 * shown, so that no single large weight is lost; a hidden one only where all are.
 * @param {Pick<Pane, 'codes' | 'n' | 'm' | 'spec'>} pane
 * @param {number} rows
 * @param {number} columns
 */
export const strongest = ({ codes, n, m, spec }, rows, columns) => {
  const middle = spec.role === 'share' ? 0 : LAST / 2
  const rank = Uint16Array.from({ length: 256 }, (_, code) => 1 + Math.abs(code - middle))
  rank[HIDDEN] = 0
  rank[BROKEN] = 1000
  const place = Uint16Array.from({ length: m }, (_, j) => Math.floor((j * columns) / m))
  const found = new Uint8Array(rows * columns).fill(HIDDEN)
  for (let i = 0; i < n; i++) {
    const start = Math.floor((i * rows) / n) * columns
    for (let j = 0; j < m; j++) {
      const code = codes[i * m + j]
      if (rank[code] > rank[found[start + place[j]]]) found[start + place[j]] = code
    }
  }
  return found
}

const sameCodes = (one, other) =>
  one === other || (one.length === other.length && one.every((code, k) => code === other[k]))

/**
 * The cells, one pixel each, to be drawn on so many pixels of the screen; or as many as these are.
 * They are kept until they are others.
 * @param {Pane} pane
 * @param {Palette} palette
 * @param {number} wide
 * @param {number} high
 */
export const pixels = (pane, palette, wide, high) => {
  const canvas = (pane.pixels ??= document.createElement('canvas'))
  const { codes, n, m } = pane
  const dots = (count, room) => Math.max(Math.min(count, Math.round(room)), 1)
  const [width, height] = [dots(m, wide), dots(n, high)]
  const table = inks(pane.spec.role, palette)
  const same = canvas.table === table && sameCodes(canvas.codes, codes)
  if (same && canvas.width === width && canvas.height === height) return canvas
  if (canvas.width !== width) canvas.width = width
  if (canvas.height !== height) canvas.height = height
  Object.assign(canvas, { codes, table })
  const shown = width < m || height < n ? strongest(pane, height, width) : codes
  const context = canvas.getContext('2d')
  const image = context.createImageData(width, height)
  const picture = new Uint32Array(image.data.buffer)
  for (let k = 0; k < shown.length; k++) picture[k] = table[shown[k]]
  context.putImageData(image, 0, 0)
  return canvas
}
