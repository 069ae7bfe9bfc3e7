import { aCertificate, anAuthority } from '@orch/platform/any-certificate'
import { start } from 'orch'
import { expect, onTestFinished, test } from 'vitest'
import { adminPair, call, callHttp2, whoAmI } from './call.ts'
import { aFolder } from './folder.ts'

const proxies = await anAuthority('proxies')
const people = await anAuthority('people')
const front = await aCertificate({ issuer: proxies, commonName: 'front', use: 'client' })

async function aServer(...flags: string[]) {
  const folder = aFolder()
  const server = await start({
    flags: [
      '--authorization-mode=AlwaysAllow',
      `--requestheader-client-ca-file=${folder.write('proxies.crt', proxies.certificate)}`,
      `--client-ca-file=${folder.write('people.crt', people.certificate)}`,
      '--requestheader-username-headers=X-Remote-User,X-Other-User',
      '--requestheader-group-headers=X-Remote-Group,X-Other-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      ...flags,
    ],
  })
  onTestFinished(() => server.stop())
  return server
}

test('AUTHN-PROXY-01, AUTHN-PROXY-02, AUTHN-PROXY-03, AUTHN-PROXY-04: a proxy with a certificate names the user', async () => {
  const server = await aServer()
  const headers = {
    'x-remote-user': 'jane',
    'x-other-user': 'john',
    'X-REMOTE-GROUP': ['dev', 'ops'],
    'x-other-group': 'more',
    'X-Remote-Extra-Acme.com%2Fproject': ['a', 'b'],
    'X-Remote-Extra-Scopes': 'view',
  }
  expect(await whoAmI(server, { pair: front, headers })).toEqual({
    username: 'jane',
    groups: ['dev', 'ops', 'more', 'system:authenticated'],
    extra: { 'acme.com/project': ['a', 'b'], scopes: ['view'] },
  })
})

test('AUTHN-PROXY-03, AUTHN-PROXY-04, AUTHN-PROXY-05, AUTHN-PROXY-07: every value of every header counts in order, over HTTP/2 too', async () => {
  const server = await aServer()
  const headers = {
    'x-remote-user': 'jane',
    'x-other-group': 'more',
    'x-remote-group': ['dev, with a comma', 'ops'],
    'x-remote-extra-scopes': ['a', 'b'],
  }
  expect(await whoAmI(server, { pair: front, headers }, callHttp2)).toEqual({
    username: 'jane',
    groups: ['dev, with a comma', 'ops', 'more', 'system:authenticated'],
    extra: { scopes: ['a', 'b'] },
  })
})

test.each([
  ['AUTHN-PROXY-05', 'X-Remote-Extra-ScOpEs', 'scopes'],
  ['AUTHN-PROXY-06', 'X-Remote-Extra-example.com%2fa%20b', 'example.com/a b'],
  ['AUTHN-PROXY-06', 'X-Remote-Extra-%C3%A4%41', 'äA'],
  ['AUTHN-PROXY-06', 'X-Remote-Extra-100%25', '100%'],
  ['AUTHN-PROXY-06', 'X-Remote-Extra-Half%2', 'half%2'],
])('%s: %s is the extra attribute %j', async (_id, header, key) => {
  const server = await aServer()
  const found = await whoAmI(server, { pair: front, headers: { 'x-remote-user': 'jane', [header]: 'view' } })
  expect(found?.extra).toEqual({ [key]: ['view'] })
})

test('AUTHN-PROXY-04: several prefixes are accepted, and without a prefix no header is an extra attribute', async () => {
  const sent = { 'x-remote-user': 'jane', 'x-remote-extra-a': '1', 'x-more-b': '2' }
  const both = await aServer('--requestheader-extra-headers-prefix=X-More-')
  expect((await whoAmI(both, { pair: front, headers: sent }))?.extra).toEqual({ a: ['1'], b: ['2'] })
})

test('AUTHN-PROXY-08, FLAG-22: the file may hold several authorities', async () => {
  const others = await anAuthority('other proxies')
  const file = aFolder().write('both.crt', `# comment\n${others.certificate}${proxies.certificate}`)
  const server = await aServer(`--requestheader-client-ca-file=${file}`)
  for (const issuer of [others, proxies]) {
    const pair = await aCertificate({ issuer, commonName: 'any', use: 'client' })
    expect(await whoAmI(server, { pair, headers: { 'x-remote-user': 'jane' } })).toMatchObject({ username: 'jane' })
  }
})

test('AUTHN-PROXY-09: headers of a proxy add nothing to an impersonated user', async () => {
  const server = await aServer()
  const asJohn = { 'impersonate-user': 'john' }
  const found = await whoAmI(server, { pair: front, headers: { 'x-remote-user': 'jane', 'x-remote-group': 'system:masters', ...asJohn } })
  expect(found).toEqual({ username: 'john', groups: ['system:authenticated'] })
})

test('AUTHN-PROXY-02: the first listed header with a value is used', async () => {
  const server = await aServer()
  const headers = { 'x-remote-user': '', 'x-other-user': 'john' }
  expect(await whoAmI(server, { pair: front, headers })).toMatchObject({ username: 'john' })
})

const headers = { 'x-remote-user': 'root', 'x-remote-group': 'system:masters' }

test('AUTHN-PROXY-09: the headers have no effect without the certificate', async () => {
  const server = await aServer('--anonymous-auth')
  expect(await whoAmI(server, { headers })).toMatchObject({ username: 'system:anonymous', groups: ['system:unauthenticated'] })
  const jane = await aCertificate({ issuer: people, commonName: 'jane', use: 'client' })
  expect(await whoAmI(server, { headers, pair: jane })).toMatchObject({ username: 'jane', groups: ['system:authenticated'] })
  expect(await whoAmI(server, { headers, pair: await adminPair(server) })).not.toMatchObject({ username: 'root' })
  const stranger = await aCertificate({ issuer: await anAuthority('proxies'), commonName: 'front', use: 'client' })
  expect(await whoAmI(server, { headers, pair: stranger })).toBeUndefined()
})

test('AUTHN-PROXY-09: a certificate of a proxy without headers authenticates no user', async () => {
  const server = await aServer('--anonymous-auth')
  expect((await call(server, { pair: front })).code).toBe(401)
})

test('AUTHN-PROXY-10, AUTHN-PROXY-11, FLAG-23: the common name must be allowed', async () => {
  const server = await aServer('--requestheader-allowed-names=back,side')
  expect(await whoAmI(server, { pair: front, headers })).toBeUndefined()
  const side = await aCertificate({ issuer: proxies, commonName: 'side', use: 'client' })
  expect(await whoAmI(server, { pair: side, headers: { 'x-remote-user': 'jane' } })).toMatchObject({ username: 'jane' })
})

test.each([
  [['--requestheader-username-headers=X-Remote-User'], /--requestheader-client-ca-file/],
  [['--requestheader-client-ca-file=/nowhere'], /--requestheader-client-ca-file=\/nowhere: the file cannot be read/],
  [['--requestheader-username-headers=X Remote'], /must be the name of a header/],
])('FLAG-19, FLAG-22: %j is refused at the start', async (flags, message) => {
  await expect(start({ flags })).rejects.toThrow(message)
})

test('AUTHN-PROXY-01: a ConfigMap lists the proxies and authorities that other servers trust', async () => {
  const server = await aServer('--requestheader-allowed-names=front')
  const path = '/api/v1/namespaces/orch-system/configmaps/extension-apiserver-authentication'
  const { body } = await call(server, { pair: await adminPair(server), path })
  expect(body.data).toMatchObject({
    'client-ca-file': expect.stringContaining(`${people.certificate.trim()}\n`),
    'requestheader-client-ca-file': `${proxies.certificate.trim()}\n`,
    'requestheader-allowed-names': '["front"]',
    'requestheader-username-headers': '["X-Remote-User","X-Other-User"]',
    'requestheader-group-headers': '["X-Remote-Group","X-Other-Group"]',
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
  })
})

const uidFlag = '--requestheader-uid-headers=X-Remote-Uid,X-Other-Uid'

test('READ-26: the first listed header with a value gives the uid', async () => {
  const server = await aServer(uidFlag)
  const of = async (fields: object) => (await whoAmI(server, { pair: front, headers: { 'x-remote-user': 'jane', ...fields } }))?.uid
  expect(await of({ 'X-REMOTE-UID': '42', 'x-other-uid': '7' })).toBe('42')
  expect(await of({ 'x-remote-uid': '', 'x-other-uid': '7' })).toBe('7')
  expect(await of({})).toBeUndefined()
  const jane = await aCertificate({ issuer: people, commonName: 'jane', use: 'client' })
  expect((await whoAmI(server, { pair: jane, headers: { 'x-remote-uid': '42' } }))?.uid).not.toBe('42')
})

test('READ-26: a header gives no uid without the flag', async () => {
  const server = await aServer()
  expect((await whoAmI(server, { pair: front, headers: { 'x-remote-user': 'jane', 'x-remote-uid': '42' } }))?.uid).toBeUndefined()
})

test('READ-26, AGG-24: other servers find the headers in the ConfigMap', async () => {
  const server = await aServer(uidFlag)
  const path = '/api/v1/namespaces/orch-system/configmaps/extension-apiserver-authentication'
  const { body } = await call(server, { pair: await adminPair(server), path })
  expect(body.data).toMatchObject({ 'requestheader-uid-headers': '["X-Remote-Uid","X-Other-Uid"]' })
})

test.each([
  [[uidFlag], /--requestheader-client-ca-file: needed/],
  [['--requestheader-uid-headers=X Remote'], /--requestheader-uid-headers: "X Remote": must be the name of a header/],
])('READ-26: %j is refused at the start', async (flags, message) => {
  await expect(start({ flags })).rejects.toThrow(message)
})

test('READ-26: the flag is refused without the feature gate', async () => {
  await expect(aServer(uidFlag, '--feature-gates=RemoteRequestHeaderUID=false')).rejects.toThrow(
    'needs the feature gate RemoteRequestHeaderUID',
  )
})
