import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type RunningServer, start } from 'orch'

/** A message to the server's process. */
export type ToBusyServer = { readonly kind: 'link' } | { readonly kind: 'work' } | { readonly kind: 'trace'; readonly path: string }

/** The work of the process so far. */
export interface BusyServerWork {
  readonly changes: number
  readonly cpuMs: number
}

/** The number of objects in each of the namespaces `n0` to `n9`. */
const mapsPerNamespace = 1_000
const namespaces = Array.from({ length: 10 }, (_, index) => `n${index}`)
const changesPerSecond = 1_000
/** Namespaces whose objects change. */
const busyNamespaces = namespaces.slice(0, 8)
/** Changes that are open at once: enough for all of the server's thread. */
const changesAtOnce = 32
const turnMs = 20

/**
 * Runs a server with 10,000 objects in a separate process and changes up to a thousand objects a second. In the same process, the load would slow the
 * measurement of the page.
 */
const server = await start({ console: true, control: true, profile: 'kubernetes', nodes: 2 })
const objects = namespaces.flatMap((namespace) => [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  ...Array.from({ length: mapsPerNamespace }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `map-${index}`, namespace },
    data: { round: '' },
  })),
])
const folder = mkdtempSync(join(tmpdir(), 'busy-server-'))
writeFileSync(join(folder, 'maps.json'), JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }))
await server.load(folder)
rmSync(folder, { recursive: true })
let written = 0
void writeSteadily(server)

process.on('message', async (message: ToBusyServer) => {
  switch (message.kind) {
    case 'link':
      return process.send?.(await server.console())
    case 'work': {
      const { user, system } = process.cpuUsage()
      return process.send?.({ changes: written, cpuMs: (user + system) / 1_000 } satisfies BusyServerWork)
    }
    case 'trace':
      await server.saveTrace(message.path, { test: 'large' })
      return process.send?.('saved')
  }
})
process.on('disconnect', () => process.exit(0))
process.send?.('ready')

/** A late turn is made up for by the next ones, within a second: an average over a visit says whether the machine has time for the changes. */
async function writeSteadily({ user }: RunningServer): Promise<void> {
  const { objects: client } = user('operator').client
  const write = async (index: number) => {
    const map = { apiVersion: 'v1', kind: 'ConfigMap', name: `map-${(index * 7) % mapsPerNamespace}` }
    const namespace = busyNamespaces[index % busyNamespaces.length] ?? ''
    await client.patch({ ...map, namespace }, { data: { round: String(index) } }, { type: 'merge' })
    written += 1
  }
  let next = 0
  for (let lastMs = performance.now(), owed = 0; ; ) {
    const nowMs = performance.now()
    owed = Math.min(changesPerSecond, owed + ((nowMs - lastMs) * changesPerSecond) / 1_000)
    lastMs = nowMs
    const count = Math.min(changesAtOnce, Math.floor(owed))
    owed -= count
    await Promise.all(Array.from({ length: count }, () => write(next++)))
    if (owed < 1) await sleep(turnMs)
  }
}
