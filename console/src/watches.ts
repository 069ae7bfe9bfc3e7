import { readLines } from './lines.ts'
import { moment } from './route.ts'
import { isReachable, send, sessionState } from './session.ts'
import { messageOf } from './text.ts'

interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: T
}

interface Subscription {
  readonly path: string
  readonly accept: string
  revision: string
  /** Receives the events of one read from the stream. */
  readonly onEvents: (events: readonly WatchEvent<never>[]) => void
  /** Called when the watch cannot resume; the list must be read again. */
  readonly onLost: () => void
}

interface WatchOptions<T> extends Omit<Subscription, 'onEvents' | 'revision'> {
  readonly revision: string
  readonly onEvents: (events: readonly WatchEvent<T>[]) => void
}

interface Versioned {
  readonly metadata?: { readonly resourceVersion?: string }
}

interface Line {
  readonly watch: string
  readonly event?: WatchEvent<Versioned & { readonly code?: number; readonly rows?: readonly { readonly object: Versioned }[] }>
  readonly end?: number
}

/** The code of a watch whose revision is not retained. */
const expired = 410
/** Delay after a refused watch. */
const refusedMs = 3_000

/** All open watches of this tab in one stream, because browsers open few connections to a server, for all tabs together. A hidden tab has none. */
class Stream {
  readonly #subscriptions = new Map<string, Subscription>()
  #next = 0
  #timer: number | undefined
  #ending = new AbortController()

  constructor() {
    document.addEventListener('visibilitychange', () => this.#reopen(0))
  }

  add(subscription: Subscription): () => void {
    const name = String(this.#next++)
    this.#subscriptions.set(name, subscription)
    this.#reopen(20)
    return () => {
      this.#subscriptions.delete(name)
      this.#reopen(20)
    }
  }

  /** Reopens the stream with the current watches. */
  #reopen(delayMs: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#ending.abort()
      this.#ending = new AbortController()
      if (this.#subscriptions.size > 0 && !document.hidden) void this.#read(this.#ending.signal)
    }, delayMs)
  }

  async #read(signal: AbortSignal): Promise<void> {
    const watches = Object.fromEntries(
      [...this.#subscriptions].map(([name, { path, accept, revision }]) => {
        const query = new URLSearchParams({ watch: '1', allowWatchBookmarks: 'true', resourceVersion: revision })
        return [name, { path: `${path}${path.includes('?') ? '&' : '?'}${query}`, accept }]
      }),
    )
    try {
      const headers = { 'content-type': 'application/json' }
      const response = await send('/watches', { method: 'POST', headers, body: JSON.stringify({ watches }), signal })
      if (!response.ok || response.body === null) throw new Error(`${response.status}`)
      await readLines<Line>(response.body, (lines) => this.#take(lines))
    } catch {
      // Reopens the stream, unless it was closed here.
    }
    if (!signal.aborted && sessionState.value.kind === 'open') this.#reopen(1_000)
  }

  #take(lines: readonly Line[]): void {
    const taken = new Map<Subscription, WatchEvent<never>[]>()
    for (const { watch, event, end } of lines) {
      const subscription = this.#subscriptions.get(watch)
      if (subscription === undefined) continue
      if (end === 200) this.#reopen(20)
      else if (end !== undefined) this.#lose(watch, subscription, end)
      else if (event?.type === 'ERROR') this.#lose(watch, subscription, event.object.code ?? 0)
      else if (event !== undefined) {
        const { metadata, rows } = event.object
        // A table event has the revision in its row.
        subscription.revision = rows?.[0]?.object.metadata?.resourceVersion ?? metadata?.resourceVersion ?? subscription.revision
        if (event.type === 'BOOKMARK') continue
        const events = taken.get(subscription) ?? []
        events.push(event as WatchEvent<never>)
        taken.set(subscription, events)
      }
    }
    for (const [{ onEvents }, events] of taken) onEvents(events)
  }

  /** A refused watch, for example of a kind that the user may list alone, is not asked for at once again. */
  #lose(name: string, { onLost }: Subscription, code: number): void {
    this.#subscriptions.delete(name)
    setTimeout(onLost, code === expired ? 0 : refusedMs)
  }
}

const stream = new Stream()

/** Watches a list from its revision on; returns a function that stops it. A past moment has no events. */
export function watch<T>(options: WatchOptions<T>): () => void {
  if (moment.value !== '') return () => {}
  return stream.add({ ...options } as Subscription)
}

interface FollowOptions<T> extends Pick<WatchOptions<T>, 'path' | 'accept' | 'onEvents'> {
  /** Reads the present state and returns its revision. `isOver` is true when the result is not needed any more. */
  readonly read: (isOver: () => boolean) => Promise<string | undefined>
  readonly onProblem: (message: string) => void
}

/** Delay before a state is read again after the server has not answered. */
export const unansweredMs = 3_000

/** Reads a state and watches it from there on; reads it again when the watch cannot resume. Returns a function that stops it. */
export function follow<T>({ read, onProblem, ...options }: FollowOptions<T>): () => void {
  let end: (() => void) | undefined
  let timer: number | undefined
  let isOver = false
  const start = async () => {
    try {
      const revision = await read(() => isOver)
      if (!isOver) end = watch<T>({ ...options, revision: revision ?? '', onLost: () => void start() })
    } catch (error) {
      if (isOver) return
      if (isReachable.value) onProblem(messageOf(error))
      else timer = setTimeout(() => void start(), unansweredMs)
    }
  }
  void start()
  return () => {
    isOver = true
    clearTimeout(timer)
    end?.()
  }
}
