import { type ByteFields, byteFieldsOf } from '@orch/core/cbor'
import { metadataOf, printPartialMetadata, rowObjectOf } from '@orch/core/events'
import { type ApiObject, badRequest, failed, type ObjectMeta } from '@orch/core/meta'
import { messageOfItem, printEnvelope } from '@orch/core/protobuf'
import { type IncludeObject, parseIncludeObject, printTable, printTableRow, type TableVersion } from '@orch/core/table'
import type { Clock } from '@orch/platform'
import { convertContents, type WebhookConversionParts } from '../conversion/by-webhook.ts'
import { isCurrent, type StoredContent, toServedBytes } from '../conversion/convert.ts'
import { limits } from '../limits.ts'
import type { Format } from '../request/negotiate.ts'
import { callContext, type GatewayRequest } from '../request/request.ts'
import type { Query } from '../request/request-info.ts'
import { commonHeaders, respondCbor, respondJson, respondValue, sendBytes } from '../request/respond.ts'
import type { Served } from '../target/target.ts'
import type { Representations } from './representation-cache.ts'
import {
  largeProtobufItemOf,
  metadataItemOf,
  protobufItemOf,
  type RepresentationParts,
  rowOf,
  servedMetadataOf,
} from './stored-representations.ts'

/** The dependencies of answering with a stored object. */
export type RespondStoredParts = RepresentationParts &
  WebhookConversionParts & {
    readonly metaVersion: string
    readonly clock: Clock
  }

/** An answer with a stored object. */
export interface StoredAnswer {
  readonly code: number
  readonly served: Served
  readonly content: StoredContent
  /** The frozen object that the bytes print; optional. */
  readonly object?: ApiObject | undefined
  /** Caches forms of the object; optional. */
  readonly representations?: Representations | undefined
}

/** Answers with one object of a resource in the accepted form and format. JSON is the stored bytes; Protobuf may be cached. */
export function respondStored(request: GatewayRequest, answer: StoredAnswer, parts: RespondStoredParts): void | Promise<void> {
  const { format, representation } = request.answer
  const { code, served, content, object, representations } = answer
  // An object without a fingerprint, such as a newly written one, has the current schema.
  const isShownAsStored = served.isStoredVersion && (content.fingerprint === undefined || isCurrent(served, content))
  const isByWebhook = served.resource.conversion !== undefined && !isShownAsStored
  if (representation.kind !== 'metadata' && isByWebhook) return respondConverted(request, answer, parts)
  switch (representation.kind) {
    case 'object':
      if (format !== 'protobuf') {
        const json = isShownAsStored ? content.value : toServedBytes(parts, served, content)
        const isValue = request.isInternal && isShownAsStored && format === 'json' && !request.isPretty
        if (isValue && object !== undefined) return respondValue(request, code, json, object)
        return format === 'cbor' ? respondCbor(request, code, json, byteFieldsIn(served)) : respondJson(request, code, json, format)
      }
      if (content.value.length >= limits.largeBytesMin) return respondLargeEnvelope(request, answer, parts)
      return respondEnvelope(request, code, { ...typeMetaOf(served), item: protobufItemOf(parts, served, content, representations) }, parts)
    case 'table':
      return respondJson(request, code, printOneRow(request, answer, representation.version, parts), textOf(format))
    case 'metadata':
      if (representation.isList) throw notOfThisKind('PartialObjectMetadataList', 'is not a list', served.resource)
      return respondMetadata(request, answer, representation.version, parts)
  }
}

/** Only metadata come from storage; the rest is the webhook's current result, and is not cached. */
async function respondConverted(
  request: GatewayRequest,
  { code, served, content }: StoredAnswer,
  parts: RespondStoredParts,
): Promise<void> {
  const [converted = content] = await convertContents(parts, served, [content], callContext(request, parts))
  await respondStored(request, { code, served: served.converted ?? served, content: converted }, parts)
}

/** The places of bytes in the objects of a resource. Those of custom kinds have none. */
export function byteFieldsIn({ resource: { readers, type } }: Served): ByteFields | undefined {
  return readers.isUntyped ? undefined : byteFieldsOf(type)
}

function typeMetaOf({ resource: { apiVersion, kind } }: Served): Pick<Envelope, 'apiVersion' | 'kind'> {
  return { apiVersion, kind }
}

/** The answer to a client that requests the form of a list for an object, or of an object for a list. It has the Go type of the requested object. */
export function notOfThisKind(kind: string, why: string, { stored, readers }: Served['resource']): Error {
  const [group = ''] = stored.type.split('/')
  const list = why === 'is a list' ? 'List' : ''
  const type = readers.isUntyped ? `unstructured.Unstructured${list}` : `${group}.${stored.kind}${list}`
  return failed(406, 'NotAcceptable', `you requested ${kind}, but the requested object ${why} (*${type})`)
}

/** `includeObject`: the part of the object in a row. */
export function includeObjectOf(query: Query): IncludeObject {
  const reading = parseIncludeObject(query.get('includeObject'))
  if (reading.kind === 'malformed') throw badRequest(reading.message)
  return reading.include
}

function respondMetadata(
  request: GatewayRequest,
  { code, served, content }: StoredAnswer,
  version: TableVersion,
  parts: RespondStoredParts,
): void | Promise<void> {
  const { format } = request.answer
  if (format !== 'protobuf') {
    return respondJson(request, code, printPartialMetadata(parts.names, version, servedMetadataOf(parts, served, content)), format)
  }
  const item = metadataItemOf(parts, served, content)
  return respondEnvelope(request, code, { apiVersion: metaVersionOf(parts, version), kind: 'PartialObjectMetadata', item }, parts)
}

/** `meta.orch.io/v1beta1`. */
export function metaVersionOf({ metaVersion }: RespondStoredParts, version: TableVersion): string {
  return `${metaVersion.slice(0, metaVersion.lastIndexOf('/'))}/${version}`
}

async function respondLargeEnvelope(
  request: GatewayRequest,
  { code, served, content, representations }: StoredAnswer,
  parts: RespondStoredParts,
): Promise<void> {
  const item = await largeProtobufItemOf(parts, served, content, representations)
  await respondEnvelope(request, code, { ...typeMetaOf(served), item }, parts)
}

interface Envelope {
  readonly apiVersion: string
  readonly kind: string
  readonly item: Uint8Array
}

function respondEnvelope(
  request: GatewayRequest,
  code: number,
  { apiVersion, kind, item }: Envelope,
  { names }: RespondStoredParts,
): void | Promise<void> {
  const bytes = printEnvelope({ apiVersion, kind, raw: messageOfItem(item) })
  return sendBytes(request, code, commonHeaders(request, names.protobufMediaType), bytes)
}

/** A Table has no Protobuf, and none is negotiated. */
function textOf(format: Format): Exclude<Format, 'protobuf'> {
  if (format === 'protobuf') throw new Error('a Table was negotiated in Protobuf')
  return format
}

function printOneRow(
  { query }: GatewayRequest,
  { served, content }: StoredAnswer,
  version: TableVersion,
  parts: RespondStoredParts,
): Uint8Array {
  const object = rowObjectOf(includeObjectOf(query), () => toServedBytes(parts, served, content))
  const row = printTableRow(parts.names, rowOf(parts, served, content), { version, nowMs: parts.clock.now(), object })
  const printer = served.resource.readers.table
  return printTable(parts.names, { version, metadata: { resourceVersion: revisionTextOf(content.value) }, printer }, [row])
}

/** The resourceVersion in the object's text; a dry run gives none. */
function revisionTextOf(object: Uint8Array): string {
  const { resourceVersion = '' }: ObjectMeta = JSON.parse(Buffer.from(metadataOf(object)).toString())
  return resourceVersion
}
