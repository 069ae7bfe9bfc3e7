import { EventEmitter } from 'node:events'
import { type StoreChange, type StoreCommit, UnknownOutcomeError } from '@orch/core/contracts'
import { createFakeClock } from '@orch/testkit'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { EtcdClient } from './client.ts'
import { type EtcdStoreOptions, openEtcdStore } from './etcd-store.ts'
import { frameValue } from './layout.ts'
import type { EtcdEvent, Transaction, TransactionAnswer, WatchAnswer, WatchQuestion } from './wire.ts'

const unanswered = new Error('14 UNAVAILABLE: etcdserver: leader changed')
const bytes = (text: string) => new TextEncoder().encode(text)
const turns = async (count = 12) => {
  for (let round = 0; round < count; round += 1) await new Promise<void>((resolve) => setImmediate(resolve))
}

interface RangeRequest {
  readonly key: Buffer
  readonly range_end?: Buffer
  readonly revision?: string
}

/** The part of etcd that a store needs: events and their effects. The test can hold back and break watches. */
class FakeEtcd {
  revision = 1
  compacted = 0
  events: EtcdEvent[] = []
  readonly watches = new Set<FakeWatch>()
  readonly compactions: string[] = []
  transactions = 0
  questions = 0
  /** Called with each transaction; an error that it returns replaces the answer. */
  onTransaction: (carryOut: () => TransactionAnswer) => TransactionAnswer | Error = (carryOut) => carryOut()
  /** Replaces the value of a put on arrival. */
  onValue: (value: Buffer) => Buffer = (value) => value
  compactionError: Error | undefined
  /** Failures of the next status requests, oldest first. */
  statusErrors: Error[] = []
  alarms: { alarm: string }[] = []
  closed = 0
  follows = 0

  /** The connection of one process. */
  client(): { client: EtcdClient; hold(): void; release(): void; cut(): void } {
    const own = new Set<FakeWatch>()
    let isHeld = false
    const client = {
      maintenance: {
        status: async () => {
          const error = this.statusErrors.shift()
          if (error !== undefined) throw error
          return { version: '3.5.21', dbSize: '10', dbSizeInUse: '10' }
        },
        alarm: async () => ({ alarms: this.alarms }),
      },
      kv: {
        range: async (request: RangeRequest) => ({ header: this.#header(), kvs: this.#range(request), more: false }),
        put: async ({ key, value }: { key: Buffer; value: Buffer }) => {
          this.write([{ key: key.toString(), value }])
          return { header: this.#header() }
        },
        compact: async ({ revision }: { revision: string }) => {
          this.compactions.push(revision)
          if (this.compactionError !== undefined) throw this.compactionError
          this.compacted = Number(revision)
        },
        txn: async ({ compare = [], success }: { compare?: { key: Buffer; mod_revision: string }[]; success: object[] }) => {
          const succeeded = compare.every(({ key, mod_revision }) => this.modRevision(key.toString()) === Number(mod_revision))
          const responses = success.map((step) => {
            if ('request_range' in step) return { response_range: { kvs: this.#range(step.request_range as RangeRequest) } }
            const { key, value } = (step as { request_put: { key: Buffer; value: Buffer } }).request_put
            if (succeeded) this.write([{ key: key.toString(), value }])
            return {}
          })
          return { succeeded, responses, header: this.#header() }
        },
      },
      // The lease of a candidate is never granted, because elections would add changes to those of the test.
      lease: () => ({ on: () => {}, grant: () => new Promise(() => {}), release: () => {} }),
      latestRevision: async () => {
        this.questions += 1
        return this.revision
      },
      transact: async (transaction: Transaction) => {
        this.transactions += 1
        const answer = this.onTransaction(() => this.#transact(transaction))
        if (answer instanceof Error) throw answer
        return answer
      },
      follow: async () => {
        this.follows += 1
        const watch = new FakeWatch(this)
        watch.isHeld = isHeld
        own.add(watch)
        return watch
      },
      check: async () => this.revision,
      members: async () => ['', 'no answer in time'],
      isSilent: () => {},
      close: () => {
        this.closed += 1
      },
    }
    return {
      client: client as unknown as EtcdClient,
      hold: () => {
        isHeld = true
        for (const watch of own) watch.isHeld = true
      },
      release: () => {
        isHeld = false
        for (const watch of own) watch.release()
      },
      cut: () => {
        for (const watch of own) if (watch.isOpen) watch.emit('error', new Error('14 UNAVAILABLE: broken'))
      },
    }
  }

  /** One revision; without a value it deletes the key. */
  write(changes: readonly { readonly key: string; readonly value?: Buffer | undefined }[]): number {
    this.revision += 1
    const { revision } = this
    const events = changes.map(({ key, value }) => ({
      isDelete: value === undefined,
      key: Buffer.from(key),
      revision,
      value: this.onValue(value ?? Buffer.alloc(0)),
      replaces: this.modRevision(key),
    }))
    this.events.push(...events)
    for (const watch of this.watches) watch.show(events)
    return revision
  }

  modRevision(key: string): number {
    const last = this.events.findLast((event) => event.key.toString() === key)
    return last === undefined || last.isDelete ? 0 : last.revision
  }

  #header() {
    return { revision: String(this.revision) }
  }

  #range({ key, range_end: end, revision = '0' }: RangeRequest) {
    const at = Number(revision) || Number.POSITIVE_INFINITY
    if (at < this.compacted) throw new Error('11 OUT_OF_RANGE: etcdserver: mvcc: required revision has been compacted')
    const state = new Map<string, EtcdEvent>()
    for (const event of this.events) {
      if (event.revision > at || event.key.compare(key) < 0 || (end === undefined ? !event.key.equals(key) : event.key.compare(end) >= 0))
        continue
      if (event.isDelete) state.delete(event.key.toString())
      else state.set(event.key.toString(), event)
    }
    const found = [...state.values()].sort((one, other) => other.revision - one.revision)
    return found.map((event) => ({ key: event.key, value: event.value, mod_revision: String(event.revision) }))
  }

  #transact({ guards, puts, removes, looks }: Transaction): TransactionAnswer {
    const succeeded = guards.every(({ key, revision }) => this.modRevision(key.toString()) === revision)
    const changes = [...puts.map(({ key, value }) => ({ key: key.toString(), value })), ...removes.map((key) => ({ key: key.toString() }))]
    if (succeeded) this.write(changes)
    return { succeeded, revision: this.revision, looks: succeeded ? [] : looks.map((key) => this.modRevision(key.toString())) }
  }
}

class FakeWatch extends EventEmitter {
  readonly #etcd: FakeEtcd
  #held: (() => void)[] = []
  isHeld = false
  isOpen = true

  constructor(etcd: FakeEtcd) {
    super()
    this.#etcd = etcd
  }

  write(question: WatchQuestion): void {
    if (question.kind === 'position') this.#say({})
    else if (question.from <= this.#etcd.compacted) this.#say({ canceled: true, compacted: this.#etcd.compacted })
    else this.#follow(question.from)
  }

  #follow(from: number): void {
    // A watch also opens while its events are held back.
    this.emit('data', { ...nothing, created: true })
    const past = this.#etcd.events.filter(({ revision }) => revision >= from)
    if (past.length > 0) this.show(past)
    this.#etcd.watches.add(this)
  }

  show(events: readonly EtcdEvent[]): void {
    const own = events.filter(({ key }) => key.toString().startsWith('/p/'))
    if (own.length > 0) this.#say({ events: own })
  }

  #say = (parts: Partial<WatchAnswer>): void => {
    const answer = { ...nothing, revision: this.#etcd.revision, ...parts }
    const emit = () => void this.emit('data', answer)
    if (this.isHeld) this.#held.push(emit)
    else emit()
  }

  /** Stops all messages, including held ones. */
  fallSilent(): void {
    this.#held = []
    this.#say = () => {}
  }

  release(): void {
    this.isHeld = false
    for (const emit of this.#held.splice(0)) emit()
  }

  end(): void {
    this.isOpen = false
    this.#etcd.watches.delete(this)
  }

  cancel(): void {
    this.end()
  }
}

const nothing: WatchAnswer = { revision: 0, created: false, canceled: false, reason: '', compacted: 0, isFragment: false, events: [] }

let ids = 0

async function open({ etcd = new FakeEtcd(), ...options }: Partial<EtcdStoreOptions> & { etcd?: FakeEtcd } = {}) {
  const clock = createFakeClock()
  const { client, ...line } = etcd.client()
  let replaced = 0
  const store = await openEtcdStore({
    servers: [],
    prefix: 'p',
    profile: 'orch',
    clock,
    client,
    random: () => 0,
    randomId: () => `id-${ids++}`,
    ...options,
  })
  onTestFinished(() => store.close())
  store.shared.onReplaced(() => {
    replaced += 1
  })
  const log: string[] = []
  store.listen((changes) => log.push(...changes.map((change) => `heard ${toText(change)}`)))
  /** Sends a commit and logs its outcome. */
  const ask = (key: string, parts: Partial<StoreCommit> = {}) => {
    const commit = { key, expected: 0, conditions: [], value: bytes('v'), writeId: `w-${ids++}`, ...parts }
    const settled = store.commit(commit).then(
      (outcome) =>
        outcome.kind === 'written' ? `written ${outcome.revision}` : outcome.kind === 'unmet' ? `unmet ${outcome.index}` : outcome.kind,
      (error: Error) => (error instanceof UnknownOutcomeError ? 'unknown' : error.message),
    )
    void settled.then((text) => log.push(text))
    return settled
  }
  /** Advances time by the store's pauses. */
  const pass = async (ms: number) => {
    await turns()
    for (let passed = 0; passed < ms; passed += 25) {
      clock.advance(25)
      await turns(2)
    }
    await turns()
  }
  return { etcd, store, log, ask, pass, timesReplaced: () => replaced, ...line }
}

const toText = ({ key, revision, previous }: StoreChange) => `${key} ${revision} after ${previous}`

describe('a commit', () => {
  test('STORE-01: is answered when its change has been received, and not before', async () => {
    const { ask, log, hold, release, store } = await open()
    store.listen(() => log.push(`stands at ${store.status().revision}`))
    hold()
    const outcome = ask('a')
    await turns()
    expect({ log, revision: store.status().revision }).toEqual({ log: [], revision: 2 })
    release()
    await outcome
    expect({ log, revision: store.status().revision }).toEqual({ log: ['heard a 3 after 2', 'stands at 3', 'written 3'], revision: 3 })
  })

  test('is received once, in order, from any client that wrote it', async () => {
    const etcd = new FakeEtcd()
    const [one, two] = [await open({ etcd }), await open({ etcd })]
    await one.ask('a')
    await two.ask('b')
    await one.ask('a', { expected: 3, value: undefined })
    const heard = ['heard a 3 after 2', 'heard b 4 after 3', 'heard a 5 after 4']
    expect([one, two].map(({ log }) => log.filter((line) => line.startsWith('heard')))).toEqual([heard, heard])
  })

  const conditions = [
    { key: 'c', revision: 0 },
    { key: 'd', revision: 0 },
  ]
  test.each<[string, [key: string, value: string | undefined], Partial<StoreCommit>, string]>([
    ['the key was written', ['a', 'v'], {}, 'stale'],
    ['the key was deleted', ['a', undefined], { expected: 3 }, 'stale'],
    ['a condition changed', ['d', 'v'], { expected: 3, conditions }, 'unmet 1'],
  ])('that is refused because %s is answered when that change has been received', async (_what, other, parts, expected) => {
    const etcd = new FakeEtcd()
    const [one, two] = [await open({ etcd }), await open({ etcd })]
    await two.ask('a')
    one.hold()
    const [key, value] = other
    await two.ask(key, { expected: key === 'a' ? 3 : 0, value: value === undefined ? undefined : bytes(value) })
    one.log.length = 0
    const outcome = one.ask('a', parts)
    await turns()
    expect(one.log).toEqual([])
    one.release()
    expect(await outcome).toBe(expected)
    expect(one.log).toEqual([`heard ${key} 4 after 3`, expected])
  })

  test('that deletes an absent key is stale without a request to etcd', async () => {
    const { ask, etcd } = await open()
    expect(await ask('a', { value: undefined })).toBe('stale')
    expect(etcd.transactions).toBe(0)
  })

  test('that fails because etcd is full reports the alarm, and any other failure does not', async () => {
    const { etcd, store, ask } = await open()
    etcd.alarms = [{ alarm: 'NoSpace' }]
    etcd.onTransaction = () => new Error('7 PERMISSION_DENIED: etcdserver: permission denied')
    await ask('a')
    await turns()
    expect(store.status().refusing).toBe('')
    etcd.onTransaction = () => new Error('8 RESOURCE_EXHAUSTED: etcdserver: mvcc: database space exceeded')
    await ask('a')
    await turns()
    expect(store.status().refusing).toBe('etcd has an alarm: NoSpace')
  })

  test('waits for an earlier commit of the same key, and not for a commit of another key', async () => {
    const { ask, etcd, hold, release } = await open()
    hold()
    const outcomes = [ask('a'), ask('a', { expected: 3 }), ask('b')]
    await turns()
    expect(etcd.transactions).toBe(2)
    release()
    // b was written while the second commit to a waited.
    expect(await Promise.all(outcomes)).toEqual(['written 3', 'written 5', 'written 4'])
  })

  test('under another epoch than the store’s is refused with 503, or has an unknown outcome if it may have happened', async () => {
    const { ask, etcd, hold } = await open()
    hold()
    etcd.write([{ key: '/p/epoch', value: Buffer.from('{"epoch":"other","profile":"orch"}') }])
    expect(await ask('a')).toBe('the store was restored, or has another epoch, in this moment')
    let asked = 0
    etcd.onTransaction = (carryOut) => (asked++ === 0 ? unanswered : carryOut())
    expect(await ask('a')).toBe('unknown')
  })

  describe('with a bit that changes in transit', () => {
    const changed = (value: Buffer) => Buffer.from(value.map((byte, index) => (index === value.length - 1 ? byte ^ 4 : byte)))

    test('STORE-04: is written again, and acknowledged with the sent value', async () => {
      const { ask, etcd, store, pass } = await open()
      const heard: string[] = []
      store.listen((changes) => {
        for (const { revision, value } of changes) heard.push(`${revision} ${Buffer.from(value ?? []).toString('hex')}`)
      })
      let puts = 0
      etcd.onValue = (value) => (puts++ === 0 ? changed(value) : value)
      const asked = ask('a')
      await pass(300)
      expect(await asked).toBe('written 4')
      expect(Buffer.from((await store.getAt('a', 4))?.value ?? []).toString()).toBe('v')
      expect(heard).toEqual(['3 ff', '4 76'])
    })

    test('is written again even if a condition no longer holds, as the write has happened', async () => {
      const { ask, etcd, pass } = await open()
      const other = etcd.write([{ key: '/p/keys/b', value: frameValue({ key: 'b', writeId: 'other', value: bytes('x') }) }])
      let puts = 0
      etcd.onValue = (value) => (puts++ === 0 ? changed(value) : value)
      etcd.onTransaction = (carryOut) => {
        const answer = carryOut()
        if (puts === 1) etcd.write([{ key: '/p/keys/b' }])
        return answer
      }
      const asked = ask('a', { conditions: [{ key: 'b', revision: other }] })
      await pass(300)
      expect(await asked).toBe(`written ${other + 3}`)
    })

    test('STORE-04: on the way back is read again, and no reader sees the damaged value', async () => {
      const { ask, etcd, store, pass } = await open()
      const heard: string[] = []
      store.listen((changes) => {
        for (const { revision, value } of changes) heard.push(`${revision} ${Buffer.from(value ?? []).toString()}`)
      })
      let sent: Buffer = Buffer.alloc(0)
      etcd.onValue = (value) => {
        sent = value
        return changed(value)
      }
      const asked = ask('a')
      await turns()
      etcd.events = etcd.events.map((event) => (event.revision === 3 ? { ...event, value: sent } : event))
      await pass(300)
      expect({ outcome: await asked, heard }).toEqual({ outcome: 'written 3', heard: ['3 v'] })
    })

    test('STORE-04: in the write id of a delete on the way back is read again, and the delete is acknowledged', async () => {
      const { ask, etcd, store, pass } = await open()
      const put = ask('a')
      await pass(300)
      expect(await put).toBe('written 3')
      const heard: string[] = []
      store.listen((changes) => {
        for (const { revision, writeId } of changes) heard.push(`${revision} ${writeId}`)
      })
      let sent: Buffer = Buffer.alloc(0)
      etcd.onValue = (value) => {
        if (value.length === 0) return value
        sent = value
        return changed(value)
      }
      const asked = ask('a', { expected: 3, value: undefined, writeId: 'd' })
      await turns()
      const isSent = sent
      etcd.events = etcd.events.map((event) => (event.revision === 4 && event.value.length > 0 ? { ...event, value: isSent } : event))
      await pass(300)
      expect({ outcome: await asked, heard }).toEqual({ outcome: 'written 4', heard: ['4 d'] })
    })

    test('STORE-04: is refused when the damage is repeated, and stays unreadable', async () => {
      const { ask, etcd, store, pass } = await open()
      etcd.onValue = changed
      const asked = ask('a')
      for (let round = 0; round < 4; round++) await pass(300)
      expect(await asked).toBe('the value of a write has changed on its way to etcd')
      expect((await store.getAt('a', 4))?.value).toEqual(Uint8Array.of(255))
    })
  })

  describe('whose first attempt had no answer', () => {
    /** Executes the first attempt or not, and does not answer; then something else may happen. */
    function silent(etcd: FakeEtcd, { isCarriedOut, next = () => {} }: { isCarriedOut: boolean; next?: () => void }): void {
      let asked = 0
      etcd.onTransaction = (carryOut) => {
        if (asked++ > 0) return carryOut()
        if (isCarriedOut) carryOut()
        next()
        return unanswered
      }
    }
    const otherWrite = (etcd: FakeEtcd, key: string) => () =>
      void etcd.write([{ key: `/p/keys/${key}`, value: frameValue({ key, writeId: 'other', value: bytes('x') }) }])

    test('is written at the revision of its received change', async () => {
      const { ask, etcd } = await open()
      silent(etcd, { isCarriedOut: true })
      expect(await ask('a')).toBe('written 3')
      silent(etcd, { isCarriedOut: true })
      expect(await ask('a', { expected: 3, value: undefined })).toBe('written 4')
    })

    test('is written even if another commit has overwritten it', async () => {
      const { ask, etcd } = await open()
      silent(etcd, { isCarriedOut: true, next: otherWrite(etcd, 'a') })
      expect(await ask('a')).toBe('written 3')
    })

    test('is written if its change was received, although the second attempt fails', async () => {
      const { ask, etcd } = await open()
      let asked = 0
      etcd.onTransaction = (carryOut) => {
        if (asked++ > 0) return new Error('7 PERMISSION_DENIED: etcdserver: permission denied')
        carryOut()
        return unanswered
      }
      expect(await ask('a')).toBe('written 3')
    })

    test('is written by the second attempt if the first did not happen', async () => {
      const { ask, etcd } = await open()
      silent(etcd, { isCarriedOut: false })
      expect(await ask('a')).toBe('written 3')
    })

    test('is stale if the key can no longer be as expected, and otherwise has an unknown outcome', async () => {
      const { ask, etcd } = await open()
      await ask('a')
      silent(etcd, { isCarriedOut: false, next: otherWrite(etcd, 'a') })
      expect(await ask('a', { expected: 3 })).toBe('stale')
      silent(etcd, { isCarriedOut: false, next: otherWrite(etcd, 'b') })
      expect(await ask('b')).toBe('unknown')
      silent(etcd, { isCarriedOut: false })
      expect(await ask('a', { expected: 4, conditions: [{ key: 'b', revision: 1 }] })).toBe('unknown')
    })

    test('has an unknown outcome if the state was reloaded meanwhile', async () => {
      const { ask, etcd, pass, hold, release, cut } = await open()
      await ask('a')
      hold()
      silent(etcd, {
        isCarriedOut: true,
        next: () => {
          otherWrite(etcd, 'a')()
          etcd.compacted = etcd.revision
          cut()
          release()
        },
      })
      const outcome = ask('a', { expected: 3 })
      await pass(300)
      expect(await outcome).toBe('unknown')
    })
  })

  test('that etcd reports below the watch’s revision has an unknown outcome, as etcd was restored', async () => {
    const { ask, etcd } = await open()
    await ask('a')
    etcd.onTransaction = () => ({ succeeded: true, revision: 3, looks: [] })
    expect(await ask('b')).toBe('unknown')
  })
})

describe('the watch of a store', () => {
  test('is reopened when it does not report a change that etcd has announced, and then reports the change', async () => {
    const { etcd, ask, pass, hold, release, log } = await open()
    await ask('a')
    for (const [key, revision, follows] of [
      ['b', 4, 1],
      ['c', 5, 2],
    ] as const) {
      hold()
      const written = ask(key)
      await turns()
      for (const watch of etcd.watches) watch.fallSilent()
      release()
      expect(etcd.follows).toBe(follows)
      await pass(2 * (1_500 + 100) + 250)
      expect(await written).toBe(`written ${revision}`)
      expect([etcd.follows, log.filter((line) => line.startsWith('heard')).at(-1)]).toEqual([
        follows + 1,
        `heard ${key} ${revision} after ${revision - 1}`,
      ])
    }
  })

  test('looks up the leader after an election, and not after a change', async () => {
    const { etcd, store, ask } = await open()
    const look = vi.spyOn(store.leadership as unknown as { look(): void }, 'look')
    await ask('a')
    expect(look).not.toHaveBeenCalled()
    etcd.write([{ key: '/p/election/1', value: Buffer.from('x') }])
    expect(look).toHaveBeenCalledOnce()
  })

  test('does not call removed listeners', async () => {
    const { store, ask } = await open()
    const heard: string[] = []
    const stop = store.listen((changes) => heard.push(...changes.map(toText)))
    await ask('a')
    stop()
    await ask('b')
    expect(heard).toEqual(['a 3 after 2'])
  })

  test('is reopened after the last received change, without losing or repeating a change', async () => {
    const etcd = new FakeEtcd()
    const [one, two] = [await open({ etcd }), await open({ etcd })]
    await two.ask('a')
    one.hold()
    one.cut()
    await two.ask('b')
    one.release()
    await one.pass(200)
    await two.ask('c')
    expect(one.log).toEqual(['heard a 3 after 2', 'heard b 4 after 3', 'heard c 5 after 4'])
    expect(one.store.status()).toMatchObject({ revision: 5, refusing: '' })
  })

  test('that resumes after a compaction reloads the state under the same epoch, and expires the earlier past', async () => {
    const etcd = new FakeEtcd()
    const [one, two] = [await open({ etcd }), await open({ etcd })]
    const { epoch } = one.store.status()
    one.hold()
    await two.ask('a')
    await two.ask('b')
    etcd.compacted = 4
    one.cut()
    one.release()
    await one.pass(300)
    expect(one.store.status()).toMatchObject({ epoch, revision: 4, compacted: 4, refusing: '' })
    expect({ replaced: one.timesReplaced(), log: one.log }).toEqual({ replaced: 1, log: [] })
    await two.ask('c')
    expect(one.log).toEqual(['heard c 5 after 4'])
  })

  test.each<[string, (etcd: FakeEtcd) => void]>([
    [
      'stands behind what was heard',
      (etcd) => {
        etcd.revision = 3
        etcd.events = etcd.events.filter(({ revision }) => revision <= 3)
      },
    ],
    [
      'has another write where one was heard',
      (etcd) => {
        etcd.events = etcd.events.filter(({ revision }) => revision <= 3)
        etcd.revision = 3
        etcd.write([{ key: '/p/keys/b', value: frameValue({ key: 'b', writeId: 'another', value: bytes('x') }) }])
        etcd.write([{ key: '/elsewhere', value: Buffer.alloc(0) }])
      },
    ],
    [
      'has no write where one was heard',
      (etcd) => {
        etcd.events = etcd.events.filter(({ revision }) => revision <= 3)
      },
    ],
    [
      'has lost the store',
      (etcd) => {
        etcd.events = []
      },
    ],
  ])('that finds an etcd that %s gets another epoch and reloads the state', async (_what, restore) => {
    const { etcd, store, ask, hold, release, cut, pass, timesReplaced } = await open()
    await ask('a')
    await ask('b')
    const { epoch } = store.status()
    hold()
    restore(etcd)
    cut()
    release()
    await pass(300)
    expect(store.status().epoch).not.toBe(epoch)
    expect(store.status()).toMatchObject({ revision: etcd.revision, compacted: etcd.revision, refusing: '' })
    const { epoch: renewed } = store.status()
    cut()
    await pass(300)
    expect({ epoch: store.status().epoch, replaced: timesReplaced() }).toEqual({ epoch: renewed, replaced: 1 })
  })

  test('that finds another epoch instead of none adopts it and reloads the state', async () => {
    const { etcd, store, ask, cut, pass, timesReplaced } = await open()
    await ask('a')
    const value = Buffer.from('{"epoch":"theirs","profile":"orch"}')
    etcd.events = etcd.events.map((event) => (event.key.toString() === '/p/epoch' ? { ...event, value } : event))
    cut()
    await pass(300)
    expect({ epoch: store.status().epoch, replaced: timesReplaced() }).toEqual({ epoch: 'theirs', replaced: 1 })
  })

  test('that finds an epoch younger than its last change treats it as an ordinary change', async () => {
    const etcd = new FakeEtcd()
    const [one, two] = [await open({ etcd }), await open({ etcd })]
    one.hold()
    one.cut()
    const renewed = await two.store.renewEpoch()
    await two.ask('a')
    one.release()
    await one.pass(300)
    await two.ask('b')
    expect({ epoch: one.store.status().epoch, replaced: one.timesReplaced() }).toEqual({ epoch: renewed, replaced: 0 })
    expect(one.log).toEqual(['heard a 4 after 3', 'heard b 5 after 4'])
  })

  test('that finds etcd below a known revision begins another epoch, even if no change is missing', async () => {
    const { etcd, store, ask, cut, pass, timesReplaced } = await open()
    await ask('a')
    const { epoch } = store.status()
    etcd.revision = 9
    store.shared.askPosition()
    etcd.revision = 5
    cut()
    await pass(300)
    expect({ isRenewed: store.status().epoch !== epoch, replaced: timesReplaced() }).toEqual({ isRenewed: true, replaced: 1 })
  })

  test('that finds its last change compacted keeps its epoch', async () => {
    const { etcd, store, ask, cut, pass, timesReplaced } = await open()
    await ask('a')
    etcd.revision = 9
    store.shared.askPosition()
    await store.compact(8)
    const before = store.status()
    cut()
    await pass(300)
    expect({ status: store.status(), replaced: timesReplaced() }).toEqual({ status: before, replaced: 0 })
  })

  test.each(['put', 'delete'])('that finds the last %s unchanged keeps its epoch', async (last) => {
    const { store, ask, cut, pass } = await open()
    await ask('a')
    if (last === 'delete') await ask('a', { expected: 3, value: undefined })
    const before = store.status()
    cut()
    await pass(300)
    expect(store.status()).toEqual(before)
  })

  test('sends growing revisions as positions, not as changes', async () => {
    const { etcd, store, log } = await open()
    etcd.revision = 9
    expect(store.shared.askPosition()).toBe(true)
    expect(store.status().revision).toBe(9)
    etcd.revision = 8
    store.shared.askPosition()
    expect({ revision: store.status().revision, log }).toEqual({ revision: 9, log: [] })
  })
})

describe('the start of a store', () => {
  const away = new Error('4 DEADLINE_EXCEEDED: no')
  const start = (etcd: FakeEtcd, startWaitMs: number) => {
    const clock = createFakeClock()
    const { client } = etcd.client()
    const opening = openEtcdStore({ servers: [], prefix: 'p', profile: 'orch', clock, client, random: () => 0, startWaitMs })
    return { clock, opening }
  }

  test('waits for an unreachable etcd', async () => {
    const etcd = new FakeEtcd()
    etcd.statusErrors = Array.from({ length: 8 }, () => away)
    const { clock, opening } = start(etcd, 60_000)
    await vi.waitFor(() => {
      clock.advance(300)
      expect(etcd.follows).toBe(1)
    }, 60_000)
    await (await opening).close()
    expect(etcd.closed).toBe(1)
  })

  test('fails after its timeout, and at once if etcd refuses or belongs to another profile', async () => {
    const late = new FakeEtcd()
    late.statusErrors = Array.from({ length: 8 }, () => away)
    await expect(start(late, -1).opening).rejects.toMatchObject({ code: 504 })
    const refusing = new FakeEtcd()
    refusing.statusErrors = [new Error('7 PERMISSION_DENIED: no')]
    await expect(start(refusing, 60_000).opening).rejects.toThrow('no')
    const foreign = new FakeEtcd()
    foreign.write([{ key: '/p/epoch', value: Buffer.from('{"epoch":"e","profile":"kubernetes"}') }])
    await expect(start(foreign, 60_000).opening).rejects.toThrow("belongs to the profile 'kubernetes'")
    expect([late.closed, refusing.closed, foreign.closed]).toEqual([1, 1, 1])
  })
})

describe('the past of a store', () => {
  const told = async (store: Awaited<ReturnType<typeof open>>['store'], after: number, limit = 10) => {
    const history = await store.history(after, limit)
    return history.kind === 'changes' ? history.changes.map(toText) : history
  }

  test('reaches back to the compaction, and ends at the last change', async () => {
    const { store, ask } = await open()
    for (const key of ['a', 'b', 'c']) await ask(key)
    // No change has happened since then that a watch could report.
    expect(await told(store, 5)).toEqual([])
    await store.compact(3)
    expect(await told(store, 2)).toEqual({ kind: 'compacted', compacted: 3 })
    expect(await told(store, 3)).toEqual(['b 4 after 3', 'c 5 after 4'])
    expect(await told(store, 3, 1)).toEqual(['b 4 after 3'])
    expect(await told(store, 5)).toEqual([])
    expect(await told(store, store.status().revision)).toEqual([])
  })

  test('is reported as compacted after etcd has compacted it', async () => {
    const { store, etcd, ask } = await open()
    for (const key of ['a', 'b', 'c']) await ask(key)
    etcd.compacted = 4
    expect(await store.history(2, 10)).toEqual({ kind: 'compacted', compacted: 4 })
    expect(store.status().compacted).toBe(4)
  })

  test('MACH-OPS-06: has the members of the client', async () => {
    const { store } = await open()
    expect(await store.shared.members()).toEqual(['', 'no answer in time'])
  })

  test('has a record only at its own revision', async () => {
    const { store, ask } = await open()
    await ask('a')
    await ask('b')
    expect(await store.recordAt('a', 3)).toMatchObject({ key: 'a', revision: 3 })
    expect(await store.recordAt('a', 4)).toBeUndefined()
    await store.compact(4)
    expect(await store.recordAt('a', 3)).toMatchObject({ key: 'a', revision: 3 })
  })
})

describe('a compaction', () => {
  test('is received by this store before etcd drops anything', async () => {
    const { store, ask, etcd, hold, release } = await open()
    await ask('a')
    hold()
    const compaction = store.compact(3)
    await turns()
    expect({ asked: etcd.compactions, compacted: store.status().compacted }).toEqual({ asked: [], compacted: 0 })
    release()
    await compaction
    expect({ asked: etcd.compactions, compacted: store.status().compacted }).toEqual({ asked: ['3'], compacted: 3 })
  })

  test('up to an already compacted revision does nothing, and at a future revision is refused', async () => {
    const { store, ask, etcd } = await open()
    await ask('a')
    await store.compact(3)
    const { revision } = store.status()
    await store.compact(3)
    await expect(store.compact(revision + 1)).rejects.toThrow(`can't be compacted, the store is at ${revision}`)
    expect({ asked: etcd.compactions, revision: etcd.revision }).toEqual({ asked: ['3'], revision })
  })

  test('that another store has exceeded is no failure, and any other error is a failure', async () => {
    const { store, ask, etcd } = await open()
    await ask('a')
    etcd.compactionError = new Error('11 OUT_OF_RANGE: etcdserver: mvcc: required revision has been compacted')
    await store.compact(2)
    etcd.compactionError = new Error('7 PERMISSION_DENIED: etcdserver: permission denied')
    await expect(store.compact(3)).rejects.toThrow('permission denied')
  })

  test('that another replica reports late does not lower a later compaction', async () => {
    const { store, etcd } = await open()
    for (const revision of ['2', '1']) etcd.write([{ key: '/p/compacted', value: Buffer.from(revision) }])
    expect(store.status().compacted).toBe(2)
    // It takes effect as soon as it is received, although etcd has not compacted anything yet.
    expect(await store.history(1, 10)).toEqual({ kind: 'compacted', compacted: 2 })
  })
})

describe('the epoch of a store', () => {
  test('is the same for all replicas, and a new epoch is adopted by all', async () => {
    const etcd = new FakeEtcd()
    const [one, two] = [await open({ etcd }), await open({ etcd })]
    const { epoch } = one.store.status()
    expect(two.store.status().epoch).toBe(epoch)
    const renewed = await one.store.renewEpoch()
    expect(renewed).not.toBe(epoch)
    expect([one, two].map(({ store }) => store.status().epoch)).toEqual([renewed, renewed])
    // It counts as the revision before the next change, and commits are checked against it.
    expect(await two.ask('a')).toBe('written 4')
    expect(one.log).toEqual(['heard a 4 after 3'])
  })

  test('is renewed when the renewal has been received', async () => {
    const { store, hold, release } = await open()
    const { epoch } = store.status()
    hold()
    const heard: string[] = []
    const renewed = store.renewEpoch().then((text) => {
      heard.push(text)
      return text
    })
    await turns()
    expect({ heard, epoch: store.status().epoch }).toEqual({ heard: [], epoch })
    release()
    expect(store.status().epoch).toBe(await renewed)
  })

  test('that another replica renews at the same time is adopted', async () => {
    const etcd = new FakeEtcd()
    const [one, two] = [await open({ etcd }), await open({ etcd })]
    const renewed = await Promise.all([one.store.renewEpoch(), two.store.renewEpoch()])
    expect(renewed[0]).toBe(renewed[1])
  })
})

describe('a latest read', () => {
  test('is at a revision of etcd from after its start, and is answered by a request that began after it', async () => {
    const { store, etcd } = await open()
    const first = store.shared.latest()
    etcd.write([{ key: '/elsewhere', value: Buffer.alloc(0) }])
    const others = [store.shared.latest(), store.shared.latest()]
    expect((await Promise.all(others)).every((revision) => revision === 3)).toBe(true)
    expect(await first).toBeLessThanOrEqual(3)
  })

  test('shares its request with parallel callers, and is still sent after its arrival', async () => {
    const { store, etcd } = await open()
    const asking = Array.from({ length: 9 }, () => store.shared.latest())
    await Promise.all(asking)
    expect(etcd.questions).toBe(2)
    // A short pause follows a request that eight callers shared, whether one or many callers wait.
    etcd.write([{ key: '/elsewhere', value: Buffer.alloc(0) }])
    const later = Array.from({ length: 5 }, () => store.shared.latest())
    expect(etcd.questions).toBe(2)
    expect(await Promise.all(later)).toEqual([3, 3, 3, 3, 3])
    expect(etcd.questions).toBe(3)
  })

  test.each([
    [3, 3],
    [4, 2],
  ])('after a request with %i sharers sends request %i at once, or waits first', async (sharers, questions) => {
    const { store, etcd } = await open()
    await Promise.all(Array.from({ length: 1 + sharers }, () => store.shared.latest()))
    expect(etcd.questions).toBe(2)
    const latest = store.shared.latest()
    expect(etcd.questions).toBe(questions)
    await latest
    expect(etcd.questions).toBe(3)
  })

  test('from an etcd that reports its revision unreliably does not make the watch count as silent', async () => {
    const { store, etcd, pass } = await open({ etcdVersion: '3.5.12' })
    etcd.write([{ key: '/elsewhere', value: Buffer.alloc(0) }])
    expect(await store.shared.latest()).toBe(3)
    await pass(2_000)
    expect([etcd.follows, store.status().refusing]).toEqual([1, ''])
  })

  test('whose answer is overtaken by the watch is answered', async () => {
    const { store, etcd } = await open()
    const latest = store.shared.latest()
    etcd.write([{ key: '/p/keys/a', value: frameValue({ key: 'a', writeId: 'w', value: bytes('v') }) }])
    expect({ latest: await latest, status: store.status() }).toMatchObject({ latest: 2, status: { revision: 3, refusing: '' } })
  })

  test('that finds etcd below the watch’s revision counts etcd as restored', async () => {
    const { store, etcd, ask, pass } = await open()
    await ask('a')
    const { epoch } = store.status()
    etcd.revision = 2
    etcd.events = etcd.events.filter(({ revision }) => revision <= 2)
    const latest = store.shared.latest()
    await pass(300)
    await latest
    expect(store.status().epoch).not.toBe(epoch)
  })
})
