// A query's weights over an image: hover reads a patch, a click makes it the query. The image is
// opened here and sent nowhere.

import { HIDDEN, inks } from './board/paint/shades.js'
import { safe } from './board/paint/svg.js'
import { STEPS, colours } from './board/paint/scales.js'
import { saveFile } from './clipboard.js'
import { UNTAKEN, connected, make, modeAround } from './elements.js'
import { refusal } from './measured.js'
import { number } from './numbers.js'
import { Shaded, shadedIn } from './shaded.js'

const POINT = 'Point at a patch for its weight; click it to make it the query.'
const TAP = 'Tap a patch for its weight and to make it the query.'
const TALLEST = 20 // rem: the picture, for which a laptop has room below the board
const WIDEST = 1600 // pixels of an image that is kept; a larger one is scaled down
const DRAWN = 900 // pixels of a file's width at least
const LINE = 26 // pixels of a line of text in a file of that width
const BROKEN = 255 // the shade of what is not finite

// What stays while one visits other pages: the image, and how much of the map is seen.
const kept = { image: null, opacity: 0.6 }

const opened = async (file, most) => {
  const early = refusal(file.name, file.size, null, most)
  if (early) return { said: early }
  const said = refusal(file.name, file.size, new Uint8Array(await file.arrayBuffer()), most)
  if (said) return { said }
  try {
    const bitmap = await createImageBitmap(file)
    const scale = Math.min(1, WIDEST / Math.max(bitmap.width, bitmap.height))
    const image = make('canvas')
    image.width = Math.max(1, Math.round(scale * bitmap.width))
    image.height = Math.max(1, Math.round(scale * bitmap.height))
    image.getContext('2d').drawImage(bitmap, 0, 0, image.width, image.height)
    bitmap.close()
    return { image }
  } catch {
    return { said: `${file.name} could not be decoded: it is damaged.` }
  }
}

class Over extends Shaded {
  constructor(root) {
    super(root)
    this.stage = make('div', 'over-stage', root)
    this.image = make('canvas', 'over-image', this.stage)
    this.canvas = make('canvas', 'over-map', this.stage)
    this.own = make('div', 'over-own', this.stage)
    this.cursor = make('div', 'over-cursor', this.stage)
    const side = make('div', 'over-side', root)
    this.title = make('p', 'over-title', side)
    this.readout = make('p', 'over-readout', side)
    this.apart = make('p', 'over-apart', side)
    this.scale = make('div', 'over-scale', side)
    this.refused = make('p', 'over-refused', side)
    this.refused.setAttribute('role', 'alert')
    this.tools(side)
    this.canvas.tabIndex = 0
    this.canvas.setAttribute('role', 'application')
    this.listen()
  }

  tools(side) {
    const row = make('div', 'over-tools', side)
    const file = make('input', 'over-file', row)
    Object.assign(file, { type: 'file', accept: 'image/png,image/jpeg,image/webp' })
    file.setAttribute('aria-label', 'Image')
    file.onchange = () => file.files.length && this.open(file.files[0], file)
    const button = (label, act) => {
      const made = make('button', 'over-button', row, label)
      Object.assign(made, { type: 'button', onclick: act })
      return made
    }
    button('Choose an image', () => file.click())
    this.remove = button('Remove it', () => this.put(null))
    button('PNG', () => this.save('png'))
    button('SVG', () => this.save('svg'))
    this.seen = make('label', 'over-opacity', side, 'Opacity of the map')
    const slider = make('input', '', this.seen)
    Object.assign(slider, { type: 'range', min: '0', max: '1', step: '0.05' })
    slider.value = String(kept.opacity)
    slider.oninput = () => {
      kept.opacity = Number(slider.value)
      this.canvas.style.opacity = slider.value
    }
    const most = 'PNG, JPEG or WebP, as the model saw it: cut out as its processor does.'
    make('p', 'over-note', side, `${most} It is stretched over the map and stays in this browser.`)
  }

  async open(file, field) {
    const { image, said = '' } = await opened(file, this.head.most)
    field.value = ''
    this.refused.textContent = said
    if (image) this.put(image)
  }

  put(image) {
    kept.image = image
    this.refused.textContent = ''
    this.paint()
  }

  show(bytes, send) {
    this.send = send
    const rest = this.take(bytes)
    this.root.removeAttribute('aria-busy')
    if (!rest) return
    const { rows, columns } = this.head
    const count = rows * columns
    this.codes = rest.slice(0, count)
    this.values = new Float32Array(rest.slice(count).buffer)
    this.digits = Math.max(this.head.digits, 4) // of one patch of many the weight is small
    if (this.at >= count) this.at = -1
    this.paint()
    this.tell(this.at)
  }

  // ---- drawing -------------------------------------------------------------------------------

  paint() {
    const { head, image } = this
    this.drawn = modeAround(this.root)
    this.fill(this.canvas, head.rows, head.columns, this.codes)
    image.hidden = this.remove.hidden = this.seen.hidden = !kept.image
    if (kept.image) {
      Object.assign(image, { width: kept.image.width, height: kept.image.height })
      image.getContext('2d').drawImage(kept.image, 0, 0)
    }
    this.canvas.style.opacity = String(kept.image ? kept.opacity : 1)
    const aspect = kept.image ? kept.image.width / kept.image.height : head.columns / head.rows
    this.stage.style.aspectRatio = String(aspect)
    this.stage.style.width = `min(${TALLEST * aspect}rem, 44rem)`
    const says = `Weights of query ${head.query}, ${head.rows} × ${head.columns} patches`
    this.canvas.setAttribute('aria-label', says)
    this.title.textContent = `Query ${head.query}`
    this.apart.textContent = head.apart
    this.bar()
    this.place(this.own, head.own)
    this.mark()
    this.canvas.painted = { values: this.values, codes: this.codes }
    Object.assign(this.root.dataset, { drawn: this.drawn, tag: head.tag })
    this.root.dataset.image = kept.image ? `${kept.image.width}x${kept.image.height}` : ''
  }

  bar() {
    const { head, scale } = this
    scale.replaceChildren()
    const stops = colours(head.palettes[this.drawn].share)
    const shown = Array.from({ length: 17 }, (_, k) => stops[Math.round((k / 16) * STEPS)])
    make('span', '', scale, '0')
    const bar = make('div', 'over-bar', scale)
    bar.style.background = `linear-gradient(to right, ${shown.map(c => `rgb(${c})`).join()})`
    make('span', '', scale, number(head.largest, this.digits))
  }

  place(node, cell) {
    const { rows, columns } = this.head
    node.hidden = !(cell >= 0)
    if (node.hidden) return
    Object.assign(node.style, {
      top: `${(100 * Math.floor(cell / columns)) / rows}%`,
      left: `${(100 * (cell % columns)) / columns}%`,
      height: `${100 / rows}%`,
      width: `${100 / columns}%`
    })
  }

  mark() {
    this.place(this.cursor, this.at ?? -1)
  }

  // ---- words ---------------------------------------------------------------------------------

  tell(cell, aloud = false) {
    const { head, readout } = this
    readout.setAttribute('aria-live', aloud ? 'polite' : 'off')
    if (!(cell >= 0)) {
      readout.textContent = matchMedia('(pointer: coarse)').matches ? TAP : POINT
      return
    }
    const at = `row ${1 + Math.floor(cell / head.columns)}, column ${1 + (cell % head.columns)}`
    const code = this.codes[cell]
    const weight = number(this.values[cell], this.digits)
    const said = code === HIDDEN ? 'hidden' : code === BROKEN ? 'not finite' : `weight ${weight}`
    readout.textContent = `${head.labels[cell]} (${at}): ${said}`
  }

  // ---- moves ---------------------------------------------------------------------------------

  cellOf(event) {
    const { rows, columns } = this.head
    const box = this.canvas.getBoundingClientRect()
    const inside = (share, count) => Math.min(Math.max(Math.floor(share * count), 0), count - 1)
    const row = inside((event.clientY - box.top) / box.height, rows)
    return row * columns + inside((event.clientX - box.left) / box.width, columns)
  }

  listen() {
    const { canvas } = this
    canvas.onpointermove = event => this.head && this.tell(this.cellOf(event))
    canvas.onpointerleave = () => this.head && this.tell(this.at)
    canvas.onclick = event => this.head && this.choose(this.cellOf(event))
    canvas.onkeydown = event => this.key(event)
    canvas.onblur = () => this.head && this.point(-1)
  }

  point(cell, aloud = false) {
    this.at = cell
    this.mark()
    this.tell(cell, aloud)
  }

  key(event) {
    if (!this.head || event.ctrlKey || event.metaKey || event.altKey) return
    const { rows, columns, own } = this.head
    const at = this.at >= 0 ? this.at : Math.max(own, 0)
    const [row, column] = [Math.floor(at / columns), at % columns]
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }
    const move = moves[event.key]
    if (move) {
      const within = (k, count) => Math.min(Math.max(k, 0), count - 1)
      this.point(within(row + move[0], rows) * columns + within(column + move[1], columns), true)
    } else if (event.key === 'Enter' || event.key === ' ') {
      this.choose(at)
    } else {
      return
    }
    event.preventDefault()
  }

  choose(cell) {
    const query = this.head.queries[cell]
    this.tell(cell)
    if (query < 0 || cell === this.head.own) return
    if (!connected()) {
      this.readout.textContent = UNTAKEN
      return
    }
    this.root.setAttribute('aria-busy', 'true')
    this.send('asked', query)
  }

  // ---- files ---------------------------------------------------------------------------------

  // Sizes of a file and its words, in the colours of a light page.
  sheet() {
    const { head } = this
    const aspect = kept.image ? kept.image.width / kept.image.height : head.columns / head.rows
    const width = Math.max(DRAWN, kept.image?.width ?? 0)
    const scale = `colours from 0 to ${number(head.largest, this.digits)}`
    const lines = [`${head.title}; query ${head.query}`, head.apart, scale].filter(Boolean)
    return { width, height: Math.round(width / aspect), line: (LINE * width) / DRAWN, lines }
  }

  async save(form) {
    const blob = await (form === 'png' ? this.png() : this.svg())
    if (blob) saveFile(blob, `${this.head.file}.${form}`)
    else this.refused.textContent = `${this.head.file}.${form} could not be made.`
  }

  png() {
    const { head } = this
    const { width, height, line, lines } = this.sheet()
    const canvas = make('canvas')
    Object.assign(canvas, { width, height: Math.ceil(height + line * (lines.length + 0.5)) })
    const context = canvas.getContext('2d')
    context.fillStyle = '#ffffff'
    context.fillRect(0, 0, canvas.width, canvas.height)
    if (kept.image) context.drawImage(kept.image, 0, 0, width, height)
    const map = make('canvas')
    this.light(map)
    context.imageSmoothingEnabled = false
    context.globalAlpha = kept.image ? kept.opacity : 1
    context.drawImage(map, 0, 0, width, height)
    context.globalAlpha = 1
    const [w, h] = [width / head.columns, height / head.rows]
    if (head.own >= 0) {
      const [x, y] = [(head.own % head.columns) * w, Math.floor(head.own / head.columns) * h]
      for (const [ink, thick] of this.outlines(width)) {
        Object.assign(context, { strokeStyle: ink, lineWidth: thick })
        context.strokeRect(x, y, w, h)
      }
    }
    context.fillStyle = '#000000'
    lines.forEach((words, k) => {
      context.font = `${0.7 * line}px sans-serif`
      context.fillText(words, 0.2 * line, height + line * (k + 0.9), width - 0.4 * line)
    })
    return new Promise(resolve => canvas.toBlob(resolve, 'image/png'))
  }

  light(canvas) {
    const { drawn, head } = this
    const palettes = { ...head.palettes, [drawn]: head.palettes.light }
    this.head = { ...head, palettes }
    this.fill(canvas, head.rows, head.columns, this.codes)
    this.head = head
  }

  outlines(width) {
    return [['#ffffff', (5 * width) / DRAWN], ['#000000', (2 * width) / DRAWN]]
  }

  svg() {
    const { head } = this
    const { width, height, line, lines } = this.sheet()
    const tall = Math.ceil(height + line * (lines.length + 0.5))
    const table = new Uint8Array(inks('share', head.palettes.light).buffer)
    const [w, h] = [width / head.columns, height / head.rows]
    const at = cell => `x="${(cell % head.columns) * w}" y="${Math.floor(cell / head.columns) * h}"`
    const size = `width="${w}" height="${h}"`
    const cells = Array.from(this.codes, (code, k) => {
      const ink = [...table.subarray(4 * code, 4 * code + 3)].join()
      const says = `${head.labels[k]}: ${number(this.values[k], this.digits)}`
      return `<rect ${at(k)} ${size} fill="rgb(${ink})"><title>${safe(says)}</title></rect>`
    })
    const outlines = this.outlines(width).map(
      ([ink, thick]) =>
        `<rect ${at(head.own)} ${size} fill="none" stroke="${ink}" stroke-width="${thick}"/>`
    )
    const words = lines.map(
      (text, k) => `<text x="${0.2 * line}" y="${height + line * (k + 0.9)}">${safe(text)}</text>`
    )
    const whole = `width="${width}" height="${height}" preserveAspectRatio="none"`
    const image = kept.image ? `<image ${whole} href="${kept.image.toDataURL()}"/>` : ''
    const parts = [
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${tall}">`,
      `<title>${safe(lines[0])}</title><desc>${safe(head.about)}</desc>`,
      `<rect width="${width}" height="${tall}" fill="#ffffff"/>`,
      image,
      `<g shape-rendering="crispEdges" opacity="${kept.image ? kept.opacity : 1}">`,
      ...cells,
      '</g>',
      ...(head.own >= 0 ? outlines : []),
      `<g font-family="sans-serif" font-size="${0.7 * line}">${words.join('')}</g>`,
      '</svg>'
    ]
    return new Blob([parts.join('\n')], { type: 'image/svg+xml' })
  }
}

export default shadedIn('.over', Over)
