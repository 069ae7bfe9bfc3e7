import { type Change, type EventsPart, type Scope, type SubscribeRequest, scopePrefix } from '@orch/core/contracts'
import type { TablePrinter } from '@orch/core/table'
import { type EventType, eventTypeOf, type Matches, matcherOf, shardTestOf } from './event.ts'
import { type Contents, type Convert, contentLost, Frames, isOlder, type Target, type View } from './frames.ts'

/** One distinct (scope, selection): evaluates a change once for all subscribers that share it. */
export class Filter {
  readonly key: string
  /** The prefix of its objects' keys, or the key of a single object. */
  readonly prefix: string
  readonly resource: string
  readonly distributors = new Map<string, Distributor>()
  readonly #matches: Matches
  readonly #isInShards: ((change: Change) => boolean) | undefined

  constructor(key: string, { scope, selection }: SubscribeRequest) {
    this.key = key
    this.resource = scope.resource
    this.prefix = prefixOf(scope)
    this.#matches = matcherOf(scope, selection)
    this.#isInShards = shardTestOf(scope, selection)
  }

  evaluate(change: Change): EventType | undefined {
    if (this.#isInShards?.(change) === false) return undefined
    return eventTypeOf(change, this.#matches)
  }

  /** True if the filter's scope is a single object. */
  get isOfObject(): boolean {
    return !this.prefix.endsWith('/')
  }

  /** True if the filter's scope contains the key. */
  covers(key: string): boolean {
    return this.isOfObject ? key === this.prefix : key.startsWith(this.prefix)
  }
}

/** A receiver of a distributor's events: a subscription that has been served up to `sent`. */
interface Receiver {
  readonly sent: number
  events(part: EventsPart): void
  /** The events after `oldest` cannot be sent. */
  expired(oldest: number): void
}

/** One distinct (scope, selection, version, format): writes each event once for all its subscribers. */
export class Distributor {
  readonly key: string
  readonly filter: Filter
  /** Subscriptions that have been served up to the watch cache's position. */
  readonly subscribers = new Set<Receiver>()
  /** The number of subscriptions, in any state. */
  users = 0
  readonly frames = new Frames()
  readonly #view: View

  constructor(options: { key: string; filter: Filter; view: View }) {
    this.key = options.key
    this.filter = options.filter
    this.#view = options.view
  }

  /** Makes its events from parsed objects, not around the object's text. */
  get isFormatted(): boolean {
    return this.#view.format.kind !== 'json'
  }

  /** Writes the event of a change into `frames`; false if its content is lost. */
  write(change: Change, type: EventType, contents: Contents, frames: Frames): boolean {
    const made = this.isFormatted ? contents.frameOf(change, type, this.#view) : contents.of(change, type, this.#view)
    if (made === contentLost) return false
    const { key, revision } = change
    if (this.isFormatted) frames.add(revision, made)
    else frames.addJson({ type, key, revision, json: made }, isOlder(change, type, this.#view))
    return true
  }

  /** Delivers the written events as one piece to all subscribers; a subscriber that joined meanwhile has received them from the window. */
  give(): void {
    const part = this.frames.take()
    for (const subscriber of this.subscribers) if (subscriber.sent < part.last) subscriber.events(part)
  }

  /** The content of a change is unreadable, so its receivers must list again. */
  expire({ revision }: Change): void {
    for (const subscriber of this.subscribers) if (subscriber.sent < revision) subscriber.expired(revision)
  }
}

/** All filters in use, found by the key of a change. */
export class Distributors {
  readonly #filters = new Map<string, Filter>()
  readonly #byPrefix = new Map<string, Set<Filter>>()
  /** The number of filters of single objects. */
  #ofObjects = 0
  readonly #convertOf: (target: Target) => Convert
  readonly #tableOf: (target: Target) => TablePrinter | undefined

  constructor(convertOf: (target: Target) => Convert, tableOf: (target: Target) => TablePrinter | undefined = () => undefined) {
    this.#convertOf = convertOf
    this.#tableOf = tableOf
  }

  /** Returns the distributor for a request; the first request creates it. The caller must call `release`. */
  acquire(request: SubscribeRequest): Distributor {
    const distributor = this.#distributorOf(request)
    distributor.users += 1
    return distributor
  }

  /** Removes a distributor without users, and its filter after the last one. */
  release(distributor: Distributor): void {
    distributor.users -= 1
    const { filter } = distributor
    if (distributor.users > 0) return
    filter.distributors.delete(distributor.key)
    if (filter.distributors.size > 0) return
    this.#filters.delete(filter.key)
    if (filter.isOfObject) this.#ofObjects -= 1
    const peers = this.#byPrefix.get(filter.prefix)
    peers?.delete(filter)
    if (peers?.size === 0) this.#byPrefix.delete(filter.prefix)
  }

  /** The filters whose scope contains the key: of the resource, of the namespace, of the single object. */
  *covering(key: string): Iterable<Filter> {
    if (this.#byPrefix.size === 0) return
    // V8 hashes a new text at its first search in a map, and most servers have no watch of a single object.
    if (this.#ofObjects > 0) yield* this.#byPrefix.get(key) ?? []
    const last = key.lastIndexOf('/')
    yield* this.#byPrefix.get(key.slice(0, last + 1)) ?? []
    const resourceEnd = key.indexOf('/', key.indexOf('/') + 1)
    if (resourceEnd !== last) yield* this.#byPrefix.get(key.slice(0, resourceEnd + 1)) ?? []
  }

  #distributorOf(request: SubscribeRequest): Distributor {
    const filter = this.#filterOf(request)
    const target: Target = {
      storageResource: request.scope.resource,
      group: request.group,
      version: request.version,
      resource: request.resource,
    }
    const { format, fingerprint } = request
    const version = `${target.group}/${target.version}/${target.resource}`
    const formatKey = JSON.stringify(format)
    const key = `${version} ${formatKey} ${fingerprint ?? ''}`
    const known = filter.distributors.get(key)
    if (known !== undefined) return known
    const distributor = new Distributor({
      key,
      filter,
      view: { version, convert: this.#convertOf(target), table: this.#tableOf(target), format, formatKey, fingerprint },
    })
    filter.distributors.set(key, distributor)
    return distributor
  }

  #filterOf(request: SubscribeRequest): Filter {
    const key = JSON.stringify([prefixOf(request.scope), request.selection])
    const known = this.#filters.get(key)
    if (known !== undefined) return known
    const filter = new Filter(key, request)
    this.#filters.set(key, filter)
    if (filter.isOfObject) this.#ofObjects += 1
    const peers = this.#byPrefix.get(filter.prefix)
    if (peers === undefined) this.#byPrefix.set(filter.prefix, new Set([filter]))
    else peers.add(filter)
    return filter
  }
}

function prefixOf(scope: Scope): string {
  return `${scopePrefix(scope)}${scope.name ?? ''}`
}
