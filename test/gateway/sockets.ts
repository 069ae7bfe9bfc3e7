import { connect as connectHttp2 } from 'node:http2'
import { connect, type TLSSocket } from 'node:tls'
import { parseConfiguration } from '@orch/client'
import { type StartOptions, start } from 'orch'
import { onTestFinished } from 'vitest'

/** A server, and the credentials for raw sockets. */
export type SocketServer = Awaited<ReturnType<typeof aSocketServer>>

/** A server that ends with the test. */
export async function aSocketServer(options: StartOptions = {}) {
  const server = await start(options)
  onTestFinished(() => server.stop())
  const { certificateAuthority, clientCertificate, clientKey } = await parseConfiguration(server.kubeconfig)
  return {
    server,
    port: Number(new URL(server.url).port),
    credentials: {
      ca: certificateAuthority ?? '',
      ...(clientCertificate === undefined ? {} : { cert: clientCertificate }),
      ...(clientKey === undefined ? {} : { key: clientKey }),
    },
  }
}

/** A TLS connection over which the test writes HTTP/1.1 itself. */
export function openSocket({ port, credentials }: SocketServer): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', ALPNProtocols: ['http/1.1'], ...credentials }, () => resolve(socket))
    socket.on('error', reject)
    onTestFinished(() => void socket.destroy())
  })
}

/** All bytes until the server ends or cuts the connection. */
export async function readToEnd(socket: TLSSocket): Promise<string> {
  let text = ''
  try {
    for await (const chunk of socket) text += String(chunk)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ECONNRESET' && code !== 'EPIPE') throw error
  }
  return text
}

/** Sends one request unchanged, with `Connection: close`; returns the whole answer. */
export async function exchange(server: SocketServer, lines: readonly string[], body: string | Uint8Array = ''): Promise<string> {
  const socket = await openSocket(server)
  socket.write(`${[...lines, 'Host: localhost', 'Connection: close'].join('\r\n')}\r\n\r\n`)
  if (body.length > 0) socket.write(body)
  return readToEnd(socket)
}

/** Sends a request over HTTP/2. */
export async function exchangeHttp2({ port, credentials }: SocketServer, method: string, path: string, body?: string) {
  const session = connectHttp2(`https://127.0.0.1:${port}`, credentials)
  try {
    const stream = session.request({
      ':method': method,
      ':path': path,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    })
    stream.end(body)
    const status = await new Promise<number>((resolve, reject) => {
      stream.once('response', (headers) => resolve(Number(headers[':status'])))
      stream.once('error', reject)
      session.once('error', reject)
    })
    let text = ''
    for await (const chunk of stream) text += String(chunk)
    return { status, text }
  } finally {
    session.close()
  }
}
