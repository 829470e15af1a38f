// Panes as pictures: one as it is downloaded, or all of the board as it stands on the screen, in
// the colours of a light page.

import { make } from '../elements.js'
import { sizedOf } from './arrange.js'
import { pictured } from './layout/flow.js'
import { labelsOf } from './paint/labels.js'
import { mathParts } from './text/notation.js'
import { inCells, paint, sized } from './paint/paint.js'
import { read, waitingOn } from './text/pane.js'
import { axesOf } from './paint/part.js'
import { INDEX, safe, toSvg } from './paint/svg.js'
import { widthOf } from './text/text.js'
import { formsOf } from './paint/written.js'

const FINE = 2 // pixels of the board's picture for each of the screen
const EDGE = 16 // px of paper around it
const WIDE = 900 // px: the picture of a pane
const SHARP = 3 // its pixels for each of these
const ABOVE = 44 // px: for its heading
const HEADING = 14 // px: the letters of that, smaller where it has no room

const pngOf = canvas => new Promise(resolve => canvas.toBlob(resolve, 'image/png'))

// How a pane is painted in a picture.
const lookOf = (board, pane, decimals) => ({
  palette: board.head.palettes.light,
  font: board.font,
  measure: board.measure,
  decimals,
  waiting: waitingOn(board.edits, pane),
  query: -1,
  key: -1
})

// All of a pane, laid out anew for a picture of its own, so that more numbers have room: with as
// many decimals as do; K as K has it.
const laidOut = (board, pane) => {
  const { measure } = board
  const copy = { ...pane, view: null, pixels: undefined, canvas: make('canvas'), fine: SHARP }
  read(copy, null)
  const asked = formsOf(copy, Infinity, measure)?.asked ?? 0
  let decimals = asked + 1
  do {
    decimals -= 1
    const sized = { ...sizedOf(copy, measure, decimals), bar: copy.spec.bar }
    copy.places = pictured(sized, WIDE, measure)
  } while (!copy.places.px && decimals > 1)
  const look = lookOf(board, copy, decimals)
  const { note } = inCells(copy, axesOf(copy), look)
  const heading = [copy.spec.title, note].filter(Boolean).join(' · ')
  const { left } = copy.places
  const room = (WIDE - left - EDGE) / widthOf(heading, HEADING)
  const size = HEADING * Math.min(room, 1)
  const parts = mathParts(heading)
  return { copy, look, heading: { parts, size, x: left, y: 20 } }
}

const paintHeading = (context, { parts, size, x, y }, font) => {
  let at = x
  for (const { text, low } of parts) {
    context.font = `${low ? INDEX.size * size : size}px ${font}`
    context.fillText(text, at, low ? y + INDEX.fall * size : y)
    at += context.measureText(text).width
  }
}

// The canvas of a pane once more, three times as fine, below its heading.
const heatmapPng = async (board, pane) => {
  const { copy, look, heading } = laidOut(board, pane)
  const { palette, font } = look
  paint(copy, look)
  const height = ABOVE + copy.canvas.height / SHARP
  const canvas = make('canvas')
  const context = sized(canvas, WIDE, height, SHARP)
  context.fillStyle = palette.paper
  context.fillRect(0, 0, WIDE, height)
  Object.assign(context, { fillStyle: palette.ink, textBaseline: 'middle' })
  paintHeading(context, heading, font)
  context.drawImage(copy.canvas, 0, ABOVE, copy.canvas.width / SHARP, height - ABOVE)
  return pngOf(canvas)
}

const heatmapSvg = (board, pane) => {
  const { copy, look, heading } = laidOut(board, pane)
  const { palette, font } = look
  const axes = axesOf(copy)
  const { texts, size } = inCells(copy, axes, look)
  const labels = labelsOf(copy, axes, look)
  const how = { labels, texts, size, heading, above: ABOVE, width: WIDE, font, palette }
  return new Blob([toSvg(copy, how)], { type: 'image/svg+xml' })
}

export const panePicture = async (board, pane, format = 'png') => {
  const draw = format === 'png' ? heatmapPng : heatmapSvg
  return saying(board, await draw(board, pane))
}

export const boardPicture = async board => {
  const { light } = board.head.palettes
  const corner = board.groups.getBoundingClientRect()
  const { width, height } = corner
  const canvas = make('canvas')
  const context = sized(canvas, width + 2 * EDGE, height + 2 * EDGE, FINE)
  context.fillStyle = light.paper
  context.fillRect(0, 0, width + 2 * EDGE, height + 2 * EDGE)
  context.translate(EDGE - corner.left, EDGE - corner.top)
  context.fillStyle = light.ink
  context.textRendering = 'geometricPrecision' // or letters stand apart
  for (const node of board.groups.querySelectorAll(WORDS)) words(context, node)
  const rows = [...board.groups.querySelectorAll('.board-lit')]
  const lit = rows.filter(node => node.checkVisibility())
  for (const pane of board.panes.values()) {
    const { left, top } = pane.frame.getBoundingClientRect()
    if (pane.table || pane.element.hidden || pane.box && !pane.front) continue
    const image = repainted(board, pane, light)
    context.drawImage(image, left, top, image.width / FINE, image.height / FINE)
  }
  Object.assign(context, { strokeStyle: light.query, lineWidth: 2 })
  for (const node of lit) {
    const { left, top, width, height } = node.getBoundingClientRect()
    context.strokeRect(left + 1, top + 1, width - 2, height - 2)
  }
  return saying(board, await pngOf(canvas))
}

// With what the board says of itself: the description of an SVG, a text in a PNG.
const saying = async (board, blob) => {
  const { about } = board.head
  if (!about) return blob
  if (blob.type.startsWith('image/svg')) {
    const text = await blob.text()
    return new Blob([text.replace(/<svg[^>]*>/, tag => `${tag}<desc>${safe(about)}</desc>`)], blob)
  }
  const words = new TextEncoder().encode(`iTXtDescription\0\0\0\0\0${about}`)
  const number = value => new Uint8Array(new Uint32Array([value]).buffer).reverse()
  const text = [number(words.length - 4), words, number(checksum(words))]
  return new Blob([blob.slice(0, HEADER), ...text, blob.slice(HEADER)], blob)
}

const HEADER = 33 // bytes of a PNG before its other parts

// As PNG wants it: CRC-32.
const checksum = bytes => {
  let sum = -1
  for (const byte of bytes) {
    sum ^= byte
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1
  }
  return ~sum
}

// What is read on a board, beside what is painted; of the tabs of a place that of what is seen.
const WORDS = `.board-said, .board-sign, .board-symbol, .board-tab[aria-selected=true],
  .board-equals, .board-shape,
  .board-sentence, .board-part, .board-card button,
  .board-table, .board-card header, .board-card td, .board-card th, .board-card p`

const repainted = (board, pane, palette) => {
  const copy = { ...pane, canvas: make('canvas'), fine: FINE }
  paint(copy, { ...board.look(pane), palette })
  return copy.canvas
}

// Write the words of a part of the page where they stand; what the page cuts off ends in “…”.
const words = (context, node) => {
  if (!node.checkVisibility({ visibilityProperty: true })) return
  if (node.matches('.board-equals') && node.scrollWidth > node.clientWidth) return // it is cut
  const box = node.getBoundingClientRect()
  const edge = box.right + 1
  let cut = false
  const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT)
  const range = document.createRange()
  context.save()
  Object.assign(context, { textAlign: 'left', textBaseline: 'alphabetic' })
  while (texts.nextNode()) {
    const text = /** @type {Text} */ (texts.currentNode)
    const { fontWeight, fontSize, fontFamily } = getComputedStyle(text.parentElement)
    context.font = `${fontWeight} ${fontSize} ${fontFamily}`
    for (const { 0: word, index } of text.data.matchAll(/\S+/g)) {
      range.setStart(text, index)
      range.setEnd(text, index + word.length)
      const { left, right, top, bottom } = range.getBoundingClientRect()
      const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = context.measureText(word)
      const line = (top + bottom + up - down) / 2
      if (top >= box.bottom) continue // a line that is not seen
      if (!cut) context.fillText(right <= edge ? word : '…', left, line)
      cut ||= right > edge
    }
  }
  context.restore()
}
