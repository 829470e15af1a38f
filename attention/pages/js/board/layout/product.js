// A stage that is presented alone, as a product on paper: what it is made of is left of it and
// above it, also where these are inputs, which a whole board has in a band of their own. Pure.

/**
 * The places of a stage and of its factors.
 * @param {{ name: string, place: import('./rules.js').Place, sources: [string, string][] }} stage
 * @param {(name: string) => boolean} isBias whether a factor is a row that is added
 * @returns {Record<string, import('./rules.js').Place>}
 *
 * For Q, made of row i of X and column j of W_Q, X is in the lower line, the left factor of Q, and
 * W_Q above Q.
 */
export const productOf = ({ name, place, sources }, isBias) => {
  if (place.line === 'below') return {}
  const factors = new Map(sources.slice().reverse()) // of two parts of a stage the first counts
  const above = [...factors].reverse().filter(([, part]) => ['column j', 'row j'].includes(part))
  const beside = [...factors].reverse().filter(([, part]) => ['row i', 'cell'].includes(part))
  const [weights] = above.find(([factor]) => !isBias(factor)) ?? []
  const left = weights && beside[0]?.[0]
  /** @type {Record<string, any>} */
  const places = { [name]: { line: 'lower', of: name, left } }
  for (const [factor] of beside) places[factor] = { line: 'lower', of: factor }
  for (const [factor, part] of above) {
    const under = factor === weights ? undefined : weights
    places[factor] = { line: 'upper', of: factor, over: name, turned: part === 'row j', under }
  }
  return places
}
