import { type ControllerName, type SecretTokenOptions, selectControllers } from '@orch/controllers'
import { messageOf, parseSigningKey, SettingsError, type Values } from '@orch/platform'
import { readCertificateFile, readFlagFile } from '../configuration/flag-files.ts'
import type { accountKeySettings, controllersSettings } from './settings.ts'

/** The controllers that words such as `*` and `-namespace` mean. */
export function readControllers({ controllers }: Values<typeof controllersSettings>): ControllerName[] {
  try {
    return selectControllers(controllers)
  } catch (error) {
    throw new SettingsError(`--controllers: ${messageOf(error)}`)
  }
}

/** Whether controllers do what a controller manager is there for; the others belong to the API server. */
export function isControllerManager(controllers: readonly ControllerName[]): boolean {
  return controllers.includes('namespace') || controllers.includes('garbage-collector')
}

type TokenValues = Values<typeof controllersSettings> & Values<typeof accountKeySettings>

/** How tokens are made that lie in Secrets; undefined: they are not made, as there is no key. */
export function readSecretTokens(settings: TokenValues, ownAuthority: string): SecretTokenOptions | undefined {
  const { serviceAccountPrivateKeyFile: path, rootCaFile, controllers } = settings
  if (path === '') {
    if (controllers.includes('serviceaccount-token')) {
      throw new SettingsError('--controllers=serviceaccount-token needs --service-account-private-key-file')
    }
    if (rootCaFile !== '') throw new SettingsError('--root-ca-file has no effect without --service-account-private-key-file')
    return undefined
  }
  return {
    signingKey: readKey(path),
    certificateAuthority: rootCaFile === '' ? ownAuthority : readCertificateFile('--root-ca-file', rootCaFile),
  }
}

function readKey(path: string) {
  const flag = '--service-account-private-key-file'
  const text = readFlagFile(flag, path)
  try {
    return parseSigningKey(text)
  } catch (error) {
    throw new SettingsError(`${flag}=${path}: ${messageOf(error)}`)
  }
}
