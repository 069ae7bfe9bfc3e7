import { expect, test } from 'vitest'
import { namesOf } from '../names.ts'
import { addAmounts, describeAmounts, growthOf, negativeNames, parseAmounts, printAmounts, sameAmounts } from './amounts.ts'
import { roomIn } from './check.ts'
import { uncoveredUse } from './limited.ts'
import { countingOf, isQuotaFor, resourceCountedBy, usageIn } from './usage.ts'

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

test('KIND-RQ-15: a pod counts for what its containers ask for together', () => {
  const pod = {
    spec: { containers: [aContainer({ cpu: '500m', memory: '1Gi' }, { cpu: '1' }), aContainer({ cpu: '250m' }, { cpu: '1' })] },
  }
  expect(usageOf(pod)).toEqual({
    ...{ 'count/pods': '1', pods: '1', cpu: '750m', 'requests.cpu': '750m', memory: '1Gi', 'requests.memory': '1Gi', 'limits.cpu': '2' },
  })
})

test('KIND-RQ-15: containers that initialize count by the largest, overhead besides', () => {
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
  ['it has failed', { status: { phase: 'Failed' } }],
  ['it has succeeded', { status: { phase: 'Succeeded' } }],
  ['its time to end is over', { metadata: { deletionTimestamp: '2025-12-31T23:59:00Z', deletionGracePeriodSeconds: 30 } }],
])('KIND-RQ-13: a pod is there but uses nothing when %s', (_, part) => {
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
])('KIND-RQ-15: a Service of type %s', (_, spec, nodePorts, loadBalancers) => {
  expect(usageOf({ spec }, services)).toEqual({
    services: '1',
    'count/services': '1',
    'services.nodeports': nodePorts,
    'services.loadbalancers': loadBalancers,
  })
})

test('KIND-RQ-15: a claim counts for its storage, in its class too', () => {
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

test('KIND-RQ-15: everything else is counted by its resource', () => {
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
])('KIND-RQ-15: %s is about its resource', (name, resource) => {
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
])('KIND-RQ-04: scope %s (%#)', (scopeName, pod, isIn) => {
  expect(isQuotaFor({ scopes: [scopeName] }, parseAmounts({ pods: '1' }), pods, pod)).toBe(isIn)
})

test.each([
  ['In', ['high', 'low'], true, false],
  ['In', ['low'], false, false],
  ['NotIn', ['high'], false, true],
  ['Exists', [], true, false],
  ['DoesNotExist', [], false, true],
])('KIND-RQ-08: a priority class by %s %s', (operator, values, high, none) => {
  const spec = { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator, values }] } }
  const hard = parseAmounts({ pods: '1' })
  expect([isQuotaFor(spec, hard, pods, burstable), isQuotaFor(spec, hard, pods, bestEffort)]).toEqual([high, none])
})

test('KIND-RQ-06: scopes and selector must both be true, and a quota with scopes is for pods only', () => {
  const spec = {
    scopes: ['Terminating'],
    scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['low'] }] },
  }
  expect(isQuotaFor(spec, parseAmounts({ pods: '1' }), pods, burstable)).toBe(false)
  expect(isQuotaFor({ scopes: ['Terminating'] }, parseAmounts({ services: '1' }), services, {})).toBe(false)
})

test('KIND-RQ-13: only what a quota limits is counted in it', () => {
  const hard = parseAmounts({ 'limits.cpu': '1', pods: '5' })
  expect(printAmounts(usageIn({}, hard, pods, burstable, nowMs))).toEqual({ pods: '1' })
})

test('ADM-BI-21: a container that says nothing of a limited resource is named', () => {
  const pod = {
    spec: {
      containers: [aContainer({ cpu: '1' }, {}, 'b'), aContainer({}, { memory: '1Mi' }, 'a')],
      initContainers: [aContainer({}, {}, 'i')],
    },
  }
  expect(pods.omissions(pod, ['limits.memory', 'requests.cpu', 'pods'])).toBe('must specify limits.memory for: b,i; requests.cpu for: a,i')
  expect(pods.omissions({ spec: { containers: [aContainer({ cpu: '1' })] } }, ['cpu', 'pods'])).toBeUndefined()
})

test('ADM-BI-21: the message of a refusal names only what is exceeded', () => {
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

test('amounts are added, compared and told in order of their names', () => {
  const sum = addAmounts(parseAmounts({ memory: '1Gi', cpu: '500m' }), parseAmounts({ cpu: '0.5', pods: '1' }))
  expect(describeAmounts(sum)).toBe('cpu=1,memory=1Gi,pods=1')
  expect(sameAmounts(sum, parseAmounts({ cpu: '1000m', memory: '1024Mi', pods: '1' }))).toBe(true)
  expect(sameAmounts(sum, parseAmounts({ cpu: '1' }))).toBe(false)
  expect(printAmounts(growthOf(parseAmounts({ a: '5', b: '1' }), parseAmounts({ a: '3', b: '2', c: '1' })))).toEqual({ b: '1', c: '1' })
  expect(negativeNames(parseAmounts({ a: '-1', b: '0' }))).toEqual(['a'])
})

test('what may be used only under a quota is refused without one', () => {
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
