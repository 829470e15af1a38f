// The colours of a scale, whose stops a palette has.

export const STEPS = 256 // of a colour scale

const rgb = colour => [1, 3, 5].map(k => parseInt(colour.slice(k, k + 2), 16))
const scales = new Map() // the colours of a scale, in STEPS

/** @param {Scale} scale @returns {number[][]} */
export const colours = scale => {
  const key = scale.join()
  if (!scales.has(key)) {
    const table = Array.from({ length: STEPS + 1 }, (_, k) => {
      const share = k / STEPS
      const after = Math.max(
        1,
        scale.findIndex(([at]) => at >= share)
      )
      const [[from, first], [to, second]] = [scale[after - 1], scale[after]]
      const [a, b] = [rgb(first), rgb(second)]
      return a.map((value, c) => value + ((b[c] - value) * (share - from)) / (to - from))
    })
    scales.set(key, table)
  }
  return scales.get(key)
}
