import {
  certificateAuthenticator,
  createRequestHeaderAuthenticator,
  createWebhookAuthenticator,
  type RequestAuthenticator,
  type TokenAuthenticator,
} from '@orch/gateway'
import { openOidc } from '../oidc/open.ts'
import type { Surroundings } from '../surroundings.ts'
import { openWebhookSender } from '../webhooks/sender.ts'
import type { AuthenticationOptions } from './options.ts'

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
  if (oidc !== undefined) tokens.push(openOidc(oidc, { clock, log }))
  if (tokenWebhook !== undefined) {
    const { configFile, version, cacheTtlMs } = tokenWebhook
    const sender = await openWebhookSender('--authentication-token-webhook-config-file', configFile)
    await lifecycle.run({ name: 'token webhook', stop: () => sender.close() })
    tokens.push(createWebhookAuthenticator({ send: sender.send, version, audiences, cacheTtlMs, names, clock, random }))
  }
  return { requests, tokens }
}
