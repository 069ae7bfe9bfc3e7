import type { ScalarNode } from '../description/node.ts'
import { printJson } from '../json/print.ts'
import { parseInstant } from '../meta/time.ts'
import { writeBase64 } from './base64.ts'
import { wireTypes } from './reader.ts'
import type { Writer } from './writer.ts'

/** Writes values of one kind of node. */
export interface ValueWriter {
  readonly wireType: number
  /** Writes a present value, with its length if it has one, without the field number. */
  readonly write: (writer: Writer, value: unknown) => void
  /** The written value of a non-pointer field without a value; undefined if nothing is written. */
  readonly zero: unknown
}

/** A tag, the field number and wire type as one number. */
export function tagOf(number: number, wireType: number): number {
  return number * 8 + wireType
}

/** Writes a value's bytes prefixed with their length. */
export function lengthPrefixed<Value>(zero: unknown, write: (writer: Writer, value: Value) => void): ValueWriter {
  return {
    wireType: wireTypes.bytes,
    zero,
    write: (target, value) => {
      const before = target.length
      // The decoder of the type has checked that the value fits the node.
      write(target, value as Value)
      target.varint(target.length - before)
    },
  }
}

function scalar<Value>(wireType: number, zero: unknown, write: (writer: Writer, value: Value) => void): ValueWriter {
  return { wireType, zero, write: (target, value) => write(target, value as Value) }
}

/** Marks an empty message. */
const nothing = Symbol('nothing')

const textTag = tagOf(1, wireTypes.bytes)
const embedded = lengthPrefixed(nothing, (target, value: unknown) => {
  if (value === nothing) return
  target.text(printJson(value))
  target.varint(textTag)
})

const instant = lengthPrefixed(nothing, (target, value: string | typeof nothing) => {
  if (value !== nothing) writeInstant(target, value)
})

/** One writer per kind of scalar. */
export const scalarWriters: Readonly<Record<ScalarNode['kind'] | 'string', ValueWriter>> = {
  string: scalar(wireTypes.bytes, '', (target, value: string) => target.text(value)),
  boolean: scalar(wireTypes.varint, false, (target, value: boolean) => target.varint(value ? 1 : 0)),
  int32: scalar(wireTypes.varint, 0, (target, value: number) => target.integer(value)),
  int64: scalar(wireTypes.varint, 0, (target, value: number | bigint) => target.integer(value)),
  double: scalar(wireTypes.fixed64, 0, (target, value: number | bigint) => target.double(Number(value))),
  bytes: scalar(wireTypes.bytes, undefined, (target, value: string | undefined) => writeBase64(target, value ?? '')),
  time: instant,
  microTime: instant,
  quantity: lengthPrefixed('0', writeQuantity),
  intOrString: lengthPrefixed(0, writeIntOrString),
  raw: embedded,
  json: embedded,
  fieldsV1: embedded,
}

const secondsTag = tagOf(1, wireTypes.varint)
const nanosecondsTag = tagOf(2, wireTypes.varint)
const wholeSecondLength = '2026-01-02T03:04:05Z'.length

function writeInstant(target: Writer, text: string): void {
  const { seconds, nanoseconds } = instantOf(text)
  writeSeconds(target, seconds, nanoseconds)
}

/** Writes the message of an instant without its length. */
export function writeSeconds(target: Writer, seconds: number, nanoseconds = 0): void {
  target.integer(nanoseconds)
  target.varint(nanosecondsTag)
  target.integer(seconds)
  target.varint(secondsTag)
}

function instantOf(text: string): { seconds: number; nanoseconds: number } {
  if (text.length === wholeSecondLength) {
    const milliseconds = Date.parse(text)
    if (!Number.isNaN(milliseconds)) return { seconds: milliseconds / 1000, nanoseconds: 0 }
  }
  const parsed = parseInstant(text)
  if (parsed === undefined) throw new TypeError(`an object to be encoded has the time ${JSON.stringify(text)}`)
  return parsed
}

function writeQuantity(target: Writer, value: string): void {
  target.text(String(value))
  target.varint(textTag)
}

const intFormTag = tagOf(1, wireTypes.varint)
const intTag = tagOf(2, wireTypes.varint)
const stringTag = tagOf(3, wireTypes.bytes)

function writeIntOrString(target: Writer, value: number | string): void {
  const isText = typeof value === 'string'
  target.text(isText ? value : '')
  endIntOrString(target, isText ? 0 : value, isText)
}

/**
 * Writes the fields before the text of an `IntOrString`. All three fields are always present: the type (0 for a number),
 * the number, and the text with its length.
 */
export function endIntOrString(target: Writer, value: number, isText: boolean): void {
  target.varint(stringTag)
  target.integer(value)
  target.varint(intTag)
  target.varint(isText ? 1 : 0)
  target.varint(intFormTag)
}
