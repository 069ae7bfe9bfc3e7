import { expect, onTestFinished, test } from 'vitest'
import { type Api, aName, aNamespace, type Body, created, sharedApi, until } from '../api/api.ts'
import { aDefinition } from '../definition.ts'
import { configurationsAt } from './hooks.ts'

const server = sharedApi()
const api = (): Api => server.api
const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
const deployments = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] }

interface PolicyStatus {
  readonly observedGeneration?: number
  readonly typeChecking?: { readonly expressionWarnings?: readonly { readonly fieldRef: string; readonly warning: string }[] }
}

const statusOf = ({ status }: Body) => (status ?? {}) as PolicyStatus
const warningsOf = (body: Body) => statusOf(body).typeChecking?.expressionWarnings ?? []

/** Creates a policy without a binding; returns the policy's path. */
async function aPolicy(spec: object, rule: object = deployments): Promise<string> {
  const name = aName('policy')
  const path = `${configurationsAt}/validatingadmissionpolicies`
  await created(api(), path, {
    apiVersion: 'admissionregistration.orch.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: { matchConstraints: { resourceRules: [rule] }, ...spec },
  })
  onTestFinished(async () => void (await api().delete(`${path}/${name}`)))
  return `${path}/${name}`
}

const checked = (path: string, generation = 1) =>
  until(
    () => api().get(path),
    ({ body }) => statusOf(body).observedGeneration === generation,
  ).then(({ body }) => body)

test('VAP-12: type checking reports an absent field, and the policy is still stored', async () => {
  const path = await aPolicy({
    validations: [
      { expression: 'object.spec.replicas <= 5' },
      { expression: 'object.replicas <= 5', messageExpression: "'replicas: ' + object.spec.replicas" },
    ],
  })
  expect(warningsOf(await checked(path))).toEqual([
    {
      fieldRef: 'spec.validations[1].expression',
      warning: "apps/v1, Kind=Deployment: ERROR: <input>:1:7: undefined field 'replicas'\n | object.replicas <= 5\n | ......^\n",
    },
    {
      fieldRef: 'spec.validations[1].messageExpression',
      warning: expect.stringContaining("found no matching overload for '_+_' applied to '(string, int)'"),
    },
  ])
})

test('VAP-12, VAP-13: a valid policy has an empty type checking, and each generation is checked', async () => {
  const path = await aPolicy({ validations: [{ expression: "object.spec.template.spec.containers.all(c, c.image.contains(':'))" }] })
  expect(statusOf(await checked(path))).toEqual({ observedGeneration: 1, typeChecking: {} })
  await api().patch(path, { spec: { validations: [{ expression: 'object.spec.none' + " == ''" }] } })
  expect(warningsOf(await checked(path, 2))).toHaveLength(1)
  await api().patch(path, { spec: { validations: [{ expression: 'true' }] } })
  expect(warningsOf(await checked(path, 3))).toEqual([])
})

test('VAP-13: the status of a create is dropped, and the manager of the status is the controller', async () => {
  const name = aName('policy')
  const path = `${configurationsAt}/validatingadmissionpolicies`
  const status = { observedGeneration: 7, typeChecking: { expressionWarnings: [{ fieldRef: 'a', warning: 'b' }] } }
  const spec = { matchConstraints: { resourceRules: [deployments] }, validations: [{ expression: 'true' }] }
  const meta = { apiVersion: 'admissionregistration.orch.io/v1', kind: 'ValidatingAdmissionPolicy', metadata: { name } }
  const answer = await created(api(), path, { ...meta, spec, status })
  expect(answer['status']).toEqual({})
  const body = await checked(`${path}/${name}`)
  expect(body.metadata['managedFields']).toContainEqual(
    expect.objectContaining({ manager: 'validatingadmissionpolicy-status', operation: 'Apply', subresource: 'status' }),
  )
  await api().delete(`${path}/${name}`)
})

test('VAP-12: parameters have the type of their kind', async () => {
  const path = await aPolicy({
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    validations: [{ expression: 'object.spec.replicas <= int(params.data.max)' }, { expression: 'object.spec.replicas <= params.max' }],
  })
  expect(warningsOf(await checked(path)).map(({ fieldRef }) => fieldRef)).toEqual(['spec.validations[1].expression'])
})

test('VAP-12: a kind that is defined later is checked, and again when its schema changes', async () => {
  const group = `${aName('g')}.example.com`
  const rule = { apiGroups: [group], apiVersions: ['v1'], operations: ['CREATE'], resources: ['oaks'] }
  const path = await aPolicy({ validations: [{ expression: 'object.spec.height < 10' }] }, rule)
  expect(statusOf(await checked(path))).toEqual({ observedGeneration: 1, typeChecking: {} })
  const version = (member: string) => ({
    name: 'v1',
    served: true,
    storage: true,
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: { spec: { type: 'object', properties: { [member]: { type: 'integer' } } } },
      },
    },
  })
  await created(api(), definitions, aDefinition({ group, plural: 'oaks', kind: 'Oak', versions: [version('width')] }))
  onTestFinished(async () => void (await api().delete(`${definitions}/oaks.${group}`)))
  const warned = await until(
    () => api().get(path),
    ({ body }) => warningsOf(body).length > 0,
  )
  expect(warningsOf(warned.body)).toEqual([
    {
      fieldRef: 'spec.validations[0].expression',
      warning: expect.stringContaining(`${group}/v1, Kind=Oak: ERROR: <input>:1:12: undefined field 'height'`),
    },
  ])
  await api().patch(`${definitions}/oaks.${group}`, { spec: { versions: [version('height')] } })
  const mended = await until(
    () => api().get(path),
    ({ body }) => warningsOf(body).length === 0,
  )
  expect(statusOf(mended.body).observedGeneration).toBe(1)
})

test('VAP-12: a policy with warnings is in effect', async () => {
  const namespace = await aNamespace(api())
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps', 'secrets'] }
  const selector = { matchLabels: { 'orch.io/metadata.name': namespace } }
  const path = await aPolicy({
    matchConstraints: { resourceRules: [rule], namespaceSelector: selector },
    validations: [{ expression: "has(object.stringData) || object.kind == 'ConfigMap'", message: 'no text' }],
  })
  const binding = aName('binding')
  await created(api(), `${configurationsAt}/validatingadmissionpolicybindings`, {
    apiVersion: 'admissionregistration.orch.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: binding },
    spec: { policyName: path.slice(path.lastIndexOf('/') + 1), validationActions: ['Deny'] },
  })
  onTestFinished(async () => void (await api().delete(`${configurationsAt}/validatingadmissionpolicybindings/${binding}`)))
  expect(warningsOf(await checked(path))).toEqual([
    {
      fieldRef: 'spec.validations[0].expression',
      warning: expect.stringMatching(/^\/v1, Kind=ConfigMap: ERROR: [^=]*undefined field 'stringData'/),
    },
  ])
  const create = (kind: string, plural: string) =>
    api().post(`/api/v1/namespaces/${namespace}/${plural}`, { apiVersion: 'v1', kind, metadata: { name: 'a' } })
  expect((await create('ConfigMap', 'configmaps')).status).toBe(201)
  expect((await create('Secret', 'secrets')).body['message']).toContain('denied request: no text')
})
