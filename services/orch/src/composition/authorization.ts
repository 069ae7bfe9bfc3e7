import { createHttpsTransport, loadConfiguration } from '@orch/client'
import type { StorageService } from '@orch/core'
import { type Authorization, openAuthorization as openModes, type ReviewAnswer } from '@orch/gateway'
import { SettingsError } from '@orch/platform'
import type { AccessWebhookSettings, AuthorizationOptions } from '../options/authorization.ts'
import type { Surroundings } from './surroundings.ts'

/** Longest that the authorization webhook may take over a question. */
const webhookTimeoutMs = 30_000
/** Bytes of its answer that are read: a review is some hundred. */
const webhookAnswerBytesMax = 64 * 1024

/** Who may do what, as the options say; closed with the rest. */
export async function openAuthorization(
  { modes, policies, webhook }: AuthorizationOptions,
  storage: StorageService,
  { catalogue, clock, lifecycle, log, random }: Surroundings,
): Promise<Authorization> {
  const asker = webhook === undefined ? undefined : await openAsker(webhook)
  const authorization = openModes({
    modes,
    policies,
    webhook: webhook === undefined || asker === undefined ? undefined : { ...webhook, send: asker.send },
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
      asker?.close()
    },
  })
  return authorization
}

interface Asker {
  send(body: string): Promise<ReviewAnswer>
  close(): void
}

async function openAsker({ configFile }: AccessWebhookSettings): Promise<Asker> {
  const configuration = await loadConfiguration(configFile).catch((error: unknown) => {
    throw new SettingsError(`--authorization-webhook-config-file=${configFile}: ${(error as Error).message}`)
  })
  const transport = createHttpsTransport(configuration)
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  return {
    async send(body) {
      const signal = AbortSignal.timeout(webhookTimeoutMs)
      const response = await transport.send({ method: 'POST', path: '', headers, body, signal })
      const pieces: Uint8Array[] = []
      let length = 0
      for await (const bytes of response.body) {
        length += bytes.length
        if (length > webhookAnswerBytesMax)
          throw new Error(`the authorization webhook has answered more than ${webhookAnswerBytesMax} bytes`)
        pieces.push(bytes)
      }
      return { code: response.status, body: Buffer.concat(pieces).toString('utf8') }
    },
    close: () => transport.close(),
  }
}
