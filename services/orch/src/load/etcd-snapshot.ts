import { createHash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { ManifestError } from '@orch/client'
import { knownReleases } from '@orch/core/feature-gates'
import { isJsonObject } from '@orch/core/json'
import type { ApiObject } from '@orch/core/meta'
import { type Names, namesOf } from '@orch/core/names'
import { MalformedProtobuf, parseEnvelope, Reader, readTypedObject } from '@orch/core/protobuf'
import { hasBigInteger } from '@orch/core/yaml'
import type { Pause } from '@orch/platform'
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

/** The number at byte 16 of a bbolt file. */
const magic = 0xed0cdaed
const supportedVersion = 2
const headerBytes = 16
const elementBytes = 16
/** The head of a bucket's value: root page and counter. */
const bucketHeadBytes = 16
/** Flags of a page, and of an element of a leaf. */
const branchPage = 0x01
const leafPage = 0x02
const bucketElement = 0x01
/** etcdctl appends this digest to a snapshot. A page has at least this many bytes. */
const digestBytes = 32
const pageBytesMin = 512
/** The page size is that of the system that wrote the file. */
const pageBytesMax = 1024 * 1024
/** Maximum depth of a tree: a deeper tree would have more keys than a file has bytes. */
const levelsMax = 32

/** True for a bbolt file, the format of etcd's data. */
export function isBoltFile(path: string): boolean {
  const file = openSync(path, 'r')
  try {
    const head = Buffer.alloc(headerBytes + 4)
    return readSync(file, head, 0, head.length, 0) === head.length && head.readUInt32LE(headerBytes) === magic
  } finally {
    closeSync(file)
  }
}

/** A key, and the location of its value in the file. */
export interface BoltEntry {
  readonly key: Buffer
  readonly value: Buffer
  /** The position of the value in the file. */
  readonly at: number
}

/**
 * A file of bbolt, read page by page: a tree of pages for each bucket, whose leaves have keys and values in order.
 *
 *   page    u64 id, u16 flags, u16 count, u32 overflow (pages that follow it and belong to it)
 *   branch  per child: u32 pos, u32 key's bytes, u64 page
 *   leaf    per element: u32 flags, u32 pos, u32 key's bytes, u32 value's bytes; a bucket is an element whose value begins with its root page
 */
export class BoltFile {
  readonly #path: string
  readonly #file: number
  readonly #pageBytes: number
  readonly #bytes: number
  readonly #root: bigint
  /** In a complete file each page occurs once in the tree below its root, and each byte in one element. */
  #pagesRead = 0
  #elementBytes = 0

  constructor(path: string) {
    this.#path = path
    this.#file = openSync(path, 'r')
    this.#bytes = fstatSync(this.#file).size
    try {
      const { pageBytes, root } = this.#readMeta()
      this.#pageBytes = pageBytes
      this.#root = root
    } catch (error) {
      this.close()
      throw error
    }
  }

  close(): void {
    closeSync(this.#file)
  }

  /** The entries of a bucket, in the order of their keys. */
  *bucket(name: string): Generator<BoltEntry, void, undefined> {
    this.#pagesRead = 0
    this.#elementBytes = 0
    for (const { key, value, isBucket } of this.#elementsBelow(this.#root, 0)) {
      if (!isBucket || key.toString() !== name) continue
      if (value.length < bucketHeadBytes) throw this.#damaged('a bucket has no head')
      const root = value.readBigUInt64LE(0)
      // A small bucket is stored in its element, as a page without a number.
      if (root === 0n) yield* this.#leafElements(value.subarray(bucketHeadBytes), 0)
      else yield* this.#elementsBelow(root, 0)
    }
  }

  /** Bytes of the file. */
  read(at: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length)
    if (readSync(this.#file, bytes, 0, length, at) !== length) throw this.#damaged(`it ends before byte ${at + length}`)
    return bytes
  }

  /** The valid meta page is the one with the later transaction; the other may be incomplete. */
  #readMeta(): { readonly pageBytes: number; readonly root: bigint } {
    const pageBytes = this.read(headerBytes + 8, 4).readUInt32LE(0)
    if (pageBytes < pageBytesMin || pageBytes > pageBytesMax) throw this.#damaged(`its pages have ${pageBytes} bytes`)
    const copies = [0, pageBytes].flatMap((at) => {
      const meta = this.read(at + headerBytes, 64)
      const isWhole = meta.readUInt32LE(0) === magic && meta.readBigUInt64LE(56) === fnv64(meta.subarray(0, 56))
      return isWhole ? [meta] : []
    })
    const [first, second] = copies
    const last = second !== undefined && second.readBigUInt64LE(48) > (first?.readBigUInt64LE(48) ?? 0n) ? second : first
    if (last === undefined) throw this.#damaged('neither copy of its first page is whole')
    if (last.readUInt32LE(4) !== supportedVersion)
      throw this.#damaged(`its format is ${last.readUInt32LE(4)}, expected ${supportedVersion}`)
    return { pageBytes, root: last.readBigUInt64LE(16) }
  }

  /** Throws for a file that has changed since it was written. A copy of the database file has no digest. */
  async checkDigest(pause: Pause): Promise<void> {
    if (this.#bytes % pageBytesMin !== digestBytes) return
    const hash = createHash('sha256')
    const end = this.#bytes - digestBytes
    for (let at = 0; at < end; at += hashedBytes) {
      await pause()
      hash.update(this.read(at, Math.min(hashedBytes, end - at)))
    }
    if (!hash.digest().equals(this.read(end, digestBytes))) throw this.#damaged('its bytes are not those of its checksum')
  }

  *#elementsBelow(id: bigint, level: number): Generator<LeafElement, void, undefined> {
    const at = Number(id) * this.#pageBytes
    if (at + this.#pageBytes > this.#bytes) throw this.#damaged(`page ${id} goes beyond its end`)
    const header = this.read(at, headerBytes)
    const [flags, count, overflow] = [header.readUInt16LE(8), header.readUInt16LE(10), header.readUInt32LE(12)]
    const length = (1 + overflow) * this.#pageBytes
    this.#pagesRead += 1 + overflow
    if (level > levelsMax || this.#pagesRead > this.#bytes / this.#pageBytes) throw this.#damaged('its pages form a circle or overlap')
    if (at + length > this.#bytes) throw this.#damaged(`page ${id} goes beyond its end`)
    const page = this.read(at, length)
    if (flags === leafPage) yield* this.#leafElements(page, at)
    else if (flags !== branchPage) throw this.#damaged(`page ${id} is neither a branch nor a leaf`)
    else
      for (let index = 0; index < count; index += 1)
        yield* this.#elementsBelow(page.readBigUInt64LE(headerBytes + index * elementBytes + 8), level + 1)
  }

  *#leafElements(page: Buffer, at: number): Generator<LeafElement, void, undefined> {
    const count = page.length < headerBytes ? 0 : page.readUInt16LE(10)
    if (headerBytes + count * elementBytes > page.length) throw this.#damaged('a page has more elements than room')
    for (let index = 0; index < count; index += 1) {
      const start = headerBytes + index * elementBytes
      const keyStart = start + page.readUInt32LE(start + 4)
      const valueStart = keyStart + page.readUInt32LE(start + 8)
      const end = valueStart + page.readUInt32LE(start + 12)
      if (end > page.length) throw this.#damaged('an element goes beyond its page')
      this.#elementBytes += end - keyStart
      if (this.#elementBytes > this.#bytes) throw this.#damaged('its elements overlap')
      yield {
        key: page.subarray(keyStart, valueStart),
        value: page.subarray(valueStart, end),
        at: at + valueStart,
        isBucket: (page.readUInt32LE(start) & bucketElement) !== 0,
      }
    }
  }

  #damaged(why: string): ManifestError {
    return new ManifestError(`${this.#path}: the snapshot of etcd is damaged: ${why}`)
  }
}

const hashedBytes = 1024 * 1024

interface LeafElement extends BoltEntry {
  readonly isBucket: boolean
}

/** FNV-1a of 64 bits. */
function fnv64(bytes: Buffer): bigint {
  let hash = 0xcbf29ce484222325n
  for (const byte of bytes) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn
  return hash
}
