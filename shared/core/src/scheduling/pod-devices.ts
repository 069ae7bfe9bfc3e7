import { memo } from '../memo.ts'
import { compileNodeSelector } from '../placement/node-selector.ts'
import type { Steps } from '../steps.ts'
import { deviceClaimOf, isReservedFor, podOfClaim, type ResourceClaim } from '../workloads/device-claims.ts'
import type { Cluster, ClusterObjects } from './cluster.ts'
import { DeviceSearch, devicesInUse } from './devices/allocate.ts'
import { allocationOf } from './devices/allocation.ts'
import { asksOf } from './devices/asks.ts'
import { deviceBindingOf, hasBindingConditions } from './devices/device-bindings.ts'
import { Matches } from './devices/matches.ts'
import type { Allocation, DeviceRules, ResourceSlice } from './devices/objects.ts'
import { DevicePools, devicesOf } from './devices/pools.ts'
import {
  type ExtendedClaim,
  earlierClaim,
  extendedClaim,
  extendedClasses,
  type RequestMapping,
  resourcesByDevices,
} from './extended-resources.ts'
import type { NodeInfo } from './node-info.ts'
import type { Pod } from './objects.ts'
import type { PodInfo } from './pod-info.ts'
import type { SchedulingRules } from './rules.ts'

/** The claims of a Pod, each once; a text is the reason why one is missing. */
export function podClaims(pod: Pod, objects: ClusterObjects): (ResourceClaim | string)[] {
  const { namespace = '', name, uid } = pod.metadata
  const found = (pod.spec.resourceClaims ?? []).flatMap((entry): (ResourceClaim | string)[] => {
    const named = deviceClaimOf(pod, entry)
    if (named.kind === 'none') return []
    if (named.kind === 'unmade') return [`pod "${namespace}/${name}": ResourceClaim not created yet`]
    const claim = objects.resourceClaim(namespace, named.name)
    if (claim === undefined) return [`could not find ResourceClaim "${namespace}/${named.name}"`]
    if (claim.metadata.deletionTimestamp != null) return [`resourceclaim "${named.name}" is being deleted`]
    if (named.isMade && podOfClaim(claim)?.uid !== uid) {
      return [`ResourceClaim ${namespace}/${named.name} was not created for Pod ${namespace}/${name} (Pod is not owner)`]
    }
    return [claim]
  })
  return [...new Set(found)]
}

/** The pools of a list of slices, made once for all searches. */
const poolsFor = memo((rules: DeviceRules) => memo((slices: readonly ResourceSlice[]) => new DevicePools(slices, rules)))

/** Compares the devices of a cluster with the claims of a Pod that have none, as far as that was not done before. The search then compares nothing. */
export function* compareDevices(info: PodInfo, { objects }: Cluster, { devices: rules }: SchedulingRules): Steps<void> {
  const classes = extendedClasses(info, objects, rules)
  const extended = classes.size === 0 ? [] : [extendedClaim(info, [...classes.keys()].sort(), classes, rules).claim]
  const asks = [...podClaims(info.pod, objects), ...extended].flatMap((claim) => {
    if (typeof claim === 'string' || claim.status?.allocation != null) return []
    return (claim.spec?.devices?.requests ?? []).flatMap((request) => asksOf(claim, request, (name) => objects.deviceClass(name)))
  })
  if (asks.length === 0) return
  const matches = new Matches(rules)
  for (const pool of poolsFor(rules)(objects.deviceSlices()).all()) {
    if (pool.isIncomplete || pool.isInvalid) continue
    for (const slice of pool.slices) {
      for (const ask of asks) {
        if (matches.areKnown(ask, slice)) continue
        for (const pooled of devicesOf(slice)) if (typeof matches.find(ask, pooled) !== 'boolean') return
        yield
      }
    }
  }
}

/** Creates the search for devices of unallocated claims. */
export function deviceSearch(claims: readonly ResourceClaim[], { objects }: Cluster, { devices: rules }: SchedulingRules): DeviceSearch {
  const pools = poolsFor(rules)(objects.deviceSlices())
  const inUse = devicesInUse(objects.resourceClaims())
  return new DeviceSearch({ claims, pools, inUse, rules, classOf: (name) => objects.deviceClass(name) })
}

/** The search for the devices of a Pod on some nodes. */
interface PodSearch {
  readonly search: DeviceSearch
  /** The last of the claims. Undefined if these nodes have the extended resources of the Pod themselves. */
  readonly extended: ExtendedClaim | undefined
}

/** Returns the search for a node; undefined if the Pod needs no devices there. Nodes with the same extended resources share a search. */
export function podSearches(
  info: PodInfo,
  unallocated: readonly ResourceClaim[],
  cluster: Cluster,
  rules: SchedulingRules,
): (node: NodeInfo) => PodSearch | undefined {
  const classes = extendedClasses(info, cluster.objects, rules.devices)
  const made = new Map<string, PodSearch | undefined>()
  const make = (resources: readonly string[]): PodSearch | undefined => {
    const extended = resources.length === 0 ? undefined : extendedClaim(info, resources, classes, rules.devices)
    const claims = extended === undefined ? unallocated : [...unallocated, extended.claim]
    return claims.length === 0 ? undefined : { search: deviceSearch(claims, cluster, rules), extended }
  }
  return (node) => {
    const resources = resourcesByDevices(classes, node)
    const key = resources.join()
    if (!made.has(key)) made.set(key, make(resources))
    return made.get(key)
  }
}

/** The claim for extended resources of an earlier attempt, whose Pod was not bound. Undefined for none. */
export function claimOfEarlierAttempt(info: PodInfo, { objects }: Cluster, { devices: rules }: SchedulingRules): ResourceClaim | undefined {
  return extendedClasses(info, objects, rules).size === 0 ? undefined : earlierClaim(info, objects.resourceClaims(), rules)
}

/** A claim to allocate or reserve for a Pod, before it is written. */
export interface ClaimUse {
  readonly claim: ResourceClaim
  /** Undefined if the claim is already allocated. */
  readonly allocation: Allocation | undefined
  /** The containers of the requests of a claim for extended resources, which is to be created. Undefined for other claims. */
  readonly mappings?: readonly RequestMapping[]
}

export interface DevicePlanOptions {
  readonly cluster: Cluster
  readonly rules: SchedulingRules
  /** Returns a new id for the share of a device. */
  readonly newShareId: () => string
}

/** The claims to allocate and reserve for a Pod on a node. */
export function planDevices(info: PodInfo, node: NodeInfo, { cluster, rules, newShareId }: DevicePlanOptions): ClaimUse[] {
  const { pod } = info
  const claims = podClaims(pod, cluster.objects).filter((claim) => typeof claim !== 'string')
  const unallocated = claims.filter(({ status }) => status?.allocation == null)
  const found = podSearches(info, unallocated, cluster, rules)(node)
  const choice = found?.search.choose(node)
  const chosen = choice?.kind === 'chosen' ? choice.byClaim : []
  const allocate = (claim: ResourceClaim, at: number) =>
    allocationOf(claim, chosen[at] ?? [], { node: node.name, rules: rules.devices, newShareId })
  const uses = claims.flatMap((claim): ClaimUse[] => {
    const at = unallocated.indexOf(claim)
    const isPrepared = isReservedFor(claim, pod) && !hasBindingConditions(claim.status?.allocation)
    if (at < 0) return isPrepared ? [] : [{ claim, allocation: undefined }]
    return [{ claim, allocation: allocate(claim, at) }]
  })
  if (found?.extended === undefined) return uses
  const { claim, mappings } = found.extended
  return [...uses, { claim, allocation: allocate(claim, unallocated.length), mappings }]
}

/**
 * A claim that no other Pod uses, and whose devices are not available on some node or could not be prepared, so that it can be deallocated and allocated
 * again; undefined if there is none.
 */
export function freeableClaim(pod: Pod, { objects, nodes }: Cluster): ResourceClaim | undefined {
  const claims = podClaims(pod, objects).filter((claim) => typeof claim !== 'string')
  return claims.find((claim) => {
    const { status } = claim
    if (status?.allocation == null || !(status.reservedFor ?? []).every(({ uid }) => uid === pod.metadata.uid)) return false
    if (deviceBindingOf(claim).kind === 'failed') return true
    const selector = status.allocation.nodeSelector
    if (selector == null) return false
    const reaches = compileNodeSelector(selector)
    return !nodes.every((node) => reaches(node))
  })
}
