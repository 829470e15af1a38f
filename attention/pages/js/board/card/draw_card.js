// The card of a cell, as card.js sets it, in the page.

import { make } from '../../elements.js'
import { formulaText } from '../text/text.js'

const LEAST = 11 // px: letters of the names of steps
const APART = 6 // px between two of these

/**
 * @typedef {import('./card.js').Setting} Setting
 * @typedef {import('./card.js').Said} Said
 * @typedef {import('./card.js').Shown} Shown
 * @typedef {{ stage: string, row: number, column: number }} Place
 */

/**
 * Draw a card into its element, whose place and size are the caller's.
 * @param {HTMLElement} node
 * @param {Setting} setting
 * @param {(place: Place) => void} pick called with the cell of a number that is clicked
 */
export function drawCard(node, { said, tall, ledger, px, columns }, pick) {
  node.classList.add('board-card')
  node.style.fontSize = `${px}px`
  node.replaceChildren()
  const head = make('header', '', node)
  const title = make('h2', '', head)
  for (const [text, kind] of said.title) {
    const part = make('span', kind, title)
    if (kind) part.textContent = text
    else formulaText(part, text)
  }
  make('span', 'value', head, said.value)
  if (said.table) (tall ? tallTable : wideTable)(node, said.table, columns)
  for (const line of said.lines) formulaText(make('p', 'line', node), line)
  if (said.note) formulaText(make('p', 'note', node), said.note)
  if (said.chain.length) drawChain(node, said, ledger, pick)
}

/**
 * @param {HTMLElement} row
 * @param {string} text
 * @param {'col' | 'row'} scope
 * @param {boolean} isTerm whether it is a term, which may be a word of a person
 */
function heading(row, text, scope, isTerm) {
  const cell = make('th', '', row, isTerm ? text : '')
  cell.setAttribute('scope', scope)
  if (!isTerm) formulaText(cell, text)
}

/**
 * A column for each term.
 * @param {HTMLElement} node
 * @param {Shown} given
 * @param {number[]} columns
 */
function wideTable(node, { heads, rows, mark, hidden }, columns) {
  const table = make('table', '', node)
  const top = make('tr', '', make('thead', '', table))
  make('td', '', top)
  for (const head of heads) heading(top, head, 'col', true)
  const body = make('tbody', '', table)
  for (const { name, kind, cells, total } of rows) {
    const row = make('tr', kind, body)
    heading(row, name, 'row', false)
    cells.forEach((text, k) => {
      const cell = make('td', '', row, text)
      cell.style.minWidth = `${columns[k]}px`
      cell.classList.toggle('hidden', hidden[k])
      cell.classList.toggle('marked', mark === k)
    })
    if (total) make('td', 'total', row, total)
  }
}

/**
 * A line for each term.
 * @param {HTMLElement} node
 * @param {Shown} given
 */
function tallTable(node, { heads, rows }) {
  const table = make('table', 'tall', node)
  const top = make('tr', '', make('thead', '', table))
  make('td', '', top)
  for (const { name } of rows) heading(top, name, 'col', false)
  const body = make('tbody', '', table)
  heads.forEach((head, k) => {
    const row = make('tr', '', body)
    heading(row, head, 'row', true)
    for (const { kind, cells } of rows) make('td', kind, row, cells[k])
  })
  const last = make('tr', 'sum', body)
  heading(last, 'sum', 'row', true)
  for (const { total } of rows) make('td', '', last, total.replace(/^= /, ''))
}

/**
 * The way from the score to the weight: a line for each number, with how it is made, or all on one.
 * @param {HTMLElement} node
 * @param {Said} said
 * @param {boolean} ledger
 * @param {(place: Place) => void} pick
 */
function drawChain(node, { chain }, ledger, pick) {
  const list = make('div', ledger ? 'ledger' : 'chain', node)
  list.setAttribute('role', 'group')
  list.setAttribute('aria-label', 'From the score to the weight')
  chain.forEach(({ stage, row, column, name, how, text, chosen }, k) => {
    if (k && !ledger) make('i', '', list, '→')
    const button = make('button', '', list)
    button.type = 'button'
    if (chosen) button.setAttribute('aria-current', 'true')
    button.onclick = () => pick({ stage, row, column })
    make('span', 'name', button, ledger ? name : `${name} ${text}`)
    if (!ledger) return
    formulaText(make('span', 'how', button), how)
    make('span', 'is', button, text)
  })
}

/**
 * The names of Play's steps below the arithmetic, of which each is a button; where not all have
 * room, the numbers of the others.
 * @param {HTMLElement} node
 * @param {{ steps: { label: string }[], step: number, goTo: (step: number) => void }} player
 * @param {{ px: number, w: number, measure: import('./card.js').Measure }} room
 */
export function drawSteps(node, player, { px, w, measure }) {
  const { steps, step } = player
  const list = make('div', 'steps', node)
  list.setAttribute('role', 'group')
  list.setAttribute('aria-label', 'Steps')
  const size = Math.max(0.88 * px, LEAST)
  list.style.fontSize = `${size}px`
  const all = steps.reduce((sum, { label }) => sum + measure(label, size, true) + APART, 0)
  const isNarrow = all > w - 2 * px
  steps.forEach(({ label }, k) => {
    const text = isNarrow && k !== step ? label.split(' ')[0] : label
    const button = make('button', k < step ? 'done' : '', list, text)
    Object.assign(button, { type: 'button', title: label, ariaLabel: label })
    if (k === step) button.setAttribute('aria-current', 'step')
    button.onclick = () => player.goTo(k)
    button.onmousedown = event => event.preventDefault() // the focus stays, so Space pauses
  })
}
