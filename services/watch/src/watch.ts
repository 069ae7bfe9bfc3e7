import type {
  CallContext,
  Change,
  ChangesPart,
  StorageService,
  Stream,
  SubscribeRequest,
  WatchPart,
  WatchService,
} from '@orch/core/contracts'
import { StatusError, serviceUnavailable } from '@orch/core/meta'
import type { TablePrinter } from '@orch/core/table'
import { type Clock, ended, type Log, noTracer, retryDelayMs, type Span, sleep, type Tracer, TurnBudget } from '@orch/platform'
import { type Distributor, Distributors } from './distributors.ts'
import { Contents, type Convert, Frames, guarded, type Target } from './frames.ts'
import { defaultWatchLimits, evaluationCost, formattedCost, type WatchLimits } from './limits.ts'
import { Subscriber } from './subscriber.ts'
import { Window } from './window.ts'

export interface WatchOptions {
  readonly storage: Pick<StorageService, 'changes' | 'status' | 'getAt'>
  readonly clock: Clock
  readonly log: Log
  /** From 0 to 1; spreads the attempts to reach storage. */
  readonly random: () => number
  /**
   * Converts stored objects to the version that a subscriber asked for; `unconverted` for the stored one. If it fails,
   * the subscribers that would have seen the object must list again, and meet the cause there.
   */
  readonly convertOf: (target: Target) => Convert
  /** The columns of a resource's Table; by default names and creation times. */
  readonly tableOf?: (target: Target) => TablePrinter | undefined
  readonly limits?: Partial<WatchLimits>
  /** Undefined without tracing. */
  readonly tracer?: Tracer | undefined
}

/** The watch service, until it is closed. */
export interface Watch extends WatchService {
  /**
   * Announces that storage, in this process, sends changes in this turn of the event loop. Their events leave at its end, before
   * anything that is put off to the end of the turn by `setImmediate` after this call.
   */
  expectChanges(): void
  /** Ends every subscription and releases storage. */
  close(): void
}

/** Follows storage and delivers its changes to subscribers: evaluates each once per selection and writes each once per version and format. */
export function createWatch(options: WatchOptions): Watch {
  const cache = new WatchCache(options)
  return {
    subscribe: (request, context) => cache.subscribe(request, context ?? {}),
    expectChanges: () => cache.expectChanges(),
    close: () => cache.close(),
  }
}

/** The state since storage was reached, until another store replaces it. */
interface Known {
  readonly epoch: string
  readonly window: Window
  /** Every change up to here has been delivered. */
  position: number
}

/**
 * Subscribers are in one of three states: behind the watch cache while they are served from storage's history, ahead of it while
 * they wait for a revision, or attached to their distributor, which is exactly at the watch cache's position.
 */
class WatchCache {
  readonly #storage: WatchOptions['storage']
  readonly #clock: Clock
  readonly #log: Log
  readonly #random: () => number
  readonly #limits: WatchLimits
  readonly #tracer: Tracer
  readonly #distributors: Distributors
  readonly #budget: TurnBudget
  readonly #subscribers = new Set<Subscriber>()
  readonly #ahead = new Set<Subscriber>()
  readonly #closed = new AbortController()
  readonly #unfollow: (() => void) | undefined
  #known: Known | undefined
  #arrived: Change[] = []
  #arrivedPosition = 0
  #hasNewPosition = false
  /** The last position that subscribers have received: a publisher repeats it. */
  #forwarded = -1
  #handingOut: Promise<void> | undefined
  #isScheduled = false
  /** Set while the service follows storage; aborts with the error of a delivery. */
  #following: AbortController | undefined

  constructor({ storage, clock, log, random, convertOf, tableOf, limits, tracer = noTracer }: WatchOptions) {
    this.#storage = storage
    this.#clock = clock
    this.#log = log
    this.#random = random
    this.#tracer = tracer
    this.#limits = { ...defaultWatchLimits, ...limits }
    this.#budget = new TurnBudget(this.#limits.turnBytesMax)
    const onError = (error: unknown, target: Target) =>
      log.error({ err: error, ...target }, 'a stored object cannot be shown in another version')
    this.#distributors = new Distributors((target) => guarded(convertOf(target), (error) => onError(error, target)), tableOf)
    this.#unfollow = clock.work?.follow('watch cache', () => this.#handingOut !== undefined || this.#hasArrived)
    void this.#run()
  }

  subscribe(request: SubscribeRequest, context: CallContext): Stream<WatchPart> {
    const distributor = this.#distributors.acquire(request)
    const { subscriberBytesMax: bytesMax, pieceBytesMax } = this.#limits
    const subscriber = new Subscriber({ request, context, distributor, bytesMax, pieceBytesMax, onEnd: (ended) => this.#forget(ended) })
    this.#subscribers.add(subscriber)
    if (this.#closed.signal.aborted) subscriber.stream.close()
    // The signal of its caller may have ended it before it was added.
    if (subscriber.isEnded) this.#forget(subscriber)
    else if (this.#known !== undefined) this.#join(subscriber, this.#known)
    return subscriber.stream
  }

  expectChanges(): void {
    // One for each announcement: work deferred after it waits for its changes, not for those of an earlier announcement.
    setImmediate(this.#handOutNow)
  }

  close(): void {
    this.#closed.abort(ended)
    this.#unfollow?.()
    for (const subscriber of this.#subscribers) subscriber.stream.end()
  }

  #forget(subscriber: Subscriber): void {
    if (!this.#subscribers.delete(subscriber)) return
    this.#ahead.delete(subscriber)
    subscriber.distributor.subscribers.delete(subscriber)
    this.#distributors.release(subscriber.distributor)
  }

  async #run(): Promise<void> {
    const { signal } = this.#closed
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      const delayMs = retryDelayMs({ attempt, maxMs: this.#limits.retryDelayMsMax, random: this.#random() })
      if (attempt > 1) await sleep(this.#clock, delayMs, signal)
      try {
        const known = this.#known ?? (await this.#meet())
        await this.#follow(known, () => {
          attempt = 0
        })
      } catch (error) {
        if (!signal.aborted) this.#log[attempt > 1 ? 'warn' : 'debug']({ err: error, attempt }, 'the changes of storage cannot be read')
      }
    }
  }

  async #meet(): Promise<Known> {
    const { epoch, revision } = await this.#storage.status({}, { signal: this.#closed.signal })
    const window = new Window({ from: revision, bytesMax: this.#limits.windowBytesMax })
    const known: Known = { epoch, window, position: revision }
    this.#known = known
    for (const subscriber of this.#subscribers) this.#join(subscriber, known)
    return known
  }

  /** Reads storage's changes until the stream ends or another store answers. */
  async #follow(known: Known, onPart: () => void): Promise<void> {
    this.#arrived = []
    this.#arrivedPosition = known.position
    const failed = new AbortController()
    this.#following = failed
    const signal = AbortSignal.any([failed.signal, this.#closed.signal])
    const stream = this.#storage.changes({ after: known.position, epoch: known.epoch, resources: [] }, { signal })
    try {
      for await (const part of stream) {
        // A new epoch is no failure, so the next attempt follows without a pause: a virtual clock may never move on.
        if (part.kind !== 'expired' || part.epoch !== known.epoch) onPart()
        if (part.kind === 'expired' || part.epoch !== known.epoch) return this.#lose(known, part)
        this.#arrive(part)
        if (this.#hasArrived) this.#handOutSoon()
        if (this.#arrived.length >= this.#limits.turnChangesMax) await this.#handOutNow()
      }
      if (failed.signal.aborted) throw failed.signal.reason
    } finally {
      this.#following = undefined
      stream.close()
      await this.#handingOut
    }
  }

  #arrive(part: ChangesPart & { readonly kind: 'changes' | 'position' }): void {
    switch (part.kind) {
      case 'changes':
        for (const change of part.changes) {
          if (change.revision <= this.#arrivedPosition) continue
          this.#arrived.push(change)
          this.#arrivedPosition = change.revision
        }
        break
      case 'position':
        this.#arrivedPosition = Math.max(this.#arrivedPosition, part.revision)
        this.#hasNewPosition ||= this.#arrivedPosition > this.#forwarded
    }
  }

  /** Ends all subscriptions of a lost history: another store has replaced it, or storage has forgotten changes that were not read yet. */
  #lose(known: Known, part: ChangesPart): void {
    this.#known = undefined
    this.#arrived = []
    this.#hasNewPosition = false
    this.#forwarded = -1
    for (const subscriber of this.#subscribers) {
      if (part.kind === 'expired' && part.epoch === known.epoch) subscriber.expired(part.oldest)
      else subscriber.replaced()
    }
  }

  /** Runs at the end of the turn, so that all commits of one turn leave as one buffer. */
  #handOutSoon(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      void this.#handOutNow()
    })
  }

  readonly #handOutNow = (): Promise<void> | undefined => {
    const following = this.#following
    if (following !== undefined && this.#hasArrived) this.#handingOut ??= this.#handOutAll().catch((error) => following.abort(error))
    return this.#handingOut
  }

  get #hasArrived(): boolean {
    return this.#arrived.length > 0 || this.#hasNewPosition
  }

  async #handOutAll(): Promise<void> {
    try {
      while (this.#known !== undefined && this.#hasArrived) await this.#handOut(this.#known)
    } finally {
      this.#handingOut = undefined
    }
  }

  async #handOut(known: Known): Promise<void> {
    const position = this.#arrivedPosition
    const arrived = this.#arrived.splice(0)
    const changes = arrived.some(lacksContent) ? await this.#complete(arrived, known, (change) => this.#isLeftByAnyone(change)) : arrived
    if (this.#known !== known) return
    const spans = new Map<Change, Span>()
    for (const change of changes) this.#trace(change, spans)
    for (const change of changes) known.window.append(change)
    for (const room of this.#write(changes, spans)) {
      await room
      if (this.#known !== known) break
    }
    for (const span of spans.values()) span.end()
    if (this.#known !== known) return
    known.position = position
    this.#forwardPosition(known)
  }

  /** The delivery of a change continues the trace of its write. */
  #trace(change: Change, spans: Map<Change, Span>): void {
    const { traceparent, key, revision } = change
    if (traceparent === undefined) return
    const resource = key.slice(0, key.indexOf('/', key.indexOf('/') + 1))
    const attributes = { 'change.resource': resource, 'change.revision': revision }
    const span = this.#tracer.start('hand out a change', { kind: 'consumer', parent: traceparent, attributes })
    if (span !== undefined) spans.set(change, span)
  }

  /**
   * Delivers the events of the changes to all attached subscribers, and waits when a turn is used up. The window has the changes already:
   * a subscriber that joins meanwhile has got them from that list, and is skipped.
   */
  *#write(changes: readonly Change[], spans: ReadonlyMap<Change, Span>): Waits {
    const contents = this.#contents()
    const touched = new Set<Distributor>()
    try {
      for (const change of changes) {
        for (const filter of this.#distributors.covering(change.key)) {
          yield* this.#room(evaluationCost)
          const type = filter.evaluate(change)
          if (type === undefined) continue
          for (const distributor of filter.distributors.values()) {
            if (distributor.subscribers.size === 0) continue
            yield* this.#room(costOf(change, distributor))
            if (distributor.write(change, type, contents, distributor.frames)) {
              touched.add(distributor)
              if (change.committedMs !== undefined)
                distributor.frames.note(change.committedMs, spans.get(change)?.traceparent ?? change.traceparent)
            } else distributor.expire(change)
            if (distributor.frames.bytes >= this.#limits.pieceBytesMax) distributor.give()
          }
        }
      }
      for (const distributor of touched) {
        if (distributor.frames.count === 0) continue
        yield* this.#room(distributor.frames.bytes)
        distributor.give()
      }
    } finally {
      // If the store was lost meanwhile, its subscribers have ended, and the pending events are dropped.
      for (const distributor of touched) if (distributor.frames.count > 0) distributor.frames.take()
    }
  }

  /** Waits until this turn has budget for work of this cost. */
  *#room(cost: number): Waits {
    const room = this.#budget.take(cost)
    if (room !== undefined) yield room
  }

  #contents(): Contents {
    return new Contents(this.#clock.now(), (error) => this.#log.error({ err: error }, 'an object cannot be shown in another format'))
  }

  /** Sends events of these changes to one subscriber, limited by the turn's budget and the subscriber's reads. */
  async #deliver(changes: readonly Change[], subscriber: Subscriber): Promise<void> {
    for (const room of this.#deliverInTurns(changes, subscriber)) await room
  }

  /** Sends the events of all changes, with pauses in which the subscriber reads. */
  async #deliverAll(changes: readonly Change[], subscriber: Subscriber): Promise<void> {
    while (!subscriber.isEnded && subscriber.isBehind(changes)) {
      await this.#deliver(changes, subscriber)
      if (subscriber.isBehind(changes)) await subscriber.drained()
    }
  }

  /** Stops when too much waits for the subscriber, which must read first. `sent` is its position. */
  *#deliverInTurns(changes: readonly Change[], subscriber: Subscriber): Waits {
    const { distributor } = subscriber
    const contents = this.#contents()
    const frames = new Frames()
    const after = subscriber.sent
    let last = after
    for (const change of changes) {
      if (change.revision <= after) continue
      const type = distributor.filter.covers(change.key) ? distributor.filter.evaluate(change) : undefined
      if (type !== undefined) {
        yield* this.#room(costOf(change, distributor))
        if (subscriber.isEnded) return
        if (!distributor.write(change, type, contents, frames)) {
          subscriber.expired(change.revision)
          return
        }
      }
      last = change.revision
      if (frames.bytes < this.#limits.pieceBytesMax) continue
      subscriber.events(frames.take())
      if (subscriber.stream.waitingBytes >= this.#limits.subscriberAheadBytesMax) break
    }
    if (frames.count > 0) subscriber.events(frames.take())
    subscriber.advance(last)
  }

  #forwardPosition(known: Known): void {
    if (this.#hasNewPosition) {
      this.#hasNewPosition = false
      this.#forwarded = known.position
      for (const subscriber of this.#subscribers)
        if (subscriber.distributor.subscribers.has(subscriber)) subscriber.position(known.position)
    }
    for (const subscriber of this.#ahead) if (subscriber.sent <= known.position) this.#join(subscriber, known)
  }

  /** Brings a subscriber to the watch cache's position, from the window if that reaches back far enough, and attaches it. */
  #join(subscriber: Subscriber, known: Known): void {
    this.#ahead.delete(subscriber)
    if (subscriber.isEnded) return
    if (subscriber.epoch !== '' && subscriber.epoch !== known.epoch) subscriber.replaced()
    else if (subscriber.sent > known.position) this.#ahead.add(subscriber)
    else this.#joinFromWindow(subscriber, known)
  }

  #joinFromWindow(subscriber: Subscriber, known: Known): void {
    const missed = known.window.after(subscriber.sent)
    if (missed === undefined || missed.some((change) => lacksContent(change) && subscriber.isLeftBy(change))) {
      void this.#catchUp(subscriber, known, missed)
      return
    }
    const waits = this.#deliverInTurns(missed, subscriber)
    const first = waits.next()
    if (first.done !== true) {
      void this.#deliverOn(first.value, waits, subscriber, known)
      return
    }
    if (subscriber.isEnded) return
    if (subscriber.isBehind(missed)) {
      void this.#joinLater(subscriber, known)
      return
    }
    subscriber.position(known.position)
    subscriber.distributor.subscribers.add(subscriber)
  }

  /** Reads the missed changes first, without holding them meanwhile: the window may move on. */
  async #joinLater(subscriber: Subscriber, known: Known): Promise<void> {
    await subscriber.drained()
    if (this.#known === known) this.#join(subscriber, known)
  }

  /** Delivers missed changes that exceed a turn; more may have arrived after that. */
  async #deliverOn(first: Promise<void>, waits: Waits, subscriber: Subscriber, known: Known): Promise<void> {
    try {
      await first
      for (const room of waits) await room
    } catch (error) {
      return subscriber.stream.fail(error)
    }
    if (this.#known === known) void this.#joinLater(subscriber, known)
  }

  /** Serves a subscriber without the watch cache until the window reaches back to its position. */
  async #catchUp(subscriber: Subscriber, known: Known, missed: readonly Change[] | undefined): Promise<void> {
    try {
      if (missed === undefined) await this.#replay(subscriber, known)
      else await this.#deliver(await this.#complete(missed, known, (change) => subscriber.isLeftBy(change)), subscriber)
    } catch (error) {
      return subscriber.stream.fail(error)
    }
    if (this.#known === known) void this.#joinLater(subscriber, known)
  }

  /** Delivers storage's history to a subscriber until it has reached the window. */
  async #replay(subscriber: Subscriber, known: Known): Promise<void> {
    const request = { after: subscriber.sent, epoch: known.epoch, resources: [subscriber.distributor.filter.resource] }
    const stream = this.#storage.changes(request, { signal: subscriber.ended })
    for await (const part of stream) {
      if (part.kind === 'expired' && part.epoch === known.epoch) return subscriber.expired(part.oldest)
      if (part.kind === 'expired' || part.epoch !== known.epoch) return subscriber.replaced()
      if (part.kind === 'changes')
        await this.#deliverAll(await this.#complete(part.changes, known, (change) => subscriber.isLeftBy(change)), subscriber)
      else subscriber.position(part.revision)
      await subscriber.drained()
      if (subscriber.isEnded || subscriber.sent >= known.window.from) return
    }
    if (!subscriber.isEnded) throw serviceUnavailable('storage has ended its history early')
  }

  #isLeftByAnyone(change: Change): boolean {
    for (const filter of this.#distributors.covering(change.key)) if (filter.evaluate(change) === 'DELETED') return true
    return false
  }

  /**
   * Adds the earlier content to changes that need it and lack it: from a change in the same list, from the window, else from storage. Content that no
   * source holds stays absent.
   */
  async #complete(changes: readonly Change[], known: Known, isWanted: (change: Change) => boolean): Promise<readonly Change[]> {
    const completed: Change[] = []
    const latest = new Map<string, Change>()
    for (const change of changes) {
      const whole = lacksContent(change) ? await this.#withContent(change, latest.get(change.key), known, isWanted) : change
      completed.push(whole)
      latest.set(change.key, whole)
    }
    return completed
  }

  async #withContent(change: Change, earlier: Change | undefined, known: Known, isWanted: (change: Change) => boolean): Promise<Change> {
    const { before, key } = change
    if (before === undefined) return change
    const held = earlier === undefined ? known.window.contentAt(key, before.revision) : earlier.after?.value
    if (held === undefined && !isWanted(change)) return change
    const value = held ?? (await this.#contentBefore(change))
    return value === undefined ? change : { ...change, before: { ...before, value } }
  }

  /**
   * Storage's content of the object before the change. It is read at the moment before the change, not at the object's
   * own last write, which may have been compacted long ago.
   */
  async #contentBefore({ key, revision }: Change): Promise<Uint8Array | undefined> {
    try {
      return (await this.#storage.getAt({ key, revision: revision - 1 }, { signal: this.#closed.signal })).entry?.value
    } catch (error) {
      if (error instanceof StatusError && error.code === 410) return undefined
      throw error
    }
  }
}

/** True if the change lacks the content of the replaced object. */
function lacksContent({ before }: Change): boolean {
  return before !== undefined && before.value === undefined
}

/** Work that sometimes waits until a turn of the event loop has room for more. */
type Waits = Generator<Promise<void>, void, undefined>

/** The share of a turn that one distributor's event of a change takes. */
function costOf({ after, before }: Change, { isFormatted }: Distributor): number {
  const bytes = (after ?? before)?.value?.length ?? 0
  return evaluationCost + bytes * (isFormatted ? formattedCost : 1)
}
