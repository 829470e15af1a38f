// What all components need of the page around them.

/**
 * Make a part of the page.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} [className]
 * @param {Element} [parent]
 * @param {string} [text]
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export const make = (tag, className, parent, text) => {
  const node = document.createElement(tag)
  if (className) node.className = className
  if (text !== undefined) node.textContent = text
  parent?.append(node)
  return node
}

// Hand a call of Streamlit's to what stands at an element, made with the first; gives what ends
// it. While a script is fetched, a call that another has overtaken may come after that one, and end
// at once: so the latest counts that has not ended. Where one goes Back in the first moments of a
// page, Streamlit may end the last call of what stays: a thing ends once its element has left.
const standing = new WeakMap()
export const callOn = (root, Kind, call) => {
  const here = standing.get(root) ?? { thing: new Kind(root), calls: [] }
  standing.set(root, here)
  here.calls.push(call)
  call(here.thing)
  const leave = () => {
    if (here.calls.length || standing.get(root) !== here) return
    if (root.isConnected) {
      setTimeout(leave, 500)
      return
    }
    standing.delete(root)
    here.thing.end()
  }
  return () => {
    const wasLatest = here.calls.at(-1) === call
    here.calls = here.calls.filter(other => other !== call)
    if (wasLatest && here.calls.length) here.calls.at(-1)(here.thing)
    setTimeout(leave)
  }
}

// The page around a part of it, whether it is light or dark, and who looks when that may turn.
export const pageAround = root => root.closest('.stApp') ?? document.body
export const modeAround = root => {
  const found = getComputedStyle(pageAround(root)).backgroundColor.match(/\d+/g)
  return found && Number(found[0]) + Number(found[1]) + Number(found[2]) < 384 ? 'dark' : 'light'
}
export const watchThemes = (root, look) => {
  const watch = new MutationObserver(look)
  const attributeFilter = ['class', 'style', 'data-theme']
  for (const node of [document.documentElement, document.body, pageAround(root)]) {
    watch.observe(node, { attributes: true, attributeFilter })
  }
  return watch
}

// Do something of which the browser's tools and the benchmarks know how long it took.
export const measured = (name, act) => {
  const start = performance.now()
  const made = act()
  performance.clearMeasures(name) // the browser keeps them all
  performance.measure(name, { start })
  return made
}

// Streamlit drops what a component sends while the connection is down.
export const connected = () => {
  const page = /** @type {HTMLElement} */ (document.querySelector('[data-testid=stApp]'))
  return (page?.dataset.testConnectionState ?? 'CONNECTED') === 'CONNECTED'
}
export const UNTAKEN =
  'The server cannot be reached just now, so this was not taken. Try again when it is back.'

/** @param {Element} node @returns {HTMLElement[]} */
export const childrenOf = node => /** @type {any[]} */ ([...node.children])

/**
 * The style of a part at its place. It is moved there, which lays nothing else out anew.
 * @param {{ x: number, y: number, w: number, h: number }} rect px
 */
export const moved = ({ x, y, w, h }) => ({
  transform: `translate(${x}px, ${y}px)`,
  ...px({ width: w, height: h })
})

// Lengths as a style has them.
export const px = places =>
  Object.fromEntries(Object.entries(places).map(([key, length]) => [key, `${length}px`]))
