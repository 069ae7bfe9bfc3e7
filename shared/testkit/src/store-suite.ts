import type { Store, StoreChange, StoreCommit } from '@orch/core/contracts'
import { describe, expect, test } from 'vitest'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (value: Uint8Array | undefined) => (value === undefined ? undefined : new TextDecoder().decode(value))

let writes = 0

/** A commit with the given parts; without `value` it is a delete. */
function aCommit({ key, value, ...rest }: { key: string; value?: string } & Partial<Omit<StoreCommit, 'value' | 'key'>>): StoreCommit {
  return { key, expected: 0, conditions: [], writeId: `w${writes++}`, ...(value === undefined ? {} : { value: bytes(value) }), ...rest }
}

async function written(store: Store, commit: StoreCommit): Promise<number> {
  const outcome = await store.commit(commit)
  if (outcome.kind !== 'written') throw new Error(`expected the commit of ${commit.key} to be written, it is ${outcome.kind}`)
  return outcome.revision
}

async function contentAt(store: Store, prefix: string, revision: number): Promise<Record<string, string>> {
  const { records } = await store.range({ prefix, start: '', limit: 0, revision })
  return Object.fromEntries(records.map(({ key, value }) => [key, text(value)!]))
}

async function visited(store: Store): Promise<(readonly [key: string, revision: number, text: string | undefined])[]> {
  const seen: (readonly [string, number, string | undefined])[] = []
  await store.visit(({ key, revision, value }) => seen.push([key, revision, text(value)]))
  return seen
}

async function historyAfter(store: Store, after: number): Promise<readonly StoreChange[]> {
  const read = await store.history(after, 10_000)
  if (read.kind === 'compacted') throw new Error(`history after ${after} is compacted`)
  return read.changes
}

/** The contract of every store; `open` gives an empty one. */
export function storeSuite(name: string, open: () => Promise<Store>): void {
  const withStore = (body: (store: Store) => Promise<void>) => async () => {
    const store = await open()
    try {
      await body(store)
    } finally {
      await store.close()
    }
  }

  describe(`store: ${name}`, () => {
    test(
      'an empty store has a revision above 0 and an epoch, and accepts writes',
      withStore(async (store) => {
        const { revision, epoch, refusing } = store.status()
        expect({ isAboveZero: revision > 0, hasEpoch: epoch.length > 0, refusing }).toEqual({
          isAboveZero: true,
          hasEpoch: true,
          refusing: '',
        })
      }),
    )

    test(
      'every current record is visited once, in key order',
      withStore(async (store) => {
        const long = 'long'.repeat(20_000)
        const b = await written(store, aCommit({ key: 'b', value: long }))
        const first = await written(store, aCommit({ key: 'a', value: 'one' }))
        const a = await written(store, aCommit({ key: 'a', expected: first, value: 'two' }))
        const gone = await written(store, aCommit({ key: 'c', value: 'three' }))
        await written(store, aCommit({ key: 'c', expected: gone }))
        expect(await visited(store)).toEqual([
          ['a', a, 'two'],
          ['b', b, long],
        ])
      }),
    )

    test(
      'promise 1: a written value is read back',
      withStore(async (store) => {
        const revision = await written(store, aCommit({ key: 'a/x', value: 'one' }))
        const record = await store.getAt('a/x', revision)
        expect({ revision: record?.revision, value: text(record?.value) }).toEqual({ revision, value: 'one' })
        expect(store.status().revision).toBeGreaterThanOrEqual(revision)
      }),
    )

    test(
      'promise 2: revisions grow, and each changes one key, also for parallel commits',
      withStore(async (store) => {
        const revisions = await Promise.all(
          Array.from({ length: 50 }, (_, index) => written(store, aCommit({ key: `a/${index}`, value: 'x' }))),
        )
        expect(new Set(revisions).size).toBe(50)
        const later = await written(store, aCommit({ key: 'later', value: 'x' }))
        expect(later).toBeGreaterThan(Math.max(...revisions))
      }),
    )

    test(
      'promise 3: a commit that expects another revision is stale and changes nothing',
      withStore(async (store) => {
        const first = await written(store, aCommit({ key: 'a/x', value: 'one' }))
        expect(await store.commit(aCommit({ key: 'a/x', value: 'two' }))).toEqual({ kind: 'stale' })
        expect(await store.commit(aCommit({ key: 'a/x', value: 'two', expected: first + 7 }))).toEqual({ kind: 'stale' })
        expect(await store.commit(aCommit({ key: 'a/absent', expected: 0 }))).toEqual({ kind: 'stale' })
        expect(await contentAt(store, '', store.status().revision)).toEqual({ 'a/x': 'one' })
        expect(await historyAfter(store, first)).toEqual([])
      }),
    )

    test(
      'promise 3: the first failed condition is named',
      withStore(async (store) => {
        const at = await written(store, aCommit({ key: 'a/x', value: 'one' }))
        const good = { key: 'a/x', revision: at }
        const absent = { key: 'a/y', revision: 0 }
        expect(await store.commit(aCommit({ key: 'b', value: '', conditions: [good, { key: 'a/y', revision: 3 }] }))).toEqual({
          kind: 'unmet',
          index: 1,
        })
        expect(await store.commit(aCommit({ key: 'b', value: '', conditions: [{ key: 'a/x', revision: 0 }] }))).toEqual({
          kind: 'unmet',
          index: 0,
        })
        expect((await store.commit(aCommit({ key: 'b', value: '', conditions: [good, absent] }))).kind).toBe('written')
      }),
    )

    test(
      'promise 3: a commit whose caller has left is not written',
      withStore(async (store) => {
        expect(await store.commit(aCommit({ key: 'a', value: 'x', isLate: () => true }))).toEqual({ kind: 'late' })
        expect(await contentAt(store, '', store.status().revision)).toEqual({})
      }),
    )

    test(
      'promise 4: of many commits with the same expectation, exactly one is written',
      withStore(async (store) => {
        const outcomes = await Promise.all(
          Array.from({ length: 20 }, (_, index) => store.commit(aCommit({ key: 'a/x', value: String(index) }))),
        )
        expect(outcomes.filter(({ kind }) => kind === 'written')).toHaveLength(1)
        expect(outcomes.filter(({ kind }) => kind === 'stale')).toHaveLength(19)
      }),
    )

    test(
      'promise 4: a create right after a delete is written',
      withStore(async (store) => {
        const first = await written(store, aCommit({ key: 'a/x', value: 'one' }))
        const [deleted, created] = await Promise.all([
          store.commit(aCommit({ key: 'a/x', expected: first })),
          store.commit(aCommit({ key: 'a/x', value: 'two' })),
        ])
        expect([deleted.kind, created.kind]).toEqual(['written', 'written'])
        expect(await contentAt(store, '', store.status().revision)).toEqual({ 'a/x': 'two' })
      }),
    )

    test(
      'promise 5: a listener receives each change once, in order, before the outcome is delivered',
      withStore(async (store) => {
        const heard: number[] = []
        const detach = store.listen((changes) => heard.push(...changes.map(({ revision }) => revision)))
        const revisions: number[] = []
        const early: boolean[] = []
        for (let round = 0; round < 5; round++) {
          const asked = Array.from({ length: 4 }, async (_, index) => {
            const revision = await written(store, aCommit({ key: `a/${round}-${index}`, value: 'x' }))
            early.push(heard.includes(revision))
            revisions.push(revision)
          })
          await Promise.all(asked)
        }
        detach()
        await written(store, aCommit({ key: 'unheard', value: 'x' }))
        expect(heard).toEqual(revisions.sort((a, b) => a - b))
        expect(early.every(Boolean)).toBe(true)
      }),
    )

    test(
      'promise 6: every past revision is read unchanged',
      withStore(async (store) => {
        const states: { revision: number; content: Record<string, string> }[] = []
        const content: Record<string, string> = {}
        const at: Record<string, number> = {}
        for (let step = 0; step < 60; step++) {
          const key = `a/${(step * 7) % 11}`
          const isDelete = step % 5 === 4 && at[key] !== undefined && at[key] !== 0
          const revision = await written(store, aCommit({ key, expected: at[key] ?? 0, ...(isDelete ? {} : { value: `v${step}` }) }))
          at[key] = isDelete ? 0 : revision
          if (isDelete) delete content[key]
          else content[key] = `v${step}`
          states.push({ revision, content: { ...content } })
        }
        for (const { revision, content: then } of states) {
          expect(await contentAt(store, 'a/', revision)).toEqual(then)
          expect(await store.count({ prefix: 'a/', start: '', revision })).toBe(Object.keys(then).length)
          for (let index = 0; index < 11; index++) expect(text((await store.getAt(`a/${index}`, revision))?.value)).toBe(then[`a/${index}`])
        }
      }),
    )

    test(
      'promise 6: a range has only the keys of its prefix, in order, page by page',
      withStore(async (store) => {
        for (const key of ['a/c', 'a/a', 'a0', 'a', 'b/a', 'a/b', 'a/a/x']) await written(store, aCommit({ key, value: key }))
        const { revision } = store.status()
        const first = await store.range({ prefix: 'a/', start: '', limit: 2, revision })
        expect(first.records.map(({ key }) => key)).toEqual(['a/a', 'a/a/x'])
        expect(first.next).toBe('a/b')
        await written(store, aCommit({ key: 'a/bb', value: 'later' }))
        const second = await store.range({ prefix: 'a/', start: first.next!, limit: 2, revision })
        expect(second.records.map(({ key }) => key)).toEqual(['a/b', 'a/c'])
        expect(second.next).toBeUndefined()
      }),
    )

    test(
      'promise 7: history has every change after a revision, with the previous entry',
      withStore(async (store) => {
        const before = await written(store, aCommit({ key: 'b', value: 'before' }))
        const start = store.status().revision
        const created = await written(store, aCommit({ key: 'a', value: 'one', writeId: 'first' }))
        const changed = await written(store, aCommit({ key: 'a', value: 'two', expected: created, writeId: 'second' }))
        const deleted = await written(store, aCommit({ key: 'a', expected: changed, writeId: 'third' }))
        expect((await historyAfter(store, start)).map((change) => ({ ...change, value: text(change.value) }))).toMatchObject([
          { revision: created, previous: before, replaces: 0, key: 'a', writeId: 'first', value: 'one' },
          { revision: changed, previous: created, replaces: created, key: 'a', writeId: 'second', value: 'two' },
          { revision: deleted, previous: changed, replaces: changed, key: 'a', writeId: 'third', value: undefined },
        ])
        expect(text((await store.recordAt('a', changed))?.value)).toBe('two')
        expect(await historyAfter(store, deleted)).toEqual([])
        const limited = await store.history(start, 1)
        expect(limited.kind === 'changes' && limited.changes.length).toBe(1)
      }),
    )

    test(
      'promise 7: compaction keeps the state and later changes, and refuses earlier ones',
      withStore(async (store) => {
        const one = await written(store, aCommit({ key: 'a', value: 'one' }))
        const two = await written(store, aCommit({ key: 'a', value: 'two', expected: one }))
        await written(store, aCommit({ key: 'b', value: 'b' }))
        const gone = await written(store, aCommit({ key: 'c', value: 'c' }))
        const middle = await written(store, aCommit({ key: 'c', expected: gone }))
        const three = await written(store, aCommit({ key: 'a', value: 'three', expected: two }))
        await store.compact(middle)
        expect(store.status().compacted).toBe(middle)
        expect(await store.history(middle - 1, 10)).toEqual({ kind: 'compacted', compacted: middle })
        expect((await historyAfter(store, middle)).map(({ revision }) => revision)).toEqual([three])
        expect(await contentAt(store, '', middle)).toEqual({ a: 'two', b: 'b' })
        expect(await contentAt(store, '', three)).toEqual({ a: 'three', b: 'b' })
        expect(text((await store.recordAt('a', two))?.value)).toBe('two')
        expect(await store.recordAt('a', one)).toBeUndefined()
        await expect(store.compact(three + 100)).rejects.toThrow(`revision ${three + 100} can't be compacted`)
      }),
    )

    test(
      'promise 8: a new epoch differs, and revisions continue',
      withStore(async (store) => {
        const before = store.status()
        const epoch = await store.renewEpoch()
        expect(epoch).not.toBe(before.epoch)
        expect(store.status().epoch).toBe(epoch)
        const next = await written(store, aCommit({ key: 'a', value: 'x' }))
        expect(next).toBeGreaterThan(before.revision)
      }),
    )

    test(
      'promise 9: a read entry does not change with its key',
      withStore(async (store) => {
        const revision = await written(store, aCommit({ key: 'a', value: 'one' }))
        const record = await store.getAt('a', revision)
        await written(store, aCommit({ key: 'a', value: 'TWO', expected: revision }))
        await Promise.all(Array.from({ length: 50 }, (_, index) => written(store, aCommit({ key: `x/${index}`, value: 'y'.repeat(500) }))))
        expect(text(record?.value)).toBe('one')
      }),
    )

    test(
      'a value of more than 1.5 MiB is refused, and the stored value stays',
      withStore(async (store) => {
        const expected = await written(store, aCommit({ key: 'a', value: 'x' }))
        const large = aCommit({ key: 'a', value: 'x'.repeat(1.5 * 1024 * 1024 + 1), expected })
        await expect(store.commit(large)).rejects.toMatchObject({ code: 500, message: 'etcdserver: request is too large' })
        expect(text((await store.getAt('a', expected))?.value)).toBe('x')
        await written(store, aCommit({ key: 'a', value: 'y', expected }))
      }),
    )

    test(
      'a key that is too long is refused with that reason',
      withStore(async (store) => {
        await expect(store.commit(aCommit({ key: `a/${'x'.repeat(4_000)}`, value: 'x' }))).rejects.toThrow('too long')
        expect((await store.commit(aCommit({ key: `a/${'x'.repeat(1_000)}`, value: 'x' }))).kind).toBe('written')
      }),
    )

    test(
      'a closed store refuses commits',
      withStore(async (store) => {
        await store.close()
        await expect(store.commit(aCommit({ key: 'a', value: 'x' }))).rejects.toMatchObject({ code: 503 })
      }),
    )
  })
}
