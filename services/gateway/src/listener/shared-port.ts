import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { systemCodeOf } from '@orch/platform'

/** True if several listeners of a process can share a port on this system. */
export const canSharePorts = process.platform === 'linux'

/** An address to listen on. */
export interface PortAddress {
  readonly host: string
  readonly port: number
}

/** Longest wait for another server that is about to open the same port. */
const claimAttempts = 200
const claimPauseMs = 5

/**
 * Opens a port that further listeners of this process will share. Linux lets any process of the same user join such a port, which would then get some of
 * the connections: so a plain listen is tried first, and a lock prevents two servers from doing both at once. Rejects with EADDRINUSE if something
 * listens.
 */
export async function openSharedPort(address: PortAddress, listen: () => Promise<void>): Promise<void> {
  if (address.port === 0) return await listen()
  // An abstract socket name, which the kernel releases with its holder, like a port.
  const claim = await claimName(`\0listen-${address.port}`)
  try {
    await tryAlone(address)
    await listen()
  } finally {
    await closed(claim)
  }
}

async function claimName(path: string): Promise<Server> {
  for (let attempt = 1; ; attempt += 1) {
    const server = createServer()
    try {
      server.listen({ path })
      await once(server, 'listening')
      return server
    } catch (error) {
      if (systemCodeOf(error) !== 'EADDRINUSE' || attempt === claimAttempts) throw error
      await setTimeout(claimPauseMs)
    }
  }
}

/** Listens briefly without sharing the port. */
async function tryAlone({ host, port }: PortAddress): Promise<void> {
  const server = createServer((socket) => socket.destroy())
  server.listen({ host, port })
  await once(server, 'listening')
  await closed(server)
}

async function closed(server: Server): Promise<void> {
  await new Promise<void>((resolve) => server.close(() => resolve()))
}
