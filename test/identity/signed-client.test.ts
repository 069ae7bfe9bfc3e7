import { expect, test } from 'vitest'
import { aName, created, sharedApi, until } from '../api/api.ts'
import { aCertificateRequest } from './pkcs10.ts'

const server = sharedApi()

test('WL-CSR-02: an approved request gets a certificate that every gateway accepts for its subject, also with separate services', async () => {
  const { api } = server
  const apiVersion = 'certificates.orch.io/v1'
  const path = `/apis/${apiVersion}/certificatesigningrequests`
  const { pem, key } = aCertificateRequest({ commonName: 'jane', organizations: ['dev'] })
  const metadata = { name: aName('request') }
  const spec = { request: Buffer.from(pem).toString('base64'), signerName: 'orch.io/kube-apiserver-client', usages: ['client auth'] }
  await created(api, path, { apiVersion, kind: 'CertificateSigningRequest', metadata, spec })
  const conditions = [{ type: 'Approved', status: 'True', reason: 'ByHand', message: 'm' }]
  expect((await api.patch(`${path}/${metadata.name}/approval`, { status: { conditions } })).status).toBe(200)
  const certificateOf = (body: Record<string, unknown>) => (body['status'] as { certificate?: string }).certificate ?? ''
  const { body } = await until(
    () => api.get(`${path}/${metadata.name}`),
    (answer) => certificateOf(answer.body) !== '',
  )
  const cert = Buffer.from(certificateOf(body), 'base64').toString()
  const send = api.as({ cert, key: String(key.export({ type: 'pkcs8', format: 'pem' })) })
  const review = { apiVersion: 'authentication.orch.io/v1', kind: 'SelfSubjectReview' }
  const answers = await Promise.all(
    ['a', 'b'].map(() => send('POST', '/apis/authentication.orch.io/v1/selfsubjectreviews', { body: review })),
  )
  const userInfo = { username: 'jane', groups: ['dev', 'system:authenticated'] }
  expect(answers.map((answer) => answer.body['status'])).toMatchObject([{ userInfo }, { userInfo }])
})
