import type { Duplex } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { limits } from '../limits.ts'
import type { ByteChannel } from './byte-channel.ts'
import { ByteQueue } from './byte-queue.ts'
import { FrameReader, goAwayStatus, printFrame, resetStatus, type SpdyFrame } from './spdy-frames.ts'
import { printHeaders, SpdyError, type SpdyHeaders } from './spdy-headers.ts'

export interface SpdyOptions {
  readonly socket: Duplex
  /** The first bytes from the peer. */
  readonly head: Uint8Array
  /** Accepts a stream that the peer has opened, which is among the open ones. False to refuse it. */
  readonly onStream: (stream: SpdyStream, openCount: number) => boolean
  /** True if this end has opened the connection, so that it opens streams. */
  readonly isClient?: boolean
}

/** Default window of a stream, and of a connection: SPDY/3.1, section 2.6.8. */
const usualWindow = 64 * 1024

/**
 * Bytes that may be sent to a client with flow control. Clients of Kubernetes have none: they never report read bytes, so everything is sent until a
 * client reports some.
 */
class SendWindow {
  #granted = usualWindow
  #sent = 0
  #isKept = false

  get room(): number {
    return this.#isKept ? this.#granted - this.#sent : Number.POSITIVE_INFINITY
  }

  grant(bytes: number): void {
    this.#isKept = true
    this.#granted += bytes
  }

  spend(bytes: number): void {
    this.#sent += bytes
  }
}

/** A stream that the client has opened. */
export class SpdyStream implements ByteChannel {
  readonly id: number
  readonly headers: SpdyHeaders
  readonly input: ByteQueue
  readonly window = new SendWindow()
  readonly #connection: SpdyConnection
  readonly #closed = Promise.withResolvers<void>()
  #hasEnded = false
  #hasInputEnded = false
  /** Read bytes that are not yet reported to the client. */
  #unreported = 0

  constructor(id: number, headers: SpdyHeaders, connection: SpdyConnection) {
    this.id = id
    this.headers = headers
    this.#connection = connection
    this.input = new ByteQueue((bytes) => this.#take(bytes))
  }

  get closed(): Promise<void> {
    return this.#closed.promise
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length && !this.#hasEnded; ) {
      const piece = await this.#connection.sendPiece(this, bytes.subarray(at))
      if (piece === 0) return
      at += piece
    }
  }

  end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#connection.sendEnd(this)
    this.#leaveWhenOver()
  }

  /** Ends both directions at once. */
  reset(status: number = resetStatus.cancel): void {
    this.#connection.sendReset(this, status)
    this.close()
  }

  receive(bytes: Uint8Array, isLast: boolean): void {
    if (!this.input.push(bytes)) this.#take(bytes.length)
    if (isLast) this.endInput()
  }

  endInput(): void {
    this.#hasInputEnded = true
    this.input.end()
    this.#leaveWhenOver()
  }

  /** Both directions have ended, without a frame. */
  close(): void {
    this.#hasEnded = true
    this.endInput()
  }

  #leaveWhenOver(): void {
    if (!this.#hasEnded || !this.#hasInputEnded) return
    this.#connection.forget(this)
    this.#closed.resolve()
  }

  #take(bytes: number): void {
    this.#unreported += bytes
    const reports = this.#unreported >= usualWindow / 2 && !this.#hasInputEnded
    this.#connection.take(this, bytes, reports ? this.#unreported : 0)
    if (reports) this.#unreported = 0
  }
}

/** One end of a connection over SPDY/3.1, as used by kubectl, client-go and kubelets for exec, attach and port-forward. */
export class SpdyConnection {
  /** Resolves when no more is received. */
  readonly closed: Promise<void>
  readonly #socket: Duplex
  readonly #onStream: SpdyOptions['onStream']
  /** The peer's stream numbers are odd (1) or even (0): a client's are odd. */
  readonly #othersRemainder: 0 | 1
  readonly #frames = new FrameReader()
  readonly #streams = new Map<number, SpdyStream>()
  readonly #window = new SendWindow()
  #initialWindow = usualWindow
  #keepsWindows = false
  #lastId = 0
  #lastOwnId: number
  #hasSentHeaders = false
  #isLeaving = false
  #isOver = false
  /** Unread bytes of the client. */
  #unread = 0
  /** Read bytes of all streams that are not yet reported to the client. */
  #unreported = 0
  #wake: (() => void)[] = []

  constructor({ socket, head, onStream, isClient = false }: SpdyOptions) {
    this.#socket = socket
    this.#onStream = onStream
    this.#othersRemainder = isClient ? 0 : 1
    this.#lastOwnId = isClient ? -1 : 0
    const wake = () => this.#wakeAll()
    socket.on('drain', wake).once('close', wake)
    this.closed = this.#run(head)
  }

  get streams(): number {
    return this.#streams.size
  }

  open(headers: SpdyHeaders): SpdyStream {
    this.#lastOwnId += 2
    const stream = new SpdyStream(this.#lastOwnId, headers, this)
    this.#streams.set(stream.id, stream)
    this.#send(printFrame.synStream(stream.id, this.#printHeaders(headers)))
    return stream
  }

  /** Sends a GOAWAY; earlier writes are still delivered. */
  close(status: number = goAwayStatus.ok): void {
    if (this.#isOver) return
    this.#send(printFrame.goAway(this.#lastId, status))
    this.#finish()
  }

  async #run(head: Uint8Array): Promise<void> {
    try {
      await this.#receive(head)
      // The last bytes may have to be read before the end of the connection.
      for await (const chunk of this.#socket.iterator({ destroyOnReturn: false })) {
        if (this.#isOver) return
        await this.#receive(chunk)
      }
    } catch (error) {
      // Any other frame ends the connection.
      if (error instanceof SpdyError) this.close(goAwayStatus.protocolError)
    } finally {
      this.#finish()
    }
  }

  async #receive(bytes: Uint8Array): Promise<void> {
    this.#frames.push(bytes)
    let idle = 0
    let inTurn = 0
    for (let frame = this.#frames.next(); frame !== undefined && !this.#isOver; frame = this.#frames.next()) {
      if (frame.kind === 'ping' || frame.kind === 'settings' || frame.kind === 'headers') idle += 1
      if (idle > limits.spdyIdleFramesMax) throw new SpdyError('there are too many pings and settings')
      this.#apply(frame)
      inTurn += 1
      if (inTurn % limits.spdyFramesPerTurn === 0) await setImmediate()
      await this.#until(() => this.#unread <= limits.streamUnreadBytesMax && this.#socket.writableLength <= limits.streamUnreadBytesMax)
    }
  }

  #apply(frame: SpdyFrame): void {
    switch (frame.kind) {
      case 'synStream':
        this.#open(frame)
        break
      case 'data':
        this.#receiveData(frame)
        break
      case 'headers':
        if (frame.isLast) this.#streams.get(frame.id)?.endInput()
        break
      case 'rstStream':
        this.#streams.get(frame.id)?.close()
        break
      case 'ping':
        // Another number would answer a ping of this end, which sends none.
        if (frame.id % 2 === this.#othersRemainder) this.#send(printFrame.ping(frame.id))
        break
      case 'settings':
        this.#setWindow(frame.initialWindow)
        break
      case 'windowUpdate':
        this.#grant(frame.id, frame.bytes)
        break
      case 'goAway':
        this.#isLeaving = true
    }
  }

  #open({ id, isLast, headers }: Extract<SpdyFrame, { kind: 'synStream' }>): void {
    if (this.#isLeaving) return
    if (id % 2 !== this.#othersRemainder || id <= this.#lastId) throw new SpdyError(`a stream cannot have the number ${id}`)
    this.#lastId = id
    if (this.#streams.size >= limits.spdyStreamsMax) {
      this.#send(printFrame.rstStream(id, resetStatus.refusedStream))
      return
    }
    const stream = new SpdyStream(id, headers, this)
    if (this.#keepsWindows) stream.window.grant(this.#initialWindow - usualWindow)
    this.#streams.set(id, stream)
    // The reply precedes the first bytes.
    this.#send(printFrame.synReply(id, this.#printHeaders(new Map())))
    if (!this.#onStream(stream, this.#streams.size)) stream.reset()
    else if (isLast) stream.endInput()
  }

  #printHeaders(headers: SpdyHeaders): Buffer {
    const isFirst = !this.#hasSentHeaders
    this.#hasSentHeaders = true
    return printHeaders(headers, isFirst)
  }

  #receiveData({ id, isLast, bytes }: Extract<SpdyFrame, { kind: 'data' }>): void {
    const stream = this.#streams.get(id)
    // Bytes for a stream that has ended meanwhile.
    if (stream === undefined) return
    this.#unread += bytes.length
    stream.receive(bytes, isLast)
  }

  #setWindow(bytes: number | undefined): void {
    if (bytes === undefined) return
    const more = bytes - this.#initialWindow
    this.#initialWindow = bytes
    this.#keepsWindows = true
    for (const stream of this.#streams.values()) stream.window.grant(more)
    this.#wakeAll()
  }

  #grant(id: number, bytes: number): void {
    const window = id === 0 ? this.#window : this.#streams.get(id)?.window
    window?.grant(bytes)
    this.#wakeAll()
  }

  /** Sends up to one frame of the bytes; resolves with their number when more may follow, or 0 after the end of the connection. */
  async sendPiece(stream: SpdyStream, bytes: Uint8Array): Promise<number> {
    await this.#until(() => stream.window.room > 0 && this.#window.room > 0 && !this.#socket.writableNeedDrain)
    if (this.#isOver || !this.#streams.has(stream.id)) return 0
    const length = Math.min(bytes.length, dataBytesMax, stream.window.room, this.#window.room)
    stream.window.spend(length)
    this.#window.spend(length)
    this.#socket.cork()
    this.#socket.write(printFrame.dataHead(stream.id, length, false))
    this.#socket.write(bytes.subarray(0, length))
    this.#socket.uncork()
    await this.#until(() => !this.#socket.writableNeedDrain)
    return length
  }

  sendEnd({ id }: SpdyStream): void {
    this.#send(printFrame.dataHead(id, 0, true))
  }

  sendReset({ id }: SpdyStream, status: number): void {
    this.#send(printFrame.rstStream(id, status))
  }

  forget({ id }: SpdyStream): void {
    this.#streams.delete(id)
    this.#wakeAll()
  }

  /** Counts bytes that the reader of a stream has read. `reported` may be reported to the client. */
  take({ id }: SpdyStream, bytes: number, reported: number): void {
    this.#unread -= bytes
    this.#unreported += bytes
    if (reported > 0) this.#send(printFrame.windowUpdate(id, reported))
    if (this.#unreported >= usualWindow / 2) {
      this.#send(printFrame.windowUpdate(0, this.#unreported))
      this.#unreported = 0
    }
    this.#wakeAll()
  }

  #send(frame: Uint8Array): void {
    if (!this.#isOver && this.#socket.writable) this.#socket.write(frame)
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const stream of [...this.#streams.values()]) stream.close()
    this.#socket.end()
    this.#wakeAll()
  }

  /** Resolves when the condition holds, or at the end of the connection. */
  async #until(holds: () => boolean): Promise<void> {
    while (!this.#isOver && !this.#socket.destroyed && !holds()) await new Promise<void>((resolve) => void this.#wake.push(resolve))
  }

  #wakeAll(): void {
    for (const wake of this.#wake.splice(0)) wake()
  }
}

/** Maximum bytes of one data frame, as several streams share a connection. */
const dataBytesMax = 32 * 1024
