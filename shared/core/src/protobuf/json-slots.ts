import type { Shape } from './json-plan.ts'

/** The text was not printed by this server, or has a part that only the general writer can encode. */
export class UnreadableJson extends Error {}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openObject, closeObject, openArray, closeArray] = [0x7b, 0x7d, 0x5b, 0x5d]
const [letterN, minus, digit0, digit9] = [0x6e, 0x2d, 0x30, 0x39]
/** Texts up to this length are scanned by character; a call into the runtime is faster for longer ones. */
const shortText = 64
/** Maximum depth: objects of built-in kinds are not deeper, except for passed-through values. */
const depthMax = 100
const slotsAtStart = 4_096
const slotsKeptMax = 65_536
const nothing = new Uint8Array()

/** Number of slots per record. */
const recordSlots = 5

/**
 * The positions of a message's values in its JSON, as numbers in slots. A message has one slot per name of its plan, with the number
 * of a record; 0 if the field is absent, null or empty. A record has five slots:
 *
 *   before, start, end, start and end of the key
 *
 * `before` is the record of the previous item or entry; a field refers to its last one. The start of a message is its first slot, and that of
 * null is 0. The end of a text with escapes is negative. Only map entries have a key.
 */
export class JsonSlots {
  bytes: Uint8Array = nothing
  slots = new Int32Array(slotsAtStart)
  #top = 0
  /** The first slot of the message just read, or the last record of the list or map. */
  #found = 0
  /** The next backslash after the read part, as far as it was searched. */
  #backslash = -1

  /** Releases the JSON, and slots allocated for large objects. */
  clear(): void {
    this.bytes = nothing
    if (this.slots.length > slotsKeptMax) this.slots = new Int32Array(slotsAtStart)
  }

  /** Reads a message printed by this server, without whitespace. Returns its first slot. */
  read(shape: Shape, bytes: Uint8Array): number {
    this.bytes = bytes
    this.#backslash = -1
    this.#top = 1
    if (this.#container(shape, 0, 0) !== bytes.length) throw new UnreadableJson('something follows the value')
    return this.#found
  }

  /**
   * Reads a message, a list or a map, and returns its end. Unknown fields are skipped. V8 compiles one function for all three
   * faster than several that call each other.
   */
  #container(shape: Shape, start: number, depth: number): number {
    const { bytes } = this
    const plan = shape.kind === 'message' ? shape.plan : undefined
    const close = shape.kind === 'list' ? closeArray : closeObject
    if (bytes[start] !== (shape.kind === 'list' ? openArray : openObject)) throw new UnreadableJson('an object or a list was expected')
    if (depth > depthMax) throw new UnreadableJson('the value is too deep')
    const first = plan === undefined ? 0 : this.#reserve(plan.names.length)
    if (plan !== undefined) this.slots.fill(0, first, this.#top)
    let last = 0
    let expected = 0
    let at = start + 1
    while (bytes[at] !== close || at !== start + 1) {
      let child = shape.items
      let place = 0
      let keyStart = 0
      if (plan !== undefined) {
        place = placeOf(bytes, at, plan.names, expected)
        child = plan.shapes[place]
        at = child === undefined ? this.#key(at) : at + 1 + (plan.names[place]?.length ?? 0)
        expected = child === undefined ? expected : place + 1
      } else if (shape.kind === 'map') {
        keyStart = at + 1
        at = this.#key(at)
        if (last > 0 && !isBefore(bytes, this.slots[last + 3] ?? 0, keyStart)) throw new UnreadableJson('keys are in another order')
      }
      const keyEnd = at - 2
      const isNull = bytes[at] === letterN
      if (child === undefined || (isNull && plan !== undefined)) at = this.#skip(at)
      else if (child.items !== undefined) {
        at = this.#container(child, at, depth + 1)
        this.slots[first + place] = this.#found
      } else {
        let found = isNull ? 0 : at
        let end: number
        if (child.kind === 'message' && !isNull) {
          end = this.#container(child, at, depth + 1)
          found = this.#found
        } else end = bytes[at] === quote ? this.#text(at) : this.#skip(at)
        at = Math.abs(end)
        const record = this.#reserve(recordSlots)
        const { slots } = this
        slots[record] = last
        slots[record + 1] = found
        slots[record + 2] = end
        slots[record + 3] = keyStart
        slots[record + 4] = keyEnd
        if (plan === undefined) last = record
        else slots[first + place] = record
      }
      if (bytes[at] === close) break
      if (bytes[at] !== comma) throw new UnreadableJson('a comma was expected')
      at++
    }
    this.#found = plan === undefined ? last : first
    return at + 1
  }

  /** Reads a key, and returns the start of its value. */
  #key(start: number): number {
    const end = this.bytes[start] === quote ? this.#text(start) : 0
    if (end <= 0 || this.bytes[end] !== colon) throw new UnreadableJson('a key without escapes was expected')
    return end + 1
  }

  /** The end of a text; negative if it contains escapes. */
  #text(start: number): number {
    const { bytes } = this
    let next = start + 1
    const nearEnd = Math.min(next + shortText, bytes.length)
    for (; next < nearEnd; next++) {
      const code = bytes[next]
      if (code === quote) return next + 1
      if (code === backslash) return -endOfEscaped(bytes, next)
    }
    const end = bytes.indexOf(quote, next)
    if (end < 0) throw new UnreadableJson('a text has no end')
    if (this.#backslash < next) this.#backslash = bytes.indexOf(backslash, next)
    if (this.#backslash < 0) this.#backslash = bytes.length
    return this.#backslash > end ? end + 1 : -endOfEscaped(bytes, this.#backslash)
  }

  /** The end of any value, without reading its parts. */
  #skip(start: number): number {
    const { bytes } = this
    const first = bytes[start] ?? 0
    if (first !== openObject && first !== openArray) return first === quote ? Math.abs(this.#text(start)) : endOfWord(bytes, start)
    for (let at = start, depth = 0; at < bytes.length; at++) {
      const code = bytes[at]
      if (code === quote) at = endOfEscaped(bytes, at + 1) - 1
      else if (code === openObject || code === openArray) depth++
      else if (code === closeObject || code === closeArray) {
        depth--
        if (depth === 0) return at + 1
      }
    }
    throw new UnreadableJson('a value has no end')
  }

  /** Reserves slots and returns the first. */
  #reserve(count: number): number {
    const first = this.#top
    this.#top += count
    if (this.#top > this.slots.length) {
      const slots = new Int32Array(this.#top * 2)
      slots.set(this.slots)
      this.slots = slots
    }
    return first
  }
}

/** The index of the field whose name begins at a quote; -1 if unknown. Fields are in order, so the search begins at `expected`. */
function placeOf(bytes: Uint8Array, at: number, names: readonly Uint8Array[], expected: number): number {
  if (bytes[at] !== quote) return -1
  for (let place = expected; place < names.length; place++) if (isAt(bytes, at + 1, names[place])) return place
  for (let place = 0; place < expected; place++) if (isAt(bytes, at + 1, names[place])) return place
  return -1
}

function isAt(bytes: Uint8Array, start: number, name: Uint8Array | undefined): boolean {
  if (name === undefined) return false
  for (let index = 0; index < name.length; index++) if (bytes[start + index] !== name[index]) return false
  return true
}

function endOfEscaped(bytes: Uint8Array, start: number): number {
  for (let next = start; next < bytes.length; next++) {
    if (bytes[next] === backslash) next++
    else if (bytes[next] === quote) return next + 1
  }
  throw new UnreadableJson('a text has no end')
}

/** The end of a number, true, false or null. */
function endOfWord(bytes: Uint8Array, start: number): number {
  const first = bytes[start] ?? 0
  const isNumber = first === minus || (first >= digit0 && first <= digit9)
  if (!isNumber && (first < 0x61 || first > 0x7a)) throw new UnreadableJson('a value was expected')
  let end = start + 1
  for (; end < bytes.length; end++) {
    const code = bytes[end]
    if (code === comma || code === closeObject || code === closeArray) break
  }
  return end
}

/** True if an ASCII key sorts before another; both end with a quote. */
function isBefore(bytes: Uint8Array, left: number, right: number): boolean {
  for (let index = 0; ; index++) {
    const [before = 0, after = 0] = [bytes[left + index], bytes[right + index]]
    // The final quote is not part of the key.
    if (after === quote) return false
    if (before === quote) return true
    if (before >= 0x80 || after >= 0x80) throw new UnreadableJson('keys are not ASCII')
    if (before !== after) return before < after
  }
}
