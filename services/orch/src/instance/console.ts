import { join } from 'node:path'
import { createClient, createTransport, isRefusal, loadConfiguration } from '@orch/client'
import { systemClock } from '@orch/platform'
import { consoleLink } from '../console/open.ts'
import type { Terminal } from '../process/terminal.ts'
import { readCommandSettings } from '../settings/general.ts'
import { StartError } from '../start-error.ts'
import { instanceSettings, oneInstance } from './folders.ts'

/** `orch console`: prints a link that opens the console once, within a minute, as the administrator. */
export async function console(terminal: Terminal, flags: readonly string[]): Promise<number> {
  const { values } = await readCommandSettings(instanceSettings, terminal, flags)
  const { folder, name, owner } = oneInstance(terminal, values)
  if (owner === undefined) throw new StartError(`${name}: no server runs on it; start one with orch up`)
  const { env, error } = terminal
  const configuration = await loadConfiguration(join(folder, 'admin.conf'))
  const client = createClient(createTransport(configuration, { now: () => systemClock.now(), env, isInteractive: false, say: error }))
  try {
    terminal.out(`${await consoleLink(client)}\n`)
    return 0
  } catch (failure) {
    if (!isRefusal(failure, [404])) throw failure
    throw new StartError(`${name}: its server has no console; start it with --console=true`)
  } finally {
    client.close()
  }
}
