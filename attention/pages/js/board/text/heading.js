// What of a stage's name, formula and shape has room in its heading. Pure.

import { unmarked } from './notation.js'

const SMALLEST = 10.5 // px

// The name of a stage as its heading has it, and what it is made of; K is shown as Kᵀ.
export const named = ({ symbol, formula }, turned) => {
  if (!turned) return [symbol, formula && `= ${formula}`]
  if (!formula) return [`${symbol}ᵀ`, '']
  const inner = formula.includes(' ') ? `(${formula})` : formula
  return [`${symbol}ᵀ`, formula === 'given' ? formula : `= ${inner}ᵀ`]
}

/**
 * What the name of a stage takes, or the names of all that share its place.
 * @param {{ name: string, tabs?: string[] }} heading
 * @param {number} px
 * @param {(text: string, px: number, bold?: boolean) => number} measure
 */
export const namesWidth = ({ name, tabs }, px, measure) => {
  const names = tabs?.length ? tabs : [name]
  const tabbed = tabs?.length ? 16 : 0
  return names.reduce((sum, text) => sum + measure(unmarked(text), px, true) + tabbed, 0)
}

// The texts of a heading in so many px: the name always, then note, formula and shape, as they fit.
export const headingOf = ({ name, formula, shape, note, tabs }, room, px, measure) => {
  let used = namesWidth({ name, tabs }, px, measure)
  const takes = (text, size, gap) => {
    if (!text || used + gap + measure(unmarked(text), size) > room) return ''
    used += gap + measure(unmarked(text), size)
    return text
  }
  const size = Math.max(0.84 * px, SMALLEST)
  const noted = takes(note, size, 9)
  const made = takes(formula, 0.92 * px, 6)
  const said = noted ? takes(`${shape}, `, size, 0) : takes(shape, size, 9)
  return { formula: made, shape: said + noted }
}
