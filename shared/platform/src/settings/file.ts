import { readFileSync } from 'node:fs'
import { messageOf, systemCodeOf } from '../error-message.ts'
import { SettingsError } from './setting.ts'

/** The content of a configuration file; `''` means no file. */
export async function loadSettingsFile(path: string): Promise<unknown> {
  return path === '' ? undefined : ((await loadYamlFile('--config', path)) ?? {})
}

/** The text of a file that a flag names. */
export function readFlagFile(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new SettingsError(`${flag}=${path}: the file cannot be read (${systemCodeOf(error)})`)
  }
}

/** Reads the YAML or JSON file that a flag names, as plain data. */
export async function loadYamlFile(flag: string, path: string, text = readFlagFile(flag, path)): Promise<unknown> {
  // The parser is loaded only if there is a file.
  const { readYaml } = await import('@orch/core/yaml')
  try {
    return readYaml(text, { isStrict: true })
  } catch (error) {
    throw new SettingsError(`${flag}=${path}: the file is not YAML: ${messageOf(error).split('\n')[0]}`)
  }
}
