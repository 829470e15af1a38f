// A pane's numbers as a table, and as text for the clipboard: K as K, also where Kᵀ is seen.

import { make } from '../../elements.js'
import { exactOf, textOf } from './cells.js'
import { transposed } from '../paint/part.js'

export const TOO_MANY = 'are too many to stand here; “Export”, below, saves them.'

/** @param {any} board @param {Pane} pane */
export const fillTable = (board, pane) => {
  const { rows, columns, symbol } = pane.spec
  pane.table.replaceChildren()
  if (pane.spec.large) return make('p', '', pane.table, `The numbers of ${symbol} ${TOO_MANY}`)
  const z = pane.turned ? transposed(pane.z) : pane.z
  pane.canvas.painted = { ...pane.canvas.painted, z } // what is shown, for who asks
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
      const [row, column] = pane.swap([i, j])
      const button = make('button', '', make('td', '', line), textOf(pane, row, column))
      button.type = 'button'
      button.onclick = () => board.pick(pane, row, column)
    })
  })
}

/**
 * As a spreadsheet takes it and as “Your data” reads it: labels and exact numbers between tabs.
 * @param {Pane} pane
 */
export const asText = pane => {
  const { rows, columns } = pane.spec
  const safe = label => (/^[=+\-@＝＋－＠\t\r\n']/.test(label) ? "'" + label : label)
  const quoted = label => {
    const flat = safe(label).replace(/[\t\r\n]/g, ' ')
    return flat.includes('"') ? `"${flat.replaceAll('"', '""')}"` : flat
  }
  const numberAt = ([i, j]) => exactOf(pane, i, j)
  const numbers = i => columns.map((_, j) => numberAt(pane.swap([i, j])))
  const lines = [['', ...columns.map(quoted)]]
  rows.forEach((row, i) => lines.push([quoted(row), ...numbers(i)]))
  return lines.map(line => line.join('\t')).join('\n')
}
