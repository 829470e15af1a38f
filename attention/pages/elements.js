// Making a part of the page; goes before the scripts of our components.
const make = (tag, className, parent, text) => {
  const node = document.createElement(tag)
  if (className) node.className = className
  if (text !== undefined) node.textContent = text
  parent?.append(node)
  return node
}

// Hand a call of Streamlit's to what stands at an element, made with the first; gives what ends it.
// While a script is fetched, Streamlit may end a call when a later one has come: that one goes on.
// Where one goes Back in the first moments of a page, it may end the last call of what stays on the
// page: so a thing ends once its element has left.
const standing = new WeakMap()
const callOn = (root, Kind, call) => {
  const here = standing.get(root) ?? { thing: new Kind(root) }
  standing.set(root, here)
  const turn = (here.turn = {})
  call(here.thing)
  const leave = () => {
    if (here.turn !== turn) return
    if (root.isConnected) {
      setTimeout(leave, 500)
      return
    }
    standing.delete(root)
    here.thing.end()
  }
  return () => setTimeout(leave)
}

// Streamlit drops what a component sends while the connection is down.
const connected = () => {
  const page = document.querySelector('[data-testid=stApp]')
  return (page?.dataset.testConnectionState ?? 'CONNECTED') === 'CONNECTED'
}
const UNTAKEN =
  'The server cannot be reached just now, so this was not taken. Try again when it is back.'
