import { createFetchJson, Issuer } from '@orch/gateway'
import type { Surroundings } from '../surroundings.ts'
import type { OidcProviderOptions } from './options.ts'

/** The issuer that flags describe. */
export function openIssuer(provider: OidcProviderOptions, { clock, log }: Pick<Surroundings, 'clock' | 'log'>): Issuer {
  return new Issuer({ ...provider, fetchJson: createFetchJson(provider), clock, log })
}
