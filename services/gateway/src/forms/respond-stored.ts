import { metadataOf, printPartialMetadata, rowObjectOf } from '@orch/core/events'
import { badRequest, failed } from '@orch/core/meta'
import { messageOfItem, printEnvelope } from '@orch/core/protobuf'
import { type IncludeObject, parseIncludeObject, printTable, printTableRow, type TableVersion } from '@orch/core/table'
import type { Clock } from '@orch/platform'
import { toServedBytes } from '../convert.ts'
import { limits } from '../limits.ts'
import type { Format } from '../negotiate.ts'
import type { Query } from '../query.ts'
import type { GatewayRequest } from '../request.ts'
import { commonHeaders, respondJson, sendBytes } from '../respond.ts'
import type { Served } from '../served.ts'
import type { Forms } from './form-cache.ts'
import {
  type FormParts,
  largeProtobufItemOf,
  metadataItemOf,
  protobufItemOf,
  rowOf,
  type StoredContent,
  servedMetadataOf,
} from './stored-forms.ts'

/** What answering with a stored object needs. */
export type RespondStoredParts = FormParts & {
  readonly metaVersion: string
  readonly clock: Clock
}

/** Answers with one object of a resource in the form and format that the client accepts. JSON leaves as it is stored; Protobuf may be kept. */
export function respondStored(
  request: GatewayRequest,
  code: number,
  served: Served,
  content: StoredContent,
  parts: RespondStoredParts,
  forms?: Forms,
): void | Promise<void> {
  const { format, form } = request.answer
  switch (form.kind) {
    case 'object':
      if (format !== 'protobuf') return respondJson(request, code, toServedBytes(parts, served, content.value), format)
      if (content.value.length >= limits.largeBytesMin) return respondLargeEnvelope(request, code, served, content, parts, forms)
      return respondEnvelope(request, code, served.resource, protobufItemOf(parts, served, content, forms), parts)
    case 'table':
      return respondJson(request, code, printOneRow(request, served, content, form.version, parts), textOf(format))
    case 'metadata':
      if (form.isList) throw notOfThisForm('PartialObjectMetadataList', 'is not a list')
      return respondMetadata(request, code, served, content, form.version, parts)
  }
}

/** The answer to a client that asks for a list's form of an object, or the other way round. */
export function notOfThisForm(kind: string, why: string): Error {
  return failed(406, 'NotAcceptable', `you requested ${kind}, but the requested object ${why}`)
}

/** `includeObject`: what rows carry of their objects. */
export function includeObjectOf(query: Query): IncludeObject {
  const reading = parseIncludeObject(query.get('includeObject'))
  if (reading.kind === 'malformed') throw badRequest(reading.message)
  return reading.include
}

function respondMetadata(
  request: GatewayRequest,
  code: number,
  served: Served,
  content: StoredContent,
  version: TableVersion,
  parts: RespondStoredParts,
): void | Promise<void> {
  const { format } = request.answer
  if (format !== 'protobuf') {
    return respondJson(request, code, printPartialMetadata(parts.names, version, servedMetadataOf(parts, served, content)), format)
  }
  const typeMeta = { apiVersion: metaVersionOf(parts, version), kind: 'PartialObjectMetadata' }
  return respondEnvelope(request, code, typeMeta, metadataItemOf(parts, served, content), parts)
}

/** `meta.orch.io/v1beta1`. */
export function metaVersionOf({ metaVersion }: RespondStoredParts, version: TableVersion): string {
  return `${metaVersion.slice(0, metaVersion.lastIndexOf('/'))}/${version}`
}

async function respondLargeEnvelope(
  request: GatewayRequest,
  code: number,
  served: Served,
  content: StoredContent,
  parts: RespondStoredParts,
  forms?: Forms,
): Promise<void> {
  await respondEnvelope(request, code, served.resource, await largeProtobufItemOf(parts, served, content, forms), parts)
}

function respondEnvelope(
  request: GatewayRequest,
  code: number,
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
  item: Uint8Array,
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
  served: Served,
  content: StoredContent,
  version: TableVersion,
  parts: RespondStoredParts,
): Uint8Array {
  const object = rowObjectOf(includeObjectOf(query), toServedBytes(parts, served, content.value))
  const row = printTableRow(parts.names, rowOf(parts, served, content), { version, nowMs: parts.clock.now(), object })
  const form = served.resource.readers.table
  return printTable(parts.names, { version, metadata: { resourceVersion: revisionTextOf(content.value) }, form }, [row])
}

/** The resourceVersion in the object's text; a dry run gives none. */
function revisionTextOf(object: Uint8Array): string {
  const { resourceVersion = '' } = JSON.parse(Buffer.from(metadataOf(object)).toString()) as { resourceVersion?: string }
  return resourceVersion
}
