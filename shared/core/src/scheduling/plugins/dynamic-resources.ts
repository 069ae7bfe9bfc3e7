import { compileNodeSelector } from '../../placement/node-selector.ts'
import type { ResourceClaim } from '../../workloads/device-claims.ts'
import type { Cluster, ClusterObjects } from '../cluster.ts'
import type { Chosen } from '../devices/allocate.ts'
import { deviceBindingOf } from '../devices/device-bindings.ts'
import { extendedClasses } from '../extended-resources.ts'
import { type FilterPlugin, type FilterStart, normalize, type ScorePlugin, skip } from '../plugin.ts'
import { claimOfEarlierAttempt, podClaims, podSearches } from '../pod-devices.ts'
import type { PodInfo } from '../pod-info.ts'
import type { SchedulingRules } from '../rules.ts'

const plugin = 'DynamicResources'

/** Maximum number of alternatives per request. */
const alternativesMax = 8

/** Refuses Pods whose device claims are missing, and nodes that an allocation does not include or that have too few devices. */
export const dynamicResources: FilterPlugin = {
  name: plugin,
  start(info, cluster, rules) {
    if (!rules.hasDevices) return skip
    const claims: ResourceClaim[] = []
    for (const found of podClaims(info.pod, cluster.objects)) {
      if (typeof found === 'string') return refused(found, true)
      claims.push(found)
    }
    const problem = claims.map((claim) => problemOf(claim, cluster.objects)).find((text) => text !== undefined)
    return problem === undefined ? filterBy(info, claims, cluster, rules) : refused(problem)
  },
}

function refused(reason: string, isSilent = false): FilterStart {
  return { kind: 'refused', refusal: { plugin, isResolvable: false, reasons: [reason], isSilent } }
}

/** The reason why the claim excludes every node. */
function problemOf(claim: ResourceClaim, objects: ClusterObjects): string | undefined {
  const { metadata, spec, status } = claim
  if (status?.allocation) return undefined
  if (objects.isBeingAllocated(claim)) return `resource claim ${metadata.namespace}/${metadata.name} is in the process of being allocated`
  for (const { name, exactly, firstAvailable = [] } of spec?.devices?.requests ?? []) {
    const asked = exactly ? [{ path: name, className: exactly.deviceClassName }] : []
    for (const one of firstAvailable) asked.push({ path: `${name}/${one.name}`, className: one.deviceClassName })
    const missing = asked.find(({ className }) => objects.deviceClass(className) === undefined)
    if (missing !== undefined) return `request ${missing.path}: device class ${missing.className} does not exist`
  }
  return undefined
}

function filterBy(info: PodInfo, claims: readonly ResourceClaim[], cluster: Cluster, rules: SchedulingRules): FilterStart {
  const hasExtended = extendedClasses(info, cluster.objects, rules.devices).size > 0
  if (claims.length === 0 && !hasExtended) return skip
  const unallocated = claims.filter(({ status }) => status?.allocation == null)
  const searchOn = podSearches(info, unallocated, cluster, rules)
  const isEarlier = hasExtended && claimOfEarlierAttempt(info, cluster, rules) !== undefined
  const reaches = claims.flatMap(({ status }) => {
    const selector = status?.allocation?.nodeSelector
    return selector ? [compileNodeSelector(selector)] : []
  })
  const isFailed = rules.devices.hasBindingConditions && claims.some((claim) => deviceBindingOf(claim).kind === 'failed')
  const refusal = (reason: string) => ({ plugin, isResolvable: false, reasons: [reason] }) as const
  return {
    kind: 'run',
    run: {
      filter(node) {
        if (isEarlier) return refusal('cannot schedule extended resource claim')
        if (isFailed || !reaches.every((matches) => matches(node))) return refusal('resourceclaim not available on the node')
        const choice = searchOn(node)?.search.choose(node)
        if (choice?.kind === 'fault') {
          return { ...refusal(`running "${plugin}" filter plugin: ${choice.problem}`), isFault: true }
        }
        if (choice?.kind === 'invalid') return refusal('invalid resource pools were encountered')
        return choice?.kind === 'none' ? refusal('cannot allocate all claims') : undefined
      },
    },
  }
}

/** Prefers nodes on which requests get earlier alternatives. */
export const deviceScore: ScorePlugin = {
  name: plugin,
  weight: 2,
  score({ pod: info, nodes, cluster, rules }) {
    const { pod } = info
    if (!rules.hasDevices || (pod.spec.resourceClaims ?? []).length === 0) return undefined
    const claims = podClaims(pod, cluster.objects).filter((claim) => typeof claim !== 'string')
    const unallocated = claims.filter(({ status }) => status?.allocation == null)
    if (!unallocated.some(({ spec }) => spec?.devices?.requests?.some(({ firstAvailable = [] }) => firstAvailable.length > 0)))
      return undefined
    const searchOn = podSearches(info, unallocated, cluster, rules)
    const scores = nodes.map((node) => {
      const choice = searchOn(node)?.search.choose(node)
      return choice?.kind === 'chosen' ? choice.byClaim.flatMap(scoresOf).reduce((sum, one) => sum + one, 0) : 0
    })
    return normalize(scores)
  },
}

/** The scores of a claim's requests, each once, however many devices it gets. */
function scoresOf(chosen: readonly Chosen[]): number[] {
  const asks = new Set(chosen.map(({ ask }) => ask))
  return [...asks].flatMap(({ base, name, claim }) => {
    const request = claim.spec?.devices?.requests?.find((one) => one.name === base)
    const at = (request?.firstAvailable ?? []).findIndex((one) => `${base}/${one.name}` === name)
    return at < 0 ? [] : [alternativesMax - at]
  })
}
