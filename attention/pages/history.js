// What the browser's history lacks for a page of Streamlit; it is in place before Streamlit is.
{
  // The menu of pages leads to the path of a page alone, and the settings would follow as a step of
  // Back of their own; so another path keeps the settings of the one before.
  const push = history.pushState.bind(history)
  history.pushState = (state, title, url) => {
    const next = new URL(url ?? '', location)
    if (next.pathname !== location.pathname) next.search = location.search
    push(state, title, next)
  }

  // Streamlit does not heed Back before its first answer: say it again when that has come.
  let wentBack = false
  const note = () => { wentBack = true }
  addEventListener('popstate', note)
  const watch = new MutationObserver(() => {
    if (!document.querySelector('.intro')) return
    watch.disconnect()
    removeEventListener('popstate', note)
    if (wentBack) dispatchEvent(new PopStateEvent('popstate'))
  })
  watch.observe(document, { childList: true, subtree: true })
}
