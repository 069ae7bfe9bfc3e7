import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PodBody, pod } from '../profile/load.ts'
import { configMap } from './figure.ts'
import { bodyRequest, type Connection, getRequest, openConnections } from './http1-load.ts'
import { type OrchServer, type Shown, startOrch } from './orch-server.ts'
import { Child } from './process.ts'

const floorEntry = new URL('./floor-server.ts', import.meta.url).pathname

/** A floor server with the orch server's certificate, so that both use the same TLS. */
export async function startFloor(mode: string, folder: string, ...sizes: readonly number[]): Promise<{ child: Child; port: number }> {
  const child = new Child([floorEntry, mode, folder, ...sizes.map(String)])
  const [, port] = await child.printed(/port (\d+)/)
  return { child, port: Number(port) }
}

/** Creates `count` ConfigMaps of `bytes` bytes; every hundredth has the label `rare=yes`. */
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

/** Creates the namespaces, and then this number of Pods of 3 KB in each; every hundredth Pod has the label `rare=yes`. */
export async function fillPods(server: OrchServer, namespaces: readonly string[], each: number): Promise<void> {
  const connections = await openConnections(32, server.port, server)
  const create = async (connection: Connection, path: string, body: unknown) => {
    const answer = await connection.send(bodyRequest('POST', path, body), true)
    return answer.status === 201 ? undefined : `create answered ${answer.status}: ${answer.body}`
  }
  const podsOf = async (connection: Connection, namespace: string) => {
    if (namespace !== 'default') await create(connection, '/api/v1/namespaces', { metadata: { name: namespace } })
    for (let index = 0; index < each; index++) {
      const made = labelled(pod(`p-${String(index).padStart(5, '0')}`), index)
      // A controller makes the Pods' account a moment after the namespace.
      for (let attempt = 0; ; attempt++) {
        const refused = await create(connection, `/api/v1/namespaces/${namespace}/pods`, made)
        if (refused === undefined) break
        if (index > 0 || attempt === 200) throw new Error(refused)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
  }
  let next = 0
  await Promise.all(
    connections.map(async (connection) => {
      while (next < namespaces.length) await podsOf(connection, namespaces[next++] ?? '')
      connection.close()
    }),
  )
}

function labelled(made: PodBody, index: number): PodBody {
  const labels = { ...made.metadata.labels, rare: index % 100 === 0 ? 'yes' : 'no' }
  return { ...made, metadata: { ...made.metadata, labels } }
}

/** The latest revision; a watch from it shows later changes. */
export async function revisionNow(server: OrchServer): Promise<string> {
  return await withConnections(1, server.port, server, async ([connection]) => {
    const answer = await connection?.send(getRequest('/api/v1/namespaces/default/configmaps?limit=1'), true)
    return (JSON.parse(String(answer?.body)) as { metadata: { resourceVersion: string } }).metadata.resourceVersion
  })
}
