/** Names the programs that services apart need and this machine lacks, and how to install them; undefined if all are present. */
import { join } from 'node:path'
import { locateBackend } from '../../shared/platform/src/backends/locate.ts'

const cacheFolder = join(import.meta.dirname, '../../.cache/backends')
for (const name of ['etcd', 'nats-server'] as const) {
  const located = await locateBackend(name, { cacheFolder, mayFetch: true })
  if (located.kind === 'missing') process.stdout.write(`${located.reason}\n`)
}
