const newline = 0x0a
const lengthBytes = 4

/** A fragment of a message, or all of it. */
export interface Fragment {
  readonly bytes: Buffer
  readonly isLast: boolean
}

/**
 * Divides a stream of events into messages, one for each event. An event in several pieces is a message of as many fragments.
 *
 *   '{"a":1}\n{"b"'  ':2}\n'   → message '{"a":1}\n', fragments '{"b"' and ':2}\n'
 */
export class EventMessages {
  readonly #isText: boolean
  /** The received part of the length prefix of an event in Protobuf. */
  #length = Buffer.alloc(0)
  /** Bytes of the event that have not arrived. */
  #left = 0

  /** Events in JSON end with their lines; events in Protobuf begin with their lengths, which are not sent. */
  constructor(isText: boolean) {
    this.#isText = isText
  }

  fragmentsIn(bytes: Buffer): Generator<Fragment, void, undefined> {
    return this.#isText ? linesIn(bytes) : this.#delimitedIn(bytes)
  }

  *#delimitedIn(bytes: Buffer): Generator<Fragment, void, undefined> {
    for (let start = 0; start < bytes.length; ) {
      if (this.#left === 0) {
        const end = Math.min(bytes.length, start + lengthBytes - this.#length.length)
        this.#length = Buffer.concat([this.#length, bytes.subarray(start, end)])
        start = end
        if (this.#length.length < lengthBytes) return
        this.#left = this.#length.readUInt32BE()
        this.#length = Buffer.alloc(0)
        continue
      }
      const part = bytes.subarray(start, start + this.#left)
      this.#left -= part.length
      start += part.length
      yield { bytes: part, isLast: this.#left === 0 }
    }
  }
}

function* linesIn(bytes: Buffer): Generator<Fragment, void, undefined> {
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(newline, start) + 1
    yield end === 0 ? { bytes: bytes.subarray(start), isLast: false } : { bytes: bytes.subarray(start, end), isLast: true }
    start = end === 0 ? bytes.length : end
  }
}
