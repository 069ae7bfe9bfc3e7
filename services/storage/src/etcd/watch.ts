import { type ClientDuplexStream, InterceptingCall, type InterceptorOptions, type NextCall } from '@grpc/grpc-js'
import type { Revision } from '@orch/core/meta'
import { limits } from '../limits.ts'
import type { EtcdClient } from './client.ts'
import { endOfPrefix } from './layout.ts'
import type { EtcdEvent, WatchAnswer, WatchQuestion } from './wire.ts'

/** Receives the events of a watch. */
export interface WatchListener {
  onCreated(): void
  /** Receives whole revisions, in order. */
  onEvents(events: readonly EtcdEvent[]): void
  /** The watch has reported every change up to this revision. */
  onPosition(revision: Revision): void
  /** Called once, as the last event. */
  onEnd(end: WatchEnd): void
}

/** The reason why a watch ended. */
export type WatchEnd = { readonly kind: 'failed'; readonly error: Error } | { readonly kind: 'compacted'; readonly revision: Revision }

/** A watch that is open or opening. */
export interface EtcdWatch {
  /** Requests a call of `onPosition`. */
  askPosition(): void
  /** Ends the watch; it reports nothing more. */
  close(): void
  /** Ends the watch and marks its member as unavailable. */
  abandon(): void
}

/** A member without a leader ends the watch; otherwise it would be silent. */
const requireLeader = (options: InterceptorOptions, next: NextCall) =>
  new InterceptingCall(next(options), {
    start(metadata, listener, forward) {
      metadata.set('hasleader', 'true')
      forward(metadata, listener)
    },
  })

/** Follows all keys of a prefix from a revision on, through etcd's watch service. */
export function openWatch(client: EtcdClient, prefix: string, from: Revision, listener: WatchListener): EtcdWatch {
  const watch = new RawWatch(client, listener)
  client.follow({ interceptors: [requireLeader] }).then(
    (stream) => watch.begin(stream, { prefix, from }),
    (error: Error) => watch.end({ kind: 'failed', error }),
  )
  return watch
}

type WatchStream = ClientDuplexStream<WatchQuestion, WatchAnswer>

class RawWatch implements EtcdWatch {
  readonly #client: EtcdClient
  readonly #listener: WatchListener
  /** A member may accept a connection and never send a byte. */
  readonly #opening: NodeJS.Timeout
  #stream: WatchStream | undefined
  #isEnded = false
  /** The parts of an answer that did not fit one message. */
  #fragments: EtcdEvent[] = []

  constructor(client: EtcdClient, listener: WatchListener) {
    this.#client = client
    this.#listener = listener
    this.#opening = setTimeout(() => this.#giveUp(), limits.etcdWatchOpenMs)
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
    stream.write({ kind: 'follow', key: Buffer.from(prefix), end: endOfPrefix(prefix), from })
  }

  askPosition(): void {
    this.#stream?.write({ kind: 'position' })
  }

  close(): void {
    clearTimeout(this.#opening)
    this.#isEnded = true
    // The stream is ended and not cancelled: the library takes a cancelled stream for a broken connection and drops the connection.
    this.#stream?.end()
  }

  abandon(): void {
    this.close()
    if (this.#stream !== undefined) this.#client.isSilent(this.#stream)
    this.#stream?.cancel()
  }

  #giveUp(): void {
    if (this.#isEnded) return
    this.abandon()
    this.#listener.onEnd({ kind: 'failed', error: new Error('etcd did not open the watch in time') })
  }

  end(end: WatchEnd): void {
    if (this.#isEnded) return
    this.close()
    this.#listener.onEnd(end)
  }

  #take({ created, canceled, compacted, reason, isFragment, events, revision }: WatchAnswer): void {
    clearTimeout(this.#opening)
    if (this.#isEnded) return
    if (compacted > 0) this.end({ kind: 'compacted', revision: compacted })
    else if (canceled) this.end({ kind: 'failed', error: new Error(`etcd ended the watch: ${reason}`) })
    else if (created) this.#listener.onCreated()
    else this.#report(events, isFragment, revision)
  }

  #report(events: readonly EtcdEvent[], isFragment: boolean, revision: Revision): void {
    this.#fragments.push(...events)
    if (isFragment) return
    const whole = this.#fragments
    this.#fragments = []
    if (whole.length > 0) this.#listener.onEvents(whole)
    else this.#listener.onPosition(revision)
  }
}
