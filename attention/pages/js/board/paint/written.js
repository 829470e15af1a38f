// The ways to write the numbers of a pane in its cells. Pure, but for the widths it is handed.

import { among } from '../../numbers.js'

const DECIMAL = /^\u2212?\d+(?:\.(\d+))?(e\u2212?\d+)?$/
const FEW = 20 // texts that are measured
const KNOWN = 20_000 // texts that are remembered: most are on the next picture, too
const TINY = '≈0' // a number that the decimals would make a 0, and is none

/**
 * Memoize a function of a text.
 * @template T
 * @param {(text: string) => T} find
 * @returns {(text: string) => T}
 */
const memoized = find => {
  const known = new Map()
  return text => {
    let found = known.get(text)
    if (found === undefined) {
      if (known.size >= KNOWN) known.clear()
      known.set(text, (found = find(text)))
    }
    return found
  }
}

// How many decimals a number has, how many of them without the zeros at its end, and its exponent;
// 0 and '' where the text is no number.
const partsOf = memoized(text => {
  const [, places = '', exponent = ''] = text.match(DECIMAL) ?? []
  return { places: places.length, left: places.replace(/0+$/, '').length, exponent }
})

// The decimals that were asked for; a number in e-notation has one less.
export const decimalsOf = texts => {
  for (const text of texts.flat()) {
    const { places, exponent } = partsOf(text)
    if (places || exponent.includes('\u2212')) return places + (exponent ? 1 : 0)
  }
  return 0
}

// With at most so many decimals, tiny numbers as ≈0.
export const shorter = (text, value, decimals) => {
  const { places, exponent } = partsOf(text)
  const tiny = exponent.includes('\u2212')
  if (!tiny && places <= decimals) return text
  const written = among(value, exponent && !tiny ? Math.max(decimals, 2) : decimals, 1)
  return written.includes('e\u2212') ? TINY : written
}

// A share without the 0 before its point; what is not exactly 0 or 1 is not called so.
export const tightened = (text, value) => {
  if (value === 0 || value === 1) return String(value)
  return /^1\.0*$/.test(text) ? '≈1' : text.replace(/^0\./, '.')
}

// A pane's numbers with at most so many decimals: `full`, as they were sent where all decimals are
// kept; `short`, with tiny ones as ≈0 and without decimals that are 0 in all of them; of shares
// also `tight`. `ems` is the width of the widest of each, in font sizes, hidden cells apart.
export const formsOf = (pane, most, measure) => {
  if (!pane.texts) return null
  pane.forms ??= new Map()
  pane.decimals ??= decimalsOf(pane.texts)
  const decimals = Math.min(most, pane.decimals)
  if (!pane.forms.has(decimals)) pane.forms.set(decimals, made(pane, decimals, measure))
  return pane.forms.get(decimals)
}

// Each is made when it is first asked for, as of many cells that takes long.
const made = (pane, decimals, measure) => {
  const asked = pane.decimals
  const map = (rows, write) => rows.map((row, i) => row.map((text, j) => write(text, i, j)))
  const fill = (text, i, j) => (pane.isHidden(i, j) ? filled(text) : text)
  const texts = once(() => (pane.hides ? map(pane.texts, fill) : pane.texts))
  const cut = once(() =>
    map(texts(), (text, i, j) => shorter(text, pane.valueAt(i, j), decimals))
  )
  const full = () => (decimals >= asked ? texts() : cut())
  const short = once(() => withoutZeros(cut()))
  const tighten = (text, i, j) => tightened(text, pane.valueAt(i, j))
  const tight = once(() => pane.spec.role === 'share' && map(short(), tighten))
  const widest = texts => {
    const open = texts.flatMap((row, i) => row.filter((_, j) => !pane.isHidden(i, j)))
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

// About how wide texts are: the widths of their letters together. By the function that measures.
const roughly = new WeakMap()
const roughOf = measure => {
  if (!roughly.has(measure)) {
    const width = memoized(letter => measure(letter, 1))
    const sum = text => [...text].reduce((sum, letter) => sum + width(letter), 0)
    roughly.set(measure, memoized(sum))
  }
  return roughly.get(measure)
}

// The widths of the few texts whose letters are the widest together: to measure thousands of texts
// takes longer than all else.
const longest = (texts, measure) => {
  const rough = roughOf(measure)
  const different = [...new Set(texts)]
  const sorted = different.sort((one, other) => rough(other) - rough(one)).slice(0, FEW)
  return sorted.map(text => measure(text, 1))
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

// The last decimals of all numbers, where they are 0 in each.
const withoutZeros = texts => {
  let most = -1
  for (const row of texts) {
    for (const text of row) {
      const { places, left, exponent } = partsOf(text)
      if (places && !exponent) most = Math.max(most, left)
    }
  }
  if (most < 0) return texts
  const drop = text => {
    const { places, exponent } = partsOf(text)
    return places > most && !exponent ? cutTo(text, most) : text
  }
  return texts.map(row => row.map(drop))
}

// What fills a hidden cell in place of −∞: −1e9 for −1.000e9, as it gets no room of its own.
const filled = text => text.replace(/\.0+(?=e)/, '')

const cutTo = (text, most) => {
  const [whole, places] = text.split('.')
  const left = most ? `${whole}.${places.slice(0, most)}` : whole
  return left.replace(/^\u2212(0(\.0*)?)$/, '$1')
}
