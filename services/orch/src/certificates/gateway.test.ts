import { X509Certificate } from 'node:crypto'
import { request } from 'node:https'
import { join } from 'node:path'
import { certificateFolder, certificateMemory, silentLog, systemChance, systemClock } from '@orch/platform'
import { createMemoryStore } from '@orch/storage'
import { createFakeClock } from '@orch/testkit'
import { aFolder } from '@orch/testkit/folder'
import { expect, onTestFinished, test } from 'vitest'
import { startServer } from '../server.ts'
import { readServer } from '../settings/up.ts'
import { readStartSettings } from '../start/start-settings.ts'
import { openFrontProxy } from './gateway.ts'

const dayMs = 86_400_000

function aProxy() {
  const [files, clock] = [certificateMemory(), createFakeClock()]
  return { files, clock, open: () => openFrontProxy({ files, clock }) }
}

test('AGG-17: the certificate for aggregated servers is created on demand, and reused', async () => {
  const { files, open } = aProxy()
  const { authority, client } = await open()
  expect(new X509Certificate(authority).subject).toBe('CN=front-proxy-ca')
  expect(files.read('front-proxy-client.key')).toBeUndefined()
  const [first, second] = await Promise.all([client(), client()])
  expect(second).toBe(first)
  expect(new X509Certificate(first.certificate).subject).toBe('CN=front-proxy-client')
  const again = await open()
  expect([again.authority, await again.client()]).toEqual([authority, first])
})

test('AGG-17: a certificate with a third of its lifetime left is replaced by the same authority', async () => {
  const { clock, open } = aProxy()
  const first = await open()
  const before = await first.client()
  clock.advance(300 * dayMs)
  const second = await open()
  expect(second.authority).toBe(first.authority)
  expect(await second.client()).not.toEqual(before)
})

test.each(['front-proxy-ca.crt', 'front-proxy-ca.key', 'front-proxy-client.crt', 'front-proxy-client.key'])(
  'AGG-17: if %s is damaged, the client certificate is issued again, and an authority without damage stays',
  async (name) => {
    const { files, open } = aProxy()
    const first = await open()
    const before = await first.client()
    files.write(name, 'x')
    const second = await open()
    const client = await second.client()
    expect(client).not.toEqual(before)
    expect(new X509Certificate(client.certificate).verify(new X509Certificate(second.authority).publicKey)).toBe(true)
    expect(second.authority === first.authority).toBe(name.startsWith('front-proxy-client'))
  },
)

/** A server, and its answer to a client with a certificate of its files that names another user in a header. */
async function aServer(flags: readonly string[] = []) {
  const [files, clock] = [certificateMemory(), createFakeClock(Date.now())]
  const settings = readStartSettings({ profile: 'orch', flags: [...flags] })
  const server = await startServer({
    ...readServer(settings),
    controllers: [],
    store: createMemoryStore(),
    certificateFiles: files,
    clock,
    chance: systemChance,
    log: silentLog,
  })
  onTestFinished(() => server.stop({ delayMs: 0, graceMs: 0 }))
  const statusFor = (name: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const sent = request(`${server.url}/api/v1/namespaces`, {
        ca: server.configuration.certificateAuthority,
        cert: files.read(`${name}.crt`),
        key: files.read(`${name}.key`),
        headers: { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' },
      })
      sent.on('response', (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
      sent.on('error', reject).end()
    })
  return { files, clock, statusFor }
}

test('AGG-17: this server does not trust its own proxy certificate', async () => {
  const { files, clock, statusFor } = await aServer()
  await (await openFrontProxy({ files, clock })).client()
  expect(await statusFor('front-proxy-client')).toBe(401)
  expect(await statusFor('admin')).toBe(200)
})

test('AGG-17: the server creates no proxy certificate if the settings name one', async () => {
  const folder = aFolder()
  const { client } = await openFrontProxy({ files: certificateFolder(folder), clock: systemClock })
  await client()
  const flag = (name: string, file: string) => `--proxy-client-${name}-file=${join(folder, file)}`
  const { files } = await aServer([flag('cert', 'front-proxy-client.crt'), flag('key', 'front-proxy-client.key')])
  expect(files.read('front-proxy-ca.key')).toBeUndefined()
})
