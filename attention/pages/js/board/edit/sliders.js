// Sliders beside the board: a move is seen before Streamlit has told it, also while one is dragged.

const OF_SETTING = /\bst-key-set_(\w+)/ // the box of a control that shows a setting

/**
 * Hear of the sliders of settings that are moved by keys or the pointer.
 * @param {(name: string, value: number) => void} moved
 * @param {AbortSignal} signal which ends it
 */
export const listen = (moved, signal) => {
  const begin = event => {
    const slider = event.target.closest?.('[data-testid=stSlider]')
    const [, name] = OF_SETTING.exec(slider?.parentElement?.parentElement?.className ?? '') ?? []
    const input = slider?.querySelector('input[type=range]')
    if (!name || !input) return
    let { value } = input
    const look = () => {
      if (input.value !== value) moved(name, Number((value = input.value)))
    }
    // its value is another once Streamlit's own listeners have run, and no event says so
    if (event.type === 'keydown') {
      setTimeout(look)
      return
    }
    const over = new AbortController()
    const each = () => {
      look()
      if (!over.signal.aborted && !signal.aborted) requestAnimationFrame(each)
    }
    requestAnimationFrame(each)
    for (const type of ['pointerup', 'pointercancel']) {
      window.addEventListener(type, () => over.abort(), { capture: true, signal: over.signal })
    }
  }
  for (const type of ['keydown', 'pointerdown']) {
    window.addEventListener(type, begin, { capture: true, signal })
  }
}
