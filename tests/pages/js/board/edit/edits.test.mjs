import assert from 'node:assert/strict'
import test, { beforeEach } from 'node:test'

let connection = 'CONNECTED'
const dataset = { get testConnectionState() { return connection } }
globalThis.document = { querySelector: () => ({ dataset }) }
const { Edits, PATIENCE } = await import('../../../../../attention/pages/js/board/edit/edits.js')

// A clock that is put forward by hand.
let [now, timers, made] = [0, new Map(), 0]
globalThis.setTimeout = (act, ms) => (timers.set(++made, [now + ms, act]), made)
globalThis.clearTimeout = timer => timers.delete(timer)
const wait = ms => {
  now += ms
  for (const [timer, [at, act]] of [...timers]) {
    if (at <= now && timers.delete(timer)) act()
  }
}

// What is sent, said and touched; Python's part is played by `answer`.
let [edits, sent, said, touched] = [null, [], [], []]
let seen = null // the messages whose effect is seen before they are sent; null: nobody shows any
const numbers = message => message.operations.map(([number]) => number)
const answer = (last, more = {}) => {
  edits.heard({ client: edits.client, last, most: 100, edited: 'now', refused: [], ...more })
}
const type = (column, text = '1') => edits.add('cell', 'X', 0, column, text)

beforeEach(() => {
  edits?.close()
  connection = 'CONNECTED'
  ;[sent, said, touched, seen] = [[], [], [], null]
  edits = new Edits(
    message => sent.push(message),
    stage => touched.push(stage),
    sentence => said.push(sentence),
    message => !!seen?.push(message)
  )
})

test('an operation is sent at once, with its place and what it is of', () => {
  answer(0)
  edits.add('cell', 'W_Q', 2, 3, '-0.5')
  assert.deepEqual(sent, [
    { client: edits.client, operations: [[1, 'cell', 'W_Q', 2, 3, '-0.5', 'now']], more: false }
  ])
  assert.deepEqual(touched, ['W_Q'])
})

test('one message is in the air, and what follows goes together', () => {
  for (let k = 0; k < 5; k++) type(k)
  assert.deepEqual(sent.map(numbers), [[1]])
  answer(1)
  assert.deepEqual(sent.map(numbers), [[1], [2, 3, 4, 5]])
  assert.deepEqual(edits.of('X').map(({ number }) => number), [2, 3, 4, 5])
  answer(5)
  assert.equal(sent.length, 2)
  assert.ok(edits.idle)
})

test('an answer that says nothing new sends nothing again', () => {
  type(0)
  type(1)
  answer(0) // of a run that began before
  assert.deepEqual(sent.map(numbers), [[1]])
  edits.heard({ client: 'another', last: 9, refused: [] })
  edits.heard(null)
  assert.deepEqual(edits.of('X').map(({ number }) => number), [1, 2])
})

test('of a cell that waits only its newest number is sent', () => {
  type(0, '1')
  type(1, '2')
  type(1, '2.5')
  type(2, '3')
  type(1, '2.75') // another came between
  answer(1)
  assert.deepEqual(sent[1].operations.map(([number, , , , , text]) => [number, text]), [
    [3, '2.5'],
    [4, '3'],
    [5, '2.75']
  ])
})

test('a number in the air is not taken back', () => {
  type(0, '1')
  type(0, '2')
  assert.deepEqual(edits.of('X').map(({ text }) => text), ['1', '2'])
  answer(1)
  assert.deepEqual(sent.map(numbers), [[1], [2]])
})

test('tokens and rows are never merged', () => {
  type(9)
  edits.add('add', 'X', 0, 4)
  edits.add('add', 'X', 0, 4)
  edits.add('token', 'X', 4, 0, 'a')
  edits.add('token', 'X', 4, 0, 'b')
  answer(1)
  assert.deepEqual(numbers(sent[1]), [2, 3, 4, 5])
})

test('what is held goes together when it is released', () => {
  edits.hold()
  for (let k = 0; k < 4; k++) type(k)
  assert.equal(sent.length, 0)
  edits.release()
  assert.deepEqual(sent.map(numbers), [[1, 2, 3, 4]])
})

test('of more than a message holds the rest is announced and follows', () => {
  answer(0, { most: 3 })
  edits.hold()
  for (let k = 0; k < 7; k++) type(k)
  edits.release()
  answer(3, { most: 3 })
  answer(6, { most: 3 })
  assert.deepEqual(sent.map(numbers), [[1, 2, 3], [4, 5, 6], [7]])
  assert.deepEqual(sent.map(({ more }) => more), [true, true, false])
})

test('a number that is dragged says that more comes until it is let go', () => {
  edits.begin()
  type(0, '1')
  type(0, '2')
  type(0, '3')
  answer(1)
  edits.end()
  answer(3)
  answer(4)
  assert.deepEqual(sent.map(numbers), [[1], [3], [4]])
  assert.deepEqual(sent.map(({ more }) => more), [true, true, false])
  assert.equal(sent[2].operations[0][1], 'end')
  edits.end() // nothing is dragged
  assert.ok(edits.idle)
})

test('a number whose effect is seen while it is dragged is sent once it is let go', () => {
  seen = []
  edits.begin()
  type(0, '1')
  type(0, '2')
  assert.deepEqual([sent, seen.map(numbers)], [[], [[1], [2]]])
  assert.deepEqual(edits.of('X').map(({ text }) => text), ['2'])
  edits.seen = 2 // it is on the board
  edits.pump()
  assert.deepEqual([edits.of('X'), seen.length], [[], 2])
  type(0, '3')
  assert.deepEqual(edits.of('X').map(({ text }) => text), ['3'])
  answer(0) // of something else: the board shows what Python has counted
  edits.end()
  assert.deepEqual(sent.map(numbers), [[3, 4]])
  answer(4)
  assert.ok(edits.idle)
})

test('what was refused is said once', () => {
  type(0)
  type(1)
  const refused = [[1, 'X, row 1, column 1 is too large.']]
  answer(1, { refused })
  answer(1, { refused })
  assert.deepEqual(said, ['X, row 1, column 1 is too large.'])
  answer(2, { refused: [[2, 'Not this.']] })
  assert.deepEqual(said.slice(1), ['Not this.'])
})

test('after silence all that was not counted is sent again', () => {
  type(0)
  type(1)
  wait(PATIENCE - 1)
  assert.deepEqual(sent.map(numbers), [[1]])
  wait(1)
  assert.deepEqual(sent.map(numbers), [[1], [1, 2]])
  answer(2)
  wait(10 * PATIENCE)
  assert.equal(sent.length, 2)
})

test('without a server a sentence says so, and all is sent when it is back', () => {
  connection = 'DISCONNECTED'
  type(0)
  type(1)
  assert.equal(sent.length, 0)
  assert.match(said.at(-1), /^The server cannot be reached just now; /)
  connection = 'CONNECTED'
  wait(PATIENCE)
  assert.deepEqual(sent.map(numbers), [[1, 2]])
  answer(2)
  assert.equal(said.at(-1), '')
})

test('nothing is lost or doubled whichever messages and answers are', () => {
  let seed = 7
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647
  const counted = []
  const arrive = message => {
    for (const number of numbers(message)) if (number > (counted.at(-1) ?? 0)) counted.push(number)
  }
  let read = 0
  for (let k = 0; k < 3000; k++) {
    if (random() < 0.5) edits.add('token', 'X', k, 0, String(k))
    if (random() < 0.3) wait(PATIENCE * random())
    if (random() < 0.2) connection = random() < 0.5 ? 'CONNECTED' : 'DISCONNECTED'
    while (read < sent.length && random() < 0.6) {
      if (random() < 0.8) arrive(sent[read]) // others are lost on the way
      read++
      if (random() < 0.8) answer(counted.at(-1) ?? 0, { most: 4 })
    }
  }
  connection = 'CONNECTED'
  for (let k = 0; k < 3000 && !edits.idle; k++) {
    wait(PATIENCE)
    while (read < sent.length) arrive(sent[read++])
    answer(counted.at(-1), { most: 4 })
  }
  assert.ok(edits.number > 1000)
  assert.deepEqual(counted, Array.from({ length: edits.number }, (_, k) => k + 1))
})
