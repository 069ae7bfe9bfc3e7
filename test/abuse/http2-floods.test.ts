import { describe, expect, test } from 'vitest'
import { aSocketServer, exchangeHttp2 } from '../gateway/sockets.ts'
import { field, flags, frame, getFields, openRaw, type RawConnection } from './http2-frames.ts'

const times = (count: number, make: (index: number) => Uint8Array) =>
  Buffer.concat(Array.from({ length: count }, (_, index) => make(index)))
const number = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
const cancel = number(8)
/** Streams that clients open have odd numbers. */
const streamOf = (index: number) => 2 * index + 1

/** A header field of 3,900 bytes that the session's table keeps. */
const keptField = Buffer.concat([Buffer.from([0x40, 1]), Buffer.from('a'), Buffer.from([0x7f, 0xbd, 0x1d]), Buffer.alloc(3_900, 'b')])

/** Sends until the server closes the connection, at most `count` times. */
async function flood(connection: RawConnection, count: number, make: (round: number) => Uint8Array | Promise<Uint8Array>): Promise<void> {
  for (let round = 0; round < count; round += 1) if (!(await connection.send(await make(round)))) return
}

describe('floods that end only their client’s connection', () => {
  const rows: [what: string, attack: (connection: RawConnection) => Promise<void>][] = [
    [
      'streams that are opened and reset',
      (connection) =>
        flood(connection, 200, (round) =>
          times(50, (index) => {
            const stream = streamOf(round * 50 + index)
            return Buffer.concat([frame('headers', flags.endBoth, stream, getFields), frame('reset', flags.none, stream, cancel)])
          }),
        ),
    ],
    [
      'streams whose faults make the server reset them',
      (connection) =>
        flood(connection, 200, (round) =>
          times(50, (index) => {
            const stream = streamOf(round * 50 + index)
            return Buffer.concat([
              frame('headers', flags.endHeaders, stream, getFields),
              frame('windowUpdate', flags.none, stream, number(0)),
            ])
          }),
        ),
    ],
    [
      'more streams than may be open',
      (connection) =>
        flood(connection, 100, (round) =>
          times(50, (index) => frame('headers', flags.endHeaders, streamOf(round * 50 + index), getFields)),
        ),
    ],
    ['pings', (connection) => flood(connection, 300, () => times(1_000, () => frame('ping', flags.none, 0, Buffer.alloc(8))))],
    ['settings', (connection) => flood(connection, 300, () => times(1_000, () => frame('settings', flags.none, 0)))],
    [
      'a head without an end',
      async (connection) => {
        await connection.send(frame('headers', flags.none, 1, getFields))
        await flood(connection, 20_000, () => frame('continuation', flags.none, 1, field('a'.repeat(100), 'b'.repeat(100))))
      },
    ],
    [
      'a head that goes on with nothing',
      async (connection) => {
        await connection.send(frame('headers', flags.none, 1, getFields))
        await flood(connection, 300, () => times(1_000, () => frame('continuation', flags.none, 1)))
      },
    ],
    [
      'a body that goes on with nothing',
      async (connection) => {
        await connection.send(frame('headers', flags.endHeaders, 1, getFields))
        await flood(connection, 500, () => times(1_000, () => frame('data', flags.none, 1)))
      },
    ],
    [
      'priorities',
      (connection) =>
        flood(connection, 300, (round) =>
          times(1_000, (index) => frame('priority', flags.none, streamOf(round * 1_000 + index), Buffer.alloc(5))),
        ),
    ],
    [
      'short heads that decode to long heads, one after the other',
      async (connection) => {
        await connection.send(frame('settings', flags.acknowledged, 0))
        await connection.send(frame('headers', flags.endBoth, 1, Buffer.concat([getFields, keptField])))
        await flood(connection, 100_000, (round) =>
          times(20, (index) =>
            frame('headers', flags.endBoth, streamOf(1 + round * 20 + index), Buffer.concat([getFields, Buffer.alloc(488, 0xbe)])),
          ),
        )
      },
    ],
    [
      'requests of a client that does not confirm the settings',
      async (connection) => {
        await flood(connection, 1_001, async (round) => {
          if (round % 50 === 0) await expect.poll(() => connection.answered).toBe(round)
          return frame('headers', flags.endBoth, streamOf(round), getFields)
        })
        await connection.closed
      },
    ],
    [
      'windows that overflow',
      (connection) => flood(connection, 10, () => times(10, () => frame('windowUpdate', flags.none, 0, number(0x7fff_ffff)))),
    ],
  ]
  test.each(rows)('LIM-12: %s', async (_what, attack) => {
    const server = await aSocketServer({ controllers: [] })
    const connection = await openRaw(server)
    await attack(connection)
    await expect(connection.closed).resolves.toBeUndefined()
    expect((await exchangeHttp2(server, 'GET', '/readyz')).status).toBe(200)
  })
})

test('LIM-12: a short header block that expands by table entries is refused', async () => {
  const server = await aSocketServer({ controllers: [] })
  const connection = await openRaw(server)
  // 15,000 references of one byte each expand the field to 60 MB.
  await connection.send(frame('headers', flags.endBoth, 1, Buffer.concat([getFields, keptField])))
  await connection.send(frame('headers', flags.endBoth, 3, Buffer.concat([getFields, Buffer.alloc(15_000, 0xbe)])))
  await expect.poll(() => connection.resets).toBe(1)
  expect((await exchangeHttp2(server, 'GET', '/readyz')).status).toBe(200)
})

test('LIM-12: a client that acknowledges the settings may send more requests than a client that has not', async () => {
  const server = await aSocketServer({ controllers: [] })
  const connection = await openRaw(server)
  await connection.send(frame('settings', flags.acknowledged, 0))
  for (let round = 0; round < 300; round += 100) {
    await connection.send(times(100, (index) => frame('headers', flags.endBoth, streamOf(round + index), getFields)))
    await expect.poll(() => connection.answered).toBe(round + 100)
  }
})

test('LIM-12: a client may open all streams before it acknowledges the settings', async () => {
  const connection = await openRaw(await aSocketServer({ controllers: [] }))
  await connection.send(times(250, (index) => frame('headers', flags.endBoth, streamOf(index), getFields)))
  await expect.poll(() => connection.answered).toBe(250)
})
