/**
 * The floors over HTTP: the least that a server can do for the same bytes. The bench starts it as a separate process with the mode,
 * the certificate folder and, for some, sizes; prints `port N`.
 */
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import { join } from 'node:path'

const [mode = '', folder = '', size = '3000', count = '1'] = process.argv.slice(2)
const tls = (): { cert: Buffer; key: Buffer } => ({
  cert: readFileSync(join(folder, 'serving.crt')),
  key: readFileSync(join(folder, 'serving.key')),
})

const body = Buffer.alloc(Number(size), 'x')
const big = Buffer.alloc(262_144, 'x')
const watchers: ServerResponse[] = []

const handlers: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
  buffer: (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
    response.end(body)
  },
  list: (_request, response) => {
    let left = Number(size) * Number(count)
    // With a length, the chunks of the body have no frames.
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': left })
    const more = (): void => {
      while (left > 0) {
        const part = left >= big.length ? big : big.subarray(0, left)
        left -= part.length
        if (!response.write(part)) {
          response.once('drain', more)
          return
        }
      }
      response.end()
    }
    more()
  },
  post: (request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part) => parts.push(part))
    request.on('end', () => {
      const text = Buffer.from(JSON.stringify(JSON.parse(Buffer.concat(parts).toString('utf8'))))
      response.writeHead(201, { 'content-type': 'application/json', 'content-length': text.length })
      response.end(text)
    })
  },
  watch: (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    watchers.push(response)
  },
}

/**
 * Fan-out: one shared chunk of `perTurn` events of `eventBytes` each, `rounds` times, one turn each. The server writes the chunk to each watcher's
 * socket directly, without the streams of node:http, so that a turn costs as little as possible. The process answers every message with its CPU time so
 * far.
 */
process.on('message', ({ rounds = 0, eventBytes = 0, perTurn = 1 }: { rounds?: number; eventBytes?: number; perTurn?: number }) => {
  const events = '{"type":"'.padEnd(eventBytes, 'e').repeat(perTurn)
  const frame = Buffer.from(`${events.length.toString(16)}\r\n${events}\r\n`)
  let left = rounds
  const turn = (): void => {
    for (const watcher of watchers) watcher.socket?.write(frame)
    left--
    if (left > 0) setImmediate(turn)
  }
  if (rounds > 0) turn()
  const { user, system } = process.cpuUsage()
  process.send?.({ cpuMicros: user + system })
})

function listen(): { listen(port: number, host: string, done: () => void): unknown; address(): unknown } {
  if (mode === 'buffer2') {
    const server = createSecureServer({ ...tls(), allowHTTP1: true })
    server.on('stream', (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/json', 'content-length': body.length })
      stream.end(body)
    })
    server.on('request', (request: Http2ServerRequest, response: Http2ServerResponse) => {
      if (request.httpVersion !== '2.0') response.end()
    })
    return server
  }
  if (mode === 'watch2') {
    const server = createSecureServer({ ...tls(), settings: { maxConcurrentStreams: 250 } })
    server.on('stream', (stream) => stream.respond({ ':status': 200, 'content-type': 'application/json' }))
    return server
  }
  const handler = handlers[mode]
  if (handler === undefined) throw new Error(`unknown mode ${mode}`)
  return createHttpsServer({ ...tls() }, handler)
}

const server = listen()
server.listen(0, '127.0.0.1', () => process.stdout.write(`port ${(server.address() as { port: number }).port}\n`))
