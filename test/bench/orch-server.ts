import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { startServer } from '../profile/server.ts'

const built = new URL('../../services/orch/dist/', import.meta.url).pathname

/** The entry point of `npm start`. BENCH_SERVER names another entry point, such as `main.js`, which needs no bundle. */
export const serverEntry = join(built, process.env.BENCH_SERVER ?? 'bundle/main.js')

export interface Credentials {
  readonly ca: Buffer
  readonly cert: Buffer
  readonly key: Buffer
}

/** The credentials of a connection; without a certificate, its requests send tokens. */
export type Shown = Pick<Credentials, 'ca'> & Partial<Credentials>

/** Runs `orch up` as a separate process with its own folder and port. */
export type OrchServer = Awaited<ReturnType<typeof startOrch>>

export interface OrchOptions {
  readonly memory?: boolean
  readonly folder?: string
  readonly keep?: boolean
  readonly nodeFlags?: readonly string[]
  readonly flags?: readonly string[]
}

export async function startOrch({ memory = false, keep = false, nodeFlags = [], flags = [], folder }: OrchOptions = {}) {
  const all = [...(memory ? ['--memory'] : []), ...flags]
  const server = await startServer({ entry: serverEntry, isDistributed: false, nodeFlags, flags: all, folder })
  const { child, shown, ports } = server
  return {
    child,
    folder: server.folder,
    port: ports[0] ?? 0,
    ...shown,
    async stop() {
      await child.stop('SIGKILL')
      if (!keep) rmSync(server.folder, { recursive: true, force: true })
    },
  }
}
