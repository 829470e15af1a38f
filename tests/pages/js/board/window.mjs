// The rectangle that a window leaves the board: menu, sidebar, title, toolbar, the strip with the
// sentence and its words, and the dock below take the rest.

import { widthOf } from '../widths.mjs'

const PHONE = 700 // px: narrower windows
const SIDEBAR = 256
const MENU = 56
const TITLE = 36 // px: each with the gap below it
const TOOLBAR = 46
const DOCK = 48
const PLAY = { phone: 96, other: 196 } // px: the button at the end of the strip
const CARD = 176 // px: the sheet at the foot of a phone

const clamp = (value, low, high) => Math.min(Math.max(value, low), high)

export const isPhone = width => width < PHONE

/** How many lines words take; Infinity where they take more than `most`. */
const linesOf = (words, { px, pad, gap, room, most, numbered }, measure) => {
  let [x, lines] = [0, 1]
  for (const word of words) {
    const width = Math.ceil(Math.max(measure(word, px) + pad, numbered ? 36.8 : 0))
    if (x + width > room && x) [x, lines] = [0, lines + 1]
    x += width + gap
  }
  return lines > most ? Infinity : lines
}

/** The height of the strip: sentence and words in one line where there is room, else in more. */
export function stripHeight(words, width, measure, phone) {
  const beside = says => (phone ? width : width - says - PLAY.other - 32)
  const broad = clamp(width * 0.37, 230, 470)
  const narrow = clamp(width * 0.27, 230, 400)
  const ways = [
    { px: 17, pad: 22, gap: 5, room: beside(broad), most: 1, own: phone, numbered: true },
    { px: 16, pad: 16, gap: 4, room: beside(narrow), most: 1, own: phone, numbered: true },
    { px: 14.5, pad: 12, gap: 3, room: beside(narrow), most: 1, own: phone, numbered: true },
    { px: 16.5, pad: 16, gap: 4, room: phone ? 0 : width, most: 1, own: true, numbered: true },
    { px: 14.5, pad: 12, gap: 3, room: width, most: phone ? 2 : 1, own: true, numbered: true },
    { px: 13, pad: 6, gap: 2, room: width, most: phone ? 2 : 1, own: true, numbered: true },
    { px: 13, pad: 5, gap: 1, room: width, most: phone ? 4 : 3, own: true, numbered: false }
  ]
  const fits = way => Number.isFinite(linesOf(words, way, measure))
  const way = ways.find(fits) ?? ways.at(-1)
  const lines = Math.min(linesOf(words, way, measure), way.most)
  const high = way.numbered ? 40 : 21
  return way.own ? (phone ? 42 : 32) + lines * (high + 3) : high + 6
}

/** Width and height of the board in a window with its sidebar open. */
export function boardIn(width, height, { words = [], presenting = false, measure = widthOf } = {}) {
  if (isPhone(width)) {
    const w = width - 24
    const top = 94 + stripHeight(words, w, measure, true) + 6
    return { width: w, height: height - CARD - top, phone: true }
  }
  const w = width - (presenting ? 48 : SIDEBAR + 40)
  const above = presenting ? 14 : MENU + TITLE + TOOLBAR
  const strip = presenting ? PRESENTED : stripHeight(words, w, measure, false)
  const below = presenting ? 20 : DOCK
  return { width: w, height: height - above - strip - 8 - below, phone: false }
}

const PRESENTED = 66 // px: the strip in large letters
