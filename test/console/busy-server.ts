import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type RunningServer, start } from 'orch'

/** A message to the process. */
export type ToBusyServer = { readonly kind: 'link' } | { readonly kind: 'count' } | { readonly kind: 'trace'; readonly path: string }

/** Objects of each of the namespaces `n0` to `n9`. */
const mapsPerNamespace = 1_000
const namespaces = Array.from({ length: 10 }, (_, index) => `n${index}`)
const changesPerSecond = 1_000
const writersAtOnce = 8
/** A part of a second for which changes are owed: a process that had to wait longer does not catch up in a burst. */
const turnMs = 100

/**
 * A process with a server of 10,000 objects, of which a thousand change each second as far as the machine can. It is one of its own, as the
 * measuring of a page would slow it down.
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
    case 'count':
      return process.send?.(written)
    case 'trace':
      await server.saveTrace(message.path, { test: 'large' })
      return process.send?.('saved')
  }
})
process.on('disconnect', () => process.exit(0))
process.send?.('ready')

async function writeSteadily({ user }: RunningServer): Promise<void> {
  const { objects: client } = user('operator').client
  for (let round = 0; ; round++) {
    const startedMs = performance.now()
    let owed = (changesPerSecond * turnMs) / 1_000
    const write = async (namespace = '') => {
      while (owed-- > 0) {
        const map = { apiVersion: 'v1', kind: 'ConfigMap', name: `map-${(round * 7 + owed) % mapsPerNamespace}`, namespace }
        await client.patch(map, { data: { round: `${round} ${owed}` } }, { type: 'merge' })
        written += 1
      }
    }
    await Promise.all(namespaces.slice(0, writersAtOnce).map(write))
    await sleep(Math.max(0, turnMs - (performance.now() - startedMs)))
  }
}
