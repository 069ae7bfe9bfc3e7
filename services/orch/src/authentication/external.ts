import {
  certificateAuthenticator,
  createFetchJson,
  createRequestHeaderAuthenticator,
  createWebhookAuthenticator,
  Issuer,
  OidcAuthenticator,
  type RequestAuthenticator,
  type TokenAuthenticator,
} from '@orch/gateway'
import type { OidcProviderOptions } from '../oidc/options.ts'
import type { Surroundings } from '../surroundings.ts'
import { openWebhookSender } from '../webhooks/sender.ts'
import type { AuthenticationOptions } from './options.ts'

/** Ways to tell who asks that rest on others: proxies, authorities, a provider, a webhook. Each list in the order in which it is asked. */
export interface ExternalAuthentication {
  readonly requests: readonly RequestAuthenticator[]
  readonly tokens: readonly TokenAuthenticator[]
}

/** The configured ones; `configured` takes the tokens of the issuers that a file names. */
export async function openExternalAuthentication(
  { proxy, oidc, tokenWebhook, tokens: { audiences } }: AuthenticationOptions,
  { catalogue: { names }, clock, chance, lifecycle, log }: Surroundings,
  configured?: OidcAuthenticator,
): Promise<ExternalAuthentication> {
  const requests = [...(proxy === undefined ? [] : [createRequestHeaderAuthenticator(proxy)]), certificateAuthenticator]
  const tokens: TokenAuthenticator[] = []
  if (configured !== undefined) tokens.push(configured)
  if (oidc !== undefined) tokens.push(new OidcAuthenticator([openIssuer(oidc, { clock, log })]))
  if (tokenWebhook !== undefined) {
    const { configFile, version, cacheTtlMs } = tokenWebhook
    const sender = await openWebhookSender('--authentication-token-webhook-config-file', configFile)
    await lifecycle.run({ name: 'token webhook', stop: () => sender.close() })
    tokens.push(createWebhookAuthenticator({ send: sender.send, version, audiences, cacheTtlMs, names, clock, random: chance.fraction }))
  }
  return { requests, tokens }
}

/** The issuer that flags describe. */
function openIssuer(provider: OidcProviderOptions, { clock, log }: Pick<Surroundings, 'clock' | 'log'>): Issuer {
  return new Issuer({ ...provider, fetchJson: createFetchJson(provider), clock, log })
}
