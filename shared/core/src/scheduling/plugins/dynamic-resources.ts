import { compileNodeSelector } from '../../placement/node-selector.ts'
import { deviceClaimOf, isReservedFor, podOfClaim, type ResourceClaim } from '../../workloads/device-claims.ts'
import type { ClusterObjects } from '../cluster.ts'
import type { Pod } from '../objects.ts'
import { type FilterPlugin, type FilterStart, skip } from '../plugin.ts'

const plugin = 'DynamicResources'

/** Consumers that one claim may have. */
const consumersMax = 256

/**
 * Refuses Pods whose claims for devices are missing, in use or not allocated, and nodes that an allocation does not reach. It allocates
 * nothing: a claim waits until another program does.
 */
export const dynamicResources: FilterPlugin = {
  name: plugin,
  start({ pod }, { objects }, { hasDevices }) {
    if (!hasDevices) return skip
    const claims: ResourceClaim[] = []
    for (const found of claimsOf(pod, objects)) {
      if (typeof found === 'string') return refused(found)
      claims.push(found)
    }
    const problem = claims.map((claim) => problemOf(claim, pod, objects)).find((text) => text !== undefined)
    return problem === undefined ? filterBy(claims) : refused(problem)
  },
}

/** The claims of a Pod; a text says why one is not there. */
function claimsOf(pod: Pod, objects: ClusterObjects): (ResourceClaim | string)[] {
  const { namespace = '', name, uid } = pod.metadata
  return (pod.spec.resourceClaims ?? []).flatMap((entry): (ResourceClaim | string)[] => {
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
}

/** The allocated claims of a Pod that are not reserved for it yet. */
export function unreservedClaims(pod: Pod, objects: ClusterObjects): ResourceClaim[] {
  return claimsOf(pod, objects).flatMap((claim) => (typeof claim === 'string' || isReservedFor(claim, pod) ? [] : [claim]))
}

function refused(reason: string): FilterStart {
  return { kind: 'refused', refusal: { plugin, isResolvable: false, reasons: [reason] } }
}

/** The reason why no node can take a Pod with the claim. */
function problemOf(claim: ResourceClaim, pod: Pod, objects: ClusterObjects): string | undefined {
  const { spec, status } = claim
  if (status?.allocation) {
    return isReservedFor(claim, pod) || (status.reservedFor ?? []).length < consumersMax ? undefined : 'resourceclaim in use'
  }
  for (const { name, exactly, firstAvailable = [] } of spec.devices?.requests ?? []) {
    const asked = exactly ? [{ path: name, className: exactly.deviceClassName }] : []
    for (const one of firstAvailable) asked.push({ path: `${name}/${one.name}`, className: one.deviceClassName })
    const missing = asked.find(({ className }) => !objects.hasDeviceClass(className))
    if (missing !== undefined) return `request ${missing.path}: device class ${missing.className} does not exist`
  }
  return undefined
}

function filterBy(claims: readonly ResourceClaim[]): FilterStart {
  if (claims.length === 0) return skip
  const isAllocated = claims.every(({ status }) => status?.allocation)
  const reaches = claims.flatMap(({ status }) => {
    const selector = status?.allocation?.nodeSelector
    return selector ? [compileNodeSelector(selector)] : []
  })
  const refusal = (reason: string) => ({ plugin, isResolvable: false, reasons: [reason] }) as const
  return {
    kind: 'run',
    run: {
      filter(node) {
        if (!reaches.every((matches) => matches(node))) return refusal('resourceclaim not available on the node')
        return isAllocated ? undefined : refusal('cannot allocate all claims')
      },
    },
  }
}
