import { domainGroup, namesOf, profiles } from '@orch/core/names'
import { SettingsError, type Values } from '@orch/platform'
import type { tokenWebhookSettings } from './webhook-settings.ts'

/** The server that is asked about tokens. */
export interface TokenWebhookServer {
  readonly configFile: string
  readonly version: 'v1' | 'v1beta1'
  readonly cacheTtlMs: number
}

/** Checks the settings; undefined: there is no webhook. */
export function readTokenWebhook(settings: Values<typeof tokenWebhookSettings>): TokenWebhookServer | undefined {
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
