import { duplexPair } from 'node:stream'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { limits } from '../../services/gateway/src/limits.ts'
import { type PortConnection, SpdyPortStreams } from '../../services/gateway/src/streams/port-tunnel.ts'
import { SpdyConnection, type SpdyStream } from '../../services/gateway/src/streams/spdy.ts'
import { SpdyClient } from './spdy-client.ts'

test('a port-forward completes each connection that it begins, even if its client opens too many', async () => {
  const [near, far] = duplexPair()
  const opened: PortConnection[] = []
  const echo = async ({ data, error }: PortConnection) => {
    for await (const bytes of data.input) await data.write(bytes)
    data.end()
    error.end()
  }
  const pairs = new SpdyPortStreams(createFakeClock(), (connection) => {
    opened.push(connection)
    void echo(connection)
  })
  const onStream = (stream: SpdyStream, openCount: number) => pairs.add(stream, openCount)
  const connection = new SpdyConnection({ socket: far, head: new Uint8Array(), onStream })
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
  client.open(headers('data', 9_999))
  opened[0]?.data.end()
  opened[0]?.error.end()
  await client.until(() => client.hasEndOf(errors[0] ?? 0))
  // The client has not ended the data stream of the first connection.
  const early = client.open(headers('error', 10_000), true)
  await client.until(() => resets().length === 11)
  expect(resets().at(-1)).toBe(early)
  client.write(data[0] ?? 0, '', true)
  client.open(headers('error', 10_001), true)
  client.write(client.open(headers('data', 10_001)), 'again', true)
  await client.until(() => opened.length === connectionsMax + 2)
  expect(client.hasEndOf(next)).toBe(false)
  client.end()
  await connection.closed
  pairs.close()
})
