import { gzip } from 'node:zlib'
import type { Catalogue } from '@orch/core/catalogue'
import { type ByteFields, jsonToCbor } from '@orch/core/cbor'
import { readOurJson } from '@orch/core/events'
import { printJson } from '@orch/core/json'
import { failed, internal, type Status, type StatusDetails, StatusError } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import { printMetaProtobuf, printStatusProtobuf } from '@orch/core/protobuf'
import { printYaml } from '@orch/core/yaml'
import { type HeaderFields, headerText, mediaTypeOf } from '../exchange/exchange.ts'
import { limits } from '../limits.ts'
import type { TextJob } from '../texts/jobs.ts'
import { prettyJson } from '../texts/pretty-json.ts'
import { printCbor } from '../texts/print-cbor.ts'
import type { TextThread } from '../texts/text-thread.ts'
import type { Format } from './negotiate.ts'
import type { GatewayRequest } from './request.ts'

/** The dependencies of an answer. */
export interface RespondParts {
  readonly names: Names
}

/** An answer other than a Status: plain text with a code. */
export class PlainRefusal extends Error {
  readonly code: number
  readonly headers: HeaderFields

  constructor(code: number, text: string, headers: HeaderFields = {}) {
    super(text)
    this.code = code
    this.headers = headers
  }
}

/** A fault of a test ended the connection of a request without an answer. */
export class CutOff extends Error {}

/** A failure of a remote group version, which is not a failure of this server. */
export class OtherServerFailure extends PlainRefusal {}

/** The server of a group version cannot be reached. */
export class UnreachedServer extends OtherServerFailure {
  constructor(text: string) {
    super(503, text)
  }
}

/** The plain text of a 404. */
export function pageNotFound(): PlainRefusal {
  return new PlainRefusal(404, '404 page not found\n')
}

/** A 404 for an unserved path: a Status below a group of built-in kinds, otherwise plain text. */
export function nothingAt(path: string, { catalogue }: { readonly catalogue: Catalogue }): Error {
  const [, root, group = ''] = path.split('/')
  const isBelowGroup = root === 'api' || (root === 'apis' && hasBuiltInKinds(catalogue, group))
  return isBelowGroup ? failed(404, 'NotFound', 'the server could not find the requested resource', { details: {} }) : pageNotFound()
}

function hasBuiltInKinds(catalogue: Catalogue, name: string): boolean {
  const versions = catalogue.group(name)?.versions ?? []
  return versions.some((version) => catalogue.inGroupVersion(name, version).some(({ definedBy }) => definedBy === undefined))
}

/** A request beyond the capacity. */
export function tooManyRequests(): PlainRefusal {
  return new PlainRefusal(429, 'Too many requests, please try again later.', { 'retry-after': String(limits.retryAfterSeconds) })
}

/** Header fields that every answer has. */
export function commonHeaders(request: GatewayRequest, contentType: string): HeaderFields {
  const headers: HeaderFields = { 'audit-id': request.auditId, 'cache-control': 'no-cache, private', 'content-type': contentType }
  if (request.browserHeaders !== undefined) Object.assign(headers, request.browserHeaders)
  if (request.flowHeaders !== undefined) Object.assign(headers, request.flowHeaders)
  if (request.explanation?.isShown === true) headers[request.explanation.header] = request.explanation.print()
  if (request.warnings !== undefined) headers.warning = request.warnings.texts.map((text) => `299 - ${quoted(text)}`)
  return headers
}

/** Answers with an object whose JSON exists. Usually the bytes are sent unchanged. */
export function respondJson(
  request: GatewayRequest,
  code: number,
  json: Uint8Array,
  format: TextFormat = textFormat(request.plainFormat),
): void | Promise<void> {
  return sendRepresentation(request, code, representJson(request, json, format))
}

/** Answers with CBOR. `fields` are the byte fields of the object. */
export function respondCbor(request: GatewayRequest, code: number, json: Uint8Array, fields?: ByteFields): void | Promise<void> {
  request.audit?.takeAnswer('application/json', json)
  return sendRepresentation(request, code, representCbor(request, json, fields))
}

/** Formats that are made from JSON text. */
export type TextFormat = Exclude<Format, 'protobuf'>

/** The format for an object without Protobuf. */
export function textFormat(format: Format): TextFormat {
  return format === 'protobuf' ? 'json' : format
}

/** A body and its media type. */
interface PrintedBody {
  readonly contentType: string
  readonly bytes: Uint8Array
}

function sendRepresentation(request: GatewayRequest, code: number, made: PrintedBody | Promise<PrintedBody>): void | Promise<void> {
  if (made instanceof Promise) return made.then((one) => sendRepresentation(request, code, one))
  return sendBytes(request, code, commonHeaders(request, made.contentType), made.bytes)
}

function representJson(request: GatewayRequest, json: Uint8Array, format: TextFormat): PrintedBody | Promise<PrintedBody> {
  request.audit?.takeAnswer('application/json', json)
  if (format === 'yaml') return representYaml(request, json)
  if (format === 'cbor') return representCbor(request, json)
  if (!request.isPretty) return { contentType: 'application/json', bytes: json }
  if (json.length >= limits.prettyBytesMin && request.texts !== undefined) {
    return representInThread(request.texts, { kind: 'prettyJson', bytes: json }, 'application/json')
  }
  const text = prettyJson(Buffer.from(json.buffer, json.byteOffset, json.length).toString())
  return { contentType: 'application/json', bytes: Buffer.from(text) }
}

function representYaml(request: GatewayRequest, json: Uint8Array): PrintedBody | Promise<PrintedBody> {
  if (json.length >= limits.largeBytesMin && request.texts !== undefined) {
    return representInThread(request.texts, { kind: 'printYaml', bytes: json }, 'application/yaml')
  }
  return { contentType: 'application/yaml', bytes: Buffer.from(printYaml(readOurJson(json))) }
}

function representCbor(request: GatewayRequest, json: Uint8Array, fields?: ByteFields): PrintedBody | Promise<PrintedBody> {
  const made = printCbor(request.texts, json, fields)
  const represent = (bytes: Uint8Array): PrintedBody => ({ contentType: 'application/cbor', bytes })
  return made instanceof Promise ? made.then(represent) : represent(made)
}

async function representInThread(texts: TextThread, job: TextJob, contentType: string): Promise<PrintedBody> {
  const made = await texts.do(job)
  if (made.kind !== 'bytes') throw new Error('no text has been printed')
  return { contentType, bytes: made.bytes }
}

/** Answers with a newly created object that has no resource. */
export function respondObject(request: GatewayRequest, code: number, object: object, parts: RespondParts): void | Promise<void> {
  return sendRepresentation(request, code, representObject(request, object, parts))
}

/** An object without a resource in the accepted format. Kinds of the meta group have a Protobuf form. */
export function representObject(request: GatewayRequest, object: object, { names }: RespondParts): PrintedBody | Promise<PrintedBody> {
  const bytes = request.plainFormat === 'protobuf' ? printMetaProtobuf(object) : undefined
  if (bytes !== undefined) return { contentType: names.protobufMediaType, bytes }
  return representJson(request, Buffer.from(printJson(object)), textFormat(request.plainFormat))
}

/** A printed document in the accepted format. */
export function representPrinted(request: GatewayRequest, json: Uint8Array): PrintedBody | Promise<PrintedBody> {
  return representJson(request, json, textFormat(request.plainFormat))
}

/** Answers with the Status of a success, without a code. */
export function respondSuccess(request: GatewayRequest, details: StatusDetails, parts: RespondParts): void | Promise<void> {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details } as const
  request.audit?.takeStatus(status, false)
  return respondObject(request, 200, status, parts)
}

/** Answers a request that failed with any error. An answer that has begun is aborted. */
export function respondError(request: GatewayRequest, error: unknown, { protobufMediaType }: Names): void | Promise<void> {
  if (error instanceof PlainRefusal) {
    const headers = { ...commonHeaders(request, 'text/plain; charset=utf-8'), 'x-content-type-options': 'nosniff', ...error.headers }
    return send(request, error.code, headers, error.message)
  }
  const { status } = error instanceof StatusError ? error : internal('the server has failed', { cause: error })
  request.audit?.takeStatus(status, !(error instanceof StatusError))
  const retryAfter = status.details?.retryAfterSeconds
  const format = request.plainFormat
  const headers = commonHeaders(request, format === 'protobuf' ? protobufMediaType : `application/${format}`)
  if (retryAfter !== undefined && retryAfter > 0) headers['retry-after'] = String(retryAfter)
  if (request.allowedMethods !== undefined) headers.allow = request.allowedMethods.join(', ')
  send(request, status.code, headers, printStatus(request, status, format))
}

function printStatus(request: GatewayRequest, status: Status, format: Format): Uint8Array | string {
  switch (format) {
    case 'protobuf':
      return printStatusProtobuf(status)
    case 'yaml':
      return printYaml(status)
    case 'cbor':
      return jsonToCbor(Buffer.from(JSON.stringify(status)))
    case 'json':
      return `${request.isPretty ? prettyJson(JSON.stringify(status)) : JSON.stringify(status)}\n`
  }
}

/** Sends a complete body, compressed if that is efficient. JSON ends with a newline. */
export function sendBytes(request: GatewayRequest, code: number, headers: HeaderFields, content: Uint8Array): void | Promise<void> {
  const mediaType = mediaTypeOf(headerText(headers['content-type']) ?? '')
  request.audit?.takeAnswer(mediaType, content)
  const body = mediaType.endsWith('json') ? withNewline(content) : content
  if (body.length < limits.gzipBytesMin || !acceptsGzip(request)) return send(request, code, headers, body)
  return new Promise((resolve, reject) => {
    gzip(body, { level: 1 }, (error, packed) => {
      if (error !== null) return reject(error)
      send(request, code, { ...headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' }, packed)
      resolve()
    })
  })
}

const newline = 0x0a

function withNewline(text: Uint8Array): Uint8Array {
  if (text[text.length - 1] === newline) return text
  const line = Buffer.allocUnsafe(text.length + 1)
  line.set(text)
  line[text.length] = newline
  return line
}

/** Answers a part of this process with an object, frozen, beside its JSON. */
export function respondValue(request: GatewayRequest, code: number, json: Uint8Array, value: object): void {
  request.audit?.takeAnswer('application/json', json)
  const body = withNewline(json)
  request.code = code
  request.sentBytes = body.length
  request.exchange.send(code, commonHeaders(request, 'application/json'), body, value)
}

/** Sends a body unchanged. */
export function send(request: GatewayRequest, code: number, headers: HeaderFields, body: Uint8Array | string): void {
  request.code = code
  request.sentBytes = body.length
  request.exchange.send(code, headers, body)
}

export function acceptsGzip(request: GatewayRequest): boolean {
  const accepted = request.exchange.header('accept-encoding')
  return accepted?.split(',').some((part) => /^\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/.test(part)) === true
}

/** A text for a header: without control characters, in UTF-8. */
function quoted(text: string): string {
  const line = text.replace(/[\\"]/g, '\\$&').replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ')
  return `"${Buffer.from(line).toString('latin1')}"`
}
