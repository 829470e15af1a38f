// plotly.js, fetched once from the dashboard's own address, for every component that draws.
export const plotly = url => (window.__attentionPlotly ??= new Promise((done, failed) => {
  const script = document.createElement('script')
  script.src = new URL(url, document.baseURI).href
  script.onload = () => done(window.Plotly)
  script.onerror = () => {
    delete window.__attentionPlotly
    failed(new Error('plotly.js could not be loaded; reload the page'))
  }
  document.head.appendChild(script)
}))
