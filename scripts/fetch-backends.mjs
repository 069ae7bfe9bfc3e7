/** Downloads the programs that tests need, once, before any test starts. */
import { join } from 'node:path'
import { locateBackend } from '../shared/platform/src/backends/locate.ts'

export default async function fetchBackends({ config }) {
  const cacheFolder = join(config.root, '.cache', 'backends')
  for (const name of ['etcd', 'nats-server']) await locateBackend(name, { cacheFolder, mayFetch: true })
}
