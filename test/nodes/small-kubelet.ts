import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { systemClock } from '@orch/platform'
import { aCertificate, anAuthority, type Pair } from '@orch/platform/any-certificate'
import { WebSocketServer } from 'ws'
import { SpdyCommandStreams } from '../../services/gateway/src/streams/command-tunnel.ts'
import { SpdyPortStreams } from '../../services/gateway/src/streams/port-tunnel.ts'
import { SpdyConnection } from '../../services/gateway/src/streams/spdy.ts'

/** A request as the kubelet received it. */
interface Arrived {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  /** Common name of the client's certificate. */
  readonly caller: string
}

/** A kubelet of the tests: an HTTPS server that requires the API server's certificate and serves logs, commands and ports. */
export interface SmallKubelet {
  readonly port: number
  /** PEM of the authority that signed its certificate, for --kubelet-certificate-authority. */
  readonly authority: string
  /** The kubelet's certificate. */
  readonly serving: Pair
  /** A client certificate that the kubelet accepts, for --kubelet-client-certificate. */
  readonly client: Pair
  readonly arrived: Arrived[]
  /** Answers requests that keep the protocol. */
  answer: (arrived: Arrived, response: ServerResponse) => void
  /** Answers protocol upgrades; absent: the test kubelet answers like a real kubelet. */
  upgrade: ((request: IncomingMessage, socket: Duplex) => void) | undefined
  stop(): Promise<void>
}

export async function aSmallKubelet(): Promise<SmallKubelet> {
  const authority = await anAuthority('kubelets')
  const serving = await aCertificate({ issuer: authority, commonName: 'system:node:real', use: 'server' })
  const client = await aCertificate({ issuer: authority, commonName: 'kube-apiserver-kubelet-client', use: 'client' })
  const kubelet: Pick<SmallKubelet, 'answer' | 'upgrade' | 'arrived'> = { arrived: [], answer: tellRequest, upgrade: undefined }
  const secured = { cert: serving.certificate, key: serving.key, ca: authority.certificate, requestCert: true, rejectUnauthorized: false }
  const server = createServer(secured, async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const arrived = arrivedOf(request, body)
    kubelet.arrived.push(arrived)
    if (arrived.caller === '') return void response.writeHead(401).end('Unauthorized')
    kubelet.answer(arrived, response)
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    kubelet.arrived.push(arrivedOf(request, ''))
    socket.on('error', () => {})
    if (kubelet.upgrade !== undefined) kubelet.upgrade(request, socket)
    else if (request.headers.upgrade === 'websocket') echoMessages(request, socket)
    else if (request.url?.startsWith('/portForward/')) echoPorts(request, socket)
    else void runCommand(request, socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(kubelet, {
    port: (server.address() as AddressInfo).port,
    authority: authority.certificate,
    serving,
    client,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  })
}

function arrivedOf(request: IncomingMessage, body: string): Arrived {
  const caller = String((request.socket as TLSSocket).getPeerCertificate()?.subject?.CN ?? '')
  return { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body, caller }
}

function tellRequest({ method, url, body }: Arrived, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/plain' }).end(`${method} ${url} ${body}\n`)
}

function accept(request: IncomingMessage, socket: Duplex, protocol: string): void {
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${request.headers.upgrade}\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\n`,
  )
}

/** Echoes the standard input, writes "done" at its end, and exits with the number in the query `command=exit&command=N`. */
async function runCommand(request: IncomingMessage, socket: Duplex): Promise<void> {
  const query = new URL(request.url ?? '', 'https://kubelet').searchParams
  const on = (name: string) => query.get(name) === '1'
  const asked = { stdin: on('input'), stdout: on('output'), stderr: on('error'), tty: on('tty') }
  accept(request, socket, 'v4.channel.k8s.io')
  const collected = new SpdyCommandStreams(4, asked)
  const connection = new SpdyConnection({ socket, head: new Uint8Array(), onStream: (stream) => collected.add(stream) })
  const tunnel = await collected.tunnel(connection, systemClock)
  if (tunnel === undefined) return
  if (tunnel.resizes !== undefined) {
    const { value } = await tunnel.resizes.next()
    await tunnel.write('stdout', Buffer.from(`size ${value}`))
  }
  if (tunnel.stdin !== undefined) for await (const bytes of tunnel.stdin) await tunnel.write('stdout', bytes)
  await tunnel.write('stderr', Buffer.from('done\n'))
  const [word, code = ''] = query.getAll('command')
  if (word !== 'exit') return tunnel.finish({ metadata: {}, status: 'Success' })
  const message = `command terminated with non-zero exit code: exit status ${code}`
  const details = { causes: [{ reason: 'ExitCode', message: code }] }
  await tunnel.finish({ metadata: {}, status: 'Failure', message, reason: 'NonZeroExitCode', details })
}

function echoPorts(request: IncomingMessage, socket: Duplex): void {
  accept(request, socket, 'portforward.k8s.io')
  const pairs = new SpdyPortStreams(systemClock, ({ port, data, error }) => {
    void (async () => {
      await data.write(Buffer.from(`port ${port}: `))
      for await (const bytes of data.input) await data.write(bytes)
      data.end()
      error.end()
    })()
  })
  new SpdyConnection({ socket, head: new Uint8Array(), onStream: (stream, openCount) => pairs.add(stream, openCount) })
}

function echoMessages(request: IncomingMessage, socket: Duplex): void {
  const server = new WebSocketServer({ noServer: true, handleProtocols: (asked) => [...asked].at(-1) ?? false })
  server.handleUpgrade(request, socket, Buffer.alloc(0), (client) => {
    client.on('message', (data, isBinary) => client.send(data, { binary: isBinary }))
  })
}
