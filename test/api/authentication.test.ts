import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfiguration } from '@orch/client'
import { certificateMemory, readCertificates, systemClock } from '@orch/platform'
import { aFolder } from '@orch/testkit/folder'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startProcess } from '../e2e/server-process.ts'
import { Api, anApi, configMapsIn, created, failure, sharedApi } from './api.ts'

const server = sharedApi()
const unauthorized = failure(401, 'Unauthorized', 'Unauthorized')

/** An authority that no server knows, and a certificate that this authority signed. */
const anAuthority = () => readCertificates({ files: certificateMemory(), product: 'other', names: ['localhost'], clock: systemClock })

describe('certificates', () => {
  test('AUTHN-CERT-01: the certificate of the administrator gives full access', async () => {
    expect((await server.api.get('/api/v1/namespaces')).status).toBe(200)
  })

  test('AUTHN-CERT-04, AUTHN-CERT-05: a certificate of another authority is a 401 on every path', async () => {
    const { admin } = await anAuthority()
    const other = server.api.as({ cert: admin.certificate, key: admin.key })
    for (const target of ['/api/v1/namespaces', '/api', configMapsIn('default')]) {
      const { status, body } = await other('GET', target)
      expect({ status, body }).toEqual({ status: 401, body: unauthorized })
    }
  })

  test('AUTHN-CERT-05: a certificate of another authority is a 401 with anonymous access too', async () => {
    const api = await anApi({ anonymousAuth: true })
    const { admin } = await anAuthority()
    expect((await api.as({ cert: admin.certificate, key: admin.key })('GET', '/api/v1/namespaces')).status).toBe(401)
    expect((await api.as({})('GET', '/api/v1/namespaces')).status).toBe(403)
  })

  test('AUTHN-CERT-01: --client-ca-file adds authorities, several in one file', async () => {
    const [first, second, third] = [await anAuthority(), await anAuthority(), await anAuthority()]
    const folder = aFolder()
    const file = join(folder, 'clients.crt')
    writeFileSync(file, `${first.authority}\n${second.authority}\n`)
    const { url, dataDir, stop } = await startProcess(['--memory', `--client-ca-file=${file}`])
    const api = new Api([url], await loadConfiguration(join(dataDir, 'admin.conf')), async () => void (await stop()))
    onTestFinished(() => api.stop())
    const codeOf = async ({ admin }: typeof first) =>
      (await api.as({ cert: admin.certificate, key: admin.key })('GET', '/api/v1/namespaces')).status
    expect([await codeOf(first), await codeOf(second), await codeOf(third)]).toEqual([200, 200, 401])
    expect((await api.get('/api/v1/namespaces')).status).toBe(200)
  })
})

describe('requests without valid credentials', () => {
  test('AUTHN-ANON-05: get a 401 with anonymous access off, on any path', async () => {
    const stranger = (await anApi({ anonymousAuth: false })).as({})
    for (const target of ['/', '/api', '/apis', '/api/v1/namespaces', '/metrics', '/openapi/v2', '/none', '/livezz', '/version/x']) {
      const { status, body } = await stranger('GET', target)
      expect({ target, status, body }).toEqual({ target, status: 401, body: unauthorized })
    }
  })

  test('AUTHN-GEN-04, AUTHN-ANON-01, AUTHN-ANON-02, AUTHN-ANON-06: are anonymous by default, with the rights that roles grant', async () => {
    const stranger = server.api.as({})
    for (const target of ['/', '/api', '/apis', '/metrics', '/openapi/v2', '/none', '/livezz', '/version/x']) {
      const message = `forbidden: User "system:anonymous" cannot get path ${JSON.stringify(target)}`
      expect((await stranger('GET', target)).body).toMatchObject({ code: 403, reason: 'Forbidden', message })
    }
    for (const target of ['/livez', '/readyz', '/healthz', '/version', '/version/'])
      expect((await stranger('GET', target)).status).toBe(200)
  })

  test('AUTHN-ANON-05: get no answer on any path with anonymous access off', async () => {
    const stranger = (await anApi({ anonymousAuth: false })).as({})
    for (const target of ['/version', '/livez', '/api/v1/namespaces']) expect((await stranger('GET', target)).status).toBe(401)
  })

  test('AUTHN-ANON-03: are served with anonymous access on', async () => {
    const api = await anApi({ anonymousAuth: true, flags: ['--authorization-mode=AlwaysAllow'] })
    const stranger = api.as({})
    expect((await stranger('GET', '/api/v1/namespaces')).status).toBe(200)
    expect((await stranger('GET', '/metrics')).status).toBe(200)
  })

  test.each([false, true])('AUTHN-ANON-04, ERR-03: with an invalid bearer token get a 401, anonymous access %j', async (anonymousAuth) => {
    const api = await anApi({ anonymousAuth })
    const stranger = api.as({})
    for (const authorization of ['Bearer nonsense', 'bearer a.b.c', 'Bearer eyJhbGciOiJub25lIn0.e30.']) {
      const { status, body } = await stranger('GET', '/api/v1/namespaces', { headers: { authorization } })
      expect({ status, body }).toEqual({ status: 401, body: unauthorized })
    }
  })

  test('AUTHN-ANON-05: with headers that name a user do not become that user', async () => {
    const headers = { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' }
    const asAnonymous = { status: 403, body: { message: expect.stringContaining('User "system:anonymous" cannot') } }
    expect(await server.api.as({})('GET', '/api/v1/namespaces', { headers })).toMatchObject(asAnonymous)
    const acting = { 'impersonate-user': 'admin' }
    expect(await server.api.as({})('GET', '/api/v1/namespaces', { headers: acting })).toMatchObject(asAnonymous)
    const closed = await anApi({ anonymousAuth: false })
    for (const one of [headers, acting]) expect((await closed.as({})('GET', '/api/v1/namespaces', { headers: one })).status).toBe(401)
  })
})

describe('tokens of service accounts', () => {
  test('AUTHN-SA-12, AUTHN-SA-14: a Secret of a service account gets a token that the server accepts', async () => {
    const path = '/api/v1/namespaces/default/secrets'
    const core = { apiVersion: 'v1' }
    await created(server.api, '/api/v1/namespaces/default/serviceaccounts', {
      ...core,
      kind: 'ServiceAccount',
      metadata: { name: 'filled' },
    })
    const metadata = { name: 'filled-token', annotations: { 'orch.io/service-account.name': 'filled' } }
    await created(server.api, path, { ...core, kind: 'Secret', metadata, type: 'orch.io/service-account-token' })
    const dataOf = async () => ((await server.api.get(`${path}/filled-token`)).body['data'] ?? {}) as Record<string, string>
    await expect.poll(async () => Object.keys(await dataOf()).sort()).toEqual(['ca.crt', 'namespace', 'token'])
    const token = Buffer.from((await dataOf())['token'] ?? '', 'base64').toString()
    const { body } = await server.api.as({})('GET', path, { headers: { authorization: `Bearer ${token}` } })
    expect(body['message']).toContain('User "system:serviceaccount:default:filled" cannot list')
  })

  test('AUTHN-SA-10, AUTHN-SA-13: a requested token authenticates the account until the account is deleted', async () => {
    const accounts = '/api/v1/namespaces/default/serviceaccounts'
    await created(server.api, accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'leaving' } })
    const asked = await server.api.post(`${accounts}/leaving/token`, { spec: { expirationSeconds: 600 } })
    expect(asked.status).toBe(201)
    const { token } = asked.body['status'] as { token: string }
    const codeOf = async () =>
      (await server.api.as({})('GET', configMapsIn('default'), { headers: { authorization: `Bearer ${token}` } })).status
    await expect.poll(codeOf).toBe(403)
    await server.api.delete(`${accounts}/leaving`)
    await expect.poll(codeOf).toBe(401)
  })
})
