import { type RunningServer, start } from 'orch'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

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

test('VIRT-05: a review has one access, and one subject', async () => {
  const none = await ask('selfsubjectaccessreviews', 'SelfSubjectAccessReview', {})
  expect(none).toMatchObject({
    code: 422,
    body: { message: expect.stringContaining('exactly one of nonResourceAttributes or resourceAttributes must be specified') },
  })
  const both = await ask('selfsubjectaccessreviews', 'SelfSubjectAccessReview', {
    ...mayList,
    nonResourceAttributes: { path: '/x', verb: 'get' },
  })
  expect(both.body.message).toContain('exactly one of nonResourceAttributes or resourceAttributes must be specified')
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

describe('AZC-14: a review with selectors', () => {
  const askWith = (attributes: object) =>
    ask('selfsubjectaccessreviews', 'SelfSubjectAccessReview', { resourceAttributes: { verb: 'list', resource: 'pods', ...attributes } })
  const term = (key: string, operator: string, ...values: string[]) => ({ key, operator, ...(values.length === 0 ? {} : { values }) })
  const at = 'spec.resourceAttributes'

  test.each([
    [
      'both forms',
      { fieldSelector: { rawSelector: 'a=b', requirements: [term('a', 'In', 'b')] } },
      `${at}.fieldSelector.rawSelector: Invalid value: "a=b": may not specified at the same time as requirements`,
    ],
    [
      'neither form',
      { labelSelector: {} },
      `${at}.labelSelector.requirements: Required value: when ${at}.labelSelector is specified, requirements or rawSelector is required`,
    ],
    [
      'no key',
      { fieldSelector: { requirements: [term('', 'Exists')] } },
      `${at}.fieldSelector.requirements[0].key: Required value: must be specified`,
    ],
    [
      'no values',
      { fieldSelector: { requirements: [term('a', 'In')] } },
      `${at}.fieldSelector.requirements[0].values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`,
    ],
    [
      'values of a term that takes none',
      { labelSelector: { requirements: [term('a', 'Exists', 'b')] } },
      `${at}.labelSelector.requirements[0].values: Forbidden: may not be specified when \`operator\` is 'Exists' or 'DoesNotExist'`,
    ],
    [
      'a key that is no label',
      { labelSelector: { requirements: [term('a b', 'Exists')] } },
      `${at}.labelSelector.requirements[0].key: Invalid value: "a b"`,
    ],
    [
      'a value that is no label',
      { labelSelector: { requirements: [term('a', 'In', 'b c')] } },
      `${at}.labelSelector.requirements[0].values[0]: Invalid value: "b c"`,
    ],
  ])('such as %s is refused', async (_what, attributes, expected) => {
    const { code, body } = await askWith(attributes)
    expect([code, body.message]).toEqual([422, expect.stringContaining(expected)])
  })

  test.each([
    ['a raw selector that cannot be read', { fieldSelector: { rawSelector: 'a' } }, `${at}.fieldSelector ignored due to parse error`],
    ['a label selector that cannot be read', { labelSelector: { rawSelector: 'a in' } }, `${at}.labelSelector ignored due to parse error`],
    [
      'an operator that is not known',
      { labelSelector: { requirements: [term('a', 'Exists'), term('b', 'Like', 'c')] } },
      `${at}.labelSelector partially ignored due to parse error`,
    ],
    [
      'several values of a field',
      { fieldSelector: { requirements: [term('a', 'In', 'b', 'c')] } },
      `${at}.fieldSelector ignored due to parse error`,
    ],
  ])('such as %s is answered, and names the ignored parts', async (_what, attributes, evaluationError) => {
    const { code, body } = await askWith(attributes)
    expect([code, body.status]).toMatchObject([201, { allowed: true, evaluationError }])
  })

  test('is answered, and returns valid selectors unchanged', async () => {
    const selectors = {
      fieldSelector: { rawSelector: 'spec.nodeName=n1' },
      labelSelector: { requirements: [term('a', 'NotIn', 'b', 'c')] },
    }
    const { code, body } = await askWith(selectors)
    expect([code, body]).toMatchObject([201, { spec: { resourceAttributes: selectors }, status: { allowed: true } }])
    expect(body.status).not.toHaveProperty('evaluationError')
  })
})
