// Small maps, each a button. They are drawn anew where they or the theme are others.

class Maps {
  constructor(root) {
    this.root = root
    this.themes = watchThemes(root, () => {
      if (this.head && modeAround(root) !== this.drawn) this.paint()
    })
  }

  show(bytes, send) {
    this.send = send
    const end = bytes.indexOf(0)
    const head = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)))
    const same = head.tag === this.head?.tag
    this.head = head
    if (same) return
    const focused = document.activeElement?.dataset.map
    this.maps = []
    this.root.replaceChildren()
    let at = end + 1
    for (const { title, note, buttons } of this.head.groups) {
      const group = make('section', 'maps-group', this.root)
      group.style.setProperty('--maps', buttons.length)
      make('h3', 'maps-title', group, title)
      if (note) make('p', 'maps-note', group, note)
      const row = make('div', 'maps-row', group)
      for (const spec of buttons) {
        const [n, m] = spec.map
        this.maps.push({ n, m, codes: bytes.slice(at, at + n * m), canvas: this.button(row, spec) })
        at += n * m
      }
    }
    this.paint()
    if (focused) this.root.querySelector(`[data-map="${CSS.escape(focused)}"]`)?.focus()
  }

  button(row, { id, name, lines, says, is_wrong: isWrong }) {
    const button = make('button', isWrong ? 'map wrong' : 'map', row)
    button.type = 'button'
    button.dataset.map = id
    button.setAttribute('aria-label', says)
    button.title = says
    const canvas = make('canvas', 'map-cells', button)
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
    const table = inks('share', this.head.palettes[this.drawn])
    for (const { n, m, codes, canvas } of this.maps) {
      Object.assign(canvas, { width: m, height: n })
      canvas.style.aspectRatio = Math.min(Math.max(m / n, 1 / 2), 4) // of a step, a strip
      const context = canvas.getContext('2d')
      const image = context.createImageData(m, n)
      const picture = new Uint32Array(image.data.buffer)
      for (let k = 0; k < codes.length; k++) picture[k] = table[codes[k]]
      context.putImageData(image, 0, 0)
    }
    Object.assign(this.root.dataset, { drawn: this.drawn, tag: this.head.tag })
  }

  end() {
    this.themes.disconnect()
    this.root.replaceChildren()
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector('.maps')
  const bytes = data instanceof Uint8Array ? data : new Uint8Array(data)
  return callOn(root, Maps, maps => maps.show(bytes, setTriggerValue))
}
