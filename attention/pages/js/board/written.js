// The ways to write the numbers of a pane in its cells. Pure, but for the widths it is handed.

import { among } from '../numbers.js'

const DECIMAL = /^\u2212?\d+(?:\.(\d+))?(e\u2212?\d+)?$/
const FEW = 20 // texts that are measured
const TINY = '≈0' // a number that the decimals would make a 0, and is none

// The decimals that were asked for; a number in e-notation has one less.
export const decimalsOf = texts => {
  const decimals = text => {
    const [, places = '', exponent] = text.match(DECIMAL) ?? []
    return places || exponent?.includes('\u2212') ? places.length + (exponent ? 1 : 0) : 0
  }
  return texts.flat().map(decimals).find(Boolean) ?? 0
}

// With at most so many decimals, tiny numbers as ≈0.
export const shorter = (text, value, decimals) => {
  const [, places, exponent = ''] = text.match(DECIMAL) ?? []
  const tiny = exponent.includes('\u2212')
  if (!tiny && (places ?? '').length <= decimals) return text
  if (!places && !tiny) return text
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

// The widths of the few texts whose letters are the widest together: to measure thousands of texts
// takes longer than all else.
const longest = (texts, measure) => {
  const letters = new Map()
  const width = letter => {
    if (!letters.has(letter)) letters.set(letter, measure(letter, 1))
    return letters.get(letter)
  }
  const rough = new Map()
  for (const text of texts) {
    if (rough.has(text)) continue
    let sum = 0
    for (const letter of text) sum += width(letter)
    rough.set(text, sum)
  }
  const sorted = [...rough].sort(([, one], [, other]) => other - one).slice(0, FEW)
  return sorted.map(([text]) => measure(text, 1))
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
const ZERO = /^(\u2212?\d+\.\d*?)0+$/
const withoutZeros = texts => {
  const written = texts.flat().filter(text => /^\u2212?\d+\.\d+$/.test(text))
  if (!written.length) return texts
  const kept = Math.max(...written.map(text => text.replace(ZERO, '$1').split('.')[1].length))
  const drop = text => (DECIMAL.test(text) && text.includes('.') ? cutTo(text, kept) : text)
  return texts.map(row => row.map(drop))
}

// What fills a hidden cell in place of −∞: −1e9 for −1.000e9, as it gets no room of its own.
const filled = text => text.replace(/\.0+(?=e)/, '')

const cutTo = (text, kept) => {
  const [whole, places] = text.split('.')
  if (places.includes('e') || places.length <= kept) return text
  const left = kept ? `${whole}.${places.slice(0, kept)}` : whole
  return left.replace(/^\u2212(0(\.0*)?)$/, '$1')
}
