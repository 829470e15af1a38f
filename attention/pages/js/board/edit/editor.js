// The box that a number or a token is typed into, over its cell.

import { make, px } from '../../elements.js'
import { MOVES } from './grid.js'

const SMALLEST = 13 // px: the letters of the box

export class Editor {
  constructor() {
    this.holder = make('div')
    this.holder.setAttribute('role', 'gridcell')
    this.box = make('input', 'board-input', this.holder)
    Object.assign(this.box, { autocomplete: 'off', spellcheck: false })
    this.box.onkeydown = event => this.key(event)
    this.box.onblur = () => this.keep()
    this.open = null
  }

  begin(grid, i, j, text, before) {
    this.keep()
    this.open = { grid, i, j, before, whole: text !== '' }
    grid.line.append(this.holder)
    this.box.value = text
    this.box.setAttribute('aria-label', grid.cell.textContent)
    this.place()
    this.box.focus({ preventScroll: true })
    this.box.select()
  }

  place() {
    if (!this.open) return
    const { grid, i, j } = this.open
    if (i >= grid.pane.n || j >= grid.pane.m) return this.giveUp()
    const { left, top, width, height } = grid.box(i, j)
    const [x, y, w, h] = [left, top, width, height].map(parseFloat)
    const [wide, high] = [Math.max(w, 64), Math.max(h, 22)]
    const most = grid.pane.places.width - wide
    const corner = { left: Math.max(0, Math.min(x, most)), top: y + (h - high) / 2 }
    const fontSize = Math.max(SMALLEST, grid.pane.places.px) // as the number that it replaces
    Object.assign(this.box.style, px({ ...corner, width: wide, height: high, fontSize }))
  }

  // Close it; what was typed is kept where it is another text than before.
  keep() {
    const { open } = this
    if (!open) return null
    const text = this.box.value.trim()
    this.giveUp()
    if (text !== open.before && (open.whole || text)) open.grid.typed(open.i, open.j, text)
    return open.grid
  }

  giveUp() {
    const { grid } = this.open
    const focused = document.activeElement === this.box
    this.open = null
    if (focused) grid.pane.frame.focus({ preventScroll: true })
    this.holder.remove()
  }

  key(event) {
    if (!this.open || event.isComposing) return
    const { key, shiftKey } = event
    const back = shiftKey ? -1 : 1
    const typed = !this.open.whole
    const ways = { Enter: [back, 0], Tab: [0, back], ...(typed ? MOVES : {}) }
    if (key === 'Escape') this.giveUp()
    else if (ways[key]) this.keep().goOn(key, ways[key])
    else return
    event.preventDefault()
    event.stopPropagation()
  }
}
