import assert from 'node:assert/strict'
import test from 'node:test'

// A page whose letters are as wide as half the size of their font, wide ones twice that.
const measured = []
globalThis.document = {
  createElement: tag => ({
    tag,
    getContext: () => ({
      measureText(text) {
        measured.push(text)
        const letters = Array.from(text, letter => (/[猫坐😀]/u.test(letter) ? 2 : 1))
        const [, px] = /(\d+)px/.exec(this.font)
        return { width: (letters.reduce((a, b) => a + b, 0) * Number(px)) / 2 }
      }
    })
  })
}
const { forgetWidths, mathText, shortened, widthIn, widthOf } = await import(
  '../../../../../attention/pages/js/board/text/text.js'
)

test('a text that fits stays whole, another ends in …', () => {
  assert.equal(shortened('attention', 45, 10), 'attention')
  assert.equal(shortened('attention', 44, 10), 'attenti…')
  assert.equal(shortened('', 0, 10), '')
})

test('one letter stays even where it has no room', () => {
  assert.equal(shortened('attention', 0, 10), 'a…')
})

test('a letter of two code units is never cut in half', () => {
  assert.equal(shortened('😀😀😀😀', 30, 10), '😀😀…')
  assert.equal(shortened('😀😀😀', 16, 10), '😀…')
})

test('a width is measured once until the fonts are others', () => {
  forgetWidths()
  measured.length = 0
  assert.deepEqual([widthOf('once', 10), widthOf('once', 10), widthOf('once', 20)], [20, 20, 40])
  assert.equal(measured.length, 2) // at each size, as letters may be drawn at whole pixels
  widthIn('Arial', 'once', 10)
  widthIn('Arial', 'once', 10, true)
  assert.equal(measured.length, 4) // of every font, and bold
  forgetWidths()
  widthOf('once', 10)
  assert.equal(measured.length, 5)
  assert.equal(widthIn('Arial', 'once', 1), 2) // in font sizes
})

test('names with an index get it as a subscript, all else stays text', () => {
  const parts = []
  const node = {
    replaceChildren: () => parts.splice(0),
    append: part => parts.push(part.tag ? [part.tag, part.textContent] : part)
  }
  const written = text => {
    mathText(node, text)
    return parts.filter(part => part !== '')
  }
  assert.deepEqual(written('X W_Q'), ['X ', 'W', ['sub', 'Q']])
  assert.deepEqual(written('QKᵀ / √d_k'), ['QKᵀ / √', 'd', ['sub', 'k']])
  assert.deepEqual(written('the_cat <b>'), ['the_cat <b>'])
})
