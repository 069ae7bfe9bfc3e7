import { describe, expect, test } from 'vitest'
import { type Answer, type Api, aName, aNamespace, configMap, created, sharedApi } from '../api/api.ts'
import { policiesOf } from './a-policy.ts'
import { aHookedNamespace, configMapRule, configurationsAt } from './hooks.ts'
import { allowing, aWebhookServer } from './webhook-server.ts'

const server = sharedApi()
const api = (): Api => server.api
const { aPolicy, keep } = policiesOf(api)

const owned = { metadata: { name: 'owned', labels: { owner: 'a' } } }
const message = ({ body }: Answer) => String(body['message'])

describe('a decision', () => {
  test('VAP-14, VAP-29: uses a policy while its binding exists', async () => {
    const { create, name } = await aPolicy({ bindings: [] })
    expect((await create()).status).toBe(201)
    const binding = aName('binding')
    const spec = { policyName: name, validationActions: ['Deny'] }
    await keep('validatingadmissionpolicybindings', { kind: 'ValidatingAdmissionPolicyBinding', metadata: { name: binding }, spec })
    expect((await create()).status).toBe(422)
    await api().delete(`${configurationsAt}/validatingadmissionpolicybindings/${binding}`)
    expect((await create()).status).toBe(201)
  })

  test('VAP-17: denies with policy, binding and message, also as a cause', async () => {
    const { create, name, binding } = await aPolicy({})
    const answer = await create({ metadata: { name: 'm' } })
    const text = `ValidatingAdmissionPolicy '${name}' with binding '${binding}' denied request: an owner is required`
    expect(answer.body).toMatchObject({
      kind: 'Status',
      status: 'Failure',
      reason: 'Invalid',
      code: 422,
      message: `configmaps "m" is forbidden: ${text}`,
      details: { name: 'm', kind: 'configmaps', causes: [{ message: text }] },
    })
    expect((await create(owned)).status).toBe(201)
  })

  test.each([
    ['Forbidden', 403],
    ['RequestEntityTooLarge', 413],
    ['Invalid', 422],
  ])('VAP-17: with the reason %s has the code %d', async (reason, code) => {
    const { create } = await aPolicy({ policy: { validations: [{ expression: 'false', reason }] } })
    const answer = await create()
    expect(answer.status).toBe(code)
    expect(answer.body).toMatchObject({ reason, code })
  })

  test.each([
    ['no message is given', { expression: ' 1 > 2 ' }, 'failed expression: 1 > 2'],
    ['an expression gives it', { expression: 'false', messageExpression: "' the name is ' + object.metadata.name + ' '" }, 'the name is m'],
    ['its expression fails', { expression: 'false', message: 'own', messageExpression: "string(object.metadata.labels['x'])" }, 'own'],
    ['its expression gives several lines', { expression: 'false', message: 'own', messageExpression: "'a\\nb'" }, 'own'],
    ['its expression gives nothing', { expression: 'false', message: 'own', messageExpression: "''" }, 'own'],
    [
      'its expression gives more than 5 KiB',
      { expression: 'false', message: 'own', messageExpression: "'a'.replace('a', object.data.long)" },
      'own',
    ],
  ])('VAP-18: has its message where %s', async (_what, validation, expected) => {
    const { create } = await aPolicy({ policy: { validations: [validation] } })
    const answer = await create({ metadata: { name: 'm' }, data: { long: 'x'.repeat(5_121) } })
    expect(message(answer)).toMatch(new RegExp(`denied request: ${expected}$`))
  })

  test('VAP-19: may be a warning instead of a denial', async () => {
    const { create, name, binding } = await aPolicy({ binding: { validationActions: ['Warn'] } })
    const answer = await create()
    expect(answer.status).toBe(201)
    expect(answer.headers['warning']).toBe(
      `299 - "Validation failed for ValidatingAdmissionPolicy '${name}' with binding '${binding}': an owner is required"`,
    )
  })

  test('VAP-22: after an evaluation error is a denial, or ignores the error', async () => {
    const validations = [{ expression: "object.metadata.labels['x'] == 'y'" }]
    const failing = await aPolicy({ policy: { validations } })
    expect(message(await failing.create())).toMatch(
      /denied request: expression 'object.metadata.labels\['x'\] == 'y'' resulted in error: no such key: labels$/,
    )
    const ignoring = await aPolicy({ policy: { validations, failurePolicy: 'Ignore' } })
    expect((await ignoring.create()).status).toBe(201)
  })

  test('VAP-30: applies to a dry run like to any other request', async () => {
    const denying = await aPolicy({})
    expect((await api().post(`${denying.path}?dryRun=All`, configMap({ name: 'dry' }))).status).toBe(422)
    const warning = await aPolicy({ binding: { validationActions: ['Warn'] } })
    const answer = await api().post(`${warning.path}?dryRun=All`, configMap({ name: 'dry' }))
    expect([answer.status, answer.headers['warning']]).toEqual([201, expect.stringContaining('an owner is required')])
  })
})

describe('the variables of expressions', () => {
  test('VAP-10: are no old object on create, no object on delete, the user and the operation', async () => {
    const { create, path } = await aPolicy({
      policy: {
        matchConstraints: { resourceRules: [{ ...configMapRule, operations: ['*'] }] },
        matchConditions: [{ name: 'ours', expression: "(object == null ? oldObject : object).metadata.name == 'seen'" }],
        validations: [
          { expression: "request.operation != 'CREATE' || oldObject == null" },
          { expression: "request.operation != 'DELETE' || (object == null && oldObject.data.a == 'b')" },
          { expression: "request.operation != 'UPDATE' || object.data.a == oldObject.data.a", message: 'a is immutable' },
          { expression: "request.userInfo.groups.exists(g, g == 'system:masters') && request.resource.resource == 'configmaps'" },
          {
            expression:
              "request.name == 'seen' && request.namespace == namespaceObject.metadata.name && !has(request.subResource) && !request.dryRun",
          },
        ],
      },
    })
    const seen = await create({ metadata: { name: 'seen' }, data: { a: 'b' } })
    expect(seen.status).toBe(201)
    expect(message(await api().put(`${path}/seen`, { ...seen.body, data: { a: 'c' } }))).toContain('a is immutable')
    expect((await api().delete(`${path}/seen`)).status).toBe(200)
  })

  test('VAP-11: include the namespace of the object, or null without a namespace', async () => {
    const name = aName('policy')
    const { namespace, create } = await aPolicy({
      policy: { validations: [{ expression: "namespaceObject.metadata.labels['team'] == 'a'", message: 'not of team a' }] },
    })
    expect(message(await create())).toContain('no such key: team')
    await api().patch(`/api/v1/namespaces/${namespace}`, { metadata: { labels: { team: 'a' } } })
    expect((await create()).status).toBe(201)
    const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['namespaces'] }
    const spec = {
      matchConstraints: { resourceRules: [{ ...rule, resourceNames: [name] }] },
      validations: [{ expression: 'namespaceObject == null' }],
    }
    await keep('validatingadmissionpolicies', { kind: 'ValidatingAdmissionPolicy', metadata: { name }, spec })
    const binding = { policyName: name, validationActions: ['Deny'] }
    await keep('validatingadmissionpolicybindings', { kind: 'ValidatingAdmissionPolicyBinding', metadata: { name }, spec: binding })
    expect((await api().post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })).status).toBe(201)
  })

  test('VAP-07: include declared variables, each evaluated at its first use', async () => {
    const { create } = await aPolicy({
      policy: {
        variables: [
          { name: 'labels', expression: 'object.metadata.?labels.orValue({})' },
          { name: 'owner', expression: "variables.labels['owner']" },
        ],
        validations: [
          { expression: "!('owner' in variables.labels) || variables.owner == 'a'", messageExpression: "'not a: ' + variables.owner" },
        ],
      },
    })
    expect((await create()).status).toBe(201)
    expect((await create(owned)).status).toBe(201)
    expect(message(await create({ metadata: { name: 'm', labels: { owner: 'b' } } }))).toContain('denied request: not a: b')
  })

  test('VAP-28: include the authorizer, for the user of the request', async () => {
    const expression = "authorizer.requestResource.check('approve').allowed() && authorizer.path('/healthz').check('get').allowed()"
    const { namespace, create, path } = await aPolicy({ policy: { validations: [{ expression, message: 'not approved' }] } })
    expect((await create()).status).toBe(201)
    const group = 'rbac.authorization.orch.io'
    const role = {
      apiVersion: `${group}/v1`,
      kind: 'Role',
      metadata: { name: 'writer' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }],
    }
    const at = `/apis/${group}/v1/namespaces/${namespace}`
    await created(api(), `${at}/roles`, role)
    const subjects = [{ kind: 'User', name: 'alice', apiGroup: group }]
    const roleRef = { kind: 'Role', name: 'writer', apiGroup: group }
    await created(api(), `${at}/rolebindings`, {
      apiVersion: `${group}/v1`,
      kind: 'RoleBinding',
      metadata: { name: 'writer' },
      subjects,
      roleRef,
    })
    const asAlice = () => api().send('POST', path, { body: configMap({ name: aName('map') }), headers: { 'impersonate-user': 'alice' } })
    await expect.poll(async () => message(await asAlice()), { timeout: 10_000 }).toContain('denied request: not approved')
    await api().patch(`${at}/roles/writer`, { rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'approve'] }] })
    await expect.poll(async () => (await asAlice()).status, { timeout: 10_000 }).toBe(201)
  })
})

describe('the matched requests', () => {
  const denying = [{ expression: 'false', message: 'matched' }]

  test('VAP-15: follow rules, excluded rules, names, conditions and the binding’s restrictions', async () => {
    const { create, path } = await aPolicy({
      policy: {
        matchConstraints: {
          resourceRules: [{ ...configMapRule, resourceNames: ['named', 'excluded', 'conditioned', 'unbound'] }],
          excludeResourceRules: [{ ...configMapRule, resourceNames: ['excluded'] }],
        },
        matchConditions: [{ name: 'condition', expression: "object.metadata.name != 'conditioned'" }],
        validations: denying,
      },
      binding: { matchResources: { objectSelector: { matchExpressions: [{ key: 'unbound', operator: 'DoesNotExist' }] } } },
    })
    const status = async (name: string, labels = {}) => (await create({ metadata: { name, labels } })).status
    expect(await status('named')).toBe(422)
    for (const name of ['other', 'excluded', 'conditioned']) expect([name, await status(name)]).toEqual([name, 201])
    expect(await status('unbound', { unbound: 'a' })).toBe(201)
    expect((await api().get(`${path}/named`)).status).toBe(404)
  })

  test('VAP-15: with a condition that cannot be evaluated follow the failure policy, unless another condition is false', async () => {
    const broken = { name: 'broken', expression: "object.metadata.labels['x'] == 'y'" }
    const failing = await aPolicy({ policy: { matchConditions: [broken] } })
    expect(message(await failing.create())).toContain('resulted in error: no such key: labels')
    const ignoring = await aPolicy({ policy: { matchConditions: [broken], failurePolicy: 'Ignore' } })
    expect((await ignoring.create()).status).toBe(201)
    const unmet = await aPolicy({ policy: { matchConditions: [broken, { name: 'never', expression: 'false' }] } })
    expect((await unmet.create()).status).toBe(201)
  })

  test('VAP-16: exclude policies and bindings, and include webhook configurations', async () => {
    const everything = { operations: ['*'], apiGroups: ['admissionregistration.orch.io'], apiVersions: ['*'], resources: ['*'] }
    const { name } = await aPolicy({ policy: { matchConstraints: { resourceRules: [everything] }, validations: denying } })
    const spec = { matchConstraints: { resourceRules: [configMapRule] }, validations: denying }
    await keep('validatingadmissionpolicies', { kind: 'ValidatingAdmissionPolicy', metadata: { name: aName('policy') }, spec })
    const webhooks = { kind: 'ValidatingWebhookConfiguration', metadata: { name: aName('hooks') }, webhooks: [] }
    expect(message(await api().post(`${configurationsAt}/validatingwebhookconfigurations`, webhooks))).toContain('denied request')
    const changed = await api().patch(`${configurationsAt}/validatingadmissionpolicies/${name}`, { metadata: { labels: { a: 'b' } } })
    expect(changed.status).toBe(200)
  })

  test('exclude reviews, as those of kube-apiserver do', async () => {
    const group = 'authorization.orch.io'
    const reviews = { operations: ['*'], apiGroups: [group], apiVersions: ['*'], resources: ['*'] }
    await aPolicy({ policy: { matchConstraints: { resourceRules: [reviews] }, validations: denying } })
    const review = { apiVersion: `${group}/v1`, kind: 'SelfSubjectAccessReview', spec: { resourceAttributes: { verb: 'get' } } }
    expect((await api().post(`/apis/${group}/v1/selfsubjectaccessreviews`, review)).status).toBe(201)
  })

  test('VAP-15: include an object in another version with Equivalent, and not with Exact', async () => {
    const rule = { operations: ['CREATE'], apiGroups: ['autoscaling'], apiVersions: ['v1'], resources: ['horizontalpodautoscalers'] }
    const policyFor = (matchPolicy: string) => ({
      matchConstraints: { resourceRules: [{ ...rule, resourceNames: [`with-${matchPolicy.toLowerCase()}`] }], matchPolicy },
      validations: [{ expression: "object.apiVersion != 'autoscaling/v1' || object.spec.maxReplicas < 5", message: 'too many' }],
    })
    const autoscaler = {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      spec: { maxReplicas: 9, scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' } },
    }
    const post = async (matchPolicy: string) => {
      const { namespace } = await aPolicy({ policy: policyFor(matchPolicy) })
      return api().post(`/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`, {
        ...autoscaler,
        metadata: { name: `with-${matchPolicy.toLowerCase()}` },
      })
    }
    expect((await post('Exact')).status).toBe(201)
    expect(message(await post('Equivalent'))).toContain('denied request: too many')
  })
})

test('VAP-15: a custom object in another version is matched by Equivalent, in the version of the rule', async () => {
  const group = `${aName('equal')}.example.com`
  const version = (name: string, storage: boolean) => ({ name, served: true, storage, schema: { openAPIV3Schema: { type: 'object' } } })
  const definition = await api().post('/apis/apiextensions.orch.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.orch.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: { group, scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' }, versions: [version('v1', true), version('v2', false)] },
  })
  expect(definition.status).toBe(201)
  const rule = { operations: ['CREATE'], apiGroups: [group], apiVersions: ['v2'], resources: ['things'] }
  const post = async (matchPolicy: string) => {
    const policy = {
      matchConstraints: { resourceRules: [rule], matchPolicy },
      validations: [{ expression: `object.apiVersion != '${group}/v2'`, message: 'seen as v2' }],
    }
    const { namespace } = await aPolicy({ policy })
    const path = `/apis/${group}/v1/namespaces/${namespace}/things`
    return api().post(path, { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'a' } })
  }
  expect((await post('Exact')).status).toBe(201)
  expect(message(await post('Equivalent'))).toContain('denied request: seen as v2')
})

describe('parameters', () => {
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }
  const validations = [{ expression: 'size(object.data) <= int(params.data.max)', messageExpression: "'more than ' + params.data.max" }]
  const paramRef = (name: string, parameterNotFoundAction = 'Deny') => ({ name, parameterNotFoundAction })

  test('VAP-24: are found by name in the namespace of the request, and are current when they change between two requests', async () => {
    const rule = { ...configMapRule, resourceNames: ['seen'] }
    const { create, path } = await aPolicy({
      policy: { paramKind, validations, matchConstraints: { resourceRules: [rule] } },
      binding: { paramRef: paramRef('limits') },
    })
    const seen = { metadata: { name: 'seen' }, data: { a: '1', b: '2' } }
    expect(message(await create(seen))).toContain(
      'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
    )
    await created(api(), path, { ...configMap({ name: 'limits' }), data: { max: '1' } })
    expect(message(await create(seen))).toContain('denied request: more than 1')
    await api().patch(`${path}/limits`, { data: { max: '2' } })
    expect((await create(seen)).status).toBe(201)
  })

  test('VAP-24: are found in a fixed namespace, by name and by labels; with Allow an absent parameter skips the binding', async () => {
    const params = await aNamespace(api())
    const at = `/api/v1/namespaces/${params}/configmaps`
    const reference = { ...paramRef('limits', 'Allow'), namespace: params }
    const { create } = await aPolicy({ policy: { paramKind, validations }, binding: { paramRef: reference } })
    const data = { a: '1', b: '2' }
    expect((await create({ data })).status).toBe(201)
    await created(api(), at, { ...configMap({ name: 'limits' }), data: { max: '1' } })
    expect(message(await create({ data }))).toContain('denied request: more than 1')
    await api().patch(`${at}/limits`, { data: { max: '2' } })
    expect((await create({ data })).status).toBe(201)
    const selector = { matchLabels: { use: 'limits' } }
    const byLabels = await aPolicy({
      policy: { paramKind, validations },
      binding: { paramRef: { selector, namespace: params, parameterNotFoundAction: 'Deny' } },
    })
    expect(message(await byLabels.create({ data }))).toContain('no params found')
    await created(api(), at, { ...configMap({ name: 'wide' }), metadata: { name: 'wide', labels: { use: 'limits' } }, data: { max: '5' } })
    expect((await byLabels.create({ data })).status).toBe(201)
    await created(api(), at, {
      ...configMap({ name: 'narrow' }),
      metadata: { name: 'narrow', labels: { use: 'limits' } },
      data: { max: '1' },
    })
    expect(message(await byLabels.create({ data }))).toContain('denied request: more than 1')
  })

  test('VAP-23: of an unknown kind follow the failure policy', async () => {
    const unknown = { apiVersion: 'x.example.com/v1', kind: 'Nothing' }
    const failing = await aPolicy({ policy: { paramKind: unknown }, binding: { paramRef: paramRef('a') } })
    expect(message(await failing.create())).toContain(
      "denied request: failed to configure policy: failed to find resource referenced by paramKind: 'x.example.com/v1, Kind=Nothing'",
    )
    const ignoring = await aPolicy({ policy: { paramKind: unknown, failurePolicy: 'Ignore' }, binding: { paramRef: paramRef('a') } })
    expect((await ignoring.create()).status).toBe(201)
  })

  test('VAP-25: in the namespace of the request fail for a cluster-scoped request', async () => {
    const name = aName('limited')
    const rule = {
      operations: ['CREATE'],
      apiGroups: ['scheduling.orch.io'],
      apiVersions: ['v1'],
      resources: ['priorityclasses'],
      resourceNames: [name],
    }
    await aPolicy({
      policy: { paramKind, validations, matchConstraints: { resourceRules: [rule] } },
      binding: { paramRef: paramRef('limits') },
    })
    const object = { apiVersion: 'scheduling.orch.io/v1', kind: 'PriorityClass', metadata: { name }, value: 5 }
    expect(message(await api().post('/apis/scheduling.orch.io/v1/priorityclasses', object))).toContain(
      'failed to configure binding: cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
    )
  })
})

test('VAP-01: policies have a status, which only the server writes', async () => {
  const { name } = await aPolicy({})
  const path = `${configurationsAt}/validatingadmissionpolicies/${name}`
  const status = { observedGeneration: 1, typeChecking: { expressionWarnings: [{ fieldRef: 'spec', warning: 'w' }] } }
  expect((await api().patch(path, { status })).text).not.toContain('expressionWarnings')
  expect((await api().patch(`${path}/status`, { status })).body).toMatchObject({ metadata: { generation: 1 }, status })
})

test('VAP-27: two authorizer checks fit the budget of one expression, three do not', async () => {
  const ask = "authorizer.requestResource.check('create').allowed()"
  const two = await aPolicy({ policy: { validations: [{ expression: `${ask} && ${ask}` }] } })
  expect((await two.create()).status).toBe(201)
  const three = await aPolicy({ policy: { validations: [{ expression: `${ask} && ${ask} && ${ask}` }] } })
  expect(message(await three.create())).toContain('operation cancelled: actual cost limit exceeded')
})

test('VAP-26: an expression that is too expensive is an error', async () => {
  const data = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`k${index}`, 'x']))
  const { create } = await aPolicy({
    policy: { validations: [{ expression: 'object.data.all(a, object.data.all(b, object.data.all(c, a != b || b == c || true)))' }] },
  })
  expect(message(await create({ data }))).toContain('resulted in error: operation cancelled: actual cost limit exceeded')
})

describe('conditions of webhooks', () => {
  test.each(['mutating', 'validating'] as const)('VAP-33: call a %s webhook if all of them are true', async (phase) => {
    const hook = await aWebhookServer(allowing)
    const matchConditions = [
      { name: 'named', expression: "object.metadata.name.startsWith('called')" },
      { name: 'allowed', expression: "authorizer.requestResource.check('approve').allowed()" },
    ]
    const { path } = await aHookedNamespace(api(), phase, hook, { matchConditions })
    for (const name of ['called-1', 'passed-over', 'called-2']) await created(api(), path, configMap({ name }))
    expect(hook.calls.map(({ request }) => request.name)).toEqual(['called-1', 'called-2'])
  })

  test('VAP-33: with an error refuse or ignore by the failure policy, without a call, unless another condition is false', async () => {
    const hook = await aWebhookServer(allowing)
    const broken = { name: 'broken', expression: "object.metadata.labels['x'] == 'y'" }
    const failing = await aHookedNamespace(api(), 'validating', hook, { matchConditions: [broken] })
    const refused = await api().post(failing.path, configMap({ name: 'a' }))
    expect(refused.status).toBe(403)
    expect(message(refused)).toBe(
      `configmaps "a" is forbidden: expression 'object.metadata.labels['x'] == 'y'' resulted in error: no such key: labels`,
    )
    const ignoring = await aHookedNamespace(api(), 'validating', hook, { matchConditions: [broken], failurePolicy: 'Ignore' })
    await created(api(), ignoring.path, configMap({ name: 'a' }))
    const unmet = await aHookedNamespace(api(), 'validating', hook, { matchConditions: [broken, { name: 'never', expression: 'false' }] })
    await created(api(), unmet.path, configMap({ name: 'a' }))
    expect(hook.calls).toEqual([])
  })
})
