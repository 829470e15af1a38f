// What the modules hand each other, and what they put on things of the browser. Not served.

/** Stops of a scale of colours, from 0 to 1. */
type Scale = [share: number, colour: string][]

/** The colours of a theme by their roles, as attention/explain/colours.py has them. */
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
  onHidden: string
  soft: string
  source: string
  paper: string
  grid: string
}

/** A row and a column; a column of -1 is the label of the row. */
type Cell = [row: number, column: number]

/** A drawn part of a pane: from where to where, in cells; the first begins at -0.5. */
type Part = [left: number, right: number, top: number, bottom: number]

/** A pane as Python sends it: `to_board` of attention/figures/panes/board.py. */
interface Spec {
  name: string
  group: string
  symbol: string
  formula: string
  sentence: string
  shape: string
  alt: string
  digest: string
  sources: [stage: string, what: string][]
  digits: number
  rows: string[]
  columns: string[]
  large?: boolean
  title?: string
  role?: 'share' | 'diverging'
  limits?: [low: number, high: number]
  bar?: boolean
  ticks?: string[] | null
  marks?: [role: string, row: number, column: number | null][]
  texts?: string[][] | null
  codes: Uint8Array
  values?: Float64Array
  chosen?: [row: number, column: number, shown: string, exact: string]
  edit?: '' | 'cells' | 'mask' | 'blanks'
  blanks?: Cell[]
  buckets?: number[][]
  tokens?: string[]
  picks?: boolean
  queries?: boolean
  axes?: [row: string, column: string]
  filename?: string
  place?: any
  rowKind?: string
  columnKind?: string
}

/** Where cells are in the frame of a pane, and which are seen. */
interface Axes {
  x: (column: number) => number
  y: (row: number) => number
  at: (row: number, column: number) => number[]
  column: (px: number) => number
  row: (px: number) => number
  across: number
  down: number
  columns: [first: number, last: number]
  rows: [first: number, last: number]
}

/** A text beside the cells; y is the middle of its line, angle in degrees. */
interface Label {
  text: string
  x: number
  y: number
  size: number
  align: string
  angle?: number
  bold?: boolean
  colour?: string
}

type Labels = Record<'rows' | 'columns' | 'corner' | 'bar', Label[]>

/**
 * How panes are painted: `query` is the row that is lit, `key` that of the chosen cell, `presented`
 * the row of a query that is presented, or −1; `isPlayed`, whether Play is on.
 */
interface Look {
  palette: Palette
  font: string
  measure: (text: string, px: number, bold?: boolean) => number
  decimals: number
  waiting: Operation[]
  query: number
  key: number
  presented?: number
  isPlayed?: boolean
}

/** The words over a picture, with low indices; y is the middle of their line. */
interface Heading {
  parts: { text: string, low: boolean }[]
  size: number
  x: number
  y: number
}

/** Where the parts of a heatmap are in its frame, in px. */
interface Places {
  width: number
  height: number
  left: number
  right: number
  top: number
  bottom: number
  px: number
  tight: boolean
  rows?: { px: number, room: number, end: number, kind: string } | null
  columns?: { px: number, slant: number, room: number, kind: string } | null
  corner?: boolean
  bar?: boolean
}

/** A pane on the board. */
interface Pane {
  spec: Spec
  n: number
  m: number
  z?: Float64Array[]
  values?: Float64Array
  codes: Uint8Array
  texts?: string[][] | null
  places: Places
  view?: Part | null
  fine?: number
  turned: boolean
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
  __attentionOpened?: number
  attentionMenu?: boolean
  navigation?: any
}

interface HTMLCanvasElement {
  painted?: any
  codes?: Uint8Array
  table?: Uint32Array
}
