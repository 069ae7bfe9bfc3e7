import { createServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { aCertificate, anAuthority } from '@orch/platform/any-certificate'
import { expect, onTestFinished, test } from 'vitest'
import { createFetchJson } from './fetch-json.ts'

/** A server that redirects from /from to /to, where the document is; it records its requests. */
async function aProvider(tls: ServerOptions = {}) {
  const authority = await anAuthority('authority')
  const { certificate, key } = await aCertificate({ issuer: authority, commonName: 'provider', use: 'server' })
  const asked: string[] = []
  const server = createServer({ cert: certificate, key, ...tls }, (request, response) => {
    asked.push(request.url ?? '')
    if (request.url === '/from') response.writeHead(302, { location: '/to' }).end()
    else response.end(request.url === '/large' ? Buffer.alloc(2 * 1024 * 1024, ' ') : '{"a":1}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `https://127.0.0.1:${port}`, asked, authority: authority.certificate, serving: certificate }
}

test('a redirect is a failure and is not followed', async () => {
  const { url, asked, authority } = await aProvider()
  const fetchJson = createFetchJson({ certificateAuthorities: authority })
  expect(await fetchJson(`${url}/to`)).toEqual({ a: 1 })
  await expect(fetchJson(`${url}/from`)).rejects.toThrow(`${url}/from: the answer is 302, not 200`)
  expect(asked).toEqual(['/to', '/from'])
})

test('a document without an end is aborted', async () => {
  const { url, authority } = await aProvider()
  await expect(createFetchJson({ certificateAuthorities: authority })(`${url}/large`)).rejects.toThrow('the document has more than')
})

test('AUTHN-OIDC-10: TLS 1.2 is spoken, and no older version or weak cipher', async () => {
  const weak = { minVersion: 'TLSv1', ciphers: 'ALL@SECLEVEL=0' } as const
  const current = await aProvider({ ...weak, maxVersion: 'TLSv1.2' })
  expect(await createFetchJson({ certificateAuthorities: current.authority })(`${current.url}/to`)).toEqual({ a: 1 })
  const old = await aProvider({ ...weak, maxVersion: 'TLSv1.1' })
  const withoutSecrecy = await aProvider({ maxVersion: 'TLSv1.2', ciphers: 'AECDH-NULL-SHA:NULL-SHA256:@SECLEVEL=0' })
  for (const { url, authority, asked } of [old, withoutSecrecy]) {
    await expect(createFetchJson({ certificateAuthorities: authority })(`${url}/to`)).rejects.toThrow(`${url}/to: `)
    expect(asked).toEqual([])
  }
})

test('AUTHN-OIDC-11: a server with a certificate of another authority receives no request', async () => {
  const { url, asked } = await aProvider()
  const { certificate } = await anAuthority('other')
  await expect(createFetchJson({ certificateAuthorities: certificate })(`${url}/to`)).rejects.toThrow(`${url}/to: `)
  expect(asked).toEqual([])
})

test('the certificate of the provider itself may be the trusted authority', async () => {
  const { url, serving } = await aProvider()
  expect(await createFetchJson({ certificateAuthorities: serving })(`${url}/to`)).toEqual({ a: 1 })
})

test.each(['https://169.254.169.254/', 'https://[fe80::1]/', 'https://[::ffff:169.254.169.254]/'])(
  'AUTHN-OIDC-12: %s is a link-local address and is not requested',
  async (url) => {
    await expect(createFetchJson({})(url)).rejects.toThrow('link-local addresses are not asked')
  },
)

test('AUTHN-OIDC-12: an address without TLS receives no request', async () => {
  await expect(createFetchJson({})('http://127.0.0.1/')).rejects.toThrow('must begin with https://')
})
