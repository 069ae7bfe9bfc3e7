import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ManifestError } from '@orch/client'
import { printProtobuf } from '@orch/core/protobuf'
import { seededChance } from '@orch/platform'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningServer, start } from '../index.ts'
import { readDump } from './dump.ts'

const folder = mkdtempSync(join(tmpdir(), 'etcd-snapshot-'))
let base: RunningServer

beforeAll(async () => {
  base = await start({ profile: 'kubernetes' })
})
afterAll(async () => {
  await base.stop()
  rmSync(folder, { recursive: true })
})

const pageBytes = 1_024
const megabyte = 1024 * 1024

interface Element {
  readonly key: Buffer
  readonly value: Buffer
  readonly flags?: number
}

/** A file of bbolt with one bucket `key`: a branch over leaves of two elements each, some of them on several pages. */
class BoltBuilder {
  readonly #pages: Buffer[] = [Buffer.alloc(pageBytes), Buffer.alloc(pageBytes)]

  /** Returns the page's number. */
  leaf(elements: readonly Element[]): number {
    const heads = elements.map(({ key, value, flags = 0 }, index) => {
      const before = elements.slice(0, index).reduce((sum, one) => sum + one.key.length + one.value.length, 0)
      return numbers([flags, (elements.length - index) * 16 + before, key.length, value.length])
    })
    return this.#page(2, elements.length, Buffer.concat([...heads, ...elements.flatMap(({ key, value }) => [key, value])]))
  }

  branch(children: readonly { readonly key: Buffer; readonly page: number }[]): number {
    const heads = children.map(({ key, page }, index) => {
      const before = children.slice(0, index).reduce((sum, one) => sum + one.key.length, 0)
      return numbers([(children.length - index) * 16 + before, key.length, page, 0])
    })
    return this.#page(1, children.length, Buffer.concat([...heads, ...children.map(({ key }) => key)]))
  }

  /** Gives a page the pages that follow it. */
  lengthen(page: number, pages: number): void {
    this.#pages.find((one) => one.readUInt32LE(0) === page && one.readUInt16LE(8) === 2)?.writeUInt32LE(pages, 12)
  }

  /** Gives an element of a leaf other bytes than it was written with. */
  resize(page: number, index: number, valueBytes: number): void {
    this.#pages[this.#pages.findIndex((one) => one.readUInt32LE(0) === page && one.readUInt16LE(8) === 2)]?.writeUInt32LE(
      valueBytes,
      16 + index * 16 + 12,
    )
  }

  #page(flags: number, count: number, body: Buffer): number {
    const length = Math.ceil((16 + body.length) / pageBytes)
    const page = Buffer.alloc(length * pageBytes)
    const id = this.#pages.reduce((sum, one) => sum + one.length, 0) / pageBytes
    page.writeUInt32LE(id, 0)
    page.writeUInt16LE(flags, 8)
    page.writeUInt16LE(count, 10)
    page.writeUInt32LE(length - 1, 12)
    body.copy(page, 16)
    this.#pages.push(page)
    return id
  }

  /** Writes the first pages: a copy of an earlier transaction, and the last one. */
  file(root: number): Buffer {
    for (const [index, page] of this.#pages.slice(0, 2).entries()) {
      const meta = page.subarray(16)
      numbers([0xed0cdaed, 2, pageBytes, 0, index === 1 ? root : 0, 0, 0, 0, 0, 0, 0, 0, index, 0]).copy(meta)
      let hash = 0xcbf29ce484222325n
      for (const byte of meta.subarray(0, 56)) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn
      meta.writeBigUInt64LE(hash, 56)
    }
    return Buffer.concat(this.#pages)
  }
}

function numbers(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, index * 4)
  return bytes
}

function field(tag: number, bytes: Uint8Array): Buffer {
  const length: number[] = []
  let left = bytes.length
  for (; left > 127; left >>= 7) length.push((left & 127) | 128)
  return Buffer.concat([Buffer.of(tag, ...length, left), bytes])
}

/** One revision of a key; without a value it is a deletion. */
function change(revision: number, key: string, value?: Uint8Array): Element {
  const name = Buffer.alloc(value === undefined ? 18 : 17)
  name.writeUInt32BE(revision, 4)
  name.write('_', 8)
  if (value === undefined) name.write('t', 17)
  const modified = Buffer.of(0x18, revision)
  return {
    key: name,
    value: Buffer.concat([field(0x0a, Buffer.from(key)), ...(value === undefined ? [] : [modified, field(0x2a, value)])]),
  }
}

function snapshotOf(changes: readonly Element[], build: (builder: BoltBuilder, leaves: number[]) => number): Buffer {
  const builder = new BoltBuilder()
  const leaves: number[] = []
  for (let at = 0; at < changes.length; at += 2) leaves.push(builder.leaf(changes.slice(at, at + 2)))
  const bucket = Buffer.alloc(16)
  bucket.writeUInt32LE(build(builder, leaves), 0)
  const inline = Buffer.alloc(32)
  return builder.file(
    builder.leaf([
      { key: Buffer.from('alarm'), value: inline, flags: 1 },
      { key: Buffer.from('key'), value: bucket, flags: 1 },
    ]),
  )
}

const branchOver = (builder: BoltBuilder, leaves: number[]) => builder.branch(leaves.map((page) => ({ key: Buffer.from('k'), page })))

function write(name: string, content: Buffer): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const uid = (number: number) => `00000000-0000-4000-8000-00000000000${number}`
const metadataOf = (name: string, number: number) => ({
  name,
  namespace: 'shop',
  uid: uid(number),
  creationTimestamp: '2025-01-02T03:04:05Z',
})
const json = (object: object) => Buffer.from(JSON.stringify(object))
const configMap = (name: string, number: number, data: string) =>
  printProtobuf({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    type: 'core/v1.ConfigMap',
    object: { metadata: metadataOf(name, number), data: { data } },
  })
const namespace = printProtobuf({
  apiVersion: 'v1',
  kind: 'Namespace',
  type: 'core/v1.Namespace',
  object: {
    metadata: { name: 'shop', uid: uid(1), creationTimestamp: '2025-01-02T03:04:05Z' },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  },
})
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1beta1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    version: 'v1',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    scope: 'Namespaced',
    validation: {
      openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } },
    },
    additionalPrinterColumns: [{ name: 'Size', type: 'integer', JSONPath: '.spec.size' }],
    versions: [{ name: 'v1', served: true, storage: true }],
    conversion: { strategy: 'None' },
    preserveUnknownFields: false,
  },
}
const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: metadataOf('w', 5), spec: { size: 3 } }
const changes = [
  change(2, 'compact_rev_key', Buffer.from('1')),
  change(3, '/registry/namespaces/shop', namespace),
  change(4, '/registry/configmaps/shop/a', configMap('a', 2, 'first')),
  change(5, '/registry/configmaps/shop/gone', configMap('gone', 3, 'x')),
  change(6, '/registry/configmaps/shop/gone'),
  change(7, '/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com', json(definition)),
  change(8, '/registry/example.com/widgets/shop/w', json(widget)),
  change(9, '/registry/configmaps/shop/a', configMap('a', 2, 'x'.repeat(3_000))),
  change(10, '/registry/secrets/shop/s', Buffer.from('k8s:enc:aescbc:v1:key1:\u0001\u0002')),
  change(11, '/registry/ranges/serviceips', Buffer.from('broken')),
]

test('a snapshot of etcd is loaded: the last revision of each key, in Protobuf or JSON, and definitions in their stored form', async () => {
  await using server = await base.fork()
  const pages = snapshotOf(changes, branchOver)
  const path = write('snapshot.db', Buffer.concat([pages, createHash('sha256').update(pages).digest()]))
  expect(await server.load(path)).toEqual({
    loaded: 4,
    kinds: { CustomResourceDefinition: 1, Namespace: 1, ConfigMap: 1, Widget: 1 },
    skipped: {},
    unknown: {},
    findings: [],
    unread: [
      { file: `${path}:/registry/secrets/shop/s`, reason: 'its value is encrypted (k8s:enc:aescbc:v1)' },
      { file: `${path}:/registry/ranges/serviceips`, reason: 'it is neither JSON nor Protobuf' },
    ],
  })
  const { client } = server
  const place = { namespace: 'shop' }
  expect(await client.objects.get({ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', ...place })).toMatchObject({
    metadata: { uid: uid(2), creationTimestamp: '2025-01-02T03:04:05Z' },
    data: { data: 'x'.repeat(3_000) },
  })
  expect(await client.objects.get({ ...widget, name: 'w', ...place })).toMatchObject({ metadata: { uid: uid(5) }, spec: { size: 3 } })
  expect(
    await client.objects.get({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: 'widgets.example.com' }),
  ).toMatchObject({ spec: { versions: [{ name: 'v1', additionalPrinterColumns: [{ jsonPath: '.spec.size' }] }] } })
})

test('the file of a running etcd, which has no checksum, is read as well', async () => {
  await using server = await base.fork()
  expect(await server.load(write('db', snapshotOf(changes.slice(0, 2), branchOver)))).toMatchObject({ loaded: 1, kinds: { Namespace: 1 } })
})

function changed(bytes: Buffer, change: (copy: Buffer) => unknown): Buffer {
  const copy = Buffer.from(bytes)
  change(copy)
  return copy
}

const small = snapshotOf(changes.slice(0, 4), branchOver)

/** A tree with a leaf whose elements all have the bytes of the last one. */
function overlapping(builder: BoltBuilder): number {
  const { value } = change(2, 'k', Buffer.alloc(10_000))
  const page = builder.leaf([...Array.from({ length: 20 }, () => ({ key: empty, value: empty })), { key: empty, value }])
  for (let index = 0; index < 20; index += 1) builder.resize(page, index, value.length)
  return builder.branch([{ key: Buffer.from('k'), page }])
}

/** A tree of leaves, each of which has the pages of the later ones, too. */
function overlappingPages(builder: BoltBuilder): number {
  const leaves = Array.from({ length: 20 }, () => builder.leaf([]))
  for (const [index, page] of leaves.entries()) builder.lengthen(page, leaves.length - index - 1)
  return builder.branch(leaves.map((page) => ({ key: empty, page })))
}

const empty = Buffer.alloc(0)

test('a snapshot of etcd is checked against its checksum with a pause after each megabyte', async () => {
  const whole = Buffer.concat([small, Buffer.alloc(8 * megabyte)])
  let pauses = 0
  const reading = readDump([write('long.db', Buffer.concat([whole, createHash('sha256').update(whole).digest()]))], async () => {
    pauses += 1
  })
  using dump = await reading
  expect([dump.objects.length, pauses > 8]).toEqual([3, true])
})

test('a snapshot of etcd with random damage is read, or refused with a sentence that names the file', async () => {
  const { fraction } = seededChance(39)
  const whole = snapshotOf(changes, branchOver)
  const path = join(folder, 'random.db')
  for (let trial = 0; trial < 100; trial += 1) {
    const damaged = changed(whole, (copy) => {
      for (let left = 1 + Math.floor(fraction() * 4); left > 0; left -= 1) {
        // The meta pages have a checksum.
        const at = 2 * pageBytes + Math.floor(fraction() * (copy.length - 2 * pageBytes))
        copy[at] = Math.floor(fraction() * 256)
      }
    })
    writeFileSync(path, damaged)
    const reading = readDump([path], async () => {}).then((dump) => {
      using read = dump
      for (const object of read.objects) object.read()
    })
    await reading.catch((error: unknown) => {
      expect(error).toBeInstanceOf(ManifestError)
      expect(String(error)).toContain(path)
    })
  }
})

test.each<[string, () => Buffer, string]>([
  ['other bytes than those of its checksum', () => Buffer.concat([small, Buffer.alloc(32)]), 'its bytes are not those of its checksum'],
  [
    'no whole first page',
    () => changed(small, (copy) => [copy.writeUInt8(1, 17 + 40), copy.writeUInt8(1, pageBytes + 17 + 40)]),
    'neither copy of its first page is whole',
  ],
  ['fewer pages than it names', () => small.subarray(0, 2 * pageBytes), 'goes beyond its end'],
  ['pages in a circle', () => snapshotOf(changes.slice(0, 2), (builder) => builder.branch([{ key: Buffer.from('k'), page: 3 }])), 'circle'],
  ['pages over one another', () => snapshotOf(changes.slice(0, 2), overlappingPages), 'its pages form a circle or overlap'],
  ['elements over one another', () => snapshotOf(changes.slice(0, 2), overlapping), 'its elements overlap'],
  [
    'a revision of more than 4 MiB',
    () => snapshotOf([...changes.slice(0, 2), change(4, '/registry/configmaps/shop/a', Buffer.alloc(megabyte * 4))], branchOver),
    'a revision has more than 4194304 bytes',
  ],
  ['no objects', () => snapshotOf(changes.slice(0, 1), branchOver), 'this snapshot of etcd holds no objects of a cluster'],
])('a snapshot of etcd with %s is refused', async (_what, bytes, message) => {
  await expect(base.load(write('damaged.db', bytes()))).rejects.toThrow(message)
})
