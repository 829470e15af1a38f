// How wide the board's texts are, in em. Each is measured once for a layout, in the font of the
// page, and never assumed: a font that is wider makes cells wider, or colors of more numbers.

import { RULES } from './rules.js'

const LARGE = 100 // px: what is measured here is not rounded to pixels of a small size

/** The widths that the rules name, by the function that measures them. */
const ladders = new WeakMap()

const ladderOf = (measure, decimals) => {
  if (!ladders.has(measure)) {
    const em = text => measure(text, LARGE) / LARGE
    const rung = k => ({
      steps: RULES.steps[k].map(em),
      usual: em(RULES.usual[k]),
      share: em(RULES.share),
      tight: em(RULES.tight)
    })
    ladders.set(measure, [rung(0), rung(1)])
  }
  return ladders.get(measure)[decimals > 1 ? 1 : 0]
}

/**
 * The ladder of numbers with so many decimals, and a function that rounds the width of one up to
 * its steps, in em.
 * @param {(text: string, size: number) => number} measure
 * @param {number} decimals
 */
export const stepsOf = (measure, decimals) => {
  const ladder = ladderOf(measure, decimals)
  return { ladder, stepped: ems => ladder.steps.find(step => ems <= step + 1e-9) ?? ems }
}

// The widths of a line of words: the longest, bold as a chosen word is, and what neighbors need to
// be side by side.
export const lineOf = (words, em, bold = em) => {
  const wide = words.map(em)
  const longest = Math.max(0, ...words.map(bold))
  let pair = 0
  for (let k = 0; k < wide.length; k++) {
    if (k) pair = Math.max(pair, (wide[k - 1] + wide[k]) / 2)
  }
  return { longest, pair, ends: Math.max(wide[0] ?? 0, wide.at(-1) ?? 0) }
}

/**
 * What the layout has to know of texts.
 * @param {import('./rules.js').Asked} asked
 */
export function textsOf({ stages, queries, keys, names = {}, decimals = 2, measure }) {
  const em = text => measure(text, LARGE) / LARGE
  const { ladder, stepped } = stepsOf(measure, decimals)
  const bold = text => measure(text, LARGE, true) / LARGE
  const lines = { queries: lineOf(queries, em, bold), keys: lineOf(keys, em, bold) }
  for (const [kind, words] of Object.entries(names)) lines[kind] = lineOf(words, em, bold)
  const headings = {}
  for (const [name, stage] of Object.entries(stages)) {
    const text = (stage.heading ?? name) + (stage.place.turned ? 'ᵀ' : '')
    headings[name] = { plain: em(text), bold: bold(text) }
  }
  return {
    ladder,
    headings,
    lines,
    digit: em('0'),
    stepped
  }
}

/** The width of the longest word of a kind of row, in em: 1.2 for the numbers of a dimension. */
export const longestOf = (texts, kind) => Math.max(texts.lines[kind]?.longest ?? 1.2, 1)

const TAB = 16 // px of a tab that its name leaves free

/** The width of the names above a place, in px. */
export function tabsWidth(texts, stages, px, bold = false) {
  const tab = stages.length > 1 ? TAB : 0
  let width = 0
  for (const name of stages) width += texts.headings[name][bold ? 'bold' : 'plain'] * px + tab
  return width
}

const APART = 5.5 // px between two words side by side
const OUT = 16 // px: how far the first and the last one may be outside their columns

/** How column words are drawn: 0 on one line, 45 aslant, 90 upright, as many as have room. */
export function slantOf(line, px, cellWidth) {
  const beside = line.pair === 0 || line.pair * px + APART <= cellWidth
  if (beside && line.ends * px <= cellWidth + OUT) return 0
  return cellWidth * 0.72 >= px * 0.98 ? 45 : 90
}
