// A picture that the server wrote. A click on a word, or on one of its lines, asks for it.

export default ({ parentElement, data, setTriggerValue }) => {
  const root = parentElement.querySelector('.picture')
  root.onclick = ({ target }) => {
    const { query } = target.closest('[data-query]')?.dataset ?? {}
    if (query) setTriggerValue('asked', Number(query))
  }
  const svg = new TextDecoder().decode(data)
  if (root.written === svg) return
  root.written = svg
  root.innerHTML = svg
}
