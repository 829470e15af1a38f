// Which places the panes of a formula get, from what Python sends of them.

import assert from 'node:assert/strict'
import test from 'node:test'

import { isMaskless, planned } from '../../../../attention/pages/js/board/arrange.js'
import { read } from '../../../../attention/pages/js/board/text/pane.js'
import { HIDDEN, LAST } from '../../../../attention/pages/js/board/paint/shades.js'
import { widthOf } from '../widths.mjs'
import { PLACES } from './boards.mjs'

const ZERO = LAST / 2
const ORDER = ['Q', 'scores', 'scaled', 'mask', 'masked', 'weights', 'output']
const KINDS = {
  Q: ['queries', 'd_k'],
  K: ['keys', 'd_k'],
  V: ['keys', 'd_v'],
  X: ['queries', 'd_model'],
  W_Q: ['d_model', 'd_k'],
  weights: ['queries', 'keys'],
  output: ['queries', 'd_v']
}

// A pane of a stage, all its cells of one value and one shade; `large` ones come without numbers.
const paneOf = (name, words, { value = 1, code = ZERO, large = false } = {}) => {
  const [rowKind, columnKind] = KINDS[name] ?? ['queries', 'keys']
  const axis = kind => (kind === 'queries' || kind === 'keys' ? words : ['1', '2', '3', '4'])
  const [rows, columns] = [axis(rowKind), axis(columnKind)]
  const count = rows.length * columns.length
  const spec = {
    ...{ name, symbol: name, place: PLACES[name], rowKind, columnKind, rows, columns, large },
    role: name === 'weights' ? 'share' : 'diverging',
    codes: new Uint8Array(count).fill(code),
    values: large ? undefined : new Float64Array(count).fill(value),
    texts: large ? null : rows.map(() => columns.map(() => String(value)))
  }
  const pane = { spec, place: spec.place }
  read(pane, spec.place)
  return pane
}

const NAMES = ['Q', 'K', 'V', 'scores', 'scaled', 'masked', 'weights', 'output']
const ASKED = { width: 1066, height: 560, order: ORDER, fronts: [], inputs: 'auto' }
const planOf = (panes, asked = {}) => planned(panes, { ...ASKED, ...asked }, widthOf)
const stagesOf = plan => plan.boxes.flatMap(box => box.tabs)

test('a sentence of plain numbers is laid out as one of words is', () => {
  const [words, digits] = [['a', 'b', 'c'], ['3', '1', '2']].map(tokens =>
    planOf(NAMES.map(name => paneOf(name, tokens)))
  )
  assert.ok(digits.cell.w > 20, `${digits.cell.w} px`)
  assert.deepEqual(digits.boxes.map(box => box.numbers), words.boxes.map(box => box.numbers))
})

test('a mask of 0 and −∞ has no place of its own, a bias of one number has one', () => {
  const words = ['a', 'b', 'c']
  const panes = NAMES.map(name => paneOf(name, words))
  const isShown = mask => stagesOf(planOf([...panes, mask])).includes('mask')
  assert.equal(isShown(paneOf('mask', words, { value: 0 })), false)
  assert.equal(isShown(paneOf('mask', words, { value: 5 })), true)
  for (const [code, shown] of [[ZERO, false], [HIDDEN, false], [LAST, true]]) {
    const mask = paneOf('mask', words, { large: true, code })
    assert.equal(isShown(mask), shown, `code ${code}`)
  }
})

test('without a mask the masked scores are a tab behind the scaled ones', () => {
  const panes = NAMES.map(name => paneOf(name, ['a', 'b', 'c']))
  assert.ok(isMaskless(panes))
  const { boxes } = planOf(panes)
  const box = boxes.find(({ tabs }) => tabs.includes('masked'))
  assert.equal(box.name, 'scaled')
})

test('the places of a steady board are the same with a mask and without', () => {
  const words = ['a', 'b', 'c', 'd', 'e', 'f']
  const places = codes => {
    const panes = NAMES.map(name => paneOf(name, words, name === 'masked' ? codes : {}))
    const { boxes } = planOf(panes, { steady: true })
    return boxes.map(({ name, x, y, w, h }) => [name, x, y, w, h])
  }
  assert.deepEqual(places({}), places({ code: HIDDEN, value: NaN }))
})

test('open inputs yield to numbers and to a board that would scroll', () => {
  const isOpen = (count, yields) => {
    const words = Array.from({ length: count }, (_, k) => `word${k}`)
    const panes = ['X', 'W_Q', ...NAMES].map(name => paneOf(name, words))
    return planOf(panes, { inputs: 'open', steady: true, yields, height: 440 }).inputs.open
  }
  assert.deepEqual([isOpen(4, true), isOpen(10, true), isOpen(10, false)], [true, false, true])
})
