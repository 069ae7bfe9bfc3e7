import { parseQuantity, type Quantity, roundUpQuantity, toQuantity } from '../meta/quantity.ts'
import type { ResourceName } from '../meta/status.ts'
import { groupName, type Names, subdomainLabel } from '../names.ts'
import { type Amounts, maskAmounts } from './amounts.ts'
import type { ClaimToCount, PodToCount, ServiceToCount } from './objects.ts'
import { isPodResource, podOmissions, podUsage } from './pod-usage.ts'
import { isPodInScope, type ScopedSpec, type ScopeRequirement, scopeRequirements } from './scopes.ts'

const one = toQuantity(1)

/** How objects of one resource count. */
export interface Counting {
  readonly resource: ResourceName
  /** Whether a change of an object may change what it counts for, so that it is looked at before it is made. */
  readonly countsUpdates: boolean
  /** False: every object counts for the same. */
  readonly looksInside: boolean
  /** Whether it is about objects of this resource, of whatever they use. */
  concerns(name: string): boolean
  /** What an object counts for. */
  usage(object: unknown, nowMs: number): Amounts
  /** Whether an expression is true of an object. */
  isInScope(object: unknown, requirement: ScopeRequirement): boolean
  /** Why an object cannot be counted; undefined: it can. */
  omissions(object: unknown, names: readonly string[]): string | undefined
}

/** Field manager of the controller that counts the use of quotas and writes it into their status. */
export function quotaManager({ controllerManager }: Names): string {
  return controllerManager
}

/** `count/deployments.apps`, `count/pods`. */
function countName({ group, resource }: ResourceName): string {
  return group === '' ? `count/${resource}` : `count/${resource}.${group}`
}

/** Resources of the core group that have a name without a prefix as well. */
const plainlyCounted: ReadonlySet<string> = new Set(['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets'])

/** How objects of a resource count. */
export function countingOf(names: Names, resource: ResourceName): Counting {
  if (resource.group === '') {
    if (resource.resource === 'pods') return pods
    if (resource.resource === 'services') return services
    if (resource.resource === 'persistentvolumeclaims') return claimsIn(names)
  }
  return plainly(resource, resource.group === '' && plainlyCounted.has(resource.resource))
}

/** The resource whose objects a name is about; undefined: no objects are. */
export function resourceCountedBy(names: Names, name: string): ResourceName | undefined {
  if (name.startsWith('count/')) {
    const [resource = '', ...group] = name.slice('count/'.length).split('.')
    return { group: group.join('.'), resource }
  }
  if (plainlyCounted.has(name)) return { group: '', resource: name }
  for (const resource of ['services', 'persistentvolumeclaims', 'pods']) {
    if (countingOf(names, { group: '', resource }).concerns(name)) return { group: '', resource }
  }
  return undefined
}

/** Whether a quota is for an object: it limits something of such objects, and every expression is true of this one. */
export function isQuotaFor(spec: ScopedSpec, hard: Amounts, counting: Counting, object: unknown): boolean {
  return [...hard.keys()].some(counting.concerns) && scopeRequirements(spec).every((term) => counting.isInScope(object, term))
}

/** What a quota is for, and what it limits. */
interface QuotaLimits {
  readonly spec: ScopedSpec
  readonly hard: Amounts
}

/** What objects of one resource count for in a quota. */
export function usageIn({ spec, hard }: QuotaLimits, counting: Counting, object: unknown, nowMs: number): Amounts {
  return isQuotaFor(spec, hard, counting, object) ? maskAmounts(counting.usage(object, nowMs), hard) : new Map()
}

/** Scopes are about pods: a quota with a scope is for nothing else. */
const unscoped = { isInScope: () => false, omissions: () => undefined } as const

const pods: Counting = {
  resource: { group: '', resource: 'pods' },
  countsUpdates: false,
  looksInside: true,
  concerns: isPodResource,
  usage: (object, nowMs) => podUsage(object as PodToCount, nowMs),
  isInScope: (object, requirement) => isPodInScope(object as PodToCount, requirement),
  omissions: (object, names) => podOmissions(object as PodToCount, names),
}

const serviceNames = new Set(['services', 'count/services', 'services.nodeports', 'services.loadbalancers'])

const services: Counting = {
  ...unscoped,
  resource: { group: '', resource: 'services' },
  countsUpdates: true,
  looksInside: true,
  concerns: (name) => serviceNames.has(name),
  usage: (object) => serviceUsage(object as ServiceToCount),
}

function serviceUsage({ spec }: ServiceToCount): Amounts {
  const ports = spec?.ports ?? []
  const usage = new Map([
    ['services', one],
    ['count/services', one],
    ['services.nodeports', toQuantity(0)],
    ['services.loadbalancers', toQuantity(0)],
  ])
  if (spec?.type === 'NodePort') usage.set('services.nodeports', toQuantity(ports.length))
  if (spec?.type !== 'LoadBalancer') return usage
  const withPort = spec.allocateLoadBalancerNodePorts === false ? ports.filter(({ nodePort }) => (nodePort ?? 0) !== 0) : ports
  return usage.set('services.nodeports', toQuantity(withPort.length)).set('services.loadbalancers', one)
}

function claimsIn(names: Names): Counting {
  const suffix = `.${groupName(names, 'storageclass.storage', '')}`
  const ownNames = new Set(['persistentvolumeclaims', 'count/persistentvolumeclaims', 'requests.storage'])
  return {
    ...unscoped,
    resource: { group: '', resource: 'persistentvolumeclaims' },
    countsUpdates: true,
    looksInside: true,
    concerns: (name) =>
      ownNames.has(name) || name.endsWith(`${suffix}requests.storage`) || name.endsWith(`${suffix}persistentvolumeclaims`),
    usage: (object) => claimUsage(object as ClaimToCount, suffix, subdomainLabel(names, 'volume.beta', 'storage-class')),
  }
}

function claimUsage({ metadata, spec }: ClaimToCount, suffix: string, annotation: string): Amounts {
  const storageClass = metadata?.annotations?.[annotation] ?? spec?.storageClassName ?? ''
  const usage = new Map<string, Quantity>([
    ['persistentvolumeclaims', one],
    ['count/persistentvolumeclaims', one],
  ])
  if (storageClass !== '') usage.set(`${storageClass}${suffix}persistentvolumeclaims`, one)
  const requested = parseQuantity(spec?.resources?.requests?.['storage'] ?? '')
  if (requested === undefined) return usage
  const storage = toQuantity(roundUpQuantity(requested), requested.format)
  usage.set('requests.storage', storage)
  if (storageClass !== '') usage.set(`${storageClass}${suffix}requests.storage`, storage)
  return usage
}

function plainly(resource: ResourceName, hasPlainName: boolean): Counting {
  const name = countName(resource)
  const usage: Amounts = new Map(
    hasPlainName
      ? [
          [name, one],
          [resource.resource, one],
        ]
      : [[name, one]],
  )
  return { ...unscoped, resource, countsUpdates: false, looksInside: false, concerns: (asked) => usage.has(asked), usage: () => usage }
}
