// Cards in rectangles of all sizes: nothing is wider than its card, no letter is too small, and the
// terms stay wherever there is room for them.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { SIZES, setCard, shown } from '../../../../../attention/pages/js/board/card/card.js'
import { widthOf } from '../../widths.mjs'

// The cards of all examples; CARDS names a file that cards.py has written already.
const read = () => {
  if (process.env.CARDS) return JSON.parse(readFileSync(process.env.CARDS, 'utf8'))
  const folder = mkdtempSync(join(tmpdir(), 'cards-'))
  const file = join(folder, 'cards.json')
  try {
    const script = fileURLToPath(new URL('cards.py', import.meta.url))
    execFileSync(process.env.PYTHON ?? 'python3', [script, file])
    return JSON.parse(readFileSync(file, 'utf8'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
const cards = read()

const wider = (text, px, bold) => 1.13 * widthOf(text, px, bold)
const FONTS = [['Source Sans', widthOf], ['a wider font', wider]]
const WIDTHS = [200, 230, 285, 340, 520, 640]
const HEIGHTS = [132, 150, 220, 430]
const SMALLEST = 10.5
const MINUS = '\u2212'

const plain = text => text.replace(/\^\{([^}]*)\}/g, '$1').replaceAll('_', '')
const termsOf = card => card.table?.heads.length ?? 0
const sum = values => values.reduce((total, value) => total + value, 0)

// Each card in each rectangle, with how it is set and where.
const sets = FONTS.flatMap(([font, measure]) =>
  WIDTHS.flatMap(w =>
    HEIGHTS.flatMap(h =>
      cards.map(({ name, card }) => {
        const set = setCard(card, { w, h }, { measure })
        return [card, set, { w, h, measure, where: `${name} in ${w} × ${h}, ${font}` }]
      })
    )
  )
)
const everywhere = check => sets.forEach(one => check(...one))

test('no letter is smaller than 10.5 px', () => {
  everywhere((_, { px }, { where }) => {
    assert.ok(px >= SMALLEST && px <= SIZES[0], `${where}: ${px}`)
  })
})

test('a wide table is no wider than its card', () => {
  everywhere((_, { said, tall, px, columns }, { w, measure, where }) => {
    if (!said.table || tall) return
    const { rows, heads } = said.table
    const names = Math.max(...rows.map(row => measure(plain(row.name), px)))
    const totals = Math.max(...rows.map(row => measure(row.total, px, true)))
    // the padding of the card, of the names and of the totals
    const used = 1.8 * px + names + 0.9 * px + sum(columns) + totals + 0.8 * px
    assert.ok(used <= w + 0.01, `${where}: ${used}`)
    heads.forEach((head, k) => {
      const texts = [measure(head, Math.max(0.84 * px, SMALLEST))]
      texts.push(...rows.map(row => measure(row.cells[k], px)))
      assert.ok(Math.max(...texts) + 3 <= columns[k], `${where}: column ${k} is too narrow`)
    })
  })
})

test('the lines of a card are no higher than it', () => {
  everywhere((_, { said, tall, ledger, px }, { w, h, measure, where }) => {
    if (!said.table && !said.chain.length) return // the last resort
    const inner = w - 1.8 * px
    const lines = (text, em, bold) => Math.ceil(measure(plain(text), em * px, bold) / inner)
    const rows = said.table?.rows.length ?? 0
    const table = said.table ? (tall ? said.table.heads.length + 2 : rows + 0.84) * 1.3 : 0
    const words = sum(said.lines.map(line => lines(line, 1.12) * 1.45))
    const note = said.note && lines(said.note, 0.95) * 1.23
    const foot = ledger ? 1.6 * said.chain.length : said.chain.length ? 1.4 : 0
    const used = (1.1 + 1.37 + table + words + Number(note) + foot) * px
    assert.ok(used <= h, `${where}: ${used}`)
  })
})

test('the terms are shown wherever there is room for them', () => {
  everywhere((card, { said }, { w, h, measure, where }) => {
    if (!card.table) return
    // of a title in two lines a low card has no room for the table
    if (w >= 285 && h >= 150) assert.ok(said.table, `${where}: no table`)
    if (measure !== widthOf) return
    const few = card.table.count <= 4 && w >= 340 && h >= 220
    const some = card.table.count <= 8 && w >= 520 && h >= 220
    if (few || some) assert.equal(termsOf(said), termsOf(card), `${where}: terms are left out`)
  })
})

test('in low rooms the terms are small rather than left out', () => {
  const { card } = cards.find(({ card }) => card.stage === 'scores' && card.table?.count === 4)
  const room = { w: 330, h: 96 }
  const { said, px } = setCard(card, room, { measure: widthOf })
  assert.deepEqual([said.table?.heads.length, said.chain], [4, []])
  assert.ok(px >= 10.5 && px < 12)
})

test('larger letters are taken where they fit', () => {
  for (const { name, card } of cards) {
    const low = setCard(card, { w: 640, h: 220 }, { measure: widthOf })
    const high = setCard(card, { w: 1200, h: 700 }, { measure: widthOf })
    assert.ok(high.px >= low.px, name)
    assert.ok(high.ledger === card.chain.length > 0, name)
  }
})

test('a title, a value and the chosen link are always the card’s', () => {
  everywhere((card, { said }, { where }) => {
    assert.deepEqual([said.title, said.value], [card.title, card.value], where)
    assert.ok(!said.chain.length || said.chain.length === card.chain.length, where)
  })
})

test('of a cut table the largest terms stay, and the others are one sum', () => {
  for (const { name, card } of cards) {
    if (!card.table) continue
    const { table } = card
    for (let room = 2; room <= termsOf(card); room++) {
      const cut = shown(card, room).table
      assert.ok(cut.heads.length <= room, `${name}, room for ${room}`)
      if (table.count <= room) {
        assert.deepEqual(cut.heads, table.heads)
        continue
      }
      const kept = table.order.slice(0, room - 1).sort((a, b) => a - b)
      const left = table.count - kept.length
      const more = left === 1 ? '1 other' : `${left} others`
      assert.deepEqual(cut.heads, [...kept.map(k => table.heads[k]), more])
      cut.rows.forEach((row, r) => {
        const bare = row.cells.map(text => text.replace(/^\+\u00a0|\u00a0/, ''))
        const { cells, others } = table.rows[r]
        assert.deepEqual(bare, [...kept.map(k => cells[k]), others[kept.length] ?? ''])
      })
      if (table.mark >= 0) assert.equal(cut.heads[cut.mark], table.heads[table.mark], name)
    }
  }
})

test('products after the first one have a sign', () => {
  for (const { card } of cards) {
    for (const row of shown(card).table?.rows ?? []) {
      if (row.kind !== 'product') continue
      assert.ok(!/^[+]/.test(row.cells[0]))
      for (const text of row.cells.slice(1)) assert.match(text, /^[+\u2212]\u00a0/)
    }
  }
  const row = { name: 'product', kind: 'product', cells: ['1', `${MINUS}2`], total: '', others: [] }
  const table = { heads: ['1', '2'], rows: [row], count: 2, order: [1, 0], mark: -1, hidden: [] }
  const { cells } = shown({ ...cards[0].card, table }).table.rows[0]
  assert.deepEqual(cells, ['1', `${MINUS}\u00a02`])
})

test('the steps of Play take the place of the chain', () => {
  for (const { name, card } of cards) {
    const set = setCard(card, { w: 520, h: 220 }, { measure: widthOf, steps: true })
    assert.deepEqual([set.said.chain, set.ledger], [[], false], name)
  }
})

test('where no large letters fit, those of the board do', () => {
  const sizes = [34, 32, 30, 27]
  for (const { name, card } of cards) {
    for (const room of [{ w: 308, h: 290 }, { w: 380, h: 200 }]) {
      const set = sizes => setCard(card, room, { measure: widthOf, sizes })
      const [large, usual] = [set(sizes), set(undefined)]
      if (usual.px >= 13.5) assert.ok(large.px >= 13.5, `${name}: ${large.px} for ${usual.px}`)
    }
  }
})

test('sizes that are handed in are kept to', () => {
  const sizes = [34, 32, 30, 27]
  for (const { name, card } of cards) {
    const { px } = setCard(card, { w: 1300, h: 420 }, { measure: widthOf, sizes })
    assert.ok(px >= 25.5 && px <= 34, `${name}: ${px}`)
  }
})
