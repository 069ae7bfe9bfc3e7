import type { KindReaders } from '@orch/core/catalogue'
import {
  cannotUnmarshal,
  type DecodedJson,
  decodeJson,
  decodeScannedInSteps,
  decodeText,
  type ExactOptions,
  isJsonObject,
  parseBytes,
  scanJson,
} from '@orch/core/json'
import { badRequest, parseApiVersion, requestEntityTooLarge, timeout, unsupportedMediaType, withoutEmptyGroup } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import { parseEnvelope } from '@orch/core/protobuf'
import { decodeFailureText } from '@orch/core/schema'
import { hasBigInteger, type ParsedYaml, parseYamlBytes } from '@orch/core/yaml'
import type { BodyOutcome } from '../exchange/exchange.ts'
import { limits } from '../limits.ts'
import type { Surroundings } from '../surroundings.ts'
import { readCbor } from '../texts/read-cbor.ts'
import type { TextThread } from '../texts/text-thread.ts'
import { hasTooManyValues } from '../texts/too-many-values.ts'
import { acceptedMediaTypes, type Format, formatBesideJson } from './negotiate.ts'
import { advance, type Pace, pause } from './pace.ts'
import type { GatewayRequest } from './request.ts'

/** The dependencies of reading a body. */
export interface BodyParts extends Pick<Surroundings, 'names' | 'clock' | 'wheel'> {
  readonly pace: Pace
  /** Reads large YAML. */
  readonly texts: Pick<TextThread, 'do'>
}

/** A parsed body, in any format. */
export interface ParsedBody {
  readonly value: unknown
  /** Paths of repeated members. */
  readonly duplicates: readonly string[]
  /** `line 4: key "a" already set in map`, of a YAML text. */
  readonly repeats?: readonly string[]
  readonly hasBigIntegers: boolean
  /** True if the value has a `Numeral`, as only JSON of a built-in type may have. */
  readonly hasNumerals?: boolean
  /** The body's beginning, for the end of messages. */
  readonly summary: string
  /** The whole JSON text if some members are repeated and it is short enough to be parsed again. */
  readonly source?: () => string
}

/** The body's bytes, limited in size and in time. */
export async function readBytes(request: GatewayRequest, parts: BodyParts): Promise<Uint8Array> {
  const body = request.exchange.readBody(limits.bodyBytesMax)
  const outcome = body instanceof Promise ? await inTime(request, body, parts) : body
  switch (outcome.kind) {
    case 'body':
      request.isLarge ||= outcome.bytes.length >= limits.largeBytesMin
      request.takeBody(outcome.bytes)
      return outcome.bytes
    case 'tooLarge':
      throw requestEntityTooLarge(`Request entity too large: limit is ${limits.bodyBytesMax}`)
    case 'broken':
      throw badRequest('the body of the request was not sent to its end')
  }
}

/** The body, if it arrives before the deadline of the request. */
async function inTime(request: GatewayRequest, body: Promise<BodyOutcome>, { clock, wheel }: BodyParts): Promise<BodyOutcome> {
  const late = Promise.withResolvers<'late'>()
  const timer = wheel.after(Math.max(0, request.deadlineMs - clock.monotonic()), { due: () => late.resolve('late') })
  const outcome = await Promise.race([body, late.promise])
  timer.cancel()
  if (outcome === 'late') throw requestLate()
  return outcome
}

/** The answer to a request past its deadline. */
export function requestLate(): Error {
  return timeout('request did not complete within requested timeout - context deadline exceeded')
}

/** The expected contents of a body, with any `apiVersion` by default. */
export interface Expected {
  readonly kind: string
  readonly apiVersion?: string
  readonly readers: Pick<KindReaders, 'protobuf' | 'isUntyped'>
}

/** The body as a value, by its media type. */
export async function readBody(request: GatewayRequest, parts: BodyParts, expected: Expected): Promise<ParsedBody> {
  return parseReceived(request, await receiveBody(request, parts, expected), parts)
}

/** The parsed object that a part of this process has sent. Undefined if the bytes are stored, or are many. */
function sentBody({ exchange, storesBody }: GatewayRequest, { readers }: Expected): ParsedBody | undefined {
  const { value, announcedBytes = 0 } = exchange
  // A character has at most three bytes.
  if (!isJsonObject(value) || storesBody || readers.isUntyped || announcedBytes * 3 >= limits.largeBytesMin) return undefined
  return { value, duplicates: [], hasBigIntegers: false, summary: '' }
}

/** The format that a `Content-Type` names; a body without one is JSON. */
export function bodyFormat({ contentType, hasCbor }: Pick<GatewayRequest, 'contentType' | 'hasCbor'>, names: Names): Format | 'unknown' {
  const isJson = contentType === '' || contentType === 'application/json'
  return isJson ? 'json' : (formatBesideJson(contentType, names, hasCbor) ?? 'unknown')
}

/** The body, if its media type is known. */
export async function receiveBody(request: GatewayRequest, parts: BodyParts, expected: Expected): Promise<ReceivedBody> {
  const format = bodyFormat(request, parts.names)
  if (format === 'unknown') throw unsupportedMediaType(acceptedMediaTypes(parts.names, request))
  const body = format === 'json' ? sentBody(request, expected) : undefined
  return body === undefined ? { kind: 'bytes', bytes: await readBytes(request, parts), format, expected } : { kind: 'parsed', body }
}

/** Parses a received body, as often as needed. */
export async function parseReceived(request: GatewayRequest, received: ReceivedBody, parts: BodyParts): Promise<ParsedBody> {
  if (received.kind === 'parsed') return received.body
  const body = await parseBodyOf(request, received, parts)
  await pause(request, parts)
  return body
}

/** A body before its object is decoded. */
type ReceivedBody = { readonly kind: 'parsed'; readonly body: ParsedBody } | ReceivedBytes

/** The bytes of a body, and its expected contents. */
interface ReceivedBytes {
  readonly kind: 'bytes'
  readonly bytes: Uint8Array
  readonly format: Format
  readonly expected: Expected
}

/** Like `readBody`, for bytes already read. */
export async function parseBodyOf(request: GatewayRequest, received: ReceivedBytes, parts: BodyParts): Promise<ParsedBody> {
  const { bytes, format, expected } = received
  switch (format) {
    case 'protobuf': {
      await pause(request, parts)
      const parsed = parseProtobuf(bytes, expected, parts.names)
      if (request.isLarge && hasTooManyValues(parsed.value)) throw tooManyValues()
      return parsed
    }
    case 'yaml': {
      const summary = summarize(bytes)
      const parsed = await parseYamlBody(request, bytes, parts)
      if (parsed.kind === 'yaml') return { ...parsed, duplicates: [], summary }
      throw unrecognized(expected.kind, parsed.message, summary)
    }
    case 'cbor':
      return parseCborBody(request, received, parts)
    case 'json':
      return parseJsonBody(request, received, parts)
  }
}

async function parseCborBody(request: GatewayRequest, { bytes, expected }: ReceivedBytes, parts: BodyParts): Promise<ParsedBody> {
  const summary = summarize(bytes)
  const decoded = await decodeCborBody(request, bytes, parts, { keepsNumerals: !expected.readers.isUntyped })
  const problem = decoded.kind === 'json' ? cborProblem(decoded, 'v1.TypeMeta') : decoded.message
  if (decoded.kind === 'json' && problem === undefined) return { ...decoded, summary }
  throw unrecognized(expected.kind, `unable to determine group/version/kind: ${problem}`, summary)
}

/** The CBOR value if it is no map, or has a repeated member; undefined otherwise. */
export function cborProblem({ value, duplicates }: Extract<DecodedJson, { kind: 'json' }>, goType: string): string | undefined {
  if (duplicates.length > 0) return `cbor: found duplicate map key ${JSON.stringify(duplicates[0])}`
  if (value === null || isJsonObject(value)) return undefined
  return cannotUnmarshal(value, goType).replace(/^json/, 'cbor')
}

/** The CBOR of a body, converted to JSON. A large one is converted in the thread of texts. */
export async function decodeCborBody(
  request: GatewayRequest,
  bytes: Uint8Array,
  parts: BodyParts,
  options: ExactOptions = {},
): Promise<DecodedJson> {
  const reading = request.isLarge ? await parts.texts.do({ kind: 'readCbor', bytes }) : readCbor(bytes)
  await pause(request, parts)
  switch (reading.kind) {
    case 'bytes':
      request.audit?.takeBody('application/json', reading.bytes)
      return decodeBody(request, reading.bytes, parts, options)
    case 'malformed':
      return reading
    case 'tooManyValues':
      throw tooManyValues()
    case 'json':
    case 'value':
      throw new Error('CBOR was read as YAML')
  }
}

async function parseJsonBody(request: GatewayRequest, { bytes, expected }: ReceivedBytes, parts: BodyParts): Promise<ParsedBody> {
  const summary = summarize(bytes)
  const decoded = await decodeBody(request, bytes, parts, { keepsNumerals: !expected.readers.isUntyped })
  if (decoded.kind === 'malformed') throw malformedJson(decoded, expected, summary)
  const body = { ...decoded, summary }
  const isReread = decoded.duplicates.length > 0 && bytes.length <= limits.largeBytesMin
  return isReread ? { ...body, source: () => Buffer.from(bytes).toString() } : body
}

/** Kind and version of a text with a number that is too large are read before that number. */
function malformedJson(decoded: Extract<DecodedJson, { kind: 'malformed' }>, { kind, apiVersion }: Expected, summary: string): Error {
  const version = decoded.isNumberTooLarge === true ? parseApiVersion(apiVersion ?? '')?.version : undefined
  if (version === undefined) return unrecognized(kind, jsonProblem(decoded.message), summary)
  return badRequest(decodeFailureText(kind, version, { textWithoutPath: decoded.message }))
}

/** The YAML of a body. The library parses it at once, so a large one is parsed in a separate thread. */
export async function parseYamlBody(request: GatewayRequest, bytes: Uint8Array, parts: BodyParts): Promise<ParsedYaml> {
  if (!request.isLarge) return parseYamlBytes(bytes)
  const answer = await parts.texts.do({ kind: 'parseYaml', bytes })
  await pause(request, parts)
  switch (answer.kind) {
    case 'json':
      return { kind: 'yaml', value: parseBytes(answer.bytes), repeats: answer.repeats, hasBigIntegers: false }
    case 'value':
      return { ...answer, kind: 'yaml' }
    case 'malformed':
      return answer
    case 'tooManyValues':
      throw tooManyValues()
    case 'bytes':
      throw new Error('YAML was printed instead of read')
  }
}

/** The JSON of a body. In a large one the values are counted before it is parsed. */
export function decodeBody(
  request: GatewayRequest,
  bytes: Uint8Array,
  parts: BodyParts,
  options: ExactOptions = {},
): DecodedJson | Promise<DecodedJson> {
  if (!request.isLarge) return decodeJson(bytes, options)
  const text = decodeText(bytes)
  const scan = scanJson(text)
  if (Math.max(scan.members, scan.commas) > limits.bodyValuesMax) throw tooManyValues()
  return advance(request, decodeScannedInSteps(text, scan, options), parts)
}

function tooManyValues(): Error {
  return requestEntityTooLarge(`Request entity too large: limit is ${limits.bodyValuesMax} values`)
}

/** An object of another kind or version than expected is not parsed, as the refusal names its kind and version. */
function parseProtobuf(bytes: Uint8Array, { kind, apiVersion, readers }: Expected, names: Names): ParsedBody {
  const summary = summarize(bytes)
  const reading = parseEnvelope(bytes, names)
  if (reading.kind === 'malformed') throw unrecognized(kind, reading.message, summary)
  const { envelope } = reading
  const typeMeta = { kind: envelope.kind || kind, apiVersion: withoutEmptyGroup(envelope.apiVersion) || apiVersion }
  const body = { duplicates: [], hasBigIntegers: false, summary }
  if (typeMeta.kind !== kind || (apiVersion !== undefined && typeMeta.apiVersion !== apiVersion)) return { ...body, value: typeMeta }
  if (readers.protobuf === undefined) throw badRequest(noProtobufText(kind))
  const message = readers.protobuf.decode(envelope.raw)
  if (message.kind === 'malformed') throw unrecognized(kind, message.message, summary)
  return { ...body, value: { ...message.object, ...typeMeta }, hasBigIntegers: hasBigInteger(message.object) }
}

/** The message of kube-apiserver about an object that it reads without a type. */
function noProtobufText(kind: string): string {
  const why = 'does not implement the protobuf marshalling interface and cannot be encoded to a protobuf message'
  return `the object cannot be handled as a ${kind}: object *unstructured.Unstructured ${why}`
}

/** The answer to a body that is not an object. `why` is its error. */
export function unrecognized(expected: string, why: string, summary: string): Error {
  return badRequest(`the object provided is unrecognized (must be of type ${expected}): ${why} (${summary})`)
}

/** The error of `unrecognized` for a text whose kind cannot be read. */
export function jsonProblem(problem: string): string {
  return `couldn't get version/kind; json parse error: ${problem}`
}

const summaryLengthMax = 30

/** The beginning of a body: text if it looks like JSON, else bytes. */
function summarize(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>'
  const start = Buffer.from(bytes.subarray(0, summaryLengthMax))
  const text = start[0] === 0x7b ? start.toString() : start.toString('hex')
  return bytes.length > summaryLengthMax ? `${text} ...` : text
}
