import { domainGroup, namesOf, profiles } from '@orch/core/names'
import { SettingsError, settingsOf, settingTypes, type Values } from '@orch/platform'

const { duration, path, string } = settingTypes
const setting = settingsOf('Authentication')

/** A server that authenticates tokens. */
export const tokenWebhookSettings = {
  tokenWebhookConfigFile: setting(
    { flag: '--authentication-token-webhook-config-file', type: path },
    'Client configuration file of the webhook that receives TokenReviews for tokens that no other authenticator accepts.',
  ),
  tokenWebhookVersion: setting(
    { flag: '--authentication-token-webhook-version', type: string, default: 'v1beta1' },
    'Version of the TokenReviews that are sent to the webhook: v1 or v1beta1, with or without the group.',
  ),
  tokenWebhookCacheTtlMs: setting(
    { flag: '--authentication-token-webhook-cache-ttl', type: duration, default: '2m' },
    "Lifetime of the webhook's cached decisions, positive and negative.",
  ),
}

/** The server that authenticates tokens; undefined for none. */
export function readTokenWebhook(settings: Values<typeof tokenWebhookSettings>) {
  const version = parseVersion(settings.tokenWebhookVersion)
  if (settings.tokenWebhookConfigFile === '') return undefined
  return { configFile: settings.tokenWebhookConfigFile, version, cacheTtlMs: settings.tokenWebhookCacheTtlMs }
}

function parseVersion(text: string): 'v1' | 'v1beta1' {
  const prefix = profiles.map((profile) => `${domainGroup(namesOf(profile), 'authentication')}/`).find((known) => text.startsWith(known))
  const version = text.slice(prefix?.length ?? 0)
  if (version === 'v1' || version === 'v1beta1') return version
  throw new SettingsError(`--authentication-token-webhook-version=${text}: must be one of v1, v1beta1`)
}
