import type { StorageService } from '@orch/core/contracts'
import { type Authorization, openAuthorization as openModes } from '@orch/gateway'
import type { Surroundings } from '../surroundings.ts'
import { openWebhookSender } from '../webhooks/sender.ts'
import type { AuthorizationOptions } from './options.ts'

/** Longest that the authorization webhook may take over a question. */
const webhookTimeoutMs = 30_000

/** Who may do what, as the options say; closed with the rest. */
export async function openAuthorization(
  { modes, policies, webhook }: AuthorizationOptions,
  storage: StorageService,
  { catalogue, clock, lifecycle, log, random }: Surroundings,
): Promise<Authorization> {
  const sender = webhook === undefined ? undefined : await openWebhookSender('--authorization-webhook-config-file', webhook.configFile)
  const authorization = openModes({
    modes,
    policies,
    webhook:
      webhook === undefined || sender === undefined
        ? undefined
        : { ...webhook, send: (body: string) => sender.send(body, webhookTimeoutMs) },
    storage,
    names: catalogue.names,
    clock,
    log,
    random,
  })
  await lifecycle.run({
    name: 'authorization',
    stop: () => {
      authorization.close()
      sender?.close()
    },
  })
  return authorization
}
