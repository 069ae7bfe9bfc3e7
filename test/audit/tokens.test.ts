import { expect, test } from 'vitest'
import { created } from '../api/api.ts'
import { anAuditedApi, aPolicy } from './audited.ts'

const group = 'authentication.orch.io/v1'
const reviews = `/apis/${group}/tokenreviews`
const tokens = '/api/v1/namespaces/default/serviceaccounts/robot/token'
const json = 'application/json'
const large = 'x'.repeat(100_000)

/** Bodies that contain a token and whose type only the path tells. */
const bodies: readonly (readonly [string, string, string, (token: string) => string])[] = [
  ['of its kind', reviews, json, (token) => JSON.stringify({ apiVersion: group, kind: 'TokenReview', spec: { token } })],
  ['without a kind', reviews, json, (token) => JSON.stringify({ spec: { token } })],
  ['of another kind', reviews, json, (token) => JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', spec: { token } })],
  ['of a kind that is no text', reviews, json, (token) => JSON.stringify({ kind: 7, spec: { token } })],
  ['in YAML', reviews, 'application/yaml', (token) => `spec: {token: ${token}}\n`],
  ['that is large', reviews, json, (token) => JSON.stringify({ spec: { token }, metadata: { labels: { large } } })],
  ['with the token in another member', reviews, json, (token) => JSON.stringify({ token, spec: { Token: token, more: [token] } })],
  ['with the token in the place of a part', reviews, json, (token) => JSON.stringify({ spec: token, metadata: token })],
  ['that was applied before', reviews, json, (token) => JSON.stringify({ spec: {}, metadata: { annotations: { last: token } } })],
  ['for a token, with one in its status', tokens, json, (token) => JSON.stringify({ spec: {}, status: { token } })],
  ['for a token, without a kind', tokens, json, () => '{}'],
]

test.each(bodies)('AUDIT-08: no token in the body of %s is in an event, at any level', async (_what, path, type, bodyOf) => {
  const { api, events } = await anAuditedApi(aPolicy([{ level: 'RequestResponse', verbs: ['create', 'patch', 'update'] }]))
  await created(api, '/api/v1/namespaces/default/serviceaccounts', {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'robot' },
  })
  const issued = (await created(api, tokens, {})) as unknown as { status: { token: string } }
  const { token } = issued.status
  expect(token.length).toBeGreaterThan(100)
  const answer = await api.post(path, bodyOf(token), { 'content-type': type })
  for (const [method, sent] of [
    ['PATCH', 'application/merge-patch+json'],
    ['PUT', json],
  ] as const)
    await api.send(method, `${path}/x`, { headers: { 'content-type': sent }, body: bodyOf(token) })
  const given = (answer.body as { status?: { token?: string } }).status?.token
  const written = JSON.stringify(await events())
  const signatures = [token, given ?? token].map((one) => one.slice(one.lastIndexOf('.') + 1))
  expect(signatures.filter((signature) => written.includes(signature))).toEqual([])
  expect(written).toContain('<withheld>')
})

test('AUDIT-08: a token review and its answer are written without the token', async () => {
  const { api, events } = await anAuditedApi(aPolicy([{ level: 'RequestResponse', resources: [{ group: 'authentication.orch.io' }] }]))
  await api.post(reviews, { spec: { token: 'mark-7d1f', audiences: ['a'] } })
  await api.post(reviews, { spec: { token: 7 } })
  const whole = (await events()).filter(({ stage }) => stage === 'ResponseComplete')
  expect(whole).toMatchObject([
    {
      requestObject: { spec: { token: '<withheld>', audiences: ['a'] } },
      responseObject: { kind: 'TokenReview', spec: { token: '<withheld>', audiences: ['a'] }, status: { error: expect.any(String) } },
    },
    {
      requestObject: { spec: { token: '<withheld>' } },
      responseObject: { kind: 'Status', status: 'Failure', message: expect.any(String) },
    },
  ])
})

test('AUDIT-08: a ConfigMap with the kind of a token review inside is written unchanged', async () => {
  const { api, events } = await anAuditedApi(
    aPolicy([{ level: 'Request', resources: [{ group: '', resources: ['configmaps'] }], verbs: ['create'] }]),
  )
  const body = { apiVersion: group, kind: 'TokenReview', metadata: { name: 'a' }, spec: { token: 'mark-7d1f' } }
  expect((await api.post('/api/v1/namespaces/default/configmaps', body)).status).toBe(400)
  const [event] = (await events()).filter(
    ({ stage, requestObject }) => stage === 'ResponseComplete' && requestObject?.['kind'] === 'TokenReview',
  )
  expect(event?.requestObject).toEqual(body)
})
