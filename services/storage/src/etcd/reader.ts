import type { StorePage, StoreRange, StoreRecord } from '@orch/core/contracts'
import type { Revision } from '@orch/core/meta'
import type { Etcd3, IKeyValue } from 'etcd3'
import { limits } from '../limits.ts'
import { readSurely } from './client.ts'
import { endOfPrefix, type Layout, unframeValue } from './layout.ts'

/** Reads the store's keys from etcd, always at one revision. */
export class EtcdReader {
  readonly #client: Etcd3
  readonly #layout: Layout

  constructor(client: Etcd3, layout: Layout) {
    this.#client = client
    this.#layout = layout
  }

  async at(key: string, revision: Revision): Promise<StoreRecord | undefined> {
    const request = { key: this.#toKey(key), revision: String(revision) }
    const { kvs } = await readSurely(() => this.#client.kv.range(request))
    return kvs[0] === undefined ? undefined : this.#toRecord(kvs[0])
  }

  async count({ prefix, start, revision }: Omit<StoreRange, 'limit'>): Promise<number> {
    const range = { ...this.#toRange(prefix, start), revision: String(revision), count_only: true }
    return Number((await readSurely(() => this.#client.kv.range(range))).count)
  }

  /** Reads one record more than requested, to know where the next page begins. */
  async range({ prefix, start, limit, revision }: StoreRange): Promise<StorePage> {
    const records: StoreRecord[] = []
    for await (const kvs of this.pages({ prefix, start, revision, limit: limit === 0 ? 0 : limit + 1 })) {
      for (const kv of kvs) records.push(this.#toRecord(kv))
    }
    const next = limit !== 0 && records.length > limit ? records.pop() : undefined
    return { records, next: next?.key }
  }

  async visit(revision: Revision, show: (record: StoreRecord) => void): Promise<void> {
    for await (const kvs of this.pages({ prefix: '', start: '', revision, limit: 0 })) for (const kv of kvs) show(this.#toRecord(kv))
  }

  async visitRevisions(revision: Revision, show: (key: string, revision: Revision) => void): Promise<void> {
    for await (const kvs of this.pages({ prefix: '', start: '', revision, limit: 0, keysOnly: true }))
      for (const kv of kvs) show(this.#fromKey(kv), Number(kv.mod_revision))
  }

  /** A range, read page by page. */
  async *pages({ prefix, start, limit, revision, keysOnly = false }: StoreRange & { readonly keysOnly?: boolean }) {
    let range = this.#toRange(prefix, start)
    let left = limit === 0 ? Number.POSITIVE_INFINITY : limit
    let size = limits.storePageRecords
    while (left > 0) {
      const request = { ...range, limit: Math.min(size, left), revision: String(revision), keys_only: keysOnly }
      const { kvs, more } = await readSurely(() => this.#client.kv.range(request))
      yield kvs
      left -= kvs.length
      const last = kvs.at(-1)
      if (!more || last === undefined) return
      size = nextSize(kvs, size)
      range = { ...range, key: Buffer.concat([last.key, Buffer.from([0])]) }
    }
  }

  #toRange(prefix: string, start: string): { key: Buffer; range_end: Buffer } {
    return { key: this.#toKey(start > prefix ? start : prefix), range_end: endOfPrefix(this.#layout.keys + prefix) }
  }

  #toKey(key: string): Buffer {
    return Buffer.from(this.#layout.keys + key)
  }

  #fromKey({ key }: IKeyValue): string {
    return key.toString().slice(this.#layout.keys.length)
  }

  #toRecord(kv: IKeyValue): StoreRecord {
    const key = this.#fromKey(kv)
    return { key, revision: Number(kv.mod_revision), value: unframeValue(key, kv.value).value }
  }
}

/** The number of records that fit a page, estimated from the last page. */
function nextSize(kvs: readonly IKeyValue[], size: number): number {
  const bytes = kvs.reduce((sum, { value }) => sum + value.length, 1)
  return Math.max(1, Math.min(limits.storePageRecords, Math.floor((size * limits.etcdPageBytes) / bytes)))
}
