import { describe, expect, test } from 'vitest'
import { countingOf, resourceCountedBy } from '../catalogue/countings.ts'
import { completePodAmounts } from '../catalogue/defaults/pod-amounts.ts'
import { namesOf } from '../names.ts'
import { addAmounts, describeAmounts, growthOf, negativeNames, parseAmounts, printAmounts, sameAmounts } from './amounts.ts'
import { roomIn } from './check.ts'
import { uncoveredUse } from './limited.ts'
import { qosClassOf } from './pod-amounts.ts'
import { isQuotaFor, usageIn } from './usage.ts'

const names = namesOf('orch')
const pods = countingOf(names, { group: '', resource: 'pods' })
const services = countingOf(names, { group: '', resource: 'services' })
const claims = countingOf(names, { group: '', resource: 'persistentvolumeclaims' })
const nowMs = Date.parse('2026-01-01T00:00:00Z')

const aContainer = (requests: Record<string, string>, limits: Record<string, string> = {}, name = 'c') => ({
  name,
  resources: { requests, limits },
})
const usageOf = (object: unknown, counting = pods) => printAmounts(counting.usage(object, nowMs))

test('KIND-RQ-15: a pod counts for the sum of its containers’ requests', () => {
  const pod = {
    spec: { containers: [aContainer({ cpu: '500m', memory: '1Gi' }, { cpu: '1' }), aContainer({ cpu: '250m' }, { cpu: '1' })] },
  }
  expect(usageOf(pod)).toEqual({
    ...{ 'count/pods': '1', pods: '1', cpu: '750m', 'requests.cpu': '750m', memory: '1Gi', 'requests.memory': '1Gi', 'limits.cpu': '2' },
  })
})

test('KIND-RQ-15: init containers count by their maximum, and overhead is added', () => {
  const spec = {
    containers: [aContainer({ cpu: '1' })],
    initContainers: [aContainer({ cpu: '3' }), aContainer({ cpu: '2' })],
    overhead: { cpu: '100m', memory: '1Mi' },
  }
  expect(usageOf({ spec })).toMatchObject({ 'requests.cpu': '3100m', 'requests.memory': '1Mi' })
  expect(usageOf({ spec })).not.toHaveProperty('limits.cpu')
})

test('KIND-RQ-15: huge pages, extended resources and local storage are counted by their names', () => {
  const requests = { 'hugepages-2Mi': '4Mi', 'example.com/gpu': '2', 'ephemeral-storage': '1G' }
  expect(usageOf({ spec: { containers: [aContainer(requests, requests)] } })).toEqual({
    'count/pods': '1',
    pods: '1',
    'ephemeral-storage': '1G',
    'requests.ephemeral-storage': '1G',
    'limits.ephemeral-storage': '1G',
    'hugepages-2Mi': '4Mi',
    'requests.hugepages-2Mi': '4Mi',
    'requests.example.com/gpu': '2',
  })
})

test.each([
  ['Exists', [], true, false],
  ['DoesNotExist', [], false, true],
  ['In', ['gold'], true, false],
  ['NotIn', ['gold'], false, true],
])(
  'KIND-RQ-06: %s of VolumeAttributesClass selects claims by their requested or current classes',
  (operator, values, withClass, without) => {
    const isIn = (claim: object) => claims.isInScope(claim, { scopeName: 'VolumeAttributesClass', operator, values })
    expect(isIn({ spec: { volumeAttributesClassName: 'gold' } })).toBe(withClass)
    expect(isIn({ spec: {}, status: { currentVolumeAttributesClassName: 'gold' } })).toBe(withClass)
    expect(isIn({ spec: {}, status: { modifyVolumeStatus: { targetVolumeAttributesClassName: 'gold' } } })).toBe(withClass)
    expect(isIn({ spec: {} })).toBe(without)
    expect(pods.isInScope({ spec: {} }, { scopeName: 'VolumeAttributesClass', operator, values })).toBe(false)
  },
)

test('KIND-RQ-15: sidecars count beside containers and later init containers', () => {
  const spec = {
    containers: [aContainer({ cpu: '1' }), aContainer({ cpu: '2' })],
    initContainers: [{ ...aContainer({ cpu: '1' }), restartPolicy: 'Always' }, aContainer({ cpu: '4' })],
  }
  expect(usageOf({ spec })).toMatchObject({ 'requests.cpu': '5' })
})

test('TODAY-POD-06: resources of a pod replace the resources of its containers, and satisfy a quota that requires them', () => {
  const resources = { requests: { cpu: '3' }, limits: { cpu: '4', memory: '1Gi' } }
  const spec = { containers: [aContainer({ cpu: '1', memory: '1Mi' })], resources }
  expect(usageOf({ spec })).toMatchObject({ 'requests.cpu': '3', 'limits.cpu': '4', 'requests.memory': '1Mi', 'limits.memory': '1Gi' })
  expect(pods.omissions({ spec: { containers: [{ name: 'c' }], resources } }, ['requests.cpu'])).toBeUndefined()
  expect(qosClassOf({ containers: [{}], resources: { requests: { cpu: '1', memory: '1' }, limits: { cpu: '1000m', memory: '1' } } })).toBe(
    'Guaranteed',
  )
})

test.each([
  ['limits become requests', {}, { limits: { cpu: '2' } }, 34, { limits: { cpu: '2' }, requests: { cpu: '2' } }],
  [
    'containers make the request',
    { requests: { cpu: '1' } },
    { limits: { cpu: '2' } },
    34,
    { limits: { cpu: '2' }, requests: { cpu: '1' } },
  ],
  [
    'huge pages of containers are those of the pod',
    { limits: { 'hugepages-2Mi': '4Mi' } },
    { requests: { cpu: '1' } },
    34,
    { limits: { 'hugepages-2Mi': '4Mi' }, requests: { cpu: '1', 'hugepages-2Mi': '4Mi' } },
  ],
  ['requests alone stay before 1.37', { limits: { cpu: '3' } }, { requests: { cpu: '1' } }, 36, { limits: {}, requests: { cpu: '1' } }],
  [
    'limits of all containers are one of the pod',
    { limits: { cpu: '3' } },
    { requests: { cpu: '1' } },
    37,
    { limits: { cpu: '3' }, requests: { cpu: '1' } },
  ],
])('TODAY-POD-06: resources of a pod get their defaults: %s', (_, ofContainer, resources, level, expected) => {
  expect(completePodAmounts({ containers: [{ resources: ofContainer }], resources }, level)).toEqual(expected)
})

test.each([
  ['it has failed', { status: { phase: 'Failed' } }],
  ['it has succeeded', { status: { phase: 'Succeeded' } }],
  ['its time to end is over', { metadata: { deletionTimestamp: '2025-12-31T23:59:00Z', deletionGracePeriodSeconds: 30 } }],
])('KIND-RQ-13: a pod is counted but uses nothing when %s', (_, part) => {
  expect(usageOf({ ...part, spec: { containers: [aContainer({ cpu: '1' })] } })).toEqual({ 'count/pods': '1' })
})

test.each([
  ['ClusterIP', { type: 'ClusterIP', ports: [{}] }, '0', '0'],
  ['NodePort', { type: 'NodePort', ports: [{}, {}] }, '2', '0'],
  ['LoadBalancer', { type: 'LoadBalancer', ports: [{}, {}] }, '2', '1'],
  [
    'LoadBalancer without ports of nodes',
    { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports: [{}, { nodePort: 30001 }] },
    '1',
    '1',
  ],
])('KIND-RQ-15: a Service of type %s uses the expected amounts', (_, spec, nodePorts, loadBalancers) => {
  expect(usageOf({ spec }, services)).toEqual({
    services: '1',
    'count/services': '1',
    'services.nodeports': nodePorts,
    'services.loadbalancers': loadBalancers,
  })
})

test('KIND-RQ-15: a claim counts for its storage, also in its class', () => {
  const spec = { storageClassName: 'gold', resources: { requests: { storage: '5Gi' } } }
  expect(usageOf({ spec }, claims)).toEqual({
    persistentvolumeclaims: '1',
    'count/persistentvolumeclaims': '1',
    'requests.storage': '5Gi',
    'gold.storageclass.storage.orch.io/persistentvolumeclaims': '1',
    'gold.storageclass.storage.orch.io/requests.storage': '5Gi',
  })
  const metadata = { annotations: { 'volume.beta.orch.io/storage-class': 'silver' } }
  expect(usageOf({ metadata, spec }, claims)).toHaveProperty(['silver.storageclass.storage.orch.io/requests.storage'], '5Gi')
})

test('KIND-RQ-15: other resources are counted by number', () => {
  expect(usageOf({}, countingOf(names, { group: 'apps', resource: 'deployments' }))).toEqual({ 'count/deployments.apps': '1' })
  expect(usageOf({}, countingOf(names, { group: '', resource: 'secrets' }))).toEqual({ secrets: '1', 'count/secrets': '1' })
  expect(usageOf({}, countingOf(names, { group: '', resource: 'endpoints' }))).toEqual({ 'count/endpoints': '1' })
})

test.each([
  ['count/widgets.example.com', { group: 'example.com', resource: 'widgets' }],
  ['count/pods', { group: '', resource: 'pods' }],
  ['requests.cpu', { group: '', resource: 'pods' }],
  ['limits.memory', { group: '', resource: 'pods' }],
  ['requests.example.com/gpu', { group: '', resource: 'pods' }],
  ['services.nodeports', { group: '', resource: 'services' }],
  ['requests.storage', { group: '', resource: 'persistentvolumeclaims' }],
  ['gold.storageclass.storage.orch.io/requests.storage', { group: '', resource: 'persistentvolumeclaims' }],
  ['configmaps', { group: '', resource: 'configmaps' }],
  ['something', undefined],
])('KIND-RQ-15: %s belongs to its resource', (name, resource) => {
  expect(resourceCountedBy(names, name)).toEqual(resource)
})

const bestEffort = { spec: { containers: [aContainer({})] } }
const burstable = { spec: { containers: [aContainer({ memory: '1Mi' })], activeDeadlineSeconds: 5, priorityClassName: 'high' } }
const awayFromOthers = {
  spec: {
    affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ podAffinityTerm: { namespaceSelector: {} } }] } },
  },
}

test.each([
  ['BestEffort', bestEffort, true],
  ['BestEffort', burstable, false],
  ['NotBestEffort', bestEffort, false],
  ['NotBestEffort', burstable, true],
  ['Terminating', bestEffort, false],
  ['Terminating', burstable, true],
  ['NotTerminating', bestEffort, true],
  ['NotTerminating', burstable, false],
  ['PriorityClass', bestEffort, false],
  ['PriorityClass', burstable, true],
  ['CrossNamespacePodAffinity', bestEffort, false],
  ['CrossNamespacePodAffinity', awayFromOthers, true],
])('KIND-RQ-04: the scope %s matches the Pods that it should (%#)', (scopeName, pod, isIn) => {
  expect(isQuotaFor({ scopes: [scopeName] }, parseAmounts({ pods: '1' }), pods, pod)).toBe(isIn)
})

test.each([
  ['In', ['high', 'low'], true, false],
  ['In', ['low'], false, false],
  ['NotIn', ['high'], false, true],
  ['Exists', [], true, false],
  ['DoesNotExist', [], false, true],
])('KIND-RQ-08: a scope matches a priority class by %s %s', (operator, values, high, none) => {
  const spec = { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator, values }] } }
  const hard = parseAmounts({ pods: '1' })
  expect([isQuotaFor(spec, hard, pods, burstable), isQuotaFor(spec, hard, pods, bestEffort)]).toEqual([high, none])
})

test('KIND-RQ-06: scopes and selector must both match, and a quota with scopes counts only pods', () => {
  const spec = {
    scopes: ['Terminating'],
    scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['low'] }] },
  }
  expect(isQuotaFor(spec, parseAmounts({ pods: '1' }), pods, burstable)).toBe(false)
  expect(isQuotaFor({ scopes: ['Terminating'] }, parseAmounts({ services: '1' }), services, {})).toBe(false)
})

test('KIND-RQ-13: only the limited resources of a quota are counted in it', () => {
  const hard = parseAmounts({ 'limits.cpu': '1', pods: '5' })
  expect(printAmounts(usageIn({ spec: {}, hard }, pods, burstable, nowMs))).toEqual({ pods: '1' })
})

test('ADM-BI-21: a container without a limited resource is named', () => {
  const pod = {
    spec: {
      containers: [aContainer({ cpu: '1' }, {}, 'b'), aContainer({}, { memory: '1Mi' }, 'a')],
      initContainers: [aContainer({}, {}, 'i')],
    },
  }
  expect(pods.omissions(pod, ['limits.memory', 'requests.cpu', 'pods'])).toBe('must specify limits.memory for: b,i; requests.cpu for: a,i')
  expect(pods.omissions({ spec: { containers: [aContainer({ cpu: '1' })] } }, ['cpu', 'pods'])).toBeUndefined()
})

test('ADM-BI-21: the message of a refusal names only exceeded resources', () => {
  const quota = {
    quota: 'q',
    hard: parseAmounts({ pods: '50', 'requests.cpu': '1' }),
    used: parseAmounts({ pods: '50', 'requests.cpu': '200m' }),
  }
  expect(roomIn({ ...quota, requested: parseAmounts({ pods: '1', 'requests.cpu': '1' }) })).toEqual({
    kind: 'exceeded',
    message: 'exceeded quota: q, requested: pods=1,requests.cpu=1, used: pods=50,requests.cpu=200m, limited: pods=50,requests.cpu=1',
  })
  expect(roomIn({ ...quota, requested: parseAmounts({ 'requests.cpu': '800m' }) })).toEqual({ kind: 'room' })
})

test('amounts are added, compared and printed in alphabetical order', () => {
  const sum = addAmounts(parseAmounts({ memory: '1Gi', cpu: '500m' }), parseAmounts({ cpu: '0.5', pods: '1' }))
  expect(describeAmounts(sum)).toBe('cpu=1,memory=1Gi,pods=1')
  expect(sameAmounts(sum, parseAmounts({ cpu: '1000m', memory: '1024Mi', pods: '1' }))).toBe(true)
  expect(sameAmounts(sum, parseAmounts({ cpu: '1' }))).toBe(false)
  expect(printAmounts(growthOf(parseAmounts({ a: '5', b: '1' }), parseAmounts({ a: '3', b: '2', c: '1' })))).toEqual({ b: '1', c: '1' })
  expect(negativeNames(parseAmounts({ a: '-1', b: '0' }))).toEqual(['a'])
})

test('a resource limited to quotas is refused without one', () => {
  const limited = [
    {
      apiGroup: '',
      resource: 'pods',
      matchContains: ['cpu'],
      matchScopes: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }],
    },
  ]
  const use = { counting: pods, object: burstable, usage: parseAmounts({ 'requests.cpu': '1', pods: '1' }) }
  expect(uncoveredUse(limited, use, { names: new Set(), scopes: [] })).toBe('insufficient quota to consume: requests.cpu')
  const covered = new Set(['requests.cpu'])
  expect(uncoveredUse(limited, use, { names: covered, scopes: [] })).toBe(
    'insufficient quota to match these scopes: [{PriorityClass In [high]}]',
  )
  expect(uncoveredUse(limited, use, { names: covered, scopes: [{ scopeName: 'PriorityClass', operator: 'Exists' }] })).toBeUndefined()
  expect(uncoveredUse(limited, { ...use, object: bestEffort }, { names: covered, scopes: [] })).toBeUndefined()
})

describe('KIND-RQ-15: a pod counts for', () => {
  const requestsOf = (spec: object) => usageOf({ spec })

  test('the larger of the sum of its containers and each init container, by resource', () => {
    const spec = {
      containers: [aContainer({ cpu: '1', memory: '1Gi' }), aContainer({ cpu: '1' })],
      initContainers: [aContainer({ cpu: '1500m', memory: '2Gi', 'ephemeral-storage': '1G' })],
    }
    expect(requestsOf(spec)).toMatchObject({ 'requests.cpu': '2', 'requests.memory': '2Gi', 'requests.ephemeral-storage': '1G' })
  })

  test('the limits of init containers too', () => {
    const spec = { containers: [aContainer({}, { cpu: '1' })], initContainers: [aContainer({}, { cpu: '3', memory: '1Gi' })] }
    expect(requestsOf(spec)).toEqual({ 'count/pods': '1', pods: '1', 'limits.cpu': '3', 'limits.memory': '1Gi' })
  })

  test('its overhead, and in limits only if limits are set', () => {
    const spec = { containers: [aContainer({}, { cpu: '1' })], overhead: { cpu: '100m', memory: 'x' } }
    expect(requestsOf(spec)).toEqual({ 'count/pods': '1', pods: '1', cpu: '100m', 'requests.cpu': '100m', 'limits.cpu': '1100m' })
  })

  test('no invalid quantities, no limits on extended resources, and nothing without containers', () => {
    const limits = { 'example.com/gpu': '2', 'hugepages-2Mi': '4Mi' }
    expect(requestsOf({ containers: [aContainer({ cpu: 'x', memory: '1Mi' }, limits), {}] })).toEqual({
      ...{ 'count/pods': '1', pods: '1', memory: '1Mi', 'requests.memory': '1Mi' },
    })
    for (const pod of [{}, { spec: {} }, { metadata: {}, status: {} }]) expect(usageOf(pod)).toEqual({ 'count/pods': '1', pods: '1' })
  })
})

test.each([
  ['it runs', { status: { phase: 'Running' } }],
  ['it is not being deleted', { metadata: { deletionTimestamp: null, deletionGracePeriodSeconds: 30 } }],
  ['it is being deleted without a grace period', { metadata: { deletionTimestamp: '2020-01-01T00:00:00Z' } }],
  ['its time to end is now', { metadata: { deletionTimestamp: '2025-12-31T23:59:30Z', deletionGracePeriodSeconds: 30 } }],
  ['the end of its time cannot be read', { metadata: { deletionTimestamp: 'x', deletionGracePeriodSeconds: 30 } }],
])('KIND-RQ-13: a pod still uses its requests when %s', (_, part) => {
  expect(usageOf({ ...part, spec: { containers: [aContainer({ cpu: '1' })] } })).toHaveProperty(['requests.cpu'], '1')
})

test('KIND-RQ-13: a pod uses nothing a second after its deletion deadline', () => {
  const metadata = { deletionTimestamp: '2025-12-31T23:59:29Z', deletionGracePeriodSeconds: 30 }
  expect(usageOf({ metadata, spec: { containers: [aContainer({ cpu: '1' })] } })).toEqual({ 'count/pods': '1' })
})

test.each([
  ...['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory', 'pods', 'count/pods'],
  ...['ephemeral-storage', 'requests.ephemeral-storage', 'limits.ephemeral-storage', 'hugepages-2Mi', 'requests.hugepages-1Gi'],
  'requests.example.com/gpu',
])('KIND-RQ-15: %s counts pods', (name) => {
  expect([pods.concerns(name), resourceCountedBy(names, name)]).toEqual([true, { group: '', resource: 'pods' }])
})

test.each([
  'limits.hugepages-2Mi',
  'x.hugepages-2Mi',
  'limits.example.com/gpu',
  'example.com/gpu',
  'requests.storage',
  'count/services',
  'services',
])('KIND-RQ-15: %s does not count pods', (name) => {
  expect(pods.concerns(name)).toBe(false)
})

test.each([
  [services, ['services', 'count/services', 'services.nodeports', 'services.loadbalancers'], ['pods', 'count/pods', 'nodeports']],
  [
    claims,
    [
      ...['persistentvolumeclaims', 'count/persistentvolumeclaims', 'requests.storage'],
      ...['gold.storageclass.storage.orch.io/requests.storage', 'gold.storageclass.storage.orch.io/persistentvolumeclaims'],
    ],
    ['pods', 'gold.storageclass.storage.orch.io/other', 'gold.storageclass.storage.example.io/requests.storage'],
  ],
  [countingOf(names, { group: '', resource: 'secrets' }), ['secrets', 'count/secrets'], ['configmaps', 'count/configmaps']],
  [countingOf(names, { group: 'apps', resource: 'secrets' }), ['count/secrets.apps'], ['secrets', 'count/secrets']],
  [countingOf(names, { group: 'apps', resource: 'pods' }), ['count/pods.apps'], ['pods', 'count/pods', 'requests.cpu']],
])('KIND-RQ-15: quota names of a resource: %#', (counting, own, others) => {
  expect([own.filter(counting.concerns), others.filter(counting.concerns)]).toEqual([own, []])
})

test('TODAY-QUOTA-01: a claim for devices counts the maximum of each device class', () => {
  const counting = countingOf(names, { group: 'resource.orch.io', resource: 'resourceclaims' })
  const exactly = (deviceClassName: string, count: number) => ({ deviceClassName, allocationMode: 'ExactCount', count })
  const requests = [
    { exactly: exactly('gold', 2) },
    { firstAvailable: [exactly('gold', 1), exactly('gold', 3), { deviceClassName: 'tin', allocationMode: 'All' }] },
    { exactly: { deviceClassName: 'tin', allocationMode: 'Newer', count: 9 } },
  ]
  const suffix = 'deviceclass.resource.orch.io/devices'
  const own = 'count/resourceclaims.resource.orch.io'
  expect(usageOf({ spec: { devices: { requests } } }, counting)).toEqual({ [own]: '1', [`gold.${suffix}`]: '5', [`tin.${suffix}`]: '32' })
  expect(usageOf({ spec: {} }, counting)).toEqual({ [own]: '1' })
  expect([own, `gold.${suffix}`, 'count/resourceclaims', 'gold.deviceclass.resource.example.io/devices'].map(counting.concerns)).toEqual([
    ...[true, true, false, false],
  ])
})

test('ADM-BI-21: objects with variable use are counted at each change, and others by number', () => {
  const told = (counting: typeof pods) => [counting.resource.resource, counting.countsUpdates, counting.looksInside]
  const secrets = countingOf(names, { group: '', resource: 'secrets' })
  expect([pods, services, claims, secrets].map(told)).toEqual([
    ['pods', false, true],
    ['services', true, true],
    ['persistentvolumeclaims', true, true],
    ['secrets', false, false],
  ])
  expect(pods.resource).toEqual({ group: '', resource: 'pods' })
  expect([services, claims, secrets].map(({ omissions }) => omissions({}, ['pods']))).toEqual([undefined, undefined, undefined])
  for (const { resource } of [services, claims]) expect(resource.group).toBe('')
})

test('KIND-RQ-15: a Service without ports or type counts no node ports', () => {
  const none = { services: '1', 'count/services': '1', 'services.nodeports': '0', 'services.loadbalancers': '0' }
  for (const service of [{}, { spec: {} }, { spec: { type: 'NodePort' } }]) expect(usageOf(service, services)).toEqual(none)
  const ports = [{ nodePort: 0 }, {}, { nodePort: 30_001 }]
  const balanced = (allocateLoadBalancerNodePorts?: boolean) =>
    usageOf({ spec: { type: 'LoadBalancer', ports, allocateLoadBalancerNodePorts } }, services)['services.nodeports']
  expect([balanced(), balanced(true), balanced(false)]).toEqual(['3', '3', '1'])
})

test('KIND-RQ-15: a claim without a class or storage counts by number, and storage counts in whole bytes', () => {
  const plain = { persistentvolumeclaims: '1', 'count/persistentvolumeclaims': '1' }
  for (const claim of [{}, { spec: {} }, { spec: { resources: { requests: { storage: 'x' } } } }])
    expect(usageOf(claim, claims)).toEqual(plain)
  const classed = { ...plain, 'gold.storageclass.storage.orch.io/persistentvolumeclaims': '1' }
  expect(usageOf({ metadata: {}, spec: { storageClassName: 'gold', resources: {} } }, claims)).toEqual(classed)
  expect(usageOf({ spec: { resources: { requests: { storage: '1500m' } } } }, claims)).toEqual({ ...plain, 'requests.storage': '2' })
})

test('KIND-RQ-15: a count quota of a resource in a group has the full group name', () => {
  expect(resourceCountedBy(names, 'count/widgets.sub.example.com')).toEqual({ group: 'sub.example.com', resource: 'widgets' })
  expect(['resourcequotas', 'replicationcontrollers', 'secrets'].map((name) => resourceCountedBy(names, name))).toEqual(
    ['resourcequotas', 'replicationcontrollers', 'secrets'].map((resource) => ({ group: '', resource })),
  )
  expect(resourceCountedBy(names, 'endpoints')).toBeUndefined()
})

describe('KIND-RQ-04: a scope', () => {
  const isIn = (scopeName: string, pod: object) => isQuotaFor({ scopes: [scopeName] }, parseAmounts({ pods: '1' }), pods, pod)

  test.each([
    ['requests of a container', { containers: [aContainer({ cpu: '1' })] }],
    ['limits of a container', { containers: [aContainer({}), aContainer({}, { memory: '1Mi' })] }],
    ['requests of a container that initializes', { initContainers: [aContainer({ memory: '1Mi' })] }],
    ['one of two resources', { containers: [aContainer({ cpu: '0', memory: '1' })] }],
  ])('BestEffort excludes %s', (_, spec) => {
    expect([isIn('BestEffort', { spec }), isIn('NotBestEffort', { spec })]).toEqual([false, true])
  })

  test.each([
    ['other resources', { containers: [aContainer({ 'example.com/gpu': '1', 'ephemeral-storage': '1G' })] }],
    ['amounts of zero', { containers: [aContainer({ cpu: '0' }, { memory: '0' })] }],
    ['what is no quantity', { containers: [aContainer({ cpu: 'x' })] }],
    ['nothing', undefined],
    ['containers without resources', { containers: [{}] }],
  ])('BestEffort includes %s', (_, spec) => {
    expect([isIn('BestEffort', { spec }), isIn('NotBestEffort', { spec })]).toEqual([true, false])
  })

  test('Terminating matches a deadline of zero, and no pod without a deadline', () => {
    const withDeadline = (activeDeadlineSeconds?: number) => ({ spec: { activeDeadlineSeconds } })
    expect([isIn('Terminating', withDeadline(0)), isIn('NotTerminating', withDeadline(0))]).toEqual([true, false])
    expect([isIn('Terminating', {}), isIn('NotTerminating', {})]).toEqual([false, true])
  })

  test.each<[string, object, boolean]>([
    [
      'a required term that names namespaces',
      { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ namespaces: ['x'] }] } },
      true,
    ],
    [
      'a required term that selects some',
      { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{}, { namespaceSelector: {} }] } },
      true,
    ],
    [
      'a preferred term',
      { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ podAffinityTerm: { namespaces: ['x'] } }] } },
      true,
    ],
    [
      'no term of its own namespace',
      { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ namespaces: [] }, { namespaceSelector: null }] } },
      false,
    ],
    ['no preference without a term', { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{}] } }, false],
    ['no affinity without terms', { podAffinity: {}, podAntiAffinity: {} }, false],
  ])('CrossNamespacePodAffinity matches %s', (_, affinity, expected) => {
    expect(isIn('CrossNamespacePodAffinity', { spec: { affinity } })).toBe(expected)
  })

  test('that is unknown matches nothing, and PriorityClass matches no pod without a name', () => {
    expect([isIn('Other', {}), isIn('PriorityClass', {}), isIn('CrossNamespacePodAffinity', {})]).toEqual([false, false, false])
  })
})

test('KIND-RQ-05: all expressions of a selector must hold', () => {
  const of = (...scopeNames: string[]) => ({
    scopeSelector: { matchExpressions: scopeNames.map((scopeName) => ({ scopeName, operator: 'Exists' })) },
  })
  const hard = parseAmounts({ pods: '1' })
  expect(isQuotaFor(of('Terminating', 'PriorityClass'), hard, pods, burstable)).toBe(true)
  expect(isQuotaFor(of('Terminating', 'BestEffort'), hard, pods, burstable)).toBe(false)
  expect(isQuotaFor({ scopeSelector: {} }, hard, pods, burstable)).toBe(true)
  expect(isQuotaFor({}, parseAmounts({ services: '1', pods: '1' }), pods, burstable)).toBe(true)
  expect(isQuotaFor({}, parseAmounts({ services: '1' }), pods, burstable)).toBe(false)
  expect(printAmounts(usageIn({ spec: {}, hard: parseAmounts({ services: '1' }) }, pods, burstable, nowMs))).toEqual({})
})

test('ADM-BI-21: containers without a required value are named once each, with the missing resources', () => {
  const omissionsOf = (containers: object[], ...asked: string[]) => pods.omissions({ spec: { containers } }, asked)
  expect(omissionsOf([aContainer({ memory: '1' }, { cpu: '1' }, 'a')], 'requests.memory', 'memory', 'limits.cpu')).toBeUndefined()
  expect(omissionsOf([aContainer({ memory: '1' }, { cpu: '1' }, 'a')], 'limits.memory', 'cpu', 'memory')).toBe(
    'must specify cpu for: a; limits.memory for: a',
  )
  expect(omissionsOf([aContainer({}, {}, 'b'), aContainer({}, {}, 'a'), aContainer({}, {}, 'b')], 'requests.cpu')).toBe(
    'must specify requests.cpu for: a,b',
  )
  expect(omissionsOf([{}], 'cpu', 'ephemeral-storage')).toBe('must specify cpu for: ')
  expect(pods.omissions({}, ['cpu'])).toBeUndefined()
})

describe('amounts', () => {
  test('are equal by values and names, and invalid amounts equal none', () => {
    const of = parseAmounts
    expect([sameAmounts(of({}), of({})), sameAmounts(of({ a: '1' }), of({})), sameAmounts(of({}), of({ a: '1' }))]).toEqual([
      true,
      false,
      false,
    ])
    expect([sameAmounts(of({ a: '1' }), of({ b: '1' })), sameAmounts(of({ a: '1', b: '1' }), of({ a: '1', b: '2' }))]).toEqual([
      false,
      false,
    ])
    expect([parseAmounts(undefined).size, parseAmounts({ a: 'x', b: 1 }).size]).toEqual([0, 1])
  })

  test('are added without changing either operand', () => {
    const [left, right] = [parseAmounts({ a: '1' }), parseAmounts({ a: '1', b: '1' })]
    expect([printAmounts(addAmounts(left, right)), printAmounts(left)]).toEqual([{ a: '2', b: '1' }, { a: '1' }])
    expect(addAmounts(left, parseAmounts({}))).toBe(left)
  })

  test('are listed in alphabetical order', () => {
    expect(Object.keys(printAmounts(parseAmounts({ b: '1', a: '1', c: '1' })))).toEqual(['a', 'b', 'c'])
    expect(negativeNames(parseAmounts({ b: '-1', a: '-1', c: '1' }))).toEqual(['a', 'b'])
  })

  test('that grow by zero have not grown', () => {
    expect(growthOf(parseAmounts({ a: '1' }), parseAmounts({ a: '1', b: '0' })).size).toBe(0)
  })
})

test('ADM-BI-21: use may reach the limit, and a resource without limit or request is not compared', () => {
  const room = (hard: object, used: object, requested: object) =>
    roomIn({ quota: 'q', hard: parseAmounts({ ...hard }), used: parseAmounts({ ...used }), requested: parseAmounts({ ...requested }) }).kind
  expect(room({ pods: '2' }, { pods: '1' }, { pods: '1' })).toBe('room')
  expect(room({ pods: '2' }, { pods: '2' }, { pods: '1' })).toBe('exceeded')
  expect(room({ pods: '2' }, { pods: '5' }, { services: '1' })).toBe('room')
  expect(room({}, { pods: '5' }, { pods: '1' })).toBe('room')
})

describe('ADM-BI-21: use that needs a quota', () => {
  const limited = { apiGroup: '', resource: 'pods', matchContains: ['cpu', 'memory'], matchScopes: [] }
  const use = { counting: pods, object: burstable, usage: parseAmounts({ 'requests.memory': '1', cpu: '1', pods: '1' }) }
  const nothing = { names: new Set<string>(), scopes: [] }

  test('consists of the named resources, printed in order', () => {
    expect(uncoveredUse([limited], use, nothing)).toBe('insufficient quota to consume: cpu,requests.memory')
    expect(uncoveredUse([limited], use, { ...nothing, names: new Set(['cpu', 'requests.memory']) })).toBeUndefined()
    expect(uncoveredUse([{ ...limited, matchContains: [] }], use, nothing)).toBeUndefined()
    expect(uncoveredUse([], use, nothing)).toBeUndefined()
  })

  test.each([
    ['another resource', { ...limited, resource: 'services' }],
    ['another group', { ...limited, apiGroup: 'apps' }],
  ])('excludes %s', (_, one) => {
    expect(uncoveredUse([one], use, nothing)).toBeUndefined()
  })

  test('needs each scope, which another scope does not cover', () => {
    const matchScopes = [
      { scopeName: 'PriorityClass', operator: 'Exists' },
      { scopeName: 'Terminating', operator: 'Exists', values: ['a', 'b'] },
    ]
    const one = { ...limited, matchContains: [], matchScopes }
    expect(uncoveredUse([one], use, nothing)).toBe(
      'insufficient quota to match these scopes: [{PriorityClass Exists []} {Terminating Exists [a b]}]',
    )
    expect(uncoveredUse([one], use, { ...nothing, scopes: [{ scopeName: 'Terminating', operator: 'Exists' }] })).toBe(
      'insufficient quota to match these scopes: [{PriorityClass Exists []}]',
    )
  })
})
