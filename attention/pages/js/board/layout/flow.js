// Where panes are that are no part of one formula, such as those of two states: in columns of one
// width, each pane as large as its numbers want to be; and a pane in a picture of its own. Pure.

import { lineOf, slantOf } from './measures.js'
import { RULES } from './rules.js'

const GAP = 16 // px between two columns
const LEAST = 176 // px: a column
const EDGE = 4 // px around the cells, for frames
const APART = 10 // px: what a row's label needs beside its width
const WORDS = 9 // font sizes: a label takes no more beside the cells
const SHARE = 0.35 // nor more of the width
const UPRIGHT = 5.3 // font sizes: nor more above them
const BAR = 50 // px: a colour bar with its numbers

// On a page: numbers that are easily read, where there is room, and small cells of colours.
const ON_PAGE = {
  ...{ wanted: 12.5, label: 12, row: [18, 24], cell: [30, 54], tallest: 340, colours: [3, 14] }
}
// Cells that take the room of their line, and no more height.
const WIDENED = { ...ON_PAGE, row: [18, 20], cell: [54, 54] }
// In a picture the cells fill its width.
const FILLING = { cell: [900, 900], colours: [900, 900] }
const IN_PICTURE = { ...FILLING, wanted: 18, label: 12, row: [18, 64], tallest: 620 }
// For a room.
const PRESENTED = { ...FILLING, wanted: 40, label: 24, row: [18, 160] }
const HEADED = 0.2 // of the height of a pane that is presented, for its words

/**
 * What is known of a pane here; `ems` is the width of its widest number in font sizes, or null
 * where it has none, `heading` what its name and menu take in px.
 * @typedef {{ rows: number, cols: number, ems: number | null, rowWords: string[],
 *   columnWords: string[], corner: string[], heading?: number }} Sized
 */

/**
 * The places of panes, the number of columns and the width of each.
 * @param {Sized[]} panes
 * @param {number} width
 * @param {(text: string, px: number) => number} measure
 */
export const flow = (panes, width, measure) => {
  const places = panes.map(pane => placesIn(pane, width, measure, ON_PAGE))
  const needed = places.map((place, k) => Math.ceil(Math.max(place.width, panes[k].heading ?? 0)))
  const widest = Math.min(width, Math.max(LEAST, ...needed))
  const columns = Math.max(1, Math.min(panes.length, Math.floor((width + GAP) / (widest + GAP))))
  return { places, columns, column: widest }
}

/**
 * The same where the columns have a line of this width to themselves, and room to spare: cells are
 * as wide as they may be. Panes of colours stay as they are.
 * @param {Sized[]} panes
 * @param {{ columns: number, column: number }} found
 * @param {number} width
 * @param {(text: string, px: number) => number} measure
 */
export const widened = (panes, { columns, column }, width, measure) => {
  const most = Math.floor((width - GAP * (columns - 1)) / columns)
  const places = panes.map(pane => placesIn(pane, most, measure, WIDENED))
  if (columns < 2 || column >= most || !places.every(({ px }) => px)) return null
  return { places, columns, column: Math.ceil(Math.max(column, ...places.map(p => p.width))) }
}

/**
 * The width of the columns of each group. It is that of the widest one that has several, so that
 * columns stand below each other; except where a group has no room for as many, and where groups
 * that share a line would no longer.
 * @param {{ columns: number, column: number }[]} groups
 * @param {number} width
 */
export const aligned = (groups, width) => {
  const own = groups.map(({ column }) => column)
  const several = groups.filter(({ columns }) => columns > 1)
  const widest = Math.max(0, ...several.map(({ column }) => column))
  const alike = groups.map(({ columns, column }) =>
    columns > 1 && takes(columns, widest) <= width ? widest : column
  )
  return linesOf(groups, alike, width) > linesOf(groups, own, width) ? own : alike
}

const takes = (columns, column) => columns * (column + GAP) - GAP

/**
 * How many lines groups take, with columns of these widths; several may share one.
 * @param {{ columns: number }[]} groups
 * @param {number[]} widths
 * @param {number} width
 */
export const linesOf = (groups, widths, width) => {
  let count = 0
  let left = 0
  groups.forEach(({ columns }, k) => {
    const taken = takes(columns, widths[k])
    if (taken > left) [count, left] = [count + 1, width]
    left -= taken + GAP
  })
  return count
}

/**
 * The places of one pane in a picture of this width.
 * @param {Sized & { bar: boolean }} pane
 * @param {number} width
 * @param {(text: string, px: number) => number} measure
 */
export const pictured = (pane, width, measure) => {
  const bar = pane.bar ? BAR : 0
  const places = placesIn(pane, width - bar, measure, IN_PICTURE)
  return { ...places, width: places.width + bar, right: places.right + bar, bar: pane.bar }
}

/**
 * The places of panes that are presented side by side, or below each other.
 * @param {Sized[]} panes
 * @param {{ width: number, height: number }} room
 * @param {(text: string, px: number) => number} measure
 */
export const presented = (panes, { width, height }, measure) => {
  const beside = width > height
  const [across, down] = beside ? [panes.length, 1] : [1, panes.length]
  const column = (width - GAP * (across - 1)) / across
  const tallest = ((1 - HEADED) * height) / down
  const limits = { ...PRESENTED, tallest, label: Math.min(PRESENTED.label, column / 20) }
  return { places: panes.map(pane => placesIn(pane, column, measure, limits)), column }
}

const placesIn = (pane, width, measure, limits) => {
  const { rows, cols, ems, rowWords, columnWords, corner } = pane
  const { label } = limits
  const longest = (words, px) => Math.max(0, ...words.map(text => measure(text, px)))
  const words = Math.max(longest(rowWords, label), longest(corner, RULES.smallest))
  const left = Math.ceil(Math.min(words, WORDS * label, SHARE * width) + APART)
  const room = width - left - EDGE
  const needs = px => px * ems + Math.max(RULES.air, RULES.airs * px)
  let px = ems === null ? 0 : limits.wanted
  while (px && cols * needs(px) > room) px = px > RULES.smallest ? px - 0.5 : 0
  const [narrowest, widest] = limits.cell
  const [least, most] = limits.colours
  const cw = px
    ? Math.min(Math.max(needs(px), narrowest), widest, room / cols)
    : Math.min(Math.max(260 / cols, least), most, room / cols)
  const [low, high] = limits.row
  const row = px ? Math.min(Math.max(cw / 1.25, low), high) : Math.min(cw, high)
  const ch = Math.min(row, limits.tallest / rows)
  const slant = slantOf(lineOf(columnWords, text => measure(text, 1)), label, cw)
  const long = Math.min(longest(columnWords, label), UPRIGHT * label)
  const above = { 0: label + 8, 45: 0.72 * (long + label) + 4, 90: long + 8 }[slant]
  const top = Math.ceil(Math.max(above, corner.length * RULES.smallest + 6))
  const over = slant === 45 ? Math.max(0, 0.72 * long - cw / 2) : 0
  const right = EDGE + Math.ceil(Math.min(over, Math.max(0, width - left - cols * cw - EDGE)))
  return {
    ...{ width: left + cols * cw + right, left, right, top, height: rows * ch, bottom: EDGE },
    ...{ px: RULES.leading * ch >= RULES.smallest ? Math.min(px, RULES.leading * ch) : 0 },
    ...{ tight: false, corner: corner.length > 0, bar: false },
    rows: { px: label, room: left - APART + 2, end: left - 6, kind: 'rows' },
    columns: { px: label, slant, room: top - EDGE, kind: 'columns' }
  }
}
