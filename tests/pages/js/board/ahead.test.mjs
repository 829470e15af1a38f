import assert from 'node:assert/strict'
import test, { beforeEach, mock } from 'node:test'
import { Ahead } from '../../../../attention/pages/js/board/ahead.js'

const CARD = { stage: 'weights', row: 1, column: 3, value: '0.07' }
const OTHER = { stage: 'weights', row: 1, column: 4, value: '0.42' }

// A board that notes what is asked of it: `sent` to Python, and `drawn`, in the order it was.
let [board, ahead, sent, drawn, previews] = [null, null, [], [], []]
const told = (more = {}) => ({
  asks: 'asked/name/1',
  cell: ['weights', 1, 3],
  card: CARD,
  sliders: { d_k: 4, digits: 2 },
  picks: ['', 0],
  ...more
})

beforeEach(t => {
  mock.timers.enable({ apis: ['setTimeout'] })
  ;[sent, drawn, previews] = [[], [], []]
  let now = 0
  mock.method(performance, 'now', () => now)
  board = {
    told: told(),
    rests: false,
    root: { toggleAttribute: (name, on) => (board.marked = on) },
    edits: { client: 'me', seen: 0, idle: true, stroke: false, pump: () => sent.push('pump') },
    player: { on: false },
    around: { pointed: {}, showCard: () => drawn.push('card') },
    linking: { remark() {} },
    asked: {
      took: 0,
      cards: new Map([['weights,1,4', OTHER]]),
      card: place => board.asked.cards.get(place.join()) ?? null,
      preview: (what, show) => previews.push({ ...structuredClone(what), show })
    },
    emit: (name, value) => (sent.push([name, value.number]), true),
    send: (name, value) => sent.push([name, value.number]),
    show: head => {
      if (ahead.holds(head)) return
      board.told = head
      board.takeTold()
      ahead.mark()
      board.drawHead()
    },
    takeTold: () => (board.head = ahead.asPicked({ ...board.told })),
    drawHead: () => drawn.push(board.head.sliders),
    drawPreview: bytes => drawn.push(bytes),
    draw: () => drawn.push('all')
  }
  board.passes = ms => {
    for (const end = now + ms; now < end; ) {
      now += 10
      mock.timers.tick(10)
    }
  }
  ahead = new Ahead(board)
  board.takeTold()
})
test.afterEach(() => mock.restoreAll())
test.afterEach(() => mock.timers.reset())

// ---- sliders ----------------------------------------------------------------------------------

test('what a slider makes is drawn as it comes, and of no other slider is asked', () => {
  ahead.moved('d_k', 5)
  ahead.moved('sample_d_k', 5)
  assert.deepEqual(previews.map(({ moves }) => moves), [{ d_k: 5 }])
  previews[0].show('five')
  assert.deepEqual([drawn, ahead.isAhead, board.marked], [['five'], true, true])
  board.show(told({ asks: 'asked/name/2', sliders: { d_k: 5, digits: 2 } }))
  assert.deepEqual([drawn.length, ahead.isAhead, board.marked], [2, false, false])
})

test('an answer to an earlier move waits for that to the newest, or until the page rests', () => {
  for (const value of [5, 6]) ahead.moved('d_k', value)
  for (const { show } of previews) show('seen')
  board.show(told({ sliders: { d_k: 5, digits: 2 } }))
  board.passes(300)
  assert.deepEqual([drawn, ahead.isAhead], [['seen', 'seen'], true])
  board.show(told({ sliders: { d_k: 6, digits: 2 } }))
  assert.deepEqual(drawn.slice(2), [{ d_k: 6, digits: 2 }])
  board.passes(300) // the one that waited is not drawn after it
  assert.equal(drawn.length, 3)
  ahead.moved('d_k', 7) // which Python refuses
  previews.at(-1).show('refused later')
  board.show(told({ sliders: { d_k: 6, digits: 2 } }))
  board.passes(500)
  assert.equal(drawn.length, 4)
  board.rests = true
  board.passes(100)
  assert.deepEqual([drawn.length, ahead.isAhead], [5, false])
})

test('where a slider goes back and forth, no value comes again that it has left', () => {
  for (const value of [5, 6, 5]) ahead.moved('d_k', value)
  for (const { show } of previews) show('seen')
  board.show(told({ sliders: { d_k: 5, digits: 2 } })) // on the way up
  board.show(told({ sliders: { d_k: 6, digits: 2 } }))
  board.passes(300)
  assert.deepEqual(drawn.slice(3), [{ d_k: 5, digits: 2 }])
  board.show(told({ sliders: { d_k: 5, digits: 2 } }))
  assert.deepEqual(drawn.slice(4), [{ d_k: 5, digits: 2 }])
  board.rests = true
  board.passes(500) // nothing more is to come
  board.rests = false
  board.show(told({ sliders: { d_k: 9, digits: 2 } })) // which the board did not foresee
  assert.deepEqual(drawn.slice(5), [{ d_k: 9, digits: 2 }])
})

test('an answer does not wait for a move that nothing was shown of', () => {
  ahead.moved('d_k', 5)
  previews[0].show(null)
  board.show(told({ sliders: { d_k: 4, digits: 3 } }))
  assert.deepEqual([drawn, ahead.isAhead], [[{ d_k: 4, digits: 3 }], false])
})

test('a slider back where it began shows the last answer, and nothing that comes late', () => {
  ahead.moved('d_k', 5)
  ahead.moved('d_k', 4)
  assert.deepEqual([drawn, previews.length], [[board.told.sliders], 1])
  previews[0].show('five')
  assert.deepEqual([drawn.length, ahead.isAhead, board.marked], [1, false, false])
  board.show(told({ sliders: { d_k: 5, digits: 2 } })) // which was told in between
  assert.equal(drawn.length, 1)
  board.show(told())
  assert.equal(drawn.length, 2)
})

test('after Back no answer waits, but until it comes other numbers are seen', () => {
  ahead.moved('d_k', 5)
  previews[0].show('five')
  ahead.moved('d_k', 6)
  board.show(told({ sliders: { d_k: 5, digits: 2 } })) // which waits for the six
  ahead.forgetMoves()
  previews[1].show('six')
  board.passes(500)
  assert.deepEqual([drawn, ahead.isAhead], [['five'], true])
  board.show(told({ sliders: { d_k: 3, digits: 2 } }))
  assert.deepEqual([drawn.length, ahead.isAhead], [2, false])
})

test('while something typed is on its way, or a stage is played, no slider is followed', () => {
  board.edits.idle = false
  ahead.moved('d_k', 5)
  Object.assign(board, { edits: { ...board.edits, idle: true }, player: { on: true } })
  ahead.moved('d_k', 5)
  Object.assign(board, { player: { on: false }, head: told({ asks: '' }) })
  ahead.moved('d_k', 5)
  assert.deepEqual(previews, [])
})

test('a preview that came after the last answer is taken back once the page rests', () => {
  ahead.moved('d_k', 5)
  board.show(told({ sliders: { d_k: 4, digits: 3 } })) // of another move
  previews[0].show('five')
  board.rests = true
  board.passes(500)
  assert.deepEqual(drawn.slice(2), [{ d_k: 4, digits: 3 }])
  assert.deepEqual([ahead.isAhead, board.marked], [false, false])
})

test('over a slow connection an answer to an earlier move waits longer', () => {
  board.asked.took = 300
  for (const value of [5, 6]) ahead.moved('d_k', value)
  for (const { show } of previews) show('seen')
  board.rests = true // the server has not heard of the second
  board.passes(450)
  board.show(told({ sliders: { d_k: 5, digits: 2 } }))
  board.passes(600)
  assert.equal(drawn.length, 2)
  board.passes(400)
  assert.equal(drawn.length, 3) // it was refused
})

// ---- a number that is dragged -----------------------------------------------------------------

test('what a number makes that is dragged is drawn of the numbers that it was asked of', () => {
  const message = { client: 'me', operations: [[7]], more: true }
  board.edits.stroke = true
  ahead.edited(message)
  assert.deepEqual(previews[0].edits, message)
  previews[0].show('dragged')
  assert.deepEqual([drawn, board.edits.seen, sent], [['dragged'], 7, ['pump']])
  ahead.edited(message)
  board.head.asks = 'asked/name/2'
  previews[1].show('of others')
  assert.deepEqual([drawn, sent], [['dragged'], ['pump', 'pump']]) // so that it is asked again
  board.edits.stroke = false
  previews[1].show('late')
  assert.deepEqual([drawn, sent.length], [['dragged'], 2])
})

// ---- cells ------------------------------------------------------------------------------------

test('a cell that is picked is shown at once, and stays until Python has counted it', () => {
  ahead.pick('weights', 1, 4)
  assert.deepEqual([board.head.card, drawn, board.marked], [OTHER, ['card'], true])
  board.show(told())
  assert.deepEqual([board.head.card, board.head.cell], [OTHER, ['weights', 1, 4]])
  assert.equal(board.marked, true)
  board.show(told({ picks: ['another', 1] }))
  assert.equal(board.head.card, OTHER)
  board.show(told({ picks: ['me', 1] })) // who counted it, and shows the cell of before
  assert.deepEqual([board.head.card, board.marked], [CARD, false])
})

test('of other numbers the cell is not shown that was picked before', () => {
  ahead.pick('weights', 1, 4)
  board.show(told({ asks: 'asked/name/2' }))
  assert.equal(board.head.card, CARD)
})

test('a card that is not here yet is shown when it comes', () => {
  ahead.pick('weights', 2, 2)
  assert.deepEqual([board.head.card, drawn], [CARD, []])
  const come = { stage: 'weights', row: 2, column: 2 }
  board.asked.cards.set('weights,2,2', come)
  ahead.showPicked()
  assert.deepEqual([board.head.card, drawn], [come, ['card']])
})

test('a click is told again twice, each time the page rests, and then given up', () => {
  ahead.pick('weights', 1, 4)
  board.passes(1000) // a run goes on
  assert.deepEqual(sent, [['picked', 1]])
  board.rests = true
  for (const count of [2, 3]) {
    board.passes(400)
    assert.deepEqual(sent, Array(count).fill(['picked', 1]))
  }
  assert.equal(board.marked, true)
  board.passes(400)
  assert.deepEqual([sent.length, board.head.card, board.marked], [3, CARD, false])
  board.passes(5000)
  assert.equal(sent.length, 3)
})

for (const [took, patience] of [[700, 2800], [30_000, 5000]]) {
  test(`after an answer of ${took} ms a click is told again in ${patience}, not before`, () => {
    Object.assign(board, { rests: true })
    board.asked.took = took
    ahead.pick('weights', 1, 4)
    board.passes(patience - 100)
    assert.equal(sent.length, 1)
    board.passes(100)
    assert.equal(sent.length, 2)
  })
}

test('a click that the connection lost is told again once it is back', () => {
  board.rests = true
  ahead.pick('weights', 1, 4)
  let tried = 0
  board.emit = () => (tried++, false)
  board.passes(4000)
  assert.deepEqual([tried >= 9, board.marked], [true, true])
  board.emit = (name, value) => (sent.push([name, value.number]), true)
  board.passes(400)
  assert.deepEqual(sent, [['picked', 1], ['picked', 1]])
})

test('a second click takes the place of the first', () => {
  board.rests = true
  ahead.pick('weights', 1, 4)
  ahead.pick('weights', 1, 3)
  board.passes(400)
  assert.deepEqual(sent, [['picked', 1], ['picked', 2], ['picked', 2]])
  board.show(told({ picks: ['me', 2] }))
  board.passes(5000)
  assert.equal(sent.length, 3)
})

test('a click that is given up leaves what a slider makes as it is', () => {
  ahead.moved('d_k', 5)
  previews[0].show('five')
  Object.assign(board.head, { card: OTHER }) // of the preview
  ahead.pick('weights', 1, 3)
  assert.equal(board.head.card, OTHER) // of other numbers than its card
  board.rests = true
  board.passes(1200)
  assert.deepEqual([board.head.card, drawn], [OTHER, ['five']])
})

test('a preview is asked for with the cell that was picked', () => {
  ahead.moved('d_k', 5)
  ahead.pick('weights', 1, 4)
  ahead.moved('d_k', 6)
  ahead.edited({ client: 'me', operations: [[1]], more: true })
  const cell = ['weights', 1, 4]
  assert.deepEqual(previews.map(({ picked }) => picked), [undefined, cell, cell])
})

test('where the connection is down, or nobody answers, no click is waited for', () => {
  board.emit = () => false
  ahead.pick('weights', 1, 4)
  board.emit = () => true
  board.head.asks = ''
  ahead.pick('weights', 1, 4)
  assert.deepEqual([drawn, ahead.picked], [[], null])
})

test('a board that is gone tells nothing and shows nothing', () => {
  board.rests = true
  ahead.pick('weights', 1, 4)
  ahead.moved('d_k', 5)
  previews[0].show('five')
  board.rests = false
  board.show(told())
  ahead.end()
  board.rests = true
  board.passes(9000)
  assert.deepEqual([sent.length, drawn], [1, ['card', 'five']])
})
