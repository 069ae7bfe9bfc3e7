import { duplexPair } from 'node:stream'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { limits } from '../limits.ts'
import { type PortConnection, SpdyPortStreams } from './port-tunnel.ts'
import { SpdyConnection } from './spdy.ts'
import { SpdyClient } from './spdy-testing.ts'

test('a port-forward completes each connection that it begins, even if its client opens too many', async () => {
  const [near, far] = duplexPair()
  const opened: PortConnection[] = []
  const pairs = new SpdyPortStreams(createFakeClock(), async (connection) => {
    opened.push(connection)
    for await (const bytes of connection.data.input) await connection.data.write(bytes)
    connection.data.end()
    connection.error.end()
  })
  const connection = new SpdyConnection({ socket: far, head: new Uint8Array(), onStream: (stream) => pairs.add(stream) })
  const client = new SpdyClient(near)
  const resets = () => client.seen.filter(({ type }) => type === 3).map(({ id }) => id)
  const headers = (streamtype: string, request: number) => ({ streamtype, port: '80', requestid: String(request) })
  const connectionsMax = limits.spdyStreamsMax / 2
  const errors: number[] = []
  for (let request = 0; request < connectionsMax + 10; request += 1) errors.push(client.open(headers('error', request), true))
  await client.until(() => resets().length === 10)
  expect(resets()).toEqual(errors.slice(connectionsMax))
  const data: number[] = []
  for (let request = 0; request < connectionsMax; request += 1) data.push(client.open(headers('data', request)))
  client.write(data.at(-1) ?? 0, 'hello', true)
  await client.until(() => client.hasEndOf(data.at(-1) ?? 0))
  expect(opened).toHaveLength(connectionsMax)
  expect(client.textOf(data.at(-1) ?? 0)).toBe('hello')
  expect(resets()).toHaveLength(10)

  const next = client.open(headers('error', 9_999), true)
  client.write(client.open(headers('data', 9_999)), 'again', true)
  await client.until(() => client.hasEndOf(next))
  expect(opened).toHaveLength(connectionsMax + 1)
  client.end()
  await connection.closed
  pairs.close()
})
