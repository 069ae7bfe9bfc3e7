import { signal } from '@preact/signals'
import { ApiError, ask, eachOf, formOf } from './api.ts'
import type { KubeList, KubeObject } from './objects.ts'
import { type Kind, keyOfKind, pathOf } from './paths.ts'
import { messageOf } from './text.ts'
import { watch } from './watches.ts'

/** The number of objects of a kind, by namespace. */
export interface KindCount {
  readonly kind: Kind
  total: number
  /** Number by namespace, '' for cluster-scoped objects; undefined if the namespaces are not counted. */
  byNamespace: Map<string, number> | undefined
  /** Number of changes since the page was opened. */
  changes: number
  readonly rate: Rate
  /** The reason why the kind could not be counted; undefined if it was. */
  problem: string | undefined
}

/** Maximum objects read for a count; the server counts the rest. */
const readMax = 250
/** Maximum namespaces for which the objects of a large kind are counted. */
const namespacesMax = 100
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
  #namespaces: readonly string[] = []
  #timer: number | undefined
  #isClosed = false

  constructor(kinds: readonly Kind[], namespace: string) {
    const isInside = ({ isNamespaced }: Kind) => namespace === '' || isNamespaced
    // Two groups serve Events, which would be counted twice.
    this.kinds = kinds.filter((kind) => isInside(kind) && !(kind.resource === 'events' && kind.group !== ''))
    this.namespace = namespace
  }

  async open(namespaces: readonly string[]): Promise<void> {
    this.#namespaces = namespaces
    const revisions = new Map<KindCount, string>()
    await eachOf(this.kinds, requestsAtOnce, async (kind) => {
      const counted = await this.#count(kind)
      if (counted !== undefined && kind.verbs.includes('watch')) revisions.set(counted.entry, counted.revision)
    })
    const busiest = [...revisions].sort(([one], [other]) => other.total - one.total)
    for (const [entry, revision] of busiest.slice(0, followedMax)) this.#follow(entry, revision)
    this.notFollowed = Math.max(0, busiest.length - followedMax)
    this.isComplete.value = true
    this.#show()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    for (const end of this.#ends.values()) end()
  }

  /** Changes of all kinds. */
  readonly rate = new Rate()

  async #count(kind: Kind): Promise<{ readonly entry: KindCount; readonly revision: string } | undefined> {
    if (this.#isClosed) return undefined
    const key = keyOfKind(kind)
    const before = this.counts.get(key)
    const entry: KindCount = before ?? { kind, total: 0, byNamespace: undefined, changes: 0, rate: new Rate(), problem: undefined }
    this.counts.set(key, entry)
    try {
      const { items, metadata } = await listMetadata(pathOf(kind, this.namespace), { limit: String(readMax) })
      const revision = metadata.resourceVersion ?? ''
      entry.total = items.length + (metadata.remainingItemCount ?? 0)
      entry.byNamespace = metadata.continue === undefined || metadata.continue === '' ? tally(items) : await this.#countEach(kind, revision)
      entry.problem = undefined
      this.#show()
      return { entry, revision }
    } catch (error) {
      entry.problem = error instanceof ApiError && error.code === 403 ? 'forbidden' : messageOf(error)
      this.#show()
      return undefined
    }
  }

  /** Counts a large kind at one revision, without reading its objects. */
  async #countEach(kind: Kind, revision: string): Promise<Map<string, number> | undefined> {
    if (!kind.isNamespaced || this.namespace !== '' || this.#namespaces.length > namespacesMax) return undefined
    const found = new Map<string, number>()
    await eachOf(this.#namespaces, requestsAtOnce, async (namespace) => {
      const exact = { limit: '1', resourceVersion: revision, resourceVersionMatch: 'Exact' }
      const { items, metadata } = await listMetadata(pathOf(kind, namespace), exact)
      const count = items.length + (metadata.remainingItemCount ?? 0)
      if (count > 0) found.set(namespace, count)
    })
    return found
  }

  #follow(entry: KindCount, revision: string): void {
    if (this.#isClosed) return
    const key = keyOfKind(entry.kind)
    this.#ends.get(key)?.()
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
      onLost: () =>
        void this.#count(entry.kind).then((counted) => {
          if (counted !== undefined) this.#follow(counted.entry, counted.revision)
        }),
    })
    this.#ends.set(key, end)
  }

  #show(): void {
    if (this.#isClosed) return
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.version.value += 1
    }, showEveryMs)
  }
}

function tally(items: readonly KubeObject[]): Map<string, number> {
  const found = new Map<string, number>()
  for (const { metadata } of items) {
    const namespace = metadata.namespace ?? ''
    found.set(namespace, (found.get(namespace) ?? 0) + 1)
  }
  return found
}

function listMetadata(path: string, query: Readonly<Record<string, string>>): Promise<KubeList<KubeObject>> {
  return ask(`${path}?${new URLSearchParams(query)}`, { headers: { accept: formOf('PartialObjectMetadataList') } })
}
