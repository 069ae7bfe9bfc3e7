import {
  type ApiObject,
  type Entry,
  encodeProtobufItem,
  metadataOf,
  partialMetadataType,
  readOurJson,
  type TableRow,
  tableFormOf,
} from '@orch/core'
import { toServedBytes, toServedObject } from '../convert.ts'
import type { GatewayParts } from '../parts.ts'
import type { Served } from '../served.ts'
import type { Forms } from './form-cache.ts'

/** An object of the stored version: an entry of storage, or one that a write has just made and that is not kept. */
export type StoredContent = Pick<Entry, 'value'> & Partial<Entry>

/** The object as an item of a Protobuf list, in the version of the request. */
export function protobufItemOf(parts: GatewayParts, served: Served, content: StoredContent, forms?: Forms): Uint8Array {
  const { apiVersion, type } = served.resource
  const make = () => encodeProtobufItem(type, toServedObject(parts, served, readOurJson(content.value) as ApiObject))
  return kept(forms, `protobuf ${apiVersion}`, content, make, (item) => item.length)
}

/** The object's metadata as an item of a Protobuf list. */
export function metadataItemOf(parts: GatewayParts, served: Served, content: StoredContent, forms?: Forms): Uint8Array {
  const make = () => encodeProtobufItem(partialMetadataType, { metadata: readOurJson(servedMetadataOf(parts, served, content)) })
  return kept(forms, `metadata ${served.resource.apiVersion}`, content, make, (item) => item.length)
}

/** The object's row. It is read from the stored version. */
export function rowOf(parts: GatewayParts, { resource }: Served, content: StoredContent, forms?: Forms): TableRow {
  const make = () => tableFormOf(resource.stored.kind).read(readOurJson(content.value) as Record<string, unknown>, parts.names)
  return kept(forms, 'row', content, make, rowBytes)
}

/** The text of the object's metadata in the version of the request; where it lies is known of an entry. */
export function servedMetadataOf(parts: GatewayParts, served: Served, content: StoredContent): Uint8Array {
  const { value, metadataStart, metadataEnd } = content
  if (!served.isStoredVersion) return metadataOf(toServedBytes(parts, served, value))
  if (metadataStart === undefined || metadataEnd === undefined) return metadataOf(value)
  return value.subarray(metadataStart, metadataEnd)
}

/** Without `forms`, and where the object is no entry, a form is made and not kept. */
function kept<T>(forms: Forms | undefined, form: string, content: StoredContent, make: () => T, bytesOf: (value: T) => number): T {
  const { key, revision } = content
  if (forms === undefined || key === undefined || revision === undefined) return make()
  return forms.get(form, { key, revision }, make, bytesOf)
}

/** About what a row takes in memory: its frame, and two bytes per character of its texts. */
function rowBytes({ cells, conditions }: TableRow): number {
  let bytes = 128 + conditions.length * 256
  for (const cell of cells) bytes += typeof cell === 'string' ? 24 + 2 * cell.length : 48
  return bytes
}
