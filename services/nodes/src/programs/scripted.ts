import { once } from 'node:events'
import { STATUS_CODES } from 'node:http'
import { connect, type Server } from 'node:net'
import { type Duplex, duplexPair } from 'node:stream'
import { findAnswer, type PodScript, type PortAnswer } from '@orch/core/pod-life'
import type { Pod } from '@orch/core/workloads'
import { onAbort } from '@orch/platform'
import type { PortHandler, PortSocket, PortSource, ProgramSource } from './program.ts'

type ScriptFor = (pod: Pod) => PodScript

/** The commands that scripts answer. */
export function scriptedPrograms(scriptFor: ScriptFor): ProgramSource {
  return ({ pod, name }, command) => {
    const answer = findAnswer(scriptFor(pod).containers.get(name)?.exec ?? [], command)
    if (answer === undefined) return undefined
    return async (container, _command, { write, signal }) => {
      if (answer.afterMs > 0) await container.sleep(answer.afterMs, signal)
      if (answer.stdout !== '') await write('stdout', answer.stdout)
      if (answer.stderr !== '') await write('stderr', answer.stderr)
      return answer.exitCode
    }
  }
}

/** The ports that scripts serve, in any container of a Pod. */
export function scriptedPorts(scriptFor: ScriptFor): PortSource {
  return (pod, port) => {
    for (const { ports } of scriptFor(pod).containers.values()) {
      const answer = ports.get(port)
      if (answer !== undefined) return answer.kind === 'http' ? (socket) => answerHttp(socket, answer) : (socket) => passOn(socket, answer)
    }
    return undefined
  }
}

const headBytesMax = 64 * 1024

/** Answers one request, ignoring its body. */
async function answerHttp(
  { input, write }: PortSocket,
  { status, contentType, body }: Extract<PortAnswer, { kind: 'http' }>,
): Promise<void> {
  let head = ''
  for await (const chunk of input) {
    head += Buffer.from(chunk).toString('latin1')
    if (head.includes('\r\n\r\n') || head.length > headBytesMax) break
  }
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  const content = head.startsWith('HEAD ') ? '' : body
  await write(`${lines.join('\r\n')}\r\nConnection: close\r\n\r\n${content}`)
}

/** Connects to a program of the machine, which sees a connection from this server. */
async function passOn(client: PortSocket, { host, port }: Extract<PortAnswer, { kind: 'forward' }>): Promise<void> {
  const socket = connect({ host, port, allowHalfOpen: true })
  const connected = once(socket, 'connect', { signal: client.signal })
  client.opensWith(connected)
  await exchange(client, socket, connected)
}

/** A server of Node.js receives the connections to a port; it need not listen. */
export function handledBy(server: Server): PortHandler {
  return (client) => {
    const [near, far] = duplexPair()
    far.once('close', () => near.destroy())
    server.emit('connection', far)
    return exchange(client, near)
  }
}

/** Sends the bytes of both sides until the socket has ended. */
async function exchange({ input, write, signal }: PortSocket, socket: Duplex, connected?: Promise<unknown>): Promise<void> {
  const destroy = () => void socket.destroy()
  onAbort(signal, destroy)
  try {
    await connected
    void send(input, socket)
    for await (const chunk of socket) await write(chunk)
  } finally {
    signal.removeEventListener('abort', destroy)
    destroy()
  }
}

async function send(input: AsyncIterable<Uint8Array>, socket: Duplex): Promise<void> {
  try {
    for await (const chunk of input) if (!socket.write(chunk)) await once(socket, 'drain')
    socket.end()
  } catch {
    // The connection has ended.
  }
}
