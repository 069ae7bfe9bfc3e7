import { limits } from '../limits.ts'
import type { CommandStreams, CommandTunnel } from './command-tunnel.ts'
import type { SpdyConnection, SpdyStream } from './spdy.ts'

/**
 * Connects the tunnel of a client to a connection that this server has opened, with version 4 of the protocol. Resolves with the bytes of the final
 * Status; undefined if the connection ended without one.
 */
export async function joinSpdyCommand(
  tunnel: CommandTunnel,
  connection: SpdyConnection,
  streams: CommandStreams,
): Promise<Buffer | undefined> {
  const open = (streamtype: string) => connection.open(new Map([['streamtype', streamtype]]))
  const error = open('error')
  const stdin = streams.stdin ? open('stdin') : undefined
  const outputs = (['stdout', 'stderr'] as const).filter((name) => streams[name]).map((name) => ({ name, stream: open(name) }))
  const resize = streams.tty ? open('resize') : undefined
  void tunnel.closed.then(() => connection.close())
  if (stdin !== undefined && tunnel.stdin !== undefined) void send(tunnel.stdin, stdin)
  if (resize !== undefined && tunnel.resizes !== undefined) void send(tunnel.resizes, resize)
  const copies = outputs.map(async ({ name, stream }) => {
    for await (const bytes of stream.input) await tunnel.write(name, bytes)
  })
  const status = await readStatus(error)
  await Promise.all(copies)
  connection.close()
  return status
}

async function send(bytes: AsyncIterable<Uint8Array>, to: SpdyStream): Promise<void> {
  for await (const chunk of bytes) await to.write(chunk)
  to.end()
}

async function readStatus({ input }: SpdyStream): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of input) {
    bytes += chunk.length
    if (bytes > limits.commandStatusBytesMax) return undefined
    chunks.push(chunk)
  }
  return bytes === 0 ? undefined : Buffer.concat(chunks)
}
