import { type Entry, type Freshness, type ListPart, type ListRequest, type StorageService, scopePrefix } from '@orch/core/contracts'
import { failed, type Status, StatusError } from '@orch/core/meta'
import type { TimerWheel } from '@orch/platform'
import { readyReaders } from '../custom-resources/ready-readers.ts'
import type { SchemaParts } from '../custom-resources/schema-budget.ts'
import { noteShown, type ShownParts } from '../custom-resources/shown-definitions.ts'
import { limits } from '../limits.ts'
import type { Range } from '../target/selection.ts'
import type { Served } from '../target/target.ts'
import type { Outbox } from './outbox.ts'
import type { WatchPrinter } from './watch-printer.ts'

/** The dependencies of reading the state. */
type InitialStateParts = SchemaParts & ShownParts & { readonly storage: Pick<StorageService, 'list'>; readonly wheel: TimerWheel }

/** The initial state of a watch, and its receiver. */
export interface InitialStateOptions {
  readonly range: Range
  readonly read: Freshness
  readonly served: Served
  readonly printer: WatchPrinter
  readonly outbox: Outbox
  readonly parts: InitialStateParts
  /** Called before the first object, when the state can be read. */
  readonly onHead: () => void
  readonly isOver: () => boolean
  /** Events as the client gets them. */
  readonly toSent: (frames: readonly Uint8Array[]) => readonly Uint8Array[] | Promise<readonly Uint8Array[]>
}

/** The progress of the initial state. */
export type StateOutcome =
  | { readonly kind: 'sent'; readonly revision: number; readonly epoch: string }
  /** The client does not read. Nothing of the state is held; `sendSome` continues it. */
  | { readonly kind: 'stalled' }
  /** The rest cannot be read or printed. */
  | { readonly kind: 'failed'; readonly status: Status }

/**
 * Sends the initial objects of a watch as events. The next ones are printed when the last ones have been sent. While the client reads they come from one
 * snapshot; for a client that stalls the snapshot is released, and the rest is read in pages at the same revision.
 */
export class InitialState {
  readonly #options: InitialStateOptions
  readonly #print: (entry: Entry) => readonly Uint8Array[]
  readonly #prefix: string
  #head: Extract<ListPart, { kind: 'head' }> | undefined
  /** The first key that was not sent, without the prefix. */
  #start = ''

  constructor(options: InitialStateOptions) {
    this.#options = options
    this.#print = options.printer.ofState()
    this.#prefix = scopePrefix(options.range.scope)
  }

  /** Sends until everything is sent, the client stalls or the watch ends. */
  async sendSome(): Promise<StateOutcome> {
    const { parts, isOver } = this.#options
    try {
      for await (const part of parts.storage.list(this.#request())) {
        if (part.kind === 'head') this.#begin(part)
        else if (part.kind === 'entries' && !(await this.#sendEntries(part.entries))) return { kind: 'stalled' }
        if (isOver()) return { kind: 'stalled' }
      }
    } catch (error) {
      if (this.#head === undefined || !(error instanceof StatusError)) throw error
      return { kind: 'failed', status: error.status }
    }
    const { revision = 0, epoch = '' } = this.#head ?? {}
    return { kind: 'sent', revision, epoch }
  }

  #request(): ListRequest {
    const { range, read } = this.#options
    const { revision, epoch } = this.#head ?? {}
    const at: Freshness = revision === undefined || epoch === undefined ? read : { kind: 'page', revision, epoch }
    return { ...range, read: at, limit: 0, start: this.#start, layout: 'entries' }
  }

  #begin(head: Extract<ListPart, { kind: 'head' }>): void {
    if (this.#head !== undefined) return
    this.#head = head
    this.#options.onHead()
  }

  /** False if the client stalls, or the watch ends. */
  async #sendEntries(entries: readonly Entry[]): Promise<boolean> {
    const { served, parts, printer, outbox, toSent, isOver } = this.#options
    for (const batch of batchesOf(entries, printer.asksWebhook ? limits.conversionBytesMax : limits.watchPieceBytesMax)) {
      if (isOver()) return false
      for (const { revision } of batch) noteShown(served, revision, parts)
      const preparing = readyReaders(served, parts)
      if (preparing !== undefined) await preparing
      const shown = await printer.converted(batch).catch((error: unknown) => Promise.reject(toInternal(error)))
      outbox.write(await toSent(shown.flatMap(this.#print)))
      const last = batch.at(-1)
      if (last !== undefined) this.#start = `${last.key.slice(this.#prefix.length)}\0`
      if (!(await this.#isTaken())) return false
    }
    return true
  }

  /** Waits briefly until the client has read the written bytes. */
  async #isTaken(): Promise<boolean> {
    const { outbox, parts } = this.#options
    const drained = outbox.drained()
    if (drained === undefined) return true
    const { promise: stalled, resolve } = Promise.withResolvers<'stalled'>()
    const timer = parts.wheel.after(limits.stateStallMs, { due: () => resolve('stalled') })
    const first = await Promise.race([drained, stalled])
    timer.cancel()
    return first !== 'stalled'
  }
}

/** Objects in order, in batches within a limit of bytes, except for a batch with one large object. */
function* batchesOf(entries: readonly Entry[], bytesMax: number): Generator<readonly Entry[], void, undefined> {
  let batch: Entry[] = []
  let bytes = 0
  for (const entry of entries) {
    const { length } = entry.value
    if (batch.length > 0 && bytes + length > bytesMax) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(entry)
    bytes += length
  }
  if (batch.length > 0) yield batch
}

/** A failure of a webhook ends the watch with a 500, for any cause. */
function toInternal(error: unknown): StatusError {
  return failed(500, 'InternalError', error instanceof Error ? error.message : String(error), { cause: error })
}
