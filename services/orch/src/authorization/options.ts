import { namesOf, type Profile } from '@orch/core/names'
import { type AttributePolicy, type AuthorizationMode, authorizationModes, parseAttributePolicies } from '@orch/gateway'
import { messageOf, nearest, SettingsError, type Values } from '@orch/platform'
import { readFlagFile } from '../configuration/flag-files.ts'
import type { authorizationSettings } from './settings.ts'

/** How a gateway decides who may do what. */
export interface AuthorizationOptions {
  /** The file that names the authorizers; '': `modes` do. */
  readonly configurationFile: string
  /** Empty where the file names them. */
  readonly modes: readonly AuthorizationMode[]
  /** Of the mode ABAC. */
  readonly policies: readonly AttributePolicy[]
  readonly webhook: AccessWebhookSettings | undefined
}

/** What the mode Webhook needs. */
interface AccessWebhookSettings {
  readonly configFile: string
  readonly version: 'v1' | 'v1beta1'
  readonly authorizedTtlMs: number
  readonly unauthorizedTtlMs: number
}

type AuthorizationValues = Values<typeof authorizationSettings> & { readonly profile: Profile }

/** Checks the modes, that each has what it needs and that nothing was given for a mode that is not on. */
export function readAuthorization(settings: AuthorizationValues): AuthorizationOptions {
  const {
    authorizationPolicyFile: policyFile,
    authorizationWebhookConfigFile: configFile,
    authorizationConfig: configurationFile,
  } = settings
  if (configurationFile !== '') return readConfigured(settings)
  const modes = readModes(settings.authorizationMode)
  requireTogether(modes, 'ABAC', '--authorization-policy-file', policyFile)
  requireTogether(modes, 'Webhook', '--authorization-webhook-config-file', configFile)
  return {
    configurationFile,
    modes,
    policies: policyFile === '' ? [] : readPolicies(policyFile, settings.profile),
    webhook:
      configFile === ''
        ? undefined
        : {
            configFile,
            version: settings.authorizationWebhookVersion,
            authorizedTtlMs: settings.authorizationWebhookCacheAuthorizedTtlMs,
            unauthorizedTtlMs: settings.authorizationWebhookCacheUnauthorizedTtlMs,
          },
  }
}

/** The file says what flags say otherwise, but for the policies of the mode ABAC. */
function readConfigured({ authorizationConfig, authorizationPolicyFile, profile, ...flags }: AuthorizationValues): AuthorizationOptions {
  if (flags.authorizationMode.join() !== 'RBAC') throw new SettingsError('--authorization-config: not together with --authorization-mode')
  if (flags.authorizationWebhookConfigFile !== '') {
    throw new SettingsError('--authorization-config: not together with --authorization-webhook-config-file')
  }
  const policies = authorizationPolicyFile === '' ? [] : readPolicies(authorizationPolicyFile, profile)
  return { configurationFile: authorizationConfig, modes: [], policies, webhook: undefined }
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

function readPolicies(path: string, profile: Profile): AttributePolicy[] {
  const flag = '--authorization-policy-file'
  const text = readFlagFile(flag, path)
  try {
    return parseAttributePolicies(text, namesOf(profile))
  } catch (error) {
    throw new SettingsError(`${flag}=${path}: ${messageOf(error)}`)
  }
}
