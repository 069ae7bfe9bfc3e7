import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ConfigurationError, clientConfigFileOf, type PluginConfiguration, parseWebhookCredentials, webhookPlugins } from '@orch/admission'
import type { Names } from '@orch/core/names'
import { loadYamlFile, systemCodeOf } from '@orch/platform'
import type { WebhookCredentials } from '@orch/platform/webhooks'

/** Who the server is to webhooks, by plugin: from the client configuration files that the plugins' configurations name. */
export async function readWebhookCredentials(
  flag: string,
  configurations: ReadonlyMap<string, PluginConfiguration>,
  names: Names,
): Promise<ReadonlyMap<string, WebhookCredentials>> {
  const credentials = new Map<string, WebhookCredentials>()
  for (const plugin of webhookPlugins) {
    const configuration = configurations.get(plugin)
    const file = configuration?.value == null ? undefined : clientConfigFileOf(configuration, names)
    if (file === undefined) continue
    const document = await loadYamlFile(flag, file)
    credentials.set(
      plugin,
      parseWebhookCredentials(document, (path) => readBeside(file, path)),
    )
  }
  return credentials
}

function readBeside(file: string, path: string): string {
  try {
    return readFileSync(resolve(dirname(file), path), 'utf8')
  } catch (error) {
    throw new ConfigurationError(`${file}: ${path} cannot be read (${systemCodeOf(error)})`, { cause: error })
  }
}
