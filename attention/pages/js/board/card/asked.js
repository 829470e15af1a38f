// What the board asks the server for between two answers of Python's: cards, and what a number that
// is dragged makes, or a slider. attention/pages/asked.py answers; no setting is changed by it.

export const AGAIN = 5000 // ms until what failed is asked once more
const TYPES = {
  cards: { type: 'application/json', as: 'json' },
  preview: { type: 'application/octet-stream', as: 'arraybuffer' }
}

/**
 * @typedef {import('./card.js').Card} Card
 * @typedef {[stage: string, row: number, column: number]} Place
 * @typedef {{ client: string, operations: any[][], more: boolean }} Message
 */

export class Asked {
  /**
   * @param {() => string} address where to ask about what the board shows; '' for nowhere
   * @param {() => void} came called when cards have come
   */
  constructor(address, came) {
    this.address = address
    this.came = came
    this.about = '' // the address that the cards are from
    this.took = 0 // ms of the last request that was answered
    /** @type {Record<string, [address: string, at: number]>} */
    this.failed = {} // what did not answer, and is not asked for a while
    /** @type {Map<string, Card>} */
    this.cards = new Map()
    this.fetching = false
    /** @type {{ about: object, show: (bytes: Uint8Array | null) => void } | null} */
    this.wanted = null // the newest that is to be previewed
    this.looking = false
  }

  /**
   * The card of a cell, where it is here; else it is asked for, alone or with others of its row.
   * @param {Place} place
   * @param {'cell' | 'row'} of
   * @returns {Card | null}
   */
  card(place, of) {
    const about = this.address()
    if (about !== this.about) {
      this.about = about
      this.cards = new Map()
    }
    const found = this.cards.get(place.join())
    if (!found && !this.fetching) this.fetch(place, of)
    return found ?? null
  }

  async fetch([stage, i, j], of) {
    const { about } = this
    this.fetching = true
    const found = await this.ask('cards', { of, stage, i, j })
    this.fetching = false
    if (about === this.about) {
      if (!found) return
      for (const card of found) this.cards.set([card.stage, card.row, card.column].join(), card)
    }
    this.came()
  }

  /**
   * What the stages would be after edits or moves, to be seen while more of them come; of those
   * that wait, the newest. False where nobody answers.
   * @param {{ edits?: Message, moves?: Record<string, number>, picked?: Place }} what
   * @param {(bytes: Uint8Array | null) => void} show called with the board, or null
   */
  preview(what, show) {
    if (!this.answers('preview', this.address())) return false
    const said = Object.entries(what).filter(([, value]) => value)
    const about = said.map(([name, value]) => [name, JSON.stringify(value)])
    this.wanted = { about: Object.fromEntries(about), show }
    if (!this.looking) this.look().finally(() => (this.looking = false))
    return true
  }

  async look() {
    this.looking = true
    while (this.wanted) {
      const { about, show } = this.wanted
      this.wanted = null
      const bytes = await this.ask('preview', about)
      show(bytes && new Uint8Array(bytes))
    }
  }

  // What the server answers, or null. By fetch() it would come up to 40 ms later: the bytes of an
  // answer are handed on in tasks of their own, which wait while Streamlit draws the page.
  async ask(what, about) {
    const address = this.address()
    if (!this.answers(what, address)) return null
    const url = new URL(`${address}/${what}`, document.baseURI)
    for (const [name, value] of Object.entries(about)) url.searchParams.set(name, value ?? '')
    const began = performance.now()
    const { type, as } = TYPES[what]
    const request = new XMLHttpRequest()
    request.responseType = as
    const end = new Promise(ended => (request.onloadend = ended))
    request.open('GET', url)
    request.send()
    await end
    // a proxy may answer instead, with a page of its own
    const given = request.getResponseHeader('Content-Type')?.split(';')[0]
    if (request.status === 200 && given === type && request.response) {
      this.took = performance.now() - began
      return request.response
    }
    this.failed[what] = [address, performance.now()]
    return null
  }

  // Whether it may answer; what just failed is asked again after a while, as the connection may be
  // back.
  answers(what, address) {
    const [failed, at] = this.failed[what] ?? []
    return !!address && (address !== failed || performance.now() - at > AGAIN)
  }
}
