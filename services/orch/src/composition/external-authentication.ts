import {
  certificateAuthenticator,
  createFetchJson,
  createOidcAuthenticator,
  createRequestHeaderAuthenticator,
  createWebhookAuthenticator,
  type RequestAuthenticator,
  type TokenAuthenticator,
} from '@orch/gateway'
import type { AuthenticationOptions } from '../options/authentication.ts'
import type { Surroundings } from './surroundings.ts'
import { openWebhookSender } from './webhook-sender.ts'

/** Ways to tell who asks that rest on others: proxies, authorities, a provider, a webhook. Each list in the order in which it is asked. */
export interface ExternalAuthentication {
  readonly requests: readonly RequestAuthenticator[]
  readonly tokens: readonly TokenAuthenticator[]
}

/** The configured ones. */
export async function openExternalAuthentication(
  { proxy, oidc, tokenWebhook, tokens: { audiences } }: AuthenticationOptions,
  { catalogue: { names }, clock, lifecycle, log, random }: Surroundings,
): Promise<ExternalAuthentication> {
  const requests = [...(proxy === undefined ? [] : [createRequestHeaderAuthenticator(proxy)]), certificateAuthenticator]
  const tokens: TokenAuthenticator[] = []
  if (oidc !== undefined) tokens.push(createOidcAuthenticator({ ...oidc, fetchJson: createFetchJson(oidc), clock, log }))
  if (tokenWebhook !== undefined) {
    const { configFile, version, cacheTtlMs } = tokenWebhook
    const sender = await openWebhookSender('--authentication-token-webhook-config-file', configFile)
    await lifecycle.run({ name: 'token webhook', stop: () => sender.close() })
    tokens.push(createWebhookAuthenticator({ send: sender.send, version, audiences, cacheTtlMs, names, clock, random }))
  }
  return { requests, tokens }
}
