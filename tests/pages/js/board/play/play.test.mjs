// Play, of boards with all features, in windows and on a phone: what is seen at each moment is made
// by then, inside of the board, and written as the stages have it.

import assert from 'node:assert/strict'
import test from 'node:test'

import { layout } from '../../../../../attention/pages/js/board/layout/layout.js'
import {
  boxOf,
  frontsOf,
  momentOf,
  stepsOf
} from '../../../../../attention/pages/js/board/play/play.js'
import { widthOf } from '../../widths.mjs'
import { PLAYED, boardOf } from '../boards.mjs'
import { boardIn } from '../window.mjs'

const WINDOWS = [[1366, 768], [1440, 900], [1920, 1080], [390, 844]]
const MOMENTS = [0, 0.1, 0.2, 0.3, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 1]
const EDGE = 14.5 // px around the board
const HEIGHTS = 'the height of a bar, px'

// A stage as it is drawn: K is turned.
const matrixOf = ({ values, texts, hidden }, turned, digits) => {
  const at = rows => (r, c) => (turned ? rows[c][r] : rows[r][c])
  const value = at(values)
  const [rows, cols] = [values.length, values[0].length]
  return {
    ...{ rows: turned ? cols : rows, cols: turned ? rows : cols, digits },
    value: (r, c) => Number(String(value(r, c)).replace('inf', 'Infinity')),
    text: at(texts),
    hidden: at(hidden)
  }
}

// What is played of a case in a window, with the tabs turned as it wants them.
const playIn = (name, [width, height]) => {
  const { board: data, query, digits, steps: all, stages: given } = PLAYED[name]
  const asked = boardOf(data, widthOf)
  const room = boardIn(width, height, { words: data.words })
  const plan = layout({ ...asked, ...room })
  const stages = Object.fromEntries(
    Object.entries(given).map(([stage, one]) => [
      stage,
      matrixOf(one, !!asked.stages[stage]?.place.turned, digits)
    ])
  )
  const steps = stepsOf(all, plan)
  return { plan, query, steps, stages, name: `${name}, ${width} × ${height}` }
}

const BOARDS = Object.keys(PLAYED).flatMap(name => WINDOWS.map(window => playIn(name, window)))

const everywhere = check => {
  for (const board of BOARDS) {
    board.steps.forEach((step, k) => {
      for (const p of MOMENTS) {
        const moment = momentOf(board, k, p)
        check({ ...board, step, k, p, moment, where: `${board.name}: ${step.label} at ${p}` })
      }
    })
  }
}

const inside = (inner, outer, slack = 0.51) =>
  inner.x >= outer.x - slack &&
  inner.y >= outer.y - slack &&
  inner.x + inner.w <= outer.x + outer.w + slack &&
  inner.y + inner.h <= outer.y + outer.h + slack

const cellOf = (box, row, column) => ({
  ...{ x: box.x + column * box.cw, y: box.y + row * box.ch, w: box.cw, h: box.ch }
})
const isCovered = (cell, { veils }) => veils.some(veil => veil.solid && inside(cell, veil))

const stepsIn = name => PLAYED[name].steps.map(step => step.name)

test('the steps are those that the settings have', () => {
  const first = ['Dot products', 'Scale']
  assert.deepEqual(stepsIn('default'), [...first, 'Softmax', 'Mix'])
  assert.deepEqual(stepsIn('own8'), [...first, 'Mask', 'Softmax', 'Mix'])
  assert.deepEqual(stepsIn('relative'), [...first, 'Bias', 'Softmax', 'Mix'])
  assert.deepEqual(stepsIn('softcap'), [...first, 'Cap', 'Softmax', 'Mix'])
  assert.deepEqual(stepsIn('everything'), [...first, 'Cap', 'Mask', 'Softmax', 'Mix'])
  for (const name of ['bare-bones', 'sigmoid']) {
    assert.deepEqual(stepsIn(name), [...first, 'Weights', 'Mix'])
  }
  assert.deepEqual(stepsIn('weights-alone'), [])
})

test('a query takes eight seconds, and one more for each thing that is done to its scores', () => {
  for (const { steps, name } of BOARDS.filter(({ steps }) => steps.length)) {
    const seconds = steps.reduce((sum, step) => sum + step.seconds, 0)
    assert.equal(seconds, 8 + steps.length - 4, name)
    assert.deepEqual(steps.map(({ label }) => label[0]), steps.map((_, k) => String(k + 1)))
  }
})

test('all that moves is inside the board', () => {
  everywhere(({ plan, moment, where }) => {
    const board = { x: 0, y: 0, w: plan.width, h: Math.max(plan.end, plan.height) }
    for (const part of ['ghosts', 'bars', 'frames', 'veils']) {
      for (const rect of moment[part]) {
        const isNumber = [rect.x, rect.y, rect.w, rect.h].every(Number.isFinite)
        assert.ok(isNumber && inside(rect, board, EDGE), `${where}: ${part}`)
        assert.ok(rect.w >= 0 && rect.h >= 0, `${where}: ${part}`)
      }
    }
  })
})

test('nothing is seen before it is made', () => {
  everywhere(({ plan, steps, query, k, moment, where }) => {
    const used = [steps[k].takes, steps[k].makes].map(stage => boxOf(plan, stage))
    const later = steps.slice(k + 1).map(({ makes }) => boxOf(plan, makes))
    const after = ['joined', 'projected', 'context'].map(stage => boxOf(plan, stage))
    for (const box of [...later, ...after].filter(box => box && !used.includes(box))) {
      const row = box.name === 'context' ? 0 : query
      for (let c = 0; c < box.cols; c++) {
        assert.ok(isCovered(cellOf(box, row, c), moment), `${where}: ${box.name}`)
      }
    }
  })
})

test('what a step makes is covered at its beginning, and all of it is seen at its end', () => {
  everywhere(({ plan, query, step, p, moment, where }) => {
    const [taken, made] = [step.takes, step.makes].map(stage => boxOf(plan, stage))
    for (let c = 0; c < made.cols && (p === 0 || p === 1); c++) {
      const cell = cellOf(made, query, c)
      const ghost = moment.ghosts.find(one => inside(cell, one) && one.cell[0] === step.takes)
      const isHidden = taken === made ? !!ghost : isCovered(cell, moment)
      assert.equal(isHidden, p === 0, `${where}: ${step.makes} ${c}`)
    }
    if (p === 1) assert.deepEqual([moment.ghosts, moment.bars], [[], []], where)
  })
})

test('scores are made one after the other, and the card is of the one that is', () => {
  everywhere(({ plan, query, step, p, moment, where }) => {
    if (step.kind !== 'dot') return assert.equal(moment.key, -1)
    const made = boxOf(plan, step.makes)
    const seen = Array.from({ length: made.cols }, (_, c) => c).filter(
      c => !isCovered(cellOf(made, query, c), moment)
    )
    assert.deepEqual(seen, seen.map((_, k) => k), where)
    assert.ok(seen.length === moment.key || seen.length === moment.key + 1, where)
    if (step.cards.length > 1) assert.equal(step.cards[moment.key].column, moment.key)
  })
})

test('a cell on its way has the text of a stage', () => {
  everywhere(({ stages, step, moment, p, where }) => {
    for (const { cell, text, bold, value } of moment.ghosts) {
      if (!cell || !text || bold || value !== undefined || step.kind === 'mix') continue
      const [stage, row, column] = cell
      assert.ok([step.takes, step.makes].includes(stage), where)
      assert.equal(text, stages[stage].text(row, column), where)
      if (step.kind === 'each' && p >= 0.9) assert.equal(stage, step.makes, where)
    }
  })
})

const read = text => Number(text.replace('\u2212', '-').replace('e\u2212', 'e-'))

test('products are those of the numbers, to the last digit that is shown', () => {
  let [dots, mixed] = [0, 0]
  everywhere(({ plan, stages, query, step, moment, where }) => {
    const digits = stages[step.makes].digits
    for (const { cell, text, bold, alpha, x } of moment.ghosts) {
      if (!text || !cell || text === '≈0') continue
      const [stage, row, column] = cell
      if (stage !== step.above) continue
      const isDot = step.kind === 'dot' && bold
      const isMixed = step.kind === 'mix' && alpha > 0.5
      if (!isDot && !isMixed) continue
      // of Kᵀ the row is a number of the query, of V a key
      const product = stages[step.takes].value(query, row) * stages[stage].value(row, column)
      assert.ok(Math.abs(read(text) - product) <= 0.5001 * 10 ** -digits, `${where}: ${text}`)
      const box = boxOf(plan, stage)
      assert.ok(Math.abs(x - (box.x + column * box.cw)) < box.cw, where)
      if (isDot) dots++
      else mixed++
    }
  })
  assert.ok(dots > 500 && mixed > 500, `${dots} ${mixed}`)
})

test('bars grow to the powers of e, and shrink to the shares', () => {
  for (const board of BOARDS) {
    const { plan, stages, query, steps } = board
    const k = steps.findIndex(({ name }) => name === 'Softmax')
    if (k < 0 || stages.weights.rows < 2) continue // one row has no others to stand in
    const { takes, makes } = steps[k]
    const box = boxOf(plan, makes)
    const open = Array.from({ length: box.cols }, (_, c) => c).filter(
      c => !stages[makes].hidden(query, c)
    )
    const scores = open.map(c => stages[takes].value(query, c))
    const top = Math.max(...scores)
    const grown = momentOf(board, k, 0.6).bars
    const settled = momentOf(board, k, 0.95).bars
    assert.equal(grown.length, open.length, board.name)
    const most = Math.max(...grown.map(({ h }) => h), 0)
    open.forEach((c, n) => {
      const share = stages[makes].value(query, c)
      const power = Math.exp(scores[n] - top)
      assert.ok(Math.abs(grown[n].h - most * power) < 0.1, `${board.name}: ${HEIGHTS}`)
      assert.ok(Math.abs(settled[n].h - share * most) < 0.1, `${board.name}: ${HEIGHTS}`)
    })
  }
})

test('no bar meets the numbers of its row', () => {
  for (const name of ['default', 'own8']) {
    const board = playIn(name, [1366, 768])
    const box = boxOf(board.plan, 'weights')
    const last = board.stages.weights.rows - 1
    for (const query of [0, 1, last]) {
      const k = board.steps.findIndex(({ kind }) => kind === 'weights')
      const top = box.y + query * box.ch
      for (const p of MOMENTS) {
        for (const { y, h } of momentOf({ ...board, query }, k, p).bars) {
          assert.ok(y + h <= top || y >= top + box.ch, `${name} ${query} ${p}`)
        }
      }
    }
  }
})

test('before they settle the powers are those of the card, then the weights', () => {
  const board = playIn('default', [1366, 768])
  const at = p => momentOf(board, 2, p).ghosts.map(({ text }) => text).filter(Boolean)
  const row = board.steps[2].cards[0].table.rows.find(({ name }) => name.startsWith('e^{s'))
  assert.deepEqual(at(0.6), row.cells)
  const weights = board.stages.weights
  assert.deepEqual(at(0.95), row.cells.map((_, c) => weights.text(board.query, c)))
})

test('where no softmax is taken, no bar grows', () => {
  for (const name of ['bare-bones', 'sigmoid', 'sees no key']) {
    const board = playIn(name, [1366, 768])
    const k = board.steps.findIndex(({ kind }) => kind === 'weights')
    for (const p of MOMENTS) assert.deepEqual(momentOf(board, k, p).bars, [], name)
  }
})

test('many keys pass without numbers', () => {
  for (const name of ['t24', 't64']) {
    for (const window of WINDOWS) {
      const board = playIn(name, window)
      board.steps.forEach(({ kind }, k) => {
        for (const p of MOMENTS) {
          const { ghosts } = momentOf(board, k, p)
          if (kind === 'dot' && p > 0.2) assert.ok(ghosts.every(({ text }) => !text), name)
          assert.ok(ghosts.length <= 1300, name)
        }
      })
    }
  }
})

test('a shared place shows what a step takes until the step has ended', () => {
  const { steps, plan } = playIn('own8', [390, 844])
  const shared = boxOf(plan, 'scores').tabs
  assert.ok(['scaled', 'masked'].every(stage => shared.includes(stage)))
  const front = (k, hasEnded) => frontsOf(steps, k, hasEnded).findLast(s => shared.includes(s))
  const names = steps.map((_, k) => [front(k, false), front(k, true)])
  assert.deepEqual(names, [
    ['scores', 'scores'],
    ['scores', 'scaled'],
    ['scaled', 'masked'],
    ['masked', 'masked'],
    ['masked', 'masked']
  ])
})

test('steps without a place on the board are left out', () => {
  const { plan, steps } = playIn('default', [1366, 768])
  const boxes = plan.boxes.filter(({ name }) => name !== 'weights')
  const left = stepsOf(steps, { ...plan, boxes })
  assert.deepEqual(left.map(({ label }) => label), ['1 Dot products', '2 Scale'])
})
