import { resolve } from 'node:path'
import { namesOf, type Profile, profiles } from '@orch/core/names'
import {
  eachSetting,
  flagText,
  loadSettingsFile,
  logFormats,
  logLevels,
  readSettings,
  type Settings,
  type SettingsResult,
  settingsOf,
  settingTypes,
} from '@orch/platform'
import { printComplaint, type Terminal } from '../process/terminal.ts'
import { flagsElsewhere } from './elsewhere.ts'

const { oneOf, path } = settingTypes
const setting = settingsOf('General')

/** Settings of every command. */
export const generalSettings = {
  config: setting(
    { flag: '--config', type: path },
    'YAML file with settings. The key of a setting is its flag without the leading dashes.',
  ),
  profile: setting(
    { flag: '--profile', type: oneOf(profiles), default: 'orch' },
    'Names of API groups, labels and namespaces: orch uses its own, kubernetes uses those that kubectl and other existing clients expect.',
  ),
  logLevel: setting(
    { flag: '--log-level', type: oneOf(logLevels), default: 'info' },
    'Lowest level of the log lines that are written to standard error.',
  ),
  logFormat: setting({ flag: '--log-format', type: oneOf(logFormats), default: 'text' }, 'json for machines, text for people.'),
}

/** The settings of a command from flags, the environment and the file in `--config`. */
export async function readCommandSettings<S extends Settings & Pick<typeof generalSettings, 'config' | 'logFormat'>>(
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

/** The data folder of a profile, below the working folder. */
export function defaultDataDir(profile: Profile): string {
  return `.${namesOf('orch').serverServiceName}/${profile}`
}

/** Flags with their values, separated by paths. */
export function splitWords(settings: Settings, words: readonly string[]) {
  const flags: string[] = []
  const paths: string[] = []
  const takesWord = eachSetting(settings).flatMap(({ flag, type }): string[] => (type.word === '' ? [] : [flag]))
  for (const [index, word] of words.entries()) {
    const isFlag = word.startsWith('-') || takesWord.includes(words[index - 1] ?? '')
    if (isFlag) flags.push(word)
    else paths.push(word)
  }
  return { flags, paths }
}
