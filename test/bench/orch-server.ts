import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Child } from './process.ts'

const built = new URL('../../services/orch/dist/', import.meta.url).pathname

/** The entry point of `npm start`. BENCH_SERVER names another entry point, such as `main.js`, which needs no bundle. */
export const serverEntry = join(built, process.env.BENCH_SERVER ?? 'bundle/main.js')

/** The same flags as `npm start` gives. */
const serverNodeFlags = ['--max-semi-space-size=16', '--min-semi-space-size=8']

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

export async function startOrch({ memory = false, folder, keep = false, nodeFlags = [], flags = [] }: OrchOptions = {}) {
  const dataFolder = folder ?? mkdtempSync(join(tmpdir(), 'orch-bench-'))
  const all = [
    ...serverNodeFlags,
    ...nodeFlags,
    serverEntry,
    'up',
    '--secure-port=0',
    `--data-dir=${dataFolder}`,
    ...(memory ? ['--memory'] : []),
    ...flags,
  ]
  const child = new Child(all)
  const [, port] = await child.printed(/https:\/\/[^\s:]+:(\d+)/)
  await child.printed(/ready/i)
  const read = (name: string): Buffer => readFileSync(join(dataFolder, name))
  return {
    child,
    folder: dataFolder,
    port: Number(port),
    ca: read('ca.crt'),
    cert: read('admin.crt'),
    key: read('admin.key'),
    async stop() {
      await child.stop('SIGKILL')
      if (!keep) rmSync(dataFolder, { recursive: true, force: true })
    },
  }
}
