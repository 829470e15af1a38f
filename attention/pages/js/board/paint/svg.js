// A heatmap as SVG: text as text, a rectangle for each cell.

import { axesOf, framesOf } from './part.js'
import { STEPS, colours } from './scales.js'
import { coloured, isHidden, struck } from './shades.js'

const ANCHORS = { left: 'start', center: 'middle', right: 'end' }
const BAR = 5 // px: the width of a colour bar
const BASE = 0.35 // of the size: from the middle of a line down to its letters' feet
export const INDEX = { size: 0.7, fall: 0.25 } // of the size of the other letters

const short = value => String(Number(value.toFixed(2)))

/** @param {number[]} colour */
const hex = colour =>
  '#' + colour.map(part => Math.round(part).toString(16).padStart(2, '0')).join('')

// Text as XML takes it, which has no place for some signs.
export const safe = text =>
  text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replace(/[&<>"]/g, sign => `&#${sign.charCodeAt(0)};`)

/** @param {string} name @param {Record<string, string | number>} attributes */
const tag = (name, attributes, inside = '') => {
  const written = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${typeof value === 'number' ? short(value) : safe(value)}"`
  )
  return `<${name}${written.join('')}${inside ? `>${inside}</${name}>` : '/>'}`
}

/** @param {Label} label */
const labelled = ({ text, x, y, size, align, angle, colour }) => {
  const style = { 'font-size': size, 'text-anchor': ANCHORS[align] }
  if (colour) Object.assign(style, { fill: colour })
  const place = angle
    ? { x: 0, y: BASE * size, transform: `translate(${short(x)} ${short(y)}) rotate(${-angle})` }
    : { x, y: y + BASE * size }
  return tag('text', { ...place, ...style }, safe(text))
}

/** @param {Heading} heading */
const headed = ({ parts, size, x, y }) => {
  let before = false
  const inside = parts.map(({ text, low }) => {
    const fall = (Number(low) - Number(before)) * INDEX.fall * size
    before = low
    return tag('tspan', { 'font-size': low ? INDEX.size * size : size, dy: fall }, safe(text))
  })
  return tag('text', { x, y: y + BASE * size }, inside.join(''))
}

// A cell without its edge, where it has room for one.
const cellsOf = ({ codes, n, m }, inks, { x, y, across, down }) => {
  const edge = Math.min(across, down) < 6 ? 0 : 0.5
  const size = { width: across - 2 * edge, height: down - 2 * edge }
  return Array.from({ length: n * m }, (_, k) => {
    const [i, j] = [Math.floor(k / m), k % m]
    const corner = { x: x(j - 0.5) + edge, y: y(i - 0.5) + edge }
    return tag('rect', { ...corner, ...size, fill: inks[codes[k]] })
  })
}

// Of many cells all with one shade together: one path, its unit a cell.
const shadesOf = ({ codes, m }, inks, { x, y, across, down }) => {
  const paths = inks.map(() => [])
  codes.forEach((code, k) => paths[code].push(`M${k % m} ${Math.floor(k / m)}h1v1h-1z`))
  const scale = `translate(${short(x(-0.5))} ${short(y(-0.5))}) scale(${across} ${down})`
  const written = paths.map((path, code) =>
    path.length ? tag('path', { fill: inks[code], d: path.join('') }) : ''
  )
  return [tag('g', { transform: scale, 'shape-rendering': 'crispEdges' }, written.join(''))]
}

const barOf = ({ spec, places }, palette) => {
  const { width, right, top, height } = places
  const table = colours(palette[spec.role])
  const stops = [0, 0.25, 0.5, 0.75, 1].map(share =>
    tag('stop', { offset: share, 'stop-color': hex(table[Math.round(share * STEPS)]) })
  )
  const scale = tag('linearGradient', { id: 'bar', x1: 0, x2: 0, y1: 1, y2: 0 }, stops.join(''))
  const box = { x: width - right + 5, y: top, width: BAR, height, fill: 'url(#bar)' }
  return tag('defs', {}, scale) + tag('rect', box)
}

/**
 * The picture of a pane as its places, heading and labels say, in the colours of a palette.
 * @param {Pane} pane
 * @param {{ labels: Labels, texts: string[][] | null, size: number, heading: Heading,
 *   above: number, width: number, font: string, palette: Palette }} how
 */
export const toSvg = (pane, { labels, texts, size, heading, above, width, font, palette }) => {
  const { places, spec } = pane
  const axes = axesOf(pane)
  const { x, y, across, down } = axes
  const height = above + places.top + places.height + places.bottom
  const inks = coloured(spec.role, palette).map(hex)
  const strokes = struck(pane, Math.min(across, down)).map(([i, j]) => {
    const [from, to] = [`${short(x(j - 0.5))} ${short(y(i + 0.5))}`, `${short(x(j + 0.5))} `]
    return `M${from}L${to}${short(y(i - 0.5))}`
  })
  const numbers = (texts ?? []).flatMap((row, i) =>
    row.map((text, j) => {
      const colour = isHidden(pane, i, j) ? palette.onHidden : undefined
      return labelled({ text, x: x(j), y: y(i), size, align: 'center', colour })
    })
  )
  const frames = framesOf(pane, axes).map(({ role, line, ...box }) =>
    tag('rect', { ...box, fill: 'none', stroke: palette[role], 'stroke-width': line })
  )
  const line = { fill: 'none', stroke: palette.stroke }
  const inside = [
    ...(spec.large ? shadesOf : cellsOf)(pane, inks, axes),
    strokes.length ? tag('path', { ...line, d: strokes.join('') }) : '',
    tag('g', { class: 'numbers' }, numbers.join('')),
    ...frames,
    ...['rows', 'columns', 'corner', 'bar'].map(name =>
      tag('g', { class: name }, labels[name].map(labelled).join(''))
    ),
    places.bar ? barOf(pane, palette) : ''
  ]
  const root = { xmlns: 'http://www.w3.org/2000/svg', width, height }
  const box = { viewBox: `0 0 ${short(width)} ${short(height)}`, style: 'white-space: pre' }
  return tag(
    'svg',
    { ...root, ...box, 'font-family': font, fill: palette.ink },
    [
      tag('rect', { width, height, fill: palette.paper }),
      headed(heading),
      tag('g', { transform: `translate(0 ${short(above)})` }, inside.join('\n'))
    ].join('\n')
  )
}
