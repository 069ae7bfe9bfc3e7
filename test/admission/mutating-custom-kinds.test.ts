import { describe, expect, onTestFinished, test } from 'vitest'
import { type Answer, type Api, aName, aNamespace, type Body, created, sharedApi, until } from '../api/api.ts'
import { aDefinition } from '../definition.ts'
import { policiesOf } from './a-policy.ts'

const server = sharedApi()
const api = (): Api => server.api
const { keep } = policiesOf(api)
const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'

const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer', maximum: 100 },
        color: { type: 'string' },
        parts: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string' }, count: { type: 'integer', default: 7 } },
          },
        },
        texts: { type: 'array', items: { type: 'string' } },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
      },
    },
    status: { type: 'object', properties: { phase: { type: 'string' }, note: { type: 'string' } } },
  },
}

const apply = (expression: string) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } })
const patch = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } })

/** A definition of oaks in a new group, and a mutating policy for oaks. */
async function oaks(
  spec: Readonly<Record<string, unknown>>,
  { binding = {}, rule = {} }: { readonly binding?: object; readonly rule?: object } = {},
) {
  const group = `${aName('g')}.example.com`
  const namespace = await aNamespace(api())
  const version = (name: string, storage: boolean) => ({
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: schema },
    subresources: { status: {} },
  })
  await created(
    api(),
    definitions,
    aDefinition({ group, plural: 'oaks', kind: 'Oak', versions: [version('v1', true), version('v2', false)] }),
  )
  onTestFinished(async () => void (await api().delete(`${definitions}/oaks.${group}`)))
  const name = aName('policy')
  const rules = [{ apiGroups: [group], apiVersions: ['v1'], operations: ['*'], resources: ['oaks'], ...rule }]
  const whole = { matchConstraints: { resourceRules: rules }, reinvocationPolicy: 'Never', ...spec }
  await keep('mutatingadmissionpolicies', { kind: 'MutatingAdmissionPolicy', metadata: { name }, spec: whole })
  await keep('mutatingadmissionpolicybindings', {
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, ...binding },
  })
  const at = (served: string) => `/apis/${group}/${served}/namespaces/${namespace}/oaks`
  await until(
    () => api().get(at('v1')),
    ({ status }) => status === 200,
  )
  const oak = (fields: object, served = 'v1') => ({
    apiVersion: `${group}/${served}`,
    kind: 'Oak',
    metadata: { name: aName('oak') },
    ...fields,
  })
  const create = (fields: object, served = 'v1') => api().post(at(served), oak(fields, served))
  return { group, namespace, name, path: at('v1'), create }
}

const specOf = ({ body }: Answer) => (body as Body)['spec']
const message = ({ body }: Answer) => String(body['message'])

describe('VAP-38: an apply configuration for a custom kind', () => {
  test('is merged by the schema: items by their keys, and defaults are filled in afterwards', async () => {
    const { create } = await oaks({
      mutations: [
        apply(
          "Object{spec: Object.spec{color: 'green', labels: {'b': 'c'}, parts: [Object.spec.parts{name: 'root', count: 2}, Object.spec.parts{name: 'leaf'}]}}",
        ),
      ],
    })
    const answer = await create({
      spec: {
        size: 1,
        labels: { a: 'b' },
        parts: [
          { name: 'root', count: 1 },
          { name: 'bark', count: 3 },
        ],
      },
    })
    expect(specOf(answer)).toEqual({
      size: 1,
      color: 'green',
      labels: { a: 'b', b: 'c' },
      parts: [
        { name: 'root', count: 2 },
        { name: 'bark', count: 3 },
        { name: 'leaf', count: 7 },
      ],
    })
  })

  test('sets no atomic list, and no field that the schema does not have', async () => {
    const atomic = await oaks({ mutations: [apply("Object{spec: Object.spec{texts: ['a']}}")] })
    const refused = await atomic.create({ spec: { size: 1 } })
    expect(refused.status).toBe(403)
    expect(message(refused)).toContain('may not mutate atomic arrays, maps or structs: .spec.texts')
    const unknown = await oaks({ mutations: [apply('Object{spec: Object.spec{height: 1}}')] })
    expect(message(await unknown.create({ spec: { size: 1 } }))).toContain('.spec.height: field not declared in schema')
  })

  test('is validated like the objects of clients', async () => {
    const { create } = await oaks({ mutations: [apply('Object{spec: Object.spec{size: object.spec.size * 100}}')] })
    expect(specOf(await create({ spec: { size: 1 } }))).toEqual({ size: 100 })
    expect(message(await create({ spec: { size: 2 } }))).toContain('spec.size: Invalid value: 200')
  })

  test('is applied for a request in another version too', async () => {
    const { create } = await oaks({
      mutations: [apply("Object{spec: Object.spec{color: object.apiVersion.endsWith('/v1') ? 'one' : 'two'}}")],
    })
    const answer = await create({ spec: { size: 1 } }, 'v2')
    expect(answer.body.apiVersion).toMatch(/\/v2$/)
    expect(specOf(answer)).toEqual({ size: 1, color: 'one' })
  })

  test('for the status is applied if the policy is about the status', async () => {
    const { create, path } = await oaks(
      { mutations: [apply("Object{status: Object.status{note: 'seen'}}")] },
      { rule: { resources: ['oaks/status'] } },
    )
    const { body } = await create({ spec: { size: 1 } })
    const answer = await api().patch(`${path}/${body.metadata.name}/status`, { status: { phase: 'up' } })
    expect(answer.body['status']).toEqual({ phase: 'up', note: 'seen' })
  })

  test('follows the definition when its schema changes', async () => {
    const { create, group } = await oaks({ mutations: [apply('Object{spec: Object.spec{height: 5}}')], failurePolicy: 'Ignore' })
    expect(specOf(await create({ spec: { size: 1 } }))).toEqual({ size: 1 })
    const spec = { ...schema.properties.spec, properties: { ...schema.properties.spec.properties, height: { type: 'integer' } } }
    const larger = { ...schema, properties: { ...schema.properties, spec } }
    const versions = ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === 'v1', schema: { openAPIV3Schema: larger } }))
    await api().patch(`${definitions}/oaks.${group}`, { spec: { versions } })
    const answer = await until(
      () => create({ spec: { size: 1 } }),
      (one) => JSON.stringify(specOf(one)) !== '{"size":1}',
    )
    expect(specOf(answer)).toEqual({ size: 1, height: 5 })
  })
})

test('VAP-39: a JSON patch of a custom kind is applied, and fields outside the schema are pruned', async () => {
  const { create } = await oaks({
    mutations: [
      patch(
        "[JSONPatch{op: 'add', path: '/spec/texts', value: ['a']}, JSONPatch{op: 'add', path: '/spec/none', value: 1}, JSONPatch{op: 'remove', path: '/spec/color'}]",
      ),
    ],
  })
  expect(specOf(await create({ spec: { size: 1, color: 'red' } }))).toEqual({ size: 1, texts: ['a'] })
})

test('VAP-24: parameters of a custom kind are current when they change between two requests', async () => {
  const group = `${aName('p')}.example.com`
  const limits = { type: 'object', properties: { spec: { type: 'object', properties: { color: { type: 'string' } } } } }
  await created(
    api(),
    definitions,
    aDefinition({ group, plural: 'colors', kind: 'Color', scope: 'Cluster', schema: { openAPIV3Schema: limits } }),
  )
  onTestFinished(async () => void (await api().delete(`${definitions}/colors.${group}`)))
  const colors = `/apis/${group}/v1/colors`
  await until(
    () => api().get(colors),
    ({ status }) => status === 200,
  )
  const color = (value: string) => ({ apiVersion: `${group}/v1`, kind: 'Color', metadata: { name: 'present' }, spec: { color: value } })
  await created(api(), colors, color('red'))
  const { create } = await oaks(
    { paramKind: { apiVersion: `${group}/v1`, kind: 'Color' }, mutations: [apply('Object{spec: Object.spec{color: params.spec.color}}')] },
    { binding: { paramRef: { name: 'present', parameterNotFoundAction: 'Deny' } } },
  )
  expect(specOf(await create({ spec: { size: 1 } }))).toEqual({ size: 1, color: 'red' })
  await api().patch(`${colors}/present`, { spec: { color: 'blue' } })
  expect(specOf(await create({ spec: { size: 1 } }))).toEqual({ size: 1, color: 'blue' })
})

test('VAP-44: reviews and admission configurations are not mutated', async () => {
  const name = aName('policy')
  const rule = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }
  const isOurs = { name: 'ours', expression: "has(object.metadata) && object.metadata.?name.orValue('').startsWith('changed')" }
  const isReview = { name: 'review', expression: "object.kind.endsWith('Review')" }
  const matchConditions = [{ name: 'either', expression: `(${isOurs.expression}) || (${isReview.expression})` }]
  await keep('mutatingadmissionpolicies', {
    kind: 'MutatingAdmissionPolicy',
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules: [rule] },
      matchConditions,
      reinvocationPolicy: 'Never',
      mutations: [apply("Object{metadata: Object.metadata{labels: {'changed': 'yes'}}}")],
    },
  })
  await keep('mutatingadmissionpolicybindings', { kind: 'MutatingAdmissionPolicyBinding', metadata: { name }, spec: { policyName: name } })
  const namespace = await aNamespace(api())
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'changed-map' } }
  expect((await created(api(), `/api/v1/namespaces/${namespace}/configmaps`, map)).metadata.labels).toEqual({ changed: 'yes' })
  const attributes = { resourceAttributes: { verb: 'get', resource: 'pods' } }
  const authorization = '/apis/authorization.orch.io/v1'
  const authentication = '/apis/authentication.orch.io/v1'
  const reviews = [
    [`${authorization}/selfsubjectaccessreviews`, 'SelfSubjectAccessReview', attributes],
    [`${authorization}/subjectaccessreviews`, 'SubjectAccessReview', { ...attributes, user: 'ann' }],
    [
      `${authorization}/namespaces/${namespace}/localsubjectaccessreviews`,
      'LocalSubjectAccessReview',
      { resourceAttributes: { ...attributes.resourceAttributes, namespace }, user: 'ann' },
    ],
    [`${authorization}/selfsubjectrulesreviews`, 'SelfSubjectRulesReview', { namespace }],
    [`${authentication}/tokenreviews`, 'TokenReview', { token: 'none' }],
  ] as const
  for (const [path, kind, spec] of reviews) {
    const apiVersion = path.startsWith(authorization) ? 'authorization.orch.io/v1' : 'authentication.orch.io/v1'
    const { status, body } = await api().post(path, { apiVersion, kind, metadata: {}, spec })
    expect([kind, status, body.metadata.labels]).toEqual([kind, 201, undefined])
  }
  const binding = { policyName: 'none', validationActions: ['Deny'] }
  const own = { kind: 'ValidatingAdmissionPolicyBinding', metadata: { name: aName('changed') }, spec: binding }
  await keep('validatingadmissionpolicybindings', own)
  const kept = await api().get(`/apis/admissionregistration.orch.io/v1/validatingadmissionpolicybindings/${own.metadata.name}`)
  expect(kept.body.metadata.labels).toBeUndefined()
})
