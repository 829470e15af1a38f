// Widths of Source Sans, in which the page is set, for tests that have no canvas.

const EMS = {
  a: 504, b: 553, c: 456, d: 555, e: 496, f: 292, g: 504, h: 544, i: 246, j: 247, k: 495, l: 255,
  m: 829, n: 547, o: 542, p: 555, q: 555, r: 347, s: 419, t: 338, u: 544, v: 467, w: 719, x: 446,
  y: 467, z: 425, ' ': 200, '.': 249, ',': 249, '·': 249, '-': 311, '∞': 782, '√': 557, 'ᵀ': 356,
  '“': 426, '”': 426, '’': 249, '(': 303, ')': 303, '[': 303, ']': 303, '→': 619, '%': 824,
  '…': 948, I: 263, J: 479, L: 486, M: 727, W: 786
} // thousandths of the font size
const CAPITAL = 580
const OTHER = 497 // a digit, and what is not named above
const BOLD = 1.035 // times as wide

/**
 * The width of a text in px.
 * @param {string} text
 * @param {number} px the font size
 * @param {boolean} bold
 */
export const widthOf = (text, px, bold = false) => {
  const ems = [...text].map(c => EMS[c] ?? (/[A-Z]/.test(c) ? CAPITAL : OTHER))
  return (ems.reduce((sum, em) => sum + em, 0) / 1000) * px * (bold ? BOLD : 1)
}
