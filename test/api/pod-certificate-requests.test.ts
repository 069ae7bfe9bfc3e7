import { expect, test } from 'vitest'
import { aName, aNamespace, sharedApi } from './api.ts'
import { sampleFields } from './sample-objects.ts'

const server = sharedApi({ version: '1.37', profile: 'kubernetes', controllers: [] })
const at = '/apis/certificates.k8s.io/v1'
const apiVersion = 'certificates.k8s.io/v1'

/** A user who may do all with requests, and nothing with signers. */
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

test('TODAY-PCR-01: a signer answers a request for a certificate of a Pod once', async () => {
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
    'status.conditions[0].type: Unsupported value: "Other": supported values: "Denied", "Failed", "Issued"',
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
