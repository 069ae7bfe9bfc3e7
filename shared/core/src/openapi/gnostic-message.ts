import { isJsonObject } from '../json/member.ts'
import { printJson } from '../json/print.ts'
import type { StepMeter, Steps } from '../steps.ts'
import type { Schema } from './schemas.ts'

/** Number of paths and schemas that are encoded per step. */
export const partsPerStep = 100
/** Number of bytes that are written per step. */
const bytesPerStep = 512 * 1024

/** The object in a member of a part. */
export function schemaAt(part: Schema, name: string): Schema | undefined {
  const value = part[name]
  return isJsonObject(value) ? value : undefined
}

/**
 * Encoded fields of a message, as a text with one character per byte: texts are concatenated without copying, and converted to
 * bytes at the end. Undefined if omitted.
 */
export type Part = string | undefined

/** Encodes the message of a member. */
export type Encode = (value: Schema, meter: StepMeter) => Steps<string>

export function* namedInSteps(field: number, values: Schema, encode: Encode, meter: StepMeter): Steps<Part[]> {
  const parts: Part[] = []
  for (const [name, value] of Object.entries(values)) {
    parts.push(namedValue(field, name, yield* encode(isJsonObject(value) ? value : {}, meter)))
    if (meter.isFull()) yield
  }
  return parts
}

export function namedValue(field: number, name: string, value: string): string {
  return nested(field, [text(1, name), delimited(2, value)])
}

export function extensions(field: number, source: Schema): Part[] {
  const members = Object.entries(source).filter(([name]) => name.startsWith('x-'))
  return members.map(([name, value]) => nested(field, [text(1, name), nested(2, anyMessage(value))]))
}

export function anyMessage(value: unknown): Part[] {
  return [text(2, `${printJson(value)}\n`)]
}

export function texts(field: number, values: unknown): Part[] {
  return Array.isArray(values) ? values.map((value: unknown) => text(field, value)) : []
}

const utf8 = new TextEncoder()

export function text(field: number, value: unknown): Part {
  return typeof value === 'string' && value !== '' ? delimited(field, binary(value)) : undefined
}

/** Converts a text to one character per byte; most texts need no change. */
export function binary(value: string): string {
  if (!/[^\0-\x7f]/.test(value)) return value
  const bytes = utf8.encode(value)
  let content = ''
  for (let from = 0; from < bytes.length; from += argumentsMax) content += String.fromCharCode(...bytes.subarray(from, from + argumentsMax))
  return content
}

/** Maximum number of arguments in a call. */
const argumentsMax = 8_192

export function flag(field: number, value: unknown): Part {
  return value === true ? `${varint(field << 3)}\x01` : undefined
}

export function nested(field: number, parts: readonly Part[]): string {
  return delimited(field, message(parts))
}

export function message(parts: readonly Part[]): string {
  let content = ''
  for (const part of parts) if (part !== undefined) content += part
  return content
}

export function delimited(field: number, content: string): string {
  return varint((field << 3) | 2) + varint(content.length) + content
}

export function varint(value: number): string {
  let bytes = ''
  let rest = value
  for (; rest > 0x7f; rest >>>= 7) bytes += String.fromCharCode((rest & 0x7f) | 0x80)
  return bytes + String.fromCharCode(rest)
}

export function* bytesInSteps(content: string): Steps<Uint8Array> {
  const bytes = new Uint8Array(content.length)
  for (let from = 0; from < content.length; from += bytesPerStep) {
    if (from > 0) yield
    const to = Math.min(content.length, from + bytesPerStep)
    for (let at = from; at < to; at++) bytes[at] = content.charCodeAt(at)
  }
  return bytes
}
