import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { aCertificate, anAuthority } from '@orch/platform/any-certificate'
import { onTestFinished } from 'vitest'
import { aFolder } from './folder.ts'

/** A received question, and its sender. */
export interface Asked {
  // biome-ignore lint/suspicious/noExplicitAny: tests read any answer.
  readonly review: any
  readonly caller: string
}

export type Reply = (asked: Asked, response: ServerResponse) => void

/** A token webhook, and a client configuration file for it with a certificate. */
export async function aTokenWebhook(reply: Reply) {
  const authority = await anAuthority('webhooks')
  const serving = await aCertificate({ issuer: authority, commonName: 'webhook', use: 'server' })
  const client = await aCertificate({ issuer: authority, commonName: 'orch-server', use: 'client' })
  const asked: Asked[] = []
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const one = { review: JSON.parse(text), caller: String((request.socket as TLSSocket).getPeerCertificate().subject.CN) }
    asked.push(one)
    reply(one, response)
  }
  const options = { cert: serving.certificate, key: serving.key, ca: authority.certificate, requestCert: true, rejectUnauthorized: true }
  const server = createServer(options, (request, response) => void handle(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const configuration = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'w',
    clusters: [
      {
        name: 'w',
        cluster: {
          server: `https://127.0.0.1:${(server.address() as AddressInfo).port}/review`,
          'certificate-authority-data': base64(authority.certificate),
        },
      },
    ],
    users: [{ name: 'w', user: { 'client-certificate-data': base64(client.certificate), 'client-key-data': base64(client.key) } }],
    contexts: [{ name: 'w', context: { cluster: 'w', user: 'w' } }],
  }
  return { asked, configFile: aFolder().write('webhook.conf', JSON.stringify(configuration)) }
}

/** A reply with this status, in the version of the question. */
export function withStatus(status: unknown, overrides: object = {}): Reply {
  return ({ review }, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ apiVersion: review.apiVersion, kind: 'TokenReview', status, ...overrides }))
  }
}
