import { ManifestError } from '@orch/client'
import { knownReleases } from '@orch/core/feature-gates'
import { isJsonObject } from '@orch/core/json'
import type { ApiObject } from '@orch/core/meta'
import { type Names, namesOf } from '@orch/core/names'
import { MalformedProtobuf, parseEnvelope, Reader, readTypedObject } from '@orch/core/protobuf'
import { hasBigInteger } from '@orch/core/yaml'
import type { Pause } from '@orch/platform'
import type { BoltFile } from './bolt-file.ts'
import { asObject, type DumpedObject, OversizeError } from './dumped-object.ts'
import { objectBytesMax, objectOfJson } from './list-texts.ts'

/** A revision of a key: 8 bytes, an underscore and 8 bytes; one byte more marks a deletion. */
const deletionBytes = 18
/** The fields of etcd's message KeyValue that are read, as number and wire type. */
const [keyField, revisionField, valueField] = [0x0a, 0x18, 0x2a]
const encrypted = /^k8s:enc:[^:]*:[^:]*/

/** The location of a key's last value. */
interface Place {
  readonly at: number
  readonly length: number
}

/**
 * Reads a snapshot of etcd (`etcdctl snapshot save`, or the file `member/snap/db`): the last revision of each key that is not deleted. Values remain
 * in the file, which must stay open while objects are read.
 */
export async function readEtcdSnapshot(file: BoltFile, path: string, pause: Pause) {
  const names = namesOf('kubernetes')
  const objects: DumpedObject[] = []
  const unread: { readonly key: string; readonly reason: string }[] = []
  await file.checkDigest(pause)
  for (const [key, place] of await placesIn(file, path, pause)) {
    await pause()
    const { revision, value } = readKeyValue(file.read(place.at, place.length), path)
    const scheme = encrypted.exec(value.toString('latin1', 0, encryptedBytes))
    const name = `${path}:${key}`
    try {
      if (scheme === null) objects.push({ ...objectAt(value, name, names), revision, read: () => readAt(file, place, { name, names }) })
      else unread.push({ key, reason: `its value is encrypted (${scheme[0]})` })
    } catch (error) {
      if (!(error instanceof ManifestError)) throw error
      unread.push({ key, reason: error.message.slice(name.length + 2) })
    }
  }
  return { objects, unread }
}

const encryptedBytes = 200

/** Keys of clusters begin with a slash; etcd's internal keys do not. */
async function placesIn(file: BoltFile, path: string, pause: Pause): Promise<Map<string, Place>> {
  const places = new Map<string, Place>()
  for (const { key: revision, value, at } of file.bucket('key')) {
    await pause()
    if (value.length > objectBytesMax) throw new OversizeError(`${path}: a revision has more than ${objectBytesMax} bytes`)
    const key = readKeyValue(value, path).key.toString()
    if (!key.startsWith('/')) continue
    if (revision.length === deletionBytes) places.delete(key)
    else places.set(key, { at, length: value.length })
  }
  return places
}

interface KeyValue {
  readonly key: Buffer
  readonly revision: number
  readonly value: Buffer
}

function readKeyValue(bytes: Buffer, path: string): KeyValue {
  const found = { key: empty, revision: 0, value: empty }
  readFields(bytes, path, (tag, reader) => {
    if (tag === keyField) found.key = bufferOf(reader.bytes())
    else if (tag === revisionField) found.revision = Number(reader.int64())
    else if (tag === valueField) found.value = bufferOf(reader.bytes())
    else reader.skip(tag % 8)
  })
  return found
}

const empty: Buffer = Buffer.alloc(0)

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

function readFields(bytes: Uint8Array, file: string, read: (tag: number, reader: Reader) => void): void {
  const reader = new Reader(bytes)
  try {
    while (!reader.isAtEnd) read(reader.tag(), reader)
  } catch (error) {
    if (error instanceof MalformedProtobuf) throw new ManifestError(`${file}: ${error.message}`, { cause: error })
    throw error
  }
}

function isJson(value: Buffer): boolean {
  return value[0] === 0x7b
}

/** The object of a value, without its contents. */
function objectAt(value: Buffer, name: string, names: Names): Omit<DumpedObject, 'read' | 'revision'> {
  if (isJson(value)) return objectOfJson(value, name)
  const reading = parseEnvelope(value, names)
  if (reading.kind === 'malformed') throw new ManifestError(`${name}: it is neither JSON nor Protobuf`)
  const { apiVersion, kind, raw } = reading.envelope
  return { apiVersion, kind, file: name, ...readMetadata(raw, name) }
}

/** Field 1 of every stored message is its ObjectMeta, whose fields 1 and 3 are name and namespace. */
const [metadataField, nameField, namespaceField] = [0x0a, 0x0a, 0x1a]

function readMetadata(raw: Uint8Array, file: string): Pick<DumpedObject, 'name' | 'namespace'> {
  const found = { name: '', namespace: undefined as string | undefined }
  readFields(raw, file, (tag, reader) => {
    if (tag !== metadataField) return reader.skip(tag % 8)
    readFields(reader.bytes(), file, (inner, metadata) => {
      if (inner === nameField) found.name = metadata.text()
      else if (inner === namespaceField) found.namespace = metadata.text() || undefined
      else metadata.skip(inner % 8)
    })
  })
  return found
}

function readAt(
  file: BoltFile,
  { at, length }: Place,
  { name, names }: { readonly name: string; readonly names: Names },
): ReturnType<DumpedObject['read']> {
  const { value } = readKeyValue(file.read(at, length), name)
  if (isJson(value)) {
    const { object, hasBigIntegers } = objectOfJson(value, name).read()
    return { object: readDefinition(object), hasBigIntegers }
  }
  const reading = readTypedObject(value, { names, level: knownReleases.newest })
  switch (reading.kind) {
    case 'object':
      return { object: asObject(reading.object, name), hasBigIntegers: hasBigInteger(reading.object) }
    case 'untyped':
      return { object: { apiVersion: reading.apiVersion, kind: reading.named, metadata: {} }, hasBigIntegers: false }
    case 'malformed':
      throw new ManifestError(`${name}: ${reading.message}`)
  }
}

type Members = Readonly<Record<string, unknown>>

/** The stored version, by group. */
const storedVersion = /^(apiextensions\..*)\/v1beta1$/

/**
 * Converts a definition from the form in which kube-apiserver stores it (v1beta1, with common parts outside of the versions) to the form that clients
 * use.
 */
function readDefinition(object: ApiObject): ApiObject {
  const { spec }: Members = object
  const [, group] = storedVersion.exec(object.apiVersion) ?? []
  if (group === undefined || object.kind !== 'CustomResourceDefinition' || !isJsonObject(spec)) return object
  const { version, versions, validation, subresources, additionalPrinterColumns, conversion, preserveUnknownFields, ...rest } = spec
  const given = Array.isArray(versions) ? versions.filter(isJsonObject) : [{ name: version, served: true, storage: true }]
  const read = given.map((one) => readVersion({ schema: validation, subresources, additionalPrinterColumns, ...one }))
  const converted = isJsonObject(conversion) ? { conversion: readConversion(conversion) } : {}
  const preserved = preserveUnknownFields === true ? { preserveUnknownFields } : {}
  const full = { ...object, apiVersion: `${group}/v1`, spec: { ...rest, ...preserved, versions: read, ...converted } }
  return full
}

function readVersion({ schema, subresources, additionalPrinterColumns, ...rest }: Members): Members {
  const columns = Array.isArray(additionalPrinterColumns)
    ? additionalPrinterColumns.filter(isJsonObject).map(({ JSONPath: jsonPath, ...rest }) => ({ ...rest, jsonPath }))
    : undefined
  return {
    ...rest,
    ...(schema === undefined ? {} : { schema }),
    ...(subresources === undefined ? {} : { subresources }),
    ...(columns === undefined ? {} : { additionalPrinterColumns: columns }),
  }
}

function readConversion({ strategy, webhookClientConfig: clientConfig, conversionReviewVersions }: Members): Members {
  return strategy === 'Webhook' ? { strategy, webhook: { clientConfig, conversionReviewVersions } } : { strategy }
}
