// All boards in all windows: nothing overlaps, nothing is outside, nothing is too small to read,
// weights and output are on the screen, and every number that is shown fits its cell.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import test from 'node:test'

import { layout } from '../../../../../attention/pages/js/board/layout/layout.js'
import { RULES, bottom, right } from '../../../../../attention/pages/js/board/layout/rules.js'
import { wider, widthOf } from '../../widths.mjs'
import { PARTS, casesOf, part, presentedOf, shaped } from '../boards.mjs'
import { boardIn, isPhone } from '../window.mjs'

const WINDOWS = [
  ...[[1366, 768], [1440, 900], [1920, 1080], [1366, 650], [1440, 760]],
  ...[[1536, 730], [1920, 950], [1280, 720], [2560, 1440]]
]
const PHONES = [[390, 844], [360, 740], [430, 932]]
const ALL = [...WINDOWS, ...PHONES]
const FONTS = [
  ['', casesOf(widthOf)],
  [', wider font', casesOf(wider)]
]
const CASES = FONTS[0][1]

const planIn = (data, width, height, more = {}) => {
  const { words, measure } = data
  const board = boardIn(width, height, { words, measure, presenting: more.presenting })
  return { board, plan: layout({ ...data, ...board, ...more }) }
}

const meet = (a, b) =>
  Math.min(right(a), right(b)) - Math.max(a.x, b.x) > 0.6 &&
  Math.min(bottom(a), bottom(b)) - Math.max(a.y, b.y) > 0.6

/** Every rectangle of a plan that holds something, with its name. */
function rectangles(plan) {
  const found = []
  const add = (name, rect) => rect && found.push([name, rect])
  for (const box of plan.boxes) {
    add(box.name, box)
    add(`heading of ${box.name}`, box.heading)
    if (box.rowLabels?.show) add(`rows of ${box.name}`, box.rowLabels)
    add(`columns of ${box.name}`, box.columnLabels)
  }
  add('card', plan.card)
  add('formula', plan.formula)
  add('note', plan.inputs?.note)
  if (plan.inputs && !plan.inputs.open) add('folded inputs', plan.inputs)
  return found
}

const text = ({ x, y, w, h, width = 0, height = 0 }) =>
  [width, height, x, y, w, h].map(value => Math.round(value * 10) / 10).join(' ')

function checkRectangles(plan, board, isTall) {
  const rects = rectangles(plan)
  for (const [name, rect] of rects) {
    const inside = rect.x >= -0.01 && rect.y >= -0.01 && right(rect) <= board.width + 0.6
    const above = isTall || bottom(rect) <= board.height + 0.6
    const isIn = inside && above && rect.w > 0 && rect.h > 0
    if (!isIn) assert.fail(`${name} is outside of ${text({ ...board, ...rect })}`)
  }
  for (let a = 0; a < rects.length; a++) {
    for (let b = a + 1; b < rects.length; b++) {
      if (!meet(rects[a][1], rects[b][1])) continue
      const both = `${text(rects[a][1])} | ${text(rects[b][1])}`
      assert.fail(`${rects[a][0]} and ${rects[b][0]} overlap: ${both}`)
    }
  }
}

/** A number as drawn leaves 6 px of its cell free, so that neighbors are 6 px apart or more. */
function checkNumbers(plan, data) {
  for (const box of plan.boxes) {
    const { px, numbers, name } = box
    assert.ok(px === 0 || px >= RULES.smallest, `${name} has numbers of ${px} px`)
    assert.equal(numbers === 'none', px === 0, name)
    if (!px) continue
    const { texts, tights, hidden } = data.stages[name]
    const all = numbers === 'tight' ? tights : texts
    const widest = Math.max(0, ...all.map(each => data.measure(each, px)))
    const air = Math.max(RULES.air, RULES.airs * px)
    assert.ok(widest + air <= box.cw + 0.01, `${name}: ${widest} px in a cell of ${box.cw}`)
    for (const each of hidden) assert.ok(data.measure(each, px) + 3 <= box.cw, `${name}: ${each}`)
    assert.ok(px <= RULES.leading * box.ch + 0.01, `${name}: ${px} px in a row of ${box.ch}`)
  }
  const sizes = new Set(
    plan.boxes.filter(box => box.line !== 'inputs' && box.px).map(({ px }) => px)
  )
  assert.ok(sizes.size <= 1, `numbers of several sizes: ${[...sizes]}`)
}

function checkWords(plan, data) {
  assert.ok(plan.heading >= RULES.smallest && plan.label >= RULES.smallest)
  for (const { name, tabs, heading, rowLabels, columnLabels, cw } of plan.boxes) {
    for (const labels of [rowLabels, columnLabels]) {
      if (labels) assert.ok(labels.px >= RULES.smallest, name)
    }
    if (columnLabels?.slant === 0 && columnLabels.kind === 'keys') {
      const wide = data.keys.map(word => data.measure(word, columnLabels.px))
      for (let k = 1; k < wide.length; k++) {
        assert.ok((wide[k - 1] + wide[k]) / 2 + 4 <= cw, `${data.keys[k]} of ${name}`)
      }
    }
    if (!heading) continue
    const tab = tabs.length > 1 ? 16 : 0
    const width = tabs.reduce((sum, stage) => {
      const { heading: words, place } = data.stages[stage]
      const written = words + (place.turned ? 'ᵀ' : '')
      return sum + data.measure(written, plan.heading, stage === name) + tab
    }, 0)
    assert.ok(width <= heading.w + 0.5, `the heading of ${name}: ${width} in ${heading.w}`)
  }
}

for (const [width, height] of ALL) {
  for (const [font, cases] of FONTS) {
    for (const [name, data] of Object.entries(cases)) {
      const openings = font ? ['auto'] : ['auto', 'folded', 'open']
      for (const inputs of openings) {
        test(`${name} at ${width} × ${height}, inputs ${inputs}${font}`, () => {
          const { board, plan } = planIn(data, width, height, { inputs })
          checkRectangles(plan, board, plan.phone || inputs === 'open')
          checkNumbers(plan, data)
          checkWords(plan, data)
          for (const stage of ['weights', 'output']) {
            const isShown = !data.stages[stage] || plan.boxes.some(box => box.name === stage)
            assert.ok(isShown, `${stage} is missing`)
          }
        })
      }
    }
  }
}

test('every stage is in a place, as its front or as a tab', () => {
  for (const [name, data] of Object.entries(CASES)) {
    for (const [width, height] of ALL) {
      const { plan } = planIn(data, width, height, { inputs: 'open' })
      const there = new Set(plan.boxes.flatMap(box => box.tabs))
      for (const stage of Object.keys(data.stages)) {
        assert.ok(there.has(stage), `${name} at ${width}: ${stage}`)
      }
    }
  }
})

test('a chosen tab is in front', () => {
  const { plan } = planIn(CASES['rotary-norm'], 1366, 768, { tabs: { Q: 'Q_normed' } })
  assert.equal(plan.at.Q.name, 'Q_normed')
  assert.deepEqual(plan.at.K.tabs, ['K', 'K_normed', 'K_rotated'])
  const phone = planIn(CASES.default, 390, 844, { tabs: { scores: 'scores' } }).plan
  assert.equal(phone.at.scaled.name, 'scores')
})

// ---- what has numbers where -------------------------------------------------------------------

test('what has to fit without scrolling has all its numbers', () => {
  const wanted = [
    ['default', 1366, 768, 28, 22, 11, 1],
    ['padding', 1366, 768, 28, 22, 11, 2],
    ['own8', 1366, 768, 28, 24, 10.5, 2],
    ['own10', 1440, 900, 28, 24, 11, 3],
    ['own12', 1920, 1080, 28, 24, 11, 2],
    ['default', 1920, 1080, 40, 40, 14, 1],
    ['qkv8', 1366, 768, 26, 26, 10.5, 2],
    ['heads2', 1366, 768, 28, 22, 10.5, 1]
  ]
  for (const [name, width, height, w, h, px, sharing] of wanted) {
    const { plan } = planIn(CASES[name], width, height)
    const { cell, number, way } = plan
    const lost = plan.boxes.filter(box => box.numbers === 'none').map(box => box.name)
    assert.deepEqual(lost, [], `${name} at ${width}`)
    assert.ok(cell.w >= w && cell.h >= h && number >= px, `${name}: ${cell.w} ${cell.h} ${number}`)
    assert.equal(way.sharing, sharing, name)
  }
  assert.ok(planIn(CASES.default, 1366, 768).plan.inputs.open)
  assert.ok(!planIn(CASES.own8, 1366, 768).plan.inputs.open)
})

test('the formula has room for the line below it', () => {
  for (const [name, data] of Object.entries(CASES)) {
    for (const [width, height] of WINDOWS) {
      const { formula } = planIn(data, width, height).plan
      assert.ok(!formula || formula.h >= 36, `${name} at ${width}: ${formula?.h}`)
    }
  }
})

test('weights keep their numbers longest', () => {
  for (const [name, data] of Object.entries(CASES)) {
    for (const [width, height] of WINDOWS) {
      const { at } = planIn(data, width, height).plan
      const lost = id => at[id].numbers === 'none'
      if (!lost('weights')) continue
      const before = ['scores', 'scaled', 'masked'].filter(id => at[id])
      assert.ok(before.every(lost), `${name} at ${width}`)
    }
  }
})

const ROWS = {
  ...{ '6 tokens': 'default', '6 tokens, two keys hidden': 'padding' },
  ...{ '8 tokens, look-ahead': 'own8', '10 tokens, look-ahead': 'own10' },
  ...{ '12 tokens, look-ahead': 'own12', '4 tokens, Q K V of 8 columns': 'qkv8' },
  ...{ 'd_k = 16': 'd16', 'd_k = 64': 'd64', 'd_k = 256': 'd256', 'two heads, W_O': 'heads2' },
  ...{ 'd_model = 256, eight heads, W_O': 'heads8', 'd_v = 256, two heads, W_O': 'values256' },
  ...{ 'cross-attention, 6 queries, 7 keys': 'cross', '16 tokens, look-ahead': 'own16' },
  ...{ '24 tokens': 't24', '64 tokens': 't64', 'with b_Q, b_K, b_V': 'biases' },
  ...{ 'batch of 64, d_k = 64': 'batch', 'rotary with norm': 'rotary-norm' },
  ...{ 'ALiBi, 8 tokens': 'alibi', 'a sink': 'sinks', 'soft cap': 'softcap' },
  ...{ 'relative bias': 'relative', 'grouped heads': 'grouped' },
  ...{ 'attention weights alone': 'weights-alone', 'many features': 'everything' }
}
const SHARED = ['', '', ' SM', ' SSM'] // scaled and masked share a place; scores too

/** How a board is drawn in a few words: 34×23 12.5 SM .47 open colours: K V. */
function inWords({ cell, number, way, boxes, inputs, phone }) {
  const main = boxes.filter(box => box.line !== 'inputs')
  const lost = main.filter(box => box.numbers === 'none').map(box => box.name)
  const size = `${cell.w}×${cell.h}`
  if (lost.length === main.length) return `${size} colours`
  const isTight = main.some(box => box.numbers === 'tight')
  const some = lost.length ? ` colours: ${lost.sort().join(' ')}` : ''
  const sharing = phone ? '' : SHARED[way.sharing]
  const open = inputs?.open ? ' open' : ''
  return `${size} ${number}${sharing}${isTight ? ' .47' : ''}${open}${some}`
}

test('what is drawn in which window', () => {
  const path = new URL('measured.txt', import.meta.url)
  const lines = []
  for (const [title, name] of Object.entries(ROWS)) {
    lines.push(title)
    for (const [width, height] of [...WINDOWS.slice(0, 7), ...PHONES.slice(0, 2)]) {
      const { plan } = planIn(CASES[name], width, height)
      lines.push(`  ${width}×${height}  ${inWords(plan)}`)
    }
  }
  const measured = `${lines.join('\n')}\n`
  if (process.env.WRITE) writeFileSync(path, measured)
  assert.equal(measured, readFileSync(path, 'utf8'))
})

// ---- any number of tokens ---------------------------------------------------------------------

test('more tokens bring no place back', () => {
  for (const [width, height] of WINDOWS) {
    let before = 0
    for (let n = 2; n <= 40; n++) {
      const { plan } = planIn(shaped(n, 4, widthOf), width, height)
      const isLost = box => box.line !== 'inputs' && box.numbers === 'none'
      if (plan.boxes.some(isLost)) break
      assert.ok(plan.way.sharing >= before, `${n} tokens at ${width}`)
      before = plan.way.sharing
    }
  }
})

test('numbers of usual width move nothing', () => {
  const [a, b] = [shaped(6, 4, widthOf), shaped(6, 4, widthOf)]
  b.stages.scaled.ems = 0.5
  b.stages.output.ems = 1.74
  const still = plan => plan.boxes.map(({ x, y, w, h }) => [x, y, w, h])
  assert.deepEqual(still(planIn(a, 1366, 768).plan), still(planIn(b, 1366, 768).plan))
})

test('any number of tokens is on one screen', () => {
  for (const n of [1, 2, 3, 5, 7, 11, 20, 30, 48, 64, 100, 200, 512]) {
    for (const d of [1, 2, 4, 8, 12, 33, 64, 128, 256]) {
      for (const [width, height] of [[1280, 720], [1366, 650], [1920, 1080]]) {
        const { board, plan } = planIn(shaped(n, d, widthOf), width, height)
        const name = `${n} tokens, d ${d}, at ${width}`
        assert.ok(plan.boxes.length, name)
        assert.ok(plan.end <= board.height + 0.6, `${name}: ${plan.end} of ${board.height}`)
        assert.ok(plan.used <= board.width + 0.6, `${name}: ${plan.used} of ${board.width}`)
        if (n <= 8) assert.notEqual(plan.at.weights.numbers, 'none', name)
      }
    }
  }
})

test('a board that has little room is still laid out', () => {
  for (const [name, data] of Object.entries(CASES)) {
    for (const [width, height] of [[844, 390], [768, 1024], [1024, 600], [320, 480]]) {
      for (const inputs of ['auto', 'open']) {
        const { board, plan } = planIn(data, width, height, { inputs })
        const sizes = plan.boxes.every(box => box.w > 0 && box.h > 0 && box.x >= -0.01)
        assert.ok(sizes, `${name} at ${width}: ${plan.boxes.map(text)}`)
        const isWide = width >= 1024 // beside an open sidebar
        if (inputs !== 'auto' || !isWide) continue
        assert.ok(plan.used <= board.width + 0.6, `${name} at ${width}`)
      }
    }
  }
  const many = planIn(shaped(512, 4, widthOf), 1366, 768, { inputs: 'open' }).plan
  assert.ok(many.boxes.some(box => box.line === 'inputs') && many.cell.h > 0.3)
})

// ---- some of the stages -----------------------------------------------------------------------

const SMALL = [...WINDOWS.slice(0, 4), ...PHONES.slice(0, 2)]

for (const [name, [of, names]] of Object.entries(PARTS)) {
  test(`a board of some stages: ${name}`, () => {
    for (const [width, height] of SMALL) {
      for (const presenting of isPhone(width) ? [false] : [false, true]) {
        const data = part(CASES[of], names)
        const { board, plan } = planIn(data, width, height, { presenting })
        checkRectangles(plan, board, plan.phone)
        checkNumbers(plan, data)
        checkWords(plan, data)
        const folded = plan.inputs && !plan.inputs.open
        assert.ok(plan.boxes.length || folded || !Object.keys(data.stages).length, name)
      }
    }
  })
}

test('on a phone the inputs come before all that is made of them, open and folded', () => {
  for (const [name, data] of Object.entries(CASES)) {
    for (const inputs of ['folded', 'open']) {
      const { plan } = planIn(data, 390, 844, { inputs })
      if (!plan.inputs) continue
      const made = plan.boxes.filter(({ line }) => line !== 'inputs')
      for (const { y, heading } of made) {
        assert.ok(bottom(plan.inputs) <= Math.min(y, heading?.y ?? y), `${name}, ${inputs}`)
      }
    }
  }
})

test('a narrow board on a tablet has its card below the blocks', () => {
  for (const [name, data] of Object.entries(CASES)) {
    for (const inputs of ['auto', 'open']) {
      const board = { width: 530, height: 900, phone: true, sheet: false }
      const plan = layout({ ...data, ...board, inputs })
      checkRectangles(plan, board, true)
      checkNumbers(plan, data)
      checkWords(plan, data)
      assert.ok(plan.card && plan.card.w === 530, name)
    }
  }
})

test('any choice of stages is laid out', () => {
  const some = ['X', 'W_Q', 'Q', 'K', 'V', 'scaled', 'scores', 'masked', 'weights', 'output']
  for (let bits = 0; bits < 2 ** some.length; bits++) {
    const names = some.filter((_, k) => bits & (1 << k))
    const data = part(CASES.own8, names)
    for (const [width, height] of [[1366, 768], [360, 740]]) {
      const { board, plan } = planIn(data, width, height)
      try {
        checkRectangles(plan, board, plan.phone)
        checkWords(plan, data)
      } catch (error) {
        throw new Error(`${names} at ${width}: ${error.message}`)
      }
    }
  }
})

for (const [name, whole] of Object.entries(CASES)) {
  test(`each stage of ${name} is presented as a product, with its card`, () => {
    for (const [width, height] of WINDOWS.slice(0, 3)) {
      for (const stage of Object.keys(whole.stages)) {
        const data = presentedOf(whole, stage)
        if (!data) continue
        const { board, plan } = planIn(data, width, height, { presenting: true })
        checkRectangles(plan, board, false)
        checkNumbers(plan, data)
        checkWords(plan, data)
        const box = plan.at[stage]
        for (const [factor, { line, over }] of Object.entries(data.places)) {
          const other = plan.at[factor]
          if (factor === stage || !other) continue
          if (line === 'lower') assert.ok(other.y === box.y && right(other) < box.x, factor)
          if (over) assert.ok(other.x === box.x && bottom(other) < box.y, factor)
        }
        const { card } = plan
        assert.ok(card && card.w >= 500 && card.h >= 180, `${stage}: ${card && text(card)}`)
      }
    }
  })
}

test('a row lower than its word is lit beside it, and has no arrows', () => {
  const [few, many] = ['own8', 't64'].map(name => planIn(CASES[name], 1366, 768).plan)
  assert.deepEqual([few.lit[0].x, few.arrows.length > 0], [0, true])
  const { rowLabels } = many.at.Q
  assert.ok(many.lit[0].x > right(rowLabels) - 8 && many.lit[0].x < many.at.Q.x)
  assert.deepEqual(many.arrows, [])
  for (const { x } of planIn(CASES.t64, 390, 844).plan.lit) assert.ok(x > 0)
})

test('presenting makes numbers larger', () => {
  const { plan } = planIn(CASES.default, 1920, 1080, { presenting: true, inputs: 'folded' })
  assert.ok(plan.number >= 24, String(plan.number))
  const small = planIn(CASES.default, 1366, 768, { presenting: true, inputs: 'folded' }).plan
  assert.ok(small.number >= 15, String(small.number))
})

test('Kᵀ is above the scores and V above the output, column on column', () => {
  const above = (at, factor, product) => {
    const [upper, lower] = [at[factor], at[product]]
    if (!upper || !lower) return
    assert.deepEqual([upper.x, upper.cw, upper.cols], [lower.x, lower.cw, lower.cols])
    assert.ok(bottom(upper) <= lower.y)
  }
  for (const data of Object.values(CASES)) {
    for (const [width, height] of ALL) {
      const { at } = planIn(data, width, height).plan
      above(at, 'K', 'scores')
      above(at, 'V', 'output')
      above(at, 'W_O', 'projected')
      above(at, 'b_O', 'projected')
      if (at.W_O && at.b_O) assert.ok(bottom(at.W_O) <= at.b_O.y)
      for (const [left, product] of [['Q', 'scores'], ['weights', 'output']]) {
        if (!at[left] || !at[product]) continue
        assert.equal(at[left].y, at[product].y)
        assert.ok(right(at[left]) < at[product].x)
      }
    }
  }
})
