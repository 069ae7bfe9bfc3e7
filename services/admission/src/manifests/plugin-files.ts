import { dirname, isAbsolute, resolve } from 'node:path'
import { type Catalogue, staticNameGate } from '@orch/core/catalogue'
import { domainGroup } from '@orch/core/names'
import { ConfigurationError, type PluginConfiguration, parseVersioned } from '../configuration.ts'
import type { ManifestPlugin } from './read-manifests.ts'

/** The files that a plugin's configuration names; undefined for none. */
export interface PluginFiles {
  /** The client configuration with credentials for webhooks. */
  readonly clientConfigFile: string | undefined
  readonly manifestsFolder: string | undefined
}

/** The field of a configuration that names the folder of manifests. */
export const manifestsFolderKey = 'staticManifestsDir'

/** The files in the configuration of a plugin for webhooks or policies. */
export function pluginFilesOf(
  plugin: ManifestPlugin,
  configuration: PluginConfiguration,
  { names, isGateOn }: Pick<Catalogue, 'names' | 'isGateOn'>,
): PluginFiles {
  const group = domainGroup(names, 'apiserver.config')
  const isForWebhooks = plugin.endsWith('Webhook')
  const known = isForWebhooks
    ? [
        { kind: 'WebhookAdmissionConfiguration', apiVersion: `${group}/v1` },
        { kind: 'WebhookAdmission', apiVersion: `${group}/v1alpha1` },
      ]
    : [{ kind: `${plugin}Configuration`, apiVersion: `${group}/v1` }]
  const { [manifestsFolderKey]: folder = '', ...others } = parseVersioned(configuration, known)
  const path = (isForWebhooks && others[names.clientConfigFileKey]) || ''
  const { file } = configuration
  const expected = isForWebhooks ? `${names.clientConfigFileKey} or ${manifestsFolderKey}` : manifestsFolderKey
  const stranger = Object.keys(others).find((key) => !isForWebhooks || key !== names.clientConfigFileKey)
  if (stranger !== undefined) throw new ConfigurationError(`${file}: ${stranger}: there is no such field; expected ${expected}`)
  if (typeof path !== 'string') throw new ConfigurationError(`${file}: ${names.clientConfigFileKey}: expected the name of a file`)
  if (typeof folder !== 'string' || (folder !== '' && !isAbsolute(folder)))
    throw new ConfigurationError(`${file}: ${manifestsFolderKey}: expected the absolute path of a folder`)
  if (folder !== '' && !isGateOn(staticNameGate))
    throw new ConfigurationError(`${file}: ${manifestsFolderKey}: the feature gate ${staticNameGate} is off`)
  return {
    clientConfigFile: path === '' ? undefined : resolve(dirname(file), path),
    manifestsFolder: folder === '' ? undefined : folder,
  }
}
