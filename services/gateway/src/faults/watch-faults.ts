import { type Clock, sleep, toMs } from '@orch/platform'
import { limits } from '../limits.ts'
import { compileMatch, type GatewayRequest, type RequestFacts, type RequestMatch } from '../request/index.ts'
import type { WatchAttachment, WatchHub, WatchSink } from '../watch-hub/index.ts'

/** Selects watches by user and target. Their headers are dropped when they have begun. */
export type WatchMatch = Omit<RequestMatch, 'agent' | 'verb' | 'path'>

/** An open watch. */
export interface FaultyWatch extends WatchSink {
  readonly request: GatewayRequest
  /** Everything up to this revision has been sent. */
  readonly lastRevision: number
  /** Unread bytes of its client. */
  readonly unreadBytes: number
  /** Aborts the stream. */
  cut(): void
  /** Ends the stream with the event of an expired revision. */
  expire(): void
  /** Ends the stream normally. */
  finish(): void
}

/** An open watch in a list. */
export interface ListedWatch {
  readonly user: string
  readonly path: string
  /** Id of its request in the log; 0 if it is not logged. */
  readonly request: number
  /** Everything up to this revision has been sent. */
  readonly revision: number
  readonly unreadBytes: number
  /** True if its client gets no events for now. */
  readonly isHeld: boolean
}

/** A lasting fault of watches; `using` ends it with its block. */
export interface WatchFault extends Disposable {
  release(): void
}

type Effect = { readonly kind: 'holdWatch' } | { readonly kind: 'withholdBookmarks' } | { readonly kind: 'delayWatch'; readonly ms: number }

interface Rule {
  readonly effect: Effect
  readonly matches: (facts: RequestFacts) => boolean
}

/** The dependencies of faults of watches. */
export interface WatchFaultsOptions {
  readonly clock: Clock
  /** Called for each watch that a fault affects. */
  readonly onHit: (effect: string, request: GatewayRequest) => void
}

const compile = (match: WatchMatch) => compileMatch(match)

/** The console shows faults, and is not affected by them. */
function isOfConsole({ request }: { readonly request: GatewayRequest }): boolean {
  return request.exchange.peer.kind === 'console'
}

/** The faults of watches: for open ones at once, or lasting, for open and new ones. */
export class WatchFaults {
  readonly #options: WatchFaultsOptions
  readonly #open = new Set<FaultyWatch>()
  readonly #attachments = new Set<FaultyAttachment>()
  readonly #rules = new Set<Rule>()

  constructor(options: WatchFaultsOptions) {
    this.#options = options
  }

  /** True if no lasting fault is in force. */
  get isClear(): boolean {
    return this.#rules.size === 0
  }

  add(watch: FaultyWatch): void {
    if (!isOfConsole(watch)) this.#open.add(watch)
  }

  remove(watch: FaultyWatch): void {
    this.#open.delete(watch)
  }

  /** Attaches a watch to the hub, subject to faults. */
  attach(hub: Pick<WatchHub, 'attach'>, options: FaultyAttachmentOptions): WatchAttachment {
    const { clock } = this.#options
    const attachment = new FaultyAttachment(hub, options, { clock, onClose: () => this.#attachments.delete(attachment) })
    this.#attachments.add(attachment)
    this.#apply(attachment)
    return attachment
  }

  /** The open watches of clients, without those of the server's own parts. */
  open(): ListedWatch[] {
    const ofClients = [...this.#open].filter(({ request }) => request.exchange.peer.kind !== 'internal')
    const holds = [...this.#rules].filter(({ effect }) => effect.kind === 'holdWatch')
    return ofClients.map((watch) => {
      const { user, path, logged } = watch.request
      const facts = factsOf(watch.request)
      return {
        ...{ user: user.name, path, request: logged + 1 },
        ...{ revision: watch.lastRevision, unreadBytes: watch.unreadBytes, isHeld: holds.some(({ matches }) => matches(facts)) },
      }
    })
  }

  /** The newest revision sent to a user's open watches; 0 without any. */
  newestOf(user: string): number {
    let newest = 0
    for (const { request, lastRevision } of this.#open) if (request.user.name === user) newest = Math.max(newest, lastRevision)
    return newest
  }

  /** Aborts open watches; returns their number. */
  cut(match: WatchMatch = {}): number {
    return this.#each('cutWatch', match, (watch) => watch.cut())
  }

  /** Ends open watches with an expired revision; returns their number. */
  expire(match: WatchMatch = {}): number {
    return this.#each('expireWatch', match, (watch) => watch.expire())
  }

  /** Ends open watches normally; returns their number. */
  endNow(match: WatchMatch = {}): number {
    return this.#each('endWatch', match, (watch) => watch.finish())
  }

  /** Sends no event and no bookmark until the release; then all missed events, or an expired revision. */
  hold(match: WatchMatch = {}): WatchFault {
    return this.#last({ kind: 'holdWatch' }, match)
  }

  /** Delays each event by this time of the server's clock. */
  delay(time: string | number, match: WatchMatch = {}): WatchFault {
    return this.#last({ kind: 'delayWatch', ms: toMs('delay', time) }, match)
  }

  /** Sends no bookmark, except for the one after the initial events. */
  withholdBookmarks(match: WatchMatch = {}): WatchFault {
    return this.#last({ kind: 'withholdBookmarks' }, match)
  }

  /** True if a watch gets no bookmarks. */
  withholds(request: GatewayRequest): boolean {
    if (isOfConsole({ request })) return false
    const facts = factsOf(request)
    for (const { effect, matches } of this.#rules) if (effect.kind !== 'delayWatch' && matches(facts)) return true
    return false
  }

  #each(effect: string, match: WatchMatch, hit: (watch: FaultyWatch) => void): number {
    const matches = compile(match)
    const found = [...this.#open].filter(({ request }) => matches(factsOf(request)))
    for (const watch of found) {
      this.#options.onHit(effect, watch.request)
      hit(watch)
    }
    return found.length
  }

  #last(effect: Effect, match: WatchMatch): WatchFault {
    const rule: Rule = { effect, matches: compile(match) }
    this.#rules.add(rule)
    for (const { request } of this.#open) if (rule.matches(factsOf(request))) this.#options.onHit(effect.kind, request)
    for (const attachment of this.#attachments) this.#apply(attachment)
    const release = () => {
      if (!this.#rules.delete(rule)) return
      for (const attachment of this.#attachments) this.#apply(attachment)
    }
    return { release, [Symbol.dispose]: release }
  }

  #apply(attachment: FaultyAttachment): void {
    if (isOfConsole(attachment)) {
      attachment.weather(false, 0)
      return
    }
    const facts = factsOf(attachment.request)
    let [isHeld, delayMs] = [false, 0]
    for (const { effect, matches } of this.#rules) {
      if (!matches(facts)) continue
      if (effect.kind === 'holdWatch') isHeld = true
      if (effect.kind === 'delayWatch') delayMs = Math.max(delayMs, effect.ms)
    }
    attachment.weather(isHeld, delayMs)
  }

  /** Ends all lasting faults. */
  clear(): void {
    this.#rules.clear()
    for (const attachment of this.#attachments) this.#apply(attachment)
  }
}

function factsOf({ user, info }: GatewayRequest): RequestFacts {
  return { user: user.name, agent: '', info }
}

interface FaultyAttachmentOptions extends Omit<Parameters<WatchHub['attach']>[0], 'sink'> {
  readonly sink: FaultyWatch
}

/**
 * The sink between a watch and the hub. A paused watch has no attachment, and no buffer: at its release it is attached after its last received revision.
 *
 *   received 7, held; 9 and 12 happen; released → attached after 7, receives 9 and 12, or an expired revision if 9 is forgotten
 */
class FaultyAttachment implements WatchSink, WatchAttachment {
  readonly #hub: Pick<WatchHub, 'attach'>
  readonly #options: FaultyAttachmentOptions
  readonly #clock: Clock
  readonly #onClose: () => void
  #attachment: WatchAttachment | undefined
  #received: number
  #delayMs = 0
  /** Ends when the last received events have been delivered. */
  #turn = Promise.resolve()
  #waiting = 0
  #waitingBytes = 0
  /** While it is paused, earlier received events also wait for the release. */
  #held: PromiseWithResolvers<void> | undefined
  #isClosed = false
  readonly values: WatchSink['values']

  constructor(
    hub: Pick<WatchHub, 'attach'>,
    options: FaultyAttachmentOptions,
    { clock, onClose }: { readonly clock: Clock; readonly onClose: () => void },
  ) {
    this.#hub = hub
    this.#options = options
    this.#clock = clock
    this.#onClose = onClose
    this.#received = options.request.after
    const { sink } = options
    if (sink.values !== undefined) this.values = (values, last) => this.#pass(last, values.bytes, () => sink.values?.(values, last))
  }

  get request(): GatewayRequest {
    return this.#options.sink.request
  }

  /** Applies the current faults. */
  weather(isHeld: boolean, delayMs: number): void {
    this.#delayMs = delayMs
    if (isHeld) {
      this.#held ??= Promise.withResolvers<void>()
      this.#attachment?.close()
      this.#attachment = undefined
      return
    }
    this.#held?.resolve()
    this.#held = undefined
    if (this.#attachment !== undefined || this.#isClosed) return
    const { request, traceparent } = this.#options
    this.#attachment = this.#hub.attach({ request: { ...request, after: this.#received }, sink: this, traceparent })
  }

  frames(bytes: Uint8Array, lastRevision: number, count: number, older?: readonly number[]): void | Promise<void> {
    const { sink } = this.#options
    return this.#pass(lastRevision, bytes.length, () => sink.frames(bytes, lastRevision, count, older))
  }

  /** Delivers events now or after the delay. */
  #pass(lastRevision: number, bytes: number, handOn: () => void | Promise<void>): void | Promise<void> {
    this.#received = lastRevision
    if (this.#delayMs === 0 && this.#waiting === 0) return handOn()
    return this.#later(bytes, () => void handOn())
  }

  position(revision: number): void {
    this.#received = Math.max(this.#received, revision)
    if (this.#delayMs === 0 && this.#waiting === 0) this.#options.sink.position(revision)
    else void this.#later(0, () => this.#options.sink.position(revision))
  }

  expired(asked: number, oldest: number): void {
    this.#options.sink.expired(asked, oldest)
  }

  replaced(): void {
    this.#options.sink.replaced()
  }

  close(): void {
    this.#isClosed = true
    this.#held?.resolve()
    this.#attachment?.close()
    this.#onClose()
  }

  /** Delivers events after the delay, in order. A watch with too many waiting bytes is closed, and its client lists again. */
  #later(bytes: number, handOn: () => void): Promise<void> {
    const dueMs = this.#clock.monotonic() + this.#delayMs
    this.#waiting += 1
    this.#waitingBytes += bytes
    if (this.#waitingBytes > limits.watchBacklogBytesMax) this.#options.sink.cut()
    this.#turn = this.#turn.then(async () => {
      const leftMs = dueMs - this.#clock.monotonic()
      if (leftMs > 0 && !this.#isClosed) await sleep(this.#clock, leftMs)
      await this.#held?.promise
      this.#waiting -= 1
      this.#waitingBytes -= bytes
      if (!this.#isClosed) handOn()
    })
    return this.#turn
  }
}
