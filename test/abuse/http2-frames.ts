import { connect, type TLSSocket } from 'node:tls'
import { onTestFinished } from 'vitest'
import type { SocketServer } from '../gateway/sockets.ts'

/** The types of frames (RFC 9113, section 6). */
export const frameTypes = { data: 0, headers: 1, priority: 2, reset: 3, settings: 4, ping: 6, windowUpdate: 8, continuation: 9 } as const

/** The flags of frames. */
export const flags = { none: 0, acknowledged: 1, endStream: 1, endHeaders: 4, endBoth: 5 } as const

/** One frame as bytes. */
export function frame(type: keyof typeof frameTypes, flag: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = frameTypes[type]
  head[4] = flag
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** A header field without indexing, with uncompressed name and value; both are shorter than 127 bytes. */
export function field(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([value.length]), Buffer.from(value)])
}

/** The header fields of a request to `/livez` without a certificate or token. */
export const getFields = Buffer.concat([Buffer.from([0x82, 0x87]), field(':path', '/livez'), field(':authority', 'localhost')])

/** An HTTP/2 connection that sends given frames. */
export type RawConnection = Awaited<ReturnType<typeof openRaw>>

/** Connects without a certificate and sends the connection preface. */
export async function openRaw({ port, credentials: { ca } }: SocketServer) {
  const socket = await new Promise<TLSSocket>((resolve, reject) => {
    const opening = connect({ port, host: '127.0.0.1', ca, ALPNProtocols: ['h2'] }, () => resolve(opening))
    opening.once('error', reject)
  })
  onTestFinished(() => void socket.destroy())
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  // The server should close the connection while the client writes.
  socket.on('error', () => {})
  let resets = 0
  let answered = 0
  let waiting = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    waiting = Buffer.concat([waiting, chunk])
    for (let length = 0; waiting.length >= 9; waiting = waiting.subarray(length)) {
      length = 9 + waiting.readUIntBE(0, 3)
      if (waiting.length < length) break
      if (waiting[3] === frameTypes.reset) resets += 1
      else if (waiting[3] === frameTypes.data && ((waiting[4] as number) & flags.endStream) !== 0) answered += 1
    }
  })
  socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame('settings', flags.none, 0)]))
  return {
    /** Resolves when the server has closed the connection. */
    closed,
    /** The streams that the server has reset. */
    get resets() {
      return resets
    },
    /** The streams that the server has ended. */
    get answered() {
      return answered
    },
    /** Writes as fast as the server reads; false: the server has ended the connection. */
    async send(bytes: Uint8Array) {
      if (socket.destroyed) return false
      const isDrained = socket.write(bytes)
      if (!isDrained) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed])
      return !socket.destroyed
    },
  }
}
