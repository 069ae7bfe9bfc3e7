import {
  type ChangesPart,
  type CommitRequest,
  type Freshness,
  type ListPart,
  type ListRequest,
  objectKey,
  type StorageService,
  type Stream,
} from '@orch/core/contracts'
import { encodeObject, encodeStored } from '@orch/core/stored'
import { describe, expect, test } from 'vitest'

/** An object for storage tests. */
export interface StoredSample {
  readonly resource?: string
  /** Default `ConfigMap`. */
  readonly kind?: string
  /** Members beside `data`. */
  readonly members?: Readonly<Record<string, unknown>>
  readonly namespace?: string
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  readonly fields?: Readonly<Record<string, string>>
  readonly data?: string
  readonly expiresAtMs?: number
  readonly fingerprint?: number
}

let writes = 0

function aWriteId(): string {
  return `write-${process.pid}-${writes++}`
}

/** A commit that writes an object; by default it must be new. */
export function aPut(sample: StoredSample, rest: Partial<CommitRequest> = {}): CommitRequest {
  const {
    resource = 'core/configmaps',
    kind = 'ConfigMap',
    members = {},
    namespace = 'default',
    name,
    labels = {},
    fields = {},
    data = '',
    expiresAtMs = 0,
    fingerprint = 1,
  } = sample
  const writeId = rest.writeId ?? aWriteId()
  const encoded = encodeObject({
    apiVersion: 'v1',
    kind,
    metadata: { name, namespace, uid: `uid-${name}`, labels },
    data: { text: data },
    ...members,
  })
  const value = encodeStored({ fingerprint, writeId, expiresAtMs, encoded, labels, fields })
  return { key: objectKey(resource, namespace, name), expected: 0, conditions: [], value, writeId, ...rest }
}

/** A commit that deletes an object. */
export function aDelete(key: string, expected: number): CommitRequest {
  return { key, expected, conditions: [], writeId: aWriteId() }
}

/** Commits, and returns the revision. */
export async function written(storage: StorageService, request: CommitRequest): Promise<number> {
  const outcome = await storage.commit(request)
  if (outcome.kind !== 'written') throw new Error(`expected the commit of ${request.key} to be written, it is ${outcome.kind}`)
  return outcome.revision
}

interface Shown {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string; readonly resourceVersion: string }
  readonly data: { readonly text: string }
}

/** The object in a served value. */
export function shown(value: Uint8Array): Shown {
  return JSON.parse(new TextDecoder().decode(value)) as Shown
}

/** The answer of a list. */
export interface Listed {
  readonly head: Extract<ListPart, { kind: 'head' }>
  readonly objects: readonly Shown[]
  readonly names: readonly string[]
}

/** A list request with the given parts; by default it asks for all objects at the latest revision, without pages. */
function aList(rest: Partial<ListRequest> = {}): ListRequest {
  const request = {
    scope: { resource: 'core/configmaps' },
    selection: { labels: [], fields: [] },
    read: { kind: 'latest' as const },
    limit: 0,
    start: '',
  }
  return { ...request, layout: 'joined', ...rest }
}

/** Reads a list to its end. */
export async function listed(storage: StorageService, rest: Partial<ListRequest> = {}): Promise<Listed> {
  let head: Listed['head'] | undefined
  const objects: Shown[] = []
  for await (const part of storage.list(aList(rest))) {
    if (part.kind === 'head') {
      if (head !== undefined || objects.length > 0) throw new Error('the head must come first and once')
      head = part
    } else if (part.kind === 'chunk') {
      const chunk = JSON.parse(`[${new TextDecoder().decode(part.bytes)}]`) as Shown[]
      if (chunk.length !== part.count) throw new Error(`a chunk of ${chunk.length} objects says ${part.count}`)
      objects.push(...chunk)
    } else objects.push(...part.entries.map(({ value }) => shown(value)))
  }
  if (head === undefined) throw new Error('a list without a head')
  return { head, objects, names: objects.map(({ metadata }) => metadata.name) }
}

/** Reads a stream of changes up to a number of them, and prints each as `revision key [content]`. */
export async function takeChanges(stream: Stream<ChangesPart>, count: number): Promise<string[]> {
  const lines: string[] = []
  for await (const part of stream) {
    if (part.kind === 'expired') return [...lines, `expired ${part.oldest}`]
    if (part.kind === 'changes')
      for (const { revision, key, after } of part.changes)
        lines.push(after === undefined ? `${revision} -${key}` : `${revision} +${key} ${shown(after.value).data.text}`)
    if (lines.length >= count) return lines
  }
  return lines
}

const everyChange = { epoch: '', resources: [] }

/** The contract of the storage service, for any store and any transport. `open` gives an empty one. */
export function storageSuite(name: string, open: () => Promise<{ storage: StorageService; close: () => Promise<void> }>): void {
  const withStorage = (body: (storage: StorageService) => Promise<void>) => async () => {
    const { storage, close } = await open()
    try {
      await body(storage)
    } finally {
      await close()
    }
  }
  const label = (key: string, ...values: string[]) => ({ labels: [{ key, operator: 'In' as const, values }], fields: [] })
  const field = (one: string, value: string, operator: 'Equals' | 'NotEquals' = 'Equals') => ({
    labels: [],
    fields: [{ field: one, operator, value }],
  })

  describe(`storage: ${name}`, () => {
    test(
      'RV-26: an acknowledged write is visible in the next read',
      withStorage(async (storage) => {
        const request = aPut({ name: 'a', data: 'one' })
        const revision = await written(storage, request)
        const { entry, revision: at } = await storage.get({ key: request.key, read: { kind: 'latest' } })
        expect({ isFresh: at >= revision, revision: entry?.revision, writeId: entry?.writeId }).toEqual({
          isFresh: true,
          revision,
          writeId: request.writeId,
        })
        expect(shown(entry!.value)).toMatchObject({ metadata: { name: 'a', resourceVersion: String(revision) }, data: { text: 'one' } })
        const metadata = JSON.parse(new TextDecoder().decode(entry!.value.subarray(entry!.metadataStart, entry!.metadataEnd)))
        expect(metadata).toEqual(shown(entry!.value).metadata)
      }),
    )

    test(
      'CRD-95: a list has joined bytes if all objects have the requested fingerprint, and separate entries otherwise',
      withStorage(async (storage) => {
        for (let index = 0; index < 100; index++) {
          const name = `a-${String(index).padStart(3, '0')}`
          await written(storage, aPut({ name, labels: { half: String(index % 2) }, fingerprint: index === 70 ? 2 : 1 }))
        }
        const kinds = async (rest: Partial<ListRequest>) => {
          const counts = { chunk: 0, entries: 0 }
          for await (const part of storage.list(aList(rest))) {
            if (part.kind === 'chunk') counts.chunk += part.count
            if (part.kind === 'entries') counts.entries += part.entries.length
          }
          return counts
        }
        expect(await kinds({})).toEqual({ chunk: 100, entries: 0 })
        expect(await kinds({ fingerprint: 3 })).toEqual({ chunk: 0, entries: 100 })
        expect(await kinds({ fingerprint: 1, selection: label('half', '1') })).toEqual({ chunk: 50, entries: 0 })
        expect(await kinds({ fingerprint: 1, selection: label('half', '0') })).toEqual({ chunk: 0, entries: 50 })
        const mixed = await kinds({ fingerprint: 1 })
        expect(mixed.chunk + mixed.entries).toBe(100)
        expect(Math.min(mixed.chunk, mixed.entries)).toBeGreaterThan(0)
        const names = await listed(storage, { fingerprint: 1 })
        expect(names.names).toEqual((await listed(storage)).names)
      }),
    )

    test(
      'CRD-95: an entry and a change have the fingerprint of the write',
      withStorage(async (storage) => {
        const { revision: after } = await storage.status({})
        const put = aPut({ name: 'a', fingerprint: 5 })
        const expected = await written(storage, put)
        await written(storage, { ...aPut({ name: 'a', fingerprint: 6 }), expected })
        expect((await storage.get({ key: put.key, read: { kind: 'latest' } })).entry?.fingerprint).toBe(6)
        const seen: unknown[] = []
        for await (const part of storage.changes({ ...everyChange, after })) {
          if (part.kind !== 'changes') continue
          for (const change of part.changes) seen.push([change.before?.fingerprint, change.after?.fingerprint])
          if (seen.length === 2) break
        }
        expect(seen).toEqual([
          [undefined, 5],
          [5, 6],
        ])
      }),
    )

    test(
      'a get of an absent object has no entry and has the revision of the read',
      withStorage(async (storage) => {
        const revision = await written(storage, aPut({ name: 'a' }))
        expect(await storage.get({ key: 'core/configmaps/default/b', read: { kind: 'any' } })).toMatchObject({ revision })
        expect((await storage.get({ key: 'core/configmaps/default/b', read: { kind: 'any' } })).entry).toBeUndefined()
      }),
    )

    test(
      'a commit with an outdated revision returns the current entry',
      withStorage(async (storage) => {
        const revision = await written(storage, aPut({ name: 'a', data: 'theirs' }))
        const lost = await storage.commit(aPut({ name: 'a', data: 'ours' }))
        expect(lost.kind).toBe('stale')
        if (lost.kind !== 'stale') return
        expect({ revision: lost.current?.revision, text: shown(lost.current!.value).data.text }).toEqual({ revision, text: 'theirs' })
        await written(storage, aDelete('core/configmaps/default/a', revision))
        const gone = await storage.commit(aPut({ name: 'a' }, { expected: revision }))
        expect(gone.kind === 'stale' && gone.current === undefined).toBe(true)
      }),
    )

    test(
      'a commit whose condition does not hold changes nothing',
      withStorage(async (storage) => {
        const conditions = [{ key: 'core/namespaces/default', revision: 77 }]
        expect(await storage.commit(aPut({ name: 'a' }, { conditions }))).toEqual({ kind: 'unmet', index: 0 })
        expect((await listed(storage)).names).toEqual([])
        const tooMany = Array.from({ length: 5 }, () => ({ key: 'x', revision: 0 }))
        await expect(storage.commit(aPut({ name: 'a' }, { conditions: tooMany }))).rejects.toMatchObject({ code: 400 })
      }),
    )

    test(
      'a repeated write is written once and gets the same answer',
      withStorage(async (storage) => {
        const request = aPut({ name: 'a' })
        const both = await Promise.all([storage.commit(request), storage.commit(request)])
        expect(both[1]).toEqual(both[0])
        expect(await storage.commit(request)).toEqual(both[0])
        const removal = aDelete(request.key, (await storage.status({})).revision)
        expect(await storage.commit(removal)).toEqual(await storage.commit(removal))
      }),
    )

    test(
      'LIST-11: a list shows one revision, in both forms, in key order',
      withStorage(async (storage) => {
        const names = Array.from({ length: 300 }, (_, index) => `n${String((index * 7) % 300).padStart(3, '0')}`)
        // Remote storage has one second for each answer; a busy machine cannot answer some hundred parallel requests in that time.
        for (let first = 0; first < names.length; first += 20) {
          await Promise.all(names.slice(first, first + 20).map((one) => written(storage, aPut({ name: one }))))
        }
        await written(storage, aPut({ resource: 'core/configmapsx', name: 'other' }))
        const stream = storage.list(aList())[Symbol.asyncIterator]()
        expect((await stream.next()).value).toMatchObject({ kind: 'head' })
        await written(storage, aPut({ name: 'later' }))
        let count = 0
        for (let part = await stream.next(); part.done !== true; part = await stream.next())
          count += part.value.kind === 'chunk' ? part.value.count : 0
        expect(count).toBe(300)
        const sorted = [...names.sort(), 'later'].sort()
        expect((await listed(storage)).names).toEqual(sorted)
        expect((await listed(storage, { layout: 'entries' })).names).toEqual(sorted)
      }),
    )

    test(
      'LIST-06: a page of a list with a selector has no remaining count',
      withStorage(async (storage) => {
        for (const one of ['a', 'b', 'c', 'd']) await written(storage, aPut({ name: one, labels: { app: one < 'd' ? 'x' : 'y' } }))
        const { head, names } = await listed(storage, { selection: label('app', 'x'), limit: 2 })
        expect({ names, next: head.next, remaining: head.remaining }).toEqual({
          names: ['a', 'b'],
          next: 'default/c',
          remaining: undefined,
        })
        const rest = await listed(storage, { selection: label('app', 'x'), limit: 2, start: head.next! })
        expect({ names: rest.names, next: rest.head.next }).toEqual({ names: ['c'], next: undefined })
      }),
    )

    test(
      'LIST-06: a page of the past has the remaining count of its revision without a selector, and none with a selector',
      withStorage(async (storage) => {
        let expected = 0
        for (const one of ['a', 'b', 'd', 'e', 'c']) expected = await written(storage, aPut({ name: one, labels: { app: 'x' } }))
        const { head } = await listed(storage, { limit: 1 })
        const pageWith = async (selection?: ListRequest['selection']) => {
          const read = { kind: 'page', revision: head.revision, epoch: head.epoch } as const
          const page = await listed(storage, { limit: 2, read, start: head.next!, ...(selection === undefined ? {} : { selection }) })
          return { names: page.names, next: page.head.next, remaining: page.head.remaining }
        }
        await written(storage, aPut({ name: 'c', labels: { app: 'y' } }, { expected }))
        for (const one of ['f', 'g']) await written(storage, aPut({ name: one, labels: { app: 'x' } }))
        expect(await pageWith()).toEqual({ names: ['b', 'c'], next: 'default/d', remaining: 2 })
        expect(await pageWith(label('app', 'x'))).toEqual({ names: ['b', 'c'], next: 'default/d', remaining: undefined })
      }),
    )

    test(
      'CHUNK-03: pages have at most the limit, and CHUNK-05: together they are the list',
      withStorage(async (storage) => {
        const all = Array.from({ length: 25 }, (_, index) => `n${String(index).padStart(2, '0')}`)
        for (const one of all) await written(storage, aPut({ name: one }))
        const seen: string[] = []
        const remaining: (number | undefined)[] = []
        let read: Freshness = { kind: 'latest' }
        for (let start: string | undefined = ''; start !== undefined; ) {
          const page: Listed = await listed(storage, { limit: 10, start, read })
          seen.push(...page.names)
          remaining.push(page.head.remaining)
          read = { kind: 'page', revision: page.head.revision, epoch: page.head.epoch }
          start = page.head.next
        }
        expect(seen).toEqual(all)
        expect(remaining).toEqual([15, 5, undefined])
      }),
    )

    test(
      'CHUNK-07: later pages do not show changes after the first page',
      withStorage(async (storage) => {
        const revisions = new Map<string, number>()
        for (const one of ['a', 'b', 'c', 'd', 'e']) revisions.set(one, await written(storage, aPut({ name: one, data: 'old' })))
        const first = await listed(storage, { limit: 2 })
        await written(storage, aPut({ name: 'cc' }))
        await written(storage, aDelete('core/configmaps/default/d', revisions.get('d')!))
        await written(storage, aPut({ name: 'e', data: 'new' }, { expected: revisions.get('e')! }))
        const read = { kind: 'page' as const, revision: first.head.revision, epoch: first.head.epoch }
        const second = await listed(storage, { start: first.head.next!, read })
        expect(second.objects.map(({ metadata, data }) => `${metadata.name} ${data.text}`)).toEqual(['c old', 'd old', 'e old'])
        expect(second.head.revision).toBe(first.head.revision)
        expect((await listed(storage)).names).toEqual(['a', 'b', 'c', 'cc', 'e'])
      }),
    )

    test(
      'a page of another epoch is expired',
      withStorage(async (storage) => {
        const revision = await written(storage, aPut({ name: 'a' }))
        await expect(listed(storage, { read: { kind: 'page', revision, epoch: 'another' } })).rejects.toMatchObject({
          code: 410,
          reason: 'Expired',
        })
      }),
    )

    test(
      'RV-28: an exact read shows the state at that revision',
      withStorage(async (storage) => {
        const one = await written(storage, aPut({ name: 'a', data: 'one' }))
        const two = await written(storage, aPut({ name: 'a', data: 'two' }, { expected: one }))
        const gone = await written(storage, aDelete('core/configmaps/default/a', two))
        const texts = async (revision: number) => {
          const { head, objects } = await listed(storage, { read: { kind: 'exact', revision, asked: String(revision) } })
          return `${head.revision}: ${objects.map(({ data }) => data.text)}`
        }
        expect([await texts(one), await texts(two), await texts(gone)]).toEqual([`${one}: one`, `${two}: two`, `${gone}: `])
        const { entry } = await storage.getAt({ key: 'core/configmaps/default/a', revision: one })
        expect(shown(entry!.value).data.text).toBe('one')
        expect((await storage.getAt({ key: 'core/configmaps/default/a', revision: gone })).entry).toBeUndefined()
      }),
    )

    test(
      'selectors match labels, stored fields, name and namespace, within the scope',
      withStorage(async (storage) => {
        await written(storage, aPut({ namespace: 'x', name: 'a', labels: { app: 'web' }, fields: { 'spec.nodeName': 'n1' } }))
        await written(storage, aPut({ namespace: 'x', name: 'b', labels: { app: 'db' } }))
        await written(storage, aPut({ namespace: 'y', name: 'a', labels: { app: 'web' }, fields: { 'spec.nodeName': 'n2' } }))
        const where = async (rest: Partial<ListRequest>) =>
          (await listed(storage, rest)).objects.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
        const inX = { scope: { resource: 'core/configmaps', namespace: 'x' } }
        expect(await where({ selection: label('app', 'web') })).toEqual(['x/a', 'y/a'])
        expect(await where({ ...inX, selection: label('app', 'web') })).toEqual(['x/a'])
        expect(await where({ selection: field('spec.nodeName', 'n2') })).toEqual(['y/a'])
        expect(await where({ selection: field('spec.nodeName', '') })).toEqual(['x/b'])
        expect(await where({ selection: field('metadata.name', 'a') })).toEqual(['x/a', 'y/a'])
        expect(await where({ selection: field('metadata.name', 'a', 'NotEquals') })).toEqual(['x/b'])
        expect(await where({ ...inX, selection: field('metadata.name', 'b') })).toEqual(['x/b'])
        expect(await where({ ...inX, selection: field('metadata.name', 'absent') })).toEqual([])
        expect(await where({ selection: field('metadata.namespace', 'y') })).toEqual(['y/a'])
        expect(await where({ ...inX, selection: field('metadata.namespace', 'y') })).toEqual([])
        expect(await where({ scope: { resource: 'core/configmaps', namespace: 'x', name: 'a' } })).toEqual(['x/a'])
      }),
    )

    test(
      'WATCH-17: a list and the changes after it neither lose nor repeat a change',
      withStorage(async (storage) => {
        const one = await written(storage, aPut({ name: 'a', data: 'one' }))
        const { head } = await listed(storage)
        const two = await written(storage, aPut({ name: 'a', data: 'two' }, { expected: one }))
        const stream = storage.changes({ ...everyChange, after: head.revision })
        const three = await written(storage, aDelete('core/configmaps/default/a', two))
        expect(await takeChanges(stream, 2)).toEqual([`${two} +core/configmaps/default/a two`, `${three} -core/configmaps/default/a`])
      }),
    )

    test(
      'a change has the previous entry, and its position in the order of all changes',
      withStorage(async (storage) => {
        const { epoch } = await storage.status({})
        const start = await written(storage, aPut({ resource: 'core/secrets', name: 'before' }))
        const one = await written(storage, aPut({ name: 'a', data: 'one', labels: { app: 'x' } }))
        const two = await written(storage, aPut({ name: 'a', data: 'two', labels: { app: 'y' } }, { expected: one }))
        const stream = storage.changes({ epoch, resources: ['core/configmaps'], after: start })[Symbol.asyncIterator]()
        const part = (await stream.next()).value as ChangesPart
        await stream.return?.()
        expect(part).toMatchObject({
          kind: 'changes',
          epoch,
          changes: [
            { revision: one, previous: start, key: 'core/configmaps/default/a', after: { facts: { labels: { app: 'x' }, fields: {} } } },
            {
              revision: two,
              previous: one,
              before: { revision: one, facts: { labels: { app: 'x' } } },
              after: { facts: { labels: { app: 'y' } } },
            },
          ],
        })
        if (part.kind === 'changes') expect(shown(part.changes[1]!.before!.value!).data.text).toBe('one')
      }),
    )

    test(
      'changes of other resources are left out, and a position follows within a second',
      withStorage(async (storage) => {
        const { revision: after } = await storage.status({})
        const stream = storage.changes({ epoch: '', resources: ['core/secrets'], after })
        const revision = await written(storage, aPut({ name: 'a' }))
        const parts: ChangesPart[] = []
        for await (const part of stream) {
          parts.push(part)
          if (part.kind === 'position' && part.revision >= revision) break
        }
        expect(parts.filter(({ kind }) => kind === 'changes')).toEqual([])
        expect(parts.at(-1)).toMatchObject({ kind: 'position' })
      }),
    )

    test(
      'changes of another epoch begin with expired, and the stream ends',
      withStorage(async (storage) => {
        const { revision, epoch } = await storage.status({})
        const parts: ChangesPart[] = []
        for await (const part of storage.changes({ epoch: 'another', resources: [], after: revision })) parts.push(part)
        expect(parts).toMatchObject([{ kind: 'expired', epoch }])
      }),
    )

    test(
      'a closed stream ends',
      withStorage(async (storage) => {
        const { revision } = await storage.status({})
        const stream = storage.changes({ ...everyChange, after: revision })
        const next = stream[Symbol.asyncIterator]().next()
        stream.close()
        expect((await next).done).toBe(true)
        const ending = new AbortController()
        const second = storage.changes({ ...everyChange, after: revision }, { signal: ending.signal })[Symbol.asyncIterator]()
        const waiting = second.next()
        ending.abort()
        expect((await waiting.catch(() => ({ done: true }))).done).toBe(true)
      }),
    )
  })
}
