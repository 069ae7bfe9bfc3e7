import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { messageOf, type PairFiles, SettingsError, systemCodeOf } from '@orch/platform'

/** The text of a file that a flag names. */
export function readFlagFile(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new SettingsError(`${flag}=${path}: the file cannot be read (${systemCodeOf(error)})`)
  }
}

/** The value in a file that a flag names; an error names both. */
export function parseFlagFile<T>(flag: string, path: string, parse: (text: string) => T): T {
  const text = readFlagFile(flag, path)
  try {
    return parse(text)
  } catch (error) {
    throw new SettingsError(`${flag}=${path}: ${messageOf(error)}`)
  }
}

/** A certificate and its key, each in a file that a flag names. */
export interface PairFlags {
  readonly certificate: { readonly flag: string; readonly path: string }
  readonly key: { readonly flag: string; readonly path: string }
}

/** The texts of both files, which belong together. */
export function readPairFiles({ certificate, key }: PairFlags): { readonly certificate: string; readonly key: string } {
  const texts = { certificate: readCertificateFile(certificate.flag, certificate.path), key: readFlagFile(key.flag, key.path) }
  if (!new X509Certificate(texts.certificate).checkPrivateKey(parseKey(key, texts.key))) {
    throw new SettingsError(`${key.flag}=${key.path}: this is not the key of the certificate in ${certificate.flag}=${certificate.path}`)
  }
  return texts
}

/** Both contents with their paths; undefined if neither file is set. */
export function readPairIfNamed({ certificate, key }: PairFlags) {
  if (certificate.path === '' && key.path === '') return undefined
  if (key.path === '') throw new SettingsError(`${certificate.flag} needs ${key.flag}`)
  if (certificate.path === '') throw new SettingsError(`${key.flag} needs ${certificate.flag}`)
  const files: PairFiles = { certificateFile: certificate.path, keyFile: key.path }
  return { pair: readPairFiles({ certificate, key }), files }
}

/** A user and the password in a file, which must be set together; undefined if neither is. */
export function readPasswordFile(prefix: string, user: string, path: string) {
  if ((user === '') !== (path === '')) throw new SettingsError(`${prefix}-username and ${prefix}-password-file go together`)
  return user === '' ? undefined : { user, password: readFlagFile(`${prefix}-password-file`, path).replace(/\r?\n$/, '') }
}

function parseKey({ flag, path }: PairFlags['key'], text: string): KeyObject {
  try {
    return createPrivateKey(text)
  } catch {
    throw new SettingsError(`${flag}=${path}: the file holds no private key in PEM form`)
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
