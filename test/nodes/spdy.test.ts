import { createHash } from 'node:crypto'
import { type Duplex, duplexPair } from 'node:stream'
import { deflateRawSync, constants as zlib } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { limits } from '../../services/gateway/src/limits.ts'
import { SpdyConnection, type SpdyStream } from '../../services/gateway/src/streams/spdy.ts'
import { headerDictionary, printHeaders, zlibHead } from '../../services/gateway/src/streams/spdy-headers.ts'
import { controlFrame, dataFrame, SpdyClient, words } from './spdy-client.ts'

const types = { synReply: 2, rstStream: 3, settings: 4, ping: 6, goAway: 7, headers: 8, windowUpdate: 9 }

interface Opened {
  readonly client: SpdyClient
  readonly connection: SpdyConnection
  readonly streams: SpdyStream[]
  readonly server: Duplex
}

/** A connection whose streams are collected, or echoed. */
function open({ echoes = false, refuses = false } = {}): Opened {
  const [there, server] = duplexPair()
  const streams: SpdyStream[] = []
  const onStream = (stream: SpdyStream) => {
    streams.push(stream)
    if (echoes) void echo(stream)
    return !refuses
  }
  const connection = new SpdyConnection({ socket: server, head: new Uint8Array(), onStream })
  return { client: new SpdyClient(there), connection, streams, server }
}

async function echo(stream: SpdyStream): Promise<void> {
  for await (const bytes of stream.input) await stream.write(bytes)
  stream.end()
}

/** The frames that a client receives, up to the answer to a last ping or the end. */
async function answers({ client }: Opened): Promise<string[]> {
  client.send(controlFrame(types.ping, 0, words(99)))
  await client.until(() => client.seen.some(({ type, id }) => type === types.ping && id === 99))
  return client.seen.filter(({ id, type }) => !(type === types.ping && id === 99)).map(({ type, id }) => `${type}:${id}`)
}

const aStream = (id: number, block: Uint8Array, flags = 0) =>
  controlFrame(1, flags, Buffer.concat([words(id, 0), Buffer.from([0, 0]), block]))
const headers = (record: Readonly<Record<string, string>>) => printHeaders(new Map(Object.entries(record)), true)
/** A block of headers with given bytes, valid or not. */
const rawBlock = (text: Uint8Array) => Buffer.concat([zlibHead, deflateRawSync(text, { finishFlush: zlib.Z_SYNC_FLUSH })])
const text = (value: string) => Buffer.concat([words(value.length), Buffer.from(value)])

describe('NODE-IO-29: a connection over SPDY/3.1', () => {
  test('begins its compression of headers with the dictionary of SPDY/3', () => {
    expect(headerDictionary).toHaveLength(1423)
    expect(createHash('sha256').update(headerDictionary).digest('hex')).toBe(
      '51d27341373f923f3cd88e1eb7162aeaa3723d7585ff2399201dc06498407f02',
    )
  })

  test('passes bytes of several streams both ways, and the end of each', async () => {
    const opened = open({ echoes: true })
    const { client, connection, streams } = opened
    const [first, second] = [client.open({ streamtype: 'stdin' }), client.open({ streamtype: 'data', port: '80' })]
    client.write(first, 'one')
    client.write(second, 'two', true)
    client.write(first, ' more', true)
    await client.until(() => client.hasEndOf(first) && client.hasEndOf(second))
    expect([client.textOf(first), client.textOf(second)]).toEqual(['one more', 'two'])
    expect(streams.map((stream) => Object.fromEntries(stream.headers))).toEqual([
      { streamtype: 'stdin' },
      { streamtype: 'data', port: '80' },
    ])
    expect(connection.streams).toBe(0)
  })

  test('reads headers that repeat parts of earlier headers', async () => {
    const opened = open()
    const block = Buffer.concat([words(1), text('streamtype'), text('stdin')])
    opened.client.send(aStream(1, rawBlock(block)))
    const dictionary = Buffer.concat([headerDictionary, block])
    opened.client.send(aStream(3, deflateRawSync(block, { dictionary, finishFlush: zlib.Z_SYNC_FLUSH })))
    expect(await answers(opened)).toEqual(['2:1', '2:3'])
    expect(opened.streams.map(({ headers: seen }) => seen.get('streamtype'))).toEqual(['stdin', 'stdin'])
  })

  test.each([
    ['a ping of the client', controlFrame(types.ping, 0, words(7)), ['6:7']],
    ['a ping that would answer one of the server', controlFrame(types.ping, 0, words(8)), []],
    ['settings', controlFrame(types.settings, 0, words(1, 4, 100)), []],
    ['a reset of no stream', controlFrame(types.rstStream, 0, words(5, 5)), []],
    ['data of no stream', dataFrame(5, 'late'), []],
    ['more window for no stream', controlFrame(types.windowUpdate, 0, words(5, 1)), []],
    ['the goodbye, and a stream after it', Buffer.concat([controlFrame(types.goAway, 0, words(0, 0)), aStream(1, headers({}))]), []],
  ])('continues after %s', async (_name, bytes, expected) => {
    const opened = open()
    opened.client.send(bytes)
    expect(await answers(opened)).toEqual(expected)
    expect(opened.client.hasEnded).toBe(false)
  })

  const emptyNames = Buffer.concat([words(1), text(''), text('x')])
  test.each([
    ['a frame of another version', controlFrame(types.ping, 0, words(1), 2)],
    ['a frame of an unknown type', controlFrame(5, 0, words(1))],
    ['a ping without a number', controlFrame(types.ping, 0, Buffer.alloc(2))],
    ['a reset without a status', controlFrame(types.rstStream, 0, words(1))],
    ['settings that end early', controlFrame(types.settings, 0, words(2, 4, 100))],
    ['a stream without headers', controlFrame(1, 0, Buffer.alloc(4))],
    ['headers without the dictionary', aStream(1, Buffer.from([0x78, 0x9c, 0, 0, 0, 0, 0]))],
    ['headers that are not compressed', aStream(1, Buffer.concat([zlibHead, Buffer.from('plain text')]))],
    ['headers that end early', aStream(1, rawBlock(words(1, 400)))],
    ['more headers than there are', aStream(1, rawBlock(words(0xffff_ffff)))],
    ['a header without a name', aStream(1, rawBlock(emptyNames))],
    ['a header in upper case', aStream(1, headers({ Streamtype: 'x' }))],
    ['a header twice', aStream(1, rawBlock(Buffer.concat([words(2), text('a'), text('1'), text('a'), text('2')])))],
    ['headers that unpack to more than their bound', aStream(1, rawBlock(Buffer.alloc(limits.spdyHeaderBytesMax + 1)))],
    ['headers that unpack to 16 MiB', aStream(1, rawBlock(Buffer.alloc(16 * 1024 * 1024)))],
    ['a control frame above its bound', controlFrame(types.settings, 0, Buffer.alloc(limits.spdyControlBytesMax + 1))],
    ['a data frame above its bound', dataFrame(1, Buffer.alloc(limits.spdyFrameBytesMax + 1))],
    ['data of the stream 0', dataFrame(0, 'x')],
    ['a stream with an even number', aStream(2, headers({}))],
    ['a stream with the number 0', aStream(0, headers({}))],
    ['a stream whose number is no higher', Buffer.concat([aStream(3, headers({})), aStream(3, printHeaders(new Map(), false))])],
    ['too many pings in one read', Buffer.concat(Array(limits.spdyIdleFramesMax + 1).fill(controlFrame(types.ping, 0, words(1))))],
    ['too many settings in one read', Buffer.concat(Array(limits.spdyIdleFramesMax + 1).fill(controlFrame(types.settings, 0, words(0))))],
  ])('ends with a goodbye at %s', async (_name, bytes) => {
    const opened = open()
    opened.client.send(bytes)
    await opened.client.until(() => false)
    const last = opened.client.seen.at(-1)
    expect({ type: last?.type, status: last?.payload.readUInt32BE(4) }).toEqual({ type: types.goAway, status: 1 })
    await opened.connection.closed
  })

  test('takes headers, control frames, data frames, pings and streams up to their bounds', async () => {
    const opened = open()
    const { client } = opened
    const value = 'x'.repeat(limits.spdyHeaderBytesMax - 4 - 4 - 1 - 4)
    client.send(aStream(1, rawBlock(Buffer.concat([words(1), text('a'), text(value)]))))
    client.send(controlFrame(types.settings, 0, Buffer.concat([words(0), Buffer.alloc(limits.spdyControlBytesMax - 4)])))
    client.send(dataFrame(5, Buffer.alloc(limits.spdyFrameBytesMax)))
    for (let id = 3; id < limits.spdyStreamsMax * 2; id += 2) client.send(aStream(id, printHeaders(new Map(), false)))
    const beyond = limits.spdyStreamsMax * 2 + 1
    client.send(aStream(beyond, printHeaders(new Map(), false)))
    const seen = await answers(opened)
    expect(seen.slice(0, -1).every((frame) => frame.startsWith(`${types.synReply}:`))).toBe(true)
    expect(seen).toHaveLength(limits.spdyStreamsMax + 1)
    expect(seen.at(-1)).toBe(`${types.rstStream}:${beyond}`)
    expect(opened.connection.streams).toBe(limits.spdyStreamsMax)
  })

  test('resets a stream that is refused', async () => {
    const opened = open({ refuses: true })
    opened.client.open({ streamtype: 'what' })
    expect(await answers(opened)).toEqual(['2:1', '3:1'])
    expect(opened.connection.streams).toBe(0)
  })

  test('forgets a stream that the client resets, and ends its input', async () => {
    const opened = open({ echoes: true })
    const id = opened.client.open({})
    opened.client.send(controlFrame(types.rstStream, 0, words(id, 5)))
    opened.client.write(id, 'late')
    await answers(opened)
    expect(opened.connection.streams).toBe(0)
    expect(opened.client.textOf(id)).toBe('')
  })

  test('stops reading while too many bytes wait, and continues when they are taken', async () => {
    const opened = open()
    const { client, streams, server } = opened
    const id = client.open({})
    for (let sent = 0; sent <= 4 * limits.streamUnreadBytesMax; sent += 64 * 1024) client.write(id, Buffer.alloc(64 * 1024))
    client.write(id, 'last', true)
    await client.until(() => client.seen.length > 0)
    await turns()
    const [stream] = streams
    const held = (stream?.input.waitingBytes ?? 0) + server.readableLength
    expect(held).toBeGreaterThan(limits.streamUnreadBytesMax)
    expect(held).toBeLessThan(2 * limits.streamUnreadBytesMax)
    let taken = 0
    for await (const bytes of stream?.input ?? []) taken += bytes.length
    expect(taken).toBeGreaterThan(4 * limits.streamUnreadBytesMax)
    // The client is allowed to send more: half a window at a time.
    const updates = () => client.seen.filter(({ type, id: of }) => type === types.windowUpdate && of === id).length
    await client.until(() => updates() > 10)
    expect(updates()).toBeGreaterThan(10)
  })

  test('does not wait for the windows of a client without flow control', async () => {
    const { client, streams } = open()
    const id = client.open({})
    await client.until(() => streams.length === 1)
    await streams[0]?.write(Buffer.alloc(1024 * 1024))
    expect(client.textOf(id)).toHaveLength(1024 * 1024)
  })

  test('waits for the windows of a client that uses flow control', async () => {
    const { client, streams } = open()
    client.send(controlFrame(types.settings, 0, words(1, 7, 100)))
    const id = client.open({})
    await client.until(() => streams.length === 1)
    const written = streams[0]?.write(Buffer.alloc(250))
    await client.until(() => client.textOf(id).length === 100)
    await turns()
    expect(client.textOf(id)).toHaveLength(100)
    client.send(controlFrame(types.windowUpdate, 0, words(id, 200)))
    await written
    await client.until(() => client.textOf(id).length === 250)
    expect(client.textOf(id)).toHaveLength(250)
  })

  test('stops reading pings whose answers the client does not read', async () => {
    const { client, server } = open()
    client.pause()
    const pings = Buffer.concat(Array(500).fill(controlFrame(types.ping, 0, words(1))))
    for (let sent = 0; sent < 200; sent += 1) {
      client.send(pings)
      await turns(3)
    }
    expect(server.writableLength).toBeGreaterThan(limits.streamUnreadBytesMax)
    expect(server.writableLength).toBeLessThan(limits.streamUnreadBytesMax + 1000)
    expect(client.hasEnded).toBe(false)
    client.destroy()
  })

  test('ends all streams when the client is gone', async () => {
    const { client, connection, streams } = open()
    client.open({})
    await client.until(() => streams.length === 1)
    client.end()
    await connection.closed
    expect(await streams[0]?.input.next()).toEqual({ done: true, value: undefined })
    await streams[0]?.write(Buffer.from('into nothing'))
    expect(connection.streams).toBe(0)
  })
})

/** Some turns of the event loop, in which all pending work runs. */
async function turns(count = 50): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
