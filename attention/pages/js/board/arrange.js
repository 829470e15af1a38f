// Where each pane of a board is: the plan of its formula, or lines of panes side by side. What a
// pane is told, `places`, is in px of its own frame, the area of its cells and labels.

import { aligned, flow, linesOf, presented, widened } from './layout/flow.js'
import { axisNames } from './paint/labels.js'
import { layout } from './layout/layout.js'
import { stepsOf } from './layout/measures.js'
import { headingWidth, tabName } from './panes.js'
import { needed } from './layout/places.js'
import { RULES, isSequence } from './layout/rules.js'
import { LAST } from './paint/shades.js'
import { widthIn } from './text/text.js'
import { formsOf } from './paint/written.js'

const LEAST = 420 // px: the height of a board on a page that has more below it
const BELOW = 18 // px: what a page leaves free at its foot
const AROUND = 4 // px of a frame around its cells, for outlines
const EDGE = 8 // px right of a phone's board, into which its last word may run
const FEWEST = 1 // decimals that are kept before numbers become colours
const NUMBERLESS = 3 // font sizes: the width that a number would have, where there are too many
const PHONE = 700 // px: narrower windows have the card as a sheet at the foot
const NARROW = 620 // px: narrower boards have two blocks below each other
const HEADS = 60 // px: what headings and words take at least of the height
const MANY = 48 // rows, beyond which numbers need a window of that height
const LAYOUTS = 8 // that are kept
const NUMBERED = /^\d+$/

export const measureIn = font => (text, size, bold) => widthIn(font, text, size, bold)

// The plan of panes that are the stages of one formula.
export const planned = (panes, asked, measure) => {
  const numbered = panes.filter(pane => hasNumbers(pane, asked))
  const found = numbered.map(pane => formsOf(pane, Infinity, measure)?.asked ?? 0)
  const plan = planIn(panes, asked, Math.max(0, ...found), measure)
  if (!asked.yields || !isCrowded(plan, asked)) return plan
  return planIn(panes, { ...asked, inputs: 'folded' }, Math.max(0, ...found), measure)
}

// Whether open inputs leave others without numbers, or out of sight.
const isCrowded = ({ boxes, end }, { height }) =>
  end > height || boxes.some(box => box.numbers === 'none')

// Whether the numbers of a pane may have room at all; of many cells it takes long to measure them.
const hasNumbers = ({ n, m }, { width, height, phone }) => {
  const [wide, high] = RULES.numbered
  return width / m >= wide && (phone || n <= MANY || (height - HEADS) / n >= high)
}

// With as many decimals as the board has room for.
const planIn = (panes, asked, decimals, measure) => {
  let found
  for (let kept = decimals; ; kept--) {
    const given = { ...asked, ...stagesOf(panes, asked, kept, measure), decimals: most(kept) }
    const plan = laidOut(given, measure)
    const lost = plan.boxes.filter(box => box.numbers === 'none').length
    if (!found || lost < found.lost) found = { plan, kept, lost }
    if (kept <= FEWEST || !found.lost) break
  }
  if (asked.rowKind === 'keys') namedKeys(found.plan)
  return { ...found.plan, decimals: found.kept, cut: found.kept < decimals ? decimals : 0 }
}

// More decimals than these have no rules of their own; whole numbers have room for some.
const most = kept => (kept === 1 ? 1 : 2)

// The newest layouts, by what they were asked: other numbers of the same width change none.
const layouts = new WeakMap()
const laidOut = (asked, measure) => {
  if (!layouts.has(measure)) layouts.set(measure, new Map())
  const known = layouts.get(measure)
  const key = JSON.stringify(asked)
  const plan = known.get(key) ?? layout({ ...asked, measure })
  known.delete(key)
  known.set(key, plan)
  if (known.size > LAYOUTS) known.delete(known.keys().next().value)
  return plan
}

// The rows of the lower line are keys: none is that of the query.
const namedKeys = plan => {
  plan.lit = []
  for (const { line, rowLabels } of plan.boxes) {
    if (line === 'lower' && rowLabels) rowLabels.kind = 'keys'
  }
}

/** Whether nothing is masked. */
export const isMaskless = panes => {
  const find = name => panes.find(({ spec }) => spec.name === name)
  return !find('mask') && !!find('masked') && !find('masked').hides
}

const stagesOf = (panes, asked, decimals, measure) => {
  const { fronts, order, rowKind, steady } = asked
  const { stepped, ladder } = stepsOf(measure, most(decimals))
  const all = /** @type {Record<string, import('./layout/rules.js').Stage>} */ ({})
  const names = {}
  for (const pane of panes) {
    const { place } = pane
    const { name, rowKind, columnKind, role } = pane.spec
    const { ems } = (hasNumbers(pane, asked) && formsOf(pane, decimals, measure)) || {}
    const [rows, cols] = pane.swap([pane.n, pane.m])
    // widths by their steps, so that numbers of another width in the same step ask for the same
    all[name] = {
      ...{ rows, cols, rowKind, columnKind, place, unsigned: role === 'share' },
      heading: tabName({ ...pane, turned: false }), // the layout adds the ᵀ
      ems: stepped(ems?.short ?? NUMBERLESS),
      tight: ems?.tight ? Math.max(ems.tight, ladder.tight) : undefined
    }
    const words = pane.swap([pane.labels.rows, pane.labels.columns])
    for (const [k, kind] of [rowKind, columnKind].entries()) {
      const isNamed = isSequence(kind) || !words[k].every(word => NUMBERED.test(word))
      if (isNamed) names[kind] = words[k]
    }
  }
  const mask = panes.find(({ spec }) => spec.name === 'mask')
  const plainMask = !mask || isPlain(mask)
  const maskless = !steady && isMaskless(panes)
  const { stages, front } = needed(all, { plainMask, maskless })
  const { keys = [] } = names
  const queries = (rowKind === 'keys' ? keys : names.queries) ?? []
  // those of a true mask are behind what they are compared with
  const compared = ['weights', 'output'].filter(name => stages[`${name}_inf`])
  const inFront = [...front, ...compared, ...fronts].filter(name => stages[name])
  const tabs = tabsOf(inFront, stages, order)
  return { stages, names, queries, keys, tabs }
}

// Whether a mask is 0 wherever it hides nothing. The numbers of a large one are not here, but
// their shades are.
const isPlain = ({ z, codes }) => {
  if (z) return z.every(row => row.every(value => !value)) // NaN, where it hides
  return codes.every(code => code > LAST || code === Math.round(LAST / 2))
}

// Which stage is in front of each place: of those that were brought there, the last one. A place
// that several share is called as the first of them.
const tabsOf = (fronts, stages, order) => {
  const tabs = {}
  const places = Object.values(stages).map(({ place }) => place)
  const shared = places.filter(({ shares }) => shares !== undefined).map(({ of }) => of)
  for (const name of fronts) {
    const { of } = stages[name].place
    const before = shared.includes(of) ? order.slice(0, order.indexOf(of)) : []
    for (const id of before) if (shared.includes(id)) tabs[id] = name
    tabs[of] = name
  }
  return tabs
}

// Tell each pane its places by the boxes of a plan; panes that share one get the same.
export const placed = (plan, panes) => {
  const byName = new Map(panes.map(pane => [pane.spec.name, pane]))
  const width = plan.width + (plan.phone ? EDGE : 0)
  for (const pane of panes) Object.assign(pane, { next: null, rect: null, front: false, box: null })
  for (const box of plan.boxes) {
    for (const name of box.tabs) {
      const pane = byName.get(name)
      if (pane) Object.assign(pane, framed(box, width), { front: name === box.name, box })
    }
  }
}

// The frame of a box, with its labels, and what is where in it; it ends where the board does.
const framed = (box, width) => {
  const { rowLabels, columnLabels } = box
  const rows = rowLabels?.show ? rowLabels : null
  const left = Math.min(box.x, rows ? rows.x : box.x) - AROUND
  const top = Math.min(box.y, columnLabels ? columnLabels.y : box.y) - AROUND
  const free = Math.max(width - box.x - box.w - AROUND, 0)
  const over = columnLabels?.slant === 45 ? Math.min(columnLabels.h, free) : 0
  const rect = { x: left, y: top, w: box.x + box.w + AROUND + over - left }
  rect.h = box.y + box.h + AROUND - top
  const next = {
    width: rect.w,
    left: box.x - left,
    right: AROUND + over,
    top: box.y - top,
    height: box.h,
    bottom: AROUND,
    px: box.px,
    tight: box.numbers === 'tight',
    rows: rows && { px: rows.px, room: rows.w, end: rows.x + rows.w - 1 - left, kind: rows.kind },
    columns: columnLabels && { ...columnLabels, room: box.y - columnLabels.y }
  }
  return { next, rect }
}

// The lines of groups of panes that are no part of one formula, with headings of so many px.
export const flowed = (groups, width, heading, measure) => {
  const found = groups.map(panes => {
    const sizes = panes.map(pane => {
      return { ...sizedOf(pane, measure), heading: headingWidth(pane, heading, measure) }
    })
    return { sizes, ...flow(sizes, width, measure) }
  })
  const areAlone = linesOf(found, aligned(found, width), width) === found.length
  const wide = found.map(group => areAlone && widened(group.sizes, group, width, measure))
  const used = wide.every(Boolean) ? wide : found // all, so that columns stand below each other
  used.forEach(({ places }, g) => groups[g].forEach((pane, k) => (pane.next = places[k])))
  const widths = aligned(used, width)
  return used.map(({ columns }, k) => ({ columns, column: widths[k] }))
}

// The same of panes that are presented.
export const flowedInRoom = (panes, room, measure) => {
  const sized = panes.map(pane => sizedOf(pane, measure))
  const { places, column } = presented(sized, room, measure)
  panes.forEach((pane, k) => (pane.next = places[k]))
  return column
}

// What a pane is in lines of panes, with at most so many decimals.
export const sizedOf = (pane, measure, decimals = Infinity) => ({
  rows: pane.n,
  cols: pane.m,
  ems: formsOf(pane, decimals, measure)?.ems.short ?? null,
  rowWords: pane.labels.rows,
  columnWords: pane.labels.columns,
  corner: axisNames(pane.spec)
})

// The window's room for a board: all that is left of it, where the board fills a page.
export const roomOf = (root, above, { fills, dock }) => {
  const left = window.innerHeight - above - (fills ? dock : 0) - BELOW
  return {
    width: root.clientWidth,
    height: Math.max(left, fills ? RULES.height : LEAST),
    phone: window.innerWidth < PHONE || root.clientWidth < NARROW,
    sheet: window.innerWidth < PHONE
  }
}
