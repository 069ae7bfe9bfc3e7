import type { Exchange } from '../exchange/exchange.ts'

/** True if a page asks for metadata or rows: objects without their values. */
export function isWithoutValues(exchange: Exchange): boolean {
  return /;\s*as=(?:PartialObjectMetadata|Table)/.test(exchange.header('accept') ?? '')
}

/** The end of the name of the annotation in which `kubectl apply` repeats an object, before its value. No other text holds it: its quotes would be escaped. */
const opening = Buffer.from('/last-applied-configuration":"')
/** The text that the console gets instead of the annotation's value. */
const withheld = Buffer.from('withheld')
const quote = 0x22
const backslash = 0x5c

/**
 * Replaces the value of the annotation of `kubectl apply` in JSON that passes in pieces. Pages ask for the metadata of Secrets, and the annotation has their
 * values.
 */
export class WithoutApplied {
  /** The end of the last piece, if the annotation may begin there. */
  #rest: Uint8Array = new Uint8Array()
  #isInValue = false
  /** The next byte of the value is escaped. */
  #isEscaped = false

  /** The part of a piece that may be passed on. */
  pass(bytes: Uint8Array): Buffer {
    const piece = Buffer.concat([this.#rest, bytes])
    this.#rest = new Uint8Array()
    const shown: Uint8Array[] = []
    for (let at = 0; at < piece.length; ) {
      if (this.#isInValue) at = this.#skipValue(piece, at)
      else {
        const found = piece.indexOf(opening, at)
        const end = found < 0 ? piece.length - beginningAtEnd(piece, at) : found + opening.length
        shown.push(piece.subarray(at, end))
        at = end
        if (found < 0) {
          this.#rest = piece.subarray(end)
          break
        }
        shown.push(withheld)
        this.#isInValue = true
      }
    }
    return Buffer.concat(shown)
  }

  /** The bytes that are left after the last piece. */
  end(): Uint8Array {
    return this.#rest
  }

  /** The place of the closing quote of the value, or the end of the piece. */
  #skipValue(piece: Uint8Array, start: number): number {
    for (let at = start; at < piece.length; at++) {
      if (this.#isEscaped) this.#isEscaped = false
      else if (piece[at] === backslash) this.#isEscaped = true
      else if (piece[at] === quote) {
        this.#isInValue = false
        return at
      }
    }
    return piece.length
  }
}

/** The length of the longest beginning of the annotation with which a piece ends. */
function beginningAtEnd(piece: Buffer, from: number): number {
  for (let length = Math.min(opening.length - 1, piece.length - from); length > 0; length--)
    if (piece.subarray(piece.length - length).equals(opening.subarray(0, length))) return length
  return 0
}
