// Indices and powers in what is written: W_Q, √d_k, e^{2}. Pure.

/**
 * A text in parts, of which the indices of W_Q and d_k are low.
 * @param {string} text
 * @returns {{ text: string, low: boolean }[]}
 */
export const mathParts = text =>
  text
    .split(/(\b[A-Za-z])_((?:model|out|in|[A-Za-z])\b)/)
    .map((part, k) => ({ text: part, low: k % 3 === 2 }))
    .filter(part => part.text)

const QUOTED = /(“[^”]*”)/ // words of a person, which are no notation

/**
 * The parts of a sentence or of a line of arithmetic: indices are low, a power, written e^{2}, is
 * high, and quoted words are as they are.
 * @param {string} text
 * @returns {{ text: string, low: boolean, high: boolean }[]}
 */
export const formulaParts = text =>
  text.split(QUOTED).flatMap((piece, k) => {
    const plain = { text: piece, low: false, high: false }
    return k % 2 ? [plain] : piece.split(/\^\{([^}]*)\}/).flatMap(withPowers)
  })

const withPowers = (part, k) =>
  k % 2
    ? [{ text: part, low: false, high: true }]
    : mathParts(part).map(found => ({ ...found, high: false }))

/**
 * The text without the marks of indices and powers, as it is seen.
 * @param {string} text
 */
export const unmarked = text => formulaParts(text).map(part => part.text).join('')
