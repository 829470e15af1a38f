// The boards that are laid out: cases computed by the package, and shapes of any number of tokens.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { needed } from '../../../../attention/pages/js/board/layout/places.js'
import { productOf } from '../../../../attention/pages/js/board/layout/product.js'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
const SCRIPT = fileURLToPath(new URL('cases.py', import.meta.url))

/** The JSON of cases.py: from the path that CASES names, else made by PYTHON, or python3. */
const read = () => {
  if (process.env.CASES) return JSON.parse(readFileSync(process.env.CASES, 'utf8'))
  const folder = mkdtempSync(join(tmpdir(), 'cases-'))
  try {
    const path = join(folder, 'cases.json')
    const env = { ...process.env, PYTHONPATH: ROOT }
    execFileSync(process.env.PYTHON ?? 'python3', [SCRIPT, path], { cwd: ROOT, env })
    return JSON.parse(readFileSync(path, 'utf8'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const found = read()
export const PARTS = found.boards
export const PLACES = found.places

const widest = (texts, measure) => Math.max(0.5, ...texts.map(text => measure(text, 1)))

/** A board of cases.py as the layout takes it, with widths measured by `measure`. */
export const boardOf = (data, measure) => {
  const stages = {}
  for (const [stage, one] of Object.entries(data.stages)) {
    const { texts, tights } = one
    stages[stage] = {
      ...{ ...one, place: found.places[stage], ems: widest(texts, measure) },
      tight: tights && widest(tights, measure)
    }
  }
  const { stages: shown, front } = needed(stages, data)
  const places = front.flatMap(stage => [['scaled', stage], ['scores', stage]])
  const tabs = Object.fromEntries(places)
  return { ...data, stages: shown, tabs, order: found.order, measure }
}

/** Cases as the layout takes them, with widths measured by `measure`. */
export const casesOf = measure =>
  Object.fromEntries(
    Object.entries(found.cases).map(([name, data]) => [name, boardOf(data, measure)])
  )

/** What is played of each case, with all numbers of its stages. */
export const PLAYED = found.played

/** A case with some of its stages only. */
export const part = (data, names) => ({
  ...data,
  stages: Object.fromEntries(
    Object.entries(data.stages).filter(([name]) => names.includes(name))
  )
})

/** A stage and its factors, as Present shows them; null where it is computed of nothing. */
export const presentedOf = (data, name) => {
  const sources = (found.sources[name] ?? []).filter(([of]) => data.stages[of])
  if (!sources.length || !data.stages[name]) return null
  const isBias = of => data.stages[of].rowKind === 'bias'
  const places = productOf({ name, place: found.places[name], sources }, isBias)
  const shown = part(data, [name, ...sources.map(([of]) => of)])
  for (const [of, stage] of Object.entries(shown.stages)) {
    shown.stages[of] = { ...stage, place: places[of] ?? stage.place }
  }
  const { rowKind } = data.stages[name]
  return { ...shown, tabs: {}, queries: rowKind === 'keys' ? data.keys : data.queries, places }
}

const WORDS = ['the', 'cat', 'sat', 'on', 'mat', 'dog']

/** A board of n tokens with d columns and a look-ahead mask, by its shapes alone. */
export function shaped(n, d, measure) {
  const words = Array.from({ length: n }, (_, k) => WORDS[k % WORDS.length])
  const row = (kind, columnKind, ems, more) => ({
    ...{ rows: kind === 'd' ? d : n, cols: columnKind === 'keys' ? n : d },
    ...{ rowKind: kind, columnKind, ems, ...more }
  })
  const stages = {
    X: row('queries', 'd', 1),
    W_Q: row('d', 'd', 1),
    W_K: row('d', 'd', 1),
    W_V: row('d', 'd', 1),
    Q: row('queries', 'd', 1),
    K: row('keys', 'd', 1),
    V: row('keys', 'd', 1),
    scores: row('queries', 'keys', 1.5),
    scaled: row('queries', 'keys', 2.24),
    masked: row('queries', 'keys', 2.24),
    weights: row('queries', 'keys', 1.75, { tight: 1.25, unsigned: true }),
    output: row('queries', 'd', 2.24)
  }
  for (const [name, stage] of Object.entries(stages)) stage.place = found.places[name]
  const asked = { stages, order: found.order, queries: words, keys: words, words, measure }
  return asked
}
