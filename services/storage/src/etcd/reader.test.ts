import { describe, expect, test } from 'vitest'
import { limits } from '../limits.ts'
import type { EtcdClient } from './client.ts'
import { frameValue, toLayout } from './layout.ts'
import { EtcdReader } from './reader.ts'

const text = (value: Uint8Array) => Buffer.from(value).toString()

interface Asked {
  readonly key: Buffer
  readonly range_end?: Buffer
  readonly revision: string
  readonly limit?: number
  readonly keys_only?: boolean
  readonly count_only?: boolean
}

/** An etcd that holds these keys at every revision. `bytes` is the announced length of each value; an answer has at most `pageMax` keys. */
function openReader(names: readonly string[], { bytes, pageMax = 1_000_000 }: { bytes?: number; pageMax?: number } = {}) {
  const asked: Asked[] = []
  const all = names.map((name, index) => ({
    key: Buffer.from(`/p/keys/${name}`),
    value: bytes === undefined ? frameValue({ key: name, writeId: 'w', value: Buffer.from(`v-${name}`) }) : { length: bytes },
    mod_revision: String(index + 1),
  }))
  const range = async (request: Asked) => {
    asked.push(request)
    const { key, range_end: end, limit = 0, count_only: countOnly = false } = request
    const found = all.filter((kv) => (end === undefined ? kv.key.equals(key) : kv.key.compare(key) >= 0 && kv.key.compare(end) < 0))
    const size = Math.min(limit === 0 ? found.length : limit, pageMax)
    return { kvs: countOnly ? [] : found.slice(0, size), more: found.length > size, count: String(found.length) }
  }
  return { asked, reader: new EtcdReader({ kv: { range } } as unknown as EtcdClient, toLayout('p')) }
}

const many = (count: number) => Array.from({ length: count }, (_, index) => `n-${String(index).padStart(5, '0')}`)

describe('one key', () => {
  test('is read at the requested revision', async () => {
    const { reader, asked } = openReader(['a', 'b'])
    const record = await reader.at('b', 7)
    expect({ ...record, value: text(record?.value ?? Buffer.alloc(0)) }).toEqual({ key: 'b', revision: 2, value: 'v-b' })
    expect(asked).toEqual([{ key: Buffer.from('/p/keys/b'), revision: '7' }])
  })

  test('that is absent is undefined', async () => {
    expect(await openReader(['a']).reader.at('b', 7)).toBeUndefined()
  })
})

describe('the keys of a prefix', () => {
  const names = ['a/1', 'a/2', 'a/3', 'b/1']

  test.each([
    ['', '', 4],
    ['a/', '', 3],
    ['a/', 'a/2', 2],
    ['b/', 'a/2', 1],
  ])("are counted, prefix '%s' from '%s': %i", async (prefix, start, count) => {
    const { reader, asked } = openReader(names)
    expect(await reader.count({ prefix, start, revision: 7 })).toBe(count)
    expect(asked).toMatchObject([{ revision: '7', count_only: true }])
  })

  test.each([
    ['a/', '', 0, ['a/1', 'a/2', 'a/3'], undefined],
    ['a/', '', 3, ['a/1', 'a/2', 'a/3'], undefined],
    ['a/', '', 2, ['a/1', 'a/2'], 'a/3'],
    ['a/', 'a/2', 1, ['a/2'], 'a/3'],
    ['c/', '', 1, [], undefined],
  ])("are read, prefix '%s' from '%s', at most %i: %j and then %s", async (prefix, start, limit, keys, next) => {
    const { reader, asked } = openReader(names)
    const page = await reader.range({ prefix, start, limit, revision: 7 })
    expect({ keys: page.records.map(({ key }) => key), next: page.next }).toEqual({ keys, next })
    expect(page.records.map(({ value }) => text(value))).toEqual(keys.map((key) => `v-${key}`))
    expect(asked).toMatchObject([{ revision: '7', limit: limit === 0 ? limits.storePageRecords : limit + 1, keys_only: false }])
  })

  test('are read from the last key on if etcd returns fewer than requested, up to the limit', async () => {
    const { reader, asked } = openReader(names, { pageMax: 2 })
    const page = await reader.range({ prefix: '', start: '', limit: 2, revision: 7 })
    expect({ keys: page.records.map(({ key }) => key), next: page.next }).toEqual({ keys: ['a/1', 'a/2'], next: 'a/3' })
    expect(asked.map(({ key, limit }) => [text(key), limit])).toEqual([
      ['/p/keys/', 3],
      ['/p/keys/a/2\0', 1],
    ])
  })
})

describe('all keys', () => {
  test('are visited with their values', async () => {
    const { reader, asked } = openReader(['a', 'b'])
    const seen: string[] = []
    await reader.visit(7, ({ key, revision, value }) => seen.push(`${key} ${revision} ${text(value)}`))
    expect(seen).toEqual(['a 1 v-a', 'b 2 v-b'])
    expect(asked).toMatchObject([{ key: Buffer.from('/p/keys/'), range_end: Buffer.from('/p/keys0'), revision: '7', keys_only: false }])
  })

  test('are visited with only their revisions, without reading values', async () => {
    const { reader, asked } = openReader(['a', 'b'])
    const seen: string[] = []
    await reader.visitRevisions(7, (key, revision) => seen.push(`${key} ${revision}`))
    expect(seen).toEqual(['a 1', 'b 2'])
    expect(asked).toMatchObject([{ key: Buffer.from('/p/keys/'), range_end: Buffer.from('/p/keys0'), revision: '7', keys_only: true }])
  })
})

describe('the pages of a range', () => {
  async function sizes(count: number, options: { bytes: number; limit?: number; pageMax?: number }) {
    const { reader, asked } = openReader(many(count), options)
    const pages: number[] = []
    for await (const kvs of reader.pages({ prefix: '', start: '', limit: options.limit ?? 0, revision: 7 })) pages.push(kvs.length)
    return { pages, limits: asked.map(({ limit }) => limit) }
  }

  test('have a bounded number of records, also with small records', async () => {
    const { pages, limits } = await sizes(2_500, { bytes: 10 })
    expect({ pages, limits }).toEqual({ pages: [1_000, 1_000, 500], limits: [1_000, 1_000, 1_000] })
  })

  test('have a bounded number of bytes, estimated from the previous page', async () => {
    // 1000 records of four times the share of one are four pages' bytes: 249 fit, since the sum is rounded up.
    const { pages } = await sizes(1_600, { bytes: (limits.etcdPageBytes / limits.storePageRecords) * 4 })
    expect(pages).toEqual([1_000, 249, 249, 102])
  })

  test('have at least one record', async () => {
    expect((await sizes(1_002, { bytes: limits.etcdPageBytes * 2 })).pages).toEqual([1_000, 1, 1])
  })

  test('are as many as the limit needs, with a smaller last page', async () => {
    const { pages, limits } = await sizes(2_500, { bytes: 10, limit: 1_200 })
    expect({ pages, limits }).toEqual({ pages: [1_000, 200], limits: [1_000, 200] })
  })

  test('end at an empty page, even if etcd announces more', async () => {
    expect(await sizes(1, { bytes: 10, pageMax: 0 })).toEqual({ pages: [0], limits: [1_000] })
  })
})
