import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect, type TLSSocket } from 'node:tls'
import { aCertificate, anAuthority } from '@orch/platform/any-certificate'
import { createFakeClock } from '@orch/testkit'
import { start } from 'orch'
import { expect, onTestFinished, test } from 'vitest'
import { type Api, anApi } from '../api/api.ts'
import { aFolder } from '../identity/folder.ts'

/** The result of a handshake: protocol and cipher, or the error. */
function handshake(
  api: Api,
  options: { maxVersion?: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'; ciphers?: string; ecdhCurve?: string } = {},
): Promise<string> {
  const { port } = new URL(api.url)
  return new Promise((resolve) => {
    const socket: TLSSocket = connect(
      { host: '127.0.0.1', port: Number(port), ca: api.credentials.ca, minVersion: 'TLSv1', ...options },
      () => {
        resolve(`${socket.getProtocol()} ${socket.getCipher().standardName}`)
        socket.destroy()
      },
    )
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(`error ${error.code}`))
  })
}

test('LIM-12: TLS 1.2 and newer are supported, with current ciphers', async () => {
  const api = await anApi()
  expect(await handshake(api)).toMatch(/^TLSv1\.3 TLS_/)
  expect(await handshake(api, { maxVersion: 'TLSv1.2' })).toMatch(/^TLSv1\.2 TLS_ECDHE_\w+_(?:GCM|POLY1305)_SHA\d+$/)
  expect(await handshake(api, { maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' })).toMatch(/^error/)
  expect(await handshake(api, { maxVersion: 'TLSv1.2', ciphers: 'AES128-SHA:ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES128-SHA' })).toMatch(
    /^error/,
  )
})

test('LIM-12: the minimum version and the cipher suites can be set', async () => {
  const newest = await anApi({ flags: ['--tls-min-version=VersionTLS13'] })
  expect(await handshake(newest, { maxVersion: 'TLSv1.2' })).toMatch(/^error/)
  const suites = 'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384'
  const chosen = await anApi({ flags: [`--tls-cipher-suites=${suites}`] })
  expect(await handshake(chosen, { maxVersion: 'TLSv1.2' })).toMatch(/^TLSv1\.2 TLS_ECDHE_\w+_WITH_AES_256_GCM_SHA384$/)
  expect(await handshake(chosen)).toMatch(/^TLSv1\.3/)
})

test('LIM-12: the key exchanges can be set by number', async () => {
  const api = await anApi({ flags: ['--tls-curve-preferences=24,4588'] })
  expect(await handshake(api, { ecdhCurve: 'P-384' })).toMatch(/^TLSv1\.3/)
  expect(await handshake(api, { ecdhCurve: 'X25519MLKEM768' })).toMatch(/^TLSv1\.3/)
  expect(await handshake(api, { ecdhCurve: 'X25519' })).toMatch(/^error/)
})

test('LIM-12: renegotiation and an unknown protocol are refused', async () => {
  const api = await anApi()
  const { port } = new URL(api.url)
  const open = (options: object) =>
    new Promise<TLSSocket | string>((resolve) => {
      const socket: TLSSocket = connect({ host: '127.0.0.1', port: Number(port), ca: api.credentials.ca, ...options }, () =>
        resolve(socket),
      )
      socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''))
      onTestFinished(() => void socket.destroy())
    })
  const socket = await open({ maxVersion: 'TLSv1.2' })
  const outcome = await new Promise<string>((resolve) => {
    if (typeof socket === 'string') return resolve(socket)
    socket.once('close', () => resolve('closed'))
    socket.renegotiate({}, (error) => resolve(error === null ? 'renegotiated' : 'refused'))
  })
  expect(outcome).toMatch(/refused|closed/)
  expect(await open({ ALPNProtocols: ['spdy/3'] })).toBe('ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL')
})

test('LIM-12: the streams of a connection have the configured limit', async () => {
  const api = await anApi({ flags: ['--http2-max-streams-per-connection=7'] })
  const session = connectHttp2(api.url, { ...api.credentials })
  onTestFinished(() => session.destroy())
  const settings = await new Promise<{ maxConcurrentStreams?: number }>((resolve) => session.once('remoteSettings', resolve))
  expect(settings.maxConcurrentStreams).toBe(7)
})

test('LIM-12: a client sometimes has to reconnect, once its open requests are answered', async () => {
  const api = await anApi({ flags: ['--goaway-chance=0.02'], random: () => 0.01 })
  const session = connectHttp2(api.url, { ...api.credentials })
  onTestFinished(() => session.destroy())
  const goaway = new Promise<number>((resolve) => session.once('goaway', resolve))
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const stream = session.request({ ':path': '/version' })
    stream.on('response', (headers) => resolve(headers[':status']))
    stream.on('error', reject)
    stream.resume()
  })
  expect([status, await goaway]).toEqual([200, 0])
})

test('FLAG-05: a replaced serving certificate is used for the next connection, and an invalid one is not', async () => {
  const authority = await anAuthority('serving')
  const make = (commonName: string) => aCertificate({ issuer: authority, commonName, use: 'server' })
  const [first, second] = [await make('first'), await make('second')]
  const folder = aFolder()
  const files = [folder.write('tls.crt', first.certificate), folder.write('tls.key', first.key)]
  const clock = createFakeClock()
  const flags = [`--tls-cert-file=${files[0]}`, `--tls-private-key-file=${files[1]}`]
  const server = await start({ clock, flags })
  onTestFinished(() => server.stop())
  const open = async () => {
    const { port } = new URL(server.url)
    const socket = connect({ host: '127.0.0.1', port: Number(port), ca: authority.certificate })
    onTestFinished(() => void socket.destroy())
    await once(socket, 'secureConnect')
    return socket.getPeerCertificate().subject.CN
  }
  expect(await open()).toBe('first')
  // For a moment the certificate and key files do not match.
  folder.write('tls.crt', second.certificate)
  clock.advance(5_000)
  expect(await open()).toBe('first')
  folder.write('tls.key', second.key)
  clock.advance(5_000)
  expect(await open()).toBe('second')
})
