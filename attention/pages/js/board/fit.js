// How large a heatmap is drawn: room for its labels, and numbers only where they can be read.

import { among } from '../numbers.js'
import { LAST } from './shades.js'
import { LETTER, longest, widest } from './text.js'

const NARROW = 8 // px: numbers smaller than this are left out of the cells
const READABLE = 11 // px: numbers of up to FEW rows and columns get the room for this
const FEW = 8
const DECIMALS = 2 // of a number, as usual
export const LINE = 13 // px: a row that holds a number that can just be read
const USUAL = 2.25 // font sizes: the width of −2.31, for which every cell has room
const UNSIGNED = 1.75 // and of 0.94
const PAD = 4 // px of a cell that its number leaves free
const LEADING = 0.69 // of a row: the most of its height that a number takes
const MOST = 440 // px: a pane that wants more gets no numbers and is drawn in PLAIN
const PLAIN = 260
const WIDEST = 384 // one of hundreds of columns, so that fewer of them share a pixel
const ROWS = 26 // more rows than this get no numbers either
export const ROW = 28 // px: the height of a row, where no window is to be filled
export const LOWEST = 16 // px: of a row that shares a window with others
export const HIGHEST = 56
export const SHORT = 12 // as many rows grow with the window
export const TALL = 250 // px: the cells of a line with more
export const GAP = 8 // px between two lines
const LABELS = 0.35 // of a pane: row labels take no more
const WORDY = 110 // px: a label takes no more
const BAR = 38 // px: a colour bar with its numbers
const SMALL = 9 // px: the letters of a colour bar, and of the names of the axes
const BELOW = 20 // px: below the cells, for a button

// The names of both axes, in the corner where the labels of rows and columns meet.
/** @param {Spec} spec */
export const cornerOf = ({ axes }) => (axes ? [`${axes[1]} →`, `${axes[0]} ↓`] : [])

// The room beside the cells that the labels of their rows take, and what stands in the corner.
const asideOf = (spec, labelSize, small) =>
  Math.max(longest(spec.rows, labelSize), longest(cornerOf(spec), small))

// Take what Python sent of a heatmap: `z` has the rows of the numbers that are shown, NaN where a
// cell is hidden or not finite; what is made of the texts is made when it is wanted.
export const read = pane => {
  const { rows, columns, texts, values, codes } = pane.spec
  if (!rows) return
  const [n, m] = [rows.length, columns.length]
  const shown = values?.map((value, k) => (codes[k] > LAST ? NaN : value))
  const z = shown && rows.map((_, i) => shown.subarray(i * m, (i + 1) * m))
  Object.assign(pane, { n, m, texts, values, codes, z })
  Object.assign(pane, { forms: [], decimals: undefined, least: undefined })
  pane.need = needed(pane)
}

const usualWidth = ({ name }) => (name === 'weights' ? UNSIGNED : USUAL)

// The width that a pane gets: what usual numbers take that can be read, and half a pixel more, so
// that rounding takes none away. It follows from the shape alone, so that no number moves the
// board; numbers that are longer are written shorter.
const needed = ({ n, m, spec }) => {
  const size = Math.max(n, m) <= FEW ? READABLE : NARROW
  const labels = Math.min(asideOf(spec, 11, SMALL), 110) + 10
  const need = ems => {
    const cells = m * (ems * (size + 0.5) + PAD) + 6
    return Math.min(labels + cells, cells / (1 - LABELS))
  }
  if (need(USUAL) > MOST || n > ROWS) return Math.min(Math.max(PLAIN, 0.75 * m), WIDEST)
  return need(usualWidth(spec))
}

const DECIMAL = /^\u2212?\d+(?:\.(\d+))?(e\u2212?\d+)?$/

// The longest way to write the numbers of a pane for which `fitting` finds a size that can be read:
// as they are, with tiny ones as ≈0, or with fewer decimals, of which so many stay that the largest
// number has three digits. A few rows and columns get smaller letters than READABLE only where none
// of these fits, or where more decimals than usual are asked for. The size is 0 where none fits,
// and the note says in words what is left out.
const readable = (pane, fitting) => {
  const none = { size: 0, note: 'in colours' }
  if (!pane.texts || fitting(LETTER) < NARROW) return none
  pane.decimals ??= decimalsOf(pane.texts)
  pane.least ??= Math.max(0, 3 - wholeDigits(pane.texts))
  const large = Math.max(pane.n, pane.m) <= FEW && pane.decimals <= DECIMALS
  for (const smallest of large ? [READABLE, NARROW] : [NARROW]) {
    for (let cut = 0; cut < 2 + Math.max(pane.decimals - pane.least, 0); cut++) {
      const form = (pane.forms[cut] ??= written(pane, cut))
      if (fitting(form.ems) >= smallest) return { ...form, size: fitting(form.ems) }
    }
  }
  return none
}

// The decimals that were asked for; a number in e-notation has one less.
const decimalsOf = texts => {
  const decimals = text => {
    const [, places = '', exponent] = text.match(DECIMAL) ?? []
    return places || exponent?.includes('\u2212') ? places.length + (exponent ? 1 : 0) : 0
  }
  return texts.flat().map(decimals).find(Boolean) ?? 0
}

const wholeDigits = texts =>
  Math.max(...texts.flat().map(text => text.match(/^\u2212?(\d+)(\.\d+)?$/)?.[1].length ?? 0))

// A number that the decimals left would make a 0, and is none, is ≈0.
const written = (pane, cut) => {
  const decimals = pane.decimals - Math.max(cut - 1, 0)
  const write = (text, value) => {
    const [, places, exponent = ''] = text.match(DECIMAL) ?? []
    const tiny = exponent.includes('\u2212')
    if (!cut || !(places || tiny)) return text
    const shorter = among(value, exponent && !tiny ? Math.max(decimals, 2) : decimals, 1)
    return shorter.includes('e\u2212') ? '≈0' : shorter
  }
  const value = (i, j) => pane.values[i * pane.m + j]
  const texts = pane.texts.map((row, i) => row.map((text, j) => write(text, value(i, j))))
  const rounded = ['', 'tiny ones rounded'][cut]
  const note = rounded ?? `${decimals} of ${pane.decimals} decimals`
  return { texts, note, ems: widest(texts) }
}

/**
 * The places of a heatmap of this width: `row` is the height of a short one's rows; of one that is
 * presented `tallest` is the height and `label` the size of the words. The room above the cells,
 * `top`, is what its own labels need.
 * @param {Pane} pane
 * @param {number} width
 * @param {{ row?: number, tallest?: number, download?: boolean, label?: number }} how
 * @returns {Places}
 */
export const fitted = (pane, width, how = {}) => {
  const { row = ROW, tallest = 0, download = false, label = 0 } = how
  const { n, m, spec } = pane
  const labelSize = label || (row >= 30 ? 13 : 11)
  const words = label ? 6 * label : WORDY
  const usually = download ? 14 : Math.max(13, Math.min(row * 0.5, 18))
  const most = label ? 3 * label : usually
  const aside = label ? 10 * label : WORDY // there is more room beside the cells than above
  const small = label ? 0.6 * label : SMALL
  const left = Math.min(asideOf(spec, labelSize, small) + 10, aside + 10, LABELS * width)
  let right = 6
  const cell = () => (width - left - right) / m
  const pad = label ? 0.6 * label : PAD
  const fitting = ems => Math.min(most, (cell() - pad) / ems)
  const printed = fitting(usualWidth(spec)) >= NARROW
  const short = n <= SHORT ? n * row : 0
  const usual = printed ? Math.max(250, Math.min(n, ROWS) * LINE, short) : Math.max(250, short)
  const wide = longest(spec.columns, labelSize)
  const above = () => {
    const step = Math.ceil((labelSize + 2) / cell())
    const slanted = wide + 5 > cell() * step && !spec.columns.every(t => PLACES.test(t))
    return { slanted, top: slanted ? Math.min(wide, words) + 10 : labelSize + 9 }
  }
  const bottom = download ? 8 : spec.tokens || spec.edit === 'mask' ? BELOW : 4
  const beside = label ? above().top + bottom : 120
  const room = tallest ? tallest - beside : download ? 620 : usual
  const whole = Math.max(room, Math.min(n * 5, 340))
  const each = label ? 8 * label : download ? 64 : row
  const height = Math.max(Math.min(n * each, whole), 26)
  const { size, note } = readable(pane, ems => Math.min(fitting(ems), (LEADING * height) / n))
  // a lower one has no room for the numbers of its bar
  const bar = spec.bar && (download || (!size && height > 60))
  if (bar) right = (BAR / SMALL) * small
  const places = { width, left, right, bottom, height, cell: cell(), bar, ...above() }
  return { ...places, labelSize, most, small, pad, note }
}

const PLACES = /^[\d,–]+$/ // numbers, and ranges of them

// The room above the cells that words of usual length take, which may stand upright.
export const usualTop = ({ spec }) => (spec.columns.every(text => PLACES.test(text)) ? 20 : 38)

/**
 * The numbers as they are written into the cells of a pane with these axes.
 * @param {Pane} pane
 */
export const numbersOf = (pane, { across, down }) => {
  const { most, pad } = pane.places
  return readable(pane, ems => Math.min(most, LEADING * down, (across - pad) / ems))
}

// Every how manieth label is written, so that each has its room.
export const every = (room, cell) => Math.max(1, Math.ceil(room / cell))

// A chart: larger letters where there is room, and the colours of the page's palette.
export const chart = (pane, layout, palette, tallest) => {
  layout.height = tallest || layout.height || 320
  layout.font.size = layout.width > 420 ? 14 : 13
  if (!layout.title) layout.margin.t = 12
  // a download has no web fonts, and a legend measured in one is cut off
  else layout.font.family = 'Arial, Helvetica, sans-serif'
  for (const axis of [layout.xaxis, layout.yaxis]) {
    const { grid } = palette
    Object.assign(axis, { gridcolor: grid, linecolor: grid, zerolinecolor: grid })
  }
  for (const shape of layout.shapes ?? []) shape.line.color = palette[shape.name]
  return { data: pane.spec.figure.data, layout }
}
