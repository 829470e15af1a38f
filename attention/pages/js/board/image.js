// Panes as pictures: one as it is downloaded, or all of the board as it stands on the screen, in
// the colours of a light page.

import { make } from '../elements.js'
import { plotly } from '../plotly.js'
import { composed } from './fit.js'
import { paint, sized } from './paint.js'

const FINE = 2 // pixels of the board's picture for each of the screen
const EDGE = 16 // px of paper around it

const blobOf = url => fetch(url).then(answer => answer.blob())

// What Plotly is given for a picture of a pane.
const pictured = (pane, palette, width) => {
  const { data, layout } = composed(pane, palette, width)
  if (!pane.spec.rows && !width) Object.assign(layout, { width: 900, height: 520 })
  return { data, layout, config: { staticPlot: true } }
}

export const panePicture = async (board, pane, format = 'png') => {
  const spec = pictured(pane, board.head.palettes.light)
  const { width, height } = spec.layout
  const scale = format === 'png' ? 3 : 1
  const Plotly = await plotly(board.head.plotly)
  return saying(board, await blobOf(await Plotly.toImage(spec, { format, width, height, scale })))
}

export const boardPicture = async board => {
  const { light } = board.head.palettes
  const corner = board.root.getBoundingClientRect()
  const { width } = corner
  const height = board.groups.getBoundingClientRect().bottom - corner.top
  const canvas = make('canvas')
  const context = sized(canvas, width + 2 * EDGE, height + 2 * EDGE, FINE)
  context.fillStyle = light.paper
  context.fillRect(0, 0, width + 2 * EDGE, height + 2 * EDGE)
  context.translate(EDGE - corner.left, EDGE - corner.top)
  context.fillStyle = light.ink
  for (const node of [board.formula, ...board.groups.querySelectorAll(WORDS)]) words(context, node)
  for (const pane of board.panes.values()) {
    const { left, top } = pane.frame.getBoundingClientRect()
    if (pane.table) continue // its words are there already
    const picture = pane.spec.rows ? repainted : drawnChart
    const image = await picture(board, pane, light)
    context.drawImage(image, left, top, image.width / FINE, image.height / FINE)
  }
  return saying(board, await new Promise(resolve => canvas.toBlob(resolve, 'image/png')))
}

// With what the board says of itself: the description of an SVG, a text in a PNG.
const saying = async (board, blob) => {
  const { about } = board.head
  if (!about) return blob
  if (blob.type.startsWith('image/svg')) {
    const escaped = about.replace(/[&<>]/g, sign => `&#${sign.charCodeAt()};`)
    const text = await blob.text()
    return new Blob([text.replace(/<svg[^>]*>/, tag => `${tag}<desc>${escaped}</desc>`)], blob)
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

// What is read on a board, beside what is painted.
const WORDS = '.board-symbol, .board-equals, .board-sentence, .board-table'

const repainted = (board, pane, palette) => {
  const copy = { ...pane, canvas: make('canvas'), fine: FINE }
  paint(copy, palette, board.font, board.edits.of(pane.spec.name))
  return copy.canvas
}

const drawnChart = async (board, pane, palette) => {
  const { clientWidth: width, clientHeight: height } = pane.frame
  const spec = pictured(pane, palette, width)
  const Plotly = await plotly(board.head.plotly)
  const image = new Image()
  image.src = await Plotly.toImage(spec, { format: 'png', width, height, scale: FINE })
  await image.decode()
  return image
}

// Write the words of a part of the page where they stand; what the page cuts off ends in “…”.
const words = (context, node) => {
  if (!node.getClientRects().length) return
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
