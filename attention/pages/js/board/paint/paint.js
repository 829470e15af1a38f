// Painting a heatmap on its canvas: cells, numbers, labels and frames. `pane.places` says where,
// and `pane.view` which rows and columns, where a part is seen closer.

import { labelsOf } from './labels.js'
import { axesOf, framesOf, transposed } from './part.js'
import { RULES } from '../layout/rules.js'
import { STEPS, colours } from './scales.js'
import { pixels, struck } from './shades.js'
import { formsOf } from './written.js'

const GLOW = 900 // ms: what changed is marked that long
const FADING = 'steps(8)' // without a graphics card each step costs as much as a frame
const MANY = 4096 // cells: more than this are not marked one by one
const BOLD = 650
const FALL = 0.04 // of the size: from the middle of a line to that of its letters
const BAR = 5 // px: the width of a colour bar

const ratioNow = () => window.devicePixelRatio || 1

// Let a canvas have this size in CSS pixels. What it has already is not set, as that empties it.
const resize = (canvas, width, height, ratio) => {
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)]
  if (canvas.width === w && canvas.height === h) return
  if (canvas.width !== w) canvas.width = w
  if (canvas.height !== h) canvas.height = h
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` })
}

// Let the canvas of a pane have the size of its frame.
export const fit = ({ canvas, places, fine = ratioNow() }) =>
  resize(canvas, places.width, places.top + places.height + places.bottom, fine)

// A canvas of this size in CSS pixels, sharp on this screen, and empty.
export const sized = (canvas, width, height, ratio = ratioNow()) => {
  resize(canvas, width, height, ratio)
  const context = canvas.getContext('2d')
  context.setTransform(ratio, 0, 0, ratio, 0, 0)
  context.clearRect(0, 0, width, height)
  return context
}

/**
 * Paint all of a pane, unless it is behind another. What is painted is kept on the canvas as
 * `painted`, for whoever asks.
 * @param {Pane} pane
 * @param {Look} look
 */
export const paint = (pane, look, isBehind = false) => {
  const axes = axesOf(pane)
  const written = inCells(pane, axes, look)
  const labels = labelsOf(pane, axes, look)
  pane.canvas.painted = paintedOf(pane, written, labels, axes)
  if (isBehind) return
  const { left, right, top, bottom, width, height } = pane.places
  const context = sized(pane.canvas, width, top + height + bottom, pane.fine)
  context.save()
  context.beginPath()
  context.rect(left - 1, top - 1, width - left - right + 2, height + 2)
  context.clip()
  paintCells(context, pane, look, axes)
  paintStrokes(context, pane, look, axes)
  paintNumbers(context, pane, look, axes, written)
  paintFrames(context, pane, look, axes)
  context.restore()
  paintLabels(context, Object.values(labels).flat(), look.font)
  if (pane.places.bar) paintBar(context, pane, look)
}

// What was painted, with K as K has it.
const paintedOf = (pane, { texts, size, note }, labels, axes) => {
  const { z, codes, turned } = pane
  const said = part => labels[part].map(({ text }) => text)
  const [rows, columns, corner] = ['rows', 'columns', 'corner'].map(said)
  if (!turned) return { z, codes, texts, size, note, rows, columns, corner, axes }
  const own = { ...axes, rows: axes.columns, columns: axes.rows, at: (i, j) => axes.at(j, i) }
  return {
    ...{ z: z && transposed(z), codes, texts: texts && transposed(texts), size, note },
    ...{ rows: columns, columns: rows, axes: own, turned }
  }
}

// What is written in the cells and how large; of a part that is seen closer, what has room there.
export const inCells = (pane, { across, down }, { measure, decimals }) => {
  const { px, tight } = pane.places
  if (!px && !pane.view) return NONE
  const forms = formsOf(pane, decimals, measure)
  if (!forms) return NONE
  if (pane.view) return inPart(pane, [across, down], decimals, measure)
  const note = noteOf(forms)
  if (tight) return { texts: forms.tight, size: px, note }
  const whole = forms.ems.full * px + RULES.air <= across + 0.01
  return { texts: whole ? forms.full : forms.short, size: px, note }
}

const NONE = { texts: null, size: 0, note: 'in colours' }
const noteOf = ({ lost, asked }) => (lost === null ? '' : `${lost} of ${asked} decimals`)

// With as many decimals as have room, but no fewer than the board has.
const inPart = (pane, [across, down], decimals, measure) => {
  const fits = ems => Math.min(RULES.largest, RULES.leading * down, (across - RULES.air) / ems)
  const { asked } = formsOf(pane, Infinity, measure)
  for (let kept = asked; kept >= Math.min(decimals, asked); kept--) {
    const forms = formsOf(pane, kept, measure)
    for (const name of ['full', 'short', 'tight']) {
      const size = forms[name] && Math.floor(2 * fits(forms.ems[name])) / 2
      if (size >= RULES.smallest) return { texts: forms[name], size, note: noteOf(forms) }
    }
  }
  return NONE
}

const paintCells = (context, pane, { palette }, axes) => {
  const { x, y, across, down, columns, rows } = axes
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

export const tone = (scale, share) => {
  const found = colours(scale)[Math.round(Math.min(Math.max(share, 0), 1) * STEPS)]
  return `rgb(${found.map(Math.round).join()})`
}

const paintStrokes = (context, pane, { palette }, { x, y, across, down, columns, rows }) => {
  context.beginPath()
  for (const [i, j] of struck(pane, Math.min(across, down), rows, columns)) {
    context.moveTo(x(j - 0.5), y(i + 0.5))
    context.lineTo(x(j + 0.5), y(i - 0.5))
  }
  Object.assign(context, { strokeStyle: palette.stroke, lineWidth: 1 })
  context.stroke()
}

// A cell without its edge; one that has no room for an edge is all of it.
const within = (left, top, wide, high) => {
  const [across, down] = [wide, high].map(side => (side > 4 ? 1 : 0))
  return [left + across, top + down, wide - 2 * across, high - 2 * down]
}

const paintNumbers = (context, pane, look, axes, { texts, size }) => {
  const { palette, font, measure, waiting } = look
  const { x, y, across, down, columns, rows } = axes
  Object.assign(context, { textAlign: 'center', textBaseline: 'middle' })
  context.textRendering = 'geometricPrecision' // as wide as measured, not at whole pixels
  context.font = `${size}px ${font}`
  const own = new Set(
    waiting.filter(({ kind }) => kind === 'cell').map(op => `${op.row} ${op.column}`)
  )
  let ink = ''
  for (let i = rows[0]; size && i <= rows[1]; i++) {
    const middle = y(i) + size * FALL - 0.5
    for (let j = columns[0]; j <= columns[1]; j++) {
      if (own.size && own.has(`${i} ${j}`)) continue
      const colour = pane.isHidden(i, j) ? palette.onHidden : palette.ink
      if (colour !== ink) context.fillStyle = ink = colour
      context.fillText(texts[i][j], x(j) - 0.5, middle)
    }
  }
  for (const { kind, row, column, text } of waiting) {
    if (!['cell', 'mask'].includes(kind)) continue
    context.fillStyle = palette.paper + 'cc'
    if (kind === 'mask')
      context.fillStyle = text === '1' ? palette.paper + 'cc' : palette.hidden[0][1]
    context.fillRect(...within(x(column - 0.5), y(row - 0.5), across, down))
    if (kind !== 'cell' || across < 14) continue
    const typed = text.replace('-', '\u2212')
    const room = (across - 3) / Math.max(measure(typed, 1), 0.5)
    context.font = `italic ${Math.min(size || 13, room)}px ${font}`
    context.fillStyle = palette.ink
    context.fillText(typed, x(column), y(row))
  }
}

/** @type {(context: CanvasRenderingContext2D, pane: Pane, look: Look, axes: Axes) => void} */
const paintFrames = (context, pane, { palette, presented, isPlayed }, axes) => {
  if (isPlayed) return // the chosen cell is another then
  for (const { role, line, x, y, width, height } of framesOf(pane, axes, presented)) {
    Object.assign(context, { strokeStyle: palette[role], lineWidth: line })
    context.strokeRect(x, y, width, height)
  }
}

/** @param {CanvasRenderingContext2D} context @param {Label[]} labels @param {string} font */
const paintLabels = (context, labels, font) => {
  context.save()
  context.textBaseline = 'middle'
  let set = ''
  for (const { text, x, y, size, bold, colour, align, angle } of labels) {
    const style = `${bold ? BOLD : 400} ${size}px ${font}`
    if (style !== set) context.font = set = style // to set a font takes as long as to write
    Object.assign(context, { textAlign: align, fillStyle: colour })
    if (!angle) context.fillText(text, x, y + size * FALL)
    else paintTurned(context, text, [x, y], angle, size * FALL)
  }
  context.restore()
}

const paintTurned = (context, text, [x, y], angle, fall) => {
  context.save()
  context.translate(x, y)
  context.rotate((-angle * Math.PI) / 180)
  context.fillText(text, 0, fall)
  context.restore()
}

const paintBar = (context, { places, spec }, { palette }) => {
  const { width, top, height, right } = places
  for (let k = 0; k < height; k++) {
    context.fillStyle = tone(palette[spec.role], 1 - k / Math.max(height - 1, 1))
    context.fillRect(width - right + 5, top + k, BAR, 1.5)
  }
}

// Whether the person asked for less motion.
const stillness = () => window.matchMedia('(prefers-reduced-motion: reduce)').matches

// Outline for a moment the cells whose number is another than before.
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
