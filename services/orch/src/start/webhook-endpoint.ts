import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { ApiObject } from '@orch/core/meta'
import { Guard, messageOf, portOf, systemClock } from '@orch/platform'

/**
 * Answers an admission or conversion review with the value of `response`; the uid is added. A `patch` that is an array of JSON patch operations is
 * encoded.
 */
export type WebhookHandler = (review: ApiObject, path: string) => object | Promise<object>

/** The endpoint of webhooks of configurations and definitions in a test. */
export interface WebhookEndpoint {
  readonly host: string
  readonly port: number
  /** PEM of the authority that signed the endpoint's certificate. */
  readonly certificateAuthority: string
}

/** An endpoint of this package; it stops listening when its last user closes it. */
export interface OpenEndpoint extends WebhookEndpoint {
  /** Adds a user to the endpoint, which listens again if it was closed. */
  share(): Promise<OpenEndpoint>
  close(): Promise<void>
}

const host = '127.0.0.1'

/** Serves a handler of reviews over HTTPS on a free port of this machine. */
export function serveWebhooks(handler: WebhookHandler): Promise<OpenEndpoint> {
  return serveHttps([host, 'localhost'], (request, response) => answerReview(handler, request, response))
}

/** Serves HTTPS for these names on a free port of this machine. If `answer` rejects, the answer is a 500 with the message. */
export async function serveHttps(
  names: readonly string[],
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<OpenEndpoint> {
  const { issueAuthority, issueServing } = await import('@orch/platform/issue')
  const nowMs = systemClock.now()
  const authority = await issueAuthority({ commonName: 'orch-webhooks', nowMs })
  const { certificate, key } = await issueServing({ authority, commonName: 'orch-webhooks', names, nowMs })
  // A failure of the handler becomes an answer; the caller sees other failures as a missing answer.
  const guard = new Guard(() => {})
  const server = createServer({ cert: certificate, key }, (request, response) => {
    const end = () => void response.destroy()
    guard.run('request', end, () => orMessage(answer, guard.watch(request, 'request', end), guard.watch(response, 'request', end)))
  })
  return shared({ host, certificateAuthority: authority.certificate }, await listen(server, 0), server)
}

/** An endpoint that counts its users: the servers forked from the server that opened it. */
function shared(address: Omit<WebhookEndpoint, 'port'>, port: number, server: Server): OpenEndpoint {
  let users = 1
  const endpoint: OpenEndpoint = {
    ...address,
    port,
    async share() {
      users += 1
      if (users === 1) await listen(server, port)
      return endpoint
    },
    async close() {
      users -= 1
      if (users > 0) return
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
  return endpoint
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return portOf(server)
}

async function answerReview(handler: WebhookHandler, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const review: ApiObject & { readonly request?: { readonly uid?: string } } = JSON.parse(Buffer.concat(chunks).toString())
  const given = await handler(review, (request.url ?? '/').replace(/\?.*$/s, ''))
  const { apiVersion, kind } = review
  const text = JSON.stringify({ apiVersion, kind, response: { uid: review.request?.uid, ...withEncodedPatch(given) } })
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(text)
}

async function orMessage(
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    await answer(request, response)
  } catch (error) {
    response.writeHead(500, { 'content-type': 'text/plain' })
    response.end(messageOf(error))
  }
}

function withEncodedPatch(response: object): object {
  if (!('patch' in response) || !Array.isArray(response.patch)) return response
  return { patchType: 'JSONPatch', ...response, patch: Buffer.from(JSON.stringify(response.patch)).toString('base64') }
}
