import { once } from 'node:events'
import { type ClientHttp2Session, connect, createServer, type Http2Session, type ServerHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { contract, unary, wire } from '@orch/core/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { silentLog } from '../log.ts'
import { dialContract } from './dial.ts'
import { rpcLimits } from './limits.ts'
import { serveContract } from './serve.ts'
import { openRpcServer } from './server.ts'

const note = wire.message({ text: wire.string(1) })
const notes = contract('test.v1.Notes', { ask: unary(note, note) })

/** Receive windows of the other side: for new streams, and what is left of the one for the connection. */
const windowsOf = ({ remoteSettings, state }: Http2Session) => [remoteSettings.initialWindowSize, state.remoteWindowSize]

/** Resolves when the other side has announced windows of that size, or has not within the time that the test has. */
async function expectWindows(session: Http2Session, bytes: number): Promise<void> {
  await expect.poll(() => windowsOf(session)).toEqual([bytes, bytes])
}

test('a caller may send a mebibyte before the server has read it', async () => {
  const server = await openRpcServer({
    address: '127.0.0.1:0',
    offers: [serveContract(notes, { ask: async (asked) => asked })],
    log: silentLog,
  })
  const session: ClientHttp2Session = connect(`http://${server.address}`)
  onTestFinished(() => {
    session.destroy()
    server.close()
  })
  await expectWindows(session, rpcLimits.windowBytes)
})

test('a server may send a mebibyte before the caller has read it', async () => {
  const server = createServer()
  const { promise: connected, resolve } = Promise.withResolvers<ServerHttp2Session>()
  server.on('session', resolve)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const dialled = dialContract(notes, { addresses: [`127.0.0.1:${port}`], random: Math.random, log: silentLog })
  onTestFinished(() => {
    dialled.close()
    server.close()
  })
  await expectWindows(await connected, rpcLimits.windowBytes)
})
