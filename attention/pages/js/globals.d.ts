// What the modules hand each other, and what they put on things of the browser. Not served.

/** Stops of a scale of colours, from 0 to 1. */
type Scale = [share: number, colour: string][]

/** The colours of a theme by their roles, as attention/colours.py has them. */
interface Palette {
  diverging: Scale
  share: Scale
  hidden: Scale
  broken: Scale
  blank: Scale
  waits: Scale
  query: string
  cell: string
  ink: string
  stroke: string
  paper: string
  grid: string
}

/** A row and a column; a column of -1 is the label of the row. */
type Cell = [row: number, column: number]

/** A drawn part of a pane: from where to where, in cells; the first begins at -0.5. */
type Part = [left: number, right: number, top: number, bottom: number]

/** A heatmap of Plotly's JSON, decoded: a layer of the cells of one kind. */
interface Layer {
  z: Float64Array[]
  zmin: number
  zmax: number
  meta: string
  text?: string[][]
  showscale?: boolean
  colorbar?: any
}

/** A pane as Python sends it: `Pane` of attention/figures/panes.py. */
interface Spec {
  name: string
  group: string
  symbol: string
  formula: string
  sentence: string
  shape: string
  alt: string
  digest: string
  figure: any
  sources: [stage: string, what: string][]
  digits: number
  rows?: string[]
  columns?: string[]
  large?: boolean
  codes?: Uint8Array
  chosen?: [row: number, column: number, shown: string, exact: string]
  edit?: '' | 'cells' | 'mask' | 'blanks'
  blanks?: Cell[]
  buckets?: number[][]
  tokens?: string[]
  picks?: boolean
  added?: boolean
  queries?: boolean
  axes?: [row: string, column: string]
  filename?: string
}

/** Where the parts of a heatmap are in its frame, in px. */
interface Places {
  width: number
  height: number
  left: number
  right: number
  top: number
  bottom: number
  cell: number
  most: number
  pad: number
  small: number
  labelSize: number
  slanted: boolean
  bar: boolean
  note?: string
  rest?: number
}

/** A pane on the board; the fields of its numbers are those of a heatmap. */
interface Pane {
  spec: Spec
  n: number
  m: number
  z: Float64Array[]
  codes: Uint8Array
  traces: Layer[]
  texts?: string[][]
  places: Places
  view?: Part | null
  row?: number
  fine?: number
  need?: number
  noted?: [note?: string, room?: { width?: number }]
  [more: string]: any
}

/** What was typed; its number is one more than that of the one before. */
interface Operation {
  number: number
  kind: string
  stage: string
  row: number
  column: number
  text: string
  of: string
}

/** Python's answer to a message of operations. */
interface Answer {
  client?: string
  last?: number
  most?: number
  edited?: string
  refused?: [number: number, sentence: string][]
}

interface Window {
  Plotly?: any
  __attentionPlotly?: Promise<any>
  __attentionOpened?: number
  attentionMenu?: boolean
  navigation?: any
}

interface HTMLCanvasElement {
  painted?: any
  codes?: Uint8Array
  palette?: Palette
}
