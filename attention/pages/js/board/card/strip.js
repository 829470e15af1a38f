// How the words of a sentence stand in the strip above the board. Pure.

const SAYS = { share: 0.27, least: 230, most: 400 } // of the width; px: the sentence, next to words
const BROAD = { share: 0.37, least: 230, most: 470 } // where there is room
const APART = 16 // px between sentence and words
const SHARE = 12 // px: the letters of a share
const WIDEST = { one: 2.4, two: 4.6 } // font sizes: a share, as “>99%” or “<1→>99%”
const LARGE = { px: 17, pad: 22, gap: 5, room: BROAD }
const MIDDLE = { px: 16, pad: 16, gap: 4, room: SAYS }
const SMALL = { px: 14.5, pad: 12, gap: 3, room: SAYS }
const LEAST = { px: 13, pad: 6, gap: 2, room: SAYS }

/**
 * The first way in which all words have room: next to the sentence or in a line of their own; else
 * they are in a line that is scrolled, and `all` is false.
 * @param {{ words: string[], shares: string[], compares: boolean, width: number, own: boolean,
 *   controls?: number[],
 *   measure: (text: string, px: number, bold?: boolean) => number }} asked `own` where they are
 *   in a line of their own anyway; `controls` are the widths that the buttons at the end of the
 *   line of the sentence may have, the widest first
 * @returns {{ px: number, pad: number, gap: number, says: number, own: boolean, all: boolean,
 *   controls: number }} in px; `says` is the width of the sentence
 */
export const wayOf = ({ words, shares, compares, width, own, controls = [], measure }) => {
  const least = SHARE * (compares ? WIDEST.two : WIDEST.one)
  const below = shares.map(share => Math.max(measure(share, SHARE), least))
  const takes = ({ px, pad, gap }) => {
    const wide = (word, k) => Math.max(measure(word, px, true), below[k]) + pad
    return words.reduce((sum, word, k) => sum + wide(word, k) + gap, -gap)
  }
  const [wide = 0, narrow = wide] = controls
  const of = ({ px, pad, gap }, says, controls, all = true) => {
    return { px, pad, gap, says, own: !says, all, controls }
  }
  // narrow buttons and small words take less than another line does of the board
  /** @type {[way: typeof SMALL, buttons: number][]} */
  const ways = [[LARGE, wide], [MIDDLE, wide], [SMALL, wide]]
  if (narrow < wide) ways.push([SMALL, narrow], [LEAST, narrow])
  for (const [way, buttons] of own ? [] : ways) {
    const { share, least, most } = way.room
    const says = Math.min(Math.max(share * width, least), most)
    const beside = width - says - APART - (buttons && buttons + APART)
    if (takes(way) <= beside) return of(way, says, buttons)
  }
  const fits = [MIDDLE, SMALL, LEAST].find(way => takes(way) <= width)
  return of(fits ?? SMALL, 0, wide, !!fits)
}
