// A large map in cells: hover reads it, a dragged box or keys zoom, a click chooses a query. What
// is looked at stands in Python alone; each zoom is asked of it and comes back as other cells.

import { HIDDEN } from './board/paint/shades.js'
import { STEPS, colours } from './board/paint/scales.js'
import { UNTAKEN, childrenOf, connected, make, modeAround } from './elements.js'
import { number } from './numbers.js'
import { Shaded, shadedIn } from './shaded.js'

const DRAG = 'Drag a box to zoom in; double-click or Enter zooms 4×; Esc zooms out.'
const TAP = 'Tap a cell to read it; then zoom in, or show its query.'
const NEAREST = 6 // px: less is a click, more a box
const ZOOM = 4 // times, by a key, a button or a double click
const DIGITS = 4 // of a share, as in the sentences around the map
const CLOSEST = 8 // queries and keys that a key, a button or a double click leaves

const counted = value => value.toLocaleString('en-US')

class Zoom extends Shaded {
  constructor(root) {
    super(root)
    this.bar = make('div', 'zoom-buttons', root)
    this.body = make('div', 'zoom-body', root)
    this.top = make('div', 'zoom-top', this.body)
    this.left = make('div', 'zoom-left', this.body)
    this.stage = make('div', 'zoom-stage', this.body)
    this.canvas = make('canvas', 'zoom-map', this.stage)
    this.box = make('div', 'zoom-box', this.stage)
    this.row = make('div', 'zoom-row', this.stage)
    this.cursor = make('div', 'zoom-cursor', this.stage)
    this.side = make('div', 'zoom-side', this.body)
    this.readout = make('p', 'zoom-readout', root)
    this.canvas.tabIndex = 0
    this.buttons()
    this.listen()
  }

  show(bytes, send) {
    this.send = send
    const rest = this.take(bytes)
    this.root.removeAttribute('aria-busy')
    if (!rest) return
    const { head } = this
    const [rows, columns] = [head.rowEdges.length - 1, head.keyEdges.length - 1]
    this.rows = rows
    this.columns = columns
    this.at = null
    this.codes = rest.slice(0, rows * columns)
    // a copy, as numbers begin at a place that four divides
    this.values = new Float32Array(rest.slice(rows * columns).buffer)
    this.canvas.setAttribute('aria-label', head.says)
    this.canvas.setAttribute('role', 'application')
    this.box.hidden = this.cursor.hidden = true
    this.enable()
    this.paint()
    this.tell()
  }

  // ---- drawing -------------------------------------------------------------------------------

  paint() {
    const { head, rows, columns } = this
    this.drawn = modeAround(this.root)
    this.fill(this.canvas, rows, columns, this.codes)
    this.stage.style.aspectRatio = String(Math.min(Math.max(columns / rows, 0.8), 3))
    this.axis(this.top, head.keyTicks, 'left')
    this.axis(this.left, head.queryTicks, 'top')
    this.scale(head.palettes[this.drawn])
    this.mark()
    this.canvas.painted = { values: this.values, codes: this.codes }
    Object.assign(this.root.dataset, { drawn: this.drawn, tag: head.tag, exact: head.exact })
  }

  axis(place, ticks, side) {
    place.replaceChildren()
    make('span', 'zoom-title', place, side === 'left' ? 'key' : 'query')
    for (const [share, text] of ticks) {
      make('span', 'zoom-tick', place, text).style[side] = `${100 * share}%`
    }
  }

  scale(palette) {
    this.side.replaceChildren()
    const bar = make('div', 'zoom-scale', this.side)
    const stops = colours(palette.share)
    const shown = Array.from({ length: 17 }, (_, k) => stops[Math.round((k / 16) * STEPS)])
    bar.style.background = `linear-gradient(to top, ${shown.map(c => `rgb(${c})`).join()})`
    for (const [share, text] of this.head.scale) {
      make('span', 'zoom-tick', this.side, text).style.bottom = `${100 * share}%`
    }
  }

  // The row of the chosen query, and the cell that keys go by.
  mark() {
    const { rowEdges, query } = this.head
    const i = this.place(rowEdges, query)
    this.row.hidden = i < 0
    if (i >= 0) {
      this.row.style.top = `${(100 * i) / this.rows}%`
      this.row.style.height = `${100 / this.rows}%`
    }
    this.cursor.hidden = !this.at
    if (!this.at) return
    const [row, column] = this.at
    Object.assign(this.cursor.style, {
      top: `${(100 * row) / this.rows}%`,
      left: `${(100 * column) / this.columns}%`,
      height: `${100 / this.rows}%`,
      width: `${100 / this.columns}%`
    })
  }

  place(edges, index) {
    if (index < edges[0] || index >= edges[edges.length - 1]) return -1
    let k = Math.floor((index - edges[0]) / (edges[1] - edges[0]))
    while (edges[k + 1] <= index) k++
    return k
  }

  // ---- words ---------------------------------------------------------------------------------

  // Read as on the axes, from 1; what is asked for is counted from 0.
  range(edges, k, words, first) {
    const [from, to] = [edges[k], edges[k + 1] - 1]
    if (from === to) {
      const word = words?.[from - first]
      return counted(from + 1) + (word === undefined ? '' : ` “${word}”`)
    }
    return `${counted(from + 1)}–${counted(to + 1)}`
  }

  tell(cell = this.at, aloud = false) {
    const { head } = this
    this.readout.setAttribute('aria-live', aloud ? 'polite' : 'off') // for keys, not for the mouse
    if (!cell) {
      this.readout.textContent = matchMedia('(pointer: coarse)').matches ? TAP : DRAG
      return
    }
    const [i, j] = cell
    const query = this.range(head.rowEdges, i, head.queryWords, head.rowEdges[0])
    const key = this.range(head.keyEdges, j, head.keyWords, head.keyEdges[0])
    const code = this.codes[i * this.columns + j]
    const share = number(this.values[i * this.columns + j], DIGITS)
    const single = !query.includes('–') && !key.includes('–')
    const what = code === HIDDEN ? '' : single ? 'weight ' : `${head.measure} `
    const said = code === HIDDEN ? 'hidden' : share
    this.readout.textContent = `query ${query} → key ${key}: ${what}${said}${head.about}`
  }

  // ---- moves ---------------------------------------------------------------------------------

  buttons() {
    const add = (name, label, act) => {
      const button = make('button', 'zoom-button', this.bar, label)
      button.type = 'button'
      button.dataset.does = name
      button.onclick = act
    }
    add('in', 'Zoom in', () => this.around(this.at ?? this.middle(), 1 / ZOOM))
    add('out', 'Zoom out', () => this.around(this.at ?? this.middle(), ZOOM))
    add('whole', 'Reset zoom', () => this.ask({ window: [] }))
    add('query', 'Show this query', () => this.choose(this.at ?? this.middle()))
  }

  // What would change nothing cannot be pressed.
  enable() {
    const whole = this.spans().every(({ size, most }) => size === most)
    const disabled = { in: this.isClosest(), out: whole, whole }
    for (const button of childrenOf(this.bar))
      button.toggleAttribute('disabled', disabled[button.dataset.does] ?? false)
  }

  isClosest() {
    return this.spans().every(({ size }) => size <= CLOSEST)
  }

  spans() {
    const { rowEdges, keyEdges, whole } = this.head
    return [rowEdges, keyEdges].map((edges, k) => ({
      edges,
      size: edges.at(-1) - edges[0],
      most: whole[k]
    }))
  }

  middle() {
    return [this.rows >> 1, this.columns >> 1]
  }

  cellOf(event) {
    const box = this.canvas.getBoundingClientRect()
    const inside = (share, count) => Math.min(Math.max(Math.floor(share * count), 0), count - 1)
    return [
      inside((event.clientY - box.top) / box.height, this.rows),
      inside((event.clientX - box.left) / box.width, this.columns)
    ]
  }

  listen() {
    const { canvas } = this
    canvas.onpointermove = event => {
      if (!this.head) return
      const cell = this.cellOf(event)
      if (this.from) this.stretch(event)
      this.tell(cell)
    }
    canvas.onpointerleave = () => this.head && !this.from && this.tell()
    canvas.onpointerdown = event => {
      if (event.button || !this.head || event.pointerType === 'touch') return
      this.from = { x: event.clientX, y: event.clientY, cell: this.cellOf(event) }
      canvas.setPointerCapture(event.pointerId)
    }
    canvas.onpointerup = event => this.from && this.release(event)
    canvas.onpointercancel = () => this.let()
    canvas.onclick = event => {
      if (!this.head || this.boxed) return
      this.at = this.cellOf(event)
      this.mark()
      this.tell()
    }
    canvas.ondblclick = event => this.around(this.cellOf(event), 1 / ZOOM)
    canvas.onkeydown = event => this.key(event)
    canvas.onblur = () => this.let()
  }

  let() {
    this.from = null
    this.box.hidden = true
  }

  stretch(event) {
    const box = this.canvas.getBoundingClientRect()
    const span = (a, b, low, size) => {
      const [from, to] = [Math.min(a, b), Math.max(a, b)].map(v => (v - low) / size)
      return [Math.max(from, 0), Math.min(to, 1)]
    }
    const [x0, x1] = span(this.from.x, event.clientX, box.left, box.width)
    const [y0, y1] = span(this.from.y, event.clientY, box.top, box.height)
    this.box.hidden = false
    Object.assign(this.box.style, {
      left: `${100 * x0}%`,
      top: `${100 * y0}%`,
      width: `${100 * (x1 - x0)}%`,
      height: `${100 * (y1 - y0)}%`
    })
  }

  release(event) {
    const { x, y, cell } = this.from
    const far = Math.max(Math.abs(event.clientX - x), Math.abs(event.clientY - y))
    this.let()
    this.boxed = far >= NEAREST
    if (!this.boxed) return
    setTimeout(() => (this.boxed = false)) // after the click that ends it
    const other = this.cellOf(event)
    const [top, bottom] = [cell[0], other[0]].sort((a, b) => a - b)
    const [left, right] = [cell[1], other[1]].sort((a, b) => a - b)
    const { rowEdges, keyEdges } = this.head
    const window = [rowEdges[top], rowEdges[bottom + 1], keyEdges[left], keyEdges[right + 1]]
    this.ask({ window })
  }

  key(event) {
    if (!this.head || event.ctrlKey || event.metaKey || event.altKey) return
    const step = event.shiftKey ? 16 : 1
    const move = {
      ArrowUp: [-step, 0],
      ArrowDown: [step, 0],
      ArrowLeft: [0, -step],
      ArrowRight: [0, step]
    }[event.key]
    if (move) {
      const [i, j] = this.at ?? this.middle()
      const within = (k, count) => Math.min(Math.max(k, 0), count - 1)
      this.at = [within(i + move[0], this.rows), within(j + move[1], this.columns)]
      this.mark()
      this.tell(this.at, true)
    } else if (event.key === 'Enter' || event.key === '+') {
      this.around(this.at ?? this.middle(), 1 / ZOOM)
    } else if (event.key === 'Escape' || event.key === '-' || event.key === 'Backspace') {
      this.around(this.at ?? this.middle(), ZOOM)
    } else if (event.key === 'Home') {
      this.ask({ window: [] })
    } else if (event.key === ' ') {
      this.choose(this.at ?? this.middle())
    } else {
      return
    }
    event.preventDefault()
  }

  // A window some times as large around a cell, moved inside of the whole.
  around(cell, times) {
    if (times < 1 && this.isClosest()) return
    const window = this.spans().flatMap(({ edges, size, most }, axis) => {
      const least = Math.min(CLOSEST, times < 1 ? size : most)
      const wanted = Math.min(Math.max(Math.round(size * times), least), most)
      const k = cell[axis]
      const centre = (edges[k] + edges[k + 1]) / 2
      const from = Math.min(Math.max(Math.round(centre - wanted / 2), 0), most - wanted)
      return [from, from + wanted]
    })
    this.ask({ window })
  }

  choose([i]) {
    const { rowEdges } = this.head
    this.ask({ query: Math.floor((rowEdges[i] + rowEdges[i + 1] - 1) / 2) })
  }

  ask(what) {
    const { rowEdges, keyEdges, whole, query } = this.head
    const seen = [rowEdges[0], rowEdges.at(-1), keyEdges[0], keyEdges.at(-1)]
    const wanted = what.window?.length ? what.window : [0, whole[0], 0, whole[1]]
    if (what.query === query || (what.window && wanted.join() === seen.join())) return
    if (!connected()) {
      this.readout.textContent = UNTAKEN
      return
    }
    this.root.setAttribute('aria-busy', 'true')
    this.send('moved', { ...what, turn: Date.now() })
  }
}

export default shadedIn('.zoom', Zoom)
