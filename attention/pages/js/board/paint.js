// Painting a heatmap on its canvas: cells, numbers, labels, frames and colour bar. `pane.places`
// says where, and `pane.view` which rows and columns, where a part is seen closer.

import { numbersOf } from './fit.js'
import { labelsOf } from './labels.js'
import { axesOf, framesOf } from './part.js'
import { STEPS, colours } from './scales.js'
import { pixels, struck } from './shades.js'
import { LETTER, shortened } from './text.js'

const GLOW = 900 // ms: what changed is marked that long
const FADING = 'steps(8)' // without a graphics card each step costs as much as a frame
const MANY = 4096 // cells: more than this are not marked one by one

/**
 * A canvas of this size in CSS pixels, sharp on this screen, and empty.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 */
export const sized = (canvas, width, height, ratio = window.devicePixelRatio || 1) => {
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)]
  if (canvas.width !== w || canvas.height !== h) {
    Object.assign(canvas, { width: w, height: h })
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` })
  }
  const context = canvas.getContext('2d')
  context.setTransform(ratio, 0, 0, ratio, 0, 0)
  context.clearRect(0, 0, width, height)
  return context
}

/**
 * Paint all of a pane. What was painted is kept on the canvas as `painted`, for whoever asks.
 * @param {Pane} pane
 * @param {Palette} palette
 * @param {string} font
 * @param {Operation[]} waiting
 */
export const paint = (pane, palette, font, waiting) => {
  const { places } = pane
  const { left, right, top, bottom, width, height } = places
  const context = sized(pane.canvas, width, top + height + bottom, pane.fine)
  const axes = axesOf(pane)
  context.save()
  context.beginPath()
  context.rect(left - 1, top - 1, width - left - right + 2, height + 2)
  context.clip()
  paintCells(context, pane, palette, axes)
  paintStrokes(context, pane, palette, axes)
  Object.assign(context, { textAlign: 'center', textBaseline: 'middle' })
  const numbers = paintNumbers(context, pane, palette, font, axes, waiting)
  paintFrames(context, pane, palette, axes)
  context.restore()
  if (places.bar) paintBar(context, pane, palette)
  const labels = labelsOf(pane, axes, waiting)
  Object.assign(context, { textBaseline: 'middle', fillStyle: palette.ink })
  for (const label of Object.values(labels).flat()) paintLabel(context, label, font)
  if (pane.row >= 0) fade(context, pane, palette, font, axes)
  const { z, codes } = pane
  const written = Object.entries(labels).map(([name, some]) => [name, some.map(({ text }) => text)])
  pane.canvas.painted = { z, codes, ...numbers, ...Object.fromEntries(written), axes }
}

const paintCells = (context, pane, palette, { x, y, across, down, columns, rows }) => {
  const ratio = context.getTransform().a
  const image = pixels(pane, palette, across * pane.m * ratio, down * pane.n * ratio)
  // several cells in one pixel: that pixel is one of the screen's
  const side = (few, count, start, length) =>
    few < count ? [Math.round(start * ratio) / ratio, few / ratio] : [start, length]
  const [left, width] = side(image.width, pane.m, x(-0.5), across * pane.m)
  const [top, height] = side(image.height, pane.n, y(-0.5), down * pane.n)
  context.imageSmoothingEnabled = false
  context.drawImage(image, left, top, width, height)
  if (Math.min(across, down) < 6) return
  const [right, bottom] = [x(columns[1] + 0.5), y(rows[1] + 0.5)]
  for (let j = columns[0]; j <= columns[1] + 1; j++) {
    context.clearRect(Math.round(x(j - 0.5)) - 0.5, y(rows[0] - 0.5) - 1, 1, bottom)
  }
  for (let i = rows[0]; i <= rows[1] + 1; i++) {
    context.clearRect(x(columns[0] - 0.5) - 1, Math.round(y(i - 0.5)) - 0.5, right, 1)
  }
}

const paintStrokes = (context, pane, palette, { x, y, across, down, columns, rows }) => {
  context.beginPath()
  for (const [i, j] of struck(pane, Math.min(across, down), rows, columns)) {
    context.moveTo(x(j - 0.5), y(i + 0.5))
    context.lineTo(x(j + 0.5), y(i - 0.5))
  }
  Object.assign(context, { strokeStyle: palette.stroke, lineWidth: 1 })
  context.stroke()
}

/**
 * A cell without its edge; one that has no room for an edge is all of it.
 * @returns {[left: number, top: number, width: number, height: number]}
 */
const within = (left, top, wide, high) => {
  const [across, down] = [wide, high].map(side => (side > 4 ? 1 : 0))
  return [left + across, top + down, wide - 2 * across, high - 2 * down]
}

const paintNumbers = (context, pane, palette, font, axes, waiting) => {
  const { x, y, across, down, columns, rows } = axes
  const { texts, size, note } = numbersOf(pane, axes)
  context.font = `${size}px ${font}`
  context.fillStyle = palette.ink
  const own = new Set(
    waiting.filter(({ kind }) => kind === 'cell').map(op => `${op.row} ${op.column}`)
  )
  if (size) {
    for (let i = rows[0]; i <= rows[1]; i++) {
      for (let j = columns[0]; j <= columns[1]; j++) {
        if (!own.size || !own.has(`${i} ${j}`)) context.fillText(texts[i][j], x(j), y(i))
      }
    }
  }
  for (const { kind, row, column, text } of waiting) {
    if (!['cell', 'mask'].includes(kind)) continue
    context.fillStyle = palette.paper + 'cc'
    if (kind === 'mask')
      context.fillStyle = text === '1' ? palette.paper + 'cc' : palette.hidden[0][1]
    context.fillRect(...within(x(column - 0.5), y(row - 0.5), across, down))
    if (kind !== 'cell' || across < 14) continue
    const room = (across - 3) / (LETTER * Math.max(text.length, 1))
    context.font = `italic ${Math.min(size || 13, room)}px ${font}`
    context.fillStyle = palette.ink
    context.fillText(text.replace('-', '\u2212'), x(column), y(row))
  }
  return { texts: size ? texts : null, size, note }
}

/**
 * Take most of what is painted away from all rows but one, whose label is then seen, if no other.
 * @param {any} context
 * @param {Pane} pane
 */
const fade = (context, { places, row, spec }, palette, font, { y }) => {
  const { left, width, right, top, height, labelSize } = places
  const [above, below, cells] = [y(row - 0.5), y(row + 0.5), width - left - right + 1]
  context.save()
  Object.assign(context, { globalCompositeOperation: 'destination-out', fillStyle: '#000000c4' })
  context.fillRect(left, top - 1, cells, above - top + 1)
  context.fillRect(left, below, cells, top + height + 1 - below)
  context.fillRect(0, top - labelSize, left - 1, height + 2 * labelSize)
  context.restore()
  context.font = `${labelSize}px ${font}`
  context.clearRect(0, y(row) - 0.65 * labelSize, left - 1, 1.3 * labelSize)
  Object.assign(context, { fillStyle: palette.ink, textAlign: 'right', textBaseline: 'middle' })
  context.fillText(shortened(spec.rows[row], left - 10, labelSize), left - 5, y(row))
}

const paintFrames = (context, pane, palette, axes) => {
  for (const { role, line, x, y, width, height } of framesOf(pane, axes)) {
    Object.assign(context, { strokeStyle: palette[role], lineWidth: line })
    context.strokeRect(x, y, width, height)
  }
}

/** @param {CanvasRenderingContext2D} context @param {Label} label @param {string} font */
const paintLabel = (context, { text, x, y, size, align, turned }, font) => {
  context.save()
  Object.assign(context, { font: `${size}px ${font}`, textAlign: align })
  context.translate(x, y)
  if (turned) context.rotate(-Math.PI / 2)
  context.fillText(text, 0, 0)
  context.restore()
}

const paintBar = (context, { places, spec }, palette) => {
  const { width, top, height, right, small } = places
  const table = colours(palette[spec.role])
  for (let k = 0; k < height; k++) {
    const share = 1 - k / Math.max(height - 1, 1)
    context.fillStyle = `rgb(${table[Math.round(share * STEPS)].map(Math.round).join()})`
    context.fillRect(width - right + 5, top + k, small / 2, 1.5)
  }
}

// Whether the person asked for less motion.
const stillness = () => window.matchMedia('(prefers-reduced-motion: reduce)').matches

/**
 * Outline for a moment the cells whose number is another than before.
 * @param {Pane} pane
 * @param {Float64Array[] | undefined} before
 * @param {string} colour
 */
export const glow = (pane, before, colour) => {
  if (
    stillness() ||
    !pane.places ||
    before?.length !== pane.n ||
    before[0].length !== pane.m ||
    pane.n * pane.m > MANY
  )
    return
  const changed = []
  pane.z.forEach((row, i) => {
    row.forEach((value, j) => Object.is(value, before[i][j]) || changed.push([i, j]))
  })
  pane.frame.dataset.changed = changed.length
  if (!changed.length) return
  const { width, top, height, bottom } = pane.places
  const context = sized(pane.glow, width, top + height + bottom)
  const { x, y, across, down } = axesOf(pane)
  Object.assign(context, { strokeStyle: colour, lineWidth: 2 })
  const all = changed.length === pane.n * pane.m // then one outline says it
  if (all) context.strokeRect(...within(x(-0.5), y(-0.5), across * pane.m, down * pane.n))
  for (const [i, j] of all ? [] : changed) {
    context.strokeRect(...within(x(j - 0.5), y(i - 0.5), across, down))
  }
  pane.glow.animate([{ opacity: 1 }, { opacity: 0 }], { duration: GLOW, easing: FADING })
}
