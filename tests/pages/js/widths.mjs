// How wide texts are in Source Sans, which the pages are set in. In a browser a canvas measures.

// advance widths in thousandths of an em
const WIDTHS = {
  ...{ a: 504, b: 553, c: 456, d: 555, e: 496, f: 292, g: 504, h: 544, i: 246, j: 247, k: 495 },
  ...{ l: 255, m: 829, n: 547, o: 542, p: 555, q: 555, r: 347, s: 419, t: 338, u: 544, v: 467 },
  ...{ w: 719, x: 446, y: 467, z: 425, I: 263, J: 479, L: 486, M: 727, W: 786 },
  ...{ ' ': 200, '.': 249, ',': 249, '·': 249, '-': 311, '∞': 782, '√': 557, 'ᵀ': 356 },
  ...{ '“': 426, '”': 426, '’': 249, '(': 303, ')': 303, '[': 303, ']': 303, '→': 619 },
  ...{ '%': 824, '…': 948 }
}
const CAPITAL = 580
const OTHER = 497 // digits, signs, and what is not listed
const BOLD = 1.035

const widthIn = letter => WIDTHS[letter] ?? (/[A-Z]/.test(letter) ? CAPITAL : OTHER)

/** The width of a text in px. */
export const widthOf = (text, px, bold = false) => {
  let width = 0
  for (const letter of text) width += widthIn(letter)
  return (width / 1000) * px * (bold ? BOLD : 1)
}

/** The same where Source Sans is missing and a font 13 % wider takes its place. */
export const wider = (text, px, bold) => 1.13 * widthOf(text, px, bold)
