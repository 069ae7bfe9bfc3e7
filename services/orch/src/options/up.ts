import { resolve } from 'node:path'
import type { ControllerName } from '@orch/controllers'
import { namesOf, type Profile } from '@orch/core'
import { flagText, loadSettingsFile, readSettings, type Settings, type Values } from '@orch/platform'
import type { Terminal } from '../command-line.ts'
import { upSettings } from '../settings/up.ts'
import { readControllers } from './controllers.ts'
import { type GatewayGroups, readGateway } from './gateway.ts'

/** What `orch up` was told, checked. */
export interface UpOptions extends GatewayGroups {
  readonly settings: Values<typeof upSettings>
  readonly dataDir: string
  readonly controllers: readonly ControllerName[]
}

/** Reads flags, environment and file, and refuses what does not go together. */
export async function readUpOptions(terminal: Terminal, flags: readonly string[]): Promise<UpOptions> {
  const settings = await readCommandSettings(upSettings, terminal, flags)
  return {
    settings,
    dataDir: resolve(terminal.workingFolder, settings.dataDir === '' ? defaultDataDir(settings.profile) : settings.dataDir),
    controllers: readControllers(settings),
    ...readGateway(settings),
  }
}

/** The settings of a command from flags, environment and the file that `--config` names. */
export async function readCommandSettings<S extends Settings & Pick<typeof upSettings, 'config'>>(
  settings: S,
  terminal: Terminal,
  flags: readonly string[],
): Promise<Values<S>> {
  const { config } = settings
  const path = flagText(flags, config.flag) ?? terminal.env[config.env] ?? ''
  const file = await loadSettingsFile(path === '' ? '' : resolve(terminal.workingFolder, path))
  return readSettings(settings, { flags, env: terminal.env, file }).values
}

/** The folder of a profile's data, below the working folder. */
export function defaultDataDir(profile: Profile): string {
  return `.${namesOf('orch').serverServiceName}/${profile}`
}
