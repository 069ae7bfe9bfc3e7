import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { configMap } from './figure.ts'
import { bodyRequest, type Connection, openConnections } from './http1-load.ts'
import { type OrchServer, type Shown, startOrch } from './orch-server.ts'
import { Child } from './process.ts'

const floorEntry = new URL('./floor-server.ts', import.meta.url).pathname

/** A floor server with the certificate of the orch server beside it, so that both speak the same TLS. */
export async function startFloor(mode: string, folder: string, ...sizes: readonly number[]): Promise<{ child: Child; port: number }> {
  const child = new Child([floorEntry, mode, folder, ...sizes.map(String)])
  const [, port] = await child.printed(/port (\d+)/)
  return { child, port: Number(port) }
}

/** Creates `count` ConfigMaps of `bytes` bytes, every hundredth with the label `rare=yes`. */
export async function fill(server: OrchServer, count: number, bytes: number): Promise<void> {
  const connections = await openConnections(32, server.port, server)
  let next = 0
  await Promise.all(
    connections.map(async (connection) => {
      while (next < count) {
        const index = next++
        const labels = { rare: index % 100 === 0 ? 'yes' : 'no' }
        const object = configMap(`bench-${String(index).padStart(6, '0')}`, bytes, labels)
        const answer = await connection.send(bodyRequest('POST', '/api/v1/namespaces/default/configmaps', object), true)
        if (answer.status !== 201) throw new Error(`create answered ${answer.status}: ${answer.body}`)
      }
    }),
  )
  for (const connection of connections) connection.close()
}

export async function withOrch<T>(options: Parameters<typeof startOrch>[0], use: (server: OrchServer) => Promise<T>): Promise<T> {
  const server = await startOrch(options)
  try {
    return await use(server)
  } finally {
    await server.stop()
  }
}

export async function withConnections<T>(
  count: number,
  port: number,
  credentials: Shown,
  use: (connections: Connection[]) => Promise<T>,
): Promise<T> {
  const connections = await openConnections(count, port, credentials)
  try {
    return await use(connections)
  } finally {
    for (const connection of connections) connection.close()
  }
}

export async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'orch-bench-'))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
