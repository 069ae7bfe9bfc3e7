import type { Profile } from '@orch/core/names'
import type { AuthorizationMode } from '@orch/gateway'
import type { Values } from '@orch/platform'
import { readCertificateFile } from '../certificates/flag-files.ts'
import { type OidcProviderOptions, readOidc } from '../oidc/options.ts'
import { type ProxyOptions, readProxy } from './proxy-options.ts'
import type { authenticationSettings } from './settings.ts'
import { readTokens, type TokenOptions } from './tokens-options.ts'
import { readTokenWebhook, type TokenWebhookServer } from './webhook-options.ts'

/** How a gateway learns who asks. */
export interface AuthenticationOptions {
  /** Requests without credentials are let in as `system:anonymous`. */
  readonly anonymousAuth: boolean
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
  if (clientCaFile !== '') readCertificateFile('--client-ca-file', clientCaFile)
  return {
    // Where everything is allowed, strangers must be let in by word.
    anonymousAuth: anonymousAuth === 'unsaid' ? !modes.includes('AlwaysAllow') : anonymousAuth,
    clientCaFile,
    proxy: readProxy(settings),
    oidc: readOidc(settings),
    tokenWebhook: readTokenWebhook(settings),
    tokens: readTokens(settings),
  }
}
