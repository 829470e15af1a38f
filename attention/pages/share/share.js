// The button that copies the link. Where a browser gives no clipboard, as on plain http, the text
// stands selected in a field, ready to be copied by hand.

const HERE = /^(localhost|.*\.localhost|127\..*|0\.0\.0\.0|\[::1\])$/ // this computer alone

class Share {
  constructor (root) {
    this.root = root
    this.button = make('button', 'share-button', root, 'Copy link')
    this.button.type = 'button'
    this.button.setAttribute('aria-expanded', 'false')
    this.panel = make('div', 'share-panel', root)
    this.panel.setAttribute('role', 'group')
    this.panel.setAttribute('aria-label', 'Copy link')
    this.panel.hidden = true
    this.says = make('p', 'share-says', this.panel)
    this.link = this.field('The link')
    this.embed = this.field('A line that shows this page in another')
    this.code = make('div', '', this.panel)
    this.done = make('p', 'share-done', this.panel)
    this.done.setAttribute('role', 'status')
    this.button.onclick = () => this.panel.hidden ? this.open() : this.close()
    root.addEventListener('keydown', event => {
      event.stopPropagation() // the page's shortcuts are not meant
      if (event.key !== 'Escape') return
      this.close()
      this.button.focus()
    })
    root.addEventListener('focusout', event => {
      if (event.relatedTarget && !root.contains(event.relatedTarget)) this.close()
    })
    this.away = event => { if (!root.contains(event.target)) this.close() }
    document.addEventListener('pointerdown', this.away)
  }

  field (label) {
    const line = make('label', 'share-line', this.panel, label)
    const row = make('span', 'share-row', line)
    const field = make('input', '', row)
    field.readOnly = true
    field.onfocus = () => field.select()
    const again = make('button', 'share-again', row, 'Copy')
    again.type = 'button'
    again.setAttribute('aria-label', `Copy: ${label}`)
    again.onclick = () => this.copy(field)
    return field
  }

  show ({ query, says, local, embeds, code, most }) {
    this.codeOf = { code, most, embeds }
    const { origin, pathname } = window.location
    const url = `${origin}${pathname}?${query}`
    this.says.textContent = HERE.test(location.hostname) ? local : says
    if (url !== this.link.value) this.done.textContent = ''
    this.link.value = url
    const src = `${url}&embed=true`.replaceAll('&', '&amp;')
    this.embed.value = `<iframe src="${src}" width="100%" height="900"></iframe>`
    this.embed.closest('.share-line').hidden = !embeds
    if (!this.panel.hidden) this.draw()
  }

  // The link as a code for other people's cameras, or why there is none.
  draw () {
    const { code, most, embeds } = this.codeOf
    const url = this.link.value
    const long = `the link has ${url.length} letters; up to ${most} can be read off a wall.`
    const reasons = [
      [HERE.test(location.hostname), 'this address works on this computer only.'],
      [!embeds, 'the link finds these numbers in this browser alone.'],
      [url.length > most, long],
    ]
    const why = reasons.find(([holds]) => holds)?.[1]
    this.code.replaceChildren()
    if (why) {
      make('p', 'share-says', this.code, `No QR code: ${why}`)
      return
    }
    const drawn = make('img', 'share-code', this.code)
    drawn.alt = 'QR code of the link'
    drawn.src = `${code}?text=${encodeURIComponent(url)}`
  }

  open () {
    this.panel.hidden = false
    this.draw()
    this.button.setAttribute('aria-expanded', 'true')
    this.copy(this.link)
  }

  close () {
    this.panel.hidden = true
    this.button.setAttribute('aria-expanded', 'false')
    this.done.textContent = ''
  }

  end () {
    document.removeEventListener('pointerdown', this.away)
    this.root.replaceChildren()
  }

  async copy (field) {
    const word = field === this.link ? 'link' : 'line'
    field.focus()
    field.select()
    this.done.textContent = await copyText(field.value, field)
      ? `The ${word} was copied.`
      : `The ${word} is selected: press Ctrl+C, or hold it, to copy.`
  }
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector('.share')
  return callOn(root, Share, share => share.show(JSON.parse(new TextDecoder().decode(data))))
}
