import { memo } from '../memo.ts'
import { isExtended } from '../meta/resource-names.ts'
import type { BuiltIn } from '../schema/built-in.ts'
import type { ResourceClaim } from '../workloads/device-claims.ts'
import { toWhole } from './amounts.ts'
import type { ClusterObjects } from './cluster.ts'
import type { DeviceClass, DeviceRequest, DeviceRules } from './devices/objects.ts'
import type { NodeInfo } from './node-info.ts'
import type { Pod } from './objects.ts'
import type { PodInfo } from './pod-info.ts'

export type RequestMapping = NonNullable<BuiltIn<'core/v1.PodExtendedResourceClaimStatus'>['requestMappings']>[number]

/** The claim for the extended resources of a Pod that devices of a node provide, before it is created, and its requests by container. */
export interface ExtendedClaim {
  readonly claim: ResourceClaim
  readonly mappings: readonly RequestMapping[]
}

type Container = NonNullable<Pod['spec']['containers']>[number]
type ClassObjects = Pick<ClusterObjects, 'deviceClass' | 'deviceClasses'>

/** Classes by the extended resources that they name: of several the newest, of equally old ones the first by name. */
const classesByResource = memo((classes: readonly DeviceClass[]): ReadonlyMap<string, DeviceClass> => {
  const found = new Map<string, DeviceClass>()
  for (const one of classes) {
    const { extendedResourceName } = one.spec ?? {}
    if (!extendedResourceName) continue
    const known = found.get(extendedResourceName)
    if (known === undefined || isPreferred(one, known)) found.set(extendedResourceName, one)
  }
  return found
})

function isPreferred({ metadata: one }: DeviceClass, { metadata: other }: DeviceClass): boolean {
  const [made, before] = [one.creationTimestamp ?? '', other.creationTimestamp ?? '']
  return made === before ? (one.name ?? '') < (other.name ?? '') : made > before
}

/** The class whose devices provide an extended resource; each class also provides one with its own name. */
function classOfResource(resource: string, objects: ClassObjects, { classPrefix }: DeviceRules): DeviceClass | undefined {
  if (resource.startsWith(classPrefix)) return objects.deviceClass(resource.slice(classPrefix.length))
  return classesByResource(objects.deviceClasses()).get(resource)
}

/** True if the Pod has claims for devices, or requests extended resources that devices may provide. */
export function mayUseDevices({ pod, requested }: PodInfo, rules: DeviceRules): boolean {
  if ((pod.spec.resourceClaims ?? []).length > 0) return true
  if (!rules.hasExtendedResources || requested.scalars === undefined) return false
  return [...requested.scalars.keys()].some((name) => isExtended(name) || name.startsWith(rules.classPrefix))
}

const noClasses: ReadonlyMap<string, DeviceClass> = new Map()

/** The classes of the extended resources that a Pod requests, by resource. */
export function extendedClasses({ requested }: PodInfo, objects: ClassObjects, rules: DeviceRules): ReadonlyMap<string, DeviceClass> {
  if (!rules.hasExtendedResources || requested.scalars === undefined) return noClasses
  const found = new Map<string, DeviceClass>()
  for (const [resource, amount] of requested.scalars) {
    const deviceClass = amount > 0 ? classOfResource(resource, objects, rules) : undefined
    if (deviceClass !== undefined) found.set(resource, deviceClass)
  }
  return found
}

/** The sorted resources that devices provide on a node: it has none of them itself. */
export function resourcesByDevices(classes: ReadonlyMap<string, DeviceClass>, { allocatable }: Pick<NodeInfo, 'allocatable'>): string[] {
  return [...classes.keys()].filter((resource) => !allocatable.scalars?.get(resource)).sort()
}

/** The claim of an earlier attempt, if it was created and its Pod was not bound. */
export function earlierClaim({ name, uid }: PodInfo, claims: Iterable<ResourceClaim>, rules: DeviceRules): ResourceClaim | undefined {
  for (const claim of claims) {
    const { annotations, ownerReferences } = claim.metadata
    if (annotations?.[rules.extendedClaim] !== 'true') continue
    if (ownerReferences?.some((owner) => owner.controller === true && owner.name === name && owner.uid === uid)) return claim
  }
  return undefined
}

/** The name of a claim that is not created yet, in messages. */
const uncreatedName = '<extended-resources>'

/** The claim for these resources of a Pod, of which each container has a request; containers that run one after another share devices. */
export function extendedClaim(
  { pod, name, namespace, uid }: PodInfo,
  resources: readonly string[],
  classes: ReadonlyMap<string, DeviceClass>,
  rules: DeviceRules,
): ExtendedClaim {
  const parts = resources.map((resource) => requestsFor(pod, resource, classes.get(resource)?.metadata.name ?? ''))
  const requests = parts.flatMap((part) => part.requests).sort((a, b) => (a.name < b.name ? -1 : 1))
  return {
    claim: {
      apiVersion: rules.claimVersion,
      kind: 'ResourceClaim',
      metadata: {
        name: uncreatedName,
        generateName: `${name}-extended-resources-`,
        namespace,
        uid: `${uncreatedName}/${uid}`,
        annotations: { [rules.extendedClaim]: 'true' },
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid, controller: true }],
      },
      spec: { devices: { requests } },
      status: {},
    },
    mappings: parts.flatMap((part) => part.mappings),
  }
}

interface Requests {
  readonly requests: readonly DeviceRequest[]
  readonly mappings: readonly RequestMapping[]
}

/**
 * The requests for one resource. Containers and sidecars run together, so each has its own. An init container uses those of the containers that start
 * later, and the largest remainder of all init containers is one further request.
 */
function requestsFor({ spec }: Pod, resource: string, deviceClassName: string): Requests {
  const inits = spec.initContainers ?? []
  const all = [...inits, ...(spec.containers ?? [])]
  const isShort = ({ restartPolicy }: Container, at: number) => at < inits.length && restartPolicy !== 'Always'
  const lasting: (Counted | undefined)[] = all.map((container, at) => {
    const count = countOf(container, resource)
    return isShort(container, at) || count === 0 ? undefined : { name: requestName(container, at, resource), count }
  })
  const mapping = ({ name: containerName }: Container, requestName: string) => ({ containerName, resourceName: resource, requestName })
  const mappings = all.flatMap((container, at) => (lasting[at] === undefined ? [] : [mapping(container, lasting[at].name)]))
  const short = all.flatMap((container, at) => {
    const count = countOf(container, resource)
    if (!isShort(container, at) || count === 0) return []
    const { used, left } = reuse(lasting.slice(at), count)
    return [{ container, used, own: left > 0 ? { name: requestName(container, at, resource), count: left } : undefined }]
  })
  const largest = short.reduce<Counted | undefined>(
    (most, { own }) => (own !== undefined && own.count > (most?.count ?? 0) ? own : most),
    undefined,
  )
  for (const { container, used, own } of short) {
    for (const one of used) mappings.push(mapping(container, one.name))
    if (own !== undefined && largest !== undefined) mappings.push(mapping(container, largest.name))
  }
  const counted = [largest, ...lasting].filter((one) => one !== undefined)
  const requests = counted.map(({ name, count }) => ({ name, exactly: { deviceClassName, allocationMode: 'ExactCount', count } }))
  return { requests, mappings }
}

interface Counted {
  readonly name: string
  readonly count: number
}

/** The requests that suffice for a number of devices, and the number that is missing. */
function reuse(requests: readonly (Counted | undefined)[], wanted: number): { readonly used: Counted[]; readonly left: number } {
  const used: Counted[] = []
  let left = wanted
  for (const one of requests) {
    if (one === undefined || left <= 0) continue
    used.push(one)
    left -= one.count
  }
  return { used, left }
}

/** The whole number of devices that a container requests. */
function countOf({ resources }: Container, resource: string): number {
  return toWhole(resources?.requests?.[resource])
}

/** `container-1-request-0`: the container, and the place of the resource among its sorted requests. */
function requestName({ resources }: Container, at: number, resource: string): string {
  return `container-${at}-request-${Object.keys(resources?.requests ?? {})
    .sort()
    .indexOf(resource)}`
}
