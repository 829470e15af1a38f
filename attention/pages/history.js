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

  // Streamlit does not heed Back while the page is on its way: say it again when it has come.
  const hasCome = () => document.querySelector('.intro')
  let watch
  addEventListener('popstate', () => {
    if (watch || hasCome()) return
    watch = new MutationObserver(() => {
      if (!hasCome()) return
      watch.disconnect()
      watch = null
      dispatchEvent(new PopStateEvent('popstate'))
    })
    watch.observe(document, { childList: true, subtree: true })
  })
}
