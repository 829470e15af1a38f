// How the card of a cell is set in its rectangle: which form, which terms, how large. Pure.
// attention/explain/card.py makes the card; all its numbers are texts.

/**
 * @typedef {{ name: string, kind: string, cells: string[], total: string, others: string[] }} Row
 * @typedef {{ heads: string[], rows: Row[], count: number, order: number[], mark: number,
 *   hidden: boolean[] }} Table
 * @typedef {{ stage: string, row: number, column: number, name: string, how: string, text: string,
 *   chosen: boolean }} Link
 * @typedef {{ stage: string, row: number, column: number, title: [string, string][], value: string,
 *   table: Table | null, lines: string[], note: string, chain: Link[] }} Card
 * @typedef {(text: string, px: number, bold?: boolean) => number} Measure the width of a text, px;
 *   in proportion to the size of the letters
 *
 * @typedef {{ heads: string[], mark: number, hidden: boolean[],
 *   rows: { name: string, kind: string, cells: string[], total: string }[] }} Shown the columns of
 *   a table that are shown; where some are not, the last one is the sum of these
 * @typedef {Omit<Card, 'table'> & { table: Shown | null }} Said what is shown of a card
 * @typedef {{ tall: boolean, ledger: boolean }} Form tall: a term a line, not a column; ledger: the
 *   chain in a line for each link, not on one
 * @typedef {{ said: Said, px: number, columns: number[] } & Form} Setting columns: the least widths
 *   of a wide table's columns, px
 */

import { unmarked } from '../text/notation.js'

export const SIZES = [22, 20.5, 19, 18, 17, 16, 15, 14.25, 13.5] // px of its letters
const SMALLEST = 10.5 // px: no letter is smaller
const AIR = 6 // px between two numbers
const WIDEST = 3.9 // em: of a column
const MANY = 10 // columns of a table whose terms are too many to be shown anywhere

const MINUS = '\u2212'
const NB = '\u00a0'

/** @param {string} text */
const signed = text =>
  text.startsWith(MINUS) ? `${MINUS}${NB}${text.slice(1)}` : text && `+${NB}${text}`

/**
 * The columns for which there is room: all terms, or the largest and the sum of the others.
 * @param {Card} card
 * @param {number} room how many columns
 * @returns {Said}
 */
export function shown(card, room = Infinity) {
  const { table } = card
  if (!table) return { ...card, table: null }
  const all = table.count <= Math.min(room, table.heads.length)
  const kept = all ? table.count : Math.max(0, Math.min(room - 1, table.heads.length))
  const places = table.order.slice(0, kept).sort((a, b) => a - b)
  const left = table.count - kept
  /** @type {(texts: string[], more: string) => string[]} */
  const chosen = (texts, more) => [...places.map(k => texts[k]), ...(left ? [more] : [])]
  const rows = table.rows.map(({ name, kind, cells, total, others }) => {
    const texts = chosen(cells, others[kept] ?? '')
    const isSum = kind === 'product'
    return { name, kind, total, cells: isSum ? texts.map((t, k) => (k ? signed(t) : t)) : texts }
  })
  return {
    ...card,
    table: {
      heads: chosen(table.heads, left === 1 ? '1 other' : `${left} others`),
      mark: places.indexOf(table.mark),
      hidden: [...places.map(k => table.hidden[k]), ...(left ? [false] : [])],
      rows
    }
  }
}

/**
 * A card in a rectangle. The first of the ways below that fits is taken, each in the largest
 * letters: all terms with the chain as a ledger, or on one line; terms below each other; the
 * largest terms with the ledger; all terms alone; fewer terms; all terms alone in the smallest.
 *
 * @param {Card} card
 * @param {{ w: number, h: number }} room px
 * @param {object} how
 * @param {Measure} how.measure
 * @param {number[]} [how.sizes] px of the letters, the largest first; smaller ones come last
 * @param {boolean} [how.steps] whether the names of Play's steps take the place of the chain
 * @returns {Setting}
 */
export function setCard(card, { w, h }, { measure, sizes = SIZES, steps = false }) {
  const given = steps ? { ...card, chain: [] } : card
  const isCut = card.table && card.table.count > card.table.heads.length
  const whole = shown(given, isCut ? MANY : Infinity)
  const ems = new Map() // each text is measured once
  /** @type {Measure} */
  const width = (text, px, bold = false) => {
    const key = bold ? `b${text}` : `n${text}`
    if (!ems.has(key)) ems.set(key, measure(unmarked(text), 1, bold))
    return ems.get(key) * px
  }
  /** @type {(px: number) => number} */
  const inner = px => w - 2 * px - 4
  // how many lines a text takes, broken between words, or in a word that is longer than a line
  /** @type {(text: string, room: number, px: number, bold?: boolean) => number} */
  const linesOf = (text, room, px, bold) => {
    if (room <= px) return Infinity
    let [lines, used] = [1, 0]
    for (const word of text.split(' ')) {
      const wide = 1.01 * width(word, px, bold)
      if (used && used + width(' ', px, bold) + wide > room) [lines, used] = [lines + 1, 0]
      used += (used && width(' ', px, bold)) + wide
      while (used > room) [lines, used] = [lines + 1, used - room]
    }
    return lines
  }

  /** @type {(table: Shown, px: number) => { cells: number[], ends: number }} */
  const parts = ({ heads, rows }, px) => {
    const air = Math.max(0.45 * px, AIR)
    const cells = heads.map((head, k) =>
      Math.max(
        2.3 * px,
        width(head, Math.max(0.84 * px, SMALLEST)) + air,
        ...rows.map(({ cells, kind }) => width(cells[k], px, isBold(kind)) + air)
      )
    )
    const names = Math.max(...rows.map(({ name }) => width(name, px))) + 0.95 * px
    const totals = rows.map(({ total }) => (total ? width(total, px, true) + 0.9 * px : 0))
    return { cells, ends: names + Math.max(...totals) + 1.9 * px }
  }
  /** @type {(table: Shown, px: number) => number[]} */
  const columns = (table, px) => {
    const { cells, ends } = parts(table, px)
    const spare = Math.max(0, (w - ends - sum(cells)) / cells.length)
    return cells.map(cell => Math.max(cell, Math.min(cell + spare, WIDEST * px)))
  }
  /** @type {(said: Said, tall: boolean, px: number) => number} */
  const broad = ({ table }, tall, px) => {
    if (!table) return 0
    const { cells, ends } = parts(table, px)
    if (!tall) return sum(cells) + ends
    const small = Math.max(0.9 * px, SMALLEST)
    const heads = Math.max(2 * px, ...[...table.heads, 'sum'].map(head => width(head, small)))
    return heads + 0.6 * px + sum(tallColumns(table, px, width)) + 1.85 * px
  }
  /** @type {(said: Said, form: Form, px: number) => number} */
  const high = ({ title, value, table, lines, note, chain }, { tall, ledger }, px) => {
    const words = title.map(([text]) => text).join('')
    const beside = inner(px) - width(value, 1.5 * px, true) - 10
    const titled = 0.12 + 1.4 * linesOf(words, beside, 1.06 * px, true)
    const terms = table?.heads.length ?? 0
    const wide = table && 1.5 + 1.4 * table.rows.length
    const body = table ? (tall ? 1.35 * (terms + 2) + 0.4 : Number(wide)) : 0
    const lined = lines.map(line => 0.4 + 1.46 * linesOf(line, inner(px), 1.12 * px))
    const noted = note && 0.3 + 1.3 * linesOf(note, inner(px), 0.95 * px)
    const foot = steps ? 2 : !chain.length ? 0 : ledger ? 1.72 * chain.length + 0.5 : 1.85
    return (titled + body + sum(lined) + Number(noted) + foot + 1.4) * px
  }
  /** @type {(said: Said, ledger: boolean, px: number) => boolean} */
  const linked = ({ chain }, ledger, px) =>
    ledger
      ? chain.every(
          ({ how, text }) => width(how, px) + width(`= ${text}`, px, true) + 7.4 * px <= w
        )
      : sum(chain.map(({ name, text }) => width(`${name} ${text}`, 0.95 * px) + 2 * px)) <=
        w - 1.2 * px
  /** @type {(said: Said, form: Form, px: number) => boolean} */
  const fits = (said, form, px) =>
    high(said, form, px) <= h &&
    broad(said, form.tall, px) <= w &&
    linked(said, form.ledger, px)

  const small = sizes[sizes.length - 1]
  const least = Math.max(small - 1.5, SMALLEST)
  const all = [...new Set([...sizes, Math.max(small - 0.75, SMALLEST), least, SMALLEST])]
  const from = Math.min(least + 0.5, sizes[0])
  const middle = Math.min(14, sizes[0])
  /** @type {(said: Said, form: Partial<Form>, from: number) => Setting | undefined} */
  const find = (said, { tall = false, ledger = false }, from) => {
    const sizes = all.filter(size => size >= from)
    const form = { tall, ledger }
    // where the smallest letters do not fit, no others do
    if (!fits(said, form, sizes[sizes.length - 1])) return undefined
    const px = sizes.find(size => fits(said, form, size)) ?? from
    const found = said.table && !tall ? columns(said.table, px) : []
    return { said, tall, ledger: ledger && said.chain.length > 0, px, columns: found }
  }

  const terms = whole.table?.heads.length ?? 0
  const factors = whole.table?.rows.some(({ kind }) => kind === 'query' || kind === 'key')
  const chained = whole.chain.length > 0
  const [bare, bald] = [without(whole, 'note'), without(whole, 'note', 'lines')]
  const alone = without(bald, 'chain')

  /** @returns {Generator<Setting | undefined>} */
  function* ways() {
    if (chained) yield find(whole, { ledger: true }, middle)
    for (const said of [whole, bare, bald]) yield find(said, {}, small)
    if (factors && chained) {
      for (const said of [whole, bald]) yield find(said, { tall: true, ledger: true }, from)
    }
    if (factors) for (const said of [whole, bare]) yield find(said, { tall: true }, small - 0.75)
    if (chained) {
      yield find(bald, { ledger: true }, from)
      for (const room of [9, 8, 7, 6]) {
        if (room < terms) yield find(shown(given, room), { ledger: true }, middle)
      }
    }
    yield find(alone, {}, least)
    if (factors) yield find(alone, { tall: true }, least)
    for (let room = terms - 1; room > 1; room--) {
      const said = shown(given, room)
      yield find(said, { ledger: true }, small - 0.75)
      yield find(said, {}, small - 0.75)
      yield find(without(said, 'note'), {}, small - 0.75)
      yield find(without(said, 'note', 'lines'), {}, least)
      yield find(without(said, 'note', 'lines', 'chain'), {}, least)
    }
    // in Present, where no large letters fit, those of the board may
    if (least > SIZES[0]) yield setCard(card, { w, h }, { measure, steps })
    yield find(alone, {}, SMALLEST)
    if (factors) yield find(alone, { tall: true }, SMALLEST)
    for (const said of [given, without(given, 'note'), without(given, 'note', 'lines')]) {
      for (const ledger of [true, false]) yield find({ ...said, table: null }, { ledger }, SMALLEST)
    }
  }
  for (const found of ways()) if (found) return found
  const nothing = { ...without(alone), table: null }
  return { said: nothing, tall: false, ledger: false, px: least, columns: [] }
}

/** @param {string} kind */
export const isBold = kind => kind === 'product' || kind === 'share'

/**
 * The widths of the numbers of a tall table, px.
 * @param {Shown} table
 * @param {number} px
 * @param {Measure} width
 */
const tallColumns = ({ rows }, px, width) =>
  rows.map(({ name, kind, cells, total }) =>
    Math.max(
      4.2 * px,
      0.6 * px + width(name, Math.max(0.84 * px, SMALLEST)),
      ...cells.map(text => 0.6 * px + width(text, px, isBold(kind))),
      0.6 * px + width(total, px, true)
    )
  )

/**
 * What is said of a card without some parts; of one without a table the lines stay.
 * @param {Said} said
 * @param {...('note' | 'lines' | 'chain')} parts
 * @returns {Said}
 */
const without = (said, ...parts) => ({
  ...said,
  note: parts.includes('note') ? '' : said.note,
  lines: parts.includes('lines') && said.table ? [] : said.lines,
  chain: parts.includes('chain') ? [] : said.chain
})

/** @param {number[]} values */
const sum = values => values.reduce((total, value) => total + value, 0)
