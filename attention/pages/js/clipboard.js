// The ways to the clipboard, and to a file.

import { make } from './elements.js'

// Whether a text was copied. Where the address is not https, browsers give no clipboard: then what
// stands selected in a field is copied the old way, and where that fails too, is left to the hand.
export const copyText = async (text, field) => {
  try {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text)
      return true
    }
  } catch {
    // refused: the old way then
  }
  const box = field ?? make('textarea', '', document.body)
  box.value = text
  box.select()
  const done = document.execCommand('copy')
  if (!field) box.remove()
  return done
}

// Whether a picture, promised as a PNG, was copied; there is no old way for pictures.
export const copyImage = async promised => {
  if (!navigator.clipboard?.write || !window.ClipboardItem) return false
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': promised })])
    return true
  } catch {
    return false
  }
}

export const saveFile = (blob, filename) => {
  const link = make('a', '', document.body)
  link.href = URL.createObjectURL(blob)
  link.download = filename
  link.click()
  link.remove()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
