import { addQuantities, parseQuantity, type Quantity, type ResourceName, roundUpQuantity, toQuantity } from '../meta/index.ts'
import { groupName, type Names, subdomainLabel } from '../names.ts'
import type { Amounts } from './amounts.ts'
import type { ClaimToCount, DeviceClaimToCount, DeviceRequestToCount, PodToCount, ServiceToCount } from './objects.ts'
import { isPodResource, podOmissions, podUsage } from './pod-usage.ts'
import { isClaimInScope, isPodInScope, type ScopeRequirement } from './scopes.ts'

const one = toQuantity(1)

/** The counting of one resource's objects. */
export interface Counting {
  readonly resource: ResourceName
  /** True if an update may change an object's usage, so that it is checked first. */
  readonly countsUpdates: boolean
  /** False if every object counts the same. */
  readonly looksInside: boolean
  /** True if the name counts objects of this resource, or resources that they use. */
  concerns(name: string): boolean
  usage(object: unknown, nowMs: number): Amounts
  /** True if an object is in a scope. */
  isInScope(object: unknown, requirement: ScopeRequirement): boolean
  /** The reason why an object cannot be counted; undefined if it can. */
  omissions(object: unknown, names: readonly string[]): string | undefined
}

/** Returns the counting of a kind with the names of a profile. */
export type Measure = (names: Names, resource: ResourceName) => Counting

/** `count/deployments.apps`, `count/pods`. */
function countName({ group, resource }: ResourceName): string {
  return group === '' ? `count/${resource}` : `count/${resource}.${group}`
}

/** For objects without scopes: a quota with a scope does not count them. */
const unscoped = { isInScope: () => false, omissions: () => undefined } as const

/** Pods count with their requests and limits until they finish. */
export const countPods: Measure = () => pods

const pods: Counting = {
  resource: { group: '', resource: 'pods' },
  countsUpdates: false,
  looksInside: true,
  concerns: isPodResource,
  usage: (object, nowMs) => podUsage(object as PodToCount, nowMs),
  isInScope: (object, requirement) => isPodInScope(object as PodToCount, requirement),
  omissions: (object, names) => podOmissions(object as PodToCount, names),
}

/** Services count with their node ports and load balancers. */
export const countServices: Measure = () => services

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

/** Claims count with their requested storage, in total and per class. */
export const countClaims: Measure = (names) => {
  const suffix = `.${groupName(names, 'storageclass.storage', '')}`
  const ownNames = new Set(['persistentvolumeclaims', 'count/persistentvolumeclaims', 'requests.storage'])
  return {
    ...unscoped,
    resource: { group: '', resource: 'persistentvolumeclaims' },
    countsUpdates: true,
    looksInside: true,
    concerns: (name) =>
      ownNames.has(name) || name.endsWith(`${suffix}requests.storage`) || name.endsWith(`${suffix}persistentvolumeclaims`),
    isInScope: (object, requirement) => isClaimInScope(object as ClaimToCount, requirement),
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

/** Maximum number of devices that a request for all devices of a class counts as. */
const devicesMax = 32

/** Claims count with the maximum number of devices that they may get, per class. */
export const countDevices: Measure = (names, resource) => {
  const suffix = `.${groupName(names, 'deviceclass.resource', 'devices')}`
  const own = countName(resource)
  return {
    ...unscoped,
    resource,
    countsUpdates: true,
    looksInside: true,
    concerns: (name) => name === own || name.endsWith(suffix),
    usage: (object) => deviceUsage(object as DeviceClaimToCount, own, suffix),
  }
}

function deviceUsage({ spec }: DeviceClaimToCount, own: string, suffix: string): Amounts {
  const usage = new Map<string, Quantity>([[own, one]])
  for (const request of spec?.devices?.requests ?? []) {
    const { exactly, firstAvailable } = request
    const alternatives = firstAvailable?.length ? firstAvailable : [exactly ?? request]
    // Among alternatives with the same class, the largest counts.
    const largest = new Map<string, bigint>()
    for (const { deviceClassName = '', ...one } of alternatives) {
      const count = deviceCount(one)
      if (deviceClassName !== '' && count > (largest.get(deviceClassName) ?? -1n)) largest.set(deviceClassName, count)
    }
    for (const [name, count] of largest)
      usage.set(`${name}${suffix}`, addQuantities(usage.get(`${name}${suffix}`) ?? toQuantity(0), toQuantity(count)))
  }
  return usage
}

function deviceCount({ allocationMode, count = 0 }: DeviceRequestToCount): bigint {
  if (allocationMode === 'All') return BigInt(devicesMax)
  return allocationMode === 'ExactCount' ? BigInt(count) : 0n
}

/** Each object counts as one, also under the plural name of its kind. */
export const countByPlural: Measure = (_names, resource) => oneEach(resource, [countName(resource), resource.resource])

/** Each object counts as one: the default counting. */
export const countEach: Measure = (_names, resource) => oneEach(resource, [countName(resource)])

function oneEach(resource: ResourceName, countedAs: readonly string[]): Counting {
  const usage: Amounts = new Map(countedAs.map((name) => [name, one]))
  return { ...unscoped, resource, countsUpdates: false, looksInside: false, concerns: (name) => usage.has(name), usage: () => usage }
}
