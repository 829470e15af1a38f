// What is seen of a move before Python's answer to it: a cell that was picked, or what a slider
// makes, or a number that is dragged. Python's answer counts, and takes the place of it.

const UNHEARD = 400 // ms without a run after a move, which then has not come, or was refused
const LONGEST = 5000 // the same over a slow connection, at most
const SOON = 100 // ms after which is looked whether an answer still waits
const TRIES = 2 // how often a click is told again

/** @typedef {import('./card/asked.js').Place} Place */

export class Ahead {
  constructor(board) {
    this.board = board
    /** @type {{ cell: Place, asks: string, number: number } | null} */
    this.picked = null // the cell that was picked, until Python has counted that
    this.picks = 0
    /** @type {Record<string, number>} */
    this.moves = {} // of sliders, until an answer has them and the page rests
    this.movedAt = 0
    this.isFollowed = false // whether the board has shown what moves make
    this.isOther = false // whether its numbers are others than those of Python's last answer
  }

  // Whether other numbers are seen than those that cards are of, until Python's answer.
  get isAhead() {
    return this.isOther || this.board.edits.seen > 0
  }

  // Say on the page whether a click or a slider is seen that Python has not counted yet.
  mark() {
    this.board.root.toggleAttribute('data-ahead', this.isOther || !!this.picked)
  }

  // Whether an answer has to wait: one to an earlier move would take back for a moment what is
  // seen. Python may have refused a move, or another may have followed: so not once the page rests.
  holds(head) {
    const { board } = this
    clearTimeout(this.holding)
    const isEarlier = !isAt(head.sliders ?? {}, this.moves)
    if (this.isFollowed && isEarlier && !this.rests) {
      this.holding = setTimeout(() => board.show(head, board.send), SOON)
      return true
    }
    this.isOther = false
    this.forgetSoon()
    return false
  }

  // ms after which a run would have begun; over a slow connection a move may still be on its way.
  get patience() {
    return Math.min(Math.max(UNHEARD, 4 * this.board.asked.took), LONGEST)
  }

  // Whether no answer to a move is to come.
  get rests() {
    return this.board.rests && performance.now() - this.movedAt > this.patience
  }

  // Forget the moves once the page rests, and not at the first answer that has their values: where
  // a slider goes back and forth, answers to earlier moves follow. A preview that came after the
  // last answer is taken back.
  forgetSoon() {
    clearTimeout(this.forgetting)
    if (!Object.keys(this.moves).length) return
    if (!this.rests) {
      this.forgetting = setTimeout(() => this.forgetSoon(), SOON)
      return
    }
    this.forgetMoves()
    if (this.isOther) this.showTold()
  }

  // What was moved is taken back, as by Back: no answer to it waits any more.
  forgetMoves() {
    clearTimeout(this.holding)
    this.moves = {}
    this.isFollowed = false
  }

  // Draw Python's last answer once more.
  showTold() {
    this.isOther = false
    this.mark()
    this.board.takeTold()
    this.board.drawHead()
  }

  // An answer, with the cell that was picked since, as long as the numbers are the same.
  asPicked(head) {
    const { board } = this
    const { cell, asks, number } = this.picked ?? {}
    const [client, last] = head.picks ?? []
    if (client === board.edits.client && last >= number) this.picked = null
    if (!this.picked || head.asks !== asks) return head
    const card = board.asked.card(cell, 'cell')
    return card ? { ...head, cell, card } : head
  }

  // A cell of which Python is told: its arithmetic is shown at once where it is here, or as soon as
  // it comes.
  pick(stage, i, j) {
    const { board } = this
    const number = ++this.picks
    const told = { stage, i, j, client: board.edits.client, number }
    if (!board.emit('picked', told) || !board.head.asks) return
    this.picked = { cell: [stage, i, j], asks: board.head.asks, number }
    this.mark()
    this.tellAgain(told, TRIES)
    this.showPicked()
  }

  // Streamlit can lose a click beside another move, so it is told again, and in the end given up.
  tellAgain(told, tries) {
    const { board } = this
    clearTimeout(this.telling)
    const again = () => {
      if (this.picked?.number !== told.number) return
      if (!board.rests) return this.tellAgain(told, tries)
      if (tries) return this.tellAgain(told, board.emit('picked', told) ? tries - 1 : tries)
      this.picked = null
      this.mark()
      if (this.isAhead) return
      Object.assign(board.head, { cell: board.told.cell, card: board.told.card })
      board.draw(false, true)
    }
    this.telling = setTimeout(again, this.patience)
  }

  showPicked() {
    const { board } = this
    if (!this.picked || this.isAhead) return
    const card = board.asked.card(this.picked.cell, 'cell')
    if (!card || card === board.head.card) return
    Object.assign(board.head, { cell: this.picked.cell, card })
    board.around.pointed = null
    board.around.showCard()
    board.linking.remark() // what else is lit comes with the answer
  }

  // What a number makes that is dragged; false where it has to be sent.
  edited(message) {
    const { board } = this
    const { asks } = board.head
    return board.asked.preview({ edits: message, picked: this.picked?.cell }, bytes => {
      if (!board.edits.stroke) return
      if (bytes && board.head.asks === asks) {
        board.edits.seen = message.operations.at(-1)[0]
        board.drawPreview(bytes)
      }
      board.edits.pump()
    })
  }

  // What a slider makes that was moved, and others whose moves no answer has yet.
  moved(name, value) {
    const { board } = this
    if (!board.head?.asks || !(name in board.told.sliders)) return
    if (!board.edits.idle || board.player.on) return
    const { moves } = this
    moves[name] = value
    this.movedAt = performance.now()
    if (this.isBack) {
      this.isFollowed = true
      return this.showTold()
    }
    board.asked.preview({ moves, picked: this.picked?.cell }, bytes => {
      // an answer may have come, or the move be undone
      if (!bytes || this.moves !== moves || this.isBack) return
      Object.assign(this, { isFollowed: true, isOther: true })
      this.mark()
      board.drawPreview(bytes)
    })
  }

  // Whether the sliders are where they were in the last answer.
  get isBack() {
    return isAt(this.board.told.sliders, this.moves)
  }

  end() {
    for (const timer of [this.holding, this.forgetting, this.telling]) clearTimeout(timer)
  }
}

const isAt = (sliders, moves) => Object.entries(moves).every(([name, to]) => sliders[name] === to)
