import type { SharedStore, Store, StoreChange, StoreHistory, StorePage, StoreRecord } from '@orch/core/contracts'
import { at } from '@orch/core/json'
import { expired, type Revision } from '@orch/core/meta'
import { type Clock, Listeners, sleep } from '@orch/platform'
import { AlteredValueError, type Encryption, UnreadableValueError } from './encryption.ts'

/** The dependencies of decryption. */
export interface EncryptedStoreOptions {
  readonly encryption: Encryption
  readonly clock: Clock
  /** Receives the reason why changes cannot be decrypted and are held back. */
  readonly onError: (error: unknown, what: string) => void
}

const nothing = new Uint8Array(0)

/** The pause before the next attempt to decrypt a value. */
const retryDelayMs = 1_000

/** Wraps a store and encrypts its values. Callers see plain values; only encrypted ones are stored. */
export function encryptStore(store: Store, options: EncryptedStoreOptions): Store {
  return new EncryptedStore(store, options)
}

/**
 * Holds back a change whose encryption key is missing, and all later changes, until the key arrives. Until then the store reports the revision before
 * that change, so that readers do not take an older state for the newest.
 */
class EncryptedStore implements Store {
  readonly #store: Store
  readonly #encryption: Encryption
  readonly #options: EncryptedStoreOptions
  readonly #listeners = new Listeners<readonly StoreChange[]>()
  readonly #detach: (() => void)[] = []
  readonly #closing = new AbortController()
  /** The held changes, in order. */
  #held: (readonly StoreChange[])[] = []
  /** The store's revision for readers while changes are held back; otherwise undefined. */
  #heldAt: Revision | undefined
  /** The label of each encrypted key's current value. */
  readonly #labels = new Map<string, string>()
  /** Commits with held changes. */
  #waiting: { readonly revision: Revision; readonly resolve: () => void }[] = []
  readonly shared: SharedStore | undefined
  readonly snapshot: Store['snapshot']

  constructor(store: Store, options: EncryptedStoreOptions) {
    this.#store = store
    this.#encryption = options.encryption
    this.#options = options
    this.shared = store.shared
    this.snapshot = store.snapshot
    // Runs before other listeners, because the held changes belong to a replaced past.
    if (store.shared !== undefined) this.#detach.push(store.shared.onReplaced(() => this.#forgetHeld()))
    this.#detach.push(store.listen((changes) => this.#onChanges(changes)))
  }

  async commit(commit: Parameters<Store['commit']>[0]): ReturnType<Store['commit']> {
    const { key, value } = commit
    const outcome = await this.#store.commit(value === undefined ? commit : { ...commit, value: this.#encryption.seal(key, value) })
    if (outcome.kind === 'written') await this.#delivered(outcome.revision)
    return outcome
  }

  async getAt(key: string, revision: Revision): Promise<StoreRecord | undefined> {
    return this.#openOne(await this.#store.getAt(key, revision))
  }

  /** Treats a previous value that cannot be decrypted as absent. */
  async recordAt(key: string, revision: Revision): Promise<StoreRecord | undefined> {
    try {
      return await this.#openOne(await this.#store.recordAt(key, revision))
    } catch (error) {
      if (error instanceof AlteredValueError) return undefined
      throw asExpired(error)
    }
  }

  /** Treats past values that cannot be decrypted as deleted. */
  async #openPast(changes: readonly StoreChange[]): Promise<readonly StoreChange[]> {
    try {
      return await this.#openAll(changes)
    } catch (error) {
      if (!(error instanceof AlteredValueError) || changes.length === 0) throw error
      if (changes.length === 1) return [{ ...at(changes, 0), value: undefined }]
      const middle = changes.length >> 1
      return [...(await this.#openPast(changes.slice(0, middle))), ...(await this.#openPast(changes.slice(middle)))]
    }
  }

  count(range: Parameters<Store['count']>[0]): Promise<number> {
    return this.#store.count(range)
  }

  async range(range: Parameters<Store['range']>[0]): Promise<StorePage> {
    const page = await this.#store.range(range)
    return { ...page, records: await this.#openAll(page.records) }
  }

  async history(after: Revision, limit: number): Promise<StoreHistory> {
    const read = await this.#store.history(after, limit)
    if (read.kind !== 'changes') return read
    try {
      return { kind: 'changes', changes: await this.#openPast(read.changes) }
    } catch (error) {
      throw asExpired(error)
    }
  }

  /**
   * Reads the store again after missing keys were fetched, and yields the values that were left out. Altered values come last, as records with a
   * problem. If no value with a prefix can be decrypted, the key is wrong, and this rejects.
   */
  async visit(show: (record: StoreRecord) => void): Promise<void> {
    const altered = new Map<string, { readonly revision: Revision; readonly error: AlteredValueError }>()
    const open = (record: StoreRecord): Uint8Array | undefined | AlteredValueError => {
      try {
        return this.#encryption.open(record.key, record.value)
      } catch (error) {
        if (error instanceof AlteredValueError) return error
        throw error
      }
    }
    for (let last: string | undefined; ; ) {
      const lacking: StoreRecord[] = []
      await this.#store.visit((record) => {
        if (last !== undefined && record.key <= last) return
        const { key, revision, value: sealed } = record
        const value = open({ key, revision, value: sealed })
        if (value instanceof AlteredValueError) altered.set(key, { revision, error: value })
        else if (value === undefined) lacking.push({ key, revision, value: Uint8Array.from(sealed) })
        else if (lacking.length === 0) {
          this.#keepLabel({ key, value: sealed })
          show({ key, revision, value })
          last = key
        }
      })
      if (lacking.length === 0) break
      await this.#encryption.prepare(lacking)
    }
    const labels = [...new Set(this.#labels.values())]
    for (const [key, { revision, error }] of altered) {
      if (!labels.some((label) => label.startsWith(error.prefix))) throw error
      show({ key, revision, value: nothing, problem: error.message })
    }
  }

  listen(listener: (changes: readonly StoreChange[]) => void): () => void {
    return this.#listeners.add(listener)
  }

  compact(revision: Revision): Promise<void> {
    return this.#store.compact(revision)
  }

  isStale(key: string): boolean {
    return (this.#labels.get(key) ?? '') !== this.#encryption.presentLabel(key)
  }

  renewEpoch(): Promise<string> {
    return this.#store.renewEpoch()
  }

  status(): ReturnType<Store['status']> {
    const status = this.#store.status()
    return this.#heldAt === undefined ? status : { ...status, revision: this.#heldAt }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    for (const detach of this.#detach) detach()
    this.#release(Number.POSITIVE_INFINITY)
    await this.#store.close()
  }

  async #openOne(record: StoreRecord | undefined): Promise<StoreRecord | undefined> {
    return record === undefined ? undefined : (await this.#openAll([record]))[0]
  }

  async #openAll<T extends Sealed>(records: readonly T[]): Promise<readonly T[]> {
    for (;;) {
      const { opened, lacking } = this.#tryAll(records)
      if (lacking.length === 0) return opened
      await this.#encryption.prepare(lacking)
    }
  }

  #tryAll<T extends Sealed>(records: readonly T[]): { readonly opened: readonly T[]; readonly lacking: readonly StoredValue[] } {
    const lacking: StoredValue[] = []
    const opened = records.map((record) => {
      const { key, value } = record
      if (value === undefined) return record
      const plain = this.#encryption.open(key, value)
      if (plain === undefined) lacking.push({ key, value })
      return plain === value ? record : { ...record, value: plain }
    })
    return { opened, lacking }
  }

  #onChanges(changes: readonly StoreChange[]): void {
    if (this.#heldAt === undefined) {
      const opened = this.#tryAtOnce(changes)
      if (opened !== undefined) {
        this.#deliver(changes, opened)
        return
      }
      this.#heldAt = at(changes, 0).previous
      void this.#openHeld()
    }
    this.#held.push(changes)
  }

  #tryAtOnce(changes: readonly StoreChange[]): readonly StoreChange[] | undefined {
    try {
      const { opened, lacking } = this.#tryAll(changes)
      return lacking.length === 0 ? opened : undefined
    } catch {
      // `#openHeld` tries again, and reports the error.
      return undefined
    }
  }

  /** Delivers the held changes in order as keys arrive. */
  async #openHeld(): Promise<void> {
    await Promise.resolve()
    for (let changes = this.#held[0]; changes !== undefined && !this.#closing.signal.aborted; changes = this.#held[0]) {
      try {
        const opened = await this.#openAll(changes)
        // Another process may have replaced the store meanwhile.
        if (this.#held[0] !== changes) continue
        this.#held.shift()
        this.#heldAt = changes.at(-1)?.revision ?? this.#heldAt
        if (this.#held.length === 0) this.#heldAt = undefined
        this.#deliver(changes, opened)
        this.#release(changes.at(-1)?.revision ?? 0)
      } catch (error) {
        this.#options.onError(error, 'decrypting a change; all changes behind it wait')
        await sleep(this.#options.clock, retryDelayMs, this.#closing.signal)
      }
    }
  }

  #deliver(changes: readonly StoreChange[], opened: readonly StoreChange[]): void {
    for (const change of changes) this.#keepLabel(change)
    this.#listeners.call(opened)
  }

  #keepLabel({ key, value }: Sealed): void {
    const label = value === undefined ? '' : this.#encryption.labelOf(key, value)
    if (label === '') this.#labels.delete(key)
    else this.#labels.set(key, label)
  }

  #forgetHeld(): void {
    this.#held = []
    this.#heldAt = undefined
    this.#labels.clear()
    this.#release(Number.POSITIVE_INFINITY)
  }

  /** Resolves when the change of a revision has reached the listeners. */
  #delivered(revision: Revision): Promise<void> | undefined {
    if (this.#heldAt === undefined || this.#heldAt >= revision) return undefined
    return new Promise((resolve) => this.#waiting.push({ revision, resolve }))
  }

  #release(upTo: Revision): void {
    const due = this.#waiting.filter(({ revision }) => revision <= upTo)
    this.#waiting = this.#waiting.filter(({ revision }) => revision > upTo)
    for (const { resolve } of due) resolve()
  }
}

/** Past values whose key is no longer configured, or cannot be fetched, count as compacted: readers restart from the present. */
function asExpired(error: unknown): unknown {
  return error instanceof UnreadableValueError ? expired(error.message) : error
}

type StoredValue = Pick<StoreRecord, 'key' | 'value'>

interface Sealed {
  readonly key: string
  readonly value?: Uint8Array | undefined
}
