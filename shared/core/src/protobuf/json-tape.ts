import { decodeOwnJson } from '../json/scan.ts'

/** The text is not as our printers write it, or is deeper than what is read here. */
export class UnreadableTape extends Error {}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openObject, closeObject, openArray, closeArray] = [0x7b, 0x7d, 0x5b, 0x5d]
const [letterN, letterT, minus, digit0, digit9] = [0x6e, 0x74, 0x2d, 0x30, 0x39]
/** Characters of a text that are looked at one by one before a call into the runtime is worth it. */
const shortText = 32
/** Objects of built-in kinds are not deeper, what they pass through aside. */
const depthMax = 100
const tokensAtStart = 4_096
const decoder = new TextDecoder()

/**
 * Where the values of a JSON text are, without the values. Tokens are numbered in the order in which they begin; an object's are its
 * keys and values in turn, and `next` of a token is the one behind all that is in it.
 *
 *   {"a":[1,"x"]}   0 the object, 1 "a", 2 the array, 3 1, 4 "x"   next(2) = 5
 */
export class JsonTape {
  bytes: Uint8Array = new Uint8Array()
  #starts = new Int32Array(tokensAtStart)
  #ends = new Int32Array(tokensAtStart)
  #nexts = new Int32Array(tokensAtStart)
  #isEscaped = new Uint8Array(tokensAtStart)
  #count = 0
  /** The first backslash behind what has been read, as far as it was looked for. */
  #backslash = -1

  /** Reads a text whose values our printers have written, without space between them. Token 0 is all of it. */
  read(bytes: Uint8Array): void {
    this.bytes = bytes
    this.#count = 0
    this.#backslash = -1
    if (this.#value(0, 0) !== bytes.length) throw new UnreadableTape('something follows the value')
  }

  /** Where a value begins, its quote or bracket included. */
  start(token: number): number {
    return this.#starts[token] ?? 0
  }

  /** Where a value ends, its quote or bracket included. */
  end(token: number): number {
    return this.#ends[token] ?? 0
  }

  next(token: number): number {
    return this.#nexts[token] ?? 0
  }

  isNull(token: number): boolean {
    return this.bytes[this.start(token)] === letterN
  }

  isTrue(token: number): boolean {
    return this.bytes[this.start(token)] === letterT
  }

  isArray(token: number): boolean {
    return this.bytes[this.start(token)] === openArray
  }

  isObject(token: number): boolean {
    return this.bytes[this.start(token)] === openObject
  }

  /** A text whose bytes are the characters. */
  isPlainText(token: number): boolean {
    return this.bytes[this.start(token)] === quote && this.#isEscaped[token] === 0
  }

  /** A whole number from 0 to 10^15; -1 where the value is another one. */
  smallInteger(token: number): number {
    const end = this.end(token)
    const start = this.start(token)
    if (end - start > 15) return -1
    let value = 0
    for (let at = start; at < end; at++) {
      const code = this.bytes[at] ?? 0
      if (code < digit0 || code > digit9) return -1
      value = value * 10 + code - digit0
    }
    return value
  }

  /** The value itself. */
  valueOf(token: number): unknown {
    return decodeOwnJson(decoder.decode(this.bytes.subarray(this.start(token), this.end(token)))).value
  }

  #begin(at: number): number {
    const token = this.#count++
    if (token === this.#starts.length) this.#grow()
    this.#starts[token] = at
    this.#isEscaped[token] = 0
    return token
  }

  /** Reads a value and returns where it ends. */
  #value(at: number, depth: number): number {
    const token = this.#begin(at)
    let end: number
    switch (this.bytes[at]) {
      case quote:
        end = this.#text(at, token)
        break
      case openObject:
        end = this.#members(at + 1, depth)
        break
      case openArray:
        end = this.#items(at + 1, depth)
        break
      default:
        end = this.#word(at)
    }
    this.#ends[token] = end
    this.#nexts[token] = this.#count
    return end
  }

  #members(first: number, depth: number): number {
    const { bytes } = this
    if (depth > depthMax) throw new UnreadableTape('the value is too deep')
    if (bytes[first] === closeObject) return first + 1
    for (let at = first; ; at++) {
      if (bytes[at] !== quote) throw new UnreadableTape('a key was expected')
      const key = this.#begin(at)
      const end = this.#text(at, key)
      this.#ends[key] = end
      this.#nexts[key] = this.#count
      if (bytes[end] !== colon) throw new UnreadableTape('a colon was expected')
      at = this.#value(end + 1, depth + 1)
      if (bytes[at] === closeObject) return at + 1
      if (bytes[at] !== comma) throw new UnreadableTape('a comma was expected')
    }
  }

  #items(first: number, depth: number): number {
    const { bytes } = this
    if (depth > depthMax) throw new UnreadableTape('the value is too deep')
    if (bytes[first] === closeArray) return first + 1
    for (let at = first; ; at++) {
      at = this.#value(at, depth + 1)
      if (bytes[at] === closeArray) return at + 1
      if (bytes[at] !== comma) throw new UnreadableTape('a comma was expected')
    }
  }

  #text(at: number, token: number): number {
    const { bytes } = this
    let next = at + 1
    const nearEnd = Math.min(next + shortText, bytes.length)
    for (; next < nearEnd; next++) {
      const code = bytes[next]
      if (code === quote) return next + 1
      if (code === backslash) return this.#escapedText(next, token)
    }
    const end = bytes.indexOf(quote, next)
    if (end < 0) throw new UnreadableTape('a text has no end')
    if (this.#backslash < next) this.#backslash = bytes.indexOf(backslash, next)
    if (this.#backslash < 0) this.#backslash = bytes.length
    return this.#backslash > end ? end + 1 : this.#escapedText(this.#backslash, token)
  }

  #escapedText(at: number, token: number): number {
    const { bytes } = this
    this.#isEscaped[token] = 1
    for (let next = at; next < bytes.length; next++) {
      if (bytes[next] === backslash) next++
      else if (bytes[next] === quote) return next + 1
    }
    throw new UnreadableTape('a text has no end')
  }

  /** A number, true, false or null. */
  #word(at: number): number {
    const { bytes } = this
    const first = bytes[at] ?? 0
    const isNumber = first === minus || (first >= digit0 && first <= digit9)
    if (!isNumber && (first < 0x61 || first > 0x7a)) throw new UnreadableTape('a value was expected')
    let end = at + 1
    for (; end < bytes.length; end++) {
      const code = bytes[end]
      if (code === comma || code === closeObject || code === closeArray) break
    }
    return end
  }

  #grow(): void {
    const wider = (before: Int32Array) => {
      const after = new Int32Array(before.length * 2)
      after.set(before)
      return after
    }
    this.#starts = wider(this.#starts)
    this.#ends = wider(this.#ends)
    this.#nexts = wider(this.#nexts)
    const isEscaped = new Uint8Array(this.#isEscaped.length * 2)
    isEscaped.set(this.#isEscaped)
    this.#isEscaped = isEscaped
  }
}
