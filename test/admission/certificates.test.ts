import { describe, expect, test } from 'vitest'
import { aName, created, sharedApi } from '../api/api.ts'
import { authorityPem } from '../api/certificate-request.ts'
import { aPerson, give, onceAllowed } from '../authorization/people.ts'

const server = sharedApi({ controllers: ['-*'] })
const apiVersion = 'certificates.orch.io/v1'
const path = `/apis/${apiVersion}/certificatesigningrequests`

/** PKCS #10 requests with the subjects O=system:masters,CN=ann and O=team,CN=ann. */
const masters =
  'MIGmMFoCAQAwJzEXMBUGA1UECgwOc3lzdGVtOm1hc3RlcnMxDDAKBgNVBAMMA2Fu\n' +
  'bjAqMAUGAytlcAMhAL6HnerVbLCf+jtz4TwxrvktQrCtwqOUjT/Qs8Ynq6TxoAAw\n' +
  'BQYDK2VwA0EArDluuKxa1MQ9W4lFTGQswyHsvVszMWUFyr5djhna/SrW0/CHkG12\n' +
  'PXf7cUhnFr1Ae8VZ7byXjU7VBYrFzFDUBw=='
const team =
  'MIGcMFACAQAwHTENMAsGA1UECgwEdGVhbTEMMAoGA1UEAwwDYW5uMCowBQYDK2Vw\n' +
  'AyEAjybJSKU2C+qIelBuEQwewqoztSxeOtkJ25N0WbJx21WgADAFBgMrZXADQQBB\n' +
  'xKz/c7FKoLL7dDCleFGNeH/paQP5NcjK+NO0alffXmumb6YRDgixeVQg/iZSFtBy\n' +
  'gFo57GSwCENXewVnxPYG'

function aRequest(body: string, signerName: string) {
  const request = Buffer.from(`-----BEGIN CERTIFICATE REQUEST-----\n${body}\n-----END CERTIFICATE REQUEST-----\n`).toString('base64')
  return {
    apiVersion,
    kind: 'CertificateSigningRequest',
    metadata: { name: aName('request') },
    spec: { request, signerName, usages: ['client auth'] },
  }
}

const clientSigner = 'orch.io/kube-apiserver-client'
const onRequests = { verbs: ['get', 'patch', 'update'], apiGroups: ['certificates.orch.io'] }
const onSigner = (verb: string, name: string) => ({
  verbs: [verb],
  apiGroups: ['certificates.orch.io'],
  resources: ['signers'],
  resourceNames: [name],
})
const merge = { 'content-type': 'application/merge-patch+json' }
const condition = { type: 'Approved', status: 'True', reason: 'R', message: 'm' }

describe.each([
  ['approve', 'approval', 'the name of the signer', 'example.com/s'],
  ['approve', 'approval', 'all signers of the domain', 'example.com/*'],
  ['sign', 'status', 'the name of the signer', 'example.com/s'],
  ['sign', 'status', 'all signers of the domain', 'example.com/*'],
])('to %s at %s', (verb, subresource, what, signer) => {
  test(`a user needs the right to ${what}`, async () => {
    const { api } = server
    const { metadata } = await created(api, path, aRequest(team, 'example.com/s'))
    const person = aPerson(api)
    await give(api, person, [{ ...onRequests, resources: [`certificatesigningrequests/${subresource}`] }])
    const type = verb === 'approve' ? 'Approved' : 'Failed'
    const body = { status: { conditions: [{ ...condition, type }] } }
    const write = () => person.send('PATCH', `${path}/${metadata.name}/${subresource}`, { headers: merge, body })
    const why = `user not permitted to ${verb} requests with signerName "example.com/s"`
    const expected = `certificatesigningrequests.certificates.orch.io "${metadata.name}" is forbidden: ${why}`
    await expect.poll(async () => (await write()).body['message']).toBe(expected)
    await give(api, person, [onSigner(verb, signer)])
    expect((await onceAllowed(write)).status).toBe(200)
  })
})

test('a client that changes neither certificate nor conditions needs no right of a signer', async () => {
  const { api } = server
  const { metadata } = await created(api, path, aRequest(team, 'example.com/s'))
  const person = aPerson(api)
  await give(api, person, [{ ...onRequests, resources: ['certificatesigningrequests/status'] }])
  const write = () => person.send('PATCH', `${path}/${metadata.name}/status`, { headers: merge, body: { status: {} } })
  expect((await onceAllowed(write)).status).toBe(200)
})

test('a client certificate from a request never grants its holder full access', async () => {
  const { api } = server
  const request = aRequest(masters, clientSigner)
  const answer = await api.post(path, request)
  expect(answer.status).toBe(403)
  expect(answer.body['message']).toBe(
    `certificatesigningrequests.certificates.orch.io "${request.metadata.name}" is forbidden: use of ${clientSigner} signer with system:masters group is not allowed`,
  )
  expect((await api.post(path, aRequest(team, clientSigner))).status).toBe(201)
  expect((await api.post(path, aRequest(masters, 'example.com/s'))).status).toBe(201)
})

test('an unreadable certificate signing request is refused', async () => {
  const answer = await server.api.post(path, aRequest('MAA=', clientSigner))
  expect(answer.status).toBe(422)
  expect(answer.body['message']).toContain('spec.request: Invalid value')
})

test('TODAY-ADM-04: a trust bundle needs the right to attest for its signer, and its finalizers need only the right to write them', async () => {
  const { api } = server
  const bundles = `/apis/${apiVersion}/clustertrustbundles`
  const person = aPerson(api)
  await give(api, person, [{ verbs: ['create', 'patch'], apiGroups: ['certificates.orch.io'], resources: ['clustertrustbundles'] }])
  const name = aName('v')
  const aBundle = (own: string, signerName?: string) => ({
    apiVersion,
    kind: 'ClusterTrustBundle',
    metadata: { name: own },
    spec: { ...(signerName === undefined ? {} : { signerName }), trustBundle: authorityPem },
  })
  expect((await onceAllowed(() => person.post(bundles, aBundle(name)))).status).toBe(201)
  const ofSigner = aBundle(`example.com:s:${name}`, 'example.com/s')
  const refused = await person.post(bundles, ofSigner)
  const why = 'user not permitted to attest for signerName "example.com/s"'
  expect(refused.body['message']).toBe(`clustertrustbundles.certificates.orch.io "${ofSigner.metadata.name}" is forbidden: ${why}`)
  await created(api, bundles, ofSigner)
  const change = (metadata: object) => person.send('PATCH', `${bundles}/${ofSigner.metadata.name}`, { headers: merge, body: { metadata } })
  expect((await change({ labels: { a: 'b' } })).body['message']).toContain(why)
  expect((await change({ finalizers: ['example.com/a'] })).status).toBe(200)
  await give(api, person, [onSigner('attest', 'example.com/*')])
  expect((await onceAllowed(() => change({ labels: { a: 'b' } }))).status).toBe(200)
})
