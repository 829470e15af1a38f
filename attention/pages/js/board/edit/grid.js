// A pane as a grid: the chosen cell, keys, clicks, and numbers typed, pasted, dragged or turned in
// place. Column -1 is the label of a row, where it is a token that can be renamed.

import { make, measured, px } from '../../elements.js'
import { calledOf, exactOf, textOf } from '../text/cells.js'
import { waitingOn } from '../text/pane.js'
import { CLICK, areaOf, axesOf, dragged, isSeen, line, partOf, same } from '../paint/part.js'
import { NUMBER, laidDown, pointed, scrubbed } from './entered.js'
import { follow } from './pointer.js'
import { isHidden } from '../paint/shades.js'
import { TOO_MANY } from '../text/tables.js'
import { shortened, widthOf } from '../text/text.js'

export const MOVES = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1]
}
const TYPED = /^[\d.,+\u2212-]$/ // begins a number
const TWICE = 400 // ms between the clicks of a double click
const STRIDE = 4 // px of a scrub for each step
const POINTED = 'attention: pointed' // what the browser's tools and benchmarks call it
let grids = 0

export class Grid {
  /** @param {any} board @param {Pane} pane */
  constructor(board, pane) {
    this.board = board
    this.pane = pane
    /** @type {Cell | null} */
    this.at = null // the chosen cell
    this.between = false // from one edit to the next
    this.began = null // the column of the first of them
    this.given = null // the cell that Esc gave up
    this.last = null // the last click
    this.awaited = null // the cell that is opened once its number has come
    const { frame } = pane
    frame.setAttribute('role', 'grid')
    this.line = make('div', '', frame)
    this.line.setAttribute('role', 'row')
    this.cell = make('div', 'board-active', this.line)
    this.cell.id = `board-cell-${++grids}`
    frame.onkeydown = event => this.key(event)
    frame.onfocus = () => (this.at ? this.place() : this.choose(...this.first))
    frame.onblur = () => this.left()
    frame.addEventListener('paste', event => this.paste(event))
    frame.addEventListener('copy', event => this.copy(event))
    frame.addEventListener('pointerdown', event => this.down(event), true)
    frame.addEventListener('pointermove', event => this.hover(event))
    frame.addEventListener('pointerleave', () => this.board.linking.rest())
    pane.cells.onmousedown = event => event.preventDefault() // the focus is given by hand
  }

  /** @returns {Cell} */
  get first() {
    return this.pane.blanks?.[0] ?? this.board.chosenIn(this.pane) ?? [0, 0]
  }

  get edits() {
    return this.board.edits
  }

  get editable() {
    return this.pane.spec.edit === 'cells'
  }

  // Whether a number can be typed into this cell.
  takes(i, j) {
    return this.editable || this.isBlank(i, j)
  }

  isBlank(i, j) {
    return !!this.pane.blanks?.some(cell => same(cell, [i, j]))
  }

  get maskable() {
    return this.pane.spec.edit === 'mask'
  }

  // Change a cell that is seen here, wherever its stage has it.
  add(kind, i, j, text) {
    this.edits.add(kind, this.pane.spec.name, ...this.pane.swap([i, j]), text)
  }

  // ---- the chosen cell ------------------------------------------------------------------------

  choose(i, j, named = true) {
    const { n, m, tokens } = this.pane
    const inside = (value, least, most) => Math.min(Math.max(value, least), most)
    /** @type {Cell} */
    const at = [inside(i, 0, n - 1), inside(j, tokens ? -1 : 0, m - 1)]
    if (this.pane.view && !isSeen(this.pane, at)) this.board.see(this.pane, null)
    this.at = at
    this.place()
    if (this.at[1] >= 0) this.board.linking.mark(this.pane, ...this.at, named)
    else this.board.linking.unmark()
  }

  // Lay the active cell, whose name a screen reader says, over the chosen one.
  place() {
    const { frame, spec, n, m } = this.pane
    frame.setAttribute('aria-rowcount', n)
    frame.setAttribute('aria-colcount', m + 1) // the labels of rows are the first
    if (this.at && (this.at[0] >= n || this.at[1] >= m)) this.at = null
    this.cell.hidden = !this.at
    this.offer()
    if (!this.at) return frame.removeAttribute('aria-activedescendant')
    const [i, j] = this.at
    this.line.setAttribute('aria-rowindex', String(i + 1))
    this.cell.setAttribute('role', j < 0 ? 'rowheader' : 'gridcell')
    this.cell.setAttribute('aria-colindex', String(j + 2))
    this.cell.setAttribute('aria-selected', 'true')
    const value = j < 0 ? '' : textOf(this.pane, i, j)
    const called = () => `${calledOf(this.pane, i, j, ', ')}: ${value}`
    this.cell.textContent = j < 0 ? spec.rows[i] : called()
    Object.assign(this.cell.style, this.box(i, j))
    frame.setAttribute('aria-activedescendant', this.cell.id)
    if (!this.awaited) return
    if (!same(this.awaited, this.at) || document.activeElement !== frame) this.awaited = null
    else if (this.known(i, j)) this.write(true)
  }

  box(i, j) {
    const { x, y, across, down } = axesOf(this.pane)
    const [left, width] = j < 0 ? [0, this.pane.places.left] : [x(j - 0.5), across]
    return px({ left, top: y(i - 0.5), width, height: down })
  }

  step(di, dj, { wrap = false, named = true } = {}) {
    const { n, m } = this.pane
    let [i, j] = [this.at[0] + di, this.at[1] + dj]
    if (wrap && j >= m && i < n - 1) [i, j] = [i + 1, 0]
    if (wrap && j < 0 && i > 0) [i, j] = [i - 1, m - 1]
    this.choose(i, j, named)
  }

  // A button that deletes the chosen token: no finger finds the key for it.
  offer() {
    const { less, frame, tokens, n } = this.pane
    const token = this.at?.[1] < 0 ? tokens?.[this.at[0]] : null
    less.hidden = token == null || n < 2 || document.activeElement !== frame
    if (less.hidden) return
    less.textContent = `\u2212 ${token}`
    less.title = `Delete the token ${token}`
    less.setAttribute('aria-label', less.title)
  }

  left() {
    this.pane.less.hidden = true
    const { linking, editor } = this.board
    // not the cell one went to
    if (!editor.open && linking.marked?.[0] === this.pane) linking.unmark()
    if (!editor.open) this.between = false // Tab goes through the page, also back here
  }

  // ---- keys -----------------------------------------------------------------------------------

  key(event) {
    this.last = null // a click before a key is no first half of a double click
    if (event.target !== this.pane.frame) return
    const { key, shiftKey } = event
    const command = event.ctrlKey || event.metaKey
    if (command && ['z', 'y', 'Z'].includes(key)) this.board.undo(key === 'z' ? -1 : 1)
    else if (command || event.altKey) return
    else if (key === 'Escape') {
      if (!this.leave()) return
    } else if (key === 'Tab') {
      if (!this.between || shiftKey || !this.at || this.isAtTheEnd) return
      this.goOn(key, [0, 1])
    } else if (!this.at) {
      if (MOVES[key]) this.choose(0, 0)
      else if (!TYPED.test(key)) return
      else {
        this.choose(...(this.given ?? this.first))
        if (!this.act(key)) return
      }
    } else if (MOVES[key]) {
      this.began = null
      this.step(...MOVES[key])
    } else if (key === 'Home' || key === 'End') this.choose(this.at[0], key === 'Home' ? 0 : 1e9)
    else if (!this.act(key)) return
    event.preventDefault()
  }

  // What a key does to the chosen cell; false where the browser should have it.
  act(key) {
    const [i, j] = this.at
    const { spec } = this.pane
    const types = j < 0 || this.takes(i, j)
    if (types && key.length === 1 && key !== ' ') {
      this.write(false) // the key itself goes into the box: it has the focus by then
      return false
    }
    if (TYPED.test(key)) {
      this.board.say(this.refusal)
      return true
    }
    if (key === 'Enter' && j >= 0 && !this.known(i, j)) this.board.pick(this.pane, i, j)
    else if (types && (key === 'Enter' || key === 'F2')) this.openCell(i, j)
    else if (types && (key === 'Delete' || key === 'Backspace')) {
      if (j < 0) this.edits.add('delete', spec.name, i, this.pane.n)
      else if (this.editable) this.add('cell', i, j, '0')
    } else if (this.maskable && key === ' ') this.turn(i, j, this.hidden(i, j))
    else if (key === 'Enter') this.board.pick(this.pane, i, j)
    else return key === ' ' // which would scroll the page
    return true
  }

  // Why no number can be typed into the chosen cell, and what can be done instead.
  get refusal() {
    const { spec } = this.pane
    if (this.maskable) return 'Press the space bar to hide a cell, or to show it.'
    if (spec.edit === 'blanks') return 'Only a blank takes a number.'
    const inputs = [...this.board.panes.values()].filter(({ grid }) => grid?.editable)
    const names = inputs.map(pane => pane.spec.symbol).join(', ')
    return names
      ? `${spec.symbol} is computed. You can type numbers into ${names}.`
      : `The numbers of ${spec.symbol} cannot be changed here.`
  }

  // Whether Tab leaves the pane: after the last of its numbers.
  get isAtTheEnd() {
    const { n, m, spec } = this.pane
    return spec.edit === 'cells' && same(this.at, [n - 1, m - 1])
  }

  // The first Esc gives up the row of edits, and Tab goes on through the page.
  leave() {
    if (!this.at) return false
    Object.assign(this, { given: this.at, at: null, between: false, began: null })
    this.place()
    this.board.linking.unmark()
    return true
  }

  // ---- typing ---------------------------------------------------------------------------------

  // Open a cell with its number; where that is not here, once it has come.
  openCell(i, j) {
    if (j < 0 || this.known(i, j)) return this.write(true)
    this.awaited = [i, j]
    this.board.pick(this.pane, i, j)
  }

  write(whole) {
    this.awaited = null
    const [i, j] = this.at
    const { spec } = this.pane
    if (j >= 0) this.board.linking.mark(this.pane, i, j, false)
    const before = j < 0 ? spec.tokens[i] : this.newest(i, j)
    this.board.editor.begin(this, i, j, whole ? before : '', before)
  }

  // The number of a cell to the last digit, or what was typed there and is on its way.
  newest(i, j) {
    const typed = waitingOn(this.edits, this.pane)
    const own = typed.filter(op => op.kind === 'cell' && op.row === i && op.column === j).at(-1)
    return own?.text ?? exactOf(this.pane, i, j)
  }

  // Whether the number of a cell is here: of a large pane only the chosen one has its.
  known(i, j) {
    return !this.pane.spec.large || this.newest(i, j) !== ''
  }

  // From a number that was typed to the next: Tab along the row; Enter down, and after Tabs to the
  // column where they began. No bubble of the next cell hides what was typed.
  goOn(key, [di, dj]) {
    if (this.pane.spec.edit === 'blanks' && !MOVES[key]) {
      return this.board.nextBlank(this.pane, this.at, di + dj < 0)
    }
    const [i, j] = this.at
    const wrap = key === 'Tab'
    if (wrap) this.began ??= j
    const below = i + di >= 0 && i + di < this.pane.n
    if (key === 'Enter' && this.began !== null && below) dj = this.began - j
    if (!wrap) this.began = null
    this.between = true
    this.step(di, dj, { wrap, named: false })
  }

  // What was typed counts; only where it is another text than before.
  typed(i, j, text) {
    const { spec } = this.pane
    if (j < 0) this.edits.add('token', spec.name, i, 0, text)
    else this.add('cell', i, j, text)
    this.between = true
  }

  // A block from a spreadsheet, from the chosen cell on; what does not fit is said.
  paste(event) {
    if (this.board.editor.open || !this.at || this.at[1] < 0) return
    if (!this.editable) return
    event.preventDefault()
    const { n, m, spec } = this.pane
    const [i, j] = this.at
    const text = event.clipboardData.getData('text/plain').replace(/\r?\n$/, '')
    const rows = pointed(text.split(/\r?\n/).map(line => line.split('\t')))
    const columns = Math.max(...rows.map(row => row.length))
    const k = rows.findIndex(row => row.some(typed => !NUMBER.test(typed.trim())))
    if (k >= 0) {
      const c = rows[k].findIndex(typed => !NUMBER.test(typed.trim()))
      const odd = rows[k][c].trim()
      const held = odd ? `holds “${shortened(odd, 160)}”, which is not a number` : 'is empty'
      const where = `Row ${k + 1}, column ${c + 1} of the block`
      return this.board.say(`${where} ${held}, so nothing of it was taken.`)
    }
    const { turned } = this.pane
    const [own, [high, wide]] = [this.pane.swap([i, j]), this.pane.swap([n, m])]
    const laid = laidDown(rows, own, { rows: high, cols: wide, turned })
    const fits = laid.filter(({ row, column }) => row < high && column < wide)
    this.edits.hold()
    for (const { row, column, text } of fits) this.edits.add('cell', spec.name, row, column, text)
    this.edits.release()
    const cut = fits.length < laid.length
    if (cut) {
      const fit = `${Math.min(rows.length, n - i)} × ${Math.min(columns, m - j)}`
      this.board.say(
        `The block is ${rows.length} × ${columns}; ${fit} of it fit from this cell on.`
      )
    } else if (turned && n === m && rows.length === n && columns === m) {
      this.board.say(`The block was taken as ${spec.symbol}ᵀ, as it is seen.`, true)
    }
  }

  copy(event) {
    if (this.board.editor.open || !this.at) return
    const [i, j] = this.at
    event.preventDefault()
    if (j >= 0 && !this.known(i, j)) {
      const { picks, symbol } = this.pane.spec
      if (picks) return this.board.say('Click the cell first for its number.')
      return this.board.say(`The numbers of ${symbol} ${TOO_MANY}`)
    }
    event.clipboardData.setData('text/plain', j < 0 ? this.pane.spec.rows[i] : this.newest(i, j))
  }

  // ---- the mask -------------------------------------------------------------------------------

  hidden(i, j) {
    const turned = waitingOn(this.edits, this.pane)
    const own = turned.filter(op => op.kind === 'mask' && op.row === i && op.column === j).at(-1)
    return own ? own.text === '0' : isHidden(this.pane, i, j)
  }

  turn(i, j, show) {
    if (this.hidden(i, j) === show)
      this.add('mask', i, j, show ? '1' : '0')
  }

  // ---- the mouse ------------------------------------------------------------------------------

  /**
   * The cell under the mouse, [row, -1] on a label that is a token, or null.
   * @returns {Cell | null}
   */
  under(event) {
    const { frame, n, m, tokens, places } = this.pane
    if (!places) return null
    const box = frame.getBoundingClientRect()
    const { column, row, columns, rows } = axesOf(this.pane)
    const [x, y] = [event.clientX - box.left, event.clientY - box.top]
    const i = row(y)
    if (y < places.top || i < rows[0] || i > rows[1] || i >= n) return null
    if (tokens && x >= 0 && x < places.left) return [i, -1]
    const j = column(x)
    return x >= places.left && j >= columns[0] && j <= columns[1] && j < m ? [i, j] : null
  }

  hover(event) {
    if (event.buttons || event.pointerType === 'touch' || this.board.editor.open) return
    measured(POINTED, () => {
      const cell = this.under(event)
      if (cell && cell[1] >= 0) this.board.linking.mark(this.pane, ...cell)
      else this.board.linking.rest()
    })
  }

  down(event) {
    if (event.button || event.target.closest('button, input')) return
    const cell = this.under(event)
    if (!cell) return
    const take = () => {
      event.preventDefault() // the focus is given by hand
      event.stopPropagation()
      this.pane.frame.setPointerCapture(event.pointerId)
    }
    const soon = event.pointerType === 'touch' || event.timeStamp - this.last?.at < TWICE
    const again = this.last && same(this.last.cell, cell) && soon
    if (this.maskable && this.board.drawing && cell[1] >= 0) {
      take()
      this.paintMask(event, cell)
    } else if (this.editable && event.pointerType === 'mouse' && this.onNumber(event, cell)) {
      take()
      this.scrub(event, cell, again)
    } else {
      if (again && (this.takes(...cell) || cell[1] < 0)) take()
      this.press(event, cell, again)
    }
  }

  // A click is one on this cell; a drag of the mouse shows closer what it marks, unless the pane
  // has become another under it.
  press(event, cell, again) {
    const { pane } = this
    const { cells, dragged: rectangle, n, m } = pane
    const places = JSON.stringify(pane.places)
    const at = ({ clientX, clientY }) => {
      const { left, top } = cells.getBoundingClientRect()
      return [clientX - left, clientY - top]
    }
    const [start, drags] = [at(event), event.pointerType === 'mouse' && cell[1] >= 0]
    const isSame = () => pane.n === n && pane.m === m && JSON.stringify(pane.places) === places
    const stands = () => isSame() && cells.offsetParent && (!pane.box || pane.front)
    const marked = now => drags && stands() && dragged(start, at(now), areaOf(pane))
    const move = now => {
      const found = marked(now)
      rectangle.hidden = !found
      if (!found) return
      this.board.linking.unmark()
      const [[left, right], [top, bottom]] = found
      const size = { width: right - left, height: bottom - top }
      Object.assign(rectangle.style, px({ left, top, ...size }))
    }
    const over = up => {
      rectangle.hidden = true
      if (up.type !== 'pointerup') return
      const moved = Math.hypot(up.clientX - event.clientX, up.clientY - event.clientY)
      if (moved < CLICK) return this.click(up, cell, again)
      const found = marked(up)
      if (found) this.board.see(pane, partOf(pane, found))
    }
    follow(event, move, over)
  }

  click(event, cell, again) {
    this.board.editor.keep()
    Object.assign(this, { between: false, began: null })
    this.choose(...cell)
    this.pane.frame.focus({ preventScroll: true })
    const twice = again && event.timeStamp - this.last.at < TWICE
    this.last = { cell, at: event.timeStamp }
    this.board.byTouch = event.pointerType === 'touch'
    const opens = again && (this.takes(...cell) || cell[1] < 0)
    if (twice && this.pane.view && !opens) this.board.see(this.pane, null)
    if (opens || (this.board.byTouch && this.isBlank(...cell))) this.openCell(...cell)
    if (!opens && cell[1] >= 0) this.board.pick(this.pane, ...cell)
  }

  // Whether the mouse is on the number of the chosen cell.
  onNumber(event, cell) {
    const { frame, texts, canvas } = this.pane
    if (!this.known(...cell)) return false
    if (!this.at || !same(this.at, cell) || cell[1] < 0 || document.activeElement !== frame)
      return false
    const middle = frame.getBoundingClientRect().left + axesOf(this.pane).x(cell[1])
    const size = canvas.painted?.size || 12
    const half = widthOf(texts?.[cell[0]][cell[1]] ?? '0.00', size) / 2 + 6
    return Math.abs(event.clientX - middle) <= half
  }

  // A drag changes the number by steps fit to its size; with Shift, by tenths of them.
  scrub(event, [i, j], again) {
    const begun = Number(this.newest(i, j))
    let [last, value, steps, moved] = [event.clientX, begun, 0, false]
    const move = now => {
      if (!moved && Math.abs(now.clientX - event.clientX) < STRIDE) return
      if (!moved) this.edits.begin()
      moved = true
      steps += ((now.clientX - last) / STRIDE) * (now.shiftKey ? 0.1 : 1)
      last = now.clientX
      const next = scrubbed(begun, steps, now.shiftKey ? 10 : 1)
      if (next === value) return
      value = next
      this.add('cell', i, j, String(value))
    }
    const over = up => {
      if (moved) this.edits.end()
      else if (up.type === 'pointerup') this.click(up, [i, j], again)
    }
    follow(event, move, over)
  }

  // A click turns a cell, a drag gives all that it meets the same. It is sent when it has ended: a
  // pane that came with the first cell would move the others under the hand.
  paintMask(event, cell) {
    const show = this.hidden(...cell)
    const met = [cell]
    this.choose(...cell)
    this.pane.frame.focus({ preventScroll: true })
    this.edits.hold()
    this.turn(...cell, show)
    const move = now => {
      const next = this.under(now)
      if (!next || next[1] < 0 || same(met.at(-1), next)) return
      for (const each of line(met.at(-1), next)) this.turn(...each, show)
      met.push(next)
      this.choose(...next)
    }
    follow(event, move, () => this.edits.release())
  }
}
