import { Agent } from 'node:https'
import { namesOf, printServiceIdentity } from '@orch/core'
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
])('AUTHN-CERT-04, AUTHN-CERT-05: a certificate %s is 401, with anonymous access too', async (_what, options) => {
  const file = aFolder().write('ca.crt', authority.certificate)
  const server = await aServer([`--client-ca-file=${file}`, '--anonymous-auth'])
  expect((await call(server, { pair: await aClient(await options()) })).code).toBe(401)
})

test('AUTHN-CERT-02: an authority in between counts, sent along or in the file', async () => {
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

test('AUTHN-CERT-02: a resumed connection, which sends no authority in between again, is still the same user', async () => {
  const between = await aCertificate({ issuer: authority, commonName: 'between', isAuthority: true })
  const jane = await aClient({ issuer: between })
  const server = await aServer([`--client-ca-file=${aFolder().write('ca.crt', authority.certificate)}`])
  const agent = new Agent({ keepAlive: false })
  const pair = { ...jane, certificate: jane.certificate + between.certificate }
  for (let round = 0; round < 3; round += 1) {
    expect(await whoAmI(server, { pair, agent })).toMatchObject({ username: 'jane' })
  }
})

test('AUTHN-CERT-01: a change of the file is followed: the new CA counts, the old one does not, on open connections too', async () => {
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

test('AUTHN-CERT-04: a connection that outlives its certificate is refused', async () => {
  const clock = createFakeClock(Date.now())
  const server = await aServer([`--client-ca-file=${aFolder().write('ca.crt', authority.certificate)}`], { clock })
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  const pair = await aClient()
  expect((await call(server, { pair, agent, path: '/api' })).code).not.toBe(401)
  clock.setNow(Date.now() + 3_600_001)
  expect((await call(server, { pair, agent, path: '/api' })).code).toBe(401)
})
