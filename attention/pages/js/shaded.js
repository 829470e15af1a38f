// What paints cells in shades: it takes what Python sent, JSON and behind a zero the rest, and
// paints anew where that or the theme is another.

import { inks } from './board/paint/shades.js'
import { callOn, modeAround, watchThemes } from './elements.js'

export class Shaded {
  drawn = '' // the theme it was painted in

  constructor(root) {
    this.root = root
    this.themes = watchThemes(root, () => {
      if (this.head && modeAround(root) !== this.drawn) this.paint()
    })
  }

  paint() {} // each kind has its own

  // The bytes behind the JSON, which becomes the head; nothing where the same stands already.
  take(bytes) {
    const end = bytes.indexOf(0)
    const head = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)))
    const same = head.tag === this.head?.tag
    this.head = head
    return same ? null : bytes.subarray(end + 1)
  }

  // A pixel for each cell, row by row.
  fill(canvas, rows, columns, codes) {
    const table = inks('share', this.head.palettes[this.drawn])
    Object.assign(canvas, { width: columns, height: rows })
    const context = canvas.getContext('2d')
    const image = context.createImageData(columns, rows)
    const picture = new Uint32Array(image.data.buffer)
    for (let k = 0; k < codes.length; k++) picture[k] = table[codes[k]]
    context.putImageData(image, 0, 0)
  }

  end() {
    this.themes.disconnect()
    this.root.replaceChildren()
  }
}

export const shadedIn = (selector, Kind) => ({ data, parentElement, setTriggerValue }) => {
  const root = parentElement.querySelector(selector)
  const bytes = data instanceof Uint8Array ? data : new Uint8Array(data)
  return callOn(root, Kind, kind => kind.show(bytes, setTriggerValue))
}
