import { decodeOwnJson } from '../json/scan.ts'
import { resolveStruct } from '../schema/resolve.ts'
import { messageShape, type Shape, type Step } from './json-plan.ts'
import { JsonSlots, UnreadableJson } from './json-slots.ts'
import { writeMessage } from './message-writer.ts'
import { wireTypes } from './reader.ts'
import { endIntOrString, tagOf, writeSeconds } from './scalar-writer.ts'
import type { Writer } from './writer.ts'

const decoder = new TextDecoder()
const keyTag = tagOf(1, wireTypes.bytes)
/** The tag of a text that is the only field of a message. */
const textTag = tagOf(1, wireTypes.bytes)
const [quote, letterT, letterZ, digit0, digit9] = [0x22, 0x74, 0x5a, 0x30, 0x39]

/** Encodes messages from the JSON of objects. */
export class JsonMessages {
  readonly #target: Writer
  readonly #found = new JsonSlots()

  constructor(target: Writer) {
    this.#target = target
  }

  /** Encodes an object from its JSON, almost always without parsing it. */
  write(type: string, json: Uint8Array): void {
    if (!this.copy(type, json)) writeMessage(type, this.#target, objectOf(json))
  }

  /**
   * Encodes an object from its JSON, with the same result as `writeMessage`: texts are copied and never become strings. The JSON must come from this server's printers, of an object that its type's decoder has read. False if the JSON has something that only
   * `writeMessage` can encode, such as keys beyond ASCII; then nothing was written.
   */
  copy(type: string, json: Uint8Array): boolean {
    const before = this.#target.length
    const shape = messageShape(resolveStruct(type))
    try {
      this.#writeFields(shape.plan.steps, this.#found.read(shape, json))
      return true
    } catch (error) {
      if (!(error instanceof UnreadableJson)) throw error
      this.#target.back(before)
      return false
    } finally {
      this.#found.clear()
    }
  }

  #writeFields(steps: readonly Step[], first: number): void {
    const target = this.#target
    const { slots } = this.#found
    for (const { place, shape, tag, substitute, valueTag, group } of steps) {
      const before = target.length
      if (group !== undefined) {
        this.#writeFields(group, first)
        target.varint(target.length - before)
        target.varint(tag)
        continue
      }
      let record = slots[first + place] ?? 0
      if (record === 0) target.copy(substitute, 0, substitute.length)
      for (; record !== 0; record = slots[record] ?? 0) {
        const end = target.length
        const start = slots[record + 1] ?? 0
        const value = shape.items ?? shape
        if (value.kind === 'message' && start !== 0) {
          this.#writeFields(value.plan.steps, start)
          target.varint(target.length - end)
        } else this.#writeValue(value, start, slots[record + 2] ?? 0)
        if (shape.kind === 'map') {
          target.varint(valueTag)
          this.#writeText(slots[record + 3] ?? 0, slots[record + 4] ?? 0)
          target.varint(keyTag)
          target.varint(target.length - end)
        }
        target.varint(tag)
      }
    }
  }

  /** Writes a value without inner values. Null, which lists and maps may contain, becomes the zero value of its type. */
  #writeValue(shape: Shape, start: number, end: number): void {
    if (start === 0) shape.byValue.write(this.#target, shape.byValue.zero)
    else if (!this.#writeScalar(shape, start, end)) {
      const json = decoder.decode(this.#found.bytes.subarray(start, Math.abs(end)))
      shape.byValue.write(this.#target, decodeOwnJson(json).value)
    }
  }

  /** False if the value must be parsed. */
  #writeScalar({ kind }: Shape, start: number, end: number): boolean {
    const target = this.#target
    const { bytes } = this.#found
    const before = target.length
    const isText = bytes[start] === quote
    if (kind === 'embedded') {
      // JSON that is passed through is a separate message.
      this.#writeText(start, Math.abs(end))
      target.varint(textTag)
      target.varint(target.length - before)
      return true
    }
    if (end < 0) return false
    switch (kind) {
      case 'text':
        this.#writeText(start + 1, end - 1)
        return true
      case 'boolean':
        target.varint(bytes[start] === letterT ? 1 : 0)
        return true
      case 'integer': {
        const value = smallInteger(bytes, start, end)
        if (value < 0) return false
        target.varint(value)
        return true
      }
      case 'time': {
        const seconds = secondsOf(bytes, start, end)
        if (seconds < 0) return false
        writeSeconds(target, seconds)
        break
      }
      case 'quantity':
        if (!isText) return false
        this.#writeText(start + 1, end - 1)
        target.varint(textTag)
        break
      case 'intOrString': {
        const value = isText ? 0 : smallInteger(bytes, start, end)
        if (value < 0) return false
        if (isText) this.#writeText(start + 1, end - 1)
        else target.varint(0)
        endIntOrString(target, value, isText)
        break
      }
      default:
        return false
    }
    target.varint(target.length - before)
    return true
  }

  /** Writes bytes prefixed with their length. */
  #writeText(start: number, end: number): void {
    this.#target.copy(this.#found.bytes, start, end)
    this.#target.varint(end - start)
  }
}

function objectOf(json: Uint8Array): object {
  const { value } = decodeOwnJson(json)
  if (typeof value !== 'object' || value === null) throw new TypeError('a stored value is no object')
  return value
}

/** A whole number from 0 to 10^15; -1 for other values. */
function smallInteger(bytes: Uint8Array, start: number, end: number): number {
  if (end - start > 15) return -1
  return digitsAt(bytes, start, end)
}

/** The number of decimal digits; -1 for anything else. */
function digitsAt(bytes: Uint8Array, start: number, end: number): number {
  let value = 0
  for (let at = start; at < end; at++) {
    const code = bytes[at] ?? 0
    if (code < digit0 || code > digit9) return -1
    value = value * 10 + code - digit0
  }
  return value
}

const timeLength = '"2026-01-02T03:04:05Z"'.length
/** Days from 1 March, where the year begins here, to the first of each month. */
const daysFromMarch = Uint16Array.of(306, 337, 0, 31, 61, 92, 122, 153, 184, 214, 245, 275)
/** Days from 1 March of year 0 to 1970. */
const daysTo1970 = 719_468

/** The seconds since 1970 of a time in whole seconds; -1 for other values. */
function secondsOf(bytes: Uint8Array, start: number, end: number): number {
  if (end - start !== timeLength || bytes[end - 2] !== letterZ) return -1
  const partAt = (offset: number) => digitsAt(bytes, start + offset, start + offset + 2)
  const [century, yearOfCentury, month, day] = [partAt(1), partAt(3), partAt(6), partAt(9)]
  const [hour, minute, second] = [partAt(12), partAt(15), partAt(18)]
  if ((century | yearOfCentury | month | day | hour | minute | second) < 0) return -1
  const year = century * 100 + yearOfCentury - (month < 3 ? 1 : 0)
  const leapDays = Math.floor(year / 4) - Math.floor(year / 100) + Math.floor(year / 400)
  const days = year * 365 + leapDays + (daysFromMarch[month - 1] ?? 0) + day - 1 - daysTo1970
  return ((days * 24 + hour) * 60 + minute) * 60 + second
}
