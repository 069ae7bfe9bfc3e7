import { type ChangesPart, type Entry, everything, type StorageService } from '@orch/core/contracts'
import { type Clock, sleep } from '../clock.ts'
import { Listeners } from '../listeners.ts'
import type { Log } from '../log.ts'
import { retryDelayMs } from '../retry-delay.ts'

/** An object as storage gives it, which may read its bytes when they are asked for. */
export type Stored = Pick<Entry, 'value' | 'metadataEnd'>

interface Decoding<T> {
  /** Returns the kept part of an object. An object that cannot be decoded is left out, and logged. */
  readonly decode: (value: Uint8Array, key: string) => T
}

interface Keeping<T> {
  /** As `decode`, of an object that need not be read at once. */
  readonly keep: (stored: Stored, key: string) => T
}

/** The kept part of each object. */
export type ReflectorReading<T> = Decoding<T> | Keeping<T>

/** The resource of a reflector, the kept part of each object, and its access to the world. */
export type ReflectorOptions<T> = ReflectorParts & ReflectorReading<T>

interface ReflectorParts {
  readonly storage: StorageService
  readonly clock: Clock
  readonly log: Log
  /** From 0 to 1; spreads the attempts to reach storage. */
  readonly random: () => number
  /** Storage prefix of the resource: `core/namespaces`. */
  readonly resource: string
  /** Stops the reflector. */
  readonly signal: AbortSignal
}

/** One difference between the state before and the state now; both are present when the object was changed. */
export interface ReflectorChange<T> {
  readonly key: string
  readonly before: T | undefined
  readonly after: T | undefined
  readonly revision: number
}

/** Longest pause between two attempts to reach storage; the first retry is immediate. */
const retryDelayMsMax = 5_000

/**
 * Keeps a resource in memory by a snapshot and the changes after it, from its construction until its signal. It may be behind
 * storage, but never shows a state that never was. When history is lost it loads again and reports the differences.
 */
export class Reflector<T> {
  /** Resolves when the resource has been loaded once; rejects when the reflector stopped before. */
  readonly ready: Promise<void>
  readonly #options: ReflectorOptions<T>
  readonly #objects = new Map<string, { readonly revision: number; readonly value: T }>()
  readonly #listeners = new Listeners<ReflectorChange<T>>()
  #revision = 0
  #epoch = ''

  constructor(options: ReflectorOptions<T>) {
    this.#options = options
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.ready = promise
    // A caller that does not wait for `ready` need not handle its rejection.
    this.ready.catch(() => {})
    void this.#run(resolve).then(() => reject(new Error(`following ${options.resource} has ended`)))
  }

  /** Revision of the state in memory; 0 before it is loaded. */
  get revision(): number {
    return this.#revision
  }

  get size(): number {
    return this.#objects.size
  }

  get(key: string): T | undefined {
    return this.#objects.get(key)?.value
  }

  *values(): Iterable<T> {
    for (const { value } of this.#objects.values()) yield value
  }

  /** Calls the listener for every difference, in order; the returned function removes it. */
  onChange(listener: (change: ReflectorChange<T>) => void): () => void {
    return this.#listeners.add(listener)
  }

  /** Loads and watches, again and again, until the signal. */
  async #run(onLoaded: () => void): Promise<void> {
    const { storage, clock, log, random, resource, signal } = this.#options
    let isLoaded = false
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      if (attempt > 1) await sleep(clock, retryDelayMs({ attempt, maxMs: retryDelayMsMax, random: random() }), signal)
      if (signal.aborted) return
      try {
        if (!isLoaded) {
          await this.#load()
          isLoaded = true
          onLoaded()
        }
        for await (const part of storage.changes({ after: this.#revision, epoch: this.#epoch, resources: [resource] }, { signal })) {
          isLoaded = this.#take(part)
          if (!isLoaded) break
          attempt = 0
        }
      } catch (error) {
        // A stream that continues at another replica at once is no incident.
        const level = attempt > 1 ? 'warn' : 'debug'
        if (!signal.aborted) log[level]({ err: error, resource, attempt }, 'a resource cannot be watched')
      }
    }
  }

  async #load(): Promise<void> {
    const { storage, resource, signal } = this.#options
    const { entries, revision, epoch } = await readAll(storage, resource, signal)
    const gone = new Set(this.#objects.keys())
    for (const entry of entries) {
      gone.delete(entry.key)
      if (this.#objects.get(entry.key)?.revision !== entry.revision) this.#set(entry.key, entry, entry.revision)
    }
    for (const key of gone) this.#set(key, undefined, revision)
    this.#revision = revision
    this.#epoch = epoch
  }

  /** False when the history after the revision in memory is lost, or belongs to another store. */
  #take(part: ChangesPart): boolean {
    if (part.kind === 'expired' || part.epoch !== this.#epoch) return false
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
    const before = this.#objects.get(key)
    const after = stored === undefined ? undefined : this.#decode(stored, key)
    if (after === undefined) this.#objects.delete(key)
    else this.#objects.set(key, { revision, value: after })
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
        throw new Error('storage has sent joined objects where entries were asked for')
    }
  }
  if (head === undefined) throw new Error(`the list of ${resource} has ended before it began`)
  return { ...head, entries }
}
