import { decodeJson, hasMembers, isJsonObject, printJson } from '@orch/core/json'
import { type Names, namesOf } from '@orch/core/names'
import { readTypedObject } from '@orch/core/protobuf'
import { parseYamlBytes } from '@orch/core/yaml'
import type { AuditBodyAnswer, AuditBodyJob, BodyMetadata, BodyReading } from './jobs.ts'
import { readCbor } from './read-cbor.ts'

type ObjectValue = Readonly<Record<string, unknown>>

/** A recorded body: the object, and the facts of its metadata. */
export interface ReadBody {
  readonly object: unknown
  readonly metadata: BodyMetadata
}

/** Parses a body as an object; an invalid one was refused, and is not recorded. */
export function readBody(bytes: Uint8Array, reading: BodyReading, names: Names): ReadBody | undefined {
  if (bytes.length === 0) return undefined
  const value = readValue(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), reading, names)
  if (!hasMembers(value)) return undefined
  return { object: shown(value, reading), metadata: metadataIn(value) }
}

function metadataIn({ metadata }: ObjectValue): BodyMetadata {
  const members = hasMembers(metadata) ? metadata : {}
  const textOf = (name: keyof BodyMetadata): string => {
    const text = members[name]
    return typeof text === 'string' ? text : ''
  }
  return { name: textOf('name'), namespace: textOf('namespace'), uid: textOf('uid'), resourceVersion: textOf('resourceVersion') }
}

function readValue(bytes: Buffer, { contentType, level }: BodyReading, names: Names): unknown {
  if (contentType === names.protobufMediaType) return readProtobuf(bytes, level, names)
  if (contentType.includes('yaml')) {
    const parsed = parseYamlBytes(bytes)
    return parsed.kind === 'yaml' ? parsed.value : undefined
  }
  const cbor = contentType === 'application/cbor' ? readCbor(bytes) : undefined
  const decoded = decodeJson(cbor?.kind === 'bytes' ? cbor.bytes : bytes)
  return decoded.kind === 'malformed' ? undefined : decoded.value
}

function readProtobuf(bytes: Buffer, level: number, names: Names): unknown {
  const reading = readTypedObject(bytes, { names, level })
  switch (reading.kind) {
    case 'object':
      return reading.object
    case 'untyped':
      return { apiVersion: reading.apiVersion, kind: reading.named }
    case 'malformed':
      return undefined
  }
}

/** The recorded form of the object. */
function shown(object: ObjectValue, { omitManagedFields, withholdsTokens }: BodyReading): unknown {
  if (omitManagedFields) for (const one of [object, ...itemsOf(object)]) dropManagedFields(one)
  return withholdsTokens ? withholdTokens(object) : object
}

function itemsOf({ items }: ObjectValue): ObjectValue[] {
  return Array.isArray(items) ? items.filter((item) => typeof item === 'object' && item !== null) : []
}

function dropManagedFields({ metadata }: ObjectValue): void {
  if (isJsonObject(metadata)) delete metadata['managedFields']
}

/** Parses a large body for an audit event, in the thread of texts, and prints it for the event. */
export function doAuditBodyJob({ bytes, profile, reading, isPrinted }: AuditBodyJob): AuditBodyAnswer {
  try {
    const body = readBody(bytes, reading, namesOf(profile))
    if (body === undefined) return { kind: 'auditBody', metadata: undefined }
    const { metadata, object } = body
    if (!isPrinted) return { kind: 'auditBody', metadata }
    return { kind: 'auditBody', metadata, bytes: new TextEncoder().encode(printJson(object, { hasBigIntegers: true })) }
  } catch (error) {
    return { kind: 'failed', error }
  }
}

const withheld = '<withheld>'

/** The members of a TokenReview and of a TokenRequest that may be recorded; others may contain the token, also by mistake. */
const shownMembers: Readonly<Record<string, ReadonlySet<string>>> = {
  metadata: new Set([
    'name',
    'generateName',
    'namespace',
    'uid',
    'resourceVersion',
    'creationTimestamp',
    'labels',
    'ownerReferences',
    'managedFields',
  ]),
  spec: new Set(['audiences', 'expirationSeconds', 'boundObjectRef']),
  status: new Set(['authenticated', 'user', 'audiences', 'error', 'expirationTimestamp']),
}

/** The body of a request that carries tokens, without them. */
function withholdTokens(body: unknown): unknown {
  if (!isJsonObject(body)) return withheld
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      if (name === 'kind' || name === 'apiVersion') return [name, value]
      const shown = Object.hasOwn(shownMembers, name) ? shownMembers[name] : undefined
      if (shown === undefined || !isJsonObject(value)) return [name, isEmpty(value) ? value : withheld]
      return [
        name,
        Object.fromEntries(Object.entries(value).map(([inner, text]) => [inner, shown.has(inner) || isEmpty(text) ? text : withheld])),
      ]
    }),
  )
}

function isEmpty(value: unknown): boolean {
  return value === null || value === ''
}
