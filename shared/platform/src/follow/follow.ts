import { type ChangesPart, type Entry, everything, type StorageService } from '@orch/core'
import { type Clock, sleep } from '../clock.ts'
import type { Log } from '../log.ts'
import { retryDelayMs } from './retry-delay.ts'

/** What is followed, what is kept of it, and what the following needs from the world. */
export interface FollowOptions<T> {
  readonly storage: StorageService
  readonly clock: Clock
  readonly log: Log
  /** From 0 to 1; spreads the attempts to reach storage. */
  readonly random: () => number
  /** Storage prefix of the resource: `core/namespaces`. */
  readonly resource: string
  /** What is kept of an object. One that cannot be decoded is left out, and logged. */
  readonly decode: (value: Uint8Array, key: string) => T
  /** Ends the following. */
  readonly signal: AbortSignal
}

/** One difference between what was and what is; both are present when the object was changed. */
export interface Followed<T> {
  readonly key: string
  readonly before: T | undefined
  readonly after: T | undefined
  readonly revision: number
}

/** A collection kept in memory. It may be behind storage, but never shows a state that never was. */
export interface Following<T> {
  /** Resolves when the collection has been loaded once; rejects when following ended before. */
  readonly ready: Promise<void>
  /** What the collection is true at; 0 before it is loaded. */
  readonly revision: number
  readonly size: number
  get(key: string): T | undefined
  values(): Iterable<T>
  /** Called for every difference, in order; the returned function takes it back. */
  onChange(listener: (change: Followed<T>) => void): () => void
}

/** Longest pause between two attempts to reach storage; the first retry comes at once. */
const retryDelayMsMax = 5_000

/** Keeps a resource in memory by a snapshot and the changes after it. When history is lost it loads again and reports the differences. */
export function follow<T>(options: FollowOptions<T>): Following<T> {
  const { storage, clock, log, random, resource, decode, signal } = options
  const objects = new Map<string, { readonly revision: number; readonly value: T }>()
  const listeners = new Set<(change: Followed<T>) => void>()
  const { promise: ready, resolve: setReady, reject: setFailed } = Promise.withResolvers<void>()
  let revision = 0
  let epoch = ''

  const decoded = (value: Uint8Array, key: string): T | undefined => {
    try {
      return decode(value, key)
    } catch (error) {
      log.error({ err: error, key }, 'a stored object cannot be read')
      return undefined
    }
  }
  const set = (key: string, value: Uint8Array | undefined, at: number) => {
    const before = objects.get(key)
    const after = value === undefined ? undefined : decoded(value, key)
    if (after === undefined) objects.delete(key)
    else objects.set(key, { revision: at, value: after })
    if (before === undefined && after === undefined) return
    for (const listener of listeners) listener({ key, before: before?.value, after, revision: at })
  }

  const load = async () => {
    const loaded = await readAll(storage, resource, signal)
    const gone = new Set(objects.keys())
    for (const entry of loaded.entries) {
      gone.delete(entry.key)
      if (objects.get(entry.key)?.revision !== entry.revision) set(entry.key, entry.value, entry.revision)
    }
    for (const key of gone) set(key, undefined, loaded.revision)
    revision = loaded.revision
    epoch = loaded.epoch
    setReady()
  }
  /** False when the history after our revision is gone, or belongs to another store. */
  const take = (part: ChangesPart): boolean => {
    if (part.kind === 'expired' || part.epoch !== epoch) return false
    if (part.kind === 'position') revision = Math.max(revision, part.revision)
    else {
      for (const change of part.changes) {
        if (change.revision <= revision) continue
        revision = change.revision
        set(change.key, change.after?.value, change.revision)
      }
    }
    return true
  }
  const run = async () => {
    let isLoaded = false
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      if (attempt > 1) await sleep(clock, retryDelayMs({ attempt, maxMs: retryDelayMsMax, random: random() }), signal)
      if (signal.aborted) break
      try {
        if (!isLoaded) await load()
        isLoaded = true
        for await (const part of storage.changes({ after: revision, epoch, resources: [resource] }, { signal })) {
          isLoaded = take(part)
          if (!isLoaded) break
          attempt = 0
        }
      } catch (error) {
        // One that is followed on at once elsewhere is worth nobody's attention.
        const level = attempt > 1 ? 'warn' : 'debug'
        if (!signal.aborted) log[level]({ err: error, resource, attempt }, 'a resource cannot be followed')
      }
    }
    setFailed(new Error(`following ${resource} has ended`))
  }
  // Whoever does not wait for `ready` need not handle its end.
  ready.catch(() => {})
  void run()

  return {
    ready,
    get revision() {
      return revision
    },
    get size() {
      return objects.size
    },
    get: (key) => objects.get(key)?.value,
    *values() {
      for (const { value } of objects.values()) yield value
    },
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

interface Loaded {
  readonly revision: number
  readonly epoch: string
  readonly entries: readonly Entry[]
}

async function readAll(storage: StorageService, resource: string, signal: AbortSignal): Promise<Loaded> {
  const request = { scope: { resource }, selection: everything, read: { kind: 'latest' }, limit: 0, start: '', form: 'entries' } as const
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
