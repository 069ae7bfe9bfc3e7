import { namesOf } from '@orch/core/names'
import { expect, test } from 'vitest'
import type { HealthCheck } from '../server/health-check.ts'
import { checksOf, type HealthCheckParts, problemsOf } from './health-checks.ts'

const emptyStatus = { epoch: 'e', revision: 1, compacted: 0, refusing: '', entries: 0, bytes: 0, profile: 'orch', members: [] }

const well = {
  names: namesOf('kubernetes'),
  level: 25,
  storage: { status: async () => ({ ...emptyStatus, refusing: '' }) },
  checks: [],
  state: { isClosing: false },
  admitter: { hasRules: true },
  customResources: { isLoaded: true },
  aggregation: { apiServices: { isLoaded: true } },
  flowControl: { isLoaded: true },
} satisfies HealthCheckParts

const failing = (condition: HealthCheck['condition'], problem: string): HealthCheck => ({
  name: 'own',
  ...(condition === undefined ? {} : { condition }),
  check: () => problem,
})

/** Names of a probe's failing checks, with their errors. */
async function failuresOf(probe: Parameters<typeof checksOf>[0], parts: Partial<HealthCheckParts>) {
  const all = { ...well, ...parts }
  const checks = checksOf(probe, all)
  const problems = await problemsOf(checks, all)
  return Object.fromEntries(checks.flatMap(({ name }, index) => (problems[index] === undefined ? [] : [[name, problems[index]]])))
}

const hook = (...names: string[]) => names.map((name) => `poststarthook/${name}`)

const conditions: readonly { name: string; parts: Partial<HealthCheckParts>; live: string[]; ready?: string[] }[] = [
  {
    name: 'a store that takes no writes',
    parts: { storage: { status: async () => ({ ...emptyStatus, refusing: 'the disk is full' }) } },
    live: ['etcd'],
    ready: ['etcd', 'etcd-readiness'],
  },
  {
    name: 'a storage that is away',
    parts: { storage: { status: () => Promise.reject(new Error('no replica of storage can be reached')) } },
    live: ['etcd'],
    ready: ['etcd', 'etcd-readiness'],
  },
  {
    name: 'admission rules that have not come',
    parts: { admitter: { hasRules: false } },
    live: hook('start-kube-apiserver-admission-initializer'),
    ready: ['informer-sync', ...hook('start-kube-apiserver-admission-initializer')],
  },
  {
    name: 'roles that are being loaded',
    parts: { checks: [failing('access', 'roles and bindings are being loaded')] },
    live: hook('generic-apiserver-start-informers'),
    ready: ['informer-sync', ...hook('generic-apiserver-start-informers')],
  },
  {
    name: 'definitions that are being loaded',
    parts: { customResources: { isLoaded: false } },
    live: hook('start-apiextensions-informers', 'start-apiextensions-controllers', 'crd-informer-synced'),
    ready: ['informer-sync', ...hook('start-apiextensions-informers', 'start-apiextensions-controllers', 'crd-informer-synced')],
  },
  {
    name: 'priority levels that are being loaded',
    parts: { flowControl: { isLoaded: false } },
    live: hook('priority-and-fairness-config-consumer', 'priority-and-fairness-filter', 'storage-object-count-tracker-hook'),
    ready: [
      'informer-sync',
      ...hook('priority-and-fairness-config-consumer', 'priority-and-fairness-filter', 'storage-object-count-tracker-hook'),
    ],
  },
  {
    name: 'bootstrap objects that are being made',
    parts: { checks: [failing('bootstrap', 'the bootstrap objects are being made')] },
    live: hook(
      'bootstrap-controller',
      'rbac/bootstrap-roles',
      'scheduling/bootstrap-system-priority-classes',
      'priority-and-fairness-config-producer',
      'start-cluster-authentication-info-controller',
    ),
  },
  {
    name: 'APIServices that are not registered',
    parts: { checks: [failing('registration', 'missing APIService: [v1.]')] },
    live: [...hook('kube-apiserver-autoregistration'), 'autoregister-completion'],
  },
]

test.each(conditions)('MACH-OPS-01: $name: livez, healthz and readyz list the failing checks', async ({ parts, live, ready = live }) => {
  expect(Object.keys(await failuresOf('livez', parts))).toEqual(live)
  expect(Object.keys(await failuresOf('healthz', parts))).toEqual(live)
  expect(Object.keys(await failuresOf('readyz', parts))).toEqual(ready)
})

test('MACH-OPS-01: at level 1.37 the probes have the checks of kube-apiserver 1.37.2', () => {
  const hooks = hook(
    'start-apiserver-admission-initializer',
    'generic-apiserver-start-informers',
    'priority-and-fairness-config-consumer',
    'priority-and-fairness-filter',
    'storage-object-count-tracker-hook',
    'start-apiextensions-informers',
    'start-apiextensions-controllers',
    'crd-informer-synced',
    'start-system-namespaces-controller',
    'peer-endpoint-reconciler-controller',
    'start-cluster-authentication-info-controller',
    'start-kube-apiserver-identity-lease-controller',
    'start-kube-apiserver-identity-lease-garbage-collector',
    'storage-readiness',
    'start-legacy-token-tracking-controller',
    'start-service-ip-repair-controllers',
    'rbac/bootstrap-roles',
    'scheduling/bootstrap-system-priority-classes',
    'priority-and-fairness-config-producer',
    'bootstrap-controller',
    'start-kubernetes-service-cidr-controller',
    'aggregator-reload-proxy-client-cert',
    'start-kube-aggregator-informers',
    'apiservice-status-local-available-controller',
    'apiservice-status-remote-available-controller',
    'apiservice-registration-controller',
    'apiservice-discovery-controller',
    'kube-apiserver-autoregistration',
  )
  const last = ['autoregister-completion', ...hook('apiservice-openapi-controller', 'apiservice-openapiv3-controller')]
  const namesAt = (probe: Parameters<typeof checksOf>[0]) => checksOf(probe, { ...well, level: 37 }).map(({ name }) => name)
  const healthz = ['ping', 'log', 'loopback-serving-certificate', 'etcd', ...hooks, ...last]
  expect(namesAt('healthz')).toEqual(healthz)
  expect(namesAt('livez')).toEqual(healthz)
  expect(namesAt('readyz')).toEqual(['ping', 'log', 'etcd', 'etcd-readiness', 'informer-sync', ...hooks, ...last, 'shutdown'])
})

test('APIServices that are being loaded fail the checks of aggregation', async () => {
  const failures = Object.keys(await failuresOf('livez', { aggregation: { apiServices: { isLoaded: false } } }))
  expect(failures).toHaveLength(7)
  expect(failures).toContain('poststarthook/apiservice-registration-controller')
})

test('a server that is shutting down is live and not ready', async () => {
  const parts = { state: { isClosing: true } }
  expect(await failuresOf('livez', parts)).toEqual({})
  expect(await failuresOf('readyz', parts)).toEqual({ shutdown: 'process is shutting down' })
})

test('a check without a condition fails healthz and readyz under its own name, and not livez', async () => {
  const parts = { checks: [failing(undefined, 'no replica of watch can be reached')] }
  expect(await failuresOf('livez', parts)).toEqual({})
  for (const probe of ['healthz', 'readyz'] as const)
    expect(await failuresOf(probe, parts)).toEqual({ own: 'no replica of watch can be reached' })
})

test('no checks exist about flow control without it', () => {
  const names = checksOf('healthz', { ...well, flowControl: undefined }).map(({ name }) => name)
  expect(names.filter((name) => name.includes('fairness'))).toEqual([])
  expect(names).toContain('poststarthook/storage-object-count-tracker-hook')
})

test('a condition of several checks is checked once', async () => {
  let asked = 0
  const check = () => {
    asked += 1
    return undefined
  }
  const once: HealthCheck = { name: 'b', condition: 'bootstrap', check }
  expect(await failuresOf('healthz', { checks: [once] })).toEqual({})
  expect(asked).toBe(1)
})
