import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way between two processes that a test can harm. */
export interface Link {
  readonly port: number
  /** Bytes are thrown away until `hear`: those of the caller, or those of the one that answers. */
  mute(side: 'caller' | 'callee'): void
  hear(): void
  /** Ends every connection with a reset; new ones are let through. */
  cut(): void
  /** Connections that are open. */
  readonly connections: number
  close(): void
}

/** A port in front of another one on this machine. */
export async function openLink(targetPort: number): Promise<Link> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let muted: 'caller' | 'callee' | undefined
  const server = createServer((near) => {
    const far = connect(targetPort, '127.0.0.1')
    const pair = [near, far] as const
    pairs.add(pair)
    carry(near, far, () => muted === 'caller')
    carry(far, near, () => muted === 'callee')
    for (const socket of pair) socket.on('close', () => pairs.delete(pair))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    for (const pair of pairs) for (const socket of pair) socket.resetAndDestroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    mute(side) {
      muted = side
    },
    hear() {
      muted = undefined
    },
    cut,
    get connections() {
      return pairs.size
    },
    close() {
      server.close()
      cut()
    },
  }
}

function carry(from: Socket, to: Socket, isLost: () => boolean): void {
  from.setNoDelay(true)
  from.on('data', (bytes) => {
    if (isLost() || to.destroyed) return
    if (to.write(bytes)) return
    from.pause()
    to.once('drain', () => from.resume())
  })
  from.on('end', () => to.end())
  from.on('error', () => {})
  from.on('close', () => to.destroy())
}
