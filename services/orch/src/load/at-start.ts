import type { Log } from '@orch/platform'
import { serverIdentity } from '../controllers/open.ts'
import type { Server } from '../server.ts'
import { explained, load } from './load.ts'
import { storeIn } from './store-objects.ts'

/** Loads dumps into a server that is starting. */
export async function loadIntoStarted(server: Server, paths: readonly string[], log: Log): Promise<void> {
  const client = server.clientAs(serverIdentity)
  try {
    const { findings, unread, ...counts } = await explained(() =>
      load(paths, {}, { client, store: storeIn({ client, loadObjects: server.loadObjects }) }),
    )
    for (const { object, file, reason } of findings) log.warn({ object, file }, reason)
    for (const { file, reason } of unread) log.debug({ file }, reason)
    log.info({ ...counts, findings: findings.length, unread: unread.length }, 'the dump is loaded')
  } finally {
    client.close()
  }
}
