import type { StorageService } from '@orch/core/contracts'
import {
  type Authorization,
  type AuthorizationLink,
  type AuthorizationMetrics,
  createAccessWebhook,
  createAuthorizationMetrics,
  openAuthorization as openChain,
} from '@orch/gateway'
import type { Metrics } from '@orch/platform'
import type { Surroundings } from '../surroundings.ts'
import { openWebhookSender } from '../webhooks/sender.ts'
import { ConfiguredAuthorization } from './configured.ts'
import type { AuthorizationOptions } from './options.ts'

/** Longest that the authorization webhook may take over a question. */
const webhookTimeoutMs = 30_000

export interface AuthorizationNeeds {
  readonly authorization: AuthorizationOptions
  readonly storage: StorageService
  readonly metrics: Metrics
}

/** Who may do what, as the options say; closed with the rest. */
export async function openAuthorization(needs: AuthorizationNeeds, surroundings: Surroundings): Promise<Authorization> {
  const { authorization: options, storage, metrics } = needs
  const { catalogue, clock, lifecycle, log, random } = surroundings
  const counted = createAuthorizationMetrics(metrics)
  const world = { counted, policies: options.policies, storage, names: catalogue.names, clock, log, random }
  if (options.configurationFile === '') {
    const { chain, close } = await chainOfModes(options, surroundings, counted)
    const authorization = openChain({ chain, ...world })
    await lifecycle.run({ name: 'authorization', stop: () => closeAll(authorization, { close }) })
    return authorization
  }
  const configured = new ConfiguredAuthorization(options.configurationFile, surroundings, counted)
  const authorization = openChain({ chain: await configured.read(), isReplaceable: true, ...world })
  configured.addMetrics(metrics, clock)
  const following = configured.follow((chain) => authorization.replace(chain))
  await lifecycle.run({ name: 'authorization', stop: () => closeAll({ close: () => following.stop() }, authorization, configured) })
  return authorization
}

function closeAll(...opened: readonly { close(): void }[]): void {
  for (const one of opened) one.close()
}

/** The authorizers that flags name, and what ends the webhook among them. */
async function chainOfModes(
  { modes, webhook }: AuthorizationOptions,
  { catalogue, clock, random }: Surroundings,
  counted: AuthorizationMetrics,
): Promise<{ readonly chain: readonly AuthorizationLink[]; readonly close: () => void }> {
  if (webhook === undefined) return { chain: modes.filter((mode) => mode !== 'Webhook'), close: () => {} }
  const sender = await openWebhookSender('--authorization-webhook-config-file', webhook.configFile)
  const send = (body: string) => sender.send(body, webhookTimeoutMs)
  const link = createAccessWebhook({ ...webhook, send, names: catalogue.names, counted: counted.webhook('webhook'), clock, random })
  return { chain: modes.map((mode) => (mode === 'Webhook' ? link : mode)), close: () => sender.close() }
}
