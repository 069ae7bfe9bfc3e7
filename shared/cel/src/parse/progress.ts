import type { Expr } from '../ast.ts'
import type { Issue } from './source.ts'

/** Tokens that are read between two pauses. */
const tokensPerStepMax = 16_000

/** Thrown where the reading of a long text pauses. */
export class Pause extends Error {}

/** A parsed piece of the text, and the state after it. */
export interface Piece {
  readonly expr: Expr
  /** The position of the token after it. */
  readonly end: number
  /** The last id that was given. */
  readonly lastId: number
  readonly issues: readonly Issue[]
}

/**
 * The parsed parts of a long text, by the position of a part's first token. After a pause the text is read from its beginning again, except
 * for these parts: so the methods that read the grammar call each other as they would without pauses.
 */
export class Progress {
  readonly pieces = new Map<number, Piece>()
  readonly #tokensPerStep: number
  #pauseAt: number

  constructor(tokensPerStep = tokensPerStepMax) {
    this.#tokensPerStep = tokensPerStep
    this.#pauseAt = tokensPerStep
  }

  /** Interrupts the reading if a piece begins after the tokens of this step. */
  pauseAfter(position: number): void {
    if (position < this.#pauseAt) return
    this.#pauseAt = position + this.#tokensPerStep
    throw new Pause()
  }
}
