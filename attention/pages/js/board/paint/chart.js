// A chart, as Plotly draws it.

// A chart: larger letters where there is room, and the colours of the page's palette.
export const chart = (pane, layout, palette, tallest) => {
  layout.height = tallest || layout.height || 320
  layout.font.size = layout.width > 420 ? 14 : 13
  if (!layout.title) layout.margin.t = 12
  // a download has no web fonts, and a legend measured in one is cut off
  else layout.font.family = 'Arial, Helvetica, sans-serif'
  for (const axis of [layout.xaxis, layout.yaxis]) {
    const { grid } = palette
    Object.assign(axis, { gridcolor: grid, linecolor: grid, zerolinecolor: grid })
  }
  for (const shape of layout.shapes ?? []) shape.line.color = palette[shape.name]
  return { data: pane.spec.figure.data, layout }
}
