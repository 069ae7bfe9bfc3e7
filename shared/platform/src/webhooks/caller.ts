import type { IncomingMessage } from 'node:http'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import type { Clock } from '../clock.ts'
import type { Address, ServiceAddresses } from './addresses.ts'
import { ContextAgent } from './context-agent.ts'
import { TlsContexts } from './contexts.ts'
import { type Credential, credentialFor, serviceCredential, type WebhookCredentials } from './credentials.ts'
import { limits } from './limits.ts'
import type { WebhookTarget } from './target.ts'
import { unreachedReason } from './unreached.ts'

/** One call. */
export interface Call {
  readonly webhook: WebhookTarget
  readonly body: string
  readonly timeoutMs: number
  /** The caller has gone. */
  readonly signal: AbortSignal | undefined
  /** W3C trace context for the webhook; absent: the request is not traced. */
  readonly traceparent: string | undefined
}

/** What came back, or why nothing did. */
export type CallAnswer =
  | { readonly kind: 'answered'; readonly text: string }
  /** `code` is the status of the answer where there was one that refuses. */
  | { readonly kind: 'failed'; readonly message: string; readonly code: number | undefined; readonly isLate: boolean }

/** Posts to webhooks. Connections are kept for the next call to the same webhook. */
export interface WebhookCaller {
  call(call: Call): Promise<CallAnswer>
  close(): void
}

export interface CallerNeeds {
  readonly addresses: ServiceAddresses
  readonly credentials: WebhookCredentials
  readonly clock: Clock
  /** How the server authenticates to webhooks. */
  readonly userAgent: string
}

export function createWebhookCaller({ addresses, credentials, clock, userAgent }: CallerNeeds): WebhookCaller {
  const contexts = new TlsContexts()
  const agent = new ContextAgent({
    keepAlive: true,
    maxSockets: limits.connectionsMax,
    maxFreeSockets: limits.idleConnectionsMax,
    scheduling: 'lifo',
  })
  return {
    async call({ webhook, body, timeoutMs, signal, traceparent }) {
      const ending = new AbortController()
      const end = () => ending.abort()
      const state = { isLate: false }
      const timer = clock.after(timeoutMs, () => {
        state.isLate = true
        end()
      })
      signal?.addEventListener('abort', end, { once: true })
      if (signal?.aborted) end()
      const fail = (why: string): CallAnswer => ({ kind: 'failed', message: why, code: undefined, isLate: state.isLate })
      let start = ''
      let doubt: string | undefined
      try {
        const route = routeTo(webhook, timeoutMs)
        start = `Post ${JSON.stringify(route.url)}: `
        const { doubt: ofPlace, ...place } = await withEnd(route.find(addresses), ending.signal)
        doubt = ofPlace
        const credential = credentialTo(webhook, credentials)
        const options = {
          ...place,
          secureContext: contexts.of({ authorities: webhook.authorities, ...pairOf(credential) }),
          ...optionsFor(route, credential, { 'user-agent': userAgent, ...(traceparent === undefined ? {} : { traceparent }) }),
          agent,
          signal: ending.signal,
        }
        return judge(await post(options, body), credential, (why) => fail(`${start}${why}`))
      } catch (error) {
        const why = state.isLate ? 'context deadline exceeded' : ending.signal.aborted ? 'context canceled' : unreachedReason(error, doubt)
        return fail(`${start}${why}`)
      } finally {
        timer.cancel()
        signal?.removeEventListener('abort', end)
      }
    },
    close: () => agent.destroy(),
  }
}

/** A lookup that takes too long is left alone; its result is of no use any more. */
function withEnd<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => reject(new Error('ended'))
    signal.addEventListener('abort', end, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end))
    if (signal.aborted) end()
  })
}

interface Route {
  /** As messages tell it. */
  readonly url: string
  readonly host: string
  readonly path: string
  /** Name that the certificate must carry; absent: the host that is connected to. */
  readonly serverName: string | undefined
  readonly find: (addresses: ServiceAddresses) => Promise<Address>
}

/** The webhook receives its timeout in whole seconds. */
function routeTo({ place }: WebhookTarget, timeoutMs: number): Route {
  const query = `?timeout=${Math.max(1, Math.ceil(timeoutMs / 1_000))}s`
  switch (place.kind) {
    case 'service': {
      const serverName = `${place.name}.${place.namespace}.svc`
      const host = `${serverName}:${place.port}`
      const path = `${place.path}${query}`
      return { url: `https://${host}${path}`, host, path, serverName, find: (addresses) => addresses.find(place) }
    }
    case 'url': {
      const parsed = URL.parse(place.url)
      // The validation of a configuration accepts some addresses that cannot be reached, such as port 99999.
      if (parsed === null) throw new Error(`parse ${JSON.stringify(place.url)}: invalid URL`)
      const { host, hostname, port, pathname } = parsed
      const bare = hostname.replace(/^\[|\]$/g, '')
      const address = { host: bare, port: port === '' ? 443 : Number(port) }
      const path = `${pathname}${query}`
      return { url: `https://${host}${path}`, host, path, serverName: undefined, find: async () => address }
    }
  }
}

function pairOf({ clientCertificate, clientKey }: Credential) {
  return { clientCertificate, clientKey }
}

function optionsFor({ host, path, serverName }: Route, credential: Credential, extra: Readonly<Record<string, string>>): RequestOptions {
  return {
    method: 'POST',
    path,
    headers: {
      host,
      'content-type': 'application/json',
      accept: 'application/json',
      ...authorization(credential),
      ...extra,
    },
    ...(serverName === undefined ? {} : { servername: serverName }),
  }
}

function credentialTo({ place }: WebhookTarget, credentials: WebhookCredentials): Credential {
  // An address of the default port is written without it.
  return place.kind === 'service' ? serviceCredential(credentials, place) : credentialFor(credentials, hostOf(place.url))
}

/** Host and port as the address has them; the parser of addresses drops a port of 443. */
function hostOf(url: string): string {
  return /^https:\/\/([^/]*)/i.exec(url)?.[1] ?? ''
}

function authorization({ token, username, password }: Credential): { authorization?: string } {
  if (token !== undefined) return { authorization: `Bearer ${token}` }
  if (username === undefined) return {}
  return { authorization: `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}` }
}

interface Posted {
  readonly response: IncomingMessage
  readonly text: string
}

/** A kept connection may have been closed by the other side just now: then the call is made once more, on a new one. */
async function post(options: RequestOptions, body: string): Promise<Posted> {
  try {
    return await postOnce(options, body)
  } catch (error) {
    if (!(error instanceof ClosedConnection)) throw error
    return postOnce({ ...options, agent: false }, body)
  }
}

class ClosedConnection extends Error {}

function postOnce(options: RequestOptions, body: string): Promise<Posted> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest({ ...options, headers: { ...options.headers, 'content-length': Buffer.byteLength(body) } as never })
    request.on('error', (error: NodeJS.ErrnoException) => {
      const isClosed = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
      reject(isClosed ? new ClosedConnection(error.message, { cause: error }) : error)
    })
    request.on('response', (response) => readText(response).then((text) => resolve({ response, text }), reject))
    request.end(body)
  })
}

async function readText(response: Pick<IncomingMessage, 'destroy'> & AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response) {
    length += chunk.length
    if (length > limits.answerBytesMax) {
      response.destroy()
      throw new Error(`the answer has more than ${limits.answerBytesMax} bytes`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** Only 200 with JSON is an answer; redirects are not followed. */
function judge({ response, text }: Posted, credential: Credential, fail: (why: string) => CallAnswer): CallAnswer {
  const code = response.statusCode ?? 0
  if (code !== 200)
    return {
      kind: 'failed',
      message: refusalText(code, withoutSecrets(text, credential)),
      code: code >= 400 ? code : undefined,
      isLate: false,
    }
  const type = response.headers['content-type'] ?? 'application/json'
  const mediaType = (type.split(';')[0] ?? '').trim().toLowerCase()
  return mediaType === 'application/json'
    ? { kind: 'answered', text }
    : fail(`the answer has content type ${type}; expected application/json`)
}

/** Shorter ones are no secrets, and would be found in every text. */
const secretLengthMin = 8

/** A server that fails may repeat what it was shown, and what it says goes to the log and to the client. */
function withoutSecrets(said: string, credential: Credential): string {
  const { token = '', password = '' } = credential
  const shown = authorization(credential).authorization?.split(' ')[1] ?? ''
  const secrets = [token, shown, password].filter(({ length }) => length >= secretLengthMin)
  return secrets.reduce((text, secret) => text.replaceAll(secret, '[redacted]'), said)
}

function refusalText(code: number, text: string): string {
  if (code >= 300 && code < 400) return `the webhook answered with a redirect (${code}), which is not followed`
  if (code === 404) return 'the server could not find the requested resource'
  const shown = JSON.stringify(text.slice(0, limits.answerTextMax))
  if (code >= 500) return `an error on the server (${shown}) has prevented the request from succeeding`
  return `the webhook answered with code ${code} (${shown}); expected 200`
}
