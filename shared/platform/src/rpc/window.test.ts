import { once } from 'node:events'
import { type ClientHttp2Session, connect, createServer, type Http2Session, type ServerHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { contract, unary, wire } from '@orch/core/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { silentLog } from '../log.ts'
import { dialContract } from './dial.ts'
import { rpcLimits } from './limits.ts'
import { serveContract } from './offer.ts'
import { openRpcServer } from './server.ts'

const note = wire.message({ text: wire.string(1) })
const notes = contract('test.v1.Notes', { ask: unary(note, note) })

/** The receive windows that the other side has announced, per stream and for the connection. */
const windowsOf = ({ remoteSettings, state }: Http2Session) => [remoteSettings.initialWindowSize, state.remoteWindowSize]

async function expectWindows(session: Http2Session, bytes: number): Promise<void> {
  await expect.poll(() => windowsOf(session)).toEqual([bytes, bytes])
}

test('a server announces wide receive windows for streams and for the connection', async () => {
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

test('a caller announces wide receive windows for streams and for the connection', async () => {
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
