// The rules of the board in one place: sizes, what is given up first, and how sizes are rounded.

/**
 * Where a stage is drawn, as `attention/vocabulary/stages.py` says of each.
 *
 * `inputs` is the band at the top. Results are in the `lower` line, one row for each query, and
 * their right factors above them in the `upper` line. `below` is what is under a result.
 * @typedef {object} Place
 * @property {'inputs' | 'upper' | 'lower' | 'below'} line
 * @property {string} of the stage that gives the place its name; later stages of the same place
 *   replace it and are its tabs: Q, Q_normed, Q_rotated
 * @property {string} [left] lower line: the place of its left factor
 * @property {string} [over] upper line: the place of the product that it is above
 * @property {string} [under] the stage that it is under: a bias under its weights
 * @property {number} [shares] lower line, where it may share a place with its neighbor: 1 to 3,
 *   how early it shares that to its right, as COSTS.shared counts; 0 where it is the last of them
 * @property {boolean} [turned] whether it is drawn transposed, as K is
 * @property {'+' | '='} [sign] inputs: what is written before it
 */

/**
 * One stage: its shape, and how wide its numbers are.
 * @typedef {object} Stage
 * @property {number} rows
 * @property {number} cols
 * @property {string} rowKind what a row is: 'queries', 'keys', or the name of a dimension
 * @property {string} columnKind
 * @property {number} ems the width of its widest number, in em, written short: tiny ones as ≈0,
 *   and no decimals that are 0 in all, so −12.5 where there is no −12.25
 * @property {number} [tight] the same without leading zeros: .47
 * @property {boolean} [unsigned] whether its numbers are shares, which have no sign
 * @property {string} [heading] its name on the board
 * @property {Place} place
 */

/**
 * What `layout` is asked for.
 * @typedef {object} Asked
 * @property {Record<string, Stage>} stages in reading order
 * @property {string[]} order all places of the lower line, from left to right
 * @property {string[]} queries the words of the queries, as they are drawn
 * @property {string[]} keys
 * @property {Record<string, string[]>} [names] the words of dimensions that have some
 * @property {number} width of the board, in px
 * @property {number} height
 * @property {'auto' | 'open' | 'folded'} [inputs]
 * @property {number} [decimals] that numbers have at most
 * @property {boolean} [presenting]
 * @property {string} [rowKind] of the lower line: 'keys', where K or V is presented
 * @property {boolean} [phone] whether its blocks are below each other
 * @property {boolean} [sheet] then: whether the card is a sheet over the page
 * @property {Record<string, string>} [tabs] place → the stage that is in front there
 * @property {(text: string, px: number, bold?: boolean) => number} measure a text's width in px
 */

/** @typedef {{x: number, y: number, w: number, h: number}} Rect */

/**
 * The words of a box's rows or columns. `slant` is 0, 45 or 90 degrees.
 * @typedef {Rect & {px: number, kind: string, show?: boolean, slant?: number}} Labels
 */

/**
 * One matrix on the board.
 * @typedef {object} Box
 * @property {string} name the stage that is in front
 * @property {string} place
 * @property {string[]} tabs all stages of the place
 * @property {string} line
 * @property {boolean} transposed
 * @property {number} rows as drawn
 * @property {number} cols
 * @property {number} cw the width of a cell
 * @property {number} ch its height
 * @property {number} x
 * @property {number} y
 * @property {number} w
 * @property {number} h
 * @property {Rect | null} heading
 * @property {Labels | null} rowLabels
 * @property {Labels | null} columnLabels
 * @property {number} px the size of its numbers; 0 where it is in colours
 * @property {'full' | 'tight' | 'none'} numbers
 */

/**
 * One way to lay the board out, of which the cheapest is taken.
 * @typedef {object} Way
 * @property {boolean} open whether the inputs are open
 * @property {number} sharing 0 to 3, see COSTS.shared
 * @property {boolean} striped whether wide Q, K, V and output are stripes of colour
 * @property {number} low the share of the height that low rows of the upper line take; 0: as high
 * @property {boolean} foot whether room is kept below all for the card
 */

/**
 * Where everything is.
 * @typedef {object} Plan
 * @property {Box[]} boxes
 * @property {Record<string, Box>} at place → box; places that share one have the same
 * @property {Rect & {beside: boolean, tooSmall: boolean} | null} card
 * @property {Rect | null} formula
 * @property {Band | null} inputs
 * @property {{x: number, w: number, y: number, ch: number}[]} lit lines of rows, in which that of
 *   the chosen query is lit
 * @property {Rect[]} arrows gaps with an arrow in the chosen row
 * @property {{w: number, h: number}} cell
 * @property {number} number px
 * @property {number} label px
 * @property {number} heading px
 * @property {number} headHeight px
 * @property {number} slant of the keys' words
 * @property {Way} way
 * @property {number} cost
 * @property {number} width
 * @property {number} height that was asked for, or more, where the page scrolls
 * @property {number} used width
 * @property {number} end the lower edge of all
 * @property {boolean} phone
 * @property {boolean} colours whether no weights are shown as numbers
 */

/**
 * The band of inputs.
 * @typedef {Rect & {open: boolean, note: Rect | null, signs: (Rect & {text: string})[],
 *   outside: boolean}} Band
 */

export const RULES = {
  smallest: 10.5, // px: no text on the board is smaller
  largest: 20, // px: nor a number larger, except when presenting
  presented: {
    ...{ largest: 44, smallest: 14, cell: [110, 96], label: [13, 30] },
    ...{ card: [600, 260], beside: 520, foot: { high: 0.4, least: 290 }, low: 200 }
  },
  air: 6, // px between a number and its neighbor in the row, 3 on either side
  airs: 0.4, // em: and no less than this, which is more than 6 px from 15 px on
  leading: 0.66, // of a row's height that a number takes at most
  usual: ['−0.0', '−0.00'], // with one decimal and more: so wide numbers never move the board
  // wider ones move it in these steps only
  steps: [
    ['.0', '.00', '0.0', '−0.0', '−00.0', '−000.0', '−0000.0', '−00000.0'],
    ['.0', '.00', '0.00', '−0.00', '−00.00', '−000.00', '−0000.00', '−00000.00']
  ],
  share: '0.00',
  tight: '.00',
  wide: 1.5, // a cell is at most so many times as wide as high
  tall: 1.15, // and at most so many times as high as wide
  cell: [56, 50], // px: a cell is never larger
  comfort: [22, 11], // px: rows and numbers that open inputs leave to the rest
  columns: 8, // of Q, K, V and output, up to which they are never drawn as stripes
  stripe: [2, 14], // px: a column of a striped matrix
  numbered: [12, 10], // px: a smaller cell shows no number
  label: [10.5, 16],
  heading: [13, 34],
  words: 6.5, // em: a row's word takes no more
  card: [230, 132], // px: the least the card needs
  beside: 200, // px: its width right of all, where it is taller
  height: 320, // px: a lower board scrolls
  product: 18, // px between a result and its left factor
  again: 90 // px: how much wider gaps may get for the card
}

// What is given up first where there is no room: the cheapest sum of costs wins.
export const COSTS = {
  // by how many stages share a place: none, M with masked, scaled too, scores too
  shared: [0, 1, 4, 9],
  folded: 2, // inputs on one line
  cramped: 20, // inputs open, and little room for the rest
  low: 3, // rows of the upper line lower than those of the queries
  small: 4, // numbers below 11 px
  formula: 5, // no room for the formula
  tabs: 8, // names of stages that share a place and do not all fit above it
  striped: 12, // a wide matrix in stripes of colour
  scores: 30, // each of what queries make of keys, before the weights, in colours
  others: 100, // any other matrix in colours
  output: 300,
  weights: 1000,
  card: 40, // too small a card
  outside: 1e6
}

export const isSequence = kind => kind === 'queries' || kind === 'keys'
export const clamp = (value, low, high) => Math.min(Math.max(value, low), high)
export const sum = list => list.reduce((a, b) => a + b, 0)
export const right = rect => rect.x + rect.w
export const bottom = rect => rect.y + rect.h

export const half = value => Math.floor(value * 2 + 1e-9) / 2

/** px: no cell is smaller. Where there is no room, a way costs more than any that has some. */
export const LEAST = 1 / 16

// Whole pixels; half ones below 3 px, and sixteenths below 1 px, where cells are a picture.
export const whole = value => {
  if (value >= 3) return Math.floor(value + 1e-9)
  return value >= 1 ? Math.floor(value * 2) / 2 : Math.floor(value / LEAST) * LEAST
}

/**
 * The width, or height, of each of `count` stripes. Where they have less room than the least, they
 * are a picture of it.
 * @param {number} room
 * @param {number} count
 * @param {number[]} limits the least and the most
 */
export const stripe = (room, count, [least, most]) => {
  const own = room / count
  return own < least ? Math.max(whole(own), LEAST) : clamp(Math.floor(own), least, most)
}
