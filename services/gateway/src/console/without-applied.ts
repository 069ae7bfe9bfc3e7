/** True if a page accepts metadata or rows: objects without their values. */
export function isWithoutValues(accept: string): boolean {
  return /;\s*as=(?:PartialObjectMetadata|Table)/.test(accept)
}

/**
 * The end of the key of the annotation in which `kubectl apply` repeats an object, up to its value. No other string contains it, as its quotes would be
 * escaped.
 */
const opening = Buffer.from('/last-applied-configuration":"')
/** The text that the console gets instead of the annotation's value. */
const withheld = Buffer.from('withheld')
const quote = 0x22
const backslash = 0x5c

/**
 * Replaces the value of the annotation of `kubectl apply` in JSON that arrives in pieces. Pages request the metadata of Secrets, and the annotation
 * contains their values.
 */
export class WithoutApplied {
  /** The end of the last piece, if the annotation may start there. */
  #rest: Uint8Array = new Uint8Array()
  #isInValue = false
  /** True if the next byte of the value is escaped. */
  #isEscaped = false

  /** The part of a piece that may be forwarded. */
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

  /** The remaining bytes after the last piece. */
  end(): Uint8Array {
    return this.#rest
  }

  /** The position of the closing quote of the value, or the end of the piece. */
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

/** The length of the longest prefix of the annotation at the end of a piece. */
function beginningAtEnd(piece: Buffer, from: number): number {
  for (let length = Math.min(opening.length - 1, piece.length - from); length > 0; length--)
    if (piece.subarray(piece.length - length).equals(opening.subarray(0, length))) return length
  return 0
}
