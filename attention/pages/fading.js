// What is drawn anew fades only where that takes long. Streamlit has every part of the page begin
// to fade with each move, half a second late, and so makes a layer of each: a quarter of what a
// short move takes of the processor.
{
  const LATE = 500 // ms
  let timer = 0
  const watch = new MutationObserver(([{ target }]) => {
    if (target.dataset.testScriptState === 'notRunning') {
      clearTimeout(timer)
      timer = 0
      delete target.dataset.late
    } else timer ||= setTimeout(() => { target.dataset.late = '' }, LATE)
  })
  watch.observe(document, { attributeFilter: ['data-test-script-state'], subtree: true })
}
