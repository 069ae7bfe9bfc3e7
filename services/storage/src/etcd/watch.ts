import { InterceptingCall, type InterceptorOptions, type NextCall } from '@grpc/grpc-js'
import type { Revision } from '@orch/core'
import type { Etcd3, IEvent, IWatchRequest, IWatchResponse } from 'etcd3'
import { endOfPrefix } from './layout.ts'

/** What a watch tells. */
export interface WatchListener {
  onCreated(): void
  /** Whole revisions, in order. */
  onEvents(events: readonly IEvent[]): void
  /** Everything up to this revision has been told. */
  onPosition(revision: Revision): void
  /** Once, and last. */
  onEnd(end: WatchEnd): void
}

/** Why a watch ended. */
export type WatchEnd = { readonly kind: 'failed'; readonly error: Error } | { readonly kind: 'compacted'; readonly revision: Revision }

/** A watch that is open, or about to be. */
export interface EtcdWatch {
  /** Asks for `onPosition`. */
  askPosition(): void
  /** Nothing is told any more. */
  close(): void
}

/** A member without a leader ends the watch instead of being silent. */
const requireLeader = (options: InterceptorOptions, next: NextCall) =>
  new InterceptingCall(next(options), {
    start(metadata, listener, forward) {
      metadata.set('hasleader', 'true')
      forward(metadata, listener)
    },
  })

/** Follows all keys of a prefix from a revision on, over etcd's own watch service. */
export function openWatch(client: Etcd3, prefix: string, from: Revision, listener: WatchListener): EtcdWatch {
  const watch = new RawWatch(listener)
  client.watchClient.watch({ interceptors: [requireLeader] }).then(
    (stream) => watch.begin(stream as unknown as WatchStream, { prefix, from }),
    (error: Error) => watch.end({ kind: 'failed', error }),
  )
  return watch
}

interface WatchStream {
  write(request: IWatchRequest): void
  cancel(): void
  on(event: 'data', listener: (response: IWatchResponse) => void): void
  on(event: 'error', listener: (error: Error) => void): void
  on(event: 'end', listener: () => void): void
}

class RawWatch implements EtcdWatch {
  readonly #listener: WatchListener
  #stream: WatchStream | undefined
  #isEnded = false
  /** Parts of an answer that did not fit one message. */
  #fragments: IEvent[] = []

  constructor(listener: WatchListener) {
    this.#listener = listener
  }

  begin(stream: WatchStream, { prefix, from }: { prefix: string; from: Revision }): void {
    stream.on('error', (error) => this.end({ kind: 'failed', error }))
    stream.on('end', () => this.end({ kind: 'failed', error: new Error('etcd ended the watch') }))
    if (this.#isEnded) {
      stream.cancel()
      return
    }
    this.#stream = stream
    stream.on('data', (response) => this.#take(response))
    const key = Buffer.from(prefix)
    const range = { key, range_end: endOfPrefix(prefix), start_revision: String(from) }
    stream.write({ create_request: { ...range, prev_kv: true, progress_notify: true, fragment: true } } as unknown as IWatchRequest)
  }

  askPosition(): void {
    this.#stream?.write({ progress_request: {} } as unknown as IWatchRequest)
  }

  close(): void {
    this.#isEnded = true
    this.#stream?.cancel()
  }

  end(end: WatchEnd): void {
    if (this.#isEnded) return
    this.close()
    this.#listener.onEnd(end)
  }

  #take({ created, canceled, compact_revision, cancel_reason, fragment, events, header }: IWatchResponse): void {
    if (this.#isEnded) return
    const compacted = Number(compact_revision)
    if (compacted > 0) this.end({ kind: 'compacted', revision: compacted })
    else if (canceled) this.end({ kind: 'failed', error: new Error(`etcd ended the watch: ${cancel_reason}`) })
    else if (created) this.#listener.onCreated()
    else this.#tell(events, fragment, Number(header.revision))
  }

  #tell(events: readonly IEvent[], isFragment: boolean, revision: Revision): void {
    this.#fragments.push(...events)
    if (isFragment) return
    const whole = this.#fragments
    this.#fragments = []
    if (whole.length > 0) this.#listener.onEvents(whole)
    else this.#listener.onPosition(revision)
  }
}
