// A box of the plan: one matrix, with where it is and what is around it.

/**
 * A box at a place. Written out in full: objects that are put together of others are slow to make,
 * and a layout makes hundreds.
 * @returns {import('./rules.js').Box}
 */
export const boxOf = (place, name, line, x, y, { rows, cols, cw, ch, transposed = false }) => ({
  name,
  place: place.id,
  tabs: place.stages,
  line,
  transposed,
  rows,
  cols,
  cw,
  ch,
  x,
  y,
  w: cols * cw,
  h: rows * ch,
  heading: null,
  rowLabels: null,
  columnLabels: null,
  px: 0,
  numbers: 'none'
})

/** The words of the rows of a box, `room` px left of it, of which `gap` px stay free. */
export const rowLabelsOf = (box, px, kind, room, gap, show = true) => ({
  px,
  kind,
  x: box.x - room,
  y: box.y,
  w: room - gap,
  h: box.h,
  show
})
