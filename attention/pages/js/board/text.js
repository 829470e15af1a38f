// Words and their widths.

import { make } from '../elements.js'

export const LETTER = 0.5 // of the font size: a digit's width
const POINT = 0.25 // and a decimal point's

/**
 * A text in parts, of which the indices of W_Q and d_k are low.
 * @param {string} text
 * @returns {{ text: string, low: boolean }[]}
 */
export const mathParts = text =>
  text
    .split(/(\b[A-Za-z])_([A-Za-z]\b)/)
    .map((part, k) => ({ text: part, low: k % 3 === 2 }))
    .filter(part => part.text)

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

const KNOWN = 5000 // widths that are kept: the same labels stand on many panes
const known = new Map()
let ruler // made when the first text is measured

/** @param {string} text @param {number} size */
export const widthOf = (text, size = 11) => {
  const key = `${size} ${text}`
  let width = known.get(key)
  if (width !== undefined) return width
  ruler ??= document.createElement('canvas').getContext('2d')
  ruler.font = `${size}px "Source Sans", sans-serif`
  width = ruler.measureText(text).width
  if (known.size > KNOWN) known.clear()
  known.set(key, width)
  return width
}
// The fonts are others now.
export const forgetWidths = () => known.clear()

/** @param {string[]} texts @param {number} [size] */
export const longest = (texts, size) =>
  texts.reduce((most, text) => Math.max(most, widthOf(text, size)), 0)

/**
 * The width of the widest number, in font sizes.
 * @param {string[][]} texts
 */
export const widest = texts => {
  let most = 0
  for (const row of texts) {
    for (const text of row) {
      const width = text.length * LETTER - (text.includes('.') ? LETTER - POINT : 0)
      if (width > most) most = width
    }
  }
  return most
}

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
