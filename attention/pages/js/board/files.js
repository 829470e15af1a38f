// What is copied and downloaded of a board.

import { copyImage, copyText, saveFile } from '../clipboard.js'
import { boardPicture, panePicture } from './image.js'
import { TOO_MANY, asText } from './text/tables.js'

const SOON = 500 // ms: what takes longer is said to be made

export class Files {
  constructor(board) {
    this.board = board
  }

  async copyNumbers(pane) {
    const { board } = this
    const numbers = `The numbers of ${pane.spec.symbol}`
    if (pane.spec.large) return board.say(`${numbers} ${TOO_MANY}`)
    if (await copyText(asText(pane))) board.say(`${numbers} were copied.`, true)
    else board.say(`${numbers} could not be copied: this browser gives no clipboard here.`)
  }

  copyPane(pane) {
    return this.copy(panePicture(this.board, pane), `The picture of ${pane.spec.symbol}`, pane)
  }

  copyBoard() {
    return this.copy(boardPicture(this.board), 'The picture of the board')
  }

  // To the clipboard, or where there is none, as a file.
  async copy(promised, name, pane) {
    this.making(promised, name)
    if (await copyImage(promised)) return this.board.say(`${name} was copied.`, true)
    const filename = `${pane?.spec.filename ?? 'attention_board'}.png`
    if (!(await this.save(promised, filename))) return
    this.board.say(
      `This browser gives no clipboard for pictures here; ${filename} was saved instead.`
    )
  }

  async download(pane, format) {
    const filename = `${pane.spec.filename}.${format}`
    const promised = panePicture(this.board, pane, format)
    this.making(promised, filename)
    const saved = await this.save(promised, filename)
    if (saved) this.board.say(`${filename} was saved.`, true)
  }

  // Say of a picture that takes long that it is made.
  making(promised, name) {
    const timer = setTimeout(() => this.board.say(`${name} is being made …`), SOON)
    const over = () => clearTimeout(timer)
    promised.then(over, over)
  }

  // Whether a picture could be made, and so was saved.
  async save(promised, filename) {
    try {
      saveFile(await promised, filename)
      return true
    } catch {
      this.board.say(`${filename} could not be made; reload the page and try again.`)
      return false
    }
  }
}
