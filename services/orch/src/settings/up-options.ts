import { resolve } from 'node:path'
import type { ControllerName } from '@orch/controllers'
import { namesOf, type Profile } from '@orch/core/names'
import {
  flagText,
  flagTexts,
  loadSettingsFile,
  readSettings,
  type Settings,
  SettingsError,
  type SettingsResult,
  type Values,
} from '@orch/platform'
import { type AdmissionSettings, readAdmission } from '../admission/options.ts'
import { readControllers } from '../controllers/options.ts'
import { sharedWhereSingle } from '../distributed/up-settings.ts'
import { type GatewayGroups, readGateway } from '../gateway/options.ts'
import { printComplaint } from '../print-line.ts'
import type { Terminal } from '../process/terminal.ts'
import { flagsElsewhere } from './elsewhere.ts'
import { checkThreads } from './threads-options.ts'
import { upSettings } from './up.ts'

/** Settings of `orch up`, checked. */
export interface UpOptions extends GatewayGroups {
  readonly settings: Values<typeof upSettings>
  /** What was given, by flag, to be handed on to other processes. */
  readonly texts: ReadonlyMap<string, string>
  readonly dataDir: string
  readonly controllers: readonly ControllerName[]
  readonly admission: AdmissionSettings
}

/** Reads flags, environment and file, and refuses what does not go together. */
export async function readUpOptions(terminal: Terminal, flags: readonly string[]): Promise<UpOptions> {
  const { values, texts } = await readCommandSettings(upSettings, terminal, flags)
  const settings = sharedWhereSingle(values, texts)
  checkDistributed(settings, texts)
  const groups = readGateway(settings)
  checkThreads({ settings, ...groups })
  return {
    settings,
    texts,
    dataDir: resolve(terminal.workingFolder, settings.dataDir === '' ? defaultDataDir(settings.profile) : settings.dataDir),
    controllers: readControllers(settings),
    admission: readAdmission(settings),
    ...groups,
    flags: flagTexts(upSettings, texts),
  }
}

function checkDistributed({ distributed, memory }: Values<typeof upSettings>, texts: ReadonlyMap<string, string>): void {
  if (distributed && memory) throw new SettingsError('--memory with --distributed: services apart keep their objects in etcd')
  const { gateways, storages, watches, admissions, controllerReplicas } = upSettings
  const counts = [gateways, storages, watches, admissions, controllerReplicas]
  const useless = distributed ? undefined : counts.find(({ flag }) => texts.has(flag))
  if (useless !== undefined) throw new SettingsError(`${useless.flag} needs --distributed: in one process there is one of each service`)
}

/** The settings of a command from flags, environment and the file that `--config` names. */
export async function readCommandSettings<S extends Settings & Pick<typeof upSettings, 'config' | 'logFormat'>>(
  settings: S,
  terminal: Terminal,
  flags: readonly string[],
): Promise<SettingsResult<S>> {
  const { config } = settings
  const path = flagText(flags, config.flag) ?? terminal.env[config.env] ?? ''
  const file = await loadSettingsFile(path === '' ? '' : resolve(terminal.workingFolder, path))
  const result = readSettings(settings, { flags, env: terminal.env, file, elsewhere: flagsElsewhere })
  const format = result.texts.get('--log-format') === 'json' ? 'json' : 'text'
  for (const warning of result.warnings) terminal.error(printComplaint(format, 'warn', warning))
  return result
}

/** The folder of a profile's data, below the working folder. */
export function defaultDataDir(profile: Profile): string {
  return `.${namesOf('orch').serverServiceName}/${profile}`
}
