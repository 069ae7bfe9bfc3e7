import { Readable } from 'node:stream'
import type { BodyOutcome, Exchange, HeaderFields, Peer, Upgrade } from '../exchange/exchange.ts'
import type { CutScope } from './effects.ts'

/** An exchange whose answer a fault changes. */
export class FaultyExchange implements Exchange {
  readonly #inner: Exchange
  readonly #headers: Record<string, string> = {}
  #body: BodyOutcome | undefined
  #isCut = false
  /** True if nothing of the answer is sent, and the connection ends instead. */
  #loses: CutScope | undefined
  /** Remaining bytes of the answer's body; undefined for all. */
  #bytesLeft: number | undefined

  constructor(inner: Exchange) {
    this.#inner = inner
  }

  /** Adds a header to the answer. */
  addHeader(name: string, value: string): void {
    this.#headers[name] = value
  }

  /** Ends the connection instead of answering. */
  loseAnswer(scope: CutScope): void {
    this.#loses = scope
  }

  /** Truncates the answer after this number of bytes of its body. */
  truncate(bytes: number): void {
    this.#bytesLeft = bytes
  }

  /** Ends the connection at once. */
  cut(scope: CutScope): void {
    this.#isCut = true
    if (scope === 'connection') this.#inner.destroyConnection()
    else this.#inner.destroy()
  }

  get method(): string {
    return this.#inner.method
  }

  get target(): string {
    return this.#inner.target
  }

  get peer(): Peer {
    return this.#inner.peer
  }

  get remoteAddress(): string {
    return this.#inner.remoteAddress
  }

  get connection(): object {
    return this.#inner.connection
  }

  get problem(): string | undefined {
    return this.#inner.problem
  }

  get isClosed(): boolean {
    return this.#isCut || this.#inner.isClosed
  }

  get waitingBytes(): number {
    return this.#inner.waitingBytes
  }

  get announcedBytes(): number | undefined {
    return this.#inner.announcedBytes
  }

  get upgrade(): Upgrade | undefined {
    return this.#inner.upgrade
  }

  header(name: string): string | undefined {
    return this.#inner.header(name)
  }

  headerValues(name: string): readonly string[] {
    return this.#inner.headerValues(name)
  }

  headerNames(): readonly string[] {
    return this.#inner.headerNames()
  }

  dropHeaders(names: readonly string[]): void {
    this.#inner.dropHeaders(names)
  }

  /** Read once, as a fault may have read it before the verb. */
  async readBody(bytesMax: number): Promise<BodyOutcome> {
    this.#body ??= await this.#inner.readBody(bytesMax)
    return this.#body
  }

  bodyStream(): Readable {
    if (this.#body === undefined) return this.#inner.bodyStream()
    return Readable.from(this.#body.kind === 'body' ? [Buffer.from(this.#body.bytes)] : [])
  }

  send(code: number, headers: HeaderFields, body: Uint8Array | string): void {
    if (this.isClosed) return
    if (this.#loses !== undefined) {
      this.cut(this.#loses)
      return
    }
    Object.assign(headers, this.#headers)
    if (this.#bytesLeft === undefined) {
      this.#inner.send(code, headers, body)
      return
    }
    const bytes = Buffer.from(body)
    if (code !== 204) headers['content-length'] = String(bytes.length)
    this.#inner.begin(code, headers)
    this.write(bytes)
    if (!this.#isCut) this.#inner.end()
  }

  begin(code: number, headers: HeaderFields): void {
    if (this.isClosed) return
    if (this.#loses !== undefined) {
      this.cut(this.#loses)
      return
    }
    this.#inner.begin(code, Object.assign(headers, this.#headers))
    if (this.#bytesLeft === 0) this.#breakOff(Buffer.alloc(0))
  }

  write(bytes: Uint8Array | string, onTaken?: () => void): boolean {
    if (this.isClosed) return true
    if (this.#bytesLeft === undefined) return this.#inner.write(bytes, onTaken)
    const all = Buffer.from(bytes)
    this.#bytesLeft -= all.length
    if (this.#bytesLeft > 0) return this.#inner.write(all, onTaken)
    this.#breakOff(all.subarray(0, all.length + this.#bytesLeft))
    return true
  }

  writeShared(bytes: Uint8Array, onTaken?: () => void): void {
    if (this.#bytesLeft === undefined) {
      if (!this.isClosed) this.#inner.writeShared(bytes, onTaken)
    } else this.write(bytes, onTaken)
  }

  /** A truncated answer is counted in bytes. */
  get writeEvents(): Exchange['writeEvents'] {
    return this.#bytesLeft === undefined ? this.#inner.writeEvents : undefined
  }

  /** Sends these last bytes, then ends the connection: unsent bytes would be lost. */
  #breakOff(last: Uint8Array): void {
    this.#isCut = true
    this.#inner.write(last, () => this.#inner.destroy())
  }

  drained(): Promise<void> {
    return this.#isCut ? Promise.resolve() : this.#inner.drained()
  }

  end(trailers?: HeaderFields): void {
    if (!this.isClosed) this.#inner.end(trailers)
  }

  destroy(): void {
    this.#inner.destroy()
  }

  destroyConnection(): void {
    this.#inner.destroyConnection()
  }

  stopReading(): void {
    this.#inner.stopReading()
  }

  onClose(callback: () => void): void {
    this.#inner.onClose(callback)
  }
}
