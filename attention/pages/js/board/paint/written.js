// The ways to write the numbers of a pane in its cells. Pure, but for the widths it is handed.

import { among } from '../../numbers.js'

const DECIMAL = /^\u2212?\d+(?:\.\d+)?(e\u2212?\d+)$/
const ZERO = /^\u2212?0(?:\.0*)?$/
const ZERO_OR_ONE = /^(?:\u2212?0|1)(?:\.0*)?$/
const FEW = 20 // texts that are measured
const FEWEST = 2 // decimals of a share: with one, most of many shares would be ≈0
const NEARLY = 1e-9 // of a number: what floats leave of decimals that end

// How many decimals a number has, how many of them without the zeros at its end, and its exponent;
// 0 and '' where the text is no number, as a wrong answer, 0.7 ✗: only numbers end in a digit. Read
// letter by letter, as there are thousands of texts.
const partsOf = text => {
  const start = text.indexOf('.') + 1
  const power = text.indexOf('e')
  const exponent = power < 0 ? '' : (text.match(DECIMAL)?.[1] ?? '')
  const end = exponent ? power : text.length
  if (!start || !isDigit(text.at(-1))) return { places: 0, left: 0, exponent }
  let last = end
  while (text[last - 1] === '0') last--
  return { places: end - start, left: last - start, exponent }
}

const isDigit = letter => letter >= '0' && letter <= '9'

// The decimals that were asked for; a number in e-notation has one less.
export const decimalsOf = texts => {
  for (const row of texts) {
    for (const text of row) {
      const { places, exponent } = partsOf(text)
      if (places || exponent.includes('\u2212')) return places + (exponent ? 1 : 0)
    }
  }
  return 0
}

/**
 * With fewer decimals than it was sent with: what is not exactly 0, or of shares 1, is ≈0 or ≈1.
 * @param {string} text
 * @param {number} value
 * @param {number} decimals
 */
export const shorter = (text, value, decimals, isShare = false) => {
  const { places, exponent } = partsOf(text)
  const tiny = exponent.includes('\u2212')
  if (!tiny && places <= decimals) return text
  const written = among(value, exponent && !tiny ? Math.max(decimals, 2) : decimals, 0)
  return isRounded(written, isShare) ? `≈${read(written)}` : written
}

const read = text => Number(text.replace('\u2212', '-'))

// Whether a text with decimals says 0, or of a share 1: these have none where they are exact.
const isRounded = (text, isShare) => (isShare ? ZERO_OR_ONE : ZERO).test(text)

// A share without the 0 before its point; what is not exactly 0 or 1 is not called so.
export const tightened = text => {
  const { places } = partsOf(text)
  return places && isRounded(text, true) ? `≈${read(text)}` : text.replace(/^0\./, '.')
}

// A pane's numbers with at most so many decimals: `full`, as they were sent where all decimals are
// kept; `short`, with those in e-notation as ≈0, and without decimals of which nothing is lost; of
// shares also `tight`. `ems` is the width of the widest of each, in font sizes, hidden cells apart.
export const formsOf = (pane, most, measure) => {
  if (!pane.texts) return null
  pane.forms ??= new Map()
  pane.decimals ??= decimalsOf(pane.texts)
  const decimals = Math.min(isShare(pane) ? Math.max(most, FEWEST) : most, pane.decimals)
  if (!pane.forms.has(decimals)) pane.forms.set(decimals, made(pane, decimals, measure))
  return pane.forms.get(decimals)
}

const isShare = ({ spec }) => spec.role === 'share'

// Each is made when it is first asked for, as of many cells that takes long.
const made = (pane, decimals, measure) => {
  const asked = pane.decimals
  const map = (rows, write) => rows.map((row, i) => row.map((text, j) => write(text, i, j)))
  const fill = (text, i, j) => (pane.isHidden(i, j) ? filled(text) : text)
  const texts = once(() => (pane.hides ? map(pane.texts, fill) : pane.texts))
  const cut = once(() =>
    map(texts(), (text, i, j) => shorter(text, pane.valueAt(i, j), decimals, isShare(pane)))
  )
  const full = () => (decimals >= asked ? texts() : cut())
  const short = once(() => withoutZeros(cut(), pane))
  const tight = once(() => isShare(pane) && map(short(), tightened))
  const widest = texts => {
    const isOpen = i => (_, j) => !pane.isHidden(i, j)
    const open = pane.hides ? texts.flatMap((row, i) => row.filter(isOpen(i))) : []
    return Math.max(0.5, ...longest(open.length ? open : texts.flat(), measure))
  }
  const ems = lazily({
    full: once(() => widest(full())),
    short: once(() => widest(short())),
    tight: once(() => tight() && widest(tight()))
  })
  const lost = decimals < asked ? decimals : null
  return Object.assign(lazily({ full, short, tight }), { ems, lost, asked })
}

// About how wide a text is: the widths of its letters together, by the function that measures.
const letters = new WeakMap()
const roughOf = measure => {
  if (!letters.has(measure)) letters.set(measure, new Map())
  const widths = letters.get(measure) // by the code of the letter
  return text => {
    let sum = 0
    for (const letter of text) {
      let width = widths.get(letter)
      if (width === undefined) widths.set(letter, (width = measure(letter, 1)))
      sum += width
    }
    return sum
  }
}

// The widths of the few texts whose letters are the widest together: to measure thousands of texts
// takes longer than all else.
const longest = (texts, measure) => {
  const different = [...new Set(texts)]
  const widths = Float64Array.from(different, roughOf(measure))
  const least = widths.slice().sort().at(-FEW) ?? 0
  const wide = different.filter((_, k) => widths[k] > least)
  const asWide = different.filter((_, k) => widths[k] === least)
  return [...wide, ...asWide].slice(0, FEW).map(text => measure(text, 1))
}

const once = make => {
  let found
  return () => (found ??= make())
}

const lazily = makers =>
  Object.defineProperties(
    /** @type {any} */ ({}),
    Object.fromEntries(
      Object.entries(makers).map(([name, get]) => [name, { get, enumerable: true }])
    )
  )

// Without the last decimals, where all numbers end before them.
const withoutZeros = (texts, pane) => {
  let most = -1
  texts.forEach((row, i) => {
    row.forEach((text, j) => {
      const { places, left, exponent } = partsOf(text)
      if (exponent || !places || places <= most) return
      const ends = left < places && endsAt(text, pane.valueAt(i, j), isShare(pane))
      most = Math.max(most, ends ? left : places)
    })
  })
  return most < 0 ? texts : texts.map(row => row.map(text => dropped(text, most)))
}

// Whether a number has no more decimals than those of its text.
const endsAt = (text, value, isShare) =>
  !isRounded(text, isShare) && Math.abs(read(text) - value) <= NEARLY * Math.abs(value)

const dropped = (text, most) => {
  const { places, exponent } = partsOf(text)
  return places > most && !exponent ? cutTo(text, most) : text
}

// What fills a hidden cell in place of −∞: −1e9 for −1.000e9, as it gets no room of its own.
const filled = text => text.replace(/\.0+(?=e)/, '')

const cutTo = (text, most) => {
  const [whole, places] = text.split('.')
  return most ? `${whole}.${places.slice(0, most)}` : whole
}
