// Small maps, each a button. They are drawn anew where they or the theme are others.

import { UNTAKEN, connected, make, modeAround } from './elements.js'
import { mathText } from './board/text/text.js'
import { Shaded, shadedIn } from './shaded.js'

const LEAST = 6.4 // rem, of a map

// How many stand in a line: a divisor of all, so that a column is a head of each layer, or nearly
// as many in each line where there is none.
const across = (count, most) => {
  if (count <= most) return count
  for (let columns = most; columns > Math.max(most / 2, 3); columns--) {
    if (count % columns === 0) return columns
  }
  return Math.ceil(count / Math.ceil(count / most))
}

class Maps extends Shaded {
  constructor(root) {
    super(root)
    this.resize = new ResizeObserver(() => this.arrange())
    this.resize.observe(root)
  }

  show(bytes, send) {
    this.send = send
    for (const busy of this.root.querySelectorAll('[aria-busy]')) busy.removeAttribute('aria-busy')
    const rest = this.take(bytes)
    if (!rest) return
    const focused = document.activeElement?.getAttribute('data-map')
    this.maps = []
    this.root.replaceChildren()
    let at = 0
    for (const { title, note, buttons } of this.head.groups) {
      const group = make('section', 'maps-group', this.root)
      make('h3', 'maps-title', group, title)
      if (note) mathText(make('p', 'maps-note', group), note)
      const row = make('div', 'maps-row', group)
      for (const spec of buttons) {
        const [n, m] = spec.map
        this.maps.push({ n, m, codes: rest.slice(at, at + n * m), canvas: this.button(row, spec) })
        at += n * m
      }
    }
    this.arrange()
    this.paint()
    if (focused) this.root.querySelector(`[data-map="${CSS.escape(focused)}"]`)?.focus()
  }

  arrange() {
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize)
    const most = Math.max(Math.floor(this.root.clientWidth / (LEAST * rem)), 1)
    for (const group of this.root.children) {
      const count = group.querySelectorAll('.map').length
      group.style.setProperty('--across', String(across(count, most)))
    }
  }

  end() {
    this.resize.disconnect()
    super.end()
  }

  button(row, { id, name, lines, says, is_wrong: isWrong }) {
    const button = make('button', isWrong ? 'map wrong' : 'map', row)
    button.type = 'button'
    button.dataset.map = id
    button.setAttribute('aria-label', says)
    button.title = says
    const frame = make('span', 'map-frame', button)
    make('span', 'map-key', frame, 'key')
    make('span', 'map-query', frame, 'query')
    const canvas = make('canvas', 'map-cells', frame)
    make('span', 'map-name', button, name)
    for (const line of lines) make('span', 'map-line', button, line)
    button.onclick = () => {
      if (!connected()) {
        button.title = UNTAKEN
        return
      }
      button.setAttribute('aria-busy', 'true')
      this.send('pressed', { id })
    }
    return canvas
  }

  paint() {
    this.drawn = modeAround(this.root)
    for (const { n, m, codes, canvas } of this.maps) {
      this.fill(canvas, n, m, codes)
      canvas.style.aspectRatio = Math.min(Math.max(m / n, 1 / 2), 4) // of a step, a strip
    }
    Object.assign(this.root.dataset, { drawn: this.drawn, tag: this.head.tag })
  }
}

export default shadedIn('.maps', Maps)
