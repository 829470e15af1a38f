// Making a part of the page; goes before the scripts of our components.
const make = (tag, className, parent, text) => {
  const node = document.createElement(tag)
  if (className) node.className = className
  if (text !== undefined) node.textContent = text
  parent?.append(node)
  return node
}
