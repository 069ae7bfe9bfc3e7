import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { aFolder } from './folder.ts'

/** A webhook's answer; the webhook sends the body as JSON. */
export interface WebhookAnswer {
  readonly status: number
  readonly body?: unknown
}

/** An HTTP webhook for one test; returns a client configuration file for it. */
export async function aWebhookFile(answer: (asked: unknown) => WebhookAnswer): Promise<string> {
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const { status, body } = answer(JSON.parse(text))
    response.writeHead(status).end(body === undefined ? '' : JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const configuration = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'a',
    clusters: [{ name: 'a', cluster: { server: `http://127.0.0.1:${port}/` } }],
    users: [{ name: 'a', user: {} }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
  }
  return aFolder().write('webhook.conf', JSON.stringify(configuration))
}

/** A webhook of an `AuthorizationConfiguration`. */
export function webhookLink(file: string, name: string, fields: object = {}) {
  return {
    type: 'Webhook',
    name,
    webhook: {
      ...{ timeout: '3s', authorizedTTL: '5m', unauthorizedTTL: '30s', subjectAccessReviewVersion: 'v1', failurePolicy: 'NoOpinion' },
      connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: file },
      ...fields,
    },
  }
}
