import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A connection path between two processes that a test can harm. */
export interface Link {
  readonly port: number
  /** Drops the bytes of one side until `hear`. */
  mute(side: 'caller' | 'callee'): void
  /** Drops all bytes: for ever on open connections, like a firewall that has forgotten them, and until `hear` on new connections. */
  silence(): void
  /** Closes the callee's side of every connection without telling the caller, and then drops the caller's bytes. */
  leaveHalfOpen(): void
  /** Damages one byte in each of the next chunks, in either direction. */
  flip(chunks: number): void
  /** Delays every chunk by this time, in both directions; 0 ends the delay. */
  delay(delayMs: number): void
  /** Forwards new connections again and mutes no side. */
  hear(): void
  /** Resets every connection; forwards new connections. */
  cut(): void
  /** The number of chunks that are still to be damaged. */
  readonly flipsLeft: number
  /** The number of connections opened so far. */
  readonly opened: number
  /** The number of open connections. */
  readonly connections: number
  /** The time of the caller's last undamaged chunk, by the monotonic clock; 0: never. */
  readonly heardMs: number
  close(): void
}

interface Pair {
  readonly near: Socket
  readonly far: Socket
  /** The link forwards nothing on this connection any more. */
  isDead: boolean
}

/** A port in front of another port on this machine. */
export async function openLink(targetPort: number): Promise<Link> {
  const pairs = new Set<Pair>()
  let muted: 'caller' | 'callee' | undefined
  let isSilent = false
  let flips = 0
  let delayMs = 0
  let heardMs = 0
  let opened = 0
  const carry = (pair: Pair, from: Socket, to: Socket, side: 'caller' | 'callee') => {
    from.setNoDelay(true)
    from.on('data', (bytes) => {
      if (isSilent) pair.isDead = true
      if (pair.isDead || muted === side) return
      const isDamaged = flips > 0
      if (isDamaged) {
        flips -= 1
        const at = bytes.length >> 1
        bytes[at] = (bytes[at] ?? 0) ^ 0x10
      }
      const send = () => {
        if (to.destroyed || pair.isDead) return
        if (side === 'callee' && !isDamaged) heardMs = performance.now()
        if (to.write(bytes)) return
        from.pause()
        to.once('drain', () => from.resume())
      }
      if (delayMs === 0) send()
      else setTimeout(send, delayMs)
    })
    from.on('end', () => {
      if (!pair.isDead) to.end()
    })
    from.on('error', () => {})
    from.on('close', () => {
      if (!pair.isDead || side === 'caller') to.destroy()
    })
  }
  const server = createServer((near) => {
    const far = connect(targetPort, '127.0.0.1')
    const pair: Pair = { near, far, isDead: isSilent }
    pairs.add(pair)
    opened += 1
    carry(pair, near, far, 'caller')
    carry(pair, far, near, 'callee')
    near.on('close', () => pairs.delete(pair))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    for (const { near, far } of pairs) for (const socket of [near, far]) socket.resetAndDestroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    mute(side) {
      muted = side
    },
    silence() {
      isSilent = true
      for (const pair of pairs) pair.isDead = true
    },
    leaveHalfOpen() {
      for (const pair of pairs) {
        pair.isDead = true
        pair.far.destroy()
      }
    },
    flip(chunks) {
      flips = chunks
    },
    delay(wantedMs) {
      delayMs = wantedMs
    },
    hear() {
      muted = undefined
      isSilent = false
      flips = 0
      delayMs = 0
    },
    cut,
    get flipsLeft() {
      return flips
    },
    get opened() {
      return opened
    },
    get connections() {
      return pairs.size
    },
    get heardMs() {
      return heardMs
    },
    close() {
      server.close()
      cut()
    },
  }
}
