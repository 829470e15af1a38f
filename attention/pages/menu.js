// A way on to a control of the page itself puts the focus there, with its text chosen.
//
// On a phone the menu of pages and the rail of settings lie over the page; what was chosen there
// is to be seen, so it closes when a page or an example was chosen.
if (!window.attentionMenu) {
  window.attentionMenu = true
  const chosen = '[data-testid=stSidebarNavLink], .st-key-set_example button'
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
  const goes = ({ target }) => {
    const to = target.closest?.('[data-focus]')?.dataset.focus
    if (to) document.querySelector(to)?.select()
  }
  document.addEventListener('click', goes)
}
