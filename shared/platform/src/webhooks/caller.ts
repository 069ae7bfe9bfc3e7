import { request as httpsRequest, type RequestOptions } from 'node:https'
import { onAbort, unlessAborted } from '../abort.ts'
import { answerHead } from '../answer-head.ts'
import type { Clock } from '../clock.ts'
import { isLinkLocal, lookupElsewhere } from '../link-local.ts'
import { brokenAnswer, type CallRefusal, type OutgoingCalls, passCall } from '../outgoing-calls.ts'
import type { ServiceAddresses } from './addresses.ts'
import { type CallAnswer, judge, type Posted, readText } from './answer.ts'
import { ContextAgent } from './context-agent.ts'
import { TlsContexts } from './contexts.ts'
import { authorizationOf, type Credential, credentialFor, hostOf, serviceCredential, type WebhookCredentials } from './credentials.ts'
import { limits } from './limits.ts'
import { type Route, redirectedPath, routeTo } from './route.ts'
import type { WebhookTarget } from './target.ts'
import { unreachedReason } from './unreached.ts'

export interface Call {
  readonly webhook: WebhookTarget
  /** The kind and name of the webhook: `webhook/deny.example.com`. */
  readonly to: string
  readonly body: string
  readonly timeoutMs: number
  /** Raised when the caller gives up. */
  readonly signal: AbortSignal | undefined
  /** The W3C trace context for the webhook; undefined if the request is not traced. */
  readonly traceparent: string | undefined
}

/** Posts to webhooks, and reuses their connections. */
export interface WebhookCaller {
  call(call: Call): Promise<CallAnswer>
  close(): void
}

export interface CallerNeeds {
  readonly addresses: ServiceAddresses
  readonly credentials: WebhookCredentials
  readonly allowsLinkLocal: boolean
  readonly clock: Clock
  /** The User-Agent of calls to webhooks. */
  readonly userAgent: string
  /** Injects the faults of a test; undefined without a test. */
  readonly calls?: OutgoingCalls | undefined
}

export function createWebhookCaller({ addresses, credentials, allowsLinkLocal, clock, userAgent, calls }: CallerNeeds): WebhookCaller {
  const contexts = new TlsContexts()
  let agent: ContextAgent | undefined
  return {
    async call({ webhook, to, body, timeoutMs, signal, traceparent }) {
      const ending = new AbortController()
      const end = () => ending.abort()
      const state = { isLate: false }
      const timer = clock.after(timeoutMs, () => {
        state.isLate = true
        end()
      })
      onAbort(signal, end)
      const fail = (why: string): CallAnswer => ({ kind: 'failed', message: why, code: undefined, isLate: state.isLate })
      let start = ''
      let doubt: string | undefined
      agent ??= new ContextAgent({
        keepAlive: true,
        maxSockets: limits.connectionsMax,
        maxFreeSockets: limits.idleConnectionsMax,
        scheduling: 'lifo',
      })
      try {
        const route = routeTo(webhook, timeoutMs)
        start = `Post ${JSON.stringify(route.url)}: `
        const { doubt: ofPlace, ...place } = await unlessAborted(route.find(addresses), ending.signal)
        doubt = ofPlace
        if (!allowsLinkLocal && isLinkLocal(place.host)) throw new Error(`link-local address ${place.host} is not called`)
        const credential = credentialTo(webhook, credentials)
        const options = {
          ...place,
          ...(allowsLinkLocal ? {} : { lookup: lookupElsewhere }),
          secureContext: contexts.of({ authorities: webhook.authorities, ...pairOf(credential) }),
          ...optionsFor(route, credential, { 'user-agent': userAgent, ...(traceparent === undefined ? {} : { traceparent }) }),
          agent,
          signal: ending.signal,
        }
        const { signal: ended } = ending
        // A request that waits for a connection does not settle when it is aborted.
        const send = () => unlessAborted(post(options, body, route), ended)
        const posted = await passCall(calls, { to, signal: ended, send, ...inPlace })
        return judge(posted, credential, (why) => fail(`${start}${why}`))
      } catch (error) {
        const why = state.isLate ? 'context deadline exceeded' : ending.signal.aborted ? 'context canceled' : unreachedReason(error, doubt)
        return fail(`${start}${why}`)
      } finally {
        timer.cancel()
        signal?.removeEventListener('abort', end)
      }
    },
    close: () => agent?.destroy(),
  }
}

/** The answers that faults produce. */
const inPlace = {
  refuse: ({ code, body }: CallRefusal): Posted => ({ response: { statusCode: code, headers: {} }, text: body }),
  truncate(): never {
    throw brokenAnswer()
  },
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
      ...authorizationOf(credential),
      ...extra,
    },
    ...(serverName === undefined ? {} : { servername: serverName }),
  }
}

function credentialTo({ place }: WebhookTarget, credentials: WebhookCredentials): Credential {
  // The default port is omitted from an address.
  return place.kind === 'service' ? serviceCredential(credentials, place) : credentialFor(credentials, hostOf(place.url))
}

/** Follows redirects that keep method and body, only on the same host: another server must not see credentials and objects. */
async function post(options: RequestOptions, body: string, { host }: Route): Promise<Posted> {
  let path = String(options.path)
  for (let count = 0; ; count += 1) {
    const posted = await postTo({ ...options, path }, body)
    const { statusCode, headers } = posted.response
    const location = statusCode === 307 || statusCode === 308 ? headers.location : undefined
    const next = location === undefined ? undefined : redirectedPath(location, { host, path })
    if (next === undefined) return posted
    if (count === limits.redirectsMax) throw new Error(`stopped after ${limits.redirectsMax} redirects`)
    path = next
  }
}

/** Repeats the call once on a new connection if the reused one has just been closed by the other side. */
async function postTo(options: RequestOptions, body: string): Promise<Posted> {
  try {
    return await postOnce(options, body)
  } catch (error) {
    if (!(error instanceof ClosedConnection)) throw error
    return postOnce({ ...options, agent: new ContextAgent() }, body)
  }
}

class ClosedConnection extends Error {}

async function postOnce(options: RequestOptions, body: string): Promise<Posted> {
  const request = httpsRequest({ ...options, headers: { ...options.headers, 'content-length': Buffer.byteLength(body) } as never })
  request.end(body)
  const response = await answerHead(request).catch((error: NodeJS.ErrnoException) => {
    const isClosed = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
    throw isClosed ? new ClosedConnection(error.message, { cause: error }) : error
  })
  return { response, text: await readText(response) }
}
