import { once } from 'node:events'
import { duplexPair } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { NodesService, SessionPart, Stream } from '@orch/core/contracts'
import { failed, notFound } from '@orch/core/meta'
import { expect, test } from 'vitest'
import { connectToPod } from './node-sessions.ts'
import { PushStream } from './rpc/push-stream.ts'

const place = { pod: { node: 'n', namespace: 'd', name: 'p', uid: 'u' }, port: 80 }
const nodesWith = (stream: Stream<SessionPart>, input: NodesService['input'] = async () => ({})) =>
  ({ forward: () => stream, input }) as Partial<NodesService> as NodesService
const failing = (error: unknown) => {
  const stream = new PushStream<SessionPart>()
  stream.fail(error)
  return stream
}

test('NODE-IO-28: a connection to a Pod whose node is not simulated is made elsewhere', async () => {
  const [near, far] = duplexPair()
  const nodes = nodesWith(failing(notFound({ group: '', resource: 'nodes' }, 'n')))
  const socket = connectToPod(nodes, place, { elsewhere: () => near })
  socket.end('question')
  expect(String(...(await once(far, 'data')))).toBe('question')
  far.end('answer')
  expect(await text(socket)).toBe('answer')
})

test('NODE-IO-28: a connection that cannot be made elsewhere ends with the error', async () => {
  const [near] = duplexPair()
  const nodes = nodesWith(failing(notFound({ group: '', resource: 'nodes' }, 'n')))
  const socket = connectToPod(nodes, place, {
    elsewhere() {
      setImmediate(() => near.destroy(new Error('connect ECONNREFUSED')))
      return near
    },
  })
  await expect(once(socket, 'close')).rejects.toThrow('connect ECONNREFUSED')
})

test('NODE-IO-28: a client that ends its side of a connection still gets the output', async () => {
  const stream = new PushStream<SessionPart>()
  const ended = Promise.withResolvers<void>()
  const nodes = nodesWith(stream, async ({ input }) => {
    if (input.kind === 'end') ended.resolve()
    return {}
  })
  const socket = connectToPod(nodes, place)
  stream.push({ kind: 'opened', session: 's' })
  socket.end('question')
  await ended.promise
  stream.push({ kind: 'stdout', bytes: Buffer.from('answer') })
  stream.end()
  expect(await text(socket)).toBe('answer')
})

test('NODE-IO-28: a connection to a port without a script ends with the refusal of the node', async () => {
  const socket = connectToPod(nodesWith(failing(failed(500, '', 'no script answers'))), place, { elsewhere: () => duplexPair()[0] })
  const [error] = await once(socket, 'error')
  expect(error).toMatchObject({ message: 'no script answers' })
})

test('NODE-IO-28: a connection to a script that fails ends with its error', async () => {
  const stream = new PushStream<SessionPart>()
  const socket = connectToPod(nodesWith(stream), place)
  stream.push({ kind: 'opened', session: 's' })
  stream.fail(failed(500, '', 'the script has failed'))
  const [error] = await once(socket, 'error')
  expect(error).toMatchObject({ message: 'the script has failed' })
})

test('NODE-IO-28: a connection that is closed before the node has answered closes the session', async () => {
  const stream = new PushStream<SessionPart>()
  const socket = connectToPod(nodesWith(stream), place)
  socket.destroy()
  await once(socket, 'close')
  expect(stream.ended).toBe(true)
})
