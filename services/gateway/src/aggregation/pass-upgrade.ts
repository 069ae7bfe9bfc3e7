import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { GatewayRequest } from '../request.ts'

/** What the server behind has answered to a request for another protocol. */
export interface Upgraded {
  readonly response: IncomingMessage
  readonly socket: Duplex
  /** What it has sent in that protocol already. */
  readonly head: Uint8Array
}

/** Joins the two connections: from here on neither side is read by this server. Resolves when either has ended. */
export async function passUpgrade(request: GatewayRequest, { response, socket: behind, head }: Upgraded): Promise<void> {
  const { upgrade } = request.exchange
  if (upgrade === undefined) {
    behind.destroy()
    return
  }
  const { socket: client } = upgrade
  request.code = response.statusCode ?? 101
  const fields = response.rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${response.rawHeaders[index + 1]}`] : []))
  client.write(`HTTP/1.1 ${response.statusCode} ${response.statusMessage}\r\n${fields.join('\r\n')}\r\n\r\n`, 'latin1')
  client.write(head)
  behind.write(upgrade.head)
  client.pipe(behind).pipe(client)
  const over = () => {
    client.destroy()
    behind.destroy()
  }
  await Promise.allSettled([finished(client).finally(over), finished(behind).finally(over)])
}
