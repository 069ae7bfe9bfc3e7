import { signal } from '@preact/signals'
import { ApiError, ask, eachOf, formOf } from './api.ts'
import type { KubeList, KubeObject } from './objects.ts'
import { type Kind, keyOfKind, pathOf } from './paths.ts'
import { moment } from './route.ts'
import { isReachable } from './session.ts'
import { messageOf } from './text.ts'
import { unansweredMs, watch } from './watches.ts'

/** The number of objects of a kind, by namespace. */
export interface KindCount {
  readonly kind: Kind
  total: number
  /** Number by namespace; undefined if the namespaces are not counted. */
  byNamespace: Map<string, number> | undefined
  /** Number of changes since the page was opened. */
  changes: number
  readonly rate: Rate
  /** The reason why the kind could not be counted; undefined if it was. */
  problem: string | undefined
}

interface ServerCount {
  readonly group: string
  readonly resource: string
  readonly revision?: string
  readonly count?: number
  readonly namespaces?: Readonly<Record<string, number>>
  /** `forbidden`, or the reason why the kind cannot be counted. */
  readonly problem?: string
}

/** Maximum objects read to count a kind that the server's counts omit; the server counts the rest. */
const readMax = 250
const requestsAtOnce = 4
/** Maximum watched kinds; those with the most objects come first. A stream has at most 128 watches. */
const followedMax = 100
const showEveryMs = 250

/** Changes of the last ten seconds, counted by second. */
class Rate {
  readonly #slots = new Map<number, number>()

  add(count: number, now: number): void {
    const second = Math.floor(now / 1_000)
    this.#slots.set(second, (this.#slots.get(second) ?? 0) + count)
    for (const old of this.#slots.keys()) if (old <= second - 10) this.#slots.delete(old)
  }

  perSecond(now: number): number {
    const oldest = Math.floor(now / 1_000) - 10
    let sum = 0
    for (const [second, count] of this.#slots) if (second > oldest) sum += count
    return sum / 10
  }
}

/** Counts the objects of all kinds, and updates the counts by watches of metadata. */
export class Counts {
  readonly kinds: readonly Kind[]
  readonly namespace: string
  readonly counts = new Map<string, KindCount>()
  /** Increases after changes, at most four times a second. */
  readonly version = signal(0)
  readonly isComplete = signal(false)
  /** Time of the last change in milliseconds since 1970; 0 if there was none since the page was opened. */
  lastChange = 0
  /** Number of kinds without a watch. */
  notFollowed = 0
  readonly #ends = new Map<string, () => void>()
  #timer: number | undefined
  #again: number | undefined
  #opening = Promise.resolve()
  readonly #moment = moment.value
  #isClosed = false

  constructor(kinds: readonly Kind[], namespace: string) {
    const isInside = ({ isNamespaced }: Kind) => namespace === '' || isNamespaced
    // Two groups serve Events, which would be counted twice.
    this.kinds = kinds.filter((kind) => isInside(kind) && !(kind.resource === 'events' && kind.group !== ''))
    this.namespace = namespace
  }

  /** Counts the kinds without a watch, and follows those with the most objects. */
  async open(): Promise<void> {
    const counted = await readCounts(this.namespace)
    if (!isReachable.value) return this.#openAgain(unansweredMs)
    const revisions = new Map<KindCount, string>()
    // The watch of a kind would count its changes a second time.
    const unfollowed = this.kinds.filter((kind) => !this.#ends.has(keyOfKind(kind)))
    await eachOf(unfollowed, requestsAtOnce, async (kind) => {
      const entry = this.counts.get(keyOfKind(kind)) ?? {
        kind,
        total: 0,
        byNamespace: undefined,
        changes: 0,
        rate: new Rate(),
        problem: undefined,
      }
      this.counts.set(keyOfKind(kind), entry)
      const revision = await this.#count(entry, counted.get(keyOfKind(kind)))
      if (revision !== undefined && kind.verbs.includes('watch')) revisions.set(entry, revision)
    })
    const busiest = [...revisions].sort(([one], [other]) => other.total - one.total)
    const free = followedMax - this.#ends.size
    for (const [entry, revision] of busiest.slice(0, free)) this.#follow(entry, revision)
    this.notFollowed = Math.max(0, busiest.length - free)
    this.isComplete.value = true
    this.#show()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    clearTimeout(this.#again)
    for (const end of this.#ends.values()) end()
  }

  /** Changes of all kinds. */
  readonly rate = new Rate()

  /** Returns the revision of the count; undefined if the kind could not be counted. */
  async #count(entry: KindCount, counted: ServerCount | undefined): Promise<string | undefined> {
    if (this.#isClosed || moment.value !== this.#moment) return undefined
    try {
      const { count = 0, namespaces, revision, problem } = counted ?? (await listed(entry.kind, this.namespace))
      entry.total = count
      entry.byNamespace = namespaces && new Map(Object.entries(namespaces))
      entry.problem = problem
      return revision
    } catch (error) {
      // A past moment has no objects of a kind that was defined later.
      entry.problem = error instanceof ApiError && error.code === 404 ? undefined : problemOf(error)
      return undefined
    } finally {
      this.#show()
    }
  }

  #follow(entry: KindCount, revision: string): void {
    if (this.#isClosed) return
    const key = keyOfKind(entry.kind)
    const end = watch<KubeObject>({
      path: pathOf(entry.kind, this.namespace),
      accept: formOf('PartialObjectMetadata'),
      revision,
      onEvents: (events) => {
        const now = Date.now()
        for (const { type, object } of events) {
          const difference = type === 'ADDED' ? 1 : type === 'DELETED' ? -1 : 0
          const namespace = object.metadata.namespace ?? ''
          entry.total += difference
          if (difference !== 0) entry.byNamespace?.set(namespace, (entry.byNamespace.get(namespace) ?? 0) + difference)
        }
        entry.changes += events.length
        entry.rate.add(events.length, now)
        this.rate.add(events.length, now)
        this.lastChange = now
        this.#show()
      },
      onLost: () => {
        this.#ends.delete(key)
        this.#openAgain(showEveryMs)
      },
    })
    this.#ends.set(key, end)
  }

  /** Counts the kinds again whose watches have ended: a reset of the server ends all at once. */
  #openAgain(delayMs: number): void {
    if (this.#isClosed) return
    this.#again ??= setTimeout(() => {
      this.#again = undefined
      this.#opening = this.#opening.then(() => this.open())
    }, delayMs)
  }

  #show(): void {
    if (this.#isClosed) return
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.version.value += 1
    }, showEveryMs)
  }
}

/** The reason why a kind was not read. */
export function problemOf(error: unknown): string {
  return error instanceof ApiError && error.code === 403 ? 'forbidden' : messageOf(error)
}

/** The counts of all kinds in one answer, by the key of the kind. A user without the right to it gets none. */
export async function readCounts(namespace: string): Promise<ReadonlyMap<string, ServerCount>> {
  const query = namespace === '' ? '' : `?${new URLSearchParams({ namespace })}`
  const { items } = await ask<{ items: readonly ServerCount[] }>(`/orch/v1/objects${query}`).catch(() => ({ items: [] }))
  return new Map(items.map((item) => [keyOfKind(item), item]))
}

/** Counts a kind by a list of metadata. The namespaces of a large kind are not counted. */
async function listed(kind: Kind, inNamespace: string): Promise<Omit<ServerCount, 'group' | 'resource'>> {
  const { items, metadata } = await ask<KubeList<KubeObject>>(`${pathOf(kind, inNamespace)}?limit=${readMax}`, {
    headers: { accept: formOf('PartialObjectMetadataList') },
  })
  const { resourceVersion: revision = '', remainingItemCount: more = 0 } = metadata
  const counted = { revision, count: items.length + more }
  if (more > 0) return counted
  const byNamespace = Map.groupBy(items, ({ metadata: { namespace = '' } }) => namespace)
  return { ...counted, namespaces: Object.fromEntries([...byNamespace].map(([namespace, { length }]) => [namespace, length])) }
}
