import { describe, expect, onTestFinished, test } from 'vitest'
import { type Answer, type Api, aName, aNamespace, configMap, created, sharedApi } from '../api/api.ts'
import { configMapRule, configurationsAt } from './hooks.ts'

const server = sharedApi()
const api = (): Api => server.api
const apiVersion = 'admissionregistration.orch.io/v1'
type Named = Readonly<Record<string, unknown>> & { readonly metadata: { readonly name: string } }

async function keep(plural: string, object: Named): Promise<void> {
  await created(api(), `${configurationsAt}/${plural}`, { apiVersion, ...object })
  onTestFinished(
    async () =>
      void (await api()
        .delete(`${configurationsAt}/${plural}/${object.metadata.name}`)
        .catch(() => undefined)),
  )
}

const apply = (expression: string) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } })
const patch = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } })

/** Policies for the ConfigMaps of one namespace, in name order, each with a binding. */
async function somePolicies(...specs: readonly Readonly<Record<string, unknown>>[]) {
  const namespace = await aNamespace(api())
  const names: string[] = []
  for (const [index, spec] of specs.entries()) {
    const name = `${aName('policy')}-${index}`
    names.push(name)
    const namespaceSelector = { matchLabels: { 'orch.io/metadata.name': namespace } }
    const { binding = {}, ...rest } = spec
    const whole = { matchConstraints: { resourceRules: [configMapRule], namespaceSelector }, reinvocationPolicy: 'Never', ...rest }
    await keep('mutatingadmissionpolicies', { kind: 'MutatingAdmissionPolicy', metadata: { name }, spec: whole })
    const bindingSpec = { policyName: name, ...(binding as object) }
    await keep('mutatingadmissionpolicybindings', { kind: 'MutatingAdmissionPolicyBinding', metadata: { name }, spec: bindingSpec })
  }
  const path = `/api/v1/namespaces/${namespace}/configmaps`
  const create = (object: object = {}) => api().post(path, { ...configMap({ name: aName('map') }), ...object })
  return { namespace, names, path, create }
}

const message = ({ body }: Answer) => String(body['message'])

test('VAP-36, VAP-38: an apply configuration is merged into the object', async () => {
  const { create } = await somePolicies({
    mutations: [apply('Object{metadata: Object.metadata{labels: {"added": object.metadata.name}}, data: {"b": "2"}}')],
  })
  const answer = await create({ metadata: { name: 'm', labels: { own: 'a' } }, data: { a: '1' } })
  expect(answer.body).toMatchObject({ metadata: { labels: { own: 'a', added: 'm' } }, data: { a: '1', b: '2' } })
})

test('VAP-39: a JSON patch is applied, with escaped keys', async () => {
  const { create } = await somePolicies({
    mutations: [
      patch(
        '[JSONPatch{op: "add", path: "/metadata/annotations", value: {}}, JSONPatch{op: "add", path: "/metadata/annotations/" + jsonpatch.escapeKey("example.com/a"), value: "b"}, JSONPatch{op: "remove", path: "/data/a"}]',
      ),
    ],
  })
  const { body } = await create({ data: { a: '1', b: '2' } })
  expect(body).toMatchObject({ metadata: { annotations: { 'example.com/a': 'b' } } })
  expect(body['data']).toEqual({ b: '2' })
})

test('VAP-37, VAP-40: a policy without mutations, or with an expression of a wrong type, is refused', async () => {
  const post = (spec: object) => {
    const constraints = { resourceRules: [configMapRule] }
    const whole = { matchConstraints: constraints, reinvocationPolicy: 'Never', ...spec }
    return api().post(`${configurationsAt}/mutatingadmissionpolicies`, {
      apiVersion,
      kind: 'MutatingAdmissionPolicy',
      metadata: { name: aName('p') },
      spec: whole,
    })
  }
  expect(message(await post({ mutations: [] }))).toContain('spec.mutations: Required value: mutations must contain at least one item')
  expect(message(await post({ mutations: [apply('"text"')] }))).toContain('must evaluate to Object but got string')
  expect(message(await post({ mutations: [patch('Object{}')] }))).toContain('must evaluate to list(JSONPatch) but got Object')
  expect(message(await post({ mutations: [apply('Other{}')] }))).toContain("undeclared reference to 'Other'")
  expect(message(await post({ mutations: [{ patchType: 'Merge' }] }))).toContain('supported values: "ApplyConfiguration", "JSONPatch"')
  expect(message(await post({ mutations: [apply('Object{}')], reinvocationPolicy: undefined }))).toContain(
    'spec.reinvocationPolicy: Required value',
  )
})

describe('VAP-41: the order of policies', () => {
  const append = (text: string) => apply(`Object{data: {"order": object.data.order + "${text}"}}`)

  test('follows their names, and each sees the earlier changes', async () => {
    const { create } = await somePolicies({ mutations: [append('a')] }, { mutations: [append('b'), append('c')] })
    expect((await create({ data: { order: '' } })).body['data']).toEqual({ order: 'abc' })
  })

  test('lets policies with reinvocation run again after a later change of another policy', async () => {
    const { create } = await somePolicies(
      { mutations: [append('a')], reinvocationPolicy: 'IfNeeded' },
      { mutations: [append('b')], reinvocationPolicy: 'Never' },
      { mutations: [append('c')], reinvocationPolicy: 'IfNeeded' },
    )
    expect((await create({ data: { order: '' } })).body['data']).toEqual({ order: 'abcac' })
  })
})

test('VAP-43: an error refuses the object as invalid, or skips its mutation and applies the others', async () => {
  const mutations = [apply('Object{data: {"a": object.data.absent}}'), apply('Object{data: {"c": "2"}}')]
  const failing = await somePolicies({ mutations })
  const refused = await failing.create({ data: { b: '1' } })
  expect(refused).toMatchObject({
    status: 403,
    body: { code: 403, reason: 'Invalid', details: { causes: [{ message: message(refused) }] } },
  })
  expect(message(refused)).toMatch(
    new RegExp(`^policy '${failing.names[0]}' with binding '${failing.names[0]}' denied request: expression`),
  )
  expect(message(refused)).toContain('no such key: absent')
  const ignoring = await somePolicies({ mutations, failurePolicy: 'Ignore' })
  expect((await ignoring.create({ data: { b: '1' } })).body['data']).toEqual({ b: '1', c: '2' })
})

test('VAP-43: the type of a list item is named by the path of the list', async () => {
  const item = 'Object.metadata.ownerReferences.item{name: "a"}'
  const { create } = await somePolicies({ mutations: [apply(`Object{metadata: Object.metadata{ownerReferences: [${item}]}}`)] })
  expect(message(await create({}))).toContain('unexpected type name "Object.metadata.ownerReferences.item"')
})

test('VAP-43: the first of several refusals is the message, and all refusals are causes', async () => {
  const mutations = [apply('Object{data: {"a": object.data.absent}}')]
  const { create, names } = await somePolicies({ mutations }, { mutations, failurePolicy: 'Ignore' }, { mutations })
  const refused = await create({ data: { b: '1' } })
  const { causes } = refused.body['details'] as { causes: { message: string }[] }
  expect(causes.map(({ message }) => message.split("'")[1])).toEqual([names[0], names[2]])
  expect(message(refused)).toBe(causes[0]?.message)
})

test('VAP-40: a field that the kind does not have is an error', async () => {
  const { create } = await somePolicies({ mutations: [apply('Object{dataX: {"a": "b"}}')] })
  expect(message(await create())).toContain('.dataX: field not declared in schema')
})

test('VAP-41: expressions use parameters, conditions and variables', async () => {
  const { create, path } = await somePolicies({
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    matchConditions: [{ name: 'ours', expression: "object.metadata.name.startsWith('ours')" }],
    variables: [{ name: 'team', expression: "params.data['team']" }],
    mutations: [apply('Object{metadata: Object.metadata{labels: {"team": variables.team}}}')],
    binding: { paramRef: { name: 'team', parameterNotFoundAction: 'Allow' } },
  })
  await created(api(), path, { ...configMap({ name: 'team' }), data: { team: 'blue' } })
  expect((await create({ metadata: { name: 'ours-1' } })).body.metadata.labels).toEqual({ team: 'blue' })
  expect((await create({ metadata: { name: 'other' } })).body.metadata.labels).toBeUndefined()
})

test('VAP-16: policies and bindings are not mutated by policies', async () => {
  const rule = { operations: ['*'], apiGroups: ['admissionregistration.orch.io'], apiVersions: ['*'], resources: ['*'] }
  const { names } = await somePolicies({
    matchConstraints: { resourceRules: [rule] },
    mutations: [apply('Object{metadata: Object.metadata{labels: {"a": "b"}}}')],
  })
  const path = `${configurationsAt}/mutatingadmissionpolicies/${names[0]}`
  expect((await api().patch(path, { metadata: { annotations: { c: 'd' } } })).body.metadata.labels).toBeUndefined()
})

test('mutations of policies are counted by policy, binding and error', async () => {
  const { create, names } = await somePolicies(
    { mutations: [apply('Object{data: {"b": "2"}}'), apply('Object{data: {"c": object.data.absent}}')], failurePolicy: 'Ignore' },
    { mutations: [apply('Object{data: {"d": "4"}}')] },
  )
  await create()
  await create()
  const pages = await api().getFromEach('/metrics')
  const countOf = (name = '', error = '') => {
    const wanted = [`policy="${name}"`, `error_type="${error}"`]
    const lines = pages.flatMap(({ text }) => text.split('\n')).filter((line) => wanted.every((one) => line.includes(one)))
    const sums = ['check_total', 'check_duration_seconds_count'].map((metric) =>
      lines
        .filter((line) => line.startsWith(`apiserver_mutating_admission_policy_${metric}{`))
        .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0),
    )
    return sums
  }
  expect(countOf(names[0], 'no_error')).toEqual([2, 2])
  expect(countOf(names[0], 'invalid_error')).toEqual([2, 2])
  expect(countOf(names[1], 'no_error')).toEqual([2, 2])
})
