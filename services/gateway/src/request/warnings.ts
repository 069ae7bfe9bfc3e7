import { limits } from '../limits.ts'

/**
 * Texts for `Warning` headers, each once. Their sum is bounded, as clients refuse long heads: beyond it each is cut, and the remaining excess is left
 * out.
 */
export class Warnings {
  readonly #said: string[] = []
  #texts: string[] = []
  #length = 0
  #isCut = false

  /** The warnings as header values. */
  get texts(): readonly string[] {
    return this.#texts
  }

  add(text: string): void {
    const isFull = this.#isCut && this.#length >= limits.warningsLengthMax
    if (text === '' || isFull || this.#said.includes(text)) return
    this.#said.push(text)
    if (!this.#isCut && this.#length + lengthOf(text) > limits.warningsLengthMax) {
      this.#isCut = true
      this.#length = 0
      this.#texts = []
      for (const said of this.#said) this.#add(said)
    } else this.#add(text)
  }

  #add(text: string): void {
    const shown = this.#isCut ? cut(text) : text
    this.#length += lengthOf(shown)
    this.#texts.push(shown)
  }
}

function cut(text: string): string {
  const start = text.slice(0, 2 * limits.cutWarningLengthMax)
  return [...start].slice(0, limits.cutWarningLengthMax).join('')
}

/** In characters, of which some are two units of a text; one that is too long in any case is not counted. */
function lengthOf(text: string): number {
  return text.length > 2 * limits.warningsLengthMax ? text.length : [...text].length
}
