// Which boxes show numbers, and how large: one size for all, the largest with which each fits.

import { RULES, half } from './rules.js'

const NEARLY = 1e-6

// The largest size with which a number that many em wide fits a cell of the box.
const sizeIn = (box, ems, largest) =>
  Math.min(
    largest,
    RULES.leading * box.ch,
    (box.cw - RULES.air) / ems,
    box.cw / (ems + RULES.airs)
  )

/**
 * The size of a box by itself: with room for usual numbers, so that others do not change it; else
 * for its own; else without leading zeros; else none.
 */
const fit = (box, stage, texts, { smallest, largest, isInput, least }) => {
  const { ladder, stepped } = texts
  const ems = stepped(stage.ems)
  const usual = stage.unsigned ? ladder.share : isInput ? 0 : ladder.usual
  box.px = sizeIn(box, Math.max(ems, usual), largest)
  box.numbers = 'full'
  if (box.px < smallest && !stage.unsigned) {
    box.px = Math.max(box.px, Math.min(sizeIn(box, ems, largest), smallest))
  }
  if (box.px < smallest && stage.tight) {
    box.px = sizeIn(box, Math.max(stage.tight, ladder.tight), largest)
    box.numbers = 'tight'
  }
  const tiny = box.cw < least[0] || box.ch < least[1]
  if (tiny || box.px < RULES.smallest - NEARLY) Object.assign(box, { px: 0, numbers: 'none' })
}

/**
 * Give every box the size of its numbers, and return that of all but the inputs, which may have a
 * smaller one.
 */
export function setNumbers(boxes, stages, texts, { smallest, largest, least, most = largest }) {
  for (const box of boxes) {
    const isInput = box.line === 'inputs'
    fit(box, stages[box.name], texts, { smallest, largest, isInput, least })
  }
  const shown = boxes.filter(box => box.line !== 'inputs' && box.px)
  const number = half(Math.min(...shown.map(box => box.px), most))
  for (const box of boxes) {
    if (box.px && box.line !== 'inputs') box.px = number
    else if (box.px) box.px = Math.max(half(Math.min(box.px, number)), RULES.smallest)
  }
  return number
}
