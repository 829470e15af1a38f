// The strip above the board: where the chosen word looks, in a sentence and word by word. A click
// or an arrow key makes another word the query.

import { make } from '../../elements.js'
import { colours, STEPS } from '../paint/scales.js'
import { wayOf } from './strip.js'
import { short } from '../text/text.js'

const SIZES = [16, 15, 14, 13, 12] // px: letters of the sentence, the largest that fits
const PATIENCE = 3000 // ms for an answer
const LONGEST = 18 // letters of a word
const HIDDEN = '–'
const PHONE = 560 // px: a narrower strip has the words in a line of their own
const CONTROLS = [196, 146] // px: the buttons of Play, wide or narrow
const ON_PHONE = [92]
const STEP = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }

export class Strip {
  constructor(board) {
    this.board = board
    this.root = make('section', 'board-strip', board.root)
    this.root.setAttribute('aria-label', 'Where the query looks')
    this.root.hidden = true
    this.pending = null // the word that was asked for, until an answer says it
    this.patience = 0 // the timer that ends it
    this.says = make('p', 'board-says', this.root)
    this.says.setAttribute('aria-live', 'polite')
    this.asking = make('div', 'board-asking', this.root)
    this.words = make('div', 'board-words', this.root)
    this.all = make('label', 'board-all', this.root, 'Query ')
    this.query = make('select', 'board-query', this.all)
    this.query.onchange = () => this.ask(this.query.selectedIndex)
  }

  // Draw what Python says of the chosen query, where it is not drawn so already.
  show(strip, mode) {
    const { board } = this
    this.strip = strip
    this.root.hidden = !strip
    const isPlayed = !!board.head.play?.length
    const drawn = JSON.stringify([strip, isPlayed, mode, board.root.clientWidth, board.font])
    if (!strip || drawn === this.drawn) return
    this.drawn = drawn
    const { pending } = this
    if (pending === strip.query || pending >= strip.queries.length) this.pending = null
    const isCrossed = strip.keys.length > 0
    const radios = isCrossed ? this.asking : this.words
    this.asking.hidden = !isCrossed
    const width = board.root.clientWidth
    const words = (isCrossed ? strip.keys : strip.queries).map(named)
    const isPhone = width < PHONE
    const controls = isPlayed ? (isPhone ? ON_PHONE : CONTROLS) : []
    const own = isCrossed || isPhone
    // the words of keys share their line with the buttons, as those of queries are above them
    const room = isCrossed ? width - (controls[0] ?? 0) : width
    const { shares, compares } = strip
    const { measure } = board
    const way = wayOf({ words, shares, compares, width: room, own, controls, measure })
    this.root.classList.toggle('compares', compares)
    this.root.classList.toggle('own', way.own)
    this.root.classList.toggle('crossed', isCrossed)
    this.root.classList.toggle('played', isPlayed)
    this.root.classList.toggle('scrolled', !way.all)
    this.root.style.setProperty('--word', `${way.px}px`)
    this.root.style.setProperty('--pad', `${way.pad / 2}px`)
    this.root.style.setProperty('--gap', `${way.gap}px`)
    this.root.style.setProperty('--says', `${way.says}px`)
    this.root.style.setProperty('--controls', `${way.controls}px`)
    board.player.controls.narrows(isPhone || way.controls < CONTROLS[0])
    this.all.hidden = way.all // before the sentence is fitted, whose room it would take
    board.player.showControls() // which take room of the sentence, too
    this.chips(this.words, words, isCrossed ? 'span' : 'button', true)
    this.chips(this.asking, isCrossed ? strip.queries.map(named) : [], 'button', false)
    for (const group of [this.words, this.asking]) {
      const role = group === radios ? 'radiogroup' : 'list'
      group.setAttribute('role', role)
      group.ariaLabel = group === radios ? 'Query' : 'Keys'
    }
    this.write(strip.sentence) // the last, as it asks how much room it takes
    const cut = isCrossed && this.asking.scrollWidth > this.asking.clientWidth
    if (cut) this.all.hidden = false
    if (!this.all.hidden) this.choices(strip)
    if (!way.all || cut) center(radios, radios.children[strip.query])
  }

  // One element for each word; those that are there stay, so that none loses the focus.
  chips(group, words, tag, shares) {
    const { strip, board } = this
    const nodes = [...group.children]
    while (nodes.length > words.length) nodes.pop().remove()
    if (nodes.length && nodes[0].localName !== tag) nodes.splice(0).forEach(node => node.remove())
    words.forEach((word, k) => {
      const node = nodes[k] ?? this.chip(group, tag, k)
      const share = shares ? strip.shares[k] : ''
      const isChosen = tag === 'button' && k === (this.pending ?? strip.query)
      const state = [word, share, strip.shades[k], isChosen, board.drawn].join()
      if (node.state === state) return
      node.state = state
      const [text, part] = node.children
      text.textContent = word
      part.hidden = !shares
      part.textContent = share
      const isOff = share.endsWith(HIDDEN)
      node.classList.toggle('off', isOff)
      if (shares) text.style.background = isOff ? '' : shaded(strip.shades[k], board.palette)
      const said = share && `, ${share === HIDDEN ? 'hidden' : share}`
      const whole = short(tag === 'button' ? strip.queries[k] : strip.keys[k])
      node.ariaLabel = `${whole}${said}`
      node.title = tag === 'button' ? `See what “${whole}” looks at` : whole
      if (tag === 'span') return
      node.setAttribute('aria-checked', String(isChosen))
      node.tabIndex = isChosen ? 0 : -1
    })
  }

  chip(group, tag, k) {
    const node = make(tag, 'board-word', group)
    make('span', 'board-word-text', node)
    make('span', 'board-word-share', node)
    node.setAttribute('role', tag === 'button' ? 'radio' : 'listitem')
    if (tag === 'span') return node
    Object.assign(node, { type: 'button', onclick: () => this.ask(k) })
    node.onkeydown = event => this.turn(event, group, k)
    return node
  }

  turn(event, group, k) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return // Back, for one
    const step = STEP[event.key]
    const count = group.children.length
    const to = { Home: 0, End: count - 1 }[event.key] ?? (step && (k + step + count) % count)
    if (to === undefined) return
    event.preventDefault()
    group.children[to].focus()
    this.ask(to)
  }

  choices(strip) {
    const { options } = this.query
    if ([...options].map(({ text }) => text).join('\n') !== strip.queries.join('\n')) {
      this.query.replaceChildren()
      for (const word of strip.queries) make('option', '', this.query, word)
    }
    this.query.selectedIndex = strip.query
  }

  // The sentence in the largest letters in which it has room.
  write(sentence) {
    const { says } = this
    const whole = sentence.map(([text]) => text).join('')
    if (says.textContent !== whole) {
      // one that is the same is not read out again
      says.replaceChildren()
      for (const [text, kind] of sentence) {
        if (kind) make('b', kind, says, text)
        else says.append(text)
      }
    }
    says.title = whole
    for (const size of SIZES) {
      says.style.fontSize = `${size}px`
      if (says.scrollHeight <= says.clientHeight + 1) break
    }
  }

  // Make a word the query: told to Python, and seen at once where that could be told. Answers to
  // what was asked before do not take it back.
  ask(k) {
    if (!this.board.emit('asked', k)) return
    clearTimeout(this.patience)
    this.patience = setTimeout(() => this.choose(null), PATIENCE)
    this.choose(k)
  }

  // Show a word as chosen until Python says which is; null: what it said last.
  choose(pending) {
    if (this.pending === pending) return
    this.pending = pending
    this.drawn = null
    this.show(this.strip, this.board.drawn)
    this.drawn = null // what Python answers is drawn, also where it is as before
  }
}

// A word as a chip has it: “the₂”, and of a long one as much as can be read at a glance.
const named = label => {
  const points = Array.from(short(label))
  return points.length > LONGEST ? points.slice(0, LONGEST - 1).join('') + '…' : points.join('')
}

// Bring a word of a line that is scrolled into its middle; the page stays.
const center = (line, word) => {
  line.scrollLeft = word.offsetLeft - (line.clientWidth - word.offsetWidth) / 2
}

// The colour of a share; of a negative weight, which is none, that of its sign.
const shaded = (shade, { share, diverging }) => {
  const [scale, place] = shade < 0 ? [diverging, (shade + 1) / 2] : [share, shade]
  return `rgb(${colours(scale)[Math.round(place * STEPS)].join(' ')})`
}
