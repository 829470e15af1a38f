// The parts of the page that a pane is made of: heading, menu, cells, and what is said of it.

import { childrenOf, make } from '../elements.js'
import { Grid } from './edit/grid.js'
import { headingOf, named, namesWidth } from './text/heading.js'
import { mathText } from './text/text.js'

const MENU = 40 // px: the menu at the end of a heading, with its gaps
const TOOL = 12.5 // px: the letters of a button before it
const AROUND_TOOL = 12 // px: what a button takes beside its letters
const TOOLS = 110 // px: the buttons of a heading, which are above it where they have no room
const TRUE = '_inf' // ends the name of a stage under a true mask, next to one that adds −1e9
const PRESENTS = 'Present: P'

export const create = (board, spec) => {
  const element = make('section', 'board-pane')
  element.dataset.stage = spec.name
  element.tabIndex = -1
  const pane = /** @type {any} */ ({ element, spec })
  pane.header = make('header', 'board-head', element)
  pane.title = make('span', 'board-title', pane.header)
  pane.symbol = make('strong', 'board-symbol', pane.title)
  pane.tabs = make('span', 'board-tabs', pane.title)
  pane.tabs.setAttribute('role', 'tablist')
  pane.tabs.hidden = true
  pane.equals = make('span', 'board-equals', pane.title)
  pane.shape = make('span', 'board-shape', pane.title)
  pane.sentence = make('p', 'board-sentence', element)
  addTools(board, pane)
  pane.frame = make('div', 'board-plot', element)
  pane.frame.tabIndex = 0
  addCells(board, pane)
  element.onmouseenter = () => board.light(spec.name)
  element.onmouseleave = () => board.light(null)
  return pane
}

const addCells = (board, pane) => {
  pane.canvas = make('canvas', 'board-canvas', pane.frame)
  pane.canvas.ariaHidden = 'true' // the active cell says what is there
  pane.cells = make('div', 'board-cells', pane.frame)
  pane.dragged = make('div', 'board-box', pane.cells)
  pane.dragged.hidden = true
  pane.glow = make('canvas', 'board-glow', pane.frame)
  pane.marks = [0, 1, 2].map(() => make('div', 'board-mark', pane.frame))
  pane.cursor = make('div', 'board-cursor', pane.frame)
  pane.grid = new Grid(board, pane)
}

// The buttons of a pane, at the end of its heading. The one that comes and goes is the first: no
// other moves under the hand.
const addTools = (board, pane) => {
  const tools = make('div', 'board-tools', pane.header)
  const button = (parent, text, act) => {
    const node = make('button', 'board-tool', parent, text)
    Object.assign(node, { type: 'button', onclick: act })
    return node
  }
  pane.less = button(tools, '', () => {
    board.edits.add('delete', pane.spec.name, pane.grid.at[0], pane.n)
  })
  pane.less.onmousedown = event => event.preventDefault() // the label stays chosen
  pane.more = button(tools, '+ token', () => {
    pane.wanted = pane.n // the row to name once it is there
    board.edits.add('add', pane.spec.name, 0, pane.n)
  })
  pane.draw = button(tools, 'Draw mask', () => {
    board.drawing = !board.drawing
    pane.draw.setAttribute('aria-pressed', String(board.drawing))
    pane.frame.classList.toggle('drawing', board.drawing)
  })
  pane.draw.title = 'Clicks hide or show cells, drags paint'
  pane.draw.setAttribute('aria-pressed', 'false')
  pane.whole = button(tools, 'Zoom out', () => {
    board.see(pane, null)
    pane.frame.focus({ preventScroll: true })
  })
  for (const node of [pane.more, pane.less, pane.draw, pane.whole]) node.hidden = true
  addMenu(board, pane, tools, button)
}

const addMenu = (board, pane, tools, button) => {
  const open = button(tools, '⋯', () => toggle(menu.hidden))
  open.setAttribute('aria-label', `tools of ${pane.spec.symbol}`)
  open.setAttribute('aria-expanded', 'false')
  const menu = make('div', 'board-menu', pane.element)
  menu.hidden = true
  // keep the focus, or the menu closes before the click
  menu.onmousedown = open.onmousedown = event => event.preventDefault()
  const toggle = on => {
    menu.hidden = !on
    open.setAttribute('aria-expanded', String(on))
    if (!on) return
    menu.style.marginTop = '' // above the tabs below the board
    const over = menu.getBoundingClientRect().bottom - (innerHeight - board.dock)
    if (over > 0) menu.style.marginTop = `${-over}px`
    childrenOf(menu)[0].focus({ preventScroll: true })
  }
  const away = event => {
    if (!menu.contains(event.relatedTarget) && event.relatedTarget !== open) toggle(false)
  }
  menu.addEventListener('focusout', away)
  menu.onkeydown = event => {
    if (event.key !== 'Escape') return
    event.preventDefault()
    toggle(false)
    open.focus()
  }
  const item = (text, act) =>
    button(menu, text, () => {
      act()
      toggle(false)
      open.focus({ preventScroll: true })
    })
  const { files } = board
  pane.tableButton = item('Show as table', () => board.toggleTable(pane))
  button(menu, 'Present', () => {
    toggle(false)
    open.focus({ preventScroll: true })
    board.presenter.enter(pane)
  }).title = PRESENTS
  if (board.head.opens && pane.spec.picks) {
    item('Plotly heatmap', () => board.emit('opened', pane.spec.name))
  }
  item('Copy numbers', () => files.copyNumbers(pane))
  item('Copy picture', () => files.copyPane(pane))
  item('Copy board as picture', () => files.copyBoard())
  item('Download PNG', () => files.download(pane, 'png'))
  item('Download SVG', () => files.download(pane, 'svg'))
}

// Say what a pane is.
export const describe = pane => {
  const { spec } = pane
  const { sentence, alt, edit, picks, large } = spec
  const [symbol, formula, shape] = saidOf(pane)
  const told = [symbol, formula, shape, sentence, alt, edit, picks, large]
  const key = JSON.stringify([...told, !!pane.tokens])
  if (key === pane.told) return
  pane.told = key
  const words = formula || (spec.formula ? `, ${spec.formula}` : '')
  const name = [symbol, words, shape].filter(Boolean).join(' ').replace(' ,', ',')
  pane.element.setAttribute('aria-label', name)
  mathText(pane.sentence, spec.sentence ?? '')
  pane.more.hidden = !pane.tokens
  pane.more.setAttribute('aria-label', `Add a token to ${symbol}`)
  pane.draw.hidden = spec.edit !== 'mask'
  pane.frame.setAttribute('aria-label', name)
  pane.frame.setAttribute('aria-description', [sentence, alt, keysOf(spec)].join(' '))
  pane.frame.setAttribute('aria-readonly', String(!spec.edit))
}

// What keys do in a pane, for those who do not see it.
const keysOf = ({ edit, picks, large }) => {
  const keys = ['Arrow keys move from cell to cell']
  if (large && picks) keys.push('Enter gives the number of one')
  if (edit === 'cells') keys.push('type to change a number, Enter keeps it, Esc gives it back')
  if (edit === 'blanks') keys.push('type a number into a blank, Enter goes on to the next')
  if (edit === 'mask') keys.push('Space hides or shows one')
  if (picks && edit !== 'cells') keys.push('Enter shows where its number comes from')
  return keys.join('; ') + '.'
}

// The name of a stage, what it is made of, and its shape, as they are seen.
const saidOf = ({ spec, turned }) => {
  const { symbol = '', formula = '', shape = '' } = spec
  const made = spec.sources?.length || turned ? formula : '' // of an input only words
  const seen = turned ? shape.split(' × ').reverse().join(' × ') : shape
  return [...named({ symbol, formula: made }, turned), seen]
}

// What the buttons at the end of a heading take, in px.
export const toolsWidth = ({ more, draw }, measure) =>
  [more, draw]
    .filter(node => node && !node.hidden)
    .reduce((sum, { textContent }) => sum + measure(textContent, TOOL) + AROUND_TOOL, MENU)

// What the name of a stage takes with the buttons after it, in px.
export const headingWidth = (pane, px, measure) =>
  namesWidth({ name: saidOf(pane)[0] }, px, measure) + toolsWidth(pane, measure)

// The name of a stage among those that share its place.
export const tabName = ({ spec: { name, symbol }, turned }) =>
  name.endsWith(TRUE) ? 'with −∞' : symbol + (turned ? 'ᵀ' : '')

/**
 * Write the heading of a pane into its room; `tabs` are the panes that share its place. Whether the
 * note has room.
 * @param {Pane} pane
 * @param {{ room: number, px: number, measure: (text: string, px: number) => number,
 *   tabs?: Pane[], note?: string, choose?: (pane: Pane) => void }} how
 */
export const head = (pane, { room, px, measure, tabs, note, choose }) => {
  const [name, formula, shape] = saidOf(pane)
  const several = tabs?.length > 1 ? tabs : null
  const names = several?.map(tabName)
  const told = { name, formula, shape, note, tabs: names }
  const said = headingOf(told, room, px, measure)
  const written = JSON.stringify([name, said, names, pane.front])
  const isNoted = !note || said.shape.endsWith(note)
  if (written === pane.written) return isNoted
  pane.written = written
  pane.header.classList.toggle('crowded', namesWidth(told, px, measure) + TOOLS > room)
  pane.symbol.hidden = !!several
  pane.tabs.hidden = !several
  mathText(pane.symbol, name)
  mathText(pane.equals, said.formula ?? '')
  pane.shape.textContent = said.shape
  pane.equals.hidden = !said.formula // else the gap before it would have no room
  pane.shape.hidden = !said.shape
  pane.title.title = [name, formula, shape, pane.spec.sentence].filter(Boolean).join('  ')
  pane.tabs.replaceChildren()
  for (const tab of several ?? []) {
    const node = make('button', 'board-tab', pane.tabs)
    node.dataset.stage = tab.spec.name
    mathText(node, tabName(tab))
    Object.assign(node, { type: 'button', onclick: () => choose(tab) })
    node.setAttribute('role', 'tab')
    node.setAttribute('aria-selected', String(tab === pane))
    node.tabIndex = tab === pane ? 0 : -1
    node.onkeydown = event => turnTabs(event, several, pane, choose)
  }
  return isNoted
}

const turnTabs = (event, tabs, pane, choose) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
  if (!step) return
  event.preventDefault()
  choose(tabs[(tabs.indexOf(pane) + step + tabs.length) % tabs.length])
}
