import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Upgrade } from '../exchange/exchange.ts'
import type { GatewayRequest } from '../request/request.ts'
import { mayServerSet } from './passed-headers.ts'

/** The remote server's answer to an upgrade request. */
export interface Upgraded {
  readonly response: IncomingMessage
  readonly socket: Duplex
  /** Its first bytes in that protocol. */
  readonly head: Uint8Array
}

/** Headers that a response without a body cannot have. */
const framing: ReadonlySet<string> = new Set(['content-length', 'trailer', 'transfer-encoding'])

/** Connects the two sockets; from here on this server does not parse either side. Resolves when either has ended. */
export async function passUpgrade(
  request: GatewayRequest,
  { socket: client, head: first }: Upgrade,
  { response, socket: behind, head }: Upgraded,
): Promise<void> {
  request.code = response.statusCode ?? 101
  client.write(`HTTP/1.1 ${response.statusCode} ${response.statusMessage}\r\n${fieldsOf(response)}\r\n`, 'latin1')
  client.write(head)
  behind.write(first)
  await joinStreams(client, behind)
}

/** Forwards the bytes of both. When either has ended, and the other has received its last bytes, both are closed. */
export async function joinStreams(client: Duplex, behind: Duplex): Promise<void> {
  client.pipe(behind).pipe(client)
  await Promise.race([passed(client, behind), passed(behind, client)])
  client.destroy()
  behind.destroy()
}

/** Resolves when one stream has ended and the other has written its last bytes, or when either is destroyed. */
function passed(from: Duplex, to: Duplex): Promise<void> {
  return new Promise((resolve) => {
    to.on('error', resolve).once('close', () => from.readableEnded && resolve())
    from.once('end', () => to.once('finish', resolve))
    from.once('close', () => !from.readableEnded && resolve())
  })
}

/** The received header fields of the answer, each with its line end. */
function fieldsOf({ rawHeaders }: IncomingMessage): string {
  const fields = rawHeaders.map((name, index) => {
    const key = name.toLowerCase()
    return index % 2 === 0 && mayServerSet(key) && !framing.has(key) ? `${name}: ${rawHeaders[index + 1]}\r\n` : ''
  })
  return fields.join('')
}
