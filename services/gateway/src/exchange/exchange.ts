import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { User } from '@orch/core/contracts'
import type { SharedEvents } from '@orch/core/events'

/** The peer, identified by the connection itself. */
export type Peer =
  /** No certificate was presented or requested. */
  | { readonly kind: 'unknown' }
  /** A certificate of one of the client CAs. */
  | {
      readonly kind: 'certificate'
      readonly commonName: string
      readonly organizations: readonly string[]
      /** Values of the attribute for the uid of a user; undefined for none. */
      readonly uids?: readonly string[] | undefined
      /** Fingerprint of the certificate, in lower-case hexadecimal digits. */
      readonly sha256: string
      readonly expiresMs: number
      readonly proxy?: ProxyPeer | undefined
    }
  /** A certificate that authenticates no user. */
  | { readonly kind: 'untrusted'; readonly reason: string; readonly proxy?: ProxyPeer | undefined }
  /** A part of this process. */
  | { readonly kind: 'internal'; readonly name: string; readonly groups: readonly string[] }
  /** A page of the console, in a session of this user. */
  | { readonly kind: 'console'; readonly user: User }

/** The client certificate, if a proxy CA has signed it. */
export interface ProxyPeer {
  readonly commonName: string
  readonly expiresMs: number
}

/** Header fields of a response. Names are in lower case, as HTTP/2 requires. Several values become several fields. */
export type HeaderFields = Record<string, string | string[]>

/** One request and its response, over HTTP/1.1, HTTP/2 or a call in this process. */
export interface Exchange {
  readonly method: string
  /** Path and query as sent. */
  readonly target: string
  /** Replaced by the console for a request of a session. */
  peer: Peer
  /** Remote address for the log; '' in process. */
  readonly remoteAddress: string
  /** Identifies the connection; all its exchanges have the same object. */
  readonly connection: object
  /** The reason why the request must be refused, from its head; undefined if it can be served. */
  readonly problem?: string | undefined
  /** Nothing more can be written. */
  readonly isClosed: boolean
  /** Written bytes that the client has not received. */
  readonly waitingBytes: number
  /** Value of a request header; the name is lower-case. */
  header(name: string): string | undefined
  /** All values of a request header, one for each time that it was sent. */
  headerValues(name: string): readonly string[]
  /** Names of the request's headers, in lower case. */
  headerNames(): readonly string[]
  /** Drops request headers, so that no later code reads or logs headers that only the beginning needed. */
  dropHeaders(names: readonly string[]): void
  /** Bytes of the body according to the head; undefined if the head does not say. */
  readonly announcedBytes: number | undefined
  /** The parsed body, if a part of this process has sent it beside the bytes. */
  readonly value?: unknown
  /** The whole body, at once if it is present. More than `bytesMax` is `tooLarge`; the connection is then not reused. */
  readBody(bytesMax: number): BodyOutcome | Promise<BodyOutcome>
  /** The body as a stream, for forwarding. */
  bodyStream(): Readable
  /** The connection of an HTTP/1.1 upgrade request; undefined without an upgrade. */
  readonly upgrade?: Upgrade | undefined
  /** Sends the whole answer. `value` is its parsed body, frozen, for a client in this process. */
  send(code: number, headers: HeaderFields, body: Uint8Array | string, value?: object): void
  /** Begins an answer of unknown length; the head is sent with the writes of the same tick. The request's head is no longer used. */
  begin(code: number, headers: HeaderFields): void
  /**
   * False if the caller must wait for `drained` before writing more. `onTaken` is called when the connection has sent the bytes, not always after its
   * end.
   */
  write(bytes: Uint8Array | string, onTaken?: () => void): boolean
  /**
   * Writes the same bytes as other exchanges, with the protocol's frame built once for all. Never asks for a pause; `waitingBytes` counts the unsent
   * bytes.
   */
  writeShared(bytes: Uint8Array, onTaken?: () => void): void
  /** Writes events without their text; undefined unless the client is in this process and takes them so. */
  readonly writeEvents?: ((events: SharedEvents, onTaken?: () => void) => void) | undefined
  /** Resolves when there is space again or the exchange has closed. */
  drained(): Promise<void>
  /** `trailers` follow the body if the protocol supports them. */
  end(trailers?: HeaderFields): void
  /** Aborts the answer, so that the client sees that it is incomplete. */
  destroy(): void
  /** Aborts the connection with all its exchanges. */
  destroyConnection(): void
  /** Stops reading the connection, including the frames of its protocol. */
  stopReading(): void
  /** Calls back once when the exchange has ended in any way; soon if it already has. */
  onClose(callback: () => void): void
}

/** A connection during a protocol upgrade. */
export interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Socket
  /** The client's first bytes in the new protocol. */
  readonly head: Uint8Array
}

export type BodyOutcome =
  | { readonly kind: 'body'; readonly bytes: Uint8Array }
  | { readonly kind: 'tooLarge' }
  /** The client closed the connection. */
  | { readonly kind: 'broken' }

/** A single value, or several joined according to HTTP. */
export function headerText(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'object' ? value.join(', ') : value
}

/** The media type without its parameters, in lower case. */
export function mediaTypeOf(contentType: string): string {
  const end = contentType.indexOf(';')
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase()
}

const noBytes = new Uint8Array()

/** Collects a body from a readable stream that emits `data`, `end`, `error`, `close`. A stream that the client has reset is broken. */
export function collectBody(source: Readable, bytesMax: number): Promise<BodyOutcome> {
  return new Promise((resolve) => {
    // It emits no further event.
    if (source.destroyed) return resolve({ kind: 'broken' })
    let bytes: Uint8Array = noBytes
    let length = 0
    const onData = (chunk: Uint8Array) => {
      const end = length + chunk.length
      if (end > bytesMax) return finish({ kind: 'tooLarge' })
      // Copied from the second chunk on: a chunk of one byte costs a hundred more, and holds the whole read of its connection.
      if (length === 0) bytes = chunk
      else {
        if (end > bytes.length) bytes = Buffer.concat([bytes.subarray(0, length)], Math.min(2 * end, bytesMax))
        bytes.set(chunk, length)
      }
      length = end
    }
    const onEnd = () => finish({ kind: 'body', bytes: bytes.subarray(0, length) })
    const onBroken = () => finish({ kind: 'broken' })
    const finish = (outcome: BodyOutcome) => {
      source.off('data', onData).off('end', onEnd).off('close', onBroken)
      if (outcome.kind === 'tooLarge') source.pause()
      resolve(outcome)
    }
    source.on('data', onData).on('end', onEnd).on('close', onBroken)
  })
}

/** States the length of a body. An answer without a body has neither a length nor a type. */
export function describeBody(code: number, headers: HeaderFields, body: Uint8Array | string): void {
  if (code === 204 || code === 304) delete headers['content-type']
  else headers['content-length'] = String(typeof body === 'string' ? Buffer.byteLength(body) : body.length)
}

/** The value of `content-length`; undefined if it is not a number. */
export function lengthOf(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
