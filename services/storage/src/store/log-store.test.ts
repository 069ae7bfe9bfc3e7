import type { StoreCommit } from '@orch/core/contracts'
import { describe, expect, test } from 'vitest'
import { LogStore } from './log-store.ts'
import { createMemoryStore, MemoryTables } from './memory-store.ts'
import { type Batch, type KeySpan, NoRoomError, type Tables } from './tables.ts'

/** Tables whose writes the test ends, with success or failure. */
class HeldTables implements Tables {
  readonly isImmediate = false
  isFull = false
  readonly #inner = new MemoryTables('epoch')
  readonly held: {
    readonly batch: Batch
    readonly succeed: () => Promise<void>
    readonly fail: (reason: string | Error) => Promise<void>
  }[] = []

  get meta() {
    return this.#inner.meta
  }

  get latest() {
    return this.#inner.latest
  }

  keys(span: KeySpan) {
    return this.#inner.keys(span)
  }

  entry(revision: number) {
    return this.#inner.entry(revision)
  }

  visit(show: Parameters<Tables['visit']>[0]) {
    this.#inner.visit(show)
  }

  revisions(after: number) {
    return this.#inner.revisions(after)
  }

  entries(after: number) {
    return this.#inner.entries(after)
  }

  write(batch: Batch): Promise<void> {
    return new Promise((resolve, reject) => {
      const succeed = () => {
        this.#inner.write(batch)
        resolve()
        return turn()
      }
      const fail = (reason: string | Error) => {
        reject(typeof reason === 'string' ? new Error(reason) : reason)
        return turn()
      }
      this.held.push({ batch, succeed, fail })
    })
  }

  sizes() {
    return this.#inner.sizes()
  }

  close() {
    return this.#inner.close()
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

function aStore() {
  const tables = new HeldTables()
  const elapsed = { ms: 10_000 }
  const failures: string[] = []
  const onFailure = ({ message }: Error) =>
    void failures.push(`${message}, with ${Object.values(outcomes).filter((outcome) => outcome !== 'open').length} answered`)
  const store = new LogStore(tables, { now: () => 0, monotonic: () => elapsed.ms, randomId: () => 'id', onFailure })
  const heard: string[] = []
  store.listen((changes) => heard.push(...changes.map(({ key, revision }) => `${key}@${revision}`)))
  const outcomes: Record<string, string> = {}
  /** Requests a commit; its outcome is in `outcomes`. */
  const ask = (name: string, { key = name, ...rest }: Partial<StoreCommit> = {}) => {
    outcomes[name] = 'open'
    store.commit({ key, expected: 0, conditions: [], value: new Uint8Array(1), writeId: name, ...rest }).then(
      (outcome) => {
        outcomes[name] = outcome.kind === 'written' ? `written ${outcome.revision}` : outcome.kind
      },
      (error: Error) => {
        outcomes[name] = error.message
      },
    )
  }
  return { store, tables, heard, outcomes, ask, elapsed, failures }
}

describe('group commit', () => {
  test('commits of one turn share a flush, and waiting commits share the next flush', async () => {
    const { tables, heard, outcomes, ask } = aStore()
    ask('a')
    ask('b')
    await turn()
    ask('c')
    await turn()
    ask('d')
    expect(tables.held.map(({ batch }) => batch.appended.map(({ key }) => key))).toEqual([['a', 'b']])
    expect({ heard, outcomes }).toEqual({ heard: [], outcomes: { a: 'open', b: 'open', c: 'open', d: 'open' } })
    await tables.held[0]!.succeed()
    expect(tables.held[1]?.batch.appended.map(({ key }) => key)).toEqual(['c', 'd'])
    expect({ heard, outcomes }).toEqual({ heard: ['a@2', 'b@3'], outcomes: { a: 'written 2', b: 'written 3', c: 'open', d: 'open' } })
  })

  test('nothing is visible before its flush has ended', async () => {
    const { store, tables, ask } = aStore()
    ask('a')
    await turn()
    expect(await store.getAt('a', 100)).toBeUndefined()
    expect(store.status().revision).toBe(1)
    await tables.held[0]!.succeed()
    expect((await store.getAt('a', 100))?.revision).toBe(2)
  })

  test('a flush that fails refuses all its commits with the cause, and no listener has seen them', async () => {
    const { store, tables, heard, outcomes, ask } = aStore()
    ask('a')
    ask('lost', { key: 'a' })
    await turn()
    await tables.held[0]!.fail(new NoRoomError('the disk is full'))
    const reason = "the store can't write: the disk is full"
    expect({ heard, outcomes }).toEqual({ heard: [], outcomes: { a: reason, lost: reason } })
    expect(store.status().refusing).toBe('the disk is full')
  })

  test('commits waiting for a failed flush are checked against the state before it', async () => {
    const { tables, heard, outcomes, ask } = aStore()
    ask('first', { key: 'a' })
    await turn()
    ask('second', { key: 'a' })
    await tables.held[0]!.fail(new NoRoomError('the disk is full'))
    await tables.held[1]!.succeed()
    // The first commit received revision 2, which is not reused.
    expect({ outcome: outcomes['second'], heard }).toEqual({ outcome: 'written 3', heard: ['a@3'] })
  })

  test('a commit that waited for a conflicting commit is stale', async () => {
    const { tables, outcomes, ask } = aStore()
    ask('first', { key: 'a' })
    await turn()
    ask('second', { key: 'a' })
    await tables.held[0]!.succeed()
    expect(outcomes).toEqual({ first: 'written 2', second: 'stale' })
  })

  test('a status request while writes are refused tries a write once a second, and reports when writing works again', async () => {
    const { store, tables, elapsed, ask } = aStore()
    ask('a')
    await turn()
    await tables.held[0]!.fail(new NoRoomError('the disk is full'))
    elapsed.ms += 1_000
    expect([store.status().refusing, store.status().refusing, tables.held.length]).toEqual(['the disk is full', 'the disk is full', 2])
    await tables.held[1]!.fail(new NoRoomError('still full'))
    expect([store.status().refusing, tables.held.length]).toEqual(['still full', 2])
    elapsed.ms += 1_000
    store.status()
    await tables.held[2]!.succeed()
    expect(store.status().refusing).toBe('')
    expect(store.status().revision).toBe(1)
  })

  test('a commit during a retry is written when writing works again', async () => {
    const { store, tables, elapsed, ask, outcomes } = aStore()
    ask('a')
    await turn()
    await tables.held[0]!.fail(new NoRoomError('the disk is full'))
    elapsed.ms += 1_000
    store.status()
    ask('b')
    await turn()
    expect([tables.held.length, outcomes['b']]).toEqual([2, 'open'])
    await tables.held[1]!.succeed()
    expect(tables.held.length).toBe(3)
    await tables.held[2]!.succeed()
    expect(outcomes['b']).toMatch(/^written/)
  })

  test('a close waits for earlier requests', async () => {
    const { store, tables, outcomes, ask } = aStore()
    ask('a')
    const closed = store.close()
    await turn()
    await tables.held[0]!.succeed()
    await closed
    expect(outcomes).toEqual({ a: 'written 2' })
  })
})

describe('a write that fails for another reason than a full disk', () => {
  const eio = 'EIO: i/o error'

  test('STORE-04: is reported before a write is answered, and nothing is written or acknowledged after it', async () => {
    const { store, tables, heard, failures, outcomes, elapsed, ask } = aStore()
    ask('a')
    await turn()
    ask('b')
    await tables.held[0]!.fail(eio)
    ask('c')
    await turn()
    elapsed.ms += 1_000
    store.status()
    await turn()
    expect({ failures, heard, written: tables.held.length }).toEqual({ failures: [`${eio}, with 0 answered`], heard: [], written: 1 })
    const reason = `the store can't write: ${eio}`
    expect(outcomes).toEqual({ a: reason, b: reason, c: reason })
    await expect(store.renewEpoch()).rejects.toThrow(eio)
  })

  test('STORE-04: makes the store refuse later writes, even if they are reported as written', async () => {
    const { store, tables, heard, failures, outcomes, ask } = aStore()
    ask('a')
    await turn()
    await tables.held[0]!.succeed()
    const compaction = expect(store.compact(2)).rejects.toThrow(eio)
    ask('b')
    await turn()
    await tables.held[1]!.fail(eio)
    await tables.held[2]!.succeed()
    await compaction
    expect({ failures, heard, outcomes }).toEqual({
      failures: [`${eio}, with 1 answered`],
      heard: ['a@2'],
      outcomes: { a: 'written 2', b: `the store can't write: ${eio}` },
    })
  })
})

describe('listeners', () => {
  test.each([
    ['at once', true],
    ['by a flush', false],
  ])('receive a change that is written %s before its writer is answered, and see the store at that change', async (_how, isImmediate) => {
    const held = new HeldTables()
    const tables = isImmediate ? new MemoryTables('epoch') : held
    const store = new LogStore(tables, { now: () => 0, monotonic: () => 0, randomId: () => 'id' })
    const order: string[] = []
    store.listen((changes) => order.push(`heard ${changes.map(({ revision }) => revision)}, stands at ${store.status().revision}`))
    const commit = (key: string) =>
      store
        .commit({ key, expected: 0, conditions: [], value: new Uint8Array(1), writeId: key })
        .then((outcome) => void order.push(`answered ${outcome.kind === 'written' ? outcome.revision : outcome.kind}`))
    const answered = [commit('a')]
    await turn()
    await held.held[0]?.succeed()
    answered.push(commit('b'))
    await turn()
    await held.held[1]?.succeed()
    await Promise.all(answered)
    expect(order).toEqual(['heard 2, stands at 2', 'answered 2', 'heard 3, stands at 3', 'answered 3'])
  })
})

describe('a sweep', () => {
  /** The history: a is written twice (2, 3), b is written and deleted (4, 5), c is written twice (6, 7). */
  function aHistory(ask: ReturnType<typeof aStore>['ask']): void {
    ask('2', { key: 'a' })
    ask('3', { key: 'a', expected: 2 })
    ask('4', { key: 'b' })
    ask('5', { key: 'b', expected: 4, value: undefined })
    ask('6', { key: 'c' })
    ask('7', { key: 'c', expected: 6 })
  }

  test('in memory leaves turns of the event loop to others, however large the entries are', async () => {
    const store = createMemoryStore()
    let expected = 0
    for (let version = 0; version < 4; version++) {
      const value = new Uint8Array(100_000)
      const outcome = await store.commit({ key: 'a', expected, conditions: [], writeId: `${version}`, value })
      if (outcome.kind === 'written') expected = outcome.revision
    }
    let isDone = false
    const compaction = store.compact(expected).then(() => {
      isDone = true
    })
    await turn()
    expect(isDone).toBe(false)
    await compaction
    expect(store.status().bytes).toBeLessThan(200_000)
    await store.close()
  })

  test('removes only deletions and replaced values up to the compaction', async () => {
    const { store, tables, ask } = aStore()
    aHistory(ask)
    await turn()
    await tables.held[0]!.succeed()
    const compaction = store.compact(5)
    await turn()
    await tables.held[1]!.succeed()
    await compaction
    expect(tables.held.slice(1).map(({ batch: { purpose, removed, meta } }) => ({ purpose, removed, meta }))).toEqual([
      { purpose: 'sweep', removed: [2, 4, 5], meta: { compacted: 5, swept: 5 } },
    ])
    const again = store.compact(7)
    await turn()
    await tables.held[2]!.succeed()
    await again
    expect(tables.held[2]?.batch).toMatchObject({ removed: [6], meta: { compacted: 7, swept: 7 } })
    expect(store.status().compacted).toBe(7)
  })

  test('frees the bytes of removed values, and keeps the store’s contents', async () => {
    const store = createMemoryStore()
    let revision = 0
    const write = async (key: string, value: Uint8Array | undefined) => {
      const outcome = await store.commit({ key, expected: revision, conditions: [], writeId: '', value })
      revision = outcome.kind === 'written' ? outcome.revision : 0
    }
    for (let time = 0; time < 5; time += 1) await write('a', new Uint8Array(1_000))
    revision = 0
    await write('b', new Uint8Array(1_000))
    await write('b', undefined)
    expect(store.status().bytes).toBeGreaterThan(6_000)
    await store.compact(store.status().revision)
    expect(store.status().bytes).toBeLessThan(6_000)
    expect((await store.getAt('a', store.status().revision))?.value).toHaveLength(1_000)
    await store.close()
  })

  test('of an earlier revision does nothing, and of a future revision is refused', async () => {
    const { store, tables, ask } = aStore()
    aHistory(ask)
    await turn()
    await tables.held[0]!.succeed()
    const compaction = store.compact(5)
    await turn()
    await tables.held[1]!.succeed()
    await compaction
    await store.compact(4)
    expect(store.status().compacted).toBe(5)
    await store.compact(5)
    await expect(store.compact(8)).rejects.toThrow("revision 8 can't be compacted, the store is at 7")
    expect([tables.held.length, store.status().compacted]).toEqual([2, 5])
  })
})

describe('a full disk', () => {
  test('flushes each commit separately, so that a deletion does not fail with a large object', async () => {
    const { tables, outcomes, ask } = aStore()
    ask('old')
    await turn()
    await tables.held[0]!.succeed()
    tables.isFull = true
    ask('large')
    ask('gone', { key: 'old', expected: 2, value: undefined })
    ask('larger')
    await turn()
    await tables.held[1]!.fail(new NoRoomError('the disk is full'))
    await tables.held[2]!.succeed()
    await tables.held[3]!.fail(new NoRoomError('the disk is full'))
    expect(tables.held.slice(1).map(({ batch }) => [batch.purpose, batch.appended.map(({ key }) => key)])).toEqual([
      ['put', ['large']],
      ['delete', ['old']],
      ['put', ['larger']],
    ])
    const reason = "the store can't write: the disk is full"
    expect(outcomes).toEqual({ old: 'written 2', large: reason, gone: 'written 4', larger: reason })
  })

  test('does not delay later commits after a stale commit', async () => {
    const { tables, outcomes, ask } = aStore()
    tables.isFull = true
    ask('stale', { key: 'absent', expected: 9 })
    ask('next')
    await turn()
    await turn()
    await tables.held[0]!.succeed()
    expect(outcomes).toEqual({ stale: 'stale', next: 'written 2' })
  })

  test('makes a sweep without space use smaller steps, which grow again', async () => {
    const { store, tables, ask } = aStore()
    for (let number = 0; number < 16; number++) ask(`key-${number}`, { key: 'a', expected: number === 0 ? 0 : number + 1 })
    await turn()
    await tables.held[0]!.succeed()
    const compaction = store.compact(store.status().revision)
    await turn()
    await tables.held[1]!.fail(new NoRoomError('the disk is full'))
    await tables.held[2]!.succeed()
    await tables.held[3]!.succeed()
    await tables.held[4]!.succeed()
    await compaction
    expect(tables.held.slice(1).map(({ batch }) => [batch.purpose, batch.removed.length])).toEqual([
      ['sweep', 15],
      ['sweep', 3],
      ['sweep', 8],
      ['sweep', 4],
    ])
  })

  test('fails a sweep when there is no space for a single entry', async () => {
    const { store, tables, ask } = aStore()
    ask('a')
    await turn()
    await tables.held[0]!.succeed()
    const compaction = expect(store.compact(2)).rejects.toThrow('the disk is full')
    await tables.held[1]!.fail(new NoRoomError('the disk is full'))
    await compaction
  })
})
