import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { aCertificate, anAuthority, type Pair } from '@orch/platform/any-certificate'
import { onTestFinished } from 'vitest'

/** A call that the webhook received, and the caller. */
export interface Called {
  // biome-ignore lint/suspicious/noExplicitAny: tests read any answer.
  readonly review: any
  // biome-ignore lint/suspicious/noExplicitAny: the same
  readonly request: any
  /** The body as the caller sent it. */
  readonly text: string
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  /** Common name of the caller's certificate; '' if the caller showed no certificate. */
  readonly caller: string
  /** The server name that the caller asked for (SNI). */
  readonly serverName: string
  readonly remotePort: number
}

export type Reply = (called: Called, response: ServerResponse) => void

export interface WebhookServer {
  readonly port: number
  readonly url: string
  /** PEM, in base64. */
  readonly caBundle: string
  readonly authority: Pair
  /** The authority that signs the serving certificate: the root, or an intermediate authority that the root has signed. */
  readonly issuer: Pair
  readonly serving: Pair
  readonly calls: Called[]
  reply: Reply
  stop(): void
}

/** The names in the server's certificate. */
export interface WebhookServerOptions {
  readonly dnsNames?: readonly string[]
  readonly requiresCertificate?: boolean
  readonly host?: string
  /** An intermediate authority signs the certificate, and the server sends the intermediate's certificate too. */
  readonly hasIntermediate?: boolean
  /** The certificate's times, relative to now. */
  readonly toMs?: number
}

/** A webhook server of the test, over TLS. */
export async function aWebhookServer(reply: Reply, options: WebhookServerOptions = {}): Promise<WebhookServer> {
  const { dnsNames, requiresCertificate = false, host = '127.0.0.1', hasIntermediate = false, toMs } = options
  const authority = await anAuthority('webhooks')
  const issuer = hasIntermediate ? await aCertificate({ issuer: authority, commonName: 'between', isAuthority: true }) : authority
  const serving = await aCertificate({
    issuer,
    commonName: 'webhook',
    use: 'server',
    ...(dnsNames === undefined ? {} : { dnsNames }),
    ...(toMs === undefined ? {} : { toMs }),
  })
  const calls: Called[] = []
  const made = { reply }
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const socket = request.socket as TLSSocket
    const review = JSON.parse(text)
    const called: Called = {
      review,
      request: review.request,
      text,
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      caller: String(socket.getPeerCertificate().subject?.CN ?? ''),
      serverName: String((socket as unknown as { servername: unknown }).servername || ''),
      remotePort: socket.remotePort ?? 0,
    }
    calls.push(called)
    made.reply(called, response)
  }
  const chain = hasIntermediate ? `${serving.certificate}${issuer.certificate}` : serving.certificate
  const tls = { cert: chain, key: serving.key, ca: authority.certificate, requestCert: true }
  const server: Server = createServer(
    { ...tls, rejectUnauthorized: requiresCertificate },
    (request, response) => void handle(request, response),
  )
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const stop = () => {
    server.closeAllConnections()
    server.close()
  }
  onTestFinished(stop)
  const { port } = server.address() as AddressInfo
  const caBundle = Buffer.from(authority.certificate).toString('base64')
  return Object.assign(made, { port, url: `https://127.0.0.1:${port}/hook`, caBundle, authority, issuer, serving, calls, stop })
}

/** The JSON that the webhook sends unchanged. */
export function withBody(body: (called: Called) => unknown, { code = 200, type = 'application/json' } = {}): Reply {
  return (called, response) => {
    const made = body(called)
    response.writeHead(code, { 'content-type': type })
    response.end(typeof made === 'string' ? made : JSON.stringify(made))
  }
}

/** A review in the version of the request, with the request's uid. */
export function answering(answer: (called: Called) => object): Reply {
  return withBody((called) => ({
    apiVersion: called.review.apiVersion,
    kind: 'AdmissionReview',
    response: { uid: called.request.uid, ...answer(called) },
  }))
}

export const allowing: Reply = answering(() => ({ allowed: true }))

/** Allows the request and changes the object by these operations. */
export function patching(patch: (called: Called) => readonly object[]): Reply {
  return answering((called) => {
    const operations = patch(called)
    return operations.length === 0
      ? { allowed: true }
      : { allowed: true, patchType: 'JSONPatch', patch: toBase64(JSON.stringify(operations)) }
  })
}

export function toBase64(text: string): string {
  return Buffer.from(text).toString('base64')
}
