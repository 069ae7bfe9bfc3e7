import { readFileSync } from 'node:fs'
import { SettingsError } from './setting.ts'

/** The content of a configuration file; `''` is no file. */
export async function loadSettingsFile(path: string): Promise<unknown> {
  if (path === '') return undefined
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new SettingsError(`--config=${path}: the file cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  const { load } = await import('js-yaml')
  try {
    return load(text) ?? {}
  } catch (error) {
    throw new SettingsError(`--config=${path}: the file is not YAML: ${(error as Error).message.split('\n')[0]}`)
  }
}
