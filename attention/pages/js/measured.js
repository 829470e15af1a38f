// How many pixels an image has, by its header: read before anything is decoded.

const text = (bytes, at, length) => String.fromCharCode(...bytes.subarray(at, at + length))
const large = (bytes, at, count) => bytes.subarray(at, at + count).reduce((n, b) => 256 * n + b, 0)
const small = (bytes, at, count) => large(bytes.slice(at, at + count).reverse(), 0, count)

const png = bytes => {
  if (bytes.length < 24 || text(bytes, 12, 4) !== 'IHDR') return null
  return [large(bytes, 16, 4), large(bytes, 20, 4)]
}

// The segments of a JPEG, each with its length, up to the one that begins a frame.
const jpeg = bytes => {
  let at = 2
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1]
    if (marker === 0xff) {
      at += 1 // filling
    } else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      return [large(bytes, at + 7, 2), large(bytes, at + 5, 2)]
    } else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) {
      at += 2 // without a length
    } else {
      at += 2 + Math.max(large(bytes, at + 2, 2), 2)
    }
  }
  return null
}

const webp = bytes => {
  if (bytes.length < 30) return null
  const kind = text(bytes, 12, 4)
  if (kind === 'VP8X') return [1 + small(bytes, 24, 3), 1 + small(bytes, 27, 3)]
  if (kind === 'VP8 ') return [small(bytes, 26, 2) & 0x3fff, small(bytes, 28, 2) & 0x3fff]
  if (kind !== 'VP8L') return null
  const sides = small(bytes, 21, 4)
  return [1 + (sides & 0x3fff), 1 + ((sides >>> 14) & 0x3fff)]
}

/**
 * Width and height; null of what is no PNG, JPEG or WebP, or has no complete header.
 * @param {Uint8Array} bytes
 */
export const measured = bytes => {
  if (text(bytes, 0, 8) === '\x89PNG\r\n\x1a\n') return png(bytes)
  if (text(bytes, 0, 3) === '\xff\xd8\xff') return jpeg(bytes)
  if (text(bytes, 0, 4) === 'RIFF' && text(bytes, 8, 4) === 'WEBP') return webp(bytes)
  return null
}

/**
 * Why a file is not opened, in one sentence; '' where it is.
 * @param {string} name
 * @param {number} size bytes
 * @param {Uint8Array | null} bytes of the file, where they were read
 * @param {{ bytes: number, pixels: number }} most
 */
export const refusal = (name, size, bytes, most) => {
  if (size > most.bytes) {
    const [has, may] = [size, most.bytes].map(n => (n / 2 ** 20).toFixed(1).replace('.0', ''))
    return `${name} has ${has} MB; at most ${may} MB are opened.`
  }
  if (!bytes) return ''
  const sides = measured(bytes)
  if (!sides) return `${name} is not a PNG, JPEG or WebP image with a complete header.`
  const [width, height] = sides
  const pixels = width * height
  if (pixels >= 1 && pixels <= most.pixels) return ''
  const counted = [width, height, most.pixels].map(n => n.toLocaleString('en-US'))
  return `${name} has ${counted[0]} × ${counted[1]} pixels; expected 1 to ${counted[2]} in all.`
}
