// The buttons of Play at the end of the strip: one that starts it, then back, pause, on, and leave.

import { make } from '../../elements.js'

const PLAY = '▶\uFE0E' // as text, not as a coloured picture
const PAUSE = '❚❚'
const ROOM = 118 // px that the name of the button has
const SIZE = 15 // px

const stay = event => event.preventDefault()

export class Controls {
  constructor(player, parent) {
    this.player = player
    this.root = make('div', 'board-controls', parent)
    this.root.setAttribute('role', 'group')
    this.root.setAttribute('aria-label', 'Play')
    const button = (name, text, label, act) => {
      const node = make('button', `board-control ${name}`, this.root, text)
      Object.assign(node, { type: 'button', title: label, ariaLabel: label, onclick: act })
      return node
    }
    this.back = button('', '‹', 'Previous step (←)', () => player.goBy(-1))
    this.main = button('main', PLAY, 'Play', () => player.toggle())
    this.next = button('', '›', 'Next step (→)', () => player.goBy(1))
    this.leave = button('leave', '×', 'Leave Play (Esc)', () => player.leave())
    // at the end, so that it stays where it is when Play ends
    this.speed = button('speed', '1×', 'Speed', () => player.faster())
    // a click leaves the focus where it is, so that Space goes on to pause
    for (const node of [this.back, this.next, this.speed]) node.onmousedown = stay
  }

  // Where the words of the strip leave little room, the buttons are narrow.
  narrows(isNarrow) {
    this.isNarrow = isNarrow
    this.root.classList.toggle('narrow', isNarrow)
  }

  // `word` is the query, as its chip has it.
  show(word) {
    const { on, running, isOver, speed } = this.player
    const { back, main, next, leave, player } = this
    const others = [back, next, leave]
    if (!on && others.some(node => node === document.activeElement)) {
      main.focus({ preventScroll: true })
    }
    for (const node of others) node.hidden = !on
    this.root.classList.toggle('on', on)
    const name = `Play “${word}”`
    const { measure } = player.board
    const isShort = this.isNarrow || measure(`${PLAY} ${name}`, SIZE, true) > ROOM
    main.textContent = on ? (running ? PAUSE : PLAY) : `${PLAY} ${isShort ? 'Play' : name}`
    const idle = `${name}: how its output is computed, step by step`
    const goes = running ? 'Pause' : isOver ? 'Play again' : 'Go on'
    main.title = on ? `${goes} (Space)` : idle
    main.ariaLabel = on ? main.title : name
    const times = speed === 0.5 ? '½' : String(speed)
    this.speed.textContent = `${times}×`
    this.speed.ariaLabel = `Speed: ${times}×`
  }
}
