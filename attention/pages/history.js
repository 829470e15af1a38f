// What the browser's history lacks for a page of Streamlit; it is in place before Streamlit is.
{
  // The menu of pages leads to the path of a page alone, and the settings would follow as a step of
  // Back of their own; so another path keeps the settings of the one before.
  const push = history.pushState.bind(history)
  let left = '' // the page that Python led away from: a busy browser says its path once more, late
  history.pushState = (state, title, url) => {
    const next = new URL(url ?? '', location.href)
    const to = /[?&]to=([^&]*)$/.exec(next.search)
    if (to) { // Python leads to that page, and Streamlit says its address before it is there
      left = location.pathname
      next.pathname = new URL(to[1] || '.', location.href).pathname
      next.search = next.search.slice(0, to.index)
    } else if (next.pathname !== location.pathname) {
      if (next.pathname === left) return
      next.search = location.search
    }
    if (next.href !== location.href) push(state, title, next)
  }
  for (const way of ['click', 'popstate']) addEventListener(way, () => { left = '' }, true)

  // Streamlit does not heed Back before its first answer: say it again when that has come.
  let wentBack = false
  const note = () => { wentBack = true }
  addEventListener('popstate', note)
  const watch = new MutationObserver(() => {
    if (!document.querySelector('.st-key-title h1')) return
    watch.disconnect()
    removeEventListener('popstate', note)
    if (wentBack) dispatchEvent(new PopStateEvent('popstate'))
  })
  watch.observe(document, { childList: true, subtree: true })

  // Where the server ends before Back is answered, Streamlit asks the next one for nothing, or it
  // sends the controls of before as moves. So Back is said again, unless the page has been at rest
  // after it, or the person has done something else.
  const REST = 1000 // ms
  let unanswered = false
  let resting = 0
  addEventListener('popstate', () => {
    unanswered = true
    clearTimeout(resting)
  })
  for (const act of ['pointerdown', 'keydown'])
    addEventListener(act, () => { unanswered = false }, true)
  const [script, connection] = ['data-test-script-state', 'data-test-connection-state']
  new MutationObserver(changes => {
    for (const { target, attributeName: name } of changes) {
      const value = /** @type {Element} */ (target).getAttribute(name)
      clearTimeout(resting)
      if (name === script && value === 'notRunning')
        resting = setTimeout(() => { unanswered = false }, REST)
      if (name === connection && value === 'CONNECTED' && unanswered)
        dispatchEvent(new PopStateEvent('popstate'))
    }
  }).observe(document, { attributes: true, attributeFilter: [script, connection], subtree: true })
}
