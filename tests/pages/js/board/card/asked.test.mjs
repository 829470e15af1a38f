import assert from 'node:assert/strict'
import test, { beforeEach, mock } from 'node:test'
import { AGAIN, Asked } from '../../../../../attention/pages/js/board/card/asked.js'

globalThis.document = /** @type {any} */ ({ baseURI: 'http://host/att/?example=x' })

// Requests as they were made; the server's part is played by `answer`.
let [asked, address, came, requests, shown] = [null, '', 0, [], []]
globalThis.XMLHttpRequest = /** @type {any} */ (class {
  open(method, url) {
    const { pathname, searchParams } = new URL(url)
    Object.assign(this, { path: pathname, about: Object.fromEntries(searchParams), status: 0 })
  }
  send() {
    requests.push(this)
  }
  answer(status, type, response = null) {
    Object.assign(this, { status, response, getResponseHeader: () => type ?? null })
    this.onloadend()
  }
})
const settled = () => new Promise(done => setTimeout(done))
const cardOf = column => ({ stage: 'weights', row: 1, column, value: `${address} ${column}` })
const cards = async (request, ...found) => {
  assert.equal(request.responseType, 'json')
  request.answer(200, 'application/json', found)
  await settled()
}
const board = async (request, ...bytes) => {
  assert.equal(request.responseType, 'arraybuffer')
  request.answer(200, 'application/octet-stream', new Uint8Array(bytes).buffer)
  await settled()
}
const refuse = async (request, status = 204) => {
  request.answer(status, null)
  await settled()
}
const message = number => ({ client: 'a', operations: [[number]], more: true })
const look = number => asked.preview({ edits: message(number) }, bytes => shown.push(bytes))
const PLACE = { stage: 'weights', i: '1', j: '2' }
const numbers = () => requests.map(({ about }) => JSON.parse(about.edits).operations[0][0])

beforeEach(() => {
  ;[address, came, requests, shown] = ['asked/name/1', 0, [], []]
  asked = new Asked(() => address, () => came++)
})

test('a card is asked for once, and is there with others of its row when they come', async () => {
  assert.equal(asked.card(['weights', 1, 2], 'row'), null)
  assert.equal(asked.card(['weights', 1, 3], 'row'), null) // while the first is on its way
  const [{ path, about }] = requests
  assert.deepEqual([path, about], ['/att/asked/name/1/cards', { of: 'row', ...PLACE }])
  await cards(requests[0], cardOf(2), cardOf(3))
  assert.equal(came, 1)
  assert.deepEqual(asked.card(['weights', 1, 3], 'row'), cardOf(3))
  assert.equal(requests.length, 1)
})

test('another address drops the cards, also those that come late for the one before', async () => {
  asked.card(['weights', 1, 2], 'row')
  const late = cardOf(2)
  address = 'asked/name/2'
  assert.equal(asked.card(['weights', 1, 2], 'row'), null)
  await cards(requests[0], late)
  assert.equal(came, 1) // to ask again
  assert.equal(asked.card(['weights', 1, 2], 'row'), null)
  assert.deepEqual(requests.map(({ path }) => path.split('/')[4]), ['1', '2'])
  await cards(requests[1], cardOf(2))
  assert.equal(asked.card(['weights', 1, 2], 'row').value, 'asked/name/2 2')
  address = 'asked/name/1' // though a page never goes back to one
  assert.equal(asked.card(['weights', 1, 2], 'row'), null)
})

test('a request that the numbers have overtaken is made again of the new ones', async () => {
  asked.card(['weights', 1, 2], 'row')
  address = 'asked/name/2'
  assert.equal(asked.card(['weights', 1, 2], 'row'), null)
  await refuse(requests[0])
  assert.equal(came, 1)
  assert.equal(asked.card(['weights', 1, 2], 'row'), null)
  await cards(requests[1], cardOf(2))
  assert.deepEqual(asked.card(['weights', 1, 2], 'row'), cardOf(2))
})

test('it is known how long the last answer took, and a type may say its encoding', async t => {
  let now = 1000
  mock.method(performance, 'now', () => now)
  t.after(() => mock.restoreAll())
  asked.card(['weights', 1, 2], 'row')
  now += 70
  requests[0].answer(200, 'application/json; charset=utf-8', [cardOf(2)])
  await settled()
  assert.deepEqual([asked.card(['weights', 1, 2], 'row'), asked.took], [cardOf(2), 70])
  asked.card(['weights', 2, 2], 'row')
  now += 30_000
  await refuse(requests[1], 0)
  assert.equal(asked.took, 70)
})

const FAILURES = {
  'is refused': request => refuse(request),
  'finds nobody': request => refuse(request, 0),
  'fails at the server': request => refuse(request, 500),
  'is answered by a page of another': request => request.answer(200, 'text/html', '<html>'),
  'cannot be read': request => request.answer(200, 'application/json', null)
}
for (const [name, fails] of Object.entries(FAILURES)) {
  test(`what ${name} is not asked again while the address is the same`, async () => {
    asked.card(['weights', 1, 2], 'row')
    await fails(requests[0])
    await settled()
    for (const column of [2, 3]) assert.equal(asked.card(['weights', 1, column], 'row'), null)
    await settled()
    assert.deepEqual([requests.length, came], [1, 0])
    address = 'asked/name/2'
    asked.card(['weights', 1, 2], 'row')
    await cards(requests[1], cardOf(2))
    assert.deepEqual(asked.card(['weights', 1, 2], 'row'), cardOf(2))
  })
}

test('what failed is asked again after a while, as the connection may be back', async t => {
  let now = 1000
  mock.method(performance, 'now', () => now)
  t.after(() => mock.restoreAll())
  asked.card(['weights', 1, 2], 'row')
  await FAILURES['finds nobody'](requests[0])
  await settled()
  now += AGAIN
  assert.equal(asked.card(['weights', 1, 2], 'row'), null)
  await settled()
  assert.equal(requests.length, 1)
  now++
  asked.card(['weights', 1, 2], 'row')
  await cards(requests[1], cardOf(2))
  assert.deepEqual(asked.card(['weights', 1, 2], 'row'), cardOf(2))
})

test('of what a number makes one is asked at a time, and then the newest', async () => {
  for (const number of [1, 2, 3]) assert.ok(look(number))
  assert.deepEqual(numbers(), [1])
  const [{ path, about }] = requests
  assert.equal(path, '/att/asked/name/1/preview')
  assert.deepEqual(about, { edits: JSON.stringify(message(1)) })
  await board(requests[0], 7, 0)
  assert.deepEqual([shown, numbers()], [[new Uint8Array([7, 0])], [1, 3]])
  await board(requests[1], 8)
  assert.deepEqual(shown[1], new Uint8Array([8]))
  look(4)
  assert.deepEqual(numbers(), [1, 3, 4])
})

test('a refused preview silences no cards, nor do cards silence previews', async () => {
  look(1)
  await refuse(requests[0])
  asked.card(['weights', 1, 2], 'row')
  await cards(requests[1], cardOf(2))
  assert.deepEqual([came, look(2)], [1, false])
  asked.card(['weights', 2, 2], 'row')
  await refuse(requests[2])
  address = 'asked/name/2'
  asked.card(['weights', 1, 2], 'row')
  await refuse(requests[3])
  assert.equal(look(3), true)
})

test('where what a number makes is refused, that is said once and it has to be sent', async () => {
  look(1)
  look(2)
  await refuse(requests[0])
  assert.deepEqual(shown, [null, null]) // each that waited
  assert.deepEqual([look(3), requests.length], [false, 1])
})

test('a board that nobody answers asks nothing', async () => {
  address = ''
  assert.equal(asked.card(['weights', 1, 2], 'row'), null)
  assert.equal(look(1), false)
  await settled()
  assert.deepEqual([requests, came], [[], 0])
})
