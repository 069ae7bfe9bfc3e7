import { setTimeout } from 'node:timers/promises'
import { settingsOf, settingTypes, systemClock } from '@orch/platform'
import { directoryOwner } from '@orch/storage'
import type { Terminal } from '../process/terminal.ts'
import { readCommandSettings } from '../settings/general.ts'
import { StartError } from '../start-error.ts'
import { instanceSettings, oneInstance } from './folders.ts'

/** All settings of `orch stop`. */
export const stopSettings = {
  ...instanceSettings,
  timeout: settingsOf('Server')(
    { flag: '--timeout', env: 'ORCH_STOP_TIMEOUT', type: settingTypes.duration, default: '60s' },
    'Longest wait for the end of the server. It is not killed afterwards.',
  ),
}

/** The interval of checks of the folder's lock. */
const lookMs = 20

/** `orch stop`: stops the server of a data folder gracefully, and returns when its folder is unlocked. It does nothing if no server runs. */
export async function stop(terminal: Terminal, flags: readonly string[]): Promise<number> {
  const { values } = await readCommandSettings(stopSettings, terminal, flags)
  const { folder, name, owner } = oneInstance(terminal, values)
  if (owner === undefined) {
    terminal.out(`${name}: no server runs on it\n`)
    return 0
  }
  process.kill(owner.pid, 'SIGTERM')
  const endMs = systemClock.now() + values.timeout
  while (directoryOwner(folder)?.pid === owner.pid) {
    if (systemClock.now() >= endMs)
      throw new StartError(`${name}: process ${owner.pid} has not ended within the --timeout; it goes on ending`)
    // The process has no other work, and the clock's timers would not keep it alive.
    await setTimeout(lookMs)
  }
  terminal.out(`${name}: process ${owner.pid} has ended\n`)
  return 0
}
