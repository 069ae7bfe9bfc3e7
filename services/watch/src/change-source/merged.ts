import {
  type CallContext,
  type ChangeMessage,
  type ChangesPart,
  type ChangesRequest,
  revisionOfMessage,
  type StorageService,
  type Stream,
} from '@orch/core/contracts'
import { type Clock, onAbort } from '@orch/platform'
import type { ChangeSourceLimits } from './limits.ts'
import type { Live } from './live.ts'

/** The reason why a reader left the published stream for storage. */
export type Departure =
  /** A change is missing. */
  | 'gap'
  /** A change arrived as a reference. */
  | 'reference'
  /** No replica publishes, or no publisher has reached the revision. */
  | 'silence'
  /** The reader did not keep up. */
  | 'slow'
  /** Changes of another store arrived. */
  | 'epoch'

export interface MergedOptions {
  readonly storage: Pick<StorageService, 'changes'>
  readonly live: Live
  readonly clock: Clock
  readonly limits: ChangeSourceLimits
  readonly onDeparture: (reason: Departure) => void
  readonly onClose: (merged: Merged) => void
}

interface Waiting {
  readonly part: ChangesPart & { readonly kind: 'changes' | 'position' }
  readonly bytes: number
}

/**
 * Changes after a revision, from either source: the published stream if it continues at the reader's position, else
 * storage, until the stream is reached again. Earlier changes are dropped, and changes after a gap are not taken.
 *
 *   reader at 7:   published 7 → dropped   9 (previous 7) → given   15 (previous 12) → storage from 9: 12 15, then published 17 …
 */
export class Merged implements Stream<ChangesPart> {
  readonly #options: MergedOptions
  readonly #request: ChangesRequest
  readonly #closing = new AbortController()
  readonly #detach: () => void
  readonly #signal: globalThis.AbortSignal | undefined
  #epoch: string
  /** The reader has received every change up to here. */
  #position: number
  /** Everything up to here has been given or waits; changed by the published stream. */
  #tail: number
  #mode: 'live' | 'storage' = 'storage'
  #waiting: Waiting[] = []
  #waitingBytes = 0
  #wake: (() => void) | undefined
  /** Storage's stream while the reader uses it, and whether the reader waits for the next part. */
  #source: Stream<ChangesPart> | undefined
  #isIdle = false
  #positionGivenAtMs = Number.NEGATIVE_INFINITY

  constructor(request: ChangesRequest, context: CallContext, options: MergedOptions) {
    this.#options = options
    this.#request = request
    this.#epoch = request.epoch
    this.#position = request.after
    this.#tail = request.after
    this.#signal = context.signal as globalThis.AbortSignal | undefined
    this.#detach = options.live.listen({
      onMessage: (message, bytes) => this.#receive(message, bytes),
      onSilence: () => this.#depart('silence'),
    })
    onAbort(this.#signal, this.close)
  }

  get mode(): 'live' | 'storage' {
    return this.#mode
  }

  close = (): void => {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    this.#detach()
    this.#signal?.removeEventListener('abort', this.close)
    this.#source?.close()
    this.#wake?.()
    this.#options.onClose(this)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ChangesPart, void, undefined> {
    try {
      while (!this.#closing.signal.aborted) {
        const waiting = this.#waiting.shift()
        if (waiting !== undefined) {
          this.#waitingBytes -= waiting.bytes
          if (this.#give(waiting.part)) yield waiting.part
        } else if (this.#mode === 'live' || this.#isReached()) {
          this.#goLive()
          await this.#word()
        } else if ((yield* this.#fromStorage()) === 'ended') return
      }
    } finally {
      this.close()
    }
  }

  /** Passes the part to the reader; may leave out a position without changes. */
  #give(part: Waiting['part']): boolean {
    if (part.kind === 'changes') {
      this.#position = Math.max(this.#position, part.changes.at(-1)?.revision ?? 0)
      return part.changes.length > 0
    }
    this.#position = Math.max(this.#position, part.revision)
    const nowMs = this.#options.clock.monotonic()
    // Storage sends each position once.
    if (this.#mode === 'live' && nowMs - this.#positionGivenAtMs < this.#options.limits.positionIntervalMs) return false
    this.#positionGivenAtMs = nowMs
    return true
  }

  #isReached(): boolean {
    return this.#options.live.isReachedFrom(this.#position, this.#epoch)
  }

  #goLive(): void {
    if (this.#mode === 'live') return
    this.#mode = 'live'
    this.#tail = this.#position
  }

  async #word(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    this.#wake = undefined
  }

  /** Runs until the published stream is reached or storage's stream has ended. */
  async *#fromStorage(): AsyncGenerator<ChangesPart, 'reached' | 'ended', undefined> {
    const { storage } = this.#options
    const source = storage.changes({ ...this.#request, after: this.#position, epoch: this.#epoch }, { signal: this.#closing.signal })
    this.#source = source
    const parts = source[Symbol.asyncIterator]()
    try {
      while (!this.#closing.signal.aborted) {
        this.#isIdle = true
        const result = await parts.next().finally(() => {
          this.#isIdle = false
        })
        // The reader has reached the published stream meanwhile, which also contains these changes.
        if (this.#source !== source) return 'reached'
        if (result.done === true) return 'ended'
        const part = result.value
        if (part.kind === 'expired') {
          yield part
          return 'ended'
        }
        if (this.#epoch === '') this.#epoch = part.epoch
        if (this.#give(part)) yield part
        if (part.epoch !== this.#epoch) return 'ended'
        if (this.#isReached()) return 'reached'
      }
      return 'ended'
    } finally {
      this.#source = undefined
      source.close()
    }
  }

  #receive(message: ChangeMessage, bytes: number): void {
    if (this.#mode === 'storage') {
      // A reader that is busy with a part from storage checks again when it is done.
      if (!this.#isIdle || message.epoch !== this.#epoch || !this.#options.live.isUsable) return
      if (!follows(message, this.#position)) return
      this.#goLive()
      const source = this.#source
      this.#source = undefined
      source?.close()
    }
    if (message.epoch !== this.#epoch) this.#depart('epoch')
    else this.#take(message, bytes)
  }

  #take(message: ChangeMessage, bytes: number): void {
    const { epoch } = message
    const isNew = message.kind === 'position' ? message.revision >= this.#tail : revisionOfMessage(message) > this.#tail
    if (!follows(message, this.#tail)) this.#depart('gap')
    else if (!isNew) return
    else if (message.kind === 'reference') this.#depart('reference')
    else if (message.kind === 'position') this.#push({ kind: 'position', revision: message.revision, epoch }, bytes)
    else this.#push(after({ kind: 'changes', changes: message.changes, epoch }, this.#tail), bytes)
  }

  #push(part: Waiting['part'], bytes: number): void {
    this.#tail = part.kind === 'position' ? part.revision : Math.max(this.#tail, part.changes.at(-1)?.revision ?? 0)
    this.#waiting.push({ part, bytes })
    this.#waitingBytes += bytes
    this.#wake?.()
    if (this.#waitingBytes <= this.#options.limits.waitingBytesMax) return
    this.#waiting = []
    this.#waitingBytes = 0
    this.#depart('slow')
  }

  /** Yields the pending changes first; then storage follows. */
  #depart(reason: Departure): void {
    if (this.#mode === 'storage') return
    this.#mode = 'storage'
    this.#options.onDeparture(reason)
    this.#wake?.()
  }
}

/** True if a message follows a revision without a gap before or in it. */
function follows(message: ChangeMessage, revision: number): boolean {
  switch (message.kind) {
    case 'position':
      return message.last <= revision
    case 'reference':
      return message.previous <= revision
    case 'changes': {
      const { changes } = message
      const isWhole = changes.every((change, index) => index === 0 || change.previous === changes[index - 1]?.revision)
      return isWhole && (changes.find((change) => change.revision > revision)?.previous ?? 0) <= revision
    }
  }
}

type ChangesOnly = Extract<ChangesPart, { kind: 'changes' }>

function after(part: ChangesOnly, revision: number): ChangesOnly {
  return { ...part, changes: part.changes.filter((change) => change.revision > revision) }
}
