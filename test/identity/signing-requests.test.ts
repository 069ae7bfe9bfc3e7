import { type KeyObject, X509Certificate } from 'node:crypto'
import { createClient, createHttpsTransport, parseConfiguration } from '@orch/client'
import { type ApiObject, StatusError } from '@orch/core/meta'
import { virtualClock } from '@orch/platform'
import { type RunningServer, start } from 'orch'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aName } from '../api/api.ts'
import { aCertificateRequest, type RequestedSubject } from './pkcs10.ts'

interface SigningRequest extends ApiObject {
  readonly status?: { readonly certificate?: string; readonly conditions?: readonly { readonly type: string; readonly message: string }[] }
}

const hourMs = 3_600_000
const clock = virtualClock({ start: new Date('2030-01-01T00:00:00Z') })
const requests = { group: 'certificates.orch.io', version: 'v1', plural: 'certificatesigningrequests', namespaced: false }
const clientSigner = 'orch.io/kube-apiserver-client'
const kubeletSigner = 'orch.io/kube-apiserver-client-kubelet'
const kubeletUsages = ['digital signature', 'client auth']
let server: RunningServer

beforeAll(async () => {
  server = await start({ clock, profile: 'orch' })
})
afterAll(() => server.stop())

interface Wanted extends RequestedSubject {
  readonly signerName?: string
  readonly usages?: readonly string[]
  readonly expirationSeconds?: number
}

const collection = () => server.client.resource<SigningRequest>(requests)
const settled = () => server.settled({ within: 60_000 })

/** A created request, with its private key. */
async function aRequest(
  { signerName = clientSigner, usages = ['client auth'], expirationSeconds, ...subject }: Wanted,
  client = server.client,
) {
  const { pem, key } = aCertificateRequest(subject)
  const spec = { request: Buffer.from(pem).toString('base64'), signerName, usages, expirationSeconds }
  const metadata = { name: aName('request') }
  const made = await client
    .resource<SigningRequest>(requests)
    .create({ apiVersion: 'certificates.orch.io/v1', kind: 'CertificateSigningRequest', metadata, spec })
  return { name: made.metadata.name ?? '', key }
}

/** Approves or denies a request; returns the request after the controllers have processed it. */
async function decided(name: string, type: 'Approved' | 'Denied' = 'Approved'): Promise<SigningRequest> {
  const body = { status: { conditions: [{ type, status: 'True', reason: 'ByHand', message: 'm' }] } }
  await collection().patch(name, body, { type: 'merge', subresource: 'approval' })
  await settled()
  return collection().get(name)
}

async function issued(wanted: Wanted) {
  const { name, key } = await aRequest(wanted)
  const { status } = await decided(name)
  const pem = Buffer.from(status?.certificate ?? '', 'base64').toString()
  return { key, pem, certificate: new X509Certificate(pem) }
}

/** The user that the server recognizes by the certificate. */
async function whoIs(clientCertificate: string, key: KeyObject): Promise<unknown> {
  const { server: url, certificateAuthority } = await parseConfiguration(server.kubeconfig)
  const clientKey = String(key.export({ type: 'pkcs8', format: 'pem' }))
  const client = createClient(createHttpsTransport({ server: url, certificateAuthority, clientCertificate, clientKey }))
  const path = '/apis/authentication.orch.io/v1/selfsubjectreviews'
  const body = { apiVersion: 'authentication.orch.io/v1', kind: 'SelfSubjectReview' }
  try {
    const { status } = await client.request<{ status: { userInfo: { username: string; groups: string[] } } }>({
      method: 'POST',
      path,
      body,
    })
    return { username: status.userInfo.username, groups: status.userInfo.groups }
  } finally {
    client.close()
  }
}

test('WL-CSR-02: an approved request gets a certificate that authenticates its subject', async () => {
  const { pem, key, certificate } = await issued({
    commonName: 'jane',
    organizations: ['dev', 'ops'],
    unit: 'unknown',
    wantsAuthority: true,
  })
  expect(await whoIs(pem, key)).toEqual({ username: 'jane', groups: ['dev', 'ops', 'system:authenticated'] })
  expect(certificate.ca).toBe(false)
  expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2'])
})

test.each([
  ['a year without a wish, backdated with its end', undefined, -300, 365 * 86_400 - 300],
  ['the time that is asked for', 3_600, -300, 3_600],
  ['no more than a year', 400 * 86_400, -300, 365 * 86_400 - 300],
])('WL-CSR-02: a certificate is valid for %s', async (_, expirationSeconds, from, to) => {
  const nowSeconds = clock.now() / 1_000
  const { certificate } = await issued({ commonName: 'jane', ...(expirationSeconds && { expirationSeconds }) })
  const secondsOf = (time: string) => Date.parse(time) / 1_000 - nowSeconds
  expect([secondsOf(certificate.validFrom), secondsOf(certificate.validTo)]).toEqual([from, to])
})

test('WL-CSR-02: the serving certificate of a kubelet has the names of the request', async () => {
  const { certificate } = await issued({
    ...{ commonName: 'system:node:a', organizations: ['system:nodes'] },
    names: [
      [0x82, 'a.example.com'],
      [0x87, Uint8Array.of(10, 0, 0, 1)],
    ],
    ...{ signerName: 'orch.io/kubelet-serving', usages: ['digital signature', 'key encipherment', 'server auth'] },
  })
  expect(certificate.subjectAltName).toBe('DNS:a.example.com, IP Address:10.0.0.1')
  expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
})

const aKubelet = { commonName: 'system:node:a', organizations: ['system:nodes'], signerName: kubeletSigner, usages: kubeletUsages }

test.each<[string, Wanted, string]>([
  ['usage', { commonName: 'jane', usages: ['client auth', 'server auth'] }, 'invalid usage for client certificate: server auth'],
  ['lack of a usage', { commonName: 'jane', usages: ['digital signature'] }, 'missing required usage for client certificate: client auth'],
  ['group', { ...aKubelet, organizations: ['nodes'] }, 'subject organization is not system:nodes'],
  ['name', { ...aKubelet, commonName: 'jane' }, 'subject common name does not begin with system:node:'],
  ['host name', { ...aKubelet, names: [[0x82, 'a.b']] }, 'DNS subjectAltNames are not allowed'],
  ['usage of a kubelet', { ...aKubelet, usages: ['client auth'] }, 'usages did not match [client auth digital signature key encipherment]'],
  ['name that is malformed', { ...aKubelet, names: [[0x87, 'abc']] }, 'a name of the kind address is malformed'],
  [
    'lack of names',
    { ...aKubelet, signerName: 'orch.io/kubelet-serving', usages: ['digital signature', 'server auth'] },
    'DNS or IP subjectAltName is required',
  ],
])('WL-CSR-02: an approved request with a wrong %s fails', async (_, wanted, message) => {
  const { status } = await decided((await aRequest(wanted)).name)
  expect(status?.certificate).toBeUndefined()
  expect(status?.conditions).toMatchObject([
    { type: 'Approved' },
    { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message },
  ])
})

test('WL-CSR-02: a denied request, and a request to an external signer, get no certificate', async () => {
  const denied = await decided((await aRequest({ commonName: 'jane' })).name, 'Denied')
  const elsewhere = await decided((await aRequest({ commonName: 'jane', signerName: 'example.com/s' })).name)
  expect([denied, elsewhere].map(({ status }) => Object.keys(status ?? {}))).toEqual([['conditions'], ['conditions']])
})

/** A client of a user who may create requests and write these subresources of requests. */
function aRequester(user: string, ...subresources: readonly string[]) {
  const resources = ['certificatesigningrequests', ...subresources.map((one) => `certificatesigningrequests/${one}`)]
  return server.user(user, { rules: [{ apiGroups: ['certificates.orch.io'], resources, verbs: ['create'] }] }).client
}

test.each([
  ['a kubelet', 'bootstrapper', 'nodeclient', 'Auto approving kubelet client certificate after SubjectAccessReview.'],
  ['a kubelet itself', 'system:node:a', 'selfnodeclient', 'Auto approving self kubelet client certificate after SubjectAccessReview.'],
])('WL-CSR-01: a request for %s by %s, who may create %s, is approved and gets its certificate', async (_, user, subresource, message) => {
  const { name } = await aRequest(aKubelet, aRequester(user, subresource))
  await settled()
  const { status } = await collection().get(name)
  expect(status?.conditions).toMatchObject([{ type: 'Approved', status: 'True', reason: 'AutoApproved', message }])
  expect(status?.certificate).toBeDefined()
})

test('WL-CSR-01: other requests stay pending: without permission, for another node, with a wrong usage', async () => {
  const all = [
    await aRequest(aKubelet, aRequester('somebody')),
    await aRequest({ ...aKubelet, commonName: 'system:node:b' }, aRequester('system:node:c', 'selfnodeclient')),
    await aRequest({ ...aKubelet, usages: ['client auth'] }),
    await aRequest({ commonName: 'jane' }),
  ]
  await settled()
  const found = await Promise.all(all.map(({ name }) => collection().get(name)))
  expect(found.map(({ status }) => status?.conditions)).toEqual([undefined, undefined, undefined, undefined])
})

test('WL-CSR-01: a permission that is granted later counts', async () => {
  const { name } = await aRequest(aKubelet, aRequester('late'))
  const apiVersion = 'rbac.authorization.orch.io/v1'
  await server.client.objects.create({
    ...{ apiVersion, kind: 'ClusterRoleBinding', metadata: { name: 'late' } },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.orch.io', name: 'late' }],
    roleRef: {
      ...{ apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole' },
      name: 'system:certificates.orch.io:certificatesigningrequests:nodeclient',
    },
  })
  await clock.advance(hourMs)
  await settled()
  expect((await collection().get(name)).status?.conditions).toMatchObject([{ type: 'Approved' }])
})

/** The names of the requests that still exist after some hours. */
async function leftAfter(hours: number, all: Readonly<Record<string, string>>): Promise<string[]> {
  await clock.advance(hours * hourMs)
  await settled()
  const states = await Promise.all(
    Object.entries(all).map(async ([what, name]) => {
      try {
        await collection().get(name)
        return [what]
      } catch (error) {
        if (error instanceof StatusError && error.code === 404) return []
        throw error
      }
    }),
  )
  return states.flat()
}

test('WL-CSR-03: answered requests are deleted after an hour, pending ones after a day, and others when their certificate expires', async () => {
  const elsewhere = { commonName: 'jane', signerName: 'example.com/s' }
  const all: Record<string, string> = {}
  for (const [what, wanted] of Object.entries({
    denied: elsewhere,
    ...{ failed: { commonName: 'jane', usages: ['any'] }, signed: { commonName: 'jane' } },
    ...{ short: { commonName: 'jane', expirationSeconds: 1_200 }, open: elsewhere, unsigned: elsewhere },
  })) {
    all[what] = (await aRequest(wanted)).name
    if (what !== 'open') await decided(all[what], what === 'denied' ? 'Denied' : 'Approved')
  }
  expect(await leftAfter(0.3, all)).toEqual(Object.keys(all))
  expect(await leftAfter(0.1, all)).toEqual(['denied', 'failed', 'signed', 'open', 'unsigned'])
  expect(await leftAfter(0.7, all)).toEqual(['open', 'unsigned'])
  expect(await leftAfter(22.8, all)).toEqual(['open', 'unsigned'])
  expect(await leftAfter(0.2, all)).toEqual([])
})
