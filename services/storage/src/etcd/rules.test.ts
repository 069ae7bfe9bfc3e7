import { EventEmitter, getEventListeners } from 'node:events'
import type { StoreCommit } from '@orch/core/contracts'
import { decodeStored, encodeObject, encodeStored } from '@orch/core/stored'
import { createFakeClock } from '@orch/testkit'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { limits } from '../limits.ts'
import type { EtcdClient } from './client.ts'
import { checkKey, sendCommit, toTransaction } from './commit.ts'
import { decodeEvents } from './decode.ts'
import { parseEpoch, readHeads, writeEpoch } from './heads.ts'
import { readHistory } from './history.ts'
import { endOfPrefix, frameDeletion, frameValue, toLayout, unframeValue } from './layout.ts'
import { ChangeRevisions } from './timeline.ts'
import { openWatch } from './watch.ts'
import type { EtcdEvent, TransactionAnswer, WatchAnswer, WatchQuestion } from './wire.ts'

const layout = toLayout('registry')
const bytes = (text: string) => new TextEncoder().encode(text)
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

const aCommit = (parts: Partial<StoreCommit> = {}): StoreCommit => ({
  key: 'a',
  expected: 7,
  conditions: [],
  writeId: 'w1',
  value: bytes('v'),
  ...parts,
})

/** The `etcd3` client of one call. */
const aClient = (parts: object) => parts as EtcdClient

const anEvent = (key: string, revision: number, parts: Partial<EtcdEvent> = {}): EtcdEvent => ({
  isDelete: false,
  key: Buffer.from(key),
  revision,
  value: frameValue({ key: key.slice(layout.keys.length), writeId: `w${revision}`, value: bytes(`v${revision}`) }),
  replaces: 0,
  ...parts,
})
const aDeletion = (key: string, revision: number, replaces: number): EtcdEvent =>
  anEvent(key, revision, { isDelete: true, value: Buffer.alloc(0), replaces })

describe('a commit as a transaction', () => {
  const printed = (commit: StoreCommit) => {
    const { guards, puts, removes, looks } = toTransaction(layout, 3, commit)
    return {
      guards: guards.map(({ key, revision }) => `${key} ${revision}`),
      puts: puts.map(({ key }) => key.toString()),
      removes: removes.map(String),
      looks: looks.map(String),
    }
  }

  test('compares and reads the epoch, the key and every condition, and reads the last deletion', () => {
    const conditions = [
      { key: 'b', revision: 5 },
      { key: 'c', revision: 0 },
    ]
    expect(printed(aCommit({ conditions }))).toEqual({
      guards: ['/registry/epoch 3', '/registry/keys/a 7', '/registry/keys/b 5', '/registry/keys/c 0'],
      puts: ['/registry/keys/a'],
      removes: [],
      looks: ['/registry/epoch', '/registry/deletion', '/registry/keys/a', '/registry/keys/b', '/registry/keys/c'],
    })
    const [put] = toTransaction(layout, 3, aCommit()).puts
    expect(unframeValue('a', put?.value ?? Buffer.alloc(0))).toEqual({ writeId: 'w1', value: Buffer.from('v') })
  })

  test('removes the key of a delete, and writes the write id beside it', () => {
    const commit = aCommit({ value: undefined })
    expect(printed(commit)).toMatchObject({ puts: ['/registry/deletion'], removes: ['/registry/keys/a'] })
    expect(toTransaction(layout, 3, commit).puts[0]?.value).toEqual(frameDeletion('a', 'w1'))
  })

  test('puts an empty value', () => {
    expect(printed(aCommit({ value: new Uint8Array() }))).toMatchObject({ puts: ['/registry/keys/a'], removes: [] })
  })

  test('accepts keys of a bounded number of bytes in UTF-8', () => {
    expect(() => checkKey('x'.repeat(limits.keyBytesMax))).not.toThrow()
    expect(() => checkKey('x'.repeat(limits.keyBytesMax + 1))).toThrow(
      `its key has ${limits.keyBytesMax + 1} bytes, at most ${limits.keyBytesMax}`,
    )
    expect(() => checkKey('é'.repeat(limits.keyBytesMax / 2 + 1))).toThrow('the name is too long')
  })
})

describe('sending a commit', () => {
  const unanswered = new Error('14 UNAVAILABLE: etcdserver: leader changed')
  const unsent = new Error('14 UNAVAILABLE: No connection established')
  const refused = new Error('3 INVALID_ARGUMENT: etcdserver: request is too large')
  const answer: TransactionAnswer = { revision: 9, succeeded: true, looks: [] }
  /** Sends a commit to an etcd that gives these answers in order. */
  async function send(answers: readonly (Error | TransactionAnswer)[], commit = aCommit()) {
    let asked = 0
    const transact = async () => {
      const given = answers[asked++]
      if (given === undefined) throw new Error('asked too often')
      if (given instanceof Error) throw given
      return given
    }
    const outcome = await sendCommit(aClient({ transact }), toTransaction(layout, 3, commit), commit).catch((error: Error) => error)
    return { outcome, asked }
  }

  test('a written commit has the revision of the answer', async () => {
    expect(await send([answer])).toEqual({ outcome: { kind: 'written', revision: 9 }, asked: 1 })
  })

  test('a refusal contains the revision of each key', async () => {
    const looks = [3, 4, 7, 5, 0]
    expect((await send([{ revision: 9, succeeded: false, looks }])).outcome).toEqual({
      kind: 'refused',
      revisions: { epoch: 3, deletion: 4, key: 7, conditions: [5, 0] },
      at: 9,
      mayHaveHappened: false,
    })
  })

  test.each([
    ['had no answer', unanswered, true],
    ['had none in time', new Error('4 DEADLINE_EXCEEDED: Deadline exceeded after 1s'), true],
    ['never left', unsent, false],
  ])('a refusal after an attempt that %s is marked so', async (_how, first, mayHaveHappened) => {
    const { outcome } = await send([first, { revision: 9, succeeded: false, looks: [3, 0, 8] }])
    expect(outcome).toMatchObject({ kind: 'refused', mayHaveHappened })
  })

  test('an attempt that was never sent keeps the outcome of an earlier attempt unknown', async () => {
    const { outcome } = await send([unanswered, unsent, { revision: 9, succeeded: false, looks: [3, 0, 8] }])
    expect(outcome).toMatchObject({ kind: 'refused', mayHaveHappened: true })
  })

  test.each([
    ['is not known after one that had no answer', [unanswered, refused], 'UnknownOutcomeError', 504],
    ['is a failure where none could have happened', [unsent, refused], 'StatusError', 500],
  ])('the outcome of an attempt that finally failed %s', async (_what, answers, name, code) => {
    const { outcome } = await send(answers)
    expect(outcome).toMatchObject({ code })
    expect((outcome as Error).constructor.name).toBe(name)
  })

  test('a commit past its deadline is not sent', async () => {
    expect(await send([], aCommit({ isLate: () => true }))).toEqual({ outcome: { kind: 'late' }, asked: 0 })
  })

  test('a commit whose deadline passes is sent again if it may have happened, and otherwise is not', async () => {
    const becomingLate = () => {
      let asked = 0
      return aCommit({ isLate: () => asked++ > 0 })
    }
    expect(await send([unanswered, answer], becomingLate())).toEqual({ outcome: { kind: 'written', revision: 9 }, asked: 2 })
    expect(await send([unsent, answer], becomingLate())).toEqual({ outcome: { kind: 'late' }, asked: 1 })
  })
})

/** The value with one bit of one byte changed. */
function flipped(bytes: Buffer, at: number): Buffer {
  bytes[at] = bytes[at]! ^ 1
  return bytes
}

describe('the events of a watch', () => {
  test('are changes in order, each naming the one before it, with the keys of the store', () => {
    const decoded = decodeEvents(
      [
        anEvent('/registry/keys/a', 12),
        anEvent('/registry/keys/a', 15, { replaces: 12 }),
        anEvent('/registry/deletion', 16, { value: Buffer.from('w16') }),
        aDeletion('/registry/keys/a', 16, 15),
      ],
      layout,
      10,
    )
    const told = decoded.changes.map(({ revision, previous, replaces, key, writeId, value }) => ({
      revision,
      previous,
      replaces,
      key,
      writeId,
      value: value === undefined ? undefined : Buffer.from(value).toString(),
    }))
    expect(told).toEqual([
      { revision: 12, previous: 10, replaces: 0, key: 'a', writeId: 'w12', value: 'v12' },
      { revision: 15, previous: 12, replaces: 12, key: 'a', writeId: 'w15', value: 'v15' },
      { revision: 16, previous: 15, replaces: 15, key: 'a', writeId: 'w16', value: undefined },
    ])
    expect(decoded).toMatchObject({ position: 16, epoch: undefined, compacted: undefined, isElection: false })
  })

  test.each<[string, (framed: Buffer) => Buffer]>([
    ['length', (framed) => flipped(framed, 0)],
    ['id', (framed) => flipped(framed, 2)],
    ['zero', (framed) => flipped(framed, framed.length - 5)],
    ['checksum', (framed) => flipped(framed, framed.length - 1)],
    ['key', () => frameDeletion('b', 'w16')],
  ])('a delete whose write id has another %s than when it was written counts as altered, and has no id', (_what, damage) => {
    const decoded = (value: Buffer) =>
      decodeEvents([anEvent('/registry/deletion', 16, { value }), aDeletion('/registry/keys/a', 16, 15)], layout, 15)
    const framed = frameDeletion('a', 'w16')
    expect(decoded(framed)).toMatchObject({ changes: [{ writeId: 'w16' }], altered: [] })
    const { changes, altered } = decoded(damage(Buffer.from(framed)))
    expect(changes).toEqual([{ revision: 16, previous: 15, replaces: 15, key: 'a', writeId: '' }])
    expect(altered).toEqual(changes)
  })

  test.each(['', 'c6a1a5fe-8f6b-4f2c-9d3b-5a0c1f6f2b11'])('a delete by a version without checksums has the id %j', (id) => {
    const events = [anEvent('/registry/deletion', 16, { value: Buffer.from(id) }), aDeletion('/registry/keys/a', 16, 15)]
    expect(decodeEvents(events, layout, 15)).toMatchObject({ changes: [{ writeId: id }], altered: [] })
  })

  test('a delete only has the write id of its revision', () => {
    const { changes } = decodeEvents(
      [anEvent('/registry/deletion', 11, { value: Buffer.from('w11') }), aDeletion('/registry/keys/a', 12, 9)],
      layout,
      10,
    )
    expect(changes).toMatchObject([{ revision: 12, writeId: '' }])
  })

  test('an epoch, a compaction and an election are no changes; only the epoch counts as the predecessor of the next change', () => {
    const decoded = decodeEvents(
      [
        anEvent('/registry/epoch', 11, { value: Buffer.from('{}') }),
        anEvent('/registry/compacted', 12, { value: Buffer.from('8') }),
        anEvent('/registry/keys/a', 13),
        anEvent('/registry/election/1', 14),
      ],
      layout,
      10,
    )
    expect(decoded).toMatchObject({ position: 14, epoch: { text: '{}', revision: 11 }, compacted: 8, isElection: true })
    expect(decoded.changes).toMatchObject([{ revision: 13, previous: 11 }])
  })

  test('keys with a similar beginning are ignored', () => {
    const alike = ['keysmith', 'epochs', 'elections', 'compacted-2', 'deletion-2'].map((key) => anEvent(`/registry/${key}`, 12))
    const decoded = decodeEvents([...alike, aDeletion('/registry/keys/a', 12, 9)], layout, 10)
    expect(decoded).toMatchObject({ position: 12, epoch: undefined, compacted: undefined, isElection: false })
    expect(decoded.changes).toMatchObject([{ revision: 12, previous: 10, writeId: '' }])
  })
})

describe('the revisions of changes', () => {
  test('the older half is dropped when there are too many', () => {
    const chain = new ChangeRevisions(1)
    for (let revision = 2; revision <= limits.changeRevisionsMax; revision += 1) chain.push(revision)
    expect(chain.atOrBefore(1)).toBe(1)
    chain.push(limits.changeRevisionsMax + 1)
    const floor = limits.changeRevisionsMax / 2 + 1
    expect([floor - 1, floor, floor + 1, limits.changeRevisionsMax + 1].map((revision) => chain.atOrBefore(revision))).toEqual([
      undefined,
      floor,
      floor + 1,
      limits.changeRevisionsMax + 1,
    ])
    expect(chain.last).toBe(limits.changeRevisionsMax + 1)
  })

  test('without a change begin with the revision of the start', () => {
    expect(new ChangeRevisions(10).last).toBe(10)
  })
})

describe('the layout', () => {
  test('has all keys under the prefix, each in its own place', () => {
    expect(toLayout('//a/b//')).toEqual({
      all: '/a/b/',
      epoch: '/a/b/epoch',
      compacted: '/a/b/compacted',
      deletion: '/a/b/deletion',
      election: '/a/b/election/',
      keys: '/a/b/keys/',
    })
  })

  test('ends a prefix by incrementing its last byte, also within a character', () => {
    const highest = Buffer.from([0x61, 0xff, 0xff]).toString('latin1')
    expect(endOfPrefix('a').toString()).toBe('b')
    // UTF-8 never contains 0xff, so the last byte of ÿ can be increased.
    expect([...endOfPrefix(highest)]).toEqual([0x61, 0xc3, 0xbf, 0xc3, 0xc0])
  })

  test('limits a write id to 250 bytes', () => {
    const framed = (idBytes: number) => frameValue({ key: 'k', writeId: 'x'.repeat(idBytes), value: bytes('v') })
    expect(unframeValue('k', framed(250)).writeId).toHaveLength(250)
    expect(() => framed(251)).toThrow('a write id may have 250 bytes in etcd, not 251')
  })

  test('STORE-04: a value with a changed bit, or under another key, cannot be decoded', () => {
    const value = encodeStored({
      fingerprint: 1,
      writeId: 'w',
      expiresAtMs: 0,
      encoded: encodeObject({ metadata: { name: 'a' } }),
      labels: {},
      fields: {},
    })
    const framed = frameValue({ key: 'things/a', writeId: 'write-1', value })
    expect(decodeStored(unframeValue('things/a', framed).value).writeId).toBe('w')
    const readable: number[] = []
    for (let bit = 0; bit < framed.length * 8; bit++) {
      const changed = Buffer.from(framed)
      changed[bit >> 3]! ^= 1 << (bit & 7)
      try {
        // A damaged bit in the checksum's mark makes the value look like a value without a checksum.
        if (!Buffer.from(unframeValue('things/a', changed).value).equals(value)) decodeStored(unframeValue('things/a', changed).value)
        else readable.push(bit >> 3)
      } catch {}
    }
    expect([...new Set(readable)]).toEqual([1 + 'write-1'.length])
    expect(() => decodeStored(unframeValue('things/b', framed).value)).toThrow('its bytes were changed')
  })

  test('a value without a checksum, as earlier versions wrote it, is read, and earlier versions read a value with a checksum', () => {
    const before = Buffer.concat([Buffer.of(7), bytes('write-1'), bytes('v')])
    expect(unframeValue('k', before)).toEqual({ writeId: 'write-1', value: Buffer.from('v') })
    const now = frameValue({ key: 'k', writeId: 'write-1', value: bytes('v') })
    expect(now.subarray(1 + now[0]!).toString()).toBe('v')
  })

  test('a value too short for its write id is refused, and an empty value is read', () => {
    expect(() => unframeValue('k', Buffer.from([2, 0x61]))).toThrow('was not written by this server')
    expect(unframeValue('k', Buffer.from([1, 0x61]))).toEqual({ writeId: 'a', value: Buffer.alloc(0) })
  })
})

describe('the heads of a store', () => {
  const record = (mod: number, value = '') => ({ mod_revision: String(mod), value: Buffer.from(value) })
  type Found = ReturnType<typeof record> | undefined
  const anEtcd = ([epoch, compacted, deletion, last]: readonly Found[], revision: number) => {
    const responses = [epoch, compacted, deletion, last].map((found) => ({ response_range: { kvs: found === undefined ? [] : [found] } }))
    return aClient({ kv: { txn: async () => ({ responses, header: { revision: String(revision) } }) } })
  }
  const epoch = record(3, '{"epoch":"e1","profile":"orch"}')

  test.each([
    ['the epoch, where nothing was written since', undefined, undefined, 3],
    ['a put', undefined, record(8), 8],
    ['a delete, where it is younger', record(9), record(8), 9],
    ['a put, where it is younger than the last delete', record(5), record(8), 8],
    ['the epoch, where it is younger than both', record(1), record(2), 3],
  ])('the last change is %s', async (_what, deletion, last, expected) => {
    expect(await readHeads(anEtcd([epoch, record(7, '6'), deletion, last], 12), layout, 'orch')).toEqual({
      epoch: { epoch: 'e1', revision: 3 },
      compacted: 6,
      lastChange: expected,
      position: 12,
    })
  })

  test('a store without a compaction is compacted up to 0, and a store without an epoch has none', async () => {
    expect(await readHeads(anEtcd([epoch, undefined, undefined, undefined], 3), layout, 'orch')).toMatchObject({ compacted: 0 })
    expect(await readHeads(anEtcd([undefined, record(7, '6'), record(8), record(9)], 9), layout, 'orch')).toBeUndefined()
  })

  test('an unfinished restore, another program and another profile are refused, each with its reason', async () => {
    const reasonOf = (value: string) => readHeads(anEtcd([record(3, value)], 3), layout, 'orch').catch((error: Error) => error.message)
    expect(await reasonOf('{"restoring":true,"epoch":"e1"}')).toContain('has not been finished: run orch restore again')
    expect(await reasonOf('{"epoch":"e1"}')).toContain('was not written by this server')
    expect(await reasonOf('{"epoch":"e1","profile":"kubernetes"}')).toContain("belongs to the profile 'kubernetes'")
  })

  test('are read in one transaction: of the keys only the most recently changed', async () => {
    const asked: unknown[] = []
    const txn = async (request: unknown) => {
      asked.push(request)
      return { responses: [], header: { revision: '1' } }
    }
    await readHeads(aClient({ kv: { txn } }), layout, 'orch')
    const ranges = (asked[0] as { success: { request_range: Record<string, unknown> }[] }).success.map(({ request_range }) => request_range)
    expect(ranges.map(({ key }) => String(key))).toEqual([
      '/registry/epoch',
      '/registry/compacted',
      '/registry/deletion',
      '/registry/keys/',
    ])
    expect(ranges[3]).toMatchObject({ sort_target: 'Mod', sort_order: 'Descend', limit: 1, range_end: Buffer.from('/registry/keys0') })
  })

  test('an epoch is written only if it replaces the named epoch', async () => {
    const asked: unknown[] = []
    const txn = async (request: unknown) => {
      asked.push(request)
      return { succeeded: false, header: { revision: '9' } }
    }
    const written = await writeEpoch(aClient({ kv: { txn } }), layout, { epoch: 'e2', profile: 'orch', replaces: 3 })
    expect(written).toEqual({ isWritten: false, revision: 9 })
    const value = Buffer.from('{"epoch":"e2","profile":"orch"}')
    expect(asked).toEqual([
      {
        compare: [{ key: Buffer.from('/registry/epoch'), target: 'Mod', result: 'Equal', mod_revision: '3' }],
        success: [{ request_put: { key: Buffer.from('/registry/epoch'), value } }],
      },
    ])
  })

  test.each([
    ['{"epoch":"e1"}', 'was not written by this server'],
    ['{"profile":"orch"}', 'was not written by this server'],
    ['{"epoch":"e1","profile":"kubernetes"}', "belongs to the profile 'kubernetes' and can't be opened under the profile 'orch'"],
  ])('an epoch %s is refused', (text, message) => {
    expect(() => parseEpoch(text, 3, { layout, profile: 'orch' })).toThrow(message)
  })
})

/** The server side of a watch: the requests, and the answers that the test gives. */
class FakeWatchStream extends EventEmitter {
  readonly asked: WatchQuestion[] = []
  isOpen = true

  write(question: WatchQuestion): void {
    this.asked.push(question)
  }

  end(): void {
    this.isOpen = false
  }

  cancel(): void {
    this.isOpen = false
  }

  say(parts: Partial<WatchAnswer>): void {
    const nothing = { revision: 0, created: false, canceled: false, reason: '', compacted: 0, isFragment: false, events: [] }
    this.emit('data', { ...nothing, ...parts })
  }
}

describe('a watch', () => {
  async function open() {
    const stream = new FakeWatchStream()
    const silent: unknown[] = []
    const told: string[] = []
    const client = aClient({ follow: async () => stream, isSilent: (one: unknown) => silent.push(one) })
    const watch = openWatch(client, layout.all, 11, {
      onCreated: () => told.push('created'),
      onEvents: (events) => told.push(`events ${events.map(({ revision }) => revision)}`),
      onPosition: (revision) => told.push(`position ${revision}`),
      onEnd: (end) => told.push(end.kind === 'compacted' ? `compacted ${end.revision}` : `failed: ${end.error.message}`),
    })
    await turn()
    return { stream, told, watch, silent }
  }

  /** A watch whose stream the test opens. */
  function openSlowly() {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const stream = new FakeWatchStream()
    const [silent, told]: [unknown[], string[]] = [[], []]
    const coming = Promise.withResolvers<FakeWatchStream>()
    const client = aClient({ follow: () => coming.promise, isSilent: (one: unknown) => silent.push(one) })
    const watch = openWatch(client, layout.all, 11, {
      onCreated: () => told.push('created'),
      onEvents: () => {},
      onPosition: () => {},
      onEnd: (end) => told.push(end.kind === 'compacted' ? 'compacted' : end.error.message),
    })
    return { stream, silent, told, coming, watch }
  }

  test('whose stream cannot be opened ends with the reason', async () => {
    const { coming, told } = openSlowly()
    coming.reject(new Error('14 UNAVAILABLE: etcdserver: no leader'))
    await turn()
    expect(told).toEqual(['14 UNAVAILABLE: etcdserver: no leader'])
    vi.advanceTimersByTime(limits.etcdWatchOpenMs)
    expect(told).toHaveLength(1)
  })

  test('that was closed before its stream opened sends no request, and cancels the stream', async () => {
    const { coming, watch, stream, told, silent } = openSlowly()
    watch.askPosition()
    watch.abandon()
    coming.resolve(stream)
    await turn()
    expect({ asked: stream.asked, isOpen: stream.isOpen, told, silent }).toEqual({ asked: [], isOpen: false, told: [], silent: [] })
    vi.advanceTimersByTime(limits.etcdWatchOpenMs)
    expect(told).toEqual([])
  })

  test('that etcd does not open in time ends, and its member is skipped', async () => {
    const { coming, stream, told, silent } = openSlowly()
    coming.resolve(stream)
    await turn()
    vi.advanceTimersByTime(limits.etcdWatchOpenMs - 1)
    expect(told).toEqual([])
    vi.advanceTimersByTime(1)
    expect({ told, silent, isOpen: stream.isOpen }).toEqual({
      told: ['etcd did not open the watch in time'],
      silent: [stream],
      isOpen: false,
    })
  })

  test('without a stream also ends in time', () => {
    const { told, silent } = openSlowly()
    vi.advanceTimersByTime(limits.etcdWatchOpenMs)
    expect({ told, silent }).toEqual({ told: ['etcd did not open the watch in time'], silent: [] })
  })

  test('that etcd has opened may be silent for any time', async () => {
    const { coming, stream, told } = openSlowly()
    coming.resolve(stream)
    await turn()
    stream.say({ created: true })
    vi.advanceTimersByTime(limits.etcdWatchOpenMs * 10)
    expect(told).toEqual(['created'])
  })

  test('watches all keys of the prefix from the revision on', async () => {
    const { stream, watch } = await open()
    expect(stream.asked).toEqual([{ kind: 'follow', key: Buffer.from('/registry/'), end: Buffer.from('/registry0'), from: 11 }])
    watch.askPosition()
    expect(stream.asked[1]).toEqual({ kind: 'position' })
    watch.close()
  })

  test('delivers events once, in order, and an answer without events as a position', async () => {
    const { stream, told, watch } = await open()
    stream.say({ created: true, revision: 10 })
    stream.say({ events: [anEvent('a', 11), anEvent('a', 12)], revision: 12 })
    stream.say({ revision: 20 })
    stream.say({ events: [anEvent('a', 21)], revision: 21 })
    watch.close()
    expect(told).toEqual(['created', 'events 11,12', 'position 20', 'events 21'])
  })

  test('delivers the fragments of an answer together when the last fragment has arrived', async () => {
    const { stream, told, watch } = await open()
    stream.say({ events: [anEvent('a', 11)], isFragment: true, revision: 11 })
    stream.say({ events: [anEvent('b', 11)], isFragment: true, revision: 11 })
    expect(told).toEqual([])
    stream.say({ events: [anEvent('c', 11)], revision: 11 })
    stream.say({ events: [anEvent('d', 12)], revision: 12 })
    watch.close()
    expect(told).toEqual(['events 11,11,11', 'events 12'])
  })

  test.each([
    ['compacted', (stream: FakeWatchStream) => stream.say({ canceled: true, compacted: 30, reason: 'compacted' }), 'compacted 30'],
    [
      'cancelled',
      (stream: FakeWatchStream) => stream.say({ canceled: true, reason: 'no leader' }),
      'failed: etcd ended the watch: no leader',
    ],
    ['failed', (stream: FakeWatchStream) => void stream.emit('error', new Error('broken')), 'failed: broken'],
    ['ended', (stream: FakeWatchStream) => void stream.emit('end'), 'failed: etcd ended the watch'],
  ])('that was %s reports that once, and nothing later', async (_how, harm, expected) => {
    const { stream, told } = await open()
    harm(stream)
    stream.emit('error', new Error('again'))
    stream.say({ events: [anEvent('a', 12)], revision: 12 })
    expect(told).toEqual([expected])
    expect(stream.isOpen).toBe(false)
  })

  test('delivers nothing after its close, and reports its member as silent when it is abandoned', async () => {
    const closed = await open()
    closed.watch.close()
    closed.stream.say({ events: [anEvent('a', 12)], revision: 12 })
    closed.stream.emit('end')
    expect({ told: closed.told, silent: closed.silent.length }).toEqual({ told: [], silent: 0 })
    const abandoned = await open()
    abandoned.watch.abandon()
    abandoned.stream.say({ events: [anEvent('a', 12)], revision: 12 })
    expect({ told: abandoned.told, silent: abandoned.silent.length }).toEqual({ told: [], silent: 1 })
  })
})

describe('the past', () => {
  /** Requests changes after 10; the caller plays etcd. */
  async function read(parts: { previous?: number | undefined; limit?: number; lasts?: readonly number[] } = {}) {
    const { previous, limit, lasts } = { previous: 9, limit: 100, lasts: [], ...parts }
    const stream = new FakeWatchStream()
    const ranges: Record<string, unknown>[] = []
    const range = async (request: Record<string, unknown>) => {
      const found = lasts[ranges.length] ?? 0
      ranges.push(request)
      return { kvs: found === 0 ? [] : [{ mod_revision: String(found) }] }
    }
    const closing = new AbortController()
    const clock = createFakeClock()
    const client = aClient({ follow: async () => stream, isSilent: () => {}, kv: { range } })
    const answer = readHistory({ client, layout, after: 10, previous, upTo: 20, limit, clock, signal: closing.signal }).then(
      (history) => (history.kind === 'changes' ? history.changes.map((change) => `${change.revision} after ${change.previous}`) : history),
      (error: Error) => error.message,
    )
    await turn()
    await turn()
    const settled = { is: false }
    void answer.then(() => {
      settled.is = true
    })
    return { stream, ranges, answer, clock, closing, settled }
  }
  const aChange = (revision: number) => anEvent('/registry/keys/a', revision)

  test('is read from after the revision until the last change has arrived', async () => {
    const { stream, answer, settled } = await read()
    expect(stream.asked).toMatchObject([{ kind: 'follow', from: 11 }])
    stream.say({ events: [aChange(12), aChange(15)], revision: 15 })
    stream.say({ events: [aChange(19)], revision: 19 })
    await turn()
    expect(settled.is).toBe(false)
    stream.say({ events: [aChange(20), aChange(21)], revision: 21 })
    expect(await answer).toEqual(['12 after 9', '15 after 12', '19 after 15', '20 after 19', '21 after 20'])
    expect(stream.isOpen).toBe(false)
  })

  test('that begins with the first change is not requested from etcd', async () => {
    const { stream, ranges, answer } = await read({ previous: 0 })
    stream.say({ events: [aChange(20)], revision: 20 })
    expect([await answer, ranges]).toEqual([['20 after 0'], []])
  })

  test('ends at the last change, even if that is an epoch instead of the requested change', async () => {
    const { stream, answer } = await read()
    stream.say({ events: [anEvent('/registry/epoch', 20)], revision: 20 })
    expect(await answer).toEqual([])
  })

  test.each([
    ['in one answer', [[12, 13, 14]]],
    ['in several', [[12], [13]]],
  ])('has at most the requested number of changes, %s', async (_how, parts) => {
    const { stream, answer } = await read({ limit: 2 })
    for (const part of parts) stream.say({ events: part.map(aChange), revision: part.at(-1) ?? 0 })
    expect(await answer).toEqual(['12 after 9', '13 after 12'])
  })

  test('that etcd has dropped is compacted; a broken watch and a closing store are failures', async () => {
    const compacted = await read()
    compacted.stream.say({ canceled: true, compacted: 14 })
    expect(await compacted.answer).toEqual({ kind: 'compacted', compacted: 14 })
    const broken = await read()
    broken.stream.emit('error', new Error('14 UNAVAILABLE: broken'))
    expect(await broken.answer).toContain('broken')
    const closed = await read()
    closed.closing.abort()
    expect(await closed.answer).toContain('the store is closed')
    expect(closed.stream.isOpen).toBe(false)
  })

  test('that etcd does not send is a timeout, some time after the last change', async () => {
    const { stream, answer, clock, settled } = await read()
    stream.say({ created: true })
    clock.advance(limits.etcdCallTimeoutMs - 1)
    stream.say({ events: [aChange(12)], revision: 12 })
    clock.advance(limits.etcdCallTimeoutMs - 1)
    for (let turns = 0; turns < 3; turns += 1) await turn()
    expect(settled.is).toBe(false)
    clock.advance(1)
    expect(await answer).toContain('etcd did not answer in time')
    expect(stream.isOpen).toBe(false)
  })

  test('that cannot be decoded is a failure', async () => {
    const { stream, answer } = await read()
    stream.say({ events: [{ ...aChange(12), value: Buffer.from('damaged') }], revision: 12 })
    expect(await answer).toContain("the store can't be reached")
  })

  test('is forgotten when it is read: the store that closes later has no listener for it', async () => {
    const { stream, answer, closing } = await read()
    stream.say({ events: [aChange(20)], revision: 20 })
    await answer
    expect(getEventListeners(closing.signal, 'abort')).toEqual([])
  })

  test.each([
    ['a put', [8, 5, 3], 8],
    ['a delete', [4, 7, 3], 7],
    ['the epoch', [0, 0, 6], 6],
    ['nothing', [0, 0, 0], 0],
  ])('finds the change before it in etcd if it is unknown: %s', async (_what, lasts, expected) => {
    const { stream, ranges, answer } = await read({ previous: undefined, lasts })
    stream.say({ events: [aChange(20)], revision: 20 })
    expect(await answer).toEqual([`20 after ${expected}`])
    expect(ranges.map(({ key, revision }) => `${key} ${revision}`)).toEqual([
      '/registry/keys/ 10',
      '/registry/deletion 10',
      '/registry/epoch 10',
    ])
    expect(ranges[0]).toMatchObject({ sort_target: 'Mod', sort_order: 'Descend', limit: 1, range_end: Buffer.from('/registry/keys0') })
  })
})
