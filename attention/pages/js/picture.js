// A picture that the server wrote.

export default ({ parentElement, data }) => {
  const root = parentElement.querySelector('.picture')
  const svg = new TextDecoder().decode(data)
  if (root.written === svg) return
  root.written = svg
  root.innerHTML = svg
}
