import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect as connectTcp, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { contract, type ServiceRole, unary, wire } from '@orch/core/contracts'
import { namesOf } from '@orch/core/names'
import { expect, onTestFinished, test } from 'vitest'
import { type Log, silentLog } from '../log.ts'
import type { TlsFiles } from '../tls/certificate-source.ts'
import type { KeyPair } from '../tls/key-pair.ts'
import { issueServiceAuthority, issueServiceCertificate, serviceTlsFiles } from '../tls/service-certificates.ts'
import { dialContract } from './dial.ts'
import { serveContract } from './offer.ts'
import { openRpcServer } from './server.ts'

const names = namesOf('orch')
const note = wire.message({ text: wire.string(1) })
const notes = contract('test.v1.Notes', { ask: unary(note, note, { callers: ['gateway'] }) }, 'storage')

/** A server of a contract, a client for it, and the server's logged errors. */
async function open(tls?: { readonly server: TlsFiles; readonly client: TlsFiles }) {
  const failures: string[] = []
  const log: Log = { ...silentLog, error: (_fields: object, message: string) => void failures.push(message) }
  const offers = [serveContract(notes, { ask: async ({ text }) => ({ text: `${text}!` }) })]
  const server = await openRpcServer({ address: '127.0.0.1:0', offers, log, ...(tls === undefined ? {} : { tls: tls.server }) })
  const caller = { addresses: [server.address], random: Math.random, log: silentLog, ...(tls === undefined ? {} : { tls: tls.client }) }
  const dialled = dialContract(notes, caller)
  onTestFinished(() => {
    dialled.close()
    server.close()
  })
  await dialled.reached
  return { ask: () => dialled.service.ask({ text: 'a' }), port: Number(server.address.split(':')[1]), failures }
}

const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
const settings = frame(4, 0, 0, '')

function frame(type: number, flags: number, stream: number, payload: string | Buffer, length = payload.length): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, Buffer.from(payload)])
}

function field(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.of(0, name.length), Buffer.from(name), Buffer.of(value.length), Buffer.from(value)])
}

const call = (path: string, type = 'application/grpc') =>
  Buffer.concat([
    ...[field(':method', 'POST'), field(':scheme', 'http'), field(':path', path), field(':authority', 'x')],
    ...[field('content-type', type), field('te', 'trailers')],
  ])
const ask = call('/test.v1.Notes/ask')
const repeated = (count: number, make: (index: number) => Buffer) => Array.from({ length: count }, (_, index) => make(index))

const hostile: readonly (readonly [what: string, ...parts: (string | Buffer)[]])[] = [
  ['nothing', ''],
  ['another protocol', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['bytes without meaning', Buffer.alloc(100_000, 0xa5)],
  ['half a preface', preface.slice(0, 11)],
  ['a preface and bytes without meaning', preface, Buffer.alloc(100_000, 0x5a)],
  ['settings of an odd length', preface, frame(4, 0, 0, '12345')],
  ['a frame of sixteen megabytes', preface, settings, frame(0, 0, 1, Buffer.alloc(1 << 24, 1), 0xffffff)],
  ['a head that cannot be decoded', preface, settings, frame(1, 5, 1, Buffer.alloc(200, 0xff))],
  ['a head without an end', preface, settings, frame(1, 0, 1, ask), ...repeated(2_000, () => frame(9, 0, 1, 'x'.repeat(1000)))],
  ['data of no stream', preface, settings, frame(0, 1, 9, 'abcd')],
  ['a window that overflows', preface, settings, ...repeated(3, () => frame(8, 0, 0, Buffer.of(0x7f, 0xff, 0xff, 0xff)))],
  ['a stream of the server', preface, settings, frame(1, 5, 2, ask)],
  ['a call without a message', preface, settings, frame(1, 5, 1, ask)],
  ['a call of nothing', preface, settings, frame(1, 5, 1, call('/'))],
  ['a call of a name of objects', preface, settings, frame(1, 5, 1, call('/__proto__/constructor'))],
  ['a call of another type', preface, settings, frame(1, 5, 1, call('/test.v1.Notes/ask', 'text/plain'))],
  ['a message of four gigabytes', preface, settings, frame(1, 4, 1, ask), frame(0, 1, 1, Buffer.of(0, 0xff, 0xff, 0xff, 0xff, 1))],
  ['a message that is none', preface, settings, frame(1, 4, 1, ask), frame(0, 1, 1, Buffer.of(0, 0, 0, 0, 2, 0xff, 0xff))],
  ['a compressed message that is none', preface, settings, frame(1, 4, 1, ask), frame(0, 1, 1, Buffer.of(1, 0, 0, 0, 2, 1, 2))],
  ['fields behind a message', preface, settings, frame(1, 4, 1, ask), frame(0, 0, 1, 'ab'), frame(1, 5, 1, field('x', 'y'))],
  ['calls that are broken off', preface, settings, ...repeated(3_000, (index) => brokenOff(2 * index + 1))],
]

function brokenOff(stream: number): Buffer {
  return Buffer.concat([frame(1, 4, stream, ask), frame(3, 0, stream, Buffer.of(0, 0, 0, 8))])
}

/** Sends the bytes and ends; resolves when the connection is closed. */
function send(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    // The server refuses most of the bytes while they are still being sent.
    socket.on('error', () => {}).on('close', () => resolve())
    socket.resume()
    socket.end(bytes)
  })
}

const bytesOf = (parts: readonly (string | Buffer)[]) => Buffer.concat(parts.map((part) => Buffer.from(part)))

test('a server of a contract continues to serve after any bytes of an unknown client', async () => {
  const { ask, port, failures } = await open()
  for (const [what, ...parts] of hostile) {
    await send(connectTcp(port, '127.0.0.1'), bytesOf(parts))
    expect([what, await ask()]).toEqual([what, { text: 'a!' }])
  }
  expect(failures).toEqual([])
})

test('a server of a contract continues to serve after any bytes instead of or after a handshake', async () => {
  const authority = await issueServiceAuthority({ names, nowMs: Date.now() })
  const stranger = await issueServiceAuthority({ names, nowMs: Date.now() })
  const [server, client] = [await filesOf(authority, 'storage'), await filesOf(authority, 'gateway')]
  const { ask, port, failures } = await open({ server: server.files, client: client.files })
  const handshakes = [
    ['without a certificate', {}],
    ['with a certificate of another authority', (await filesOf(stranger, 'gateway')).pair],
    ['with its own certificate of a service', client.pair],
    ['for another protocol', { ...client.pair, ALPNProtocols: ['http/1.1'] }],
    ['of an old version', { ...client.pair, maxVersion: 'TLSv1.2' as const, ciphers: 'ECDHE-ECDSA-AES128-SHA' }],
  ] as const
  for (const [what, ...parts] of hostile) {
    const bytes = bytesOf(parts)
    await send(connectTcp(port, '127.0.0.1'), bytes)
    for (const [how, options] of handshakes) {
      await send(connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'], ...options }), bytes)
      expect([what, how, await ask()]).toEqual([what, how, { text: 'a!' }])
    }
  }
  expect(failures).toEqual([])
})

/** A certificate of a service, in memory and in files. */
async function filesOf(authority: KeyPair, role: ServiceRole) {
  const folder = mkdtempSync(join(tmpdir(), 'services-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const hostNames = ['localhost', '127.0.0.1']
  const { certificate, key } = await issueServiceCertificate({ authority, names, role, hostNames, nowMs: Date.now() })
  writeFileSync(join(folder, 'ca.crt'), authority.certificate)
  writeFileSync(join(folder, `${role}.crt`), certificate)
  writeFileSync(join(folder, `${role}.key`), key)
  return { files: serviceTlsFiles(folder, role), pair: { cert: certificate, key } }
}
