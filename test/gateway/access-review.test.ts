import { type RunningServer, start } from 'orch'
import { afterAll, beforeAll, expect, test } from 'vitest'

let server: RunningServer

beforeAll(async () => {
  server = await start({ controllers: [] })
})
afterAll(() => server.stop())

interface Review {
  readonly code: number
  readonly body: { status: unknown; message: string; metadata: Record<string, unknown>; kind: string }
}

async function ask(plural: string, kind: string, spec: object, { namespace = '', metadata = {} } = {}): Promise<Review> {
  const place = namespace === '' ? '' : `/namespaces/${namespace}`
  const body = JSON.stringify({ apiVersion: 'authorization.orch.io/v1', kind, metadata, spec })
  const headers = { 'content-type': 'application/json' }
  const response = await server.client.transport.send({
    method: 'POST',
    path: `/apis/authorization.orch.io/v1${place}/${plural}`,
    headers,
    body,
  })
  let text = ''
  for await (const chunk of response.body) text += Buffer.from(chunk).toString()
  return { code: response.status, body: JSON.parse(text) as Review['body'] }
}

const mayList = { resourceAttributes: { verb: 'list', resource: 'pods' } }

test('VIRT-01, VIRT-04: a review needs no name and is not stored', async () => {
  const { code, body } = await ask('selfsubjectaccessreviews', 'SelfSubjectAccessReview', mayList)
  expect(code).toBe(201)
  expect(body).toMatchObject({ kind: 'SelfSubjectAccessReview', status: { allowed: true } })
  expect(body.metadata['name']).toBeUndefined()
})

test('VIRT-02, VIRT-05: a permission check for another user is a POST of a SubjectAccessReview', async () => {
  expect(await ask('subjectaccessreviews', 'SubjectAccessReview', { ...mayList, user: 'u' })).toMatchObject({
    code: 201,
    body: { status: { allowed: false } },
  })
  expect(await ask('subjectaccessreviews', 'SubjectAccessReview', { ...mayList, groups: ['system:masters'] })).toMatchObject({
    code: 201,
    body: { status: { allowed: true } },
  })
})

test('VIRT-05: a review asks about one thing, for one subject', async () => {
  const none = await ask('selfsubjectaccessreviews', 'SelfSubjectAccessReview', {})
  expect(none).toMatchObject({
    code: 422,
    body: { message: expect.stringContaining('exactly one of nonResourceAttributes or resourceAttributes must be specified') },
  })
  const both = await ask('selfsubjectaccessreviews', 'SelfSubjectAccessReview', {
    ...mayList,
    nonResourceAttributes: { path: '/x', verb: 'get' },
  })
  expect(both.body.message).toContain('cannot be specified in combination with resourceAttributes')
  const nobody = await ask('subjectaccessreviews', 'SubjectAccessReview', mayList)
  expect(nobody.body.message).toContain('at least one of user or group must be specified')
  const named = await ask('selfsubjectaccessreviews', 'SelfSubjectAccessReview', mayList, { metadata: { name: 'x' } })
  expect(named.body.message).toContain('must be empty')
})

test('VIRT-05: a local review is about its own namespace', async () => {
  const spec = { resourceAttributes: { verb: 'list', resource: 'pods', namespace: 'other' }, user: 'u' }
  const { code, body } = await ask('localsubjectaccessreviews', 'LocalSubjectAccessReview', spec, { namespace: 'default' })
  expect([code, body.message]).toEqual([422, expect.stringContaining('must match metadata.namespace')])
})
