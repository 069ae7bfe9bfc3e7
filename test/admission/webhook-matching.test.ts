import { clusterMode } from '@orch/testkit'
import { describe, expect, test } from 'vitest'
import { type Api, aName, aNamespace, anApi, configMap, created, sharedApi, untilEverywhere } from '../api/api.ts'
import { answeringObjects, conversionBy, urlOf } from '../api/conversion-hook.ts'
import { aConfiguration, aHook, aHookedNamespace, configMapRule, pathOf, tryConfiguration } from './hooks.ts'
import { allowing, answering, aWebhookServer, patching, type Reply } from './webhook-server.ts'

// Without this, the test would count the ConfigMap that a controller puts into every namespace.
const server = sharedApi({ flags: ['--controllers=*,-root-ca-cert-publisher'] })
const labels = { color: 'red' }
const objectSelector = { matchLabels: labels }

describe('webhooks and reviews', () => {
  const gate = 'ExcludeAdmissionWebhookVirtualResources'
  const servers = {
    '1.36': sharedApi({ flags: ['--emulated-version=1.36'] }),
    '1.37': sharedApi({ flags: ['--emulated-version=1.37'] }),
    '1.37 without the gate': sharedApi({ flags: ['--emulated-version=1.37', `--feature-gates=${gate}=false`] }),
  }

  test.each([
    ['1.36', 400, 1],
    ['1.37', 201, 0],
    ['1.37 without the gate', 400, 1],
  ] as const)('a review is sent to a webhook up to 1.36 and while the gate is off: %s answers %d', async (name, status, calls) => {
    const { api } = servers[name]
    const hook = await aWebhookServer(answering(() => ({ allowed: false })))
    const rule = {
      operations: ['CREATE'],
      apiGroups: ['authorization.orch.io'],
      apiVersions: ['*'],
      resources: ['selfsubjectaccessreviews'],
    }
    const answer = await tryConfiguration(api, 'validating', [aHook(hook, undefined, { rules: [rule] })], aName('reviews'))
    expect([answer.status, answer.headers.warning?.includes('is excluded from admission webhooks')]).toEqual([
      201,
      calls === 0 ? true : undefined,
    ])
    const review = {
      apiVersion: 'authorization.orch.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
    }
    expect((await api.post('/apis/authorization.orch.io/v1/selfsubjectaccessreviews', review)).status).toBe(status)
    expect(hook.calls).toHaveLength(calls)
  })
})

test('ADM-WH-16: the object selector is matched against the new and the old object', async () => {
  const { api } = server
  const hook = await aWebhookServer(allowing)
  const { path } = await aHookedNamespace(api, 'validating', hook, { objectSelector })
  await created(api, path, configMap({ name: 'a' }))
  await api.put(`${path}/a`, configMap({ name: 'a', labels }))
  await api.put(`${path}/a`, configMap({ name: 'a', labels: {} }))
  await api.put(`${path}/a`, configMap({ name: 'a', data: { x: '1' } }))
  expect(hook.calls.map(({ request }) => [request.object.metadata.labels, request.oldObject.metadata.labels])).toEqual([
    [labels, undefined],
    [undefined, labels],
  ])
})

test('ADM-WH-17, ADM-WH-18: an absent object, or one without labels, matches no object selector, not even a negative one', async () => {
  const { api } = server
  const hook = await aWebhookServer(allowing)
  const objectSelector = { matchExpressions: [{ key: 'color', operator: 'DoesNotExist' }] }
  const rules = [{ operations: ['DELETE', 'CONNECT'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps', 'services/proxy'] }]
  const { path, namespace } = await aHookedNamespace(api, 'validating', hook, { objectSelector, rules })
  const services = `/api/v1/namespaces/${namespace}/services`
  await created(api, services, { kind: 'Service', apiVersion: 'v1', metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } })
  await api.get(`${services}/s/proxy/`)
  await created(api, path, configMap({ name: 'a', labels }))
  await api.delete(`${path}/a`)
  await created(api, path, configMap({ name: 'b' }))
  await api.delete(`${path}/b`)
  expect(hook.calls.map(({ request }) => request.name)).toEqual(['b'])
})

test('ADM-WH-19: the namespace selector matches the current labels of the namespace', async () => {
  const { api } = server
  const hook = await aWebhookServer(allowing)
  const namespace = await aNamespace(api)
  const key = aName('label')
  await aConfiguration(api, 'validating', [aHook(hook, undefined, { namespaceSelector: { matchLabels: { [key]: 'on' } } })])
  const path = `/api/v1/namespaces/${namespace}/configmaps`
  await created(api, path, configMap({ name: 'a' }))
  await api.patch(`/api/v1/namespaces/${namespace}`, { metadata: { labels: { [key]: 'on' } } })
  await created(api, path, configMap({ name: 'b' }))
  const names = hook.calls.map(({ request }) => request.name)
  // With services apart, a repeated write calls the webhook again.
  expect(clusterMode() === 'embedded' ? names : [...new Set(names)]).toEqual(['b'])
})

test('ADM-WH-20: for a Namespace itself its new labels are matched', async () => {
  const { api } = server
  const hook = await aWebhookServer(allowing)
  const key = aName('label')
  const rules = [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['namespaces'], scope: 'Cluster' }]
  await aConfiguration(api, 'validating', [aHook(hook, undefined, { rules, namespaceSelector: { matchLabels: { [key]: 'on' } } })])
  const name = aName('ns')
  await created(api, '/api/v1/namespaces', { kind: 'Namespace', apiVersion: 'v1', metadata: { name } })
  await api.patch(`/api/v1/namespaces/${name}`, { metadata: { labels: { [key]: 'on' } } })
  await api.delete(`/api/v1/namespaces/${name}`)
  expect(hook.calls.map(({ request }) => [request.operation, request.name, request.namespace])).toEqual([
    ['UPDATE', name, name],
    ['DELETE', name, name],
  ])
})

test('ADM-WH-21: a cluster-scoped object is sent with any namespace selector', async () => {
  const { api } = server
  const hook = await aWebhookServer(allowing)
  const rules = [{ operations: ['CREATE'], apiGroups: ['rbac.authorization.orch.io'], apiVersions: ['*'], resources: ['clusterroles'] }]
  await aConfiguration(api, 'validating', [aHook(hook, 'no-such-namespace', { rules })])
  const name = aName('role')
  const role = { kind: 'ClusterRole', apiVersion: 'rbac.authorization.orch.io/v1', metadata: { name } }
  await created(api, '/apis/rbac.authorization.orch.io/v1/clusterroles', role)
  expect(hook.calls.map(({ request }) => request.name)).toEqual([name])
})

test.each([
  ['ADM-WH-24: another operation', { operations: ['DELETE'] }],
  ['ADM-WH-25: another group', { apiGroups: ['apps'] }],
  ['ADM-WH-26: another version', { apiVersions: ['v2'] }],
  ['ADM-WH-27: parts alone', { resources: ['configmaps/status'] }],
  ['ADM-WH-31: another scope', { scope: 'Cluster' }],
])('%s is not sent', async (_what, rule) => {
  const { api } = server
  const hook = await aWebhookServer(allowing)
  const { path } = await aHookedNamespace(api, 'validating', hook, { rules: [{ ...configMapRule, ...rule }], matchPolicy: 'Exact' })
  await created(api, path, configMap({ name: 'a' }))
  expect(hook.calls).toEqual([])
})

test('ADM-WH-33: a match of one rule is enough', async () => {
  const { api } = server
  const hook = await aWebhookServer(allowing)
  const other = { ...configMapRule, resources: ['secrets'] }
  const { path } = await aHookedNamespace(api, 'validating', hook, { rules: [other, configMapRule] })
  await created(api, path, configMap({ name: 'a' }))
  expect(hook.calls).toHaveLength(1)
})

const autoscaler = {
  kind: 'HorizontalPodAutoscaler',
  apiVersion: 'autoscaling/v2',
  metadata: { name: 'a' },
  spec: {
    scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
    maxReplicas: 3,
    metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } }],
  },
}
const autoscalerRules = [
  { operations: ['CREATE'], apiGroups: ['autoscaling'], apiVersions: ['v1'], resources: ['horizontalpodautoscalers'] },
]

test('ADM-FLOW-16, ADM-REV-07, ADM-REV-08: a request through another version is converted, and its patch converted back', async () => {
  const { api } = server
  const hook = await aWebhookServer(patching(() => [{ op: 'replace', path: '/spec/targetCPUUtilizationPercentage', value: 33 }]))
  const { namespace } = await aHookedNamespace(api, 'mutating', hook, { rules: autoscalerRules })
  const made = await created(api, `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`, autoscaler)
  expect(hook.calls[0]?.request).toMatchObject({
    kind: { group: 'autoscaling', version: 'v1', kind: 'HorizontalPodAutoscaler' },
    resource: { group: 'autoscaling', version: 'v1', resource: 'horizontalpodautoscalers' },
    requestKind: { group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' },
    requestResource: { group: 'autoscaling', version: 'v2', resource: 'horizontalpodautoscalers' },
    object: { apiVersion: 'autoscaling/v1', spec: { targetCPUUtilizationPercentage: 70 } },
  })
  expect(made).toMatchObject({
    apiVersion: 'autoscaling/v2',
    spec: { metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 33 } } }] },
  })
})

test('ADM-FLOW-16: events are sent to a webhook with a rule for the other group', async () => {
  const { api } = server
  const hook = await aWebhookServer(allowing)
  const rules = [{ operations: ['CREATE'], apiGroups: ['events.orch.io'], apiVersions: ['v1'], resources: ['events'] }]
  const { namespace } = await aHookedNamespace(api, 'validating', hook, { rules })
  const event = { kind: 'Event', apiVersion: 'v1', metadata: { name: 'e' }, involvedObject: { namespace }, message: 'hello' }
  await created(api, `/api/v1/namespaces/${namespace}/events`, event)
  expect(hook.calls[0]?.request).toMatchObject({
    kind: { group: 'events.orch.io', version: 'v1', kind: 'Event' },
    requestKind: { group: '', version: 'v1', kind: 'Event' },
    object: { apiVersion: 'events.orch.io/v1', note: 'hello' },
  })
})

test('ADM-FLOW-17, ADM-WH-15: with matchPolicy Exact only the exact version is sent', async () => {
  const { api } = server
  const hook = await aWebhookServer(allowing)
  const { namespace } = await aHookedNamespace(api, 'validating', hook, { rules: autoscalerRules, matchPolicy: 'Exact' })
  await created(api, `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`, autoscaler)
  expect(hook.calls).toEqual([])
})

/** A definition, and the path of its objects in one namespace and one version. */
async function aKind(api: Api, conversion: object = {}) {
  const group = `${aName('equal')}.example.com`
  const root = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { color: { type: 'string' }, hue: { type: 'string' } } } },
  }
  const version = (name: string, storage: boolean) => ({
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: root },
    subresources: { status: {} },
  })
  const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' }
  await created(api, '/apis/apiextensions.orch.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.orch.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: { group, scope: 'Namespaced', names, versions: [version('v1', false), version('v2', true)], ...conversion },
  })
  const rules = [{ operations: ['*'], apiGroups: [group], apiVersions: ['v2'], resources: ['things', 'things/status'] }]
  const thing = (fields: object = {}) => ({
    apiVersion: `${group}/v1`,
    kind: 'Thing',
    metadata: { name: 'a' },
    spec: { color: 'red' },
    ...fields,
  })
  return { group, rules, thing, pathIn: (namespace: string) => `/apis/${group}/v1/namespaces/${namespace}/things` }
}

describe('custom objects in two versions', () => {
  test('ADM-FLOW-16, ADM-REV-08: are sent to a webhook in the version of its rule, and its patch is converted back', async () => {
    const { api } = server
    const { group, rules, thing, pathIn } = await aKind(api)
    const hook = await aWebhookServer(
      patching(({ request }) => (request.object === null ? [] : [{ op: 'replace', path: '/spec/color', value: 'blue' }])),
    )
    const { namespace } = await aHookedNamespace(api, 'mutating', hook, { rules })
    const made = await created(api, pathIn(namespace), thing())
    expect(made).toMatchObject({ apiVersion: `${group}/v1`, spec: { color: 'blue' } })
    const kind = { group, kind: 'Thing' }
    expect(hook.calls[0]?.request).toMatchObject({
      kind: { ...kind, version: 'v2' },
      resource: { group, version: 'v2', resource: 'things' },
      requestKind: { ...kind, version: 'v1' },
      requestResource: { group, version: 'v1', resource: 'things' },
      object: { apiVersion: `${group}/v2`, spec: { color: 'red' } },
    })
    await api.put(`${pathIn(namespace)}/a`, { ...made, spec: { color: 'green' } })
    expect(hook.calls[1]?.request).toMatchObject({
      object: { apiVersion: `${group}/v2`, spec: { color: 'green' } },
      oldObject: { apiVersion: `${group}/v2`, spec: { color: 'blue' } },
    })
    await api.delete(`${pathIn(namespace)}/a`)
    expect(hook.calls[2]?.request).toMatchObject({ operation: 'DELETE', oldObject: { apiVersion: `${group}/v2` } })
  })

  test('ADM-FLOW-16: are converted for a subresource and for a validating webhook too', async () => {
    const { api } = server
    const { group, rules, thing, pathIn } = await aKind(api)
    const hook = await aWebhookServer(allowing)
    const { namespace } = await aHookedNamespace(api, 'validating', hook, { rules })
    await created(api, pathIn(namespace), thing())
    await api.patch(`${pathIn(namespace)}/a/status`, { status: {} })
    expect(hook.calls.map(({ request }) => [request.object.apiVersion, request.subResource])).toEqual([
      [`${group}/v2`, undefined],
      [`${group}/v2`, 'status'],
    ])
  })

  test('ADM-FLOW-17: are not converted with matchPolicy Exact', async () => {
    const { api } = server
    const { rules, thing, pathIn } = await aKind(api)
    const hook = await aWebhookServer(allowing)
    const { namespace } = await aHookedNamespace(api, 'validating', hook, { rules, matchPolicy: 'Exact' })
    await created(api, pathIn(namespace), thing())
    expect(hook.calls).toEqual([])
  })

  test('ADM-FLOW-18: are not matched by a version that a changed definition no longer serves', async () => {
    const { api } = server
    const { group, rules, thing, pathIn } = await aKind(api)
    const hook = await aWebhookServer(allowing)
    const { namespace } = await aHookedNamespace(api, 'validating', hook, { rules })
    const definition = `/apis/apiextensions.orch.io/v1/customresourcedefinitions/things.${group}`
    await api.patch(definition, [{ op: 'replace', path: '/spec/versions/1/served', value: false }])
    await untilEverywhere(
      () => api.get(`/apis/${group}/v2/namespaces/${namespace}/things`),
      ({ status }) => status === 404,
    )
    await created(api, pathIn(namespace), thing())
    expect(hook.calls).toEqual([])
  })
})

describe('custom objects that a conversion webhook converts', () => {
  /** `color` in v1 is `hue` in v2. */
  const converting: Reply = answeringObjects(({ request }) => ({
    convertedObjects: request.objects.map(({ spec, ...object }: { spec: { color?: string; hue?: string } }) => ({
      ...object,
      apiVersion: request.desiredAPIVersion,
      spec: request.desiredAPIVersion.endsWith('/v2') ? { hue: spec.color } : { color: spec.hue },
    })),
  }))

  async function aConvertedKind(api: Api) {
    const conversion = await aWebhookServer(converting)
    return { conversion, ...(await aKind(api, { conversion: conversionBy(urlOf(conversion)) })) }
  }

  test('ADM-FLOW-16, ADM-REV-08: are sent to a webhook in the version of its rule, and its patch is converted back', async () => {
    const { api } = server
    const { group, rules, thing, pathIn } = await aConvertedKind(api)
    const hook = await aWebhookServer(
      patching(({ request }) => (request.object === null ? [] : [{ op: 'replace', path: '/spec/hue', value: 'blue' }])),
    )
    const { namespace } = await aHookedNamespace(api, 'mutating', hook, { rules })
    const made = await created(api, pathIn(namespace), thing())
    expect(made).toMatchObject({ apiVersion: `${group}/v1`, spec: { color: 'blue' } })
    expect(hook.calls[0]?.request).toMatchObject({
      kind: { group, version: 'v2', kind: 'Thing' },
      requestKind: { group, version: 'v1', kind: 'Thing' },
      object: { apiVersion: `${group}/v2`, spec: { hue: 'red' } },
    })
    await api.put(`${pathIn(namespace)}/a`, { ...made, spec: { color: 'green' } })
    expect(hook.calls[1]?.request).toMatchObject({
      object: { apiVersion: `${group}/v2`, spec: { hue: 'green' } },
      oldObject: { apiVersion: `${group}/v2`, spec: { hue: 'blue' } },
    })
    await api.delete(`${pathIn(namespace)}/a`)
    expect(hook.calls[2]?.request).toMatchObject({ operation: 'DELETE', oldObject: { apiVersion: `${group}/v2`, spec: { hue: 'blue' } } })
  })

  test('ADM-FLOW-16: are converted once for all webhooks of a version', async () => {
    const { api } = server
    const { conversion, rules, thing, pathIn } = await aConvertedKind(api)
    const hooks = [await aWebhookServer(allowing), await aWebhookServer(allowing)]
    const namespace = await aNamespace(api)
    for (const hook of hooks) await aConfiguration(api, 'validating', [aHook(hook, namespace, { rules })])
    await created(api, pathIn(namespace), thing())
    expect(hooks.map(({ calls }) => calls[0]?.request.object.spec)).toEqual([{ hue: 'red' }, { hue: 'red' }])
    // The gateway, which stores v2, makes one conversion.
    expect(conversion.calls.filter(({ request }) => request.desiredAPIVersion.endsWith('/v2'))).toHaveLength(2)
  })

  test('are counted as conversions, whether admission or a request needs them', async (context) => {
    if (clusterMode() === 'distributed') context.skip('admission counts in processes of its own')
    const { api } = server
    const { group, conversion, rules, thing, pathIn } = await aConvertedKind(api)
    const { namespace } = await aHookedNamespace(api, 'validating', await aWebhookServer(allowing), { rules })
    const total = async () => {
      const { text } = await api.get('/metrics')
      const line = new RegExp(
        `^apiserver_crd_conversion_webhook_duration_seconds_count\\{crd_name="things\\.${group}",from_version="v1",to_version="v2",succeeded="true"\\} (\\d+)$`,
        'm',
      )
      return Number(line.exec(text)?.[1] ?? 0)
    }
    await created(api, pathIn(namespace), thing())
    const ofFirst = conversion.calls.filter(({ request }) => request.desiredAPIVersion.endsWith('/v2'))
    // The gateway, which stores v2, makes one conversion; admission makes the other.
    expect([ofFirst.length, await total()]).toEqual([2, 2])
  })

  test('ADM-FLOW-16: are refused if the conversion fails, with any failure policy', async () => {
    const { api } = server
    const { group, conversion, rules, thing, pathIn } = await aConvertedKind(api)
    const hook = await aWebhookServer(allowing)
    const ofFirst = rules.map((rule) => ({ ...rule, apiVersions: ['v1'] }))
    const { namespace } = await aHookedNamespace(api, 'validating', hook, { rules: ofFirst, failurePolicy: 'Ignore' })
    conversion.reply = answeringObjects(() => ({ result: { status: 'Failure', message: 'not today' } }))
    // The stored version is v2, so no conversion is needed.
    const second = thing({ apiVersion: `${group}/v2`, spec: { hue: 'red' } })
    const { status, body } = await api.post(pathIn(namespace).replace('/v1/', '/v2/'), second)
    expect([status, body['message']]).toEqual([
      500,
      expect.stringMatching(`^conversion webhook for ${group}/v2, Kind=Thing failed: .*not today$`),
    ])
    expect(hook.calls).toEqual([])
  })

  test('ADM-FLOW-16, VAP-15: are passed to a policy in the version of its rule', async () => {
    const { api } = server
    const { group, rules, thing, pathIn } = await aConvertedKind(api)
    const registration = 'admissionregistration.orch.io/v1'
    const at = `/apis/${registration}`
    const name = aName('hues')
    const spec = {
      matchConstraints: { resourceRules: rules },
      validations: [{ expression: "object.spec.hue != 'red'", message: 'red in v2' }],
    }
    await created(api, `${at}/validatingadmissionpolicies`, {
      apiVersion: registration,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec,
    })
    await created(api, `${at}/validatingadmissionpolicybindings`, {
      apiVersion: registration,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    })
    const path = pathIn(await aNamespace(api))
    expect((await api.post(path, thing())).body['message']).toContain('denied request: red in v2')
    expect((await api.post(path, thing({ apiVersion: `${group}/v1`, spec: { color: 'blue' } }))).status).toBe(201)
  })

  test('ADM-FLOW-17: are not converted with matchPolicy Exact', async () => {
    const { api } = server
    const { rules, thing, pathIn } = await aConvertedKind(api)
    const hook = await aWebhookServer(allowing)
    const { namespace } = await aHookedNamespace(api, 'validating', hook, { rules, matchPolicy: 'Exact' })
    await created(api, pathIn(namespace), thing())
    expect(hook.calls).toEqual([])
  })
})

test('ADM-FLOW-18: a version that is no longer served is not matched', async () => {
  const api = await anApi({ flags: ['--controllers=*,-root-ca-cert-publisher', '--runtime-config=autoscaling/v1=false'] })
  const hook = await aWebhookServer(allowing)
  const { namespace } = await aHookedNamespace(api, 'validating', hook, { rules: autoscalerRules, matchPolicy: 'Equivalent' })
  await created(api, `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`, autoscaler)
  expect(hook.calls).toEqual([])
})

test('ADM-WH-45: a configuration is used from its creation to its deletion, with its current content', async () => {
  const { api } = server
  const hook = await aWebhookServer(answering(() => ({ allowed: false })))
  const { path, configuration } = await aHookedNamespace(api, 'validating', hook)
  const tryOnce = async () => (await api.post(`${path}?dryRun=All`, configMap({ name: 'a' }))).status
  expect(await tryOnce()).toBe(400)
  await api.patch(pathOf('validating', configuration), [{ op: 'replace', path: '/webhooks/0/rules/0/operations', value: ['DELETE'] }])
  expect(await tryOnce()).toBe(201)
  await api.patch(pathOf('validating', configuration), [{ op: 'replace', path: '/webhooks/0/rules/0/operations', value: ['*'] }])
  expect(await tryOnce()).toBe(400)
  await api.delete(pathOf('validating', configuration))
  expect(await tryOnce()).toBe(201)
})

test('webhooks are never called for webhook configurations', async () => {
  const { api } = server
  const hook = await aWebhookServer(answering(() => ({ allowed: false })))
  const rules = [{ operations: ['*'], apiGroups: ['admissionregistration.orch.io'], apiVersions: ['*'], resources: ['*/*'] }]
  await aConfiguration(api, 'validating', [aHook(hook, undefined, { rules })])
  await aConfiguration(api, 'mutating', [aHook(hook, undefined, { rules })])
  expect(hook.calls).toEqual([])
})

test('ADM-WH-01, ADM-WH-14, ADM-WH-22, ADM-WH-23: a configuration gets its defaults', async () => {
  const { api } = server
  const clientConfig = { service: { name: 's', namespace: 'none' } }
  const name = await aConfiguration(api, 'mutating', [aHook({ url: '', caBundle: '' }, 'no-such-namespace', { clientConfig })])
  const { body } = await api.get(pathOf('mutating', name))
  expect(body['webhooks']).toMatchObject([
    {
      timeoutSeconds: 10,
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      objectSelector: {},
      reinvocationPolicy: 'Never',
      rules: [{ scope: '*' }],
      clientConfig: { service: { port: 443 } },
    },
  ])
})

const bad: readonly (readonly [string, Readonly<Record<string, unknown>>, string])[] = [
  ['ADM-WH-07: no versions', { admissionReviewVersions: [] }, 'webhooks[0].admissionReviewVersions: Required value'],
  ['ADM-WH-46: no version that can be sent', { admissionReviewVersions: ['v7'] }, 'must include at least one of v1, v1beta1'],
  ['ADM-WH-10, ADM-WH-48: side effects', { sideEffects: 'Some' }, 'webhooks[0].sideEffects: Unsupported value: "Some"'],
  ['ADM-WH-11: no word of side effects', { sideEffects: undefined }, 'webhooks[0].sideEffects: Required value'],
  ['ADM-WH-13: no time', { timeoutSeconds: 0 }, 'webhooks[0].timeoutSeconds: Invalid value: 0'],
  ['ADM-WH-13: too much time', { timeoutSeconds: 31 }, 'webhooks[0].timeoutSeconds: Invalid value: 31'],
  ['ADM-WH-34: neither url nor service', { clientConfig: {} }, 'exactly one of url or service is required'],
  ['ADM-WH-36: no TLS', { clientConfig: { url: 'http://a.b/c' } }, "'https' is the only allowed URL scheme"],
  ['ADM-WH-37: a user', { clientConfig: { url: 'https://u@a.b/c' } }, 'user information is not permitted in the URL'],
  ['ADM-WH-38: a fragment', { clientConfig: { url: 'https://a.b/c#d' } }, 'fragments are not permitted in the URL'],
  ['ADM-WH-39: a query', { clientConfig: { url: 'https://a.b/c?d=e' } }, 'query parameters are not permitted in the URL'],
  ['ADM-WH-41: no name', { clientConfig: { service: { namespace: 'n', name: '' } } }, 'clientConfig.service.name: Required value'],
]

test.each(bad)('%s: a configuration is refused', async (_what, fields, text) => {
  const { api } = server
  const { status, body } = await tryConfiguration(api, 'validating', [aHook({ url: 'https://a.b/c', caBundle: '' }, 'none', fields)])
  expect({ status, message: body['message'] }).toEqual({ status: 422, message: expect.stringContaining(text) })
})

test('ADM-WH-04: two webhooks of one name are refused', async () => {
  const { api } = server
  const hook = aHook({ url: 'https://a.b/c', caBundle: '' }, 'none')
  expect((await tryConfiguration(api, 'mutating', [hook, hook])).body['message']).toContain('webhooks[1].name: Duplicate value')
})
