import type { Profile } from '@orch/core/names'
import type { AuthorizationMode } from '@orch/gateway'
import { SettingsError, type Values } from '@orch/platform'
import { readCertificateFile } from '../configuration/flag-files.ts'
import { hasOidcFlags, type OidcProviderOptions, readOidc } from '../oidc/options.ts'
import { type ProxyOptions, readProxy } from './proxy-options.ts'
import type { authenticationSettings } from './settings.ts'
import { readTokens, type TokenOptions } from './tokens-options.ts'
import { readTokenWebhook, type TokenWebhookServer } from './webhook-options.ts'

/** How a gateway learns who asks. */
export interface AuthenticationOptions {
  /** Requests without credentials are let in as `system:anonymous`. */
  readonly anonymousAuth: boolean
  /** The file that says more about authentication; '' for none. */
  readonly configurationFile: string
  /** Why the file may not say if anonymous requests are let in; undefined: it may. */
  readonly anonymousElsewhere: string | undefined
  /** Further authorities of client certificates; '' for none. */
  readonly clientCaFile: string
  /** Undefined: headers of no proxy are believed. */
  readonly proxy: ProxyOptions | undefined
  /** Undefined: tokens of no OpenID provider are accepted. */
  readonly oidc: OidcProviderOptions | undefined
  /** Undefined: no other server is asked about tokens. */
  readonly tokenWebhook: TokenWebhookServer | undefined
  /** Tokens that the server itself knows. */
  readonly tokens: TokenOptions
}

type AuthenticationValues = Values<typeof authenticationSettings> & { readonly profile: Profile; readonly tlsPrivateKeyFile: string }

/** Checks the settings and reads the files that they name. How access is decided is known already. */
export function readAuthentication(settings: AuthenticationValues, modes: readonly AuthorizationMode[]): AuthenticationOptions {
  const { anonymousAuth, clientCaFile } = settings
  const configurationFile = settings.authenticationConfig
  if (configurationFile !== '' && hasOidcFlags(settings)) {
    throw new SettingsError('--authentication-config: not together with the --oidc flags')
  }
  if (clientCaFile !== '') readCertificateFile('--client-ca-file', clientCaFile)
  return {
    // Where everything is allowed, strangers must be let in by word.
    anonymousAuth: anonymousAuth === 'unsaid' ? !modes.includes('AlwaysAllow') : anonymousAuth,
    anonymousElsewhere: elsewhere(anonymousAuth, modes),
    configurationFile,
    clientCaFile,
    proxy: readProxy(settings),
    oidc: readOidc(settings),
    tokenWebhook: readTokenWebhook(settings),
    tokens: readTokens(settings),
  }
}

function elsewhere(anonymousAuth: boolean | 'unsaid', modes: readonly AuthorizationMode[]): string | undefined {
  if (anonymousAuth !== 'unsaid') return 'not together with --anonymous-auth'
  // There strangers may do everything, which a flag must say where it can be checked with the address.
  return modes.includes('AlwaysAllow') ? 'not together with --authorization-mode=AlwaysAllow' : undefined
}
