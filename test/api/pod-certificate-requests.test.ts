import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, X509Certificate } from 'node:crypto'
import { issueAuthority } from '@orch/platform/issue'
import { describe, expect, test } from 'vitest'
import { aName, aNamespace, sharedApi } from './api.ts'
import { sampleFields } from './sample-objects.ts'

const server = sharedApi({ version: '1.37', profile: 'kubernetes', controllers: [] })
const at = '/apis/certificates.k8s.io/v1'
const apiVersion = 'certificates.k8s.io/v1'

/** A user who may do everything with requests and nothing with signers. */
async function aWriter(): Promise<Record<string, string>> {
  const name = aName('writer')
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const resources = ['podcertificaterequests', 'podcertificaterequests/status']
  const rules = [{ apiGroups: ['certificates.k8s.io'], resources, verbs: ['*'] }]
  await server.api.post(`${rbac}/clusterroles`, { metadata: { name }, rules })
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
  await server.api.post(`${rbac}/clusterrolebindings`, { metadata: { name }, roleRef, subjects: [{ kind: 'User', name }] })
  return { 'impersonate-user': name }
}

test('TODAY-PCR-01: a signer issues a certificate for a PodCertificateRequest once', async () => {
  const headers = await aWriter()
  const path = `${at}/namespaces/${await aNamespace(server.api)}/podcertificaterequests`
  const fields = sampleFields('PodCertificateRequest', apiVersion, { domain: 'k8s.io', namespace: '' })
  expect((await server.api.post(path, { metadata: { name: 'r' }, ...fields })).status).toBe(201)
  const changed = await server.api.patch(`${path}/r`, { spec: { podName: 'q' } })
  expect([changed.status, String(changed.body.message).includes('spec: Invalid value')]).toEqual([422, true])
  const condition = { type: 'Denied', status: 'True', reason: 'No', message: '', lastTransitionTime: '2026-11-29T00:00:00Z' }
  const answer = (status: object, by: object = {}) =>
    server.api.send('PATCH', `${path}/r/status`, { headers: { 'content-type': 'application/merge-patch+json', ...by }, body: { status } })
  const messageOf = async (given: ReturnType<typeof answer>) => {
    const { status, body } = await given
    return [status, String(body.message).replace(/^.* is invalid: /, '')]
  }
  expect(await messageOf(answer({ conditions: [condition] }, headers))).toEqual([
    422,
    `spec.signerName: Forbidden: User "${headers['impersonate-user']}" is not permitted to "sign" for signer "example.com/signer"`,
  ])
  expect(await messageOf(answer({ conditions: [{ ...condition, type: 'Other' }] }))).toEqual([
    422,
    'status.conditions.[0].type: Unsupported value: "Other": supported values: "Issued", "Denied", "Failed"',
  ])
  expect(await messageOf(answer({ conditions: [{ ...condition, type: 'Issued' }] }))).toEqual([
    422,
    'status.certificateChain: Invalid value: "": issued certificate chain must contain at least one certificate',
  ])
  expect(await messageOf(answer({ certificateChain: 'x', conditions: [condition] }))).toEqual([
    422,
    'status: Invalid value: non-condition status fields must be empty when denying or failing the PodCertificateRequest',
  ])
  expect((await answer({ conditions: [condition] })).status).toBe(200)
  expect(await messageOf(answer({ conditions: [{ ...condition, type: 'Failed' }] }))).toEqual([
    422,
    'status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed',
  ])
})

/** A v1beta1 request for a key, with the signature of the Pod's uid. */
const byKey = (name: string, { key, proof }: { readonly key: string; readonly proof: string }) => {
  const { spec } = sampleFields('PodCertificateRequest', apiVersion, { domain: 'k8s.io', namespace: '' }) as {
    spec: Record<string, unknown>
  }
  const { stubPKCS10Request: _stub, ...asked } = spec
  return { metadata: { name }, spec: { ...asked, podUID: 'uid', pkixPublicKey: key, proofOfPossession: proof } }
}

describe('PodCertificateRequests before 1.37', () => {
  const runtimeConfig = ['certificates.k8s.io/v1beta1=true', 'certificates.k8s.io/v1alpha1=true']
  const former = sharedApi({ version: '1.35', profile: 'kubernetes', controllers: [], runtimeConfig })
  const pathIn = (namespace: string) => `/apis/certificates.k8s.io/v1beta1/namespaces/${namespace}/podcertificaterequests`

  test('have a key and a proof, and no PKCS #10', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const key = publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
    const proof = sign(undefined, Buffer.from('uid'), privateKey).toString('base64')
    const path = pathIn(await aNamespace(former.api))
    const created = await former.api.post(path, byKey('r', { key, proof }))
    expect([created.status, (created.body.spec as Record<string, unknown>)['pkixPublicKey']]).toEqual([201, key])
    const refused = async (given: { key: string; proof: string }) =>
      String((await former.api.post(path, byKey('q', given))).body.message).replace(/^.* is invalid: /, '')
    expect(await refused({ key, proof: key })).toBe('spec.proofOfPossession: Invalid value: could not verify proof-of-possession signature')
    expect(await refused({ key: 'AAAA', proof })).toBe(
      'spec.pkixPublicKey: Invalid value: "AAAA": must be a valid PKIX-serialized public key',
    )
    expect(await refused({ key, proof: '' })).toBe(
      'spec: Invalid value: exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set',
    )
    expect((await former.api.get('/apis/certificates.k8s.io/v1alpha1')).body).toMatchObject({
      resources: [{ name: 'clustertrustbundles' }],
    })
  })

  test('get a certificate that is valid from now on', async () => {
    const backdatedMs = 5 * 60_000
    const path = pathIn(await aNamespace(former.api))
    const answers = [0, Date.now() + backdatedMs].map(async (nowMs, index) => {
      const pair = await issueAuthority({ commonName: 'a', nowMs })
      const privateKey = createPrivateKey(pair.key)
      const key = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).toString('base64')
      const proof = sign('sha256', Buffer.from('uid'), privateKey).toString('base64')
      expect((await former.api.post(path, byKey(`r${index}`, { key, proof }))).status).toBe(201)
      const { validFromDate: from, validToDate: to } = new X509Certificate(pair.certificate)
      const times = { notBefore: secondsOf(from), notAfter: secondsOf(to), beginRefreshAt: secondsOf(new Date(+to - 3_600_000)) }
      const conditions = [{ type: 'Issued', status: 'True', reason: 'Yes', message: '', lastTransitionTime: secondsOf(from) }]
      const headers = { 'content-type': 'application/merge-patch+json' }
      const body = { status: { ...times, conditions, certificateChain: pair.certificate } }
      const { body: status } = await former.api.send('PATCH', `${path}/r${index}/status`, { headers, body })
      return (status.details as { causes: { message: string }[] }).causes.map(({ message }) => message.replace(/^.*": /, ''))
    })
    expect(await Promise.all(answers)).toEqual([
      ["must be set to within 5 minutes of kube-apiserver's current time"],
      ['leaf certificate lifetime must be <= spec.maxExpirationSeconds (86400)'],
    ])
  })
})

const secondsOf = (time: Date): string => time.toISOString().replace(/\.\d+Z$/, 'Z')
