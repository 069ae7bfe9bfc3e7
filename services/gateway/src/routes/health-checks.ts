import type { StorageService } from '@orch/core/contracts'
import { getOrMake } from '@orch/core/memo'
import type { Names } from '@orch/core/names'
import type { HealthCheck, HealthCondition } from '../server/health-check.ts'
import type { GatewayState } from '../server/state.ts'
import type { Surroundings } from '../surroundings.ts'

/** The state that the probes' checks read. */
export interface HealthCheckParts extends Pick<Surroundings, 'names' | 'level'> {
  readonly storage: Pick<StorageService, 'status'>
  /** Further checks: those with a condition decide it, the others are shown under their own names. */
  readonly checks: readonly HealthCheck[]
  readonly state: Pick<GatewayState, 'isClosing'>
  readonly admitter: { readonly hasRules: boolean }
  readonly customResources: { readonly isLoaded: boolean }
  readonly aggregation: { readonly apiServices: { readonly isLoaded: boolean } }
  /** Undefined if the gateway has no priority levels; the probes then have no check of them. */
  readonly flowControl: { readonly isLoaded: boolean } | undefined
}

export type Probe = 'healthz' | 'livez' | 'readyz'

/** A check of a probe; several may share a condition. */
export interface ShownCheck {
  readonly name: string
  readonly condition: HealthCondition | HealthCheck
}

/** A startup check: its name, its condition in this server, and the first and the last level with it. */
type Hook = readonly [name: string, condition: HealthCondition, since?: number, until?: number]

/** The startup checks in the order and with the names of kube-apiserver. */
const hooksOf = ({ serverManager, serverServiceName, aggregator }: Names): readonly Hook[] => [
  [`poststarthook/start-${serverManager}-admission-initializer`, 'admission', undefined, 29],
  ['poststarthook/start-apiserver-admission-initializer', 'admission', 30],
  ['poststarthook/generic-apiserver-start-informers', 'access'],
  ['poststarthook/priority-and-fairness-config-consumer', 'flow-control'],
  ['poststarthook/priority-and-fairness-filter', 'flow-control'],
  ['poststarthook/storage-object-count-tracker-hook', 'flow-control'],
  ['poststarthook/start-apiextensions-informers', 'definitions'],
  ['poststarthook/start-apiextensions-controllers', 'definitions'],
  ['poststarthook/crd-informer-synced', 'definitions'],
  ['poststarthook/bootstrap-controller', 'bootstrap', undefined, 26],
  ['poststarthook/start-system-namespaces-controller', 'bootstrap', 27],
  ['poststarthook/peer-endpoint-reconciler-controller', 'bootstrap', 36],
  ['poststarthook/start-cluster-authentication-info-controller', 'bootstrap', 27],
  [`poststarthook/start-${serverManager}-identity-lease-controller`, 'bootstrap', 26],
  [`poststarthook/start-deprecated-${serverManager}-identity-lease-garbage-collector`, 'bootstrap', 27, 28],
  [`poststarthook/start-${serverManager}-identity-lease-garbage-collector`, 'bootstrap', 26],
  ['poststarthook/storage-readiness', 'store', 36],
  ['poststarthook/start-legacy-token-tracking-controller', 'bootstrap', 27],
  ['poststarthook/start-service-ip-repair-controllers', 'bootstrap', 28],
  ['poststarthook/rbac/bootstrap-roles', 'bootstrap'],
  ['poststarthook/scheduling/bootstrap-system-priority-classes', 'bootstrap'],
  ['poststarthook/priority-and-fairness-config-producer', 'bootstrap'],
  ['poststarthook/bootstrap-controller', 'bootstrap', 27],
  [`poststarthook/start-${serverServiceName}-service-cidr-controller`, 'bootstrap', 33],
  ['poststarthook/start-cluster-authentication-info-controller', 'bootstrap', undefined, 26],
  ['poststarthook/aggregator-reload-proxy-client-cert', 'api-services'],
  [`poststarthook/start-${aggregator}-informers`, 'api-services'],
  ['poststarthook/apiservice-status-local-available-controller', 'api-services', 31],
  ['poststarthook/apiservice-status-remote-available-controller', 'api-services', 31],
  ['poststarthook/apiservice-registration-controller', 'api-services'],
  ['poststarthook/apiservice-status-available-controller', 'api-services', undefined, 30],
  ['poststarthook/apiservice-wait-for-first-sync', 'api-services', undefined, 25],
  ['poststarthook/apiservice-discovery-controller', 'api-services', 27],
  [`poststarthook/${serverManager}-autoregistration`, 'registration'],
  ['autoregister-completion', 'registration'],
  ['poststarthook/apiservice-openapi-controller', 'api-services'],
  ['poststarthook/apiservice-openapiv3-controller', 'api-services'],
]

/** The first level whose healthz and livez check the certificate for the server's own requests, of which this server has none. */
const loopbackCheckSince = 33

const priorityHook = 'poststarthook/priority-and-fairness'

/** All caches that a request may need. */
const inMemory: readonly HealthCondition[] = ['admission', 'access', 'flow-control', 'definitions', 'api-services']

/** The checks of a probe in order. Of a live server that is not ready `livez` fails only by the store and the start, as in kube-apiserver. */
export function checksOf(probe: Probe, parts: HealthCheckParts): readonly ShownCheck[] {
  const { names, level, flowControl } = parts
  const ofLevel = hooksOf(names).filter(([, , since = 0, until = level]) => since <= level && level <= until)
  const ofStart = ofLevel.filter(([name]) => flowControl !== undefined || !name.startsWith(priorityHook))
  const own = parts.checks.filter(({ condition }) => condition === undefined)
  return [
    // Log lines are written synchronously, so a server that answers is not blocked by its log.
    ...[well('ping'), well('log')],
    ...(probe === 'readyz' || level < loopbackCheckSince ? [] : [well('loopback-serving-certificate')]),
    { name: 'etcd', condition: 'store' },
    ...(probe === 'readyz' ? readyChecks(parts) : []),
    ...ofStart.map(([name, condition]) => ({ name, condition })),
    ...(probe === 'livez' ? [] : own.map((check) => ({ name: check.name, condition: check }))),
    ...(probe === 'readyz' ? [shutdownCheck(parts)] : []),
  ]
}

function well(name: string): ShownCheck {
  return { name, condition: { name, check: () => undefined } }
}

function readyChecks(parts: HealthCheckParts): readonly ShownCheck[] {
  const name = 'informer-sync'
  const check = async () => {
    const problems = await Promise.all(inMemory.map((condition) => problemOf(condition, parts)))
    return problems.find((problem) => problem !== undefined)
  }
  return [
    { name: 'etcd-readiness', condition: 'store' },
    { name, condition: { name, check } },
  ]
}

function shutdownCheck({ state }: HealthCheckParts): ShownCheck {
  const name = 'shutdown'
  return { name, condition: { name, check: () => (state.isClosing ? 'process is shutting down' : undefined) } }
}

/** The error of each check, in order; undefined for none. A shared condition is checked once. */
export function problemsOf(checks: readonly ShownCheck[], parts: HealthCheckParts): Promise<(string | undefined)[]> {
  const asked = new Map<HealthCondition, Promise<string | undefined>>()
  return Promise.all(
    checks.map(({ condition }) => {
      if (typeof condition !== 'string') return resultOf(() => condition.check())
      return getOrMake(asked, condition, () => problemOf(condition, parts))
    }),
  )
}

function problemOf(condition: HealthCondition, parts: HealthCheckParts): Promise<string | undefined> {
  return resultOf(async () => ownProblems[condition]?.(parts) ?? (await givenProblemOf(condition, parts)))
}

/** The gateway's own errors of conditions. */
const ownProblems: Partial<Record<HealthCondition, (parts: HealthCheckParts) => string | undefined>> = {
  admission: ({ admitter }) => (admitter.hasRules ? undefined : 'admission has not said yet what it has to be asked about'),
  'flow-control': ({ flowControl }) => (flowControl?.isLoaded === false ? 'priority levels and flow schemas are being loaded' : undefined),
  definitions: ({ customResources }) => (customResources.isLoaded ? undefined : 'definitions are being loaded'),
  'api-services': ({ aggregation }) => (aggregation.apiServices.isLoaded ? undefined : 'APIServices are being loaded'),
}

/** The error of a condition from the store and the checks of the process. */
async function givenProblemOf(condition: HealthCondition, { storage, checks }: HealthCheckParts): Promise<string | undefined> {
  if (condition === 'store') return (await storage.status({})).refusing || undefined
  for (const check of checks) {
    const problem = check.condition === condition ? await check.check() : undefined
    if (problem !== undefined) return problem
  }
  return undefined
}

async function resultOf(check: () => string | undefined | Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await check()
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
