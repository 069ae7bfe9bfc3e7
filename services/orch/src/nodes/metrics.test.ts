import type { ApiObject } from '@orch/core/meta'
import { virtualClock } from '@orch/platform'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { type RunningServer, start } from '../start/start.ts'

interface Any extends ApiObject {
  readonly [member: string]: unknown
}

const clock = virtualClock({ start: new Date('2030-01-01T00:00:00Z') })
const namespace = 'default'
let server: RunningServer
beforeAll(async () => {
  server = await start({ profile: 'kubernetes', nodes: 2, clock, seed: 7 })
  return () => server.stop()
})
afterEach(() => server.reset())

const create = (object: Any) => server.client.objects.create(object)
const settled = () => server.settled({ within: 60_000 })
const get = (path: string, accept = 'application/json') =>
  server.client.request<Any>({ method: 'GET', path: `/apis/metrics.k8s.io/v1beta1/${path}`, headers: { accept } })
const refusal = (path: string) => get(path).catch((error: Error) => error.message)
const metadata = (name: string, rest: object = {}) => ({ name, namespace, ...rest })

/** A Deployment with the containers `main` and `side`, and an autoscaler with a target of half the requested CPU. */
async function anApplication(name: string): Promise<void> {
  const resources = { requests: { cpu: '100m', memory: '64Mi' } }
  const containers = ['main', 'side'].map((container) => ({ name: container, image: 'img:1', resources }))
  const labels = { app: name }
  const template = { metadata: { labels }, spec: { containers } }
  await create({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadata(name),
    spec: { selector: { matchLabels: labels }, template },
  })
}

test('NODE-MET-01, NODE-MET-02, NODE-MET-03, NODE-MET-04: metrics.k8s.io shows only nodes and running Pods, in order, with the usage in their scripts at that time', async () => {
  const containers = [{ name: 'main', usage: [{ cpu: '50m' }, { at: '30s', cpu: '1500m', memory: '1Gi' }] }]
  const spec = { selector: { matchLabels: { app: 'shown' } }, containers }
  await create({ apiVersion: 'simulation.orch.io/v1', kind: 'PodScript', metadata: metadata('shown'), spec })
  await settled()
  const pod = (name: string, nodeName?: string): Any => ({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: metadata(name, { labels: { app: 'shown' } }) },
    spec: {
      nodeName,
      containers: [
        { name: 'main', image: 'i' },
        { name: 'side', image: 'i' },
      ],
      nodeSelector: { none: 'such' },
    },
  })
  const { nodeSelector: _, ...bound } = pod('b', 'node-1')['spec'] as { readonly nodeSelector: object }
  for (const name of ['b', 'a']) await create({ ...pod(name), spec: { ...bound, nodeName: name === 'a' ? 'node-2' : 'node-1' } })
  await create(pod('waiting'))
  await settled()
  await clock.advance('5s')
  const usage = (cpu: string, memory: string) => ({ cpu, memory })
  const side = { name: 'side', usage: usage('1m', '20Mi') }
  const now = new Date(clock.now()).toISOString().replace('.000', '')
  const item = (name: string, main: object) => ({
    ...{ kind: 'PodMetrics', apiVersion: 'metrics.k8s.io/v1beta1' },
    metadata: { name, namespace, labels: { app: 'shown' }, creationTimestamp: now },
    timestamp: now,
    window: '5s',
    containers: [{ name: 'main', usage: main }, side],
  })
  const shown = `namespaces/${namespace}/pods?labelSelector=app%3Dshown`
  expect(await get(shown)).toEqual({
    ...{ kind: 'PodMetricsList', apiVersion: 'metrics.k8s.io/v1beta1', metadata: { resourceVersion: '' } },
    items: [item('a', usage('50m', '20Mi')), item('b', usage('50m', '20Mi'))],
  })
  await clock.advance('30s')
  const b = await get(`namespaces/${namespace}/pods/b`)
  expect(b).toMatchObject({ kind: 'PodMetrics', window: '15s', containers: [{ name: 'main', usage: usage('1500m', '1Gi') }, side] })
  expect(await get('nodes?fieldSelector=metadata.name%3Dnode-1')).toMatchObject({
    items: [{ metadata: { name: 'node-1', labels: { 'kubernetes.io/os': 'linux' } }, usage: usage('1551m', `${1024 + 220}Mi`) }],
  })
  expect(await get('nodes/node-2')).toMatchObject({ kind: 'NodeMetrics', usage: usage('1551m', '1244Mi') })
  const { columnDefinitions, rows } = await get(shown, 'application/json;as=Table;g=meta.k8s.io;v=v1')
  expect((columnDefinitions as readonly ApiObject[]).map(({ name }: Any) => name)).toEqual(['Name', 'cpu', 'memory', 'Window'])
  expect(rows).toMatchObject([{ cells: ['a', '1501m', '1044Mi', '15s'] }, { cells: ['b', '1501m', '1044Mi', '15s'] }])
  expect(await refusal(`namespaces/${namespace}/pods/waiting`)).toBe(`podmetrics.metrics.k8s.io "${namespace}/waiting" not found`)
  expect(await refusal(`namespaces/${namespace}/pods/none`)).toBe('pods "none" not found')
  expect(await refusal('nodes/none')).toBe('nodemetrics.metrics.k8s.io "none" not found')
  // A node that is off is not measured, and its Pods are not either.
  const node = server.nodes.get('node-2')
  node.stop()
  expect(await get(shown)).toMatchObject({ items: [{ metadata: { name: 'b' } }] })
  expect(await refusal('nodes/node-2')).toBe('nodemetrics.metrics.k8s.io "node-2" not found')
  await node.start()
})

test('NODE-MET-01: metrics.k8s.io has an available APIService, and two read-only resources', async () => {
  const service = await server.client.objects.get<Any>({
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    name: 'v1beta1.metrics.k8s.io',
  })
  expect(service).toMatchObject({
    spec: { groupPriorityMinimum: 100, versionPriority: 100 },
    status: { conditions: [{ type: 'Available', status: 'True', reason: 'Local' }] },
  })
  const { resources } = await get('')
  const verbs = ['get', 'list']
  expect(resources).toEqual([
    { name: 'nodes', singularName: 'nodemetrics', namespaced: false, kind: 'NodeMetrics', verbs },
    { name: 'pods', singularName: 'podmetrics', namespaced: true, kind: 'PodMetrics', verbs },
  ])
  const plain = await start({ profile: 'kubernetes' })
  const served = plain.client.request({ method: 'GET', path: '/apis/metrics.k8s.io/v1beta1' })
  await expect(served).rejects.toMatchObject({ code: 404 })
  await plain.stop()
})

test('NODE-MET-05, NODE-MET-07: an autoscaler follows the usage in a PodScript, and then the sample of a test', async () => {
  const spec = { selector: { matchLabels: { app: 'busy' } }, containers: [{ name: 'main', usage: [{ at: '1m', cpu: '190m' }] }] }
  await create({ apiVersion: 'simulation.orch.io/v1', kind: 'PodScript', metadata: metadata('busy'), spec })
  await settled()
  await anApplication('busy')
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'busy' }
  const metrics = [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }]
  await create({
    ...{ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: metadata('busy') },
    spec: { scaleTargetRef, minReplicas: 1, maxReplicas: 4, metrics },
  })
  const wanted = async () =>
    (await server.client.objects.get<Any & { spec: { replicas: number } }>({ ...scaleTargetRef, namespace })).spec.replicas
  await clock.advance('45s')
  await settled()
  expect(await wanted()).toBe(1)
  // The usage is 191m of 200m; the target is half.
  await clock.advance('45s')
  await settled()
  expect(await wanted()).toBe(2)
  const { items } = await server.client
    .resource<Any>({ group: '', version: 'v1', plural: 'pods', namespaced: true })
    .list({ namespace, labelSelector: 'app=busy' })
  const [first = ''] = items.map(({ metadata: { name = '' } }) => name).sort()
  await server.metrics.set(`${namespace}/${first}`, { cpu: '7', memory: '1Gi' })
  expect(await get(`namespaces/${namespace}/pods/${first}`)).toMatchObject({
    window: '0s',
    containers: [
      { name: 'main', usage: { cpu: '7' } },
      { name: 'side', usage: { cpu: '0' } },
    ],
  })
  await clock.advance('15s')
  await settled()
  expect(await wanted()).toBe(4)
  const nowhere = { containers: [{ name: 'main', image: 'i' }], nodeSelector: { none: 'such' } }
  await create({ apiVersion: 'v1', kind: 'Pod', metadata: metadata('waiting'), spec: nowhere })
  await expect(server.metrics.set(`${namespace}/waiting`, { cpu: '7' })).rejects.toThrow('the Pod is on no node')
})

test('NODE-MET-08: values that a test sets are served as custom and external metrics, and autoscalers follow them', async () => {
  const { client } = server
  await anApplication('queued')
  await clock.advance('1s')
  await settled()
  const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'queued' }
  const pods = client.resource<Any>({ group: '', version: 'v1', plural: 'pods', namespaced: true })
  const [pod = ''] = (await pods.list({ namespace, labelSelector: 'app=queued' })).items.map(({ metadata: { name } }) => name)
  await server.metrics.setCustom('pods', `${namespace}/${pod}`, { queue: 30 }, { topic: 'orders' })
  await server.metrics.setCustom('pods', `${namespace}/gone`, { queue: 9 })
  await server.metrics.setCustom('deployments.apps', `${namespace}/queued`, { requests: '1500m' })
  await server.metrics.setCustom('namespaces', namespace, { hits: 3 })
  await server.metrics.setExternal(namespace, { jobs: 7 }, { queue: 'mail' })
  await server.metrics.setExternal(namespace, { jobs: 5 }, { queue: 'print' })
  const read = (path: string) => client.request<Any>({ method: 'GET', path: `/apis/${path}` })
  const custom = `custom.metrics.k8s.io/v1beta2/namespaces/${namespace}`
  const timestamp = expect.stringMatching(/^2030-/)
  const ofPod = {
    describedObject: { apiVersion: 'v1', kind: 'Pod', namespace, name: pod },
    ...{ metric: { name: 'queue', selector: null }, timestamp, value: '30' },
  }
  const list = { kind: 'MetricValueList', apiVersion: 'custom.metrics.k8s.io/v1beta2', metadata: {} }
  expect(await read(`${custom}/pods/*/queue?labelSelector=app%3Dqueued&metricLabelSelector=topic%3Dorders`)).toEqual({
    ...list,
    items: [ofPod],
  })
  expect(await read(`${custom}/pods/${pod}/queue`)).toEqual({ ...list, items: [ofPod] })
  expect(await read(`${custom}/deployments.apps/queued/requests`)).toMatchObject({
    items: [{ describedObject: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'queued' }, value: '1500m' }],
  })
  expect(await read(`${custom}/metrics/hits`)).toMatchObject({
    items: [{ describedObject: { kind: 'Namespace', name: namespace }, value: '3' }],
  })
  expect(await read(`external.metrics.k8s.io/v1beta1/namespaces/${namespace}/jobs?labelSelector=queue%3Dmail`)).toEqual({
    ...{ kind: 'ExternalMetricValueList', apiVersion: 'external.metrics.k8s.io/v1beta1', metadata: {} },
    items: [{ metricName: 'jobs', metricLabels: { queue: 'mail' }, timestamp, value: '7' }],
  })
  const missing = read(`${custom}/pods/*/queue?metricLabelSelector=topic%3Dnone`)
  await expect(missing).rejects.toMatchObject({ code: 404, message: 'the server could not find the metric queue for pods' })
  await expect(read(`${custom}/pods/gone/queue`)).rejects.toThrow('the server could not find the metric queue for pods gone')
  const metrics = [
    { type: 'Pods', pods: { metric: { name: 'queue' }, target: { type: 'AverageValue', averageValue: '10' } } },
    { type: 'External', external: { metric: { name: 'jobs' }, target: { type: 'AverageValue', averageValue: '6' } } },
  ]
  const spec = { scaleTargetRef: target, minReplicas: 1, maxReplicas: 9, metrics }
  await create({ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: metadata('queued'), spec })
  const wanted = async () => (await client.objects.get<Any & { spec: { replicas: number } }>({ ...target, namespace })).spec.replicas
  await clock.advance('15s')
  await settled()
  expect(await wanted()).toBe(3)
  await expect(server.metrics.setExternal(namespace, { jobs: 'many' })).rejects.toThrow('metric jobs: "many" is no quantity')
  await expect(server.metrics.setCustom('pods', 'a/b/c', { queue: 1 })).rejects.toThrow('expected NAMESPACE/NAME')
  await server.reset()
  await expect(read(`${custom}/pods/*/queue`)).rejects.toMatchObject({ code: 404 })
})
