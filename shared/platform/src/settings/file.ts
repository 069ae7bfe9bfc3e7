import { readFileSync } from 'node:fs'
import { messageOf, systemCodeOf } from '../error-message.ts'
import { SettingsError } from './setting.ts'

/** The content of a configuration file; `''` is no file. */
export async function loadSettingsFile(path: string): Promise<unknown> {
  return path === '' ? undefined : ((await loadYamlFile('--config', path)) ?? {})
}

/** Reads a YAML or JSON file that a flag names, as plain data. */
export async function loadYamlFile(flag: string, path: string): Promise<unknown> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new SettingsError(`${flag}=${path}: the file cannot be read (${systemCodeOf(error)})`)
  }
  // The parser is loaded only where there is something to parse.
  const { readYaml } = await import('@orch/core/yaml')
  try {
    return readYaml(text, { isStrict: true })
  } catch (error) {
    throw new SettingsError(`${flag}=${path}: the file is not YAML: ${messageOf(error).split('\n')[0]}`)
  }
}
