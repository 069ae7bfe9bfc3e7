import type { IncomingMessage, ServerResponse } from 'node:http'
import { createSecureServer, type Http2SecureServer, type SecureServerOptions, type ServerHttp2Session } from 'node:http2'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { aCertificate, anAuthority, type Pair } from '@orch/platform/any-certificate'
import { onTestFinished } from 'vitest'

/** A request as the remote server received it. */
type Arrived = ReturnType<typeof arrivedOf>

export type Answering = (arrived: Arrived, response: ServerResponse) => void

export interface RemoteServer {
  readonly port: number
  /** PEM, in base64. */
  readonly caBundle: string
  /** The server's own certificate, also PEM in base64. */
  readonly servingBundle: string
  /** `host:port`. */
  readonly address: string
  readonly arrived: Arrived[]
  /** The clients' requests, without discovery and without the server's own requests, which can arrive at any time. */
  asked(): Arrived[]
  /** A certificate that the server trusts. */
  client(commonName: string): Promise<Pair>
  answer: Answering
  onUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  /** The open sessions of HTTP/2. */
  readonly sessions: ReadonlySet<ServerHttp2Session>
  stop(): Promise<void>
}

export interface RemoteServerOptions {
  readonly dnsNames?: readonly string[]
  /** The server offers HTTP/2 besides HTTP/1.1. */
  readonly http2?: { readonly maxConcurrentStreams?: number }
}

/** A server of the test that serves a group version over TLS as `api.team.svc`. */
export async function aRemoteServer(
  answer: Answering,
  { dnsNames = ['api.team.svc'], http2 }: RemoteServerOptions = {},
): Promise<RemoteServer> {
  const authority = await anAuthority('behind')
  const serving = await aCertificate({ issuer: authority, commonName: 'api', use: 'server', dnsNames })
  const arrived: Arrived[] = []
  const made = { answer, onUpgrade: (_request: IncomingMessage, socket: Duplex, _head: Buffer) => void socket.destroy() }
  const secured = { cert: serving.certificate, key: serving.key, ca: authority.certificate, requestCert: true, rejectUnauthorized: false }
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    if (isCut(response)) return
    const one = arrivedOf(request, body)
    arrived.push(one)
    made.answer(one, response)
  }
  const sessions = new Set<ServerHttp2Session>()
  const server = http2 === undefined ? createServer(secured, take) : aServerOfBoth({ ...secured, settings: http2 }, take, sessions)
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    arrived.push(arrivedOf(request, ''))
    made.onUpgrade(request, socket, head)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stop = async () => {
    for (const session of sessions) session.destroy()
    if ('closeAllConnections' in server) server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  onTestFinished(() => void stop())
  const { port } = server.address() as AddressInfo
  const caBundle = Buffer.from(authority.certificate).toString('base64')
  return Object.assign(made, {
    port,
    sessions,
    caBundle,
    servingBundle: Buffer.from(serving.certificate).toString('base64'),
    address: `127.0.0.1:${port}`,
    arrived,
    asked: () => arrived.filter(({ url, headers }) => url !== flavorsPath && !String(headers['x-remote-user']).startsWith('system:')),
    client: (commonName: string) => aCertificate({ issuer: authority, commonName, use: 'client' }),
    stop,
  })
}

/** Node.js presents its HTTP/2 requests in the form of HTTP/1.1. */
function aServerOfBoth(
  options: SecureServerOptions,
  take: (request: IncomingMessage, response: ServerResponse) => void,
  sessions: Set<ServerHttp2Session>,
): Http2SecureServer {
  const server = createSecureServer({ ...options, allowHTTP1: true })
  server.on('request', take as never)
  server.on('session', (session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
  })
  return server
}

/** The client destroyed the stream while the server read the request. */
function isCut(response: ServerResponse): boolean {
  const { stream } = response as { readonly stream?: { readonly destroyed: boolean } }
  return stream?.destroyed === true
}

function arrivedOf(request: IncomingMessage, body: string) {
  const socket = request.socket as TLSSocket
  return {
    method: request.method ?? '',
    url: request.url ?? '',
    headers: request.headers,
    headersDistinct: request.headersDistinct,
    httpVersion: request.httpVersion,
    body,
    /** The caller's certificate. */
    certificate: socket.getPeerX509Certificate?.(),
    /** Common name of the caller's certificate; '' if the caller showed no certificate. */
    caller: String(socket.getPeerCertificate?.()?.subject?.CN ?? ''),
    /** The server name that the caller asked for (SNI). */
    serverName: String((socket as unknown as { servername: unknown }).servername || ''),
  }
}

/** Answers with JSON. */
export function json(response: ServerResponse, code: number, body: unknown): void {
  response.writeHead(code, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

/** The group version that the remote servers of these tests serve. */
export const flavors = { group: 'taste.example.com', version: 'v1alpha1' } as const
export const flavorsPath = `/apis/${flavors.group}/${flavors.version}`

const verbs = ['create', 'delete', 'get', 'list', 'update', 'watch']

/** The resources of the group version, as the remote server lists them. */
export const flavorResources = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: `${flavors.group}/${flavors.version}`,
  resources: [{ name: 'flavors', singularName: 'flavor', namespaced: true, kind: 'Flavor', verbs, shortNames: ['fl'] }],
}

export function aFlavor(name: string, namespace = 'default'): object {
  return {
    apiVersion: `${flavors.group}/${flavors.version}`,
    kind: 'Flavor',
    metadata: { name, namespace, uid: `uid-${name}`, resourceVersion: '7' },
    spec: { taste: name },
  }
}

/** Serves discovery and flavors, one object in each namespace. */
export const servingFlavors: Answering = ({ method, url, body }, response) => {
  const [path = ''] = url.split('?')
  if (path === flavorsPath) return json(response, 200, flavorResources)
  const collection = `${flavorsPath}/namespaces/default/flavors`
  if (path === collection && method === 'POST') return json(response, 201, JSON.parse(body))
  if (path === collection || path === `${flavorsPath}/flavors`) {
    const { groupVersion: apiVersion } = flavorResources
    return json(response, 200, { apiVersion, kind: 'FlavorList', metadata: { resourceVersion: '7' }, items: [aFlavor('sweet')] })
  }
  if (path === `${collection}/sweet`) return json(response, 200, aFlavor('sweet'))
  json(response, 404, { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', message: `no ${path}`, code: 404 })
}
