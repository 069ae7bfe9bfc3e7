import { namesOf, type Profile } from '@orch/core/names'
import { type AuthorizationMode, authorizationModes, parseAttributePolicies } from '@orch/gateway'
import { nearest, SettingsError, settingsOf, settingTypes, type Values } from '@orch/platform'
import { parseFlagFile } from '../configuration/files.ts'

const { duration, list, oneOf, path } = settingTypes
const setting = settingsOf('Authorization')

export const authorizationSettings = {
  authorizationMode: setting(
    { flag: '--authorization-mode', type: list, default: 'RBAC' },
    'Authorizers, asked in this order until one allows or denies: AlwaysAllow, AlwaysDeny, ABAC, Webhook, RBAC, Node. Members of system:masters are always allowed.',
  ),
  authorizationConfig: setting(
    { flag: '--authorization-config', type: path },
    'AuthorizationConfiguration: the authorizers in their order, with any number of webhooks. Instead of --authorization-mode and the --authorization-webhook flags. The file is reloaded when it changes; one that is not valid leaves the present one in use.',
  ),
  authorizationPolicyFile: setting(
    { flag: '--authorization-policy-file', type: path },
    'Policy file of the ABAC authorizer, one JSON object per line.',
  ),
  authorizationWebhook: {
    configFile: setting(
      { flag: '--authorization-webhook-config-file', type: path },
      'Client configuration file of the authorization webhook.',
    ),
    version: setting(
      { flag: '--authorization-webhook-version', type: oneOf(['v1beta1', 'v1']), default: 'v1beta1' },
      'Version of the SubjectAccessReviews that are sent to the webhook.',
    ),
    authorizedTtlMs: setting(
      { flag: '--authorization-webhook-cache-authorized-ttl', type: duration, default: '5m' },
      'Lifetime of a cached positive decision of the webhook.',
    ),
    unauthorizedTtlMs: setting(
      { flag: '--authorization-webhook-cache-unauthorized-ttl', type: duration, default: '30s' },
      'Lifetime of a cached negative decision of the webhook.',
    ),
  },
}

export type AuthorizationOptions = ReturnType<typeof readAuthorization>

type AuthorizationValues = Values<typeof authorizationSettings> & { readonly profile: Profile }

/** Checks the modes: each needs its flags, and flags of disabled modes are refused. */
export function readAuthorization(settings: AuthorizationValues) {
  const { authorizationPolicyFile, authorizationWebhook: webhook, authorizationConfig: configurationFile } = settings
  const isConfigured = configurationFile !== ''
  if (isConfigured) refuseBesideFile(settings)
  const modes = isConfigured ? [] : readModes(settings.authorizationMode)
  if (!isConfigured) {
    requireTogether(modes, 'ABAC', '--authorization-policy-file', authorizationPolicyFile)
    requireTogether(modes, 'Webhook', '--authorization-webhook-config-file', webhook.configFile)
  }
  return {
    /** The authorization configuration file; '' to use `modes`. */
    configurationFile,
    /** Empty with a configuration file. */
    modes,
    /** Policies of the mode ABAC. */
    policies:
      authorizationPolicyFile === ''
        ? []
        : parseFlagFile('--authorization-policy-file', authorizationPolicyFile, (text) =>
            parseAttributePolicies(text, namesOf(settings.profile)),
          ),
    /** The settings of the mode Webhook. */
    webhook: webhook.configFile === '' ? undefined : webhook,
  }
}

/** The file replaces the other flags, except for the policies of the mode ABAC. */
function refuseBesideFile({ authorizationMode, authorizationWebhook }: AuthorizationValues): void {
  if (authorizationMode.join() !== 'RBAC') throw new SettingsError('--authorization-config: not together with --authorization-mode')
  if (authorizationWebhook.configFile !== '') {
    throw new SettingsError('--authorization-config: not together with --authorization-webhook-config-file')
  }
}

function readModes(words: readonly string[]): AuthorizationMode[] {
  if (words.length === 0) throw new SettingsError('--authorization-mode: at least one mode is needed')
  const seen = new Set<string>()
  return words.map((word) => {
    const mode = authorizationModes.find((known) => known === word)
    if (mode === undefined) {
      const near = nearest(word, authorizationModes)
      const hint = near === undefined ? '' : `; did you mean ${near}?`
      throw new SettingsError(`--authorization-mode: unknown mode ${word}${hint} (known: ${authorizationModes.join(', ')})`)
    }
    if (seen.has(word)) throw new SettingsError(`--authorization-mode: ${word} is given twice`)
    seen.add(word)
    return mode
  })
}

function requireTogether(modes: readonly AuthorizationMode[], mode: AuthorizationMode, flag: string, value: string): void {
  if (modes.includes(mode) && value === '') throw new SettingsError(`--authorization-mode=${mode} needs ${flag}`)
  if (!modes.includes(mode) && value !== '') throw new SettingsError(`${flag} has no effect without --authorization-mode=${mode}`)
}
