// The board: Plotly panes that stay where they are. Python sends figures; this file draws them with
// Plotly.react (zoom and panes survive), links their hovers, and tells Python what was clicked.

const NARROW = 8 // px: numbers smaller than this are left out of the cells
const LETTER = 0.5 // of the font size: a digit's width
const LINE = 13 // px: a row that holds a number that can just be read
const MOST = 440 // px: a pane that wants more gets no numbers and is drawn in PLAIN
const PLAIN = 220
const ROWS = 26 // more rows than this get no numbers either
// nor does a pane grow for more numbers than these: each is SVG text, and slow to draw
const CELLS = 196
const LABELS = 0.35 // of a pane: row labels take no more
const BAR = 38 // px: a colour bar with its numbers
const boards = new WeakMap()

const make = (tag, className, parent, text) => {
  const node = document.createElement(tag)
  if (className) node.className = className
  if (text !== undefined) node.textContent = text
  parent?.append(node)
  return node
}

// W_Q and d_k get their subscripts; the text is ours, but it still goes in as text.
const mathText = (node, text) => {
  node.replaceChildren()
  for (const part of text.split(/(\b[A-Za-z]_[A-Za-z]\b)/)) {
    if (/^[A-Za-z]_[A-Za-z]$/.test(part)) {
      node.append(part[0])
      make('sub', '', node, part[2])
    } else node.append(part)
  }
}

const decode = z => {
  const bytes = Uint8Array.from(atob(z.bdata), c => c.charCodeAt(0))
  const [rows, columns] = z.shape.split(',').map(Number)
  const flat = new Float64Array(bytes.buffer)
  return Array.from({ length: rows }, (_, r) => flat.subarray(r * columns, (r + 1) * columns))
}

const ruler = document.createElement('canvas').getContext('2d')
const widthOf = (text, size = 11) => {
  ruler.font = `${size}px Source Sans, sans-serif`
  return ruler.measureText(text).width
}
const plain = html => {
  const t = document.createElement('textarea')
  t.innerHTML = html
  return t.value
}
const longest = texts => texts.reduce((most, t) => Math.max(most, widthOf(plain(t))), 0)
const letters = texts =>
  Math.max(
    ...texts.map(text =>
      text ? Math.max(...text.map(row => Math.max(...row.map(t => t.length)))) : 99
    )
  )

// A label cut to a width; Plotly reads entities, so what was typed goes in as entities again.
const shortened = (html, room) => {
  let text = plain(html)
  if (widthOf(text) <= room) return html
  const points = Array.from(text)
  do {
    points.pop()
    text = points.join('') + '…'
  } while (points.length > 1 && widthOf(text) > room)
  return text.replace(/[&<>$%]/g, c => `&#${c.charCodeAt(0)};`)
}

// Keep only so many tick labels that each has `cells` cells of room.
const thin = (axis, cells) => {
  const step = Math.ceil(cells / ((axis.tickvals[1] ?? 1) - axis.tickvals[0]))
  if (step < 2) return
  axis.ticktext = axis.ticktext.filter((_, k) => k % step === 0)
  axis.tickvals = axis.tickvals.filter((_, k) => k % step === 0)
}

class Board {
  constructor(root) {
    this.root = root
    this.panes = new Map()
    this.formula = make('div', 'board-formula', root)
    this.formula.setAttribute('role', 'group')
    this.formula.setAttribute('aria-label', 'The formula; point at a part to find its stage')
    this.groups = make('div', 'board-groups', root)
    this.live = make('div', 'board-live', root)
    this.live.setAttribute('aria-live', 'polite')
    this.untaken = make('p', 'board-untaken', root)
    this.untaken.setAttribute('role', 'status')
    this.untaken.hidden = true
    this.tip = make('div', 'board-tip', root)
    this.width = 0
    this.resize = new ResizeObserver(() => {
      if (!this.head || Math.abs(root.clientWidth - this.width) < 2) return
      cancelAnimationFrame(this.pending)
      // draws where the width is another
      this.pending = requestAnimationFrame(() => this.draw(false))
    })
    this.resize.observe(root)
    this.themes = new MutationObserver(() => {
      if (this.head && this.mode() !== this.drawn) this.draw(true)
    })
    for (const node of [
      document.documentElement,
      document.body,
      document.querySelector('.stApp')
    ]) {
      if (node)
        this.themes.observe(node, {
          attributes: true,
          attributeFilter: ['class', 'style', 'data-theme']
        })
    }
  }

  mode() {
    const found = getComputedStyle(
      this.root.closest('.stApp') ?? document.body
    ).backgroundColor.match(/\d+/g)
    return found && Number(found[0]) + Number(found[1]) + Number(found[2]) < 384 ? 'dark' : 'light'
  }

  show(head, emit) {
    // something else is shown: that is answer enough
    if (head.tag !== this.head?.tag) this.untaken.hidden = true
    this.head = head
    this.send = emit
    this.turn = (this.turn ?? 0) + 1
    const turn = this.turn
    plotly(head.plotly)
      .then(Plotly => {
        if (turn !== this.turn || !this.root.isConnected) return
        this.Plotly = Plotly
        this.writeFormula()
        this.arrange()
        this.draw(false)
      })
      .catch(error => {
        this.root.dataset.error = String(error)
        this.live.textContent = String(error)
      })
  }

  // Tell Python. Streamlit drops what a component sends while the connection is down, so then the
  // person is told.
  emit(name, value) {
    const connection =
      document.querySelector('[data-testid=stApp]')?.dataset.testConnectionState ?? 'CONNECTED'
    this.untaken.hidden = connection === 'CONNECTED'
    if (this.untaken.hidden) return this.send(name, value)
    this.untaken.textContent =
      'The server cannot be reached just now, so this was not taken. Try again when it is back.'
  }

  writeFormula() {
    const text = JSON.stringify([this.head.formula ?? [], this.head.remark])
    if (text === this.formulaText) return
    this.formulaText = text
    this.formula.replaceChildren()
    this.formula.hidden = !this.head.formula?.length
    const remark = make('span', 'board-remark', this.formula, this.head.remark ?? '')
    for (const [words, stage] of this.head.formula ?? []) {
      const part = make(stage ? 'button' : 'span', 'board-part')
      remark.before(part)
      mathText(part, words)
      if (!stage) continue
      part.type = 'button'
      part.dataset.stage = stage
      part.title = `Show ${stage}`
      part.onmouseenter = part.onfocus = () => this.light(stage)
      part.onmouseleave = part.onblur = () => this.light(null)
      part.onclick = () => {
        const pane = this.panes.get(stage)?.element
        pane?.scrollIntoView({ block: 'center', behavior: 'smooth' })
        pane?.focus({ preventScroll: true })
      }
    }
  }

  light(stage) {
    for (const [name, pane] of this.panes) pane.element.classList.toggle('lit', name === stage)
    for (const part of this.formula.children)
      part.classList.toggle('lit', !!stage && part.dataset.stage === stage)
  }

  arrange() {
    this.tag = this.head.tag ?? ''
    const wanted = new Set(this.head.panes.map(p => p.name))
    for (const [name, pane] of this.panes) {
      if (wanted.has(name)) continue
      this.Plotly.purge(pane.plot)
      pane.element.remove()
      this.panes.delete(name)
    }
    const groups = new Map([...this.groups.children].map(node => [node.dataset.group, node]))
    for (const spec of this.head.panes) {
      let group = groups.get(spec.group)
      if (!group) {
        group = make('div', 'board-group', this.groups)
        group.dataset.group = spec.group
        groups.set(spec.group, group)
      }
      const pane = this.panes.get(spec.name) ?? this.create(spec)
      pane.spec = spec
      this.describe(pane)
      if (pane.element.parentElement !== group) group.append(pane.element)
    }
    const order = this.head.panes.map(p => p.name)
    for (const group of groups.values()) {
      const inside = order.filter(name => this.panes.get(name).element.parentElement === group)
      inside.forEach((name, k) => {
        const node = this.panes.get(name).element
        if (group.children[k] !== node) group.insertBefore(node, group.children[k] ?? null)
      })
      group.style.setProperty('--panes', inside.length)
      if (!inside.length) group.remove()
    }
    const place = name => this.head.panes.findIndex(p => p.group === name)
    const sorted = [...this.groups.children].sort(
      (a, b) => place(a.dataset.group) - place(b.dataset.group)
    )
    sorted.forEach((node, k) => {
      if (this.groups.children[k] !== node) this.groups.insertBefore(node, this.groups.children[k])
    })
  }

  create(spec) {
    const element = make('section', 'board-pane')
    element.dataset.stage = spec.name
    element.tabIndex = -1
    const pane = { element, spec }
    const header = make('header', 'board-head', element)
    pane.symbol = make('strong', 'board-symbol', header)
    pane.equals = make('span', 'board-equals', header)
    this.addTools(pane, header)
    const line = make('p', 'board-sentence', element)
    pane.shape = make('span', 'board-shape', line)
    pane.sentence = make('span', '', line)
    pane.frame = make('div', 'board-plot', element)
    pane.plot = make('div', '', pane.frame)
    pane.frame.tabIndex = 0
    pane.frame.setAttribute('role', 'img')
    if (spec.rows) {
      pane.marks = [0, 1, 2].map(() => make('div', 'board-mark', pane.frame))
      pane.cursor = make('div', 'board-cursor', pane.frame)
      pane.frame.onkeydown = event => this.key(pane, event)
      pane.frame.onblur = () => this.unmark()
    }
    element.onmouseenter = () => this.light(spec.name)
    element.onmouseleave = () => this.light(null)
    this.panes.set(spec.name, pane)
    return pane
  }

  // The toolbar: Edit where the pane is an input, and a menu for the rest.
  addTools(pane, header) {
    const tools = make('div', 'board-tools', header)
    const button = (parent, text, act) => {
      const node = make('button', 'board-tool', parent, text)
      node.type = 'button'
      node.onclick = act
      return node
    }
    pane.edit = button(tools, 'edit', () => this.emit('edit', pane.spec.name))
    pane.edit.setAttribute('aria-label', `edit ${pane.spec.symbol}`)
    const open = button(tools, '⋯', () => toggle(menu.hidden))
    open.setAttribute('aria-label', `tools of ${pane.spec.symbol}`)
    open.setAttribute('aria-expanded', 'false')
    const menu = make('div', 'board-menu', pane.element)
    menu.hidden = true
    // keep the focus, or the menu closes before the click
    menu.onmousedown = open.onmousedown = event => event.preventDefault()
    const toggle = on => {
      menu.hidden = !on
      open.setAttribute('aria-expanded', String(on))
      if (on) menu.firstElementChild.focus()
    }
    const away = event => {
      if (!menu.contains(event.relatedTarget) && event.relatedTarget !== open) toggle(false)
    }
    menu.addEventListener('focusout', away)
    menu.onkeydown = event => {
      if (event.key === 'Escape') {
        toggle(false)
        open.focus()
      }
    }
    const item = (text, act) =>
      button(menu, text, () => {
        act()
        toggle(false)
        open.focus({ preventScroll: true })
      })
    if (pane.spec.rows) pane.tableButton = item('Show as table', () => this.toggleTable(pane))
    pane.bigButton = item('Enlarge', () => {
      pane.big = pane.element.classList.toggle('big')
      pane.bigButton.textContent = pane.big ? 'Shrink' : 'Enlarge'
      this.draw(true)
      pane.element.scrollIntoView({ block: 'nearest', behavior: 'smooth' })
    })
    if (pane.spec.rows) item('Copy numbers', () => this.copy(pane))
    item('Download PNG', () => this.download(pane, 'png'))
    item('Download SVG', () => this.download(pane, 'svg'))
  }

  describe(pane) {
    const { spec } = pane
    const words = JSON.stringify([
      spec.symbol,
      spec.formula,
      spec.shape,
      spec.sentence,
      spec.alt,
      spec.edit
    ])
    if (words === pane.words) return
    pane.words = words
    mathText(pane.symbol, spec.symbol ?? '')
    mathText(pane.equals, spec.formula ? `=\u00a0${spec.formula}` : '')
    pane.shape.textContent = spec.shape ?? ''
    mathText(pane.sentence, spec.sentence ?? '')
    pane.edit.hidden = !spec.edit
    pane.element.setAttribute(
      'aria-label',
      `${spec.symbol} ${spec.formula ? '= ' + spec.formula : ''} ${spec.shape ?? ''}`
    )
    pane.frame.setAttribute(
      'aria-label',
      spec.alt +
        (spec.rows
          ? ' Arrow keys move from cell to cell' + (spec.picks ? ', Enter picks one.' : '.')
          : '')
    )
  }

  // ---- drawing --------------------------------------------------------------------------------

  draw(all) {
    const mode = this.mode()
    if (mode !== this.drawn) {
      all = true
      this.drawn = mode
      this.root.dataset.mode = mode
    }
    this.width = this.root.clientWidth
    const work = []
    const changed = [...this.panes.values()].filter(pane => pane.digest !== pane.spec.digest)
    for (const pane of changed) {
      pane.digest = pane.spec.digest
      pane.z = pane.spec.rows && decode(pane.spec.figure.data[0].z)
      pane.traces = pane.spec.figure.data.map(t => (t.z ? { ...t, z: decode(t.z) } : t))
      pane.need = pane.spec.rows && this.need(pane)
      if (pane.table) this.fillTable(pane)
    }
    this.settle()
    for (const pane of this.panes.values()) {
      // a neighbour may have come or gone
      if (!all && !changed.includes(pane) && pane.width === pane.frame.clientWidth) continue
      pane.width = pane.frame.clientWidth
      const { data, layout } = this.fit(pane, pane.width, pane.big ? 0.72 * window.innerHeight : 0)
      work.push(
        this.Plotly.react(pane.plot, data, layout, {
          displayModeBar: false,
          responsive: false,
          doubleClick: 'reset'
        })
      )
      if (!pane.wired) this.wire(pane)
    }
    this.unmark()
    const { tag } = this // of what is painted now; by the end another state may have come
    Promise.all(work).then(() => {
      if (tag === this.tag) this.root.dataset.tag = tag
    })
  }

  // The width at which the numbers of a pane can be read; half a pixel more than NARROW, so that
  // rounding takes none away.
  need(pane) {
    const [n, m] = [pane.z.length, pane.z[0]?.length ?? 0]
    const cells =
      m * (letters(pane.traces.map(trace => trace.text)) * LETTER * (NARROW + 0.5) + 4) + 6
    const need = Math.min(
      longest(pane.spec.figure.layout.yaxis.ticktext) + 10 + cells,
      cells / (1 - LABELS)
    )
    return need > MOST || n > ROWS || n * m > CELLS ? PLAIN : need
  }

  // Give each pane the width it needs: a group that does not fit takes more lines, as even as can
  // be.
  // Only the board's width is asked, not the groups', so that no layout follows from another.
  settle() {
    const whole = this.root.clientWidth
    for (const group of this.groups.children) {
      const inside = [...group.children].map(node => this.panes.get(node.dataset.stage))
      const needs = inside.map(pane => pane.need)
      if (!needs.every(Boolean)) continue // charts
      // it moves those after it to other columns
      if (inside.some(pane => pane.big)) needs.fill(Math.max(...needs))
      let lines = 0,
        columns,
        tracks,
        dense,
        total
      do {
        columns = Math.ceil(inside.length / ++lines)
        dense = columns > 5
        tracks = Array(columns).fill(168)
        needs.forEach((need, k) => {
          tracks[k % columns] = Math.max(tracks[k % columns], Math.ceil(need + (dense ? 0 : 8)))
        })
        // as in board.css
        total = tracks.reduce((a, b) => a + b) + (columns - 1) * (dense ? 7.2 : 11.2)
      } while (columns > 1 && total > whole)
      group.classList.toggle('dense', dense)
      group.classList.toggle('narrow', columns > 3)
      group.style.gridTemplateColumns = tracks
        .map(track => `minmax(min(100%, ${track}px), 1fr)`)
        .join(' ')
      // two groups may share a line
      group.style.flexBasis = lines > 1 ? '100%' : `${Math.max(total, inside.length * 180)}px`
      inside.forEach((pane, k) => pane.element.classList.toggle('last', (k + 1) % columns === 0))
    }
  }

  // The figure for a place of this size: room for labels, numbers only where they can be read.
  fit(pane, width, tallest, forExport = false) {
    const palette = this.head.palettes[forExport ? 'light' : this.mode()]
    const { figure, rows } = pane.spec
    const layout = structuredClone(figure.layout)
    layout.width = width
    layout.font = { ...layout.font, color: palette.ink }
    if (!forExport) {
      delete layout.title
      layout.uirevision = `${pane.spec.shape}`
    }
    if (!rows) return this.fitChart(pane, layout, palette, tallest)
    const { xaxis, yaxis } = layout
    const [n, m] = [pane.z.length, pane.z[0]?.length ?? 0]
    const left = Math.min(longest(yaxis.ticktext) + 10, 120, LABELS * width)
    yaxis.ticktext = yaxis.ticktext.map(text => shortened(text, left - 10))
    const texts = pane.traces.map(trace => trace.text)
    let right = 6
    const cell = () => (width - left - right) / m
    const fitting = shown => Math.min(forExport ? 14 : 13, (cell() - 4) / (letters(shown) * LETTER))
    const brief =
      fitting(texts) < NARROW && texts[0]
        ? texts.map(text => text.map(row => row.map(t => (t.includes('e\u2212') ? '≈0' : t))))
        : texts
    const printed = fitting(brief) >= NARROW
    const room = tallest
      ? tallest - 120
      : forExport
        ? 620
        : printed
          ? Math.max(250, Math.min(n, ROWS) * LINE)
          : 250
    const height = Math.max(
      Math.min(n * (tallest || forExport ? 64 : 28), Math.max(room, Math.min(n * 5, 340))),
      26
    )
    const size = Math.min(fitting(brief), (0.62 * height) / n)
    const legible = size >= NARROW
    // a lower one has no room for its numbers
    const bar = pane.traces[0].showscale && (forExport || (!legible && height > 60))
    if (bar) right = BAR
    const wide = longest(xaxis.ticktext)
    const slanted =
      !xaxis.ticktext.every(t => /^\d+$/.test(t)) &&
      wide > cell() * ((xaxis.tickvals[1] ?? 1) - xaxis.tickvals[0]) - 2
    thin(xaxis, (slanted ? 13 : wide + 5) / cell())
    const top = (slanted ? Math.min(wide, 110) + 10 : 20) + (forExport ? 44 : 0)
    layout.height = height + top + 4
    // the room is known: Plotly need not look for it
    layout.margin = { l: left, r: right, t: top, b: 4, autoexpand: false }
    xaxis.tickangle = slanted ? -90 : 0
    for (const axis of [xaxis, yaxis])
      Object.assign(axis, {
        ticklabeloverflow: 'allow',
        tickfont: { ...axis.tickfont, color: palette.ink }
      })
    for (const shape of layout.shapes ?? []) shape.line.color = palette[shape.name]
    thin(yaxis, (12 * n) / height)
    const tight = Math.min(cell(), height / n) < 6
    const data = pane.traces.map((trace, k) => ({
      ...trace,
      text: brief[k],
      colorscale: palette[trace.meta],
      xgap: tight ? 0 : 1,
      ygap: tight ? 0 : 1,
      texttemplate: legible ? '%{text}' : '',
      textfont: { size: Math.max(size, 1), color: palette.ink },
      showscale: trace.showscale && bar,
      colorbar: trace.colorbar && {
        ...trace.colorbar,
        tickfont: { ...trace.colorbar.tickfont, color: palette.ink }
      },
      ...(forExport ? {} : { hovertemplate: '', hoverinfo: 'none' })
    }))
    return { data, layout }
  }

  // A chart: larger letters where there is room, and the colours of the page's palette.
  fitChart(pane, layout, palette, tallest) {
    layout.height = tallest || layout.height || 320
    layout.font.size = layout.width > 420 ? 14 : 13
    if (!layout.title) layout.margin.t = 12
    // a download has no web fonts, and a legend measured in one is cut off
    else layout.font.family = 'Arial, Helvetica, sans-serif'
    for (const axis of [layout.xaxis, layout.yaxis])
      Object.assign(axis, {
        gridcolor: palette.grid,
        linecolor: palette.grid,
        zerolinecolor: palette.grid
      })
    for (const shape of layout.shapes ?? []) shape.line.color = palette[shape.name]
    return { data: pane.traces, layout }
  }

  // ---- hover, click, keys -----------------------------------------------------------------------

  wire(pane) {
    pane.wired = true
    if (!pane.spec.rows) return
    const at = event => {
      const p = event.points?.[0]
      return p && (p.pointIndex ?? p.pointNumber)
    }
    pane.plot.on('plotly_hover', event => {
      const c = at(event)
      if (c) this.mark(pane, c[0], c[1], event.event)
    })
    pane.plot.on('plotly_unhover', () => this.unmark())
    pane.plot.on('plotly_click', event => {
      const c = at(event)
      if (c) this.pick(pane, ...c)
    })
  }

  key(pane, event) {
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }
    const [n, m] = [pane.z.length, pane.z[0].length]
    if (moves[event.key]) {
      const [i, j] =
        pane.at ?? [-moves[event.key][0], -moves[event.key][1]].map(v => Math.min(v, 0))
      const [di, dj] = pane.at ? moves[event.key] : [0, 0]
      pane.at = [Math.min(Math.max(i + di, 0), n - 1), Math.min(Math.max(j + dj, 0), m - 1)]
      this.mark(pane, ...pane.at)
      const [row, column] = pane.at
      const place = `${pane.spec.rows[row]}, ${pane.spec.columns[column]}`
      this.live.textContent = `${pane.spec.symbol}, ${place}: ${this.text(pane, row, column)}`
    } else if (event.key === 'Enter' && pane.at) {
      this.pick(pane, ...pane.at)
    } else if (event.key === 'Escape') {
      pane.at = null
      this.unmark()
    } else return
    event.preventDefault()
    event.stopPropagation()
  }

  pick(pane, i, j) {
    if (pane.spec.picks) this.emit('picked', { stage: pane.spec.name, i, j })
  }

  text(pane, i, j) {
    for (const trace of pane.spec.figure.data) if (trace.text?.[i][j]) return trace.text[i][j]
    const value = pane.z[i][j]
    return Number.isNaN(value)
      ? 'hidden'
      : String(Number(value.toPrecision(6))).replace('-', '\u2212')
  }

  mark(pane, i, j, mouse) {
    this.unmark()
    this.box(pane, pane.cursor, i, i, j, j)
    this.follow(pane, i, j, new Map())
    const { rows, columns } = pane.spec
    const words = `${rows[i]} · ${columns[j]}   ${this.text(pane, i, j)}`
    this.tip.textContent = words
    const area = this.root.getBoundingClientRect()
    const box = pane.cursor.getBoundingClientRect()
    this.tip.style.display = 'block'
    const x = Math.min(
      Math.max(box.left - area.left + box.width / 2 - this.tip.offsetWidth / 2, 0),
      area.width - this.tip.offsetWidth
    )
    this.tip.style.left = `${x}px`
    this.tip.style.top = `${box.top - area.top - this.tip.offsetHeight - 6}px`
  }

  // Mark the rows, columns and cells that this cell was made from; a cell-to-cell step is
  // followed further back.
  follow(pane, i, j, used) {
    for (const [stage, what] of pane.spec.sources ?? []) {
      const source = this.panes.get(stage)
      if (!source?.z) continue
      const [n, m] = [source.z.length, source.z[0].length]
      const k = used.get(stage) ?? 0
      const box = source.marks[Math.min(k, 2)]
      used.set(stage, k + 1)
      if (what === 'cell') {
        this.box(source, box, i, i, j, j)
        this.follow(source, i, j, used)
      }
      if (what === 'row i') this.box(source, box, i, i, 0, m - 1)
      if (what === 'row j') this.box(source, box, j, j, 0, m - 1)
      if (what === 'column j') this.box(source, box, 0, n - 1, j, j)
    }
  }

  box(pane, node, i0, i1, j0, j1) {
    const layout = pane.plot._fullLayout
    if (!layout || i1 >= pane.z.length || j1 >= (pane.z[0]?.length ?? 0)) return
    const { xaxis: X, yaxis: Y } = layout
    const clampX = v => Math.min(Math.max(X.d2p(v), 0), X._length)
    const clampY = v => Math.min(Math.max(Y.d2p(v), 0), Y._length)
    const [x0, x1, y0, y1] = [
      clampX(j0 - 0.5),
      clampX(j1 + 0.5),
      clampY(i0 - 0.5),
      clampY(i1 + 0.5)
    ]
    if (x1 - x0 < 1 || Math.abs(y1 - y0) < 1) return
    Object.assign(node.style, {
      display: 'block',
      left: `${X._offset + x0}px`,
      top: `${Y._offset + Math.min(y0, y1)}px`,
      width: `${x1 - x0}px`,
      height: `${Math.abs(y1 - y0)}px`
    })
  }

  unmark() {
    this.tip.style.display = 'none'
    for (const pane of this.panes.values())
      for (const node of [...(pane.marks ?? []), pane.cursor]) if (node) node.style.display = 'none'
  }

  // ---- tables and downloads ---------------------------------------------------------------------

  toggleTable(pane) {
    const on = !pane.table
    pane.tableButton.textContent = on ? 'Show as heatmap' : 'Show as table'
    pane.frame.hidden = on
    if (on) {
      pane.table = make('div', 'board-table', pane.element)
      pane.table.tabIndex = 0
      this.fillTable(pane)
    } else {
      pane.table.remove()
      pane.table = null
      this.draw(true)
    }
  }

  fillTable(pane) {
    const { rows, columns, symbol } = pane.spec
    pane.table.replaceChildren()
    const table = make('table', '', pane.table)
    make('caption', 'board-live', table, symbol)
    const head = make('tr', '', make('thead', '', table))
    make('td', '', head)
    for (const column of columns) make('th', '', head, column).scope = 'col'
    const body = make('tbody', '', table)
    rows.forEach((row, i) => {
      const line = make('tr', '', body)
      make('th', '', line, row).scope = 'row'
      columns.forEach((_, j) => {
        const button = make('button', '', make('td', '', line), this.text(pane, i, j))
        button.type = 'button'
        button.onclick = () => this.pick(pane, i, j)
      })
    })
  }

  // To the clipboard, as a spreadsheet takes it and as "your data" reads it: labels and exact
  // numbers between tabs.
  copy(pane) {
    const { rows, columns, symbol } = pane.spec
    const safe = label =>
      (/^[=+\-@\t\r']/.test(label) ? "'" + label : label).replace(/[\t\r\n]/g, ' ')
    const quoted = label => (label.includes('"') ? `"${label.replaceAll('"', '""')}"` : label)
    const lines = [['', ...columns.map(c => quoted(safe(c)))]].concat(
      rows.map((row, i) => [quoted(safe(row)), ...columns.map((_, j) => this.exact(pane, i, j))])
    )
    const text = lines.map(line => line.join('\t')).join('\n')
    const done = () => {
      this.live.textContent = `The numbers of ${symbol} were copied.`
    }
    const byHand = () => {
      // where the address is not https, browsers give no clipboard
      const box = make('textarea', '', document.body)
      box.value = text
      box.select()
      document.execCommand('copy')
      box.remove()
      done()
    }
    navigator.clipboard ? navigator.clipboard.writeText(text).then(done, byHand) : byHand()
  }

  // The number of a cell to the last digit: a hidden cell keeps its own behind the grey, −∞ only
  // as text.
  exact(pane, i, j) {
    const value = pane.z[i][j]
    if (!Number.isNaN(value)) return Object.is(value, -0) ? '-0' : String(value)
    const trace = pane.traces.find(t => t.z && !Number.isNaN(t.z[i][j]))
    const text = trace?.text?.[i][j] ?? ''
    return /^[\u2212-]?∞$|^NaN$/.test(text)
      ? text.replace('\u2212', '-').replace('∞', 'inf').toLowerCase()
      : String(trace?.z[i][j] ?? 'nan')
  }

  download(pane, format) {
    const { data, layout } = this.fit(pane, 900, 0, true)
    if (!pane.spec.rows) Object.assign(layout, { width: 900, height: 520 })
    layout.paper_bgcolor = this.head.palettes.light.paper
    const size = {
      format,
      width: layout.width,
      height: layout.height,
      scale: format === 'png' ? 3 : 1
    }
    const spec = { data, layout, config: { staticPlot: true } }
    this.Plotly.downloadImage(spec, { ...size, filename: pane.spec.filename }).then(() => {
      this.live.textContent = `${pane.spec.filename}.${format} was saved.`
    })
  }

  close() {
    this.resize.disconnect()
    this.themes.disconnect()
    cancelAnimationFrame(this.pending)
    for (const pane of this.panes.values()) this.Plotly?.purge(pane.plot)
    this.root.replaceChildren()
    this.tag = null
    delete this.root.dataset.tag // nothing is painted any more
  }
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component
  const root = parentElement.querySelector('.board')
  if (!boards.has(root)) boards.set(root, new Board(root))
  const board = boards.get(root)
  const bytes = data instanceof Uint8Array ? data : new Uint8Array(data)
  board.show(JSON.parse(new TextDecoder().decode(bytes)), setTriggerValue)
  return () => {
    board.close()
    boards.delete(root)
  }
}
