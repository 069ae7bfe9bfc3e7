import { lazily } from '@orch/cel/memo'
import { isJsonObject, objectsIn, printJson } from '../json/index.ts'
import { StepMeter, type Steps } from '../steps.ts'
import type { Schema } from './schemas.ts'

/** Number of paths and schemas that are encoded per step. */
const partsPerStep = 100
/** Number of bytes that are written per step. */
const bytesPerStep = 512 * 1024

/**
 * Encoded fields of a message, as a text with one character per byte: texts are concatenated without copying, and converted to
 * bytes at the end. Undefined if omitted.
 */
type Part = string | undefined

/** Encodes the fields of an object. */
export type Encode = (value: Schema, meter: StepMeter) => Steps<string>

/** Encodes the value of a member as a field; with pauses if the value contains objects. */
type Form = (field: number, value: unknown, meter: StepMeter) => Part | Steps<Part>

/** The fields of a message, in the order of encoding: member → field number and form. */
type Fields = Readonly<Record<string, readonly [field: number, form: Form]>>

/** Members of one form, by field number. */
export const all = (form: Form, fields: Readonly<Record<string, number>>): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, [field, form]]))

/** Encodes the members of an object that have a field. Members that begin with `x-` become extensions in YAML, a superset of JSON. */
export function messageOf(fieldsOf: () => Fields, extensionsField?: number): Encode {
  const fields = lazily(() => Object.entries(fieldsOf()))
  return function* encode(value, meter) {
    let content = ''
    for (const [name, [field, form]] of fields()) {
      const given = value[name]
      const part = given === undefined ? undefined : form(field, given, meter)
      content += (typeof part === 'object' ? yield* part : part) ?? ''
    }
    if (extensionsField === undefined) return content
    for (const name in value) if (name.startsWith('x-')) content += delimited(extensionsField, named(name, any(2, value[name])))
    return content
  }
}

/** An object as a message. */
export const one = (encode: Encode): Form =>
  function* (field, value, meter) {
    return isJsonObject(value) ? delimited(field, yield* encode(value, meter)) : undefined
  }

/** A list of objects as messages. */
export const many = (encode: Encode): Form =>
  function* (field, values, meter) {
    let content = ''
    for (const value of objectsIn(values)) content += delimited(field, yield* encode(value, meter))
    return content
  }

/** A map as a message with a list of named values in this field. */
export const map = (itemField: number, encode: Encode): Form => one((values, meter) => namedValues(itemField, values, encode, meter))

export function* namedValues(field: number, values: Schema, encode: Encode, meter: StepMeter): Steps<string> {
  let content = ''
  for (const [name, value] of Object.entries(values)) {
    content += delimited(field, named(name, delimited(2, yield* encode(isJsonObject(value) ? value : {}, meter))))
    if (meter.isFull()) yield
  }
  return content
}

/** A message that contains the fields in another message. */
export const within = (field: number, encode: Encode): Encode =>
  function* (value, meter) {
    return delimited(field, yield* encode(value, meter))
  }

/** The message of a map without values. */
export const namesOnly: Encode = (values, meter) => namedValues(1, values, nothing, meter)

// biome-ignore lint/correctness/useYield: an empty message has no steps
function* nothing(): Steps<string> {
  return ''
}

const named = (name: string, value: string): string => (text(1, name) ?? '') + value

/** Any value, as YAML. */
export const any = (field: number, value: unknown): string => delimited(field, delimited(2, binary(`${printJson(value)}\n`)))

export const texts = (field: number, values: unknown): Part => join(values, (value) => text(field, value))

/** A list of any values. */
export const anything = (field: number, values: unknown): Part => join(values, (value) => any(field, value))

function join(values: unknown, encode: (value: unknown) => Part): Part {
  return Array.isArray(values) ? values.map((value: unknown) => encode(value) ?? '').join('') : undefined
}

const utf8 = new TextEncoder()

export function text(field: number, value: unknown): Part {
  return typeof value === 'string' && value !== '' ? delimited(field, binary(value)) : undefined
}

/** Converts a text to one character per byte; most texts need no change. */
export function binary(value: string): string {
  return /[^\0-\x7f]/.test(value) ? bytesText(utf8.encode(value)) : value
}

export function bytesText(bytes: Uint8Array): string {
  let content = ''
  for (let from = 0; from < bytes.length; from += argumentsMax) content += String.fromCharCode(...bytes.subarray(from, from + argumentsMax))
  return content
}

/** Maximum number of arguments in a call. */
const argumentsMax = 8_192

export function flag(field: number, value: unknown): Part {
  return value === true ? truth(field, value) : undefined
}

export function truth(field: number, value: boolean): string {
  return `${varint(field << 3)}${value ? '\x01' : '\0'}`
}

export function delimited(field: number, content: string): string {
  return varint((field << 3) | 2) + varint(content.length) + content
}

/** Numbers beyond 32 bits are divided, where shifts do not work. */
export function varint(value: number): string {
  let bytes = ''
  let rest = value
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes += String.fromCharCode((rest % 0x80) | 0x80)
  return bytes + String.fromCharCode(rest)
}

/** The bytes of a message, with pauses. */
export function* encodeInSteps(encode: Encode, value: Schema): Steps<Uint8Array> {
  const content = yield* encode(value, new StepMeter(partsPerStep))
  yield
  const bytes = new Uint8Array(content.length)
  for (let from = 0; from < content.length; from += bytesPerStep) {
    if (from > 0) yield
    const to = Math.min(content.length, from + bytesPerStep)
    for (let at = from; at < to; at++) bytes[at] = content.charCodeAt(at)
  }
  return bytes
}
