// Numbers as text, as attention/vocabulary/numbers.py writes them: `number` alone, and `among`
// others, where a whole number has decimals too, except 0.

const LARGE = 1e6 // from here on numbers are written in e-notation

/** @param {number} value @param {number} digits */
export const number = (value, digits) =>
  Number.isInteger(value) && Math.abs(value) < LARGE
    ? signed(value, String(Math.abs(value)))
    : among(value, digits)

/**
 * With `digits` decimals; in e-notation where the number is large, or where the decimals would show
 * fewer than `least` significant digits. What only rounds to 0 is 0.00.
 * @param {number} value
 * @param {number} digits
 */
export const among = (value, digits, least = Math.max(digits >> 1, 1)) => {
  if (Number.isNaN(value)) return 'NaN'
  if (!value) return '0'
  const size = Math.abs(value)
  if (size === Infinity) return signed(value, '∞')
  if (size >= LARGE) return signed(value, power(size, digits))
  const text = fixed(size, digits)
  const shows = !least || !digits || Number.isInteger(value) || significant(text) >= least
  return signed(value, shows ? text : power(size, digits))
}

const signed = (value, text) => (value < 0 && /[1-9∞]/.test(text) ? `\u2212${text}` : text)

const significant = text => text.replace('.', '').replace(/^0+/, '').length

// Only a whole multiple of a power of two is half way between two texts. Others are not written
// with so many decimals, as that takes much longer.
const fixed = (size, digits) => {
  const text = size.toFixed(digits)
  if (!Number.isInteger(size * 2 ** (digits + 1))) return text
  return halfEven(size.toFixed(digits + 25), text)
}

// With so many significant digits, one at least: 2.5e6, 3.1e−7.
const power = (size, digits) => {
  const written = places => size.toExponential(places).split('e')
  const places = Math.max(digits - 1, 0)
  const [[exact], [text, exponent]] = [written(places + 25), written(places)]
  return `${halfEven(exact, text)}e${exponent.replace('+', '').replace('-', '\u2212')}`
}

// Rounded as Python rounds: half way goes to the even one. `exact` has 25 decimals more.
const halfEven = (exact, text) => {
  const below = exact.slice(0, -25).replace(/\.$/, '')
  const half = /^50*$/.test(exact.slice(-25)) && '02468'.includes(below.at(-1))
  return half ? below : text
}
