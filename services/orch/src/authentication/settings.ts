import { domainGroup, namesOf, type Profile, profiles } from '@orch/core/names'
import type { AuthorizationMode } from '@orch/gateway'
import { SettingsError, type SettingType, settingsOf, settingTypes, type Values } from '@orch/platform'
import { readCertificateFile } from '../configuration/flag-files.ts'
import { hasOidcFlags, oidcSettings, readOidc } from './oidc.ts'
import { proxySettings, readProxy } from './proxy.ts'
import { readTokens, tokenSettings } from './tokens.ts'

const { bool, duration, path, string } = settingTypes
const setting = settingsOf('Authentication')

/** true, false, or unset to follow another setting. */
const boolOrUnsaid: SettingType<boolean | 'unsaid'> = { ...bool, parse: (text) => (text === '' ? 'unsaid' : bool.parse(text)) }

/** The settings of authentication. */
export const authenticationSettings = {
  clientCaFile: setting(
    { flag: '--client-ca-file', type: path },
    "Certificate authorities whose client certificates are accepted, in addition to the server's own. The file is reloaded when it changes.",
  ),
  authenticationConfig: setting(
    { flag: '--authentication-config', type: path },
    'AuthenticationConfiguration: issuers of JSON Web Tokens, and where requests without credentials are let in. Instead of the --oidc flags. The file is reloaded when it changes; one that is not valid leaves the present one in use.',
  ),
  ...proxySettings,
  ...oidcSettings,
  tokenWebhook: {
    configFile: setting(
      { flag: '--authentication-token-webhook-config-file', type: path },
      'Client configuration file of the webhook that receives TokenReviews for tokens that no other authenticator accepts.',
    ),
    version: setting(
      { flag: '--authentication-token-webhook-version', type: string, default: 'v1beta1' },
      'Version of the TokenReviews that are sent to the webhook: v1 or v1beta1, with or without the group.',
    ),
    cacheTtlMs: setting(
      { flag: '--authentication-token-webhook-cache-ttl', type: duration, default: '2m' },
      "Lifetime of the webhook's cached decisions, positive and negative.",
    ),
  },
  ...tokenSettings,
  anonymousAuth: setting(
    { flag: '--anonymous-auth', type: boolOrUnsaid, defaultDoc: 'true, but false with --authorization-mode=AlwaysAllow' },
    'Treats requests without credentials as system:anonymous instead of refusing them. They have the permissions of system:unauthenticated. With --authorization-mode=AlwaysAllow, true requires a loopback address.',
  ),
}

/** The options of authentication. */
export type AuthenticationOptions = ReturnType<typeof readAuthentication>

type AuthenticationValues = Values<typeof authenticationSettings> & { readonly profile: Profile; readonly tlsPrivateKeyFile: string }

/** Checks the settings and reads their files. Authorization is already set up. */
export function readAuthentication(settings: AuthenticationValues, modes: readonly AuthorizationMode[]) {
  const { anonymousAuth, clientCaFile, authenticationConfig: configurationFile } = settings
  if (configurationFile !== '' && hasOidcFlags(settings)) {
    throw new SettingsError('--authentication-config: not together with the --oidc flags')
  }
  if (clientCaFile !== '') readCertificateFile('--client-ca-file', clientCaFile)
  return {
    // If everything is allowed, anonymous requests are admitted only by an explicit setting.
    anonymousAuth: anonymousAuth === 'unsaid' ? !modes.includes('AlwaysAllow') : anonymousAuth,
    /** The reason why the file may not set anonymous requests; undefined if it may. */
    anonymousElsewhere: elsewhere(anonymousAuth, modes),
    /** The authentication configuration file; '' for none. */
    configurationFile,
    /** Further authorities of client certificates; '' for none. */
    clientCaFile,
    proxy: readProxy(settings),
    oidc: readOidc(settings),
    tokenWebhook: readTokenWebhook(settings),
    tokens: readTokens(settings),
  }
}

function elsewhere(anonymousAuth: boolean | 'unsaid', modes: readonly AuthorizationMode[]): string | undefined {
  if (anonymousAuth !== 'unsaid') return 'not together with --anonymous-auth'
  // There anonymous requests may do everything, which needs an explicit flag that is checked with the address.
  return modes.includes('AlwaysAllow') ? 'not together with --authorization-mode=AlwaysAllow' : undefined
}

/** The server that authenticates tokens; undefined for none. */
function readTokenWebhook({ tokenWebhook }: AuthenticationValues) {
  const version = parseVersion(tokenWebhook.version)
  return tokenWebhook.configFile === '' ? undefined : { ...tokenWebhook, version }
}

function parseVersion(text: string): 'v1' | 'v1beta1' {
  const prefix = profiles.map((profile) => `${domainGroup(namesOf(profile), 'authentication')}/`).find((known) => text.startsWith(known))
  const version = text.slice(prefix?.length ?? 0)
  if (version === 'v1' || version === 'v1beta1') return version
  throw new SettingsError(`--authentication-token-webhook-version=${text}: must be one of v1, v1beta1`)
}
