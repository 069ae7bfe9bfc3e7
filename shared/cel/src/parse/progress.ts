import type { Expr } from '../ast.ts'
import type { Issue } from './source.ts'

/** Tokens that are read between two pauses. */
const tokensPerStepMax = 16_000

/** Thrown to pause the reading of a long text. */
export class Pause extends Error {}

/** A parsed piece of the text, and the state after it. */
export interface Piece {
  readonly expr: Expr
  /** The position of the token after the piece. */
  readonly end: number
  /** The last assigned id. */
  readonly lastId: number
  readonly issues: readonly Issue[]
}

/**
 * The parsed parts of a long text, by the position of a part's first token. After a pause the text is read again from its beginning, and
 * these parts are skipped. So the methods of the parser call each other as if there were no pauses.
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
