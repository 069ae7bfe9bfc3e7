import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { SettingsError } from '@orch/platform'

/** The text of a file that a flag names. */
export function readFlagFile(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new SettingsError(`${flag}=${path}: the file cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

/** The text of a file of certificates that a flag names. */
export function readCertificateFile(flag: string, path: string): string {
  const text = readFlagFile(flag, path)
  try {
    new X509Certificate(text)
  } catch {
    throw new SettingsError(`${flag}=${path}: the file holds no certificate in PEM form`)
  }
  return text
}
