import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { User } from '@orch/core/contracts'

/** The other end of the connection, from the connection itself. */
export type Peer =
  /** No certificate was shown, or none was asked for. */
  | { readonly kind: 'unknown' }
  /** A certificate of one of the client CAs. */
  | {
      readonly kind: 'certificate'
      readonly commonName: string
      readonly organizations: readonly string[]
      /** Fingerprint of the certificate, in lower-case hexadecimal digits. */
      readonly sha256: string
      readonly expiresMs: number
      readonly proxy?: ProxyPeer | undefined
    }
  /** A certificate that does not make its owner a user. */
  | { readonly kind: 'untrusted'; readonly reason: string; readonly proxy?: ProxyPeer | undefined }
  /** A part of this very process. */
  | { readonly kind: 'internal'; readonly name: string; readonly groups: readonly string[] }
  /** A page of the console, in a session of this user. */
  | { readonly kind: 'console'; readonly user: User }

/** The same certificate where one of the proxies' CAs has signed it. */
export interface ProxyPeer {
  readonly commonName: string
  readonly expiresMs: number
}

/** Header fields of a response. Names are lower-case; HTTP/2 wants them so. Several values are as many fields. */
export type HeaderFields = Record<string, string | string[]>

/** One request and its response, over HTTP/1.1, HTTP/2 or a call in this process. */
export interface Exchange {
  readonly method: string
  /** Path and query as sent. */
  readonly target: string
  /** Replaced by the console, for a request of a session. */
  peer: Peer
  /** Remote address for the log; '' in process. */
  readonly remoteAddress: string
  /** The same object for all exchanges over one connection. */
  readonly connection: object
  /** Why the request can only be refused, as far as its head tells; absent: it can be served. */
  readonly problem?: string | undefined
  /** Nothing more can be written. */
  readonly isClosed: boolean
  /** Bytes that were written and that the client has not taken. */
  readonly waitingBytes: number
  /** Value of a request header; the name is lower-case. */
  header(name: string): string | undefined
  /** The same, one text for each time that the header was sent. */
  headerValues(name: string): readonly string[]
  /** Names of the request's headers, in lower case. */
  headerNames(): readonly string[]
  /** Drops request headers, so that no later code reads or logs those that only the beginning needed. */
  dropHeaders(names: readonly string[]): void
  /** Bytes that the body has according to the request's head; undefined: it has some, and does not say how many. */
  readonly announcedBytes: number | undefined
  /** The whole body. More than `bytesMax` is `tooLarge`; the connection is then not used again. */
  readBody(bytesMax: number): Promise<BodyOutcome>
  /** The body as a stream, for forwarding. */
  bodyStream(): Readable
  /** The connection below an HTTP/1.1 request for another protocol; absent: the protocol stays. */
  readonly upgrade?: Upgrade | undefined
  /** Answers at once. */
  send(code: number, headers: HeaderFields, body: Uint8Array | string): void
  /** Begins an answer of unknown length; the head leaves with the writes of the same tick. The request's head is not used any more. */
  begin(code: number, headers: HeaderFields): void
  /** False: wait for `drained` before writing more. `onTaken` is called when the connection has taken the bytes; not always after its end. */
  write(bytes: Uint8Array | string, onTaken?: () => void): boolean
  /**
   * Writes the same bytes as other exchanges: the protocol's frame around them is made once for all. Nothing asks for a
   * pause; `waitingBytes` counts the bytes that have not been taken.
   */
  writeShared(bytes: Uint8Array, onTaken?: () => void): void
  /** Resolves when there is room again or the exchange has closed. */
  drained(): Promise<void>
  /** `trailers` follow the body where the protocol has a place for them. */
  end(trailers?: HeaderFields): void
  /** Breaks the answer off, so that the client sees that it is not whole. */
  destroy(): void
  /** The same for the whole connection, with all other exchanges over it. */
  destroyConnection(): void
  /** Nothing that comes over the connection is read any more, not even the frames of its protocol. */
  stopReading(): void
  /** Calls back once when the exchange is over, however it ended; soon, where it is over already. */
  onClose(callback: () => void): void
}

/** A connection that is about to speak another protocol. */
export interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Socket
  /** The client's first bytes in it. */
  readonly head: Uint8Array
}

export type BodyOutcome =
  | { readonly kind: 'body'; readonly bytes: Uint8Array }
  | { readonly kind: 'tooLarge' }
  /** The client closed the connection. */
  | { readonly kind: 'broken' }

/** The value when it is one text, or several joined as HTTP says. */
export function headerText(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'object' ? value.join(', ') : value
}

/** The media type without its parameters, in lower case. */
export function mediaTypeOf(contentType: string): string {
  const end = contentType.indexOf(';')
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase()
}

/** Collects a body from a readable stream that emits `data`, `end`, `error`, `close`. */
export function collectBody(source: NodeJS.ReadableStream, bytesMax: number): Promise<BodyOutcome> {
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = []
    let length = 0
    const onData = (chunk: Uint8Array) => {
      length += chunk.length
      if (length > bytesMax) finish({ kind: 'tooLarge' })
      else chunks.push(chunk)
    }
    const onEnd = () => {
      const [first] = chunks
      finish({ kind: 'body', bytes: chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, length) })
    }
    const onBroken = () => finish({ kind: 'broken' })
    const finish = (outcome: BodyOutcome) => {
      source.off('data', onData).off('end', onEnd).off('close', onBroken)
      if (outcome.kind === 'tooLarge') source.pause()
      resolve(outcome)
    }
    source.on('data', onData).on('end', onEnd).on('close', onBroken)
  })
}

/** The value of `content-length`; undefined where it is no number. */
export function lengthOf(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
