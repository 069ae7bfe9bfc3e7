import { once } from 'node:events'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { Agent } from 'node:https'
import { parseConfiguration } from '@orch/client'
import { printServiceIdentity } from '@orch/core/contracts'
import { namesOf } from '@orch/core/names'
import { aCertificate, anAuthority, type CertificateOptions } from '@orch/platform/any-certificate'
import { createFakeClock } from '@orch/testkit'
import { start } from 'orch'
import { expect, onTestFinished, test } from 'vitest'
import { call, whoAmI } from './call.ts'
import { aFolder } from './folder.ts'

const authority = await anAuthority('people')
const second = await anAuthority('more people')

async function aServer(flags: readonly string[] = [], options: { clock?: ReturnType<typeof createFakeClock> } = {}) {
  const server = await start({ flags: ['--authorization-mode=AlwaysAllow', ...flags], ...options })
  onTestFinished(() => server.stop())
  return server
}

function aClient(options: CertificateOptions = {}) {
  return aCertificate({ issuer: authority, commonName: 'jane', use: 'client', ...options })
}

test('AUTHN-CERT-01, AUTHN-CERT-02, AUTHN-CERT-03, FLAG-01: certificates of every CA of the file name user and groups', async () => {
  const file = aFolder().write('ca.crt', authority.certificate + second.certificate)
  const server = await aServer([`--client-ca-file=${file}`])
  const jane = await aClient({ organizations: ['dev', 'ops'] })
  expect(await whoAmI(server, { pair: jane })).toMatchObject({ username: 'jane', groups: ['dev', 'ops', 'system:authenticated'] })
  const john = await aClient({ issuer: second, commonName: 'john' })
  expect(await whoAmI(server, { pair: john })).toMatchObject({ username: 'john', groups: ['system:authenticated'] })
})

const service = { uri: printServiceIdentity(namesOf('orch'), 'gateway') }

test.each<[string, () => Promise<CertificateOptions>]>([
  ['of an authority that nobody knows', async () => ({ issuer: await anAuthority('strangers') })],
  ['of an authority that only has the same name', async () => ({ issuer: await anAuthority('people') })],
  ['that has expired', async () => ({ fromMs: -7_200_000, toMs: -3_600_000 })],
  ['that is not valid yet', async () => ({ fromMs: 3_600_000, toMs: 7_200_000 })],
  ['for servers', async () => ({ use: 'server' })],
  ['that another user has signed', async () => ({ issuer: await aClient() })],
  ['that names nobody', async () => ({ commonName: '', organizations: ['system:masters'] })],
  ['of a service', async () => service],
])('AUTHN-CERT-04, AUTHN-CERT-05: a certificate %s is a 401, with anonymous access too', async (_what, options) => {
  const file = aFolder().write('ca.crt', authority.certificate)
  const server = await aServer([`--client-ca-file=${file}`, '--anonymous-auth'])
  expect((await call(server, { pair: await aClient(await options()) })).code).toBe(401)
})

test('AUTHN-CERT-02: an intermediate authority is used, sent by the client or from the file', async () => {
  const between = await aCertificate({ issuer: authority, commonName: 'between', isAuthority: true })
  const jane = await aClient({ issuer: between })
  const sentAlong = { ...jane, certificate: jane.certificate + between.certificate }
  const folder = aFolder()
  const root = await aServer([`--client-ca-file=${folder.write('root.crt', authority.certificate)}`])
  expect(await whoAmI(root, { pair: sentAlong })).toMatchObject({ username: 'jane' })
  expect(await whoAmI(root, { pair: jane })).toBeUndefined()
  const both = await aServer([`--client-ca-file=${folder.write('both.crt', between.certificate + authority.certificate)}`])
  expect(await whoAmI(both, { pair: jane })).toMatchObject({ username: 'jane' })
})

test('AUTHN-CERT-01: an authority of the file is trusted, even without the authority that signed it', async () => {
  const between = await aCertificate({ issuer: authority, commonName: 'between', isAuthority: true })
  const server = await aServer([`--client-ca-file=${aFolder().write('between.crt', between.certificate)}`])
  expect(await whoAmI(server, { pair: await aClient({ issuer: between }) })).toMatchObject({ username: 'jane' })
  expect(await whoAmI(server, { pair: await aClient() })).toBeUndefined()
})

test('AUTHN-CERT-04: a certificate in the file that is not a CA verifies no users', async () => {
  const leaf = await aCertificate({ commonName: 'leaf', use: 'client' })
  const file = aFolder().write('ca.crt', authority.certificate + leaf.certificate)
  const server = await aServer([`--client-ca-file=${file}`])
  expect(await whoAmI(server, { pair: await aClient({ issuer: leaf }) })).toBeUndefined()
  expect(await whoAmI(server, { pair: await aClient() })).toMatchObject({ username: 'jane' })
})

/** A server that also trusts proxies, and certificate chains: an intermediate authority of each of the two authorities has signed the certificates. */
async function aServerWithProxies() {
  const proxies = await anAuthority('proxies')
  const folder = aFolder()
  const file = folder.write('ca.crt', authority.certificate)
  const clock = createFakeClock(Date.now())
  const flags = [
    `--client-ca-file=${file}`,
    `--requestheader-client-ca-file=${folder.write('proxies.crt', proxies.certificate)}`,
    '--requestheader-username-headers=X-Remote-User',
  ]
  const server = await aServer(flags, { clock })
  const by = async (issuer: typeof proxies, commonName: string, more: CertificateOptions = {}) => {
    const between = await aCertificate({ issuer, commonName: 'between', isAuthority: true, ...more })
    const pair = await aClient({ issuer: between, commonName })
    return { ...pair, certificate: pair.certificate + between.certificate }
  }
  const change = (text: string) => {
    folder.write('ca.crt', text)
    clock.advance(5_000)
  }
  return { server, proxies, by, change }
}

test('AUTHN-CERT-02, AUTHN-PROXY-09: beside proxies, an intermediate authority that the client sends verifies a user, and never a proxy', async () => {
  const { server, proxies, by } = await aServerWithProxies()
  const headers = { 'x-remote-user': 'root' }
  const jane = await by(authority, 'jane')
  expect(await whoAmI(server, { pair: jane })).toMatchObject({ username: 'jane' })
  expect(await whoAmI(server, { pair: jane, headers })).toMatchObject({ username: 'jane' })
  const front = await aClient({ issuer: proxies, commonName: 'front' })
  expect(await whoAmI(server, { pair: front })).toBeUndefined()
  expect(await whoAmI(server, { pair: front, headers })).toMatchObject({ username: 'root' })
  // A certificate that a proxy's certificate has signed authenticates no user, with or without the chain.
  const signedByFront = await aClient({ issuer: front, commonName: 'back' })
  const sentAlong = { ...signedByFront, certificate: signedByFront.certificate + front.certificate }
  for (const pair of [signedByFront, sentAlong, await by(proxies, 'far')]) {
    expect(await whoAmI(server, { pair, headers })).toBeUndefined()
    expect(await whoAmI(server, { pair })).toBeUndefined()
  }
})

test.each<[string, CertificateOptions]>([
  ['has expired', { fromMs: -7_200_000, toMs: -3_600_000 }],
  ['is not valid yet', { fromMs: 3_600_000, toMs: 7_200_000 }],
  ['is for servers', { use: 'server' }],
])('AUTHN-PROXY-09: a proxy certificate that %s is not accepted', async (_what, options) => {
  const { server, proxies } = await aServerWithProxies()
  const pair = await aClient({ issuer: proxies, commonName: 'front', ...options })
  expect(await whoAmI(server, { pair, headers: { 'x-remote-user': 'root' } })).toBeUndefined()
})

test('AUTHN-CERT-01, AUTHN-PROXY-08: one authority may verify users and proxies', async () => {
  const folder = aFolder()
  const file = folder.write('ca.crt', authority.certificate)
  const flags = [`--client-ca-file=${file}`, `--requestheader-client-ca-file=${file}`, '--requestheader-username-headers=X-Remote-User']
  const server = await aServer(flags)
  const pair = await aClient()
  expect(await whoAmI(server, { pair })).toMatchObject({ username: 'jane' })
  expect(await whoAmI(server, { pair, headers: { 'x-remote-user': 'root' } })).toMatchObject({ username: 'root' })
})

test('AUTHN-CERT-04: an intermediate authority that has expired, or is not a CA, verifies nothing', async () => {
  const { server, by } = await aServerWithProxies()
  for (const bad of [{ fromMs: -7_200_000, toMs: -3_600_000 }, { isAuthority: false }]) {
    expect(await whoAmI(server, { pair: await by(authority, 'jane', bad) })).toBeUndefined()
  }
})

test('AUTHN-CERT-02: a resumed connection has the same user beside proxies, until its authority is removed', async () => {
  const { server, by, change } = await aServerWithProxies()
  const pair = await by(authority, 'jane')
  const agent = new Agent({ keepAlive: false })
  for (let round = 0; round < 3; round += 1) {
    expect(await whoAmI(server, { pair, agent })).toMatchObject({ username: 'jane' })
  }
  const open = new Agent({ keepAlive: true })
  onTestFinished(() => open.destroy())
  expect(await whoAmI(server, { pair, agent: open })).toMatchObject({ username: 'jane' })
  change(authority.certificate + second.certificate)
  // The server has forgotten the intermediate certificate, so it refuses the client once and the client must reconnect.
  expect(await whoAmI(server, { pair, agent: open })).toBeUndefined()
  expect(await whoAmI(server, { pair, agent: open })).toMatchObject({ username: 'jane' })
  change(second.certificate)
  expect(await whoAmI(server, { pair, agent: open })).toBeUndefined()
  expect(await whoAmI(server, { pair, agent: open })).toBeUndefined()
})

test('AUTHN-CERT-02: the server closes a connection that a change makes invalid, also over HTTP/2', async () => {
  const { server, by, change } = await aServerWithProxies()
  const pair = await by(authority, 'jane')
  const connect = async () => {
    const { certificateAuthority: ca } = await parseConfiguration(server.kubeconfig)
    return connectHttp2(server.url, { ...(ca === undefined ? {} : { ca }), cert: pair.certificate, key: pair.key })
  }
  const codeOf = async (session: ClientHttp2Session) => {
    const stream = session.request({ ':path': '/api' })
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>]
    stream.resume()
    return headers[':status']
  }
  const first = await connect()
  expect(await codeOf(first)).toBe(200)
  change(authority.certificate + second.certificate)
  const closed = once(first, 'close')
  expect(await codeOf(first)).toBe(401)
  await closed
  const next = await connect()
  onTestFinished(() => next.destroy())
  expect(await codeOf(next)).toBe(200)
})

test('AUTHN-CERT-02: a resumed connection, which does not send the intermediate authority again, has the same user', async () => {
  const between = await aCertificate({ issuer: authority, commonName: 'between', isAuthority: true })
  const jane = await aClient({ issuer: between })
  const server = await aServer([`--client-ca-file=${aFolder().write('ca.crt', authority.certificate)}`])
  const agent = new Agent({ keepAlive: false })
  const pair = { ...jane, certificate: jane.certificate + between.certificate }
  for (let round = 0; round < 3; round += 1) {
    expect(await whoAmI(server, { pair, agent })).toMatchObject({ username: 'jane' })
  }
})

test('AUTHN-CERT-01: after a change of the file the new CA is used and the old one is not, also on open connections', async () => {
  const folder = aFolder()
  const file = folder.write('ca.crt', authority.certificate)
  const clock = createFakeClock(Date.now())
  const server = await aServer([`--client-ca-file=${file}`], { clock })
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  const jane = await aClient()
  const john = await aClient({ issuer: second, commonName: 'john' })
  expect(await whoAmI(server, { pair: jane, agent })).toMatchObject({ username: 'jane' })
  expect(await whoAmI(server, { pair: john })).toBeUndefined()
  folder.write('ca.crt', second.certificate)
  clock.advance(5_000)
  expect(await whoAmI(server, { pair: john })).toMatchObject({ username: 'john' })
  expect(await whoAmI(server, { pair: jane, agent })).toBeUndefined()
  folder.write('ca.crt', 'nonsense')
  clock.advance(5_000)
  expect(await whoAmI(server, { pair: john })).toMatchObject({ username: 'john' })
})

test('AUTHN-CERT-04: a connection with an expired certificate is refused', async () => {
  const clock = createFakeClock(Date.now())
  const server = await aServer([`--client-ca-file=${aFolder().write('ca.crt', authority.certificate)}`], { clock })
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  const pair = await aClient()
  expect((await call(server, { pair, agent, path: '/api' })).code).not.toBe(401)
  clock.setNow(Date.now() + 3_600_001)
  expect((await call(server, { pair, agent, path: '/api' })).code).toBe(401)
})
