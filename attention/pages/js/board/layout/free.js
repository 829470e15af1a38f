// What is in the free space of the board: the card with the arithmetic of a cell, and the formula.

import { RULES, bottom, right } from './rules.js'

const FORMULA = { above: [250, 46], corner: [120, 92], alone: [250, 26], low: [120, 48] } // px
export const BESIDE = 28 // px between the board and a card right of it
export const HEADING = 220 // px: the most that the last heading takes
const WIDEST = { card: 720, presented: 1200, beside: 520, besidePresented: 760 } // px

/** Whether there are two right factors, between which the card has its room. */
export const hasMiddle = ({ lower, upper }) => {
  const key = upper.find(place => place.turned)
  const value = upper.find(place => !place.turned)
  const shown = place => place && lower[place.index].stages.length > 0
  return Boolean(shown(key) && value)
}

/**
 * The formula is above Kᵀ where that is short, else in the corner above Q, or left of V; where
 * nothing stands above, it is right of all. Null where none of these has room.
 */
export const formulaOf = ({ asked, places }, at, { top, upBottom }, used) => {
  const [first] = places.upper
  if (!first) {
    const last = at[places.lower.at(-1)?.id]
    if (!last) return null
    const x = Math.max(used, last.x + HEADING) + BESIDE
    const beside = { x, y: top, w: asked.width - x, h: FORMULA.low[1] }
    return tooSmall(beside, FORMULA.low) ? null : beside
  }
  const box = at[first.id]
  const above = { x: 0, y: top, w: right(box), h: box.heading.y - top - 2 }
  const corner = { x: 0, y: top, w: box.rowLabels.x - 8, h: upBottom - top }
  if (first.turned && !tooSmall(above, FORMULA.above)) return above
  if (!tooSmall(corner, FORMULA.corner)) return corner
  if (first.turned && !tooSmall(above, FORMULA.alone)) return above
  return tooSmall(corner, FORMULA.low) ? null : corner
}

/** @type {(rect: import('./rules.js').Rect, least: number[]) => boolean} */
const tooSmall = ({ w, h }, [width, height]) => w < width || h < height

/**
 * The card is between Kᵀ and V; where that is narrow, right of all. On a board without these it is
 * where most room is, and below all where the way keeps a foot for it.
 */
export const cardOf = (board, plan, lines) => {
  const { asked, places, way } = board
  const wanted = asked.presenting ? RULES.presented.card : RULES.card
  const most = asked.presenting ? WIDEST.presented : WIDEST.card
  const beside = besideOf(board, plan, lines)
  if (hasMiddle(places)) return middleCard(board, plan, lines, beside, most)
  if (way.foot) {
    const y = plan.end + 10
    const foot = { x: 0, y, w: Math.min(asked.width, most), h: asked.height - y }
    return { ...foot, beside: false, tooSmall: tooSmall(foot, asked.presenting ? [0, 0] : wanted) }
  }
  const narrowest = asked.presenting ? RULES.presented.beside : RULES.beside
  const found = [beside, ...spansOf(board, plan, lines)]
    .filter(rect => !tooSmall(rect, rect.beside ? [narrowest, wanted[1]] : wanted))
    .sort((a, b) => b.w * b.h - a.w * a.h)
  if (!found.length) return null
  return { ...found[0], w: Math.min(found[0].w, most), tooSmall: false }
}

const besideOf = ({ asked }, { used, width, formula }, { top, end }) => {
  const x = used + BESIDE
  const most = asked.presenting ? WIDEST.besidePresented : WIDEST.beside
  const y = formula?.x >= used ? bottom(formula) + 8 : top
  return { x, y, w: Math.min(width - x, most), h: end - y, beside: true }
}

const middleCard = ({ places }, plan, lines, beside, most) => {
  const { at, width, used } = plan
  const key = places.upper.findIndex(place => place.turned)
  const [left, end] = [at[places.upper[key].id], at[places.upper[key + 1].id]]
  const x = Math.max(right(left), left.heading.x + left.heading.w - 8) + 16
  const h = lines.lowHead - lines.top - 4
  const between = { x, y: lines.top, w: end.rowLabels.x - 12 - x, h, beside: false }
  const free = width - used - BESIDE
  const narrow = between.w < RULES.card[0]
  const card = narrow && free > between.w && free >= RULES.beside ? beside : between
  const least = [card.beside ? RULES.beside : RULES.card[0], RULES.card[1]]
  if (card.w < 1 || card.h < 1) return null
  return { ...card, w: Math.min(card.w, most), tooSmall: tooSmall(card, least) }
}

// The free room between the boxes of the upper line, or left and right of them.
const spansOf = ({ places }, { at, width, formula }, { top, lowHead }) => {
  const boxes = places.upper.map(place => at[place.id])
  const h = lowHead - top - 4
  const from = [0, ...boxes.map(box => Math.max(right(box), right(box.heading)) + 16)]
  const to = [...boxes.map(box => box.rowLabels.x - 12), width]
  return from
    .map((x, k) => ({ x, y: top, w: to[k] - x, h, beside: false }))
    .filter((rect, k) => boxes.length && (k || !formula) && rect.h > 0)
    .filter(rect => !formula || rect.x >= right(formula) || rect.y >= bottom(formula))
}
