import { dirname, resolve } from 'node:path'
import { domainGroup, type Names } from '@orch/core/names'
import { ConfigurationError, type PluginConfiguration, parseVersioned } from '../configuration.ts'

/** Webhook plugins, whose configuration names a file of credentials. */
export const webhookPlugins = ['MutatingAdmissionWebhook', 'ValidatingAdmissionWebhook'] as const

/** The client configuration file of a webhook plugin; undefined for none. */
export function clientConfigFileOf(configuration: PluginConfiguration, names: Names): string | undefined {
  const group = domainGroup(names, 'apiserver.config')
  const { [names.clientConfigFileKey]: path = '', ...rest } = parseVersioned(configuration, [
    { kind: 'WebhookAdmissionConfiguration', apiVersion: `${group}/v1` },
    { kind: 'WebhookAdmission', apiVersion: `${group}/v1alpha1` },
  ])
  const { file } = configuration
  const [stranger] = Object.keys(rest)
  if (stranger !== undefined)
    throw new ConfigurationError(`${file}: ${stranger}: there is no such field; expected ${names.clientConfigFileKey}`)
  if (typeof path !== 'string') throw new ConfigurationError(`${file}: ${names.clientConfigFileKey}: expected the name of a file`)
  return path === '' ? undefined : resolve(dirname(file), path)
}
