// Painting a moment of Play over the board: veils, bars, frames, and numbers on their way.

import { inCells, sized, tone } from '../paint/paint.js'
import { axesOf } from '../paint/part.js'
import { HIDDEN, LAST, coloured } from '../paint/shades.js'

const VEIL = 0.78 // how opaque
const EDGE = 8 // px around the board, for what hops over it
const SMALLEST = 10.5 // px
const APART = 4 // px: only a larger cell has a gap around it, and an edge, which would cover it
const PAD = 5 // px that a number leaves free of its cell
const SHADOW = '#0005'
const BOLD = 650
const FALL = 0.04 // of the size: from the middle of a line to that of its letters

/**
 * A stage as it is drawn, for what is made of its numbers. Of many cells only the colours are here,
 * which tell about how large each number is.
 * @param {Pane} pane
 * @param {Look} look
 * @returns {import('./play.js').Matrix}
 */
export const matrixOf = (pane, look) => {
  const { n, m, codes, spec } = pane
  const [low, high] = spec.limits
  const { texts } = inCells(pane, axesOf(pane), look)
  const shade = code => {
    const share = code > LAST ? NaN : code / LAST
    return low + (spec.ticks ? share * share : share) * (high - low)
  }
  return {
    rows: n,
    cols: m,
    digits: spec.digits,
    value: (r, c) => (spec.values ? pane.valueAt(r, c) : shade(codes[r * m + c])),
    text: (r, c) => texts?.[r][c] ?? '',
    hidden: (r, c) => codes[r * m + c] === HIDDEN
  }
}

/**
 * Paint a moment on a canvas over all of the board.
 * @param {HTMLCanvasElement} canvas
 * @param {import('./play.js').Moment} moment
 * @param {{ width: number, height: number, panes: Map<string, Pane>, palette: Palette,
 *   font: string }} board
 */
export const paintPlay = (canvas, moment, { width, height, panes, palette, font }) => {
  const context = sized(canvas, width + 2 * EDGE, height + 2 * EDGE)
  context.translate(EDGE, EDGE)
  for (const veil of moment.veils) paintVeil(context, veil, palette)
  context.fillStyle = tone(palette.share, 0.5)
  for (const { x, y, w, h } of moment.bars) context.fillRect(x, y, w, h)
  for (const { role, x, y, w, h } of moment.frames) {
    outline(context, { x: x - 0.5, y: y - 0.5, w, h }, palette[role], 2)
  }
  for (const ghost of moment.ghosts) {
    context.globalAlpha = ghost.alpha ?? 1
    if (ghost.cell) paintCell(context, ghost, panes.get(ghost.cell[0]), palette)
    if (ghost.text && ghost.px) paintText(context, ghost, palette, font)
  }
  context.globalAlpha = 1
}

/** Nothing is played. */
export const clearPlay = canvas => Object.assign(canvas, { width: 0, height: 0 })

const outline = (context, { x, y, w, h }, colour, line) => {
  Object.assign(context, { strokeStyle: colour, lineWidth: line })
  context.beginPath()
  context.roundRect(x, y, w, h, 2)
  context.stroke()
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import('./play.js').Veil} veil
 * @param {Palette} palette
 */
const paintVeil = (context, { x, y, w, h, solid, framed, alpha }, palette) => {
  context.fillStyle = palette.paper
  context.globalAlpha = alpha ?? (solid ? 1 : VEIL)
  context.fillRect(x, y, w, h)
  context.globalAlpha = 1
  if (framed) outline(context, { x: x + 1, y: y + 1, w: w - 2, h: h - 2 }, palette.grid, 1)
}

const paintCell = (context, ghost, pane, palette) => {
  const { edge, lifted, value, cell } = ghost
  const [, row, column] = cell
  const [x, wide] = within(ghost.x, ghost.w)
  const [y, high] = within(ghost.y, ghost.h)
  const code = value === undefined ? pane.codes[row * pane.m + column] : shadeOf(value, pane.spec)
  if (lifted) Object.assign(context, { shadowColor: SHADOW, shadowBlur: 6, shadowOffsetY: 2 })
  context.fillStyle = colourOf(pane, code, palette)
  context.beginPath()
  context.roundRect(x, y, wide, high, Math.min(2, wide / 3))
  context.fill()
  Object.assign(context, { shadowColor: 'transparent', shadowBlur: 0, shadowOffsetY: 0 })
  if (code === HIDDEN && high >= 9) {
    Object.assign(context, { strokeStyle: palette.stroke, lineWidth: 1 })
    context.beginPath()
    context.moveTo(x, y + high)
    context.lineTo(x + wide, y)
    context.stroke()
  }
  const isLarge = Math.min(ghost.w, ghost.h) > APART
  if (edge && isLarge) outline(context, { x, y, w: wide, h: high }, palette[edge], 1.5)
}

// A cell without the gap around it; one that has no room for that is all of it.
const within = (start, side) => (side > APART ? [start + 0.5, side - 1] : [start, side])

// The shade of a number that has no cell of its own yet.
const shadeOf = (value, { limits: [low, high] }) =>
  Math.round(Math.min(Math.max((value - low) / (high - low), 0), 1) * LAST)

const known = new WeakMap() // the colours of each shade, by their scale
const colourOf = ({ spec: { role } }, code, palette) => {
  const tables = known.get(palette.hidden) ?? {}
  known.set(palette.hidden, tables)
  tables[role] ??= coloured(role, palette).map(colour => `rgb(${colour.map(Math.round).join()})`)
  return tables[role][code]
}

/**
 * A number that is wider than its cell, as a product may be, is smaller, and then on a plate.
 * @param {CanvasRenderingContext2D} context
 * @param {import('./play.js').Ghost} ghost
 * @param {Palette} palette
 * @param {string} font
 */
const paintText = (context, { x, y, w, h, text, px, bold }, palette, font) => {
  const style = size => `${bold ? BOLD : 400} ${size}px ${font}`
  context.textRendering = 'geometricPrecision'
  context.font = style(px)
  const wide = context.measureText(text).width
  const size = wide > w - PAD ? Math.max(SMALLEST, (px * (w - PAD)) / wide) : px
  const plate = (wide * size) / px + PAD + 1
  if (plate > w + 1) {
    context.fillStyle = palette.paper
    context.fillRect(x + (w - 1 - plate) / 2, y, plate, h - 1)
  }
  Object.assign(context, { textAlign: 'center', textBaseline: 'middle', fillStyle: palette.ink })
  context.font = style(size)
  context.fillText(text, x + (w - 1) / 2, y + (h - 1) / 2 + size * FALL)
}
