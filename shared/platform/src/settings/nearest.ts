import { at } from '@orch/core/json'
/** The word that was probably meant; undefined if no word is similar. */
export function nearest(text: string, words: readonly string[]): string | undefined {
  let best: string | undefined
  let bestDistance = Math.max(2, Math.ceil(text.length / 3)) + 1
  for (const word of words) {
    const distance = word.startsWith(text) || text.startsWith(word) ? Math.min(2, editDistance(text, word)) : editDistance(text, word)
    if (distance < bestDistance) {
      best = word
      bestDistance = distance
    }
  }
  return best
}

/** The edit distance of two texts. */
export function editDistance(source: string, target: string): number {
  let above = Array.from({ length: target.length + 1 }, (_, index) => index)
  for (let row = 1; row <= source.length; row++) {
    const current = [row]
    for (let column = 1; column <= target.length; column++) {
      const change = at(above, column - 1) + (source[row - 1] === target[column - 1] ? 0 : 1)
      current.push(Math.min(change, at(above, column) + 1, at(current, column - 1) + 1))
    }
    above = current
  }
  return at(above, target.length)
}

/** `; did you mean X?`, or an empty text. */
export function suggestion(text: string, words: readonly string[]): string {
  const word = nearest(text, words)
  return word === undefined ? '' : `; did you mean ${word}?`
}
