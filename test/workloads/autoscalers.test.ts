import type { Client } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { refuse, type StartOptions, start, virtualClock } from 'orch'
import { expect, onTestFinished, test } from 'vitest'
import { aRemoteServer } from '../aggregation/remote-server.ts'

const namespace = 'team'
const labels = { app: 'web' }
const farms = { group: 'example.com', version: 'v1', plural: 'farms', namespaced: true }
const autoscalers = { group: 'autoscaling', version: 'v2', plural: 'horizontalpodautoscalers', namespaced: true }
const pods = { group: '', version: 'v1', plural: 'pods', namespaced: true }

interface Farm extends ApiObject {
  readonly spec: { readonly size: number }
}

interface Autoscaler extends ApiObject {
  readonly status?: {
    readonly currentMetrics?: readonly object[]
    readonly conditions?: readonly { readonly type: string; readonly reason: string; readonly message: string }[]
  }
}

/** A kind with the scale subresource that no controller manages. */
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'farms.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'farms', singular: 'farm', kind: 'Farm', listKind: 'FarmList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size', labelSelectorPath: '.status.selector' },
        },
      },
    ],
  },
}

/** A server whose only controller is the autoscaler, with an object of two Pods of 100m CPU that have been ready for an hour. */
async function aFarm(options: StartOptions = {}) {
  const clock = virtualClock({ start: new Date('2026-01-01T10:00:00Z') })
  const server = await start({
    clock,
    seed: 1,
    profile: 'kubernetes',
    version: '1.37',
    controllers: ['*', '-serviceaccount', '-root-ca-cert-publisher', 'horizontal-pod-autoscaler-controller'],
    ...options,
  })
  onTestFinished(() => server.stop())
  const { client } = server
  await client.objects.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  await client.objects.create(definition)
  await clock.advance(1_000)
  const farm = { apiVersion: 'example.com/v1', kind: 'Farm', metadata: { name: 'web', namespace }, spec: { size: 2 } }
  await client.resource<Farm>(farms).create(farm)
  await client
    .resource(farms)
    .patch('web', { status: { size: 2, selector: 'app=web' } }, { type: 'merge', namespace, subresource: 'status' })
  const addPod = async (name: string) => {
    const resources = { requests: { cpu: '100m' } }
    const spec = {
      containers: [
        { name: 'main', image: 'i', resources },
        { name: 'side', image: 'i', resources: { requests: { cpu: '0' } } },
      ],
    }
    await client.resource(pods).create({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, labels }, ...{ spec } })
    const since = '2026-01-01T09:00:00Z'
    const status = { phase: 'Running', startTime: since, conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: since }] }
    await client.resource(pods).patch(name, { status }, { type: 'merge', namespace, subresource: 'status' })
  }
  await addPod('a')
  await addPod('b')
  return {
    server,
    clock,
    client,
    addPod,
    scale: (metric: object, behavior?: object) => {
      const scaleTargetRef = { apiVersion: 'example.com/v1', kind: 'Farm', name: 'web' }
      const spec = { scaleTargetRef, minReplicas: 1, maxReplicas: 10, metrics: [metric], ...(behavior && { behavior }) }
      return client
        .resource(autoscalers)
        .create({ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'web', namespace }, ...{ spec } })
    },
    size: async () => (await client.resource<Farm>(farms).get('web', { namespace })).spec.size,
    autoscaler: () => client.resource<Autoscaler>(autoscalers).get('web', { namespace }),
    /** The CPU usage of both Pods. */
    use: async (cpu: string) => {
      for (const name of ['a', 'b']) await server.metrics.set(`${namespace}/${name}`, { cpu })
    },
  }
}

const halfOfCpu = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }

test('WL-HPA-01, WL-HPA-02, WL-HPA-07: an object of any kind with a scale follows the samples of metrics.set, evaluated at once and every 15 s', async () => {
  const { server, clock, client, scale, size, autoscaler, use } = await aFarm()
  await use('90m')
  await scale(halfOfCpu)
  await clock.advance(0)
  expect(await size()).toBe(4)
  await clock.advance(15_000)
  const { metadata, status } = await autoscaler()
  expect(status).toMatchObject({
    observedGeneration: 1,
    currentReplicas: 4,
    currentMetrics: [{ resource: { current: { averageUtilization: 90, averageValue: '90m' } } }],
  })
  // The controller does not write the same value again.
  await clock.advance(60_000)
  expect((await autoscaler()).metadata.resourceVersion).toBe(metadata.resourceVersion)
  const path = '/apis/metrics.k8s.io/v1beta1/namespaces/team/pods/a'
  expect(await client.request({ method: 'GET', path })).toMatchObject({
    kind: 'PodMetrics',
    metadata: { labels },
    timestamp: '2026-01-01T10:00:01Z',
    containers: [
      { name: 'main', usage: { cpu: '90m' } },
      { name: 'side', usage: { cpu: '0' } },
    ],
  })
  await expect(server.metrics.set('team/gone', { cpu: '1' })).rejects.toThrow('pods "gone" not found')
  await expect(server.metrics.set('a', { cpu: '1' })).rejects.toThrow('metrics of "a": expected NAMESPACE/POD')
})

test('WL-HPA-27, WL-COMMON-07: an autoscaler whose status met a conflict remembers what it has scaled until the next period', async () => {
  const { server, clock, scale, size, autoscaler, use } = await aFarm()
  const on = { user: /horizontal-pod-autoscaler/, subresource: 'status' }
  const fault = server.faults.add({ on, times: 1, effect: refuse(409, { always: true }) })
  await use('200m')
  await scale(halfOfCpu, { scaleUp: { policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }] } })
  await clock.advance(14_000)
  expect([fault.hits, await size()]).toEqual([1, 3])
  await clock.advance(2_000)
  expect([await size(), (await autoscaler()).status]).toMatchObject([3, { observedGeneration: 1 }])
})

test('WL-HPA-01: at level 1.36 the first evaluation is after one period', async () => {
  const { clock, scale, size, autoscaler, use } = await aFarm({ version: '1.36' })
  await use('90m')
  await scale(halfOfCpu)
  await clock.advance(14_999)
  expect(await size()).toBe(2)
  await clock.advance(1)
  expect(await size()).toBe(4)
  expect((await autoscaler()).status).not.toHaveProperty('observedGeneration')
})

test('WL-HPA-05: a container can be the metric source, and bounds need no metric', async () => {
  const { server, clock, client, scale, size, autoscaler } = await aFarm()
  for (const name of ['a', 'b']) await server.metrics.set(`${namespace}/${name}`, { main: { cpu: '10m' }, side: { cpu: '900m' } })
  await scale(
    {
      type: 'ContainerResource',
      containerResource: { name: 'cpu', container: 'main', target: { type: 'Utilization', averageUtilization: 10 } },
    },
    { scaleDown: { stabilizationWindowSeconds: 0 } },
  )
  await clock.advance(15_000)
  expect(await size()).toBe(2)
  await client.resource(farms).patch('web', { spec: { size: 30 } }, { type: 'merge', namespace })
  await clock.advance(15_000)
  expect([await size(), (await autoscaler()).status?.currentMetrics]).toEqual([10, null])
})

test('WL-HPA-24, WL-HPA-29, WL-COMMON-37, WL-COMMON-39: after a fall of the use Pods are removed five minutes later, and two runs store the same', async () => {
  const runs = []
  for (let run = 0; run < 2; run++) {
    const { server, clock, scale, size, use } = await aFarm()
    await use('50m')
    await scale(halfOfCpu)
    await clock.advance(60_000)
    await use('10m')
    await clock.advance(285_000)
    const before = await size()
    await clock.advance(30_000)
    runs.push({ before, after: await size(), dump: await server.dump() })
  }
  expect(runs.map(({ before, after }) => [before, after])).toEqual([
    [2, 1],
    [2, 1],
  ])
  expect(runs[0]?.dump).toBe(runs[1]?.dump)
})

/** The answers of a metrics server, by path without the query. */
const values: Readonly<Record<string, object>> = {
  '/apis/custom.metrics.k8s.io/v1beta2/namespaces/team/pods/*/queue': {
    items: [
      { describedObject: { name: 'a' }, value: '10' },
      { describedObject: { name: 'b' }, value: '20' },
    ],
  },
  '/apis/custom.metrics.k8s.io/v1beta2/namespaces/team/farms.example.com/web/load': {
    items: [{ describedObject: { name: 'web' }, value: '12' }],
  },
  '/apis/external.metrics.k8s.io/v1beta1/namespaces/team/jobs': { items: [{ value: '7' }, { value: '500m' }] },
}

interface ApiService extends ApiObject {
  readonly status?: { readonly conditions?: readonly { readonly status: string }[] }
}

async function untilAvailable(client: Client, name: string): Promise<void> {
  const reference = { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', name }
  for (let isAvailable = false; !isAvailable; ) {
    const { status } = await client.objects.get<ApiService>(reference)
    isAvailable = status?.conditions?.[0]?.status === 'True'
  }
}

test('WL-HPA-13, WL-HPA-20, WL-HPA-21, WL-HPA-22: metrics of Pods, of objects and external metrics come from servers of APIServices', async () => {
  const remote = await aRemoteServer(({ url }, response) => {
    const found = values[url.replace(/\?.*/, '')]
    const [, , group, version] = url.split(/[/?]/)
    const body = found ?? { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${group}/${version}`, resources: [] }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  })
  const { clock, client, scale, size, autoscaler } = await aFarm({ flags: [`--webhook-service-map=team/api=${remote.address}`] })
  const groups = [
    ['custom.metrics.k8s.io', 'v1beta2'],
    ['external.metrics.k8s.io', 'v1beta1'],
  ]
  for (const [group, version] of groups) {
    const service = { namespace, name: 'api' }
    const spec = { group, version, groupPriorityMinimum: 100, versionPriority: 100, service, caBundle: remote.caBundle }
    await client.objects.create({
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: `${version}.${group}` },
      ...{ spec },
    })
  }
  for (const [group, version] of groups) await untilAvailable(client, `${version}.${group}`)
  const behavior = { scaleDown: { stabilizationWindowSeconds: 0 } }
  await scale(
    {
      type: 'Pods',
      pods: { metric: { name: 'queue', selector: { matchLabels: { to: 'x' } } }, target: { type: 'AverageValue', averageValue: '5' } },
    },
    behavior,
  )
  await clock.advance(0)
  expect((await autoscaler()).status?.conditions?.map(({ message }) => message)).toContain(
    'the HPA was able to successfully calculate a replica count from pods metric queue',
  )
  expect(await size()).toBe(6)
  const url = remote.arrived.find(({ url: asked }) => asked.includes('/pods/*/'))?.url
  expect(decodeURIComponent(url ?? '')).toMatch(/\?labelSelector=app=web&metricLabelSelector=to=x$/)
  const measure = async (metric: object) => {
    await client.resource(autoscalers).patch('web', { spec: { metrics: [metric] } }, { type: 'merge', namespace })
    await clock.advance(0)
    return (await autoscaler()).status?.currentMetrics
  }
  const describedObject = { apiVersion: 'example.com/v1', kind: 'Farm', name: 'web' }
  const load = { metric: { name: 'load' }, describedObject, target: { type: 'Value', value: '6' } }
  expect(await measure({ type: 'Object', object: load })).toMatchObject([{ object: { current: { value: '12' } } }])
  expect(await size()).toBe(4)
  const jobs = { metric: { name: 'jobs' }, target: { type: 'AverageValue', averageValue: '2500m' } }
  expect(await measure({ type: 'External', external: jobs })).toMatchObject([{ external: { current: { averageValue: '3750m' } } }])
  expect(await size()).toBe(3)
  const other = { type: 'Object', object: { ...load, describedObject: { kind: 'Barn', name: 'x' } } }
  await measure(other)
  expect((await autoscaler()).status?.conditions?.find(({ type }) => type === 'ScalingActive')?.message).toBe(
    'the HPA was unable to compute the replica count: unable to get metric load on Barn team/x: unable to fetch metrics from custom metrics API: unable to map kind Barn to resource: no matches for kind "Barn" in group ""',
  )
})
