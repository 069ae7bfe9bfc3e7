import { createFetchJson, createOidcAuthenticator, type TokenAuthenticator } from '@orch/gateway'
import type { Surroundings } from '../surroundings.ts'
import type { OidcProviderOptions } from './options.ts'

/** The authenticator of tokens that the configured provider has signed. */
export function openOidc(provider: OidcProviderOptions, { clock, log }: Pick<Surroundings, 'clock' | 'log'>): TokenAuthenticator {
  return createOidcAuthenticator({ ...provider, fetchJson: createFetchJson(provider), clock, log })
}
