import {
  badRequest,
  decodeJson,
  decodeProtobuf,
  type Names,
  parseEnvelope,
  requestEntityTooLarge,
  timeout,
  unsupportedMediaType,
} from '@orch/core'
import { limits } from './limits.ts'
import { acceptedMediaTypes, type BodyFormat, bodyFormat } from './negotiate.ts'
import type { GatewayParts } from './parts.ts'
import type { GatewayRequest } from './request.ts'
import { hasBigInteger, parseYaml } from './yaml.ts'

/** A body that has been read, whatever its format. */
export interface ParsedBody {
  readonly value: unknown
  /** Paths of members that are there more than once. */
  readonly duplicates: readonly string[]
  readonly hasBigIntegers: boolean
  /** The body's beginning, for messages. */
  readonly text: string
}

/** The body's bytes, bounded in size and in time. */
export async function readBytes(request: GatewayRequest, { clock, wheel }: GatewayParts): Promise<Uint8Array> {
  const late = Promise.withResolvers<'late'>()
  const timer = wheel.after(Math.max(0, request.deadlineMs - clock.monotonic()), { due: () => late.resolve('late') })
  const outcome = await Promise.race([request.exchange.readBody(limits.bodyBytesMax), late.promise])
  timer.cancel()
  if (outcome === 'late') throw requestLate()
  switch (outcome.kind) {
    case 'body':
      request.audit?.takeBody(request.contentType, outcome.bytes)
      return outcome.bytes
    case 'tooLarge':
      throw requestEntityTooLarge(`Request entity too large: limit is ${limits.bodyBytesMax}`)
    case 'broken':
      throw badRequest('the body of the request was not sent to its end')
  }
}

/** The answer to a request whose time is over. */
export function requestLate(): Error {
  return timeout('request did not complete within requested timeout - context deadline exceeded')
}

/** What a body is expected to hold. `apiVersion` is left out where any will do. */
export interface Expected {
  readonly kind: string
  readonly apiVersion?: string
  /** The type that Protobuf is read as. */
  readonly type: string
}

/** The body as a value, by its media type. */
export async function readBody(request: GatewayRequest, parts: GatewayParts, expected: Expected): Promise<ParsedBody> {
  const parse = await receiveBody(request, parts, expected)
  return parse()
}

/** A body of a known media type, to be parsed as often as it is needed. */
export async function receiveBody(request: GatewayRequest, parts: GatewayParts, expected: Expected): Promise<() => ParsedBody> {
  const format = bodyFormat(request.contentType, parts.names)
  if (format === 'unknown') throw unsupportedMediaType(acceptedMediaTypes(parts.names))
  const bytes = await readBytes(request, parts)
  return () => parseBodyOf(bytes, format, expected, parts)
}

/** As `readBody`, of bytes that have been read. */
export function parseBodyOf(
  bytes: Uint8Array,
  format: Exclude<BodyFormat, 'unknown'>,
  expected: Expected,
  { names }: GatewayParts,
): ParsedBody {
  return format === 'protobuf' ? parseProtobuf(bytes, expected, names) : parseBody(bytes, format, expected.kind)
}

export function parseBody(bytes: Uint8Array, format: 'json' | 'yaml', expected: string): ParsedBody {
  const text = () => Buffer.from(bytes.subarray(0, 256)).toString()
  if (format === 'yaml') {
    const parsed = parseYaml(Buffer.from(bytes).toString())
    if (parsed.kind === 'malformed') throw unrecognized(expected, `couldn't get version/kind; yaml parse error: ${parsed.message}`)
    return { ...parsed, text: text() }
  }
  const decoded = decodeJson(bytes)
  if (decoded.kind === 'malformed') throw unrecognized(expected, `couldn't get version/kind; json parse error: ${decoded.message}`)
  return { ...decoded, text: text() }
}

/** An object of another kind or version than expected is not looked into: its kind and version are what it is refused for. */
function parseProtobuf(bytes: Uint8Array, { kind, apiVersion, type }: Expected, names: Names): ParsedBody {
  const reading = parseEnvelope(bytes, names)
  if (reading.kind === 'malformed') throw unrecognized(kind, reading.message)
  const { envelope } = reading
  const typeMeta = { kind: envelope.kind || kind, apiVersion: envelope.apiVersion || apiVersion }
  const body = { duplicates: [], hasBigIntegers: false, text: `${typeMeta.apiVersion} ${typeMeta.kind}` }
  if (typeMeta.kind !== kind || (apiVersion !== undefined && typeMeta.apiVersion !== apiVersion)) return { ...body, value: typeMeta }
  const message = decodeProtobuf(type, envelope.raw)
  if (message.kind === 'malformed') throw unrecognized(kind, message.message)
  return { ...body, value: { ...message.object, ...typeMeta }, hasBigIntegers: hasBigInteger(message.object) }
}

function unrecognized(expected: string, why: string): Error {
  return badRequest(`the object provided is unrecognized (must be of type ${expected}): ${why}`)
}
