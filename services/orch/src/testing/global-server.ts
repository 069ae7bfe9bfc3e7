import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { start } from '../start/start.ts'
import type { StartOptions } from '../start/start-settings.ts'

/** Ends the server of a global set-up. */
export type GlobalTeardown = () => Promise<void>

/**
 * Starts a server for a whole test run, for any number of processes. `KUBECONFIG` names a file with the administrator's client configuration until
 * the returned function is called. The default profile is `kubernetes`.
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
