import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { settingsOf, settingTypes } from '@orch/platform'
import { storeFiles } from '@orch/storage'
import type { Terminal } from '../process/terminal.ts'
import { readCommandSettings } from '../settings/general.ts'
import { StartError } from '../start-error.ts'
import { lockDataFolder } from '../storage/data-folder.ts'
import { instanceSettings, oneInstance } from './folders.ts'

/** All settings of `orch reset`. */
export const resetSettings = {
  ...instanceSettings,
  yes: settingsOf('Server')(
    { flag: '--yes', env: 'ORCH_RESET_YES', type: settingTypes.bool, default: 'false' },
    'Deletes the objects; without it the command only prints what it would delete.',
  ),
}

/** File and folder names of the state: of a server in one process, and of the etcd and NATS of `orch up --distributed`. */
const stateNames = [...storeFiles, 'etcd', 'nats']

/**
 * `orch reset`: deletes all objects of a data folder. Certificates and keys stay, so that client configurations remain valid. It refuses a folder
 * with a running server.
 */
export async function reset(terminal: Terminal, flags: readonly string[]): Promise<number> {
  const { values } = await readCommandSettings(resetSettings, terminal, flags)
  const { folder, name, owner } = oneInstance(terminal, values)
  if (owner !== undefined) throw new StartError(`${name}: process ${owner.pid} serves it; stop it first: orch stop`)
  const found = stateNames.filter((file) => existsSync(join(folder, file)))
  if (found.length === 0) {
    terminal.out(`${name}: holds no objects\n`)
    return 0
  }
  if (!values.yes) {
    terminal.out(`${name}: would delete all objects, in ${found.join(', ')}; certificates stay. Repeat it with --yes\n`)
    return 1
  }
  // No server can start on the folder meanwhile.
  const lock = lockDataFolder(folder)
  for (const file of found) rmSync(join(folder, file), { recursive: true, force: true })
  lock.release()
  terminal.out(`${name}: all objects have been deleted\n`)
  return 0
}
