// What was typed, on its way to Python: operations are numbered, one message is in the air, and
// what is not acknowledged goes with the next. Python counts a number once, so nothing is lost or
// doubled.

import { connected } from '../../elements.js'

export const PATIENCE = 5000 // ms without an answer: then a message is sent again

export class Edits {
  /**
   * @param {(message: { client: string, operations: any[][], more: boolean }) => void} send
   * @param {(stage: string) => void} changed
   * @param {(sentence: string) => void} say
   * @param {(message: { client: string, operations: any[][], more: boolean }) => boolean} preview
   *   whether it will be seen what they make, so that they need not be sent before the hand lets go
   */
  constructor(send, changed, say, preview) {
    this.send = send
    this.changed = changed
    this.say = say
    this.preview = preview
    this.client = Math.random().toString(36).slice(2)
    this.number = 0
    /** @type {Operation[]} */
    this.queue = [] // not acknowledged yet
    this.flying = 0 // the last number of the message in the air
    this.seen = 0 // the last number whose effect is on the board, though Python has not counted it
    this.most = Infinity // operations of one message
    this.edited = '' // what is edited
    this.stroke = false // a scrub goes on: one step of Back together
    this.held = false // a paste or a stroke of paint goes on: one message together
  }

  add(kind, stage, row = 0, column = 0, text = '') {
    const last = this.queue.at(-1)
    const operation = { number: ++this.number, kind, stage, row, column, text, of: this.edited }
    const same = last?.kind === kind && last.stage === stage
    const place = last?.row === row && last?.column === column
    // an older value of the same cell that was not sent yet
    if (same && place && ['cell', 'mask'].includes(kind) && last.number > this.flying) {
      this.queue.pop()
    }
    this.queue.push(operation)
    this.changed(stage)
    this.pump()
  }

  // What is added until the release goes together, and is one step of Back.
  hold() {
    this.held = true
  }

  release() {
    this.held = false
    this.pump()
  }

  // A scrub is seen as it goes, or is sent so; the address, and with it Back, moves on when it has
  // ended.
  begin() {
    this.stroke = true
  }

  end() {
    if (!this.stroke) return
    this.stroke = false
    this.add('end', '')
  }

  pump() {
    if (this.held || this.flying || !this.queue.length) return
    const sent = this.queue.slice(0, this.most)
    const more = this.stroke || sent.length < this.queue.length
    const message = { client: this.client, operations: sent.map(written), more }
    if (this.stroke && (this.seen >= message.operations.at(-1)[0] || this.preview(message))) return
    clearTimeout(this.watch)
    this.watch = setTimeout(() => {
      this.flying = 0
      this.pump()
    }, PATIENCE)
    if (!connected()) {
      this.offline = true
      this.say('The server cannot be reached just now; what you typed is sent when it is back.')
      return
    }
    this.flying = message.operations.at(-1)[0]
    this.send(message)
  }

  // Python's answer: what it has counted is on the board now, or was refused.
  heard(/** @type {Answer | null} */ answer) {
    this.most = answer?.most ?? this.most
    this.edited = answer?.edited ?? this.edited
    this.seen = 0
    if (answer?.client !== this.client) return
    const told = answer.refused.filter(([number]) => this.queue.some(op => op.number === number))
    this.queue = this.queue.filter(({ number }) => number > answer.last)
    if (answer.last >= this.flying) {
      this.flying = 0
      clearTimeout(this.watch)
    }
    if (this.offline) this.say('')
    this.offline = false
    if (told.length) this.say(told.map(([, sentence]) => sentence).join(' '))
    this.pump()
  }

  // The operations whose effect is drawn over a pane until Python has answered; the newest counts.
  of(stage) {
    return this.queue.filter(({ number, stage: of }) => of === stage && number > this.seen)
  }

  get idle() {
    return !this.queue.length
  }

  close() {
    clearTimeout(this.watch)
  }
}

const written = ({ number, kind, stage, row, column, text, of }) => [
  number,
  kind,
  stage,
  row,
  column,
  text,
  of
]
