import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { connect } from 'node:http2'
import { Agent } from 'node:https'
import { parseConfiguration } from '@orch/client'
import type { Pair } from '@orch/platform/any-certificate'
import type { RunningServer } from 'orch'
import { type Answer as Asked, ask } from '../http/ask.ts'

/** One request with credentials. */
export interface Call {
  readonly path?: string
  readonly method?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: unknown
  /** The certificate that the client shows. */
  readonly pair?: Pair
  /** Several calls on one connection. */
  readonly agent?: Agent
}

type Answer = Omit<Asked, 'text'>

/** Sends one request with only the given credentials. */
export async function call({ url, kubeconfig }: RunningServer, options: Call): Promise<Answer> {
  const { path = '/api', method = 'GET', headers = {}, body, pair, agent = new Agent() } = options
  const { certificateAuthority: ca } = await parseConfiguration(kubeconfig)
  return ask(new URL(path, url), {
    ...{ agent, method, headers, body },
    ...(ca === undefined ? {} : { ca }),
    ...(pair && { cert: pair.certificate, key: pair.key }),
  })
}

/** The same request over a new HTTP/2 connection, with header names in lower case. */
export async function callHttp2({ url, kubeconfig }: RunningServer, options: Omit<Call, 'agent'>): Promise<Answer> {
  const { path = '/api', method = 'GET', headers = {}, body, pair } = options
  const { certificateAuthority: ca } = await parseConfiguration(kubeconfig)
  const session = connect(url, { ...(ca === undefined ? {} : { ca }), ...(pair && { cert: pair.certificate, key: pair.key }) })
  try {
    const typed = body === undefined ? {} : { 'content-type': 'application/json' }
    const stream = session.request({ ':path': path, ':method': method, ...typed, ...headers })
    const answered = new Promise<IncomingHttpHeaders>((resolve, reject) => stream.on('error', reject).on('response', resolve))
    stream.end(body === undefined ? undefined : JSON.stringify(body))
    const received = await answered
    let text = ''
    for await (const chunk of stream) text += String(chunk)
    const code = Number((received as Record<string, unknown>)[':status'])
    return { code, headers: received, body: text.startsWith('{') ? JSON.parse(text) : text }
  } finally {
    session.close()
  }
}

/** The administrator's certificate. */
export async function adminPair({ kubeconfig }: RunningServer): Promise<Pair> {
  const { clientCertificate = '', clientKey = '' } = await parseConfiguration(kubeconfig)
  return { certificate: clientCertificate, key: clientKey }
}

/** The credentials of a client configuration in the form of Node.js clients. */
export async function credentialsOf({
  kubeconfig,
}: Pick<RunningServer, 'kubeconfig'>): Promise<{ readonly ca: string; readonly cert: string; readonly key: string }> {
  const { certificateAuthority: ca = '', clientCertificate: cert = '', clientKey: key = '' } = await parseConfiguration(kubeconfig)
  return { ca, cert, key }
}

/** The user that the server recognizes; undefined after a 401. */
export async function whoAmI(server: RunningServer, options: Call, send: typeof call = call) {
  const { code, body } = await send(server, {
    ...options,
    method: 'POST',
    path: '/apis/authentication.orch.io/v1/selfsubjectreviews',
    body: { apiVersion: 'authentication.orch.io/v1', kind: 'SelfSubjectReview' },
  })
  if (code === 401) return undefined
  if (code !== 201) throw new Error(`${code}: ${JSON.stringify(body)}`)
  return body.status.userInfo as { username: string; uid?: string; groups?: string[]; extra?: Record<string, string[]> }
}
