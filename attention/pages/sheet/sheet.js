// The sheet: a figure as it will be saved, drawn by this browser, and the buttons that save it.

const POINTS = 96 / 0.0254 // pixels in a metre
const MOST = 16000 // pixels of a side: of a larger canvas browsers make an empty file, and say nothing
const SIGNATURE = [137, 80, 78, 71, 13, 10, 26, 10]

// SVG in centimetres: what Plotly measured in pixels keeps its proportions by the viewBox.
const inCentimetres = (svg, cm) => {
  const [, w, h] = svg.match(/viewBox="0 0 ([\d.]+) ([\d.]+)"/)
  return svg.replace(/ width="[\d.]+"/, ` width="${cm}cm"`).replace(/ height="[\d.]+"/, ` height="${(cm * h / w).toFixed(4)}cm"`)
}

const crc = bytes => {
  let sum = ~0
  for (const byte of bytes) { sum ^= byte; for (let k = 0; k < 8; k++) sum = (sum >>> 1) ^ (0xEDB88320 & -(sum & 1)) }
  return ~sum >>> 0
}

// PNG knows its size in centimetres by a pHYs chunk, which stands right after the header (33 bytes).
const withSize = (png, scale) => {
  const chunk = new Uint8Array(21), view = new DataView(chunk.buffer), each = Math.round(POINTS * scale)
  view.setUint32(0, 9)
  chunk.set([112, 72, 89, 115], 4)
  view.setUint32(8, each)
  view.setUint32(12, each)
  chunk[16] = 1
  view.setUint32(17, crc(chunk.subarray(4, 17)))
  return new Blob([png.subarray(0, 33), chunk, png.subarray(33)], { type: 'image/png' })
}

const save = (blob, filename) => {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = filename
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}

const draw = async (Plotly, head, form, scale = 1) => {
  const { width, height } = head.figure.layout
  if (form === 'png' && Math.max(width, height) * scale > MOST) {
    const [w, h, most] = [width * scale, height * scale, MOST].map(n => n.toLocaleString('en'))
    throw new Error(`this figure is ${w} × ${h} pixels at ${scale} times; at most ${most} fit: choose fewer times or fewer stages`)
  }
  const url = await Plotly.toImage(head.figure, { format: form, width, height, scale })
  if (form === 'svg') return inCentimetres(decodeURIComponent(url.slice(url.indexOf(',') + 1)), head.cm)
  const png = Uint8Array.from(atob(url.slice(url.indexOf(',') + 1)), c => c.charCodeAt(0))
  if (SIGNATURE.some((byte, k) => png[k] !== byte)) throw new Error('the browser made no PNG of it: choose fewer times, or take the SVG')
  return withSize(png, scale)
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector('.sheet')
  const head = JSON.parse(new TextDecoder().decode(data instanceof Uint8Array ? data : new Uint8Array(data)))
  const turn = root.turn = (root.turn ?? 0) + 1
  const [image, status] = [root.querySelector('img'), root.querySelector('[role=status]')]
  const [svg, png] = root.querySelectorAll('button')
  const failed = error => { status.textContent = `The figure could not be drawn: ${error.message ?? error}` }
  plotly(head.plotly).then(async Plotly => {
    const text = await draw(Plotly, head, 'svg')
    if (turn !== root.turn) return
    image.src = 'data:image/svg+xml,' + encodeURIComponent(text)
    image.alt = head.alt
    svg.onclick = () => { save(new Blob([text], { type: 'image/svg+xml' }), head.filename + '.svg'); status.textContent = `${head.filename}.svg was saved.` }
    png.onclick = () => draw(Plotly, head, 'png', head.scale).then(blob => { save(blob, head.filename + '.png'); status.textContent = `${head.filename}.png was saved.` }).catch(failed)
    root.dataset.tag = head.tag
  }).catch(failed)
}
