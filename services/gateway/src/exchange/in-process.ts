import { Readable } from 'node:stream'
import type { TransportRequest as InProcessRequest, TransportResponse as InProcessResponse, SharedEvents } from '@orch/core/events'
import { type BodyOutcome, type Exchange, type HeaderFields, headerText, type Peer } from './exchange.ts'

export type { InProcessRequest, InProcessResponse }

/** A piece of a body. */
type Piece = Uint8Array | SharedEvents

/** Unread bytes at which `write` asks for a pause. */
const waitingBytesComfortable = 1024 * 1024

/** An exchange without a socket: the answer's head resolves `response`, its body is an async iterable. */
export class InProcessExchange implements Exchange, AsyncIterable<Uint8Array>, AsyncIterator<Uint8Array, undefined> {
  readonly #request: InProcessRequest
  #headers: Readonly<Record<string, string>>
  peer: Peer
  readonly remoteAddress = ''
  /** Resolves with the head of the answer. */
  readonly response: Promise<InProcessResponse>
  #answer!: (response: InProcessResponse) => void
  #refuse!: (error: unknown) => void
  readonly writeEvents: Exchange['writeEvents']
  #chunks: Uint8Array[] = []
  #waitingBytes = 0
  #readers: { resolve(result: IteratorResult<Uint8Array, undefined>): void; reject(error: unknown): void }[] = []
  #waitForRoom: (() => void)[] = []
  /** Called when the reader has read the waiting bytes. */
  #onTaken: (() => void)[] = []
  #state: 'open' | 'ended' | 'broken' = 'open'
  #onClose: (() => void)[] = []

  /** Its creator calls `abort` when the request's signal is aborted. */
  constructor(request: InProcessRequest, peer: Peer) {
    this.#request = request
    this.#headers = request.headers
    this.peer = peer
    this.response = new Promise((resolve, reject) => {
      this.#answer = resolve
      this.#refuse = reject
    })
    // Only a client that takes events reads `pieces`; `body` has bytes alone.
    if (request.takesEvents === true) this.writeEvents = (events, onTaken) => void this.#push(events as Piece as Uint8Array, onTaken)
    if (request.signal?.aborted) this.abort()
  }

  get method(): string {
    return this.#request.method
  }

  get target(): string {
    return this.#request.path
  }

  get connection(): object {
    return this
  }

  get isClosed(): boolean {
    return this.#state !== 'open'
  }

  get waitingBytes(): number {
    return this.#waitingBytes
  }

  header(name: string): string | undefined {
    return this.#headers[name]
  }

  headerValues(name: string): readonly string[] {
    const value = this.#headers[name]
    return value === undefined ? [] : [value]
  }

  headerNames(): readonly string[] {
    return Object.keys(this.#headers)
  }

  dropHeaders(names: readonly string[]): void {
    this.#headers = Object.fromEntries(Object.entries(this.#headers).filter(([name]) => !names.includes(name)))
  }

  get announcedBytes(): number {
    return this.#request.body?.length ?? 0
  }

  get value(): unknown {
    return this.#request.value
  }

  readBody(bytesMax: number): BodyOutcome {
    const { body = '' } = this.#request
    if (body.length > bytesMax) return { kind: 'tooLarge' }
    // A copy, as the body may be read again after the caller has reused its bytes.
    const bytes = Buffer.from(body)
    return bytes.length > bytesMax ? { kind: 'tooLarge' } : { kind: 'body', bytes }
  }

  bodyStream(): Readable {
    return Readable.from([Buffer.from(this.#request.body ?? '')])
  }

  send(code: number, headers: HeaderFields, body: Uint8Array | string, value?: object): void {
    if (this.isClosed) return
    const sent = this.method === 'HEAD' ? '' : body
    const whole = typeof sent === 'string' ? Buffer.from(sent) : sent
    this.#answer({ status: code, headers: joinedHeaders(headers), body: this, whole, value })
    if (whole.length > 0) this.write(whole)
    this.end()
  }

  begin(code: number, headers: HeaderFields): void {
    this.#answer({ status: code, headers: joinedHeaders(headers), body: this, pieces: this.writeEvents === undefined ? undefined : this })
  }

  write(bytes: Uint8Array | string, onTaken?: () => void): boolean {
    return this.#push(typeof bytes === 'string' ? Buffer.from(bytes) : bytes, onTaken)
  }

  #push(chunk: Uint8Array, onTaken?: () => void): boolean {
    if (this.isClosed) return true
    const reader = this.#readers.shift()
    if (reader !== undefined) {
      reader.resolve({ value: chunk, done: false })
      if (onTaken !== undefined) queueMicrotask(onTaken)
      return true
    }
    if (onTaken !== undefined) this.#onTaken.push(onTaken)
    this.#chunks.push(chunk)
    this.#waitingBytes += chunk.length
    return this.#waitingBytes < waitingBytesComfortable
  }

  writeShared(bytes: Uint8Array, onTaken?: () => void): void {
    this.write(bytes, onTaken)
  }

  drained(): Promise<void> {
    if (this.isClosed || this.#waitingBytes < waitingBytesComfortable) return Promise.resolve()
    return new Promise((resolve) => this.#waitForRoom.push(resolve))
  }

  end(): void {
    this.#close('ended')
  }

  destroy(): void {
    // The end was received, but the reader has not reached it.
    if (this.#state === 'ended' && this.#chunks.length > 0) {
      this.#chunks = []
      this.#state = 'broken'
    }
    this.#close('broken')
  }

  destroyConnection(): void {
    this.destroy()
  }

  /** The whole request is present. */
  stopReading(): void {}

  onClose(callback: () => void): void {
    if (this.isClosed) queueMicrotask(callback)
    else this.#onClose.push(callback)
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const chunk = this.#chunks.shift()
    if (chunk !== undefined) {
      this.#waitingBytes -= chunk.length
      if (this.#waitingBytes < waitingBytesComfortable) this.#makeRoom()
      if (this.#chunks.length === 0) for (const onTaken of this.#onTaken.splice(0)) queueMicrotask(onTaken)
      return Promise.resolve({ value: chunk, done: false })
    }
    if (this.#state === 'ended') return Promise.resolve({ value: undefined, done: true })
    if (this.#state === 'broken') return Promise.reject(new Error('the answer was broken off'))
    return new Promise((resolve, reject) => this.#readers.push({ resolve, reject }))
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#chunks = []
    this.#waitingBytes = 0
    this.#close('ended')
    return Promise.resolve({ value: undefined, done: true })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** The request's signal was aborted. */
  abort(): void {
    this.#chunks = []
    this.#refuse(this.#request.signal?.reason)
    this.#close('broken')
  }

  #makeRoom(): void {
    for (const resolve of this.#waitForRoom.splice(0)) resolve()
  }

  #close(state: 'ended' | 'broken'): void {
    if (this.isClosed) return
    this.#state = state
    const readers = this.#readers.splice(0)
    if (state === 'ended') for (const { resolve } of readers) resolve({ value: undefined, done: true })
    else {
      const error = new Error('the answer was broken off')
      // It has no effect after the head of the answer.
      this.#refuse(error)
      for (const { reject } of readers) reject(error)
    }
    this.#makeRoom()
    for (const callback of this.#onClose.splice(0)) callback()
  }
}

/** Header fields with one text for each name. */
function joinedHeaders(headers: HeaderFields): InProcessResponse['headers'] {
  const joined: Record<string, string | undefined> = {}
  for (const name in headers) joined[name] = headerText(headers[name])
  return joined
}
