import type { ScalarNode } from '../description/node.ts'
import { decodeJson } from '../json/scan.ts'
import { printMicroTime, printTime } from '../meta/time.ts'
import { printBase64 } from './base64.ts'
import { type FieldReaders, fillFrom, singleField, type Target, type ValueReader } from './field-reader.ts'
import { MalformedProtobuf, type Reader, wireTypes } from './reader.ts'

function scalar(wireType: number, zero: unknown, read: (reader: Reader) => unknown): ValueReader {
  return { wireType, zero: () => zero, read }
}

/** A message with a value in field 1. */
function boxed(zero: unknown, read: (reader: Reader) => unknown): ValueReader {
  const fields = new Map([[1, singleField('value', wireTypes.bytes, read)]])
  return scalar(wireTypes.bytes, zero, (reader) => {
    const target: Target = {}
    reader.message(() => fillFrom(fields, reader, target))
    return target['value'] ?? zero
  })
}

const embedded = boxed(null, (reader) => parseEmbeddedJson(reader.bytes()))

/** One reader per kind of scalar. */
export const scalarReaders: Readonly<Record<ScalarNode['kind'] | 'string', ValueReader>> = {
  string: scalar(wireTypes.bytes, '', (reader) => reader.text()),
  boolean: scalar(wireTypes.varint, false, (reader) => reader.boolean()),
  int32: scalar(wireTypes.varint, 0, (reader) => reader.int32()),
  int64: scalar(wireTypes.varint, 0, (reader) => reader.int64()),
  double: scalar(wireTypes.fixed64, 0, readDouble),
  bytes: scalar(wireTypes.bytes, '', (reader) => printBase64(reader.bytes())),
  time: scalar(wireTypes.bytes, null, (reader) => readInstant(reader, printTime)),
  microTime: scalar(wireTypes.bytes, null, (reader) => readInstant(reader, printMicroTime)),
  quantity: boxed('0', (reader) => reader.text()),
  intOrString: scalar(wireTypes.bytes, 0, readIntOrString),
  raw: embedded,
  json: embedded,
  fieldsV1: embedded,
}

/** Infinity and NaN have no JSON form. */
function readDouble(reader: Reader): number {
  const value = reader.double()
  if (!Number.isFinite(value)) throw new MalformedProtobuf('a number is not finite')
  return value
}

const instantFields: FieldReaders = new Map([
  [1, singleField('seconds', wireTypes.varint, (reader) => reader.int64())],
  [2, singleField('nanos', wireTypes.varint, (reader) => reader.int32())],
])

/** The range of seconds in years with four digits. */
const secondsMin = Date.parse('0000-01-01T00:00:00Z') / 1000
const secondsMax = Date.parse('9999-12-31T23:59:59Z') / 1000

/** An empty message is an absent time. */
function readInstant(reader: Reader, print: typeof printTime): string | null {
  const parts: Target = {}
  reader.message(() => fillFrom(instantFields, reader, parts))
  const { seconds, nanos: nanoseconds } = parts
  if (seconds === undefined && nanoseconds === undefined) return null
  const instant = { seconds: Number(seconds ?? 0), nanoseconds: Number(nanoseconds ?? 0) }
  const isTime = instant.seconds >= secondsMin && instant.seconds <= secondsMax && instant.nanoseconds >= 0 && instant.nanoseconds < 1e9
  if (!isTime) throw new MalformedProtobuf(`no time has ${seconds} seconds and ${nanoseconds} nanoseconds`)
  return print(instant)
}

const intOrStringFields: FieldReaders = new Map([
  [1, singleField('type', wireTypes.varint, (reader) => reader.int64())],
  [2, singleField('intVal', wireTypes.varint, (reader) => reader.int32())],
  [3, singleField('strVal', wireTypes.bytes, (reader) => reader.text())],
])

function readIntOrString(reader: Reader): unknown {
  const parts: Target = {}
  reader.message(() => fillFrom(intOrStringFields, reader, parts))
  const { type = 0, intVal = 0, strVal = '' } = parts
  if (type !== 0 && type !== 1) throw new MalformedProtobuf(`a value that is a number or a text has the type ${String(type)}`)
  return type === 0 ? intVal : strVal
}

/** Parses JSON in a field of a message; an empty text is null. */
function parseEmbeddedJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return null
  const decoded = decodeJson(bytes)
  switch (decoded.kind) {
    case 'json':
      return decoded.value
    case 'malformed':
      throw new MalformedProtobuf(`a value that is passed through is not JSON: ${decoded.message}`)
  }
}
