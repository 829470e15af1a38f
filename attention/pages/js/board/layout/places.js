// Which stage is where: the places of both lines, made of what each stage says of its own.

import { isSequence } from './rules.js'

/**
 * A place of the lower line. Where nothing is shown in it, but a right factor stands above, it
 * keeps its room, so that the factor is still where it is on paper.
 * @typedef {object} Lower
 * @property {string} id
 * @property {string[]} ids of the places that are one here
 * @property {string[]} stages
 * @property {boolean} square whether its columns are keys
 * @property {number} columns
 * @property {string} columnKind
 * @property {string} [left]
 * @property {number} [shares] as in Place
 */

/**
 * A place of the upper line, with the index of the one below it.
 * @typedef {object} Upper
 * @property {string} id
 * @property {string[]} stages
 * @property {number} index
 * @property {string} columnKind
 * @property {boolean} turned
 * @property {number} rows as drawn
 * @property {number} cols
 * @property {string} rowKind of the rows as drawn
 * @property {string} [bias] the stage under it
 */

const drawn = stage =>
  stage.place.turned
    ? {
        rows: stage.cols,
        cols: stage.rows,
        rowKind: stage.columnKind,
        columnKind: stage.rowKind
      }
    : stage

/**
 * The stages that have a place of their own. A mask of 0 and −∞ alone is left out, as it says no
 * more than what is struck out in masked. Without a mask masked is scaled once more: it is behind
 * that, to be drawn on. Returns them and what is then in front.
 * @param {Record<string, import('./rules.js').Stage>} all
 * @param {{ plainMask: boolean, maskless: boolean }} says
 */
export function needed(all, { plainMask, maskless }) {
  const { mask, ...stages } = all
  const { masked } = stages
  if (mask && !(plainMask && masked)) return { stages: all, front: [] }
  const scaled = ['modified', 'capped', 'scaled'].find(name => stages[name])
  if (!maskless || !masked || !scaled) return { stages, front: [] }
  const behind = { ...masked, place: stages[scaled].place }
  return { stages: { ...stages, masked: behind }, front: [scaled] }
}

// Stages of one line, by place, in reading order.
const grouped = (stages, line) => {
  const places = new Map()
  for (const [name, { place }] of Object.entries(stages)) {
    if (place.line !== line) continue
    if (!places.has(place.of)) places.set(place.of, [])
    places.get(place.of).push(name)
  }
  return places
}

const lowerOf = (id, names, stages) => {
  const stage = stages[names[0]]
  const { left, shares } = stage.place
  const square = stage.columnKind === 'keys'
  const { cols: columns, columnKind } = stage
  return { id, ids: [id], stages: names, square, columns, columnKind, left, shares }
}

// Neighbors that share a place become one, from the right: M and masked, scaled too, scores too.
const merged = (lower, sharing) => {
  const places = []
  for (const place of lower) {
    const before = places.at(-1)
    const joins = before?.shares && before.shares <= sharing && place.shares !== undefined
    if (!joins) places.push({ ...place })
    else {
      before.ids = [...before.ids, ...place.ids]
      before.stages = [...before.stages, ...place.stages]
      before.shares = place.shares
    }
  }
  return places
}

/**
 * The places of a board.
 * @param {Record<string, import('./rules.js').Stage>} stages that are shown
 * @param {string[]} order of all places of the lower line
 * @param {number} sharing see COSTS.shared
 */
export function placesOf(stages, order, sharing) {
  const lower = [...grouped(stages, 'lower')].map(([id, names]) => lowerOf(id, names, stages))
  const above = [...grouped(stages, 'upper')]
  const below = [...grouped(stages, 'below')]
  for (const [, [name]] of [...above, ...below]) keepRoom(lower, stages[name], order)
  const places = merged(lower, sharing)
  const indexOf = id => places.findIndex(place => place.ids.includes(id))
  const biases = Object.fromEntries(
    above.filter(([, [name]]) => stages[stages[name].place.under]).map(([id, [name]]) => [
      stages[name].place.under,
      id
    ])
  )
  const upper = above
    .filter(([id]) => !Object.values(biases).includes(id))
    .map(([id, names]) => {
      const stage = stages[names[0]]
      const { over, turned = false } = stage.place
      const { rows, cols, rowKind, columnKind } = drawn(stage)
      const index = indexOf(over)
      const bias = biases[id]
      return { id, stages: names, index, turned, rows, cols, rowKind, columnKind, bias }
    })
    .sort((a, b) => a.index - b.index)
  const under = below.map(([id, names]) => ({
    id,
    stages: names,
    index: indexOf(stages[names[0]].place.under)
  }))
  return { lower: places, upper, below: under, inputs: inputsOf(stages) }
}

// Add a place without a stage, for the right factor above it or the sum below it.
const keepRoom = (lower, stage, order) => {
  const id = stage.place.over ?? stage.place.under
  if (lower.some(place => place.ids.includes(id))) return
  const { cols, columnKind } = drawn(stage)
  const square = columnKind === 'keys'
  const empty = { id, ids: [id], stages: [], square, columns: cols, columnKind }
  const later = lower.findIndex(place => order.indexOf(place.id) > order.indexOf(id))
  lower.splice(later < 0 ? lower.length : later, 0, empty)
}

const inputsOf = stages =>
  Object.entries(stages)
    .filter(([, { place }]) => place.line === 'inputs')
    .map(([name, { place, rowKind }]) => ({
      name,
      sequence: isSequence(rowKind),
      under: stages[place.under] ? place.under : undefined,
      sign: place.sign
    }))
