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

  show({ lines }) {
    if (JSON.stringify(lines) === this.shown) return
    this.shown = JSON.stringify(lines)
    this.root.replaceChildren()
    this.done.textContent = ''
    for (const [label, text] of lines) {
      const line = make('label', 'copy-line', this.root, label)
      const row = make('span', 'copy-row', line)
      const field = make('input', '', row)
      Object.assign(field, { readOnly: true, value: text, onfocus: () => field.select() })
      const button = make('button', '', row, 'Copy')
      Object.assign(button, { type: 'button', ariaLabel: `Copy: ${label}` })
      button.onclick = () => this.copy(field)
    }
    this.root.append(this.done)
  }

  async copy(field) {
    field.focus()
    field.select()
    this.done.textContent = await copyText(field.value, field)
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
