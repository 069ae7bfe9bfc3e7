import { limits } from './limits.ts'

/**
 * Texts for `Warning` headers, each once. All together are bounded, as clients refuse long heads: when they grow longer,
 * each of them is cut, and what is beyond the bound even so is left out.
 */
export class Warnings {
  readonly #said: string[] = []
  #texts: string[] = []
  #length = 0
  #isCut = false

  /** As they are told. */
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
      for (const said of this.#said) this.#tell(said)
    } else this.#tell(text)
  }

  #tell(text: string): void {
    const told = this.#isCut ? [...text].slice(0, limits.cutWarningLengthMax).join('') : text
    this.#length += lengthOf(told)
    this.#texts.push(told)
  }
}

/** In characters, of which some are two units of a text. */
function lengthOf(text: string): number {
  return [...text].length
}
