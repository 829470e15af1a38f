// Follow the pointer of this event until it is let go.
export const follow = ({ pointerId }, move, over) => {
  const ended = new AbortController()
  const end = event => {
    ended.abort()
    over(event)
  }
  const heard = event => {
    if (event.pointerId !== pointerId) return
    if (event.type !== 'pointermove') end(event)
    else if (event.buttons) move(event)
    else end(new PointerEvent('pointercancel')) // it was let go where nobody heard it
  }
  const how = { capture: true, signal: ended.signal }
  for (const type of ['pointermove', 'pointerup', 'pointercancel'])
    window.addEventListener(type, heard, how)
}
