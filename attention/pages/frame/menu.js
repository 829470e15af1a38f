// A link to a control of the page itself puts the focus there and selects its text. A list that a
// key opens gets the focus: its content stands at the end of the page.
//
// On a phone the menu of pages and the rail of settings lie over the page; what was chosen there
// is to be seen, so it closes when a page or an example was chosen.
if (!window.attentionMenu) {
  window.attentionMenu = true
  const chosen =
    '[data-testid=stSidebarNavLink], .st-key-menu_links :is(a, button), .st-key-set_example button'
  const close = () => {
    if (document.querySelector('[data-testid=stExpandSidebarButton]')) return // it is closed
    /** @type {HTMLElement} */
    const button = document.querySelector('[data-testid=stSidebarCollapseButton] button')
    button?.click()
  }
  // on the way down, as lists keep their clicks to themselves; after the choice was made
  const heard = ({ target }) => {
    if (innerWidth < 768 && target.closest?.(chosen)) setTimeout(close)
  }
  document.addEventListener('click', heard, true)
  // A click outside a list closes it, and Streamlit then asks for the page that is left. So a
  // link to another page is followed once the list is closed and that has been answered.
  const list = () => document.querySelector('[data-testid=stPopoverBody]')
  const LOOKS = 50 // after so many the list stays open, or nothing was asked for
  const rests = () => document.querySelector('[data-test-script-state=notRunning]')
  const later = event => {
    const link = event.target.closest?.('a[href]')
    if (!link || !list() || event.ctrlKey || event.metaKey || link.target) return
    event.preventDefault()
    event.stopImmediatePropagation()
    list().dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))
    let looks = 0
    let ran = false
    const wait = setInterval(() => {
      looks++
      if (list()) {
        if (looks >= LOOKS) clearInterval(wait)
        return
      }
      ran ||= !rests()
      if (!rests() || (!ran && looks < LOOKS)) return
      clearInterval(wait)
      link.click()
    }, 20)
  }
  document.addEventListener('click', later, true)
  const enters = ({ target, detail }) => {
    const button = target.closest?.('[data-testid=stPopoverButton]')
    if (!button || detail) return // clicks of a mouse are counted, a key is none
    let looks = 0
    const wait = setInterval(() => {
      const isOpen = button.getAttribute('aria-expanded') === 'true'
      /** @type {HTMLElement | undefined} */
      const first = isOpen && list()?.querySelector('input, textarea, button:enabled')
      if (first && document.activeElement === button) first.focus()
      if (first || ++looks >= LOOKS) clearInterval(wait)
    }, 20)
  }
  document.addEventListener('click', enters)
  const goes = ({ target }) => {
    const to = target.closest?.('[data-focus]')?.dataset.focus
    if (to) document.querySelector(to)?.select()
  }
  document.addEventListener('click', goes)
}
