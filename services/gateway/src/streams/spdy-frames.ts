import { limits } from '../limits.ts'
import { HeaderReader, SpdyError, type SpdyHeaders } from './spdy-headers.ts'

/** A frame from the peer, as far as tunnels need it. Data arrives in pieces; the last one has the end. */
export type SpdyFrame =
  | { readonly kind: 'synStream'; readonly id: number; readonly isLast: boolean; readonly headers: SpdyHeaders }
  | { readonly kind: 'rstStream'; readonly id: number }
  | { readonly kind: 'settings'; readonly initialWindow: number | undefined }
  | { readonly kind: 'ping'; readonly id: number }
  | { readonly kind: 'goAway' }
  /** Later headers, which are ignored here. */
  | { readonly kind: 'headers'; readonly id: number; readonly isLast: boolean }
  | { readonly kind: 'windowUpdate'; readonly id: number; readonly bytes: number }
  | { readonly kind: 'data'; readonly id: number; readonly isLast: boolean; readonly bytes: Buffer }

/** Numbers of control frames: SPDY/3, section 2.6. */
const types = { synStream: 1, synReply: 2, rstStream: 3, settings: 4, ping: 6, goAway: 7, headers: 8, windowUpdate: 9 } as const
/** Minimum payload by type; exact for types with one length. */
const leastBytes: Readonly<Record<number, number>> = { 1: 10, 2: 4, 3: 8, 4: 4, 6: 4, 7: 4, 8: 4, 9: 8 }
const version = 3
const finFlag = 1
const initialWindowSetting = 7
const idMask = 0x7fff_ffff
const headBytes = 8

/** Parses the bytes of a connection into frames. An invalid one throws a SpdyError. */
export class FrameReader {
  readonly #headers = new HeaderReader()
  #pending: Buffer = Buffer.alloc(0)
  #data: { readonly id: number; readonly isLast: boolean; left: number } | undefined

  push(bytes: Uint8Array): void {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#pending = this.#pending.length === 0 ? buffer : Buffer.concat([this.#pending, buffer])
  }

  /** Undefined until the next frame is complete. */
  next(): SpdyFrame | undefined {
    if (this.#data !== undefined) return this.#nextData(this.#data)
    if (this.#pending.length < headBytes) return undefined
    const word = this.#pending.readUInt32BE(0)
    const flags = this.#pending.readUInt8(4)
    const length = this.#pending.readUIntBE(5, 3)
    if (word >>> 31 === 0) {
      if (length > limits.spdyFrameBytesMax) throw tooLong(length, limits.spdyFrameBytesMax)
      this.#take(headBytes)
      this.#data = { id: word, isLast: (flags & finFlag) !== 0, left: length }
      return this.#nextData(this.#data)
    }
    if (((word >>> 16) & 0x7fff) !== version) throw new SpdyError('a frame is of another version than 3')
    if (length > limits.spdyControlBytesMax) throw tooLong(length, limits.spdyControlBytesMax)
    if (this.#pending.length < headBytes + length) return undefined
    this.#take(headBytes)
    return this.#control(word & 0xffff, flags, this.#take(length))
  }

  #nextData(data: { readonly id: number; readonly isLast: boolean; left: number }): SpdyFrame | undefined {
    if (data.id === 0) throw new SpdyError('data is of no stream')
    const length = Math.min(data.left, this.#pending.length)
    if (length === 0 && data.left > 0) return undefined
    data.left -= length
    if (data.left === 0) this.#data = undefined
    return { kind: 'data', id: data.id, isLast: data.isLast && data.left === 0, bytes: this.#take(length) }
  }

  #take(length: number): Buffer {
    const taken = this.#pending.subarray(0, length)
    this.#pending = this.#pending.subarray(length)
    return taken
  }

  #control(type: number, flags: number, payload: Buffer): SpdyFrame | undefined {
    const least = leastBytes[type]
    if (least === undefined) throw new SpdyError(`a frame has the unknown type ${type}`)
    if (payload.length < least) throw new SpdyError(`a frame of type ${type} has ${payload.length} bytes, not ${least}`)
    const id = payload.readUInt32BE(0) & idMask
    const isLast = (flags & finFlag) !== 0
    switch (type) {
      case types.synStream:
        return { kind: 'synStream', id, isLast, headers: this.#headers.read(payload.subarray(10)) }
      case types.synReply:
      case types.headers:
        // Later headers may repeat parts of these.
        this.#headers.read(payload.subarray(4))
        return { kind: 'headers', id, isLast }
      case types.rstStream:
        return { kind: 'rstStream', id }
      case types.settings:
        return { kind: 'settings', initialWindow: initialWindowOf(payload) }
      case types.ping:
        return { kind: 'ping', id: payload.readUInt32BE(0) }
      case types.goAway:
        return { kind: 'goAway' }
      default:
        return { kind: 'windowUpdate', id, bytes: payload.readUInt32BE(4) & idMask }
    }
  }
}

function tooLong(length: number, bytesMax: number): SpdyError {
  return new SpdyError(`a frame of ${length} bytes is longer than ${bytesMax}`)
}

function initialWindowOf(payload: Buffer): number | undefined {
  const count = payload.readUInt32BE(0)
  if (count > (payload.length - 4) / 8) throw new SpdyError('settings end early')
  let found: number | undefined
  for (let at = 4; at < 4 + count * 8; at += 8) {
    if (payload.readUIntBE(at + 1, 3) === initialWindowSetting) found = payload.readUInt32BE(at + 4) & idMask
  }
  return found
}

function control(type: number, flags: number, payload: Uint8Array): Buffer {
  const head = Buffer.allocUnsafe(headBytes)
  head.writeUInt16BE(0x8000 | version, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt8(flags, 4)
  head.writeUIntBE(payload.length, 5, 3)
  return Buffer.concat([head, payload])
}

function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(4 * values.length)
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index)
  return bytes
}

/** Status of a RST_STREAM: SPDY/3, section 2.6.3. */
export const resetStatus = { protocolError: 1, refusedStream: 3, cancel: 5 } as const
/** Status of a GOAWAY: section 2.6.6. */
export const goAwayStatus = { ok: 0, protocolError: 1 } as const

/** The frames that tunnels send. */
export const printFrame = {
  synStream: (id: number, headerBlock: Buffer) =>
    control(types.synStream, 0, Buffer.concat([words(id, 0), Buffer.from([0, 0]), headerBlock])),
  synReply: (id: number, headerBlock: Buffer) => control(types.synReply, 0, Buffer.concat([words(id), headerBlock])),
  rstStream: (id: number, status: number) => control(types.rstStream, 0, words(id, status)),
  ping: (id: number) => control(types.ping, 0, words(id)),
  goAway: (lastId: number, status: number) => control(types.goAway, 0, words(lastId, status)),
  windowUpdate: (id: number, bytes: number) => control(types.windowUpdate, 0, words(id, bytes)),
  /** The head of a data frame; its bytes follow. */
  dataHead(id: number, length: number, isLast: boolean): Buffer {
    const head = words(id, length)
    if (isLast) head.writeUInt8(finFlag, 4)
    return head
  },
}
