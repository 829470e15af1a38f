// Lines to copy, each with a button. Where a browser gives no clipboard, as on plain http from
// another machine, a line stands selected in its field, ready to be copied by hand.

import { copyText } from './clipboard.js'
import { callOn, make } from './elements.js'

class Copy {
  constructor(root) {
    this.root = root
    this.done = make('p', 'copy-done')
    this.done.setAttribute('role', 'status')
    root.addEventListener('keydown', event => {
      if (event.key !== 'Escape') event.stopPropagation() // the page's shortcuts are not meant
    })
  }

  show({ lines, alone = false, says = '' }) {
    if (JSON.stringify(lines) === this.shown) return
    this.shown = JSON.stringify(lines)
    this.root.replaceChildren()
    this.done.textContent = says
    for (const [label, text] of lines) {
      const line = make(alone ? 'div' : 'label', 'copy-line', this.root, alone ? '' : label)
      const row = make('span', 'copy-row', line)
      const field = make('input', '', row)
      Object.assign(field, { readOnly: true, value: text, onfocus: () => field.select() })
      if (alone) Object.assign(field, { hidden: true, ariaLabel: label })
      const button = make('button', '', row, alone ? label : 'Copy')
      Object.assign(button, { type: 'button', ariaLabel: alone ? label : `Copy: ${label}` })
      button.onclick = () => this.copy(field, button, alone)
    }
    this.root.append(this.done)
  }

  async copy(field, button, alone) {
    field.hidden = false
    field.focus({ preventScroll: true })
    field.select()
    const copied = await copyText(field.value, field)
    field.hidden = alone && copied
    if (field.hidden) button.focus({ preventScroll: true })
    for (const other of this.root.querySelectorAll('.copy-row button')) {
      if (!alone) other.textContent = copied && other === button ? 'Copied' : 'Copy'
    }
    this.done.textContent = copied
      ? 'Copied.'
      : 'It is selected: press Ctrl+C, or press and hold, to copy.'
  }

  end() {
    this.root.replaceChildren()
  }
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector('.copy')
  return callOn(root, Copy, copy => copy.show(JSON.parse(new TextDecoder().decode(data))))
}
