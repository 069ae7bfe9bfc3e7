import { type ChangesPart, type Entry, everything, type StorageService } from '@orch/core/contracts'
import { type Clock, sleep } from '../clock.ts'
import { Listeners } from '../listeners.ts'
import type { Log } from '../log.ts'
import { retryDelayMs } from '../retry-delay.ts'

/** An object as storage gives it; its bytes may be read lazily. */
export type Stored = Pick<Entry, 'value' | 'metadataEnd'>

interface Decoding<T> {
  /** Returns the part of an object to keep. An object that cannot be decoded is skipped and logged. */
  readonly decode: (value: Uint8Array, key: string) => T
}

interface Keeping<T> {
  /** Like `decode`, for an object that need not be read at once. */
  readonly keep: (stored: Stored, key: string) => T
}

/** Returns the part of each object to keep. */
export type ReflectorReading<T> = Decoding<T> | Keeping<T>

/** The resource, the part of each object to keep, and the access to storage. */
export type ReflectorOptions<T> = ReflectorParts & ReflectorReading<T>

interface ReflectorParts {
  readonly storage: StorageService
  readonly clock: Clock
  readonly log: Log
  /** From 0 to 1; spreads the attempts to reach storage. */
  readonly random: () => number
  /** The storage prefix of the resource: `core/namespaces`. */
  readonly resource: string
  /** Stops the reflector. */
  readonly signal: AbortSignal
}

/** A difference between the previous and the current state. For a modified object both are present. */
export interface ReflectorChange<T> {
  readonly key: string
  readonly before: T | undefined
  readonly after: T | undefined
  readonly revision: number
}

/** Maximum pause between attempts to reach storage; the first retry is immediate. */
const retryDelayMsMax = 5_000

interface KeptObject<T> {
  readonly revision: number
  readonly value: T
}

/**
 * Keeps a resource in memory from a snapshot and later changes, until its signal is raised. It may lag behind
 * storage, but never shows a state that did not exist. If history is lost, it loads again and reports the differences.
 */
export class Reflector<T> {
  /** Resolves after the first load; rejects if the reflector was stopped before. */
  readonly ready: Promise<void>
  readonly #options: ReflectorOptions<T>
  readonly #listeners = new Listeners<ReflectorChange<T>>()
  /** Undefined without objects, as in most servers of tests. */
  #objects: Map<string, KeptObject<T>> | undefined
  #revision = 0
  #epoch = ''
  #isLoaded = false
  /** Settles `ready`; undefined after the first load. */
  #loading: Pick<PromiseWithResolvers<void>, 'resolve' | 'reject'> | undefined

  constructor(options: ReflectorOptions<T>) {
    this.#options = options
    const { promise, ...loading } = Promise.withResolvers<void>()
    this.ready = promise
    this.#loading = loading
    // Without this, a rejection would be unhandled if the caller does not wait for `ready`.
    promise.catch(() => {})
    void this.#run()
  }

  /** The revision of the state in memory; 0 before the first load. */
  get revision(): number {
    return this.#revision
  }

  get(key: string): T | undefined {
    return this.#objects?.get(key)?.value
  }

  *values(): Iterable<T> {
    for (const { value } of this.#objects?.values() ?? []) yield value
  }

  /** Calls the listener for every difference, in order. The returned function removes it. */
  onChange(listener: (change: ReflectorChange<T>) => void): () => void {
    return this.#listeners.add(listener)
  }

  /** Loads and follows, repeatedly, until the signal is raised. */
  async #run(): Promise<void> {
    const { signal } = this.#options
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      if (attempt > 1) await this.#pause(attempt)
      if (signal.aborted) break
      try {
        if (!this.#isLoaded) await this.#load()
        // A loop of `for await` keeps more memory while it waits, and a server has dozens of reflectors.
        const parts = this.#follow()
        try {
          for (let part = await parts.next(); part.done !== true; part = await parts.next()) {
            // A new epoch is no failure: the next attempt needs no pause, for which a virtual clock may never move.
            if (part.value.kind !== 'expired' || part.value.epoch !== this.#epoch) attempt = 0
            if (!this.#take(part.value)) break
          }
        } finally {
          await parts.return?.()
        }
      } catch (error) {
        this.#report(error, attempt)
      }
    }
    this.#loading?.reject(new Error(`following ${this.#options.resource} has ended`))
  }

  #follow(): AsyncIterator<ChangesPart> {
    const { storage, resource, signal } = this.#options
    return storage.changes({ after: this.#revision, epoch: this.#epoch, resources: [resource] }, { signal })[Symbol.asyncIterator]()
  }

  #pause(attempt: number): Promise<void> {
    const { clock, random, signal } = this.#options
    return sleep(clock, retryDelayMs({ attempt, maxMs: retryDelayMsMax, random: random() }), signal)
  }

  #report(error: unknown, attempt: number): void {
    const { log, resource, signal } = this.#options
    // If another replica continues the stream at once, the failure is only logged at debug level.
    const level = attempt > 1 ? 'warn' : 'debug'
    if (!signal.aborted) log[level]({ err: error, resource, attempt }, 'a resource cannot be watched')
  }

  async #load(): Promise<void> {
    const { storage, resource, signal } = this.#options
    const { entries, revision, epoch } = await readAll(storage, resource, signal)
    const gone = new Set(this.#objects?.keys())
    for (const entry of entries) {
      gone.delete(entry.key)
      if (this.#objects?.get(entry.key)?.revision !== entry.revision) this.#set(entry.key, entry, entry.revision)
    }
    for (const key of gone) this.#set(key, undefined, revision)
    this.#revision = revision
    this.#epoch = epoch
    this.#isLoaded = true
    this.#loading?.resolve()
    this.#loading = undefined
  }

  /** Applies a part. False if history after the current revision is lost, or the part belongs to another store. */
  #take(part: ChangesPart): boolean {
    if (part.kind === 'expired' || part.epoch !== this.#epoch) {
      this.#isLoaded = false
      return false
    }
    if (part.kind === 'position') {
      this.#revision = Math.max(this.#revision, part.revision)
      return true
    }
    for (const { key, after, revision } of part.changes) {
      if (revision <= this.#revision) continue
      this.#revision = revision
      this.#set(key, after, revision)
    }
    return true
  }

  #set(key: string, stored: Stored | undefined, revision: number): void {
    const before = this.#objects?.get(key)
    const after = stored === undefined ? undefined : this.#decode(stored, key)
    if (after === undefined) this.#objects?.delete(key)
    else {
      this.#objects ??= new Map()
      this.#objects.set(key, { revision, value: after })
    }
    if (before === undefined && after === undefined) return
    this.#listeners.call({ key, before: before?.value, after, revision })
  }

  #decode(stored: Stored, key: string): T | undefined {
    try {
      return 'keep' in this.#options ? this.#options.keep(stored, key) : this.#options.decode(stored.value, key)
    } catch (error) {
      this.#options.log.error({ err: error, key }, 'a stored object cannot be read')
      return undefined
    }
  }
}

interface Loaded {
  readonly revision: number
  readonly epoch: string
  readonly entries: readonly Entry[]
}

async function readAll(storage: StorageService, resource: string, signal: AbortSignal): Promise<Loaded> {
  const request = { scope: { resource }, selection: everything, read: { kind: 'latest' }, limit: 0, start: '', layout: 'entries' } as const
  const entries: Entry[] = []
  let head: Omit<Loaded, 'entries'> | undefined
  for await (const part of storage.list(request, { signal })) {
    switch (part.kind) {
      case 'head':
        head = { revision: part.revision, epoch: part.epoch }
        break
      case 'entries':
        entries.push(...part.entries)
        break
      case 'chunk':
        throw new Error('storage has sent joined objects instead of the requested entries')
    }
  }
  if (head === undefined) throw new Error(`the list of ${resource} has ended before it began`)
  return { ...head, entries }
}
