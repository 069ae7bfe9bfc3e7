import { printJson } from '../json/print.ts'
import type { Steps } from '../steps.ts'

/** Number of characters that are printed per step. */
const charactersPerStep = 128 * 1024

/** Depth of the deepest large maps in documents, which are those of `components.schemas`. */
const depthMax = 3

/**
 * The JSON text of a document, with pauses. Parts deeper than `depth` are printed in one step. Bounds and defaults of custom kinds may contain
 * integers beyond 2^53, which stay exact.
 */
export function* printOpenApiInSteps(document: object, depth = depthMax): Steps<string> {
  const pieces = new Pieces()
  yield* print(document, depth, pieces)
  return pieces.join()
}

/** A text in pieces, one per step. */
class Pieces {
  readonly #done: string[] = []
  #piece = ''

  /** Adds a text; true if a piece is complete. */
  add(text: string): boolean {
    this.#piece += text
    if (this.#piece.length < charactersPerStep) return false
    this.#done.push(this.#piece)
    this.#piece = ''
    return true
  }

  join(): string {
    return this.#done.join('') + this.#piece
  }
}

function* print(value: object, depth: number, pieces: Pieces): Steps<void> {
  let before = '{'
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue
    const isLeaf = depth === 1 || typeof member !== 'object' || member === null || Array.isArray(member)
    if (pieces.add(`${before}${JSON.stringify(name)}:${isLeaf ? printJson(member) : ''}`)) yield
    if (!isLeaf) yield* print(member, depth - 1, pieces)
    before = ','
  }
  pieces.add(before === '{' ? '{}' : '}')
}
