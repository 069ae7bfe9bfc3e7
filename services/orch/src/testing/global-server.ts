import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { start } from '../start/start.ts'
import type { StartOptions } from '../start/start-settings.ts'

/** Ends the server of a global set-up. */
export type GlobalTeardown = () => Promise<void>

/**
 * A server for a whole run of tests, in however many processes: it starts now, and until the returned function is called
 * `KUBECONFIG` names a file with the administrator's client configuration. Profile `kubernetes` unless the options say otherwise.
 */
export async function startGlobalServer(options: StartOptions = {}): Promise<GlobalTeardown> {
  const server = await start({ profile: 'kubernetes', ...options })
  const folder = mkdtempSync(join(tmpdir(), 'orch-kubeconfig-'))
  const file = join(folder, 'config')
  writeFileSync(file, server.kubeconfig, { mode: 0o600 })
  const before = process.env.KUBECONFIG
  process.env.KUBECONFIG = file
  return async () => {
    if (before === undefined) delete process.env.KUBECONFIG
    else process.env.KUBECONFIG = before
    rmSync(folder, { recursive: true, force: true })
    await server.stop()
  }
}
