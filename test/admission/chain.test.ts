import { beforeEach, describe, expect, test } from 'vitest'
import { type Api, aNamespace, anApi, configMap, configMapsIn, created, sharedApi } from '../api/api.ts'
import { aConfiguration, aHook, aHookedNamespace, configurationsAt, type HookFields, pathOf, tryConfiguration } from './hooks.ts'
import { allowing, answering, aWebhookServer, patching, toBase64 } from './webhook-server.ts'

// Without this, the test would count the ConfigMap that a controller puts into every namespace.
const flags = ['--controllers=*,-root-ca-cert-publisher']
const server = sharedApi({ flags })

const podsIn = (namespace: string) => `/api/v1/namespaces/${namespace}/pods`
const aPod = (name: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i:1' }], ...spec },
})
const aQuota = (hard: Record<string, string>) => ({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard } })

test('ADM-BI-01: during admission an object does not exist yet, and a refused object is never created', async () => {
  const { api } = server
  const seen: number[] = []
  const hook = await aWebhookServer(async (called, response) => {
    seen.push((await api.get(`${path}/a`)).status)
    answering(() => ({ allowed: false }))(called, response)
  })
  const { path } = await aHookedNamespace(api, 'validating', hook)
  const before = (await api.get(path)).body.metadata.resourceVersion
  const watch = await api.watch(`${path}?watch=1&resourceVersion=${before}`)
  expect((await api.post(path, configMap({ name: 'a' }))).status).toBe(400)
  expect(seen).toEqual([404])
  expect((await api.get(`${path}/a`)).status).toBe(404)
  hook.reply = allowing
  const made = await created(api, path, configMap({ name: 'b' }))
  expect(await watch.next()).toEqual({ type: 'ADDED', object: made })
})

test('ADM-BI-02, ADM-BI-17, NODE-SIM-09: plugins change and refuse writes without any flag', async () => {
  const { api } = server
  const namespace = await aNamespace(api)
  const pod = await created(api, podsIn(namespace), aPod('p'))
  expect(pod['spec']).toMatchObject({
    priority: 0,
    serviceAccountName: 'default',
    tolerations: [{ key: 'node.orch.io/not-ready' }, { key: 'node.orch.io/unreachable' }],
  })
  const node = await created(api, '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { generateName: 'n-' } })
  expect(node['spec']).toMatchObject({ taints: [{ key: 'node.orch.io/not-ready', effect: 'NoSchedule' }] })
  const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'c' } }
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
  const { metadata } = await created(api, `/api/v1/namespaces/${namespace}/persistentvolumeclaims`, { ...claim, spec })
  expect(metadata.finalizers).toEqual(['orch.io/pvc-protection'])
  const full = await aNamespace(api)
  await created(api, `/api/v1/namespaces/${full}/resourcequotas`, aQuota({ pods: '0' }))
  const refused = await Promise.all([
    api.post(configMapsIn('absent'), configMap({ name: 'a' })),
    api.post(podsIn(namespace), aPod('q', { priorityClassName: 'absent' })),
    api.post(podsIn(full), aPod('r')),
  ])
  expect(refused.map(({ status, body }) => [status, body['message']])).toEqual([
    [404, 'namespaces "absent" not found'],
    [403, 'pods "q" is forbidden: no PriorityClass with name absent was found'],
    [403, 'pods "r" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0'],
  ])
})

describe('disabled plugins', () => {
  test('ADM-BI-04: without ResourceQuota no quota is enforced', async () => {
    const api = await anApi({ flags: [...flags, '--disable-admission-plugins=ResourceQuota'] })
    const namespace = await aNamespace(api)
    await created(api, `/api/v1/namespaces/${namespace}/resourcequotas`, aQuota({ pods: '0' }))
    expect((await api.post(podsIn(namespace), aPod('p'))).status).toBe(201)
  })

  test('ADM-BI-14, ADM-BI-15: without ValidatingAdmissionWebhook no validating webhook is called, and its API may be switched off', async () => {
    const disabled = [...flags, '--disable-admission-plugins=ValidatingAdmissionWebhook']
    const kind = 'admissionregistration.orch.io/v1/validatingwebhookconfigurations'
    const [still, off] = [await anApi({ flags: disabled }), await anApi({ flags: disabled, runtimeConfig: [`${kind}=false`] })]
    const hook = await aWebhookServer(answering(() => ({ allowed: false })))
    const { path } = await aHookedNamespace(still, 'validating', hook)
    expect((await still.post(path, configMap({ name: 'a' }))).status).toBe(201)
    expect(hook.calls).toEqual([])
    expect((await off.get(pathOf('validating', ''))).status).toBe(404)
    expect((await off.get(pathOf('mutating', ''))).status).toBe(200)
    const resources = (await off.get(configurationsAt)).body['resources'] as { name: string }[]
    expect(resources.map(({ name }) => name).filter((name) => name.includes('webhook'))).toEqual(['mutatingwebhookconfigurations'])
  })
})

describe('mutating before validating', () => {
  test('ADM-BI-16, ADM-FLOW-03: validating webhooks are called last, see the changes of others, and can only refuse', async () => {
    const { api } = server
    const order: string[] = []
    const change = await aWebhookServer((called, response) => {
      order.push('mutating')
      patching(() => [{ op: 'add', path: '/data', value: { by: 'the first' } }])(called, response)
    })
    const judge = await aWebhookServer((called, response) => {
      order.push('validating')
      const patch = toBase64('[{"op":"replace","path":"/data","value":{"by":"the second"}}]')
      answering(() => ({ allowed: called.request.name !== 'b', patchType: 'JSONPatch', patch }))(called, response)
    })
    const namespace = await aNamespace(api)
    await aConfiguration(api, 'validating', [aHook(judge, namespace, { admissionReviewVersions: ['v1beta1'] })])
    await aConfiguration(api, 'mutating', [aHook(change, namespace)])
    const path = configMapsIn(namespace)
    expect((await created(api, path, configMap({ name: 'a' })))['data']).toEqual({ by: 'the first' })
    expect((await api.post(path, configMap({ name: 'b' }))).status).toBe(400)
    expect((await api.get(`${path}/b`)).status).toBe(404)
    expect(order).toEqual(['mutating', 'validating', 'mutating', 'validating'])
    expect(judge.calls.map(({ request }) => request.object.data)).toEqual([{ by: 'the first' }, { by: 'the first' }])
  })

  test('ADM-FLOW-07: when a webhook has changed an object, mutating plugins are called again', async () => {
    const api = await anApi({ flags: [...flags, '--enable-admission-plugins=AlwaysPullImages'] })
    const hook = await aWebhookServer(patching(() => [{ op: 'replace', path: '/spec/containers/0/imagePullPolicy', value: 'Never' }]))
    const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }]
    const { namespace } = await aHookedNamespace(api, 'mutating', hook, { rules })
    const pod = await created(api, podsIn(namespace), aPod('p'))
    expect(hook.calls.map(({ request }) => request.object.spec.containers[0].imagePullPolicy)).toEqual(['Always'])
    expect(pod['spec']).toMatchObject({ containers: [{ imagePullPolicy: 'Always' }] })
  })

  test('METRIC-03: rejections are counted by operation', async () => {
    const api = await anApi({ flags })
    const hook = await aWebhookServer(allowing)
    const rules = [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['services', 'services/proxy'] }]
    const { namespace } = await aHookedNamespace(api, 'validating', hook, { rules })
    const path = `/api/v1/namespaces/${namespace}/services`
    const service = (name: string) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { ports: [{ port: 80 }] } })
    await created(api, path, service('s'))
    hook.reply = answering(() => ({ allowed: false }))
    await api.post(path, service('t'))
    await api.patch(`${path}/s`, { metadata: { labels: { a: 'b' } } })
    await api.delete(`${path}/s`)
    await api.get(`${path}/s/proxy`)
    const lines = (await api.get('/metrics')).text
      .split('\n')
      .filter((line) => line.startsWith('apiserver_admission_webhook_rejection_count{'))
    expect(lines.map((line) => /operation="(\w+)"/.exec(line)?.[1]).sort()).toEqual(['CONNECT', 'CREATE', 'DELETE', 'UPDATE'])
  })
})

describe('webhook configurations', () => {
  let api: Api
  beforeEach(() => {
    api = server.api
  })
  const aPlace = { url: 'https://a.b/c', caBundle: '' }
  const refusal = async (hooks: readonly HookFields[], name?: string) => {
    const { status, body } = await tryConfiguration(api, 'validating', hooks, name)
    return [status, body['message']]
  }

  test.each([
    ['with a capital', 'Upper'],
    ['with an underscore', 'a_b'],
    ['with a dash before all', '-a'],
    ['with an empty part', 'a..b'],
    ['of 254 characters', 'a'.repeat(254)],
  ])('ADM-WH-02: with a webhook name %s are refused', async (_what, name) => {
    expect(await refusal([aHook(aPlace, 'none')], name)).toEqual([422, expect.stringContaining('metadata.name: Invalid value')])
  })

  test('ADM-WH-02: may have webhook names with several parts', async () => {
    const name = await aConfiguration(api, 'validating', [aHook(aPlace, 'none')], 'hooks.team-1.example.com')
    expect((await api.get(pathOf('validating', name))).status).toBe(200)
  })

  test('ADM-WH-03: may have several webhooks, each of which is called', async () => {
    const [one, other] = [await aWebhookServer(allowing), await aWebhookServer(allowing)]
    const namespace = await aNamespace(api)
    await aConfiguration(api, 'validating', [aHook(one, namespace), aHook(other, namespace)])
    await created(api, configMapsIn(namespace), configMap({ name: 'a' }))
    expect([one.calls.length, other.calls.length]).toEqual([1, 1])
    const { status } = await tryConfiguration(api, 'validating', aHook(aPlace, 'none') as unknown as HookFields[])
    expect(status).toBe(400)
  })

  test.each([
    ['ADM-WH-05: rules that are no list', { rules: {} }, 400],
    ['ADM-WH-05: a rule that is no object', { rules: ['configmaps'] }, 400],
    ['ADM-WH-06: a place that is a text', { clientConfig: 'https://a.b/c' }, 400],
    ['ADM-WH-06: a place that is a list', { clientConfig: [{ url: 'https://a.b/c' }] }, 400],
  ])('%s: a configuration is refused', async (_what, fields, code) => {
    expect((await refusal([aHook(aPlace, 'none', fields)]))[0]).toBe(code)
  })

  test('ADM-WH-05, ADM-WH-06: have their webhook called at its address, for a match of any of its rules', async () => {
    const hook = await aWebhookServer(allowing)
    const rule = (resource: string) => ({ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: [resource] })
    const { namespace } = await aHookedNamespace(api, 'validating', hook, { rules: [rule('configmaps'), rule('secrets')] })
    const path = `/api/v1/namespaces/${namespace}`
    await created(api, `${path}/configmaps`, configMap({ name: 'a' }))
    await created(api, `${path}/secrets`, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'b' } })
    await created(api, `${path}/podtemplates`, {
      apiVersion: 'v1',
      kind: 'PodTemplate',
      metadata: { name: 'c' },
      template: { spec: aPod('x').spec },
    })
    expect(hook.calls.map(({ request }) => request.name)).toEqual(['a', 'b'])
  })
})
