// Words and their widths.

import { make } from '../../elements.js'
import { formulaParts, mathParts } from './notation.js'

/**
 * W_Q and d_k get their subscripts; the text is ours, but it still goes in as text.
 * @param {Element} node
 * @param {string} text
 */
export const mathText = (node, text) => {
  node.replaceChildren()
  for (const { text: part, low } of mathParts(text)) {
    if (low) make('sub', '', node, part)
    else node.append(part)
  }
}

/**
 * The same, of a sentence or a line of arithmetic: e^{2} becomes a power, quoted words stay.
 * @param {Element} node
 * @param {string} text
 */
export const formulaText = (node, text) => {
  node.replaceChildren()
  const inside = make('span', '', node)
  for (const { text: part, low, high } of formulaParts(text)) {
    if (low || high) make(low ? 'sub' : 'sup', '', inside, part)
    else inside.append(part)
  }
}

const SUBSCRIPTS = [...'₀₁₂₃₄₅₆₇₈₉']

// "the (2)" as “the₂”, which takes less room.
export const short = label =>
  label.replace(/ \((\d+)\)$/, (_, n) => [...n].map(digit => SUBSCRIPTS[digit]).join(''))

const KNOWN = 5000 // widths that are kept: the same labels are on many panes
const known = new Map()
const EM = 100 // px: the letters by which widths in font sizes are measured
let ruler // made when the first text is measured

/**
 * The width of a text in px, in a font as the page has it and at the size it is drawn in, as a
 * screen may draw letters at whole pixels; at a size of 1 it is the width in font sizes, for which,
 * as for numbers as they are painted, letters are not at whole pixels.
 * @param {string} font
 * @param {string} text
 * @param {number} size
 * @param {boolean} bold
 */
export const widthIn = (font, text, size, bold = false) => {
  const drawn = size === 1 ? EM : size
  const style = `${bold ? 650 : 400} ${drawn}px ${font}`
  const key = `${style} ${text}`
  let width = known.get(key)
  if (width === undefined) {
    ruler ??= document.createElement('canvas').getContext('2d')
    ruler.textRendering = drawn === EM ? 'geometricPrecision' : 'auto'
    ruler.font = style
    width = ruler.measureText(text).width
    if (known.size > KNOWN) known.clear()
    known.set(key, width)
  }
  return size === 1 ? width / EM : width
}

/** @param {string} text @param {number} size */
export const widthOf = (text, size = 11) => widthIn('"Source Sans", sans-serif', text, size)
// The fonts are others now.
export const forgetWidths = () => known.clear()

/**
 * A text cut to a width.
 * @param {string} text
 * @param {number} room
 * @param {number} [size]
 */
export const shortened = (text, room, size) => {
  if (widthOf(text, size) <= room) return text
  const points = Array.from(text)
  do points.pop()
  while (points.length > 1 && widthOf(points.join('') + '…', size) > room)
  return points.join('') + '…'
}
