import { domainLabel, type Names, subdomainLabel } from '../names.ts'
import { type VolumeNames, volumeNames } from '../workloads/volumes/objects.ts'
import type { DeviceRules } from './devices/objects.ts'

/** A level and its feature gates. */
export interface RulesSource {
  readonly names: Names
  /** Minor release, such as 37. */
  readonly level: number
  readonly isGateOn: (gate: string) => boolean
}

/** Rules and texts of the scheduler that differ between releases, and the names that it reads. */
export interface SchedulingRules {
  readonly level: number
  /** The taint of nodes with `spec.unschedulable`. */
  readonly unschedulableTaint: string
  readonly hostnameLabel: string
  readonly zoneLabel: string
  /** Labels of zones and regions; `later` is the one that has taken its place, where that counts too. */
  readonly zoneLabels: readonly { readonly key: string; readonly later: string | undefined }[]
  readonly volumes: VolumeNames
  /** The refusal of a node that cannot reach a volume. */
  readonly volumeConflict: string
  readonly hasAttributeClasses: boolean
  /** True if claims may be for one Pod alone. */
  readonly hasClaimsOfOnePod: boolean
  /** The refusal of a node while another Pod uses a claim that is for one Pod alone. */
  readonly claimTaken: string
  /** True if the refusal for a taint names the taint: until 1.33 (later patches of 1.34 leave it out). */
  readonly namesTaints: boolean
  /** True if a Pod that names a missing node fails with an error: before 1.28. */
  readonly failsOnMissingNodes: boolean
  /** True if a resource of which a node has given more than it has refuses only Pods that ask for it: since 1.28. */
  readonly skipsUnrequested: boolean
  /** True if a Pod that is larger than the whole node is refused for good. */
  readonly knowsLargePods: boolean
  /** True if the balance before the Pod counts too: since 1.36. */
  readonly scoresChangeOfBalance: boolean
  /** True if Pods without requests are not scored by balance: since 1.33. */
  readonly skipsBalanceOfNothing: boolean
  /** True if images of init containers and image volumes count for the locality of images. */
  readonly scoresInitImages: boolean
  /** True if Pods that are to be spread over nothing get no score for it; before 1.28 all nodes got the highest. */
  readonly skipsMissingSpreads: boolean
  /** Gates of constraints of spreading. */
  readonly hasMinDomains: boolean
  readonly hasInclusionPolicies: boolean
  readonly hasMatchLabelKeys: boolean
  /** True if tolerations may compare with Lt and Gt. */
  readonly hasComparisons: boolean
  /** True if victims get the condition DisruptionTarget. */
  readonly marksVictims: boolean
  /** True if the event of a victim names the Pod that it makes room for: since 1.27. */
  readonly namesPreemptor: boolean
  /** True if conditions have the generation that they are about. */
  readonly hasObservedGeneration: boolean
  /** True if a Pod waits for its victims alone, not for Pods that end for another reason: since 1.27. */
  readonly waitsForVictimsAlone: boolean
  /** True if the victims of a node are compared in the order of their importance: since 1.30. */
  readonly sortsVictims: boolean
  /** True if plugins look at changes themselves before a refused Pod is tried again: since 1.32. */
  readonly hasHints: boolean
  /** True if Pods in back-off are tried while nothing else waits: since 1.33. */
  readonly triesPodsInBackoff: boolean
  /** True if Pods wait for their claims for devices: the API is v1 from 1.34 on. */
  readonly hasDevices: boolean
  readonly devices: DeviceRules
  /** True if Pods wait while they have scheduling gates. */
  readonly hasGates: boolean
  /**
   * The text of preemption for a Pod that was refused for good before any node was looked at. kube-scheduler 1.37.2 asks its plugin of devices
   * first, which has not seen that Pod. Undefined: it says the usual.
   */
  readonly preemptionBeforeNodes: string | undefined
  /** The form of messages. */
  readonly message: {
    /** True if a refusal before any node is looked at has no count. */
    readonly hasUncountedRefusals: boolean
    /** True if the text of preemption gets one more full stop: a mistake of 1.26 to 1.28. */
    readonly hasDoubledStop: boolean
    /** The refusal of nodes that are left out before they are looked at. Undefined: they have none. */
    readonly leftOut: ((plugins: readonly string[]) => string) | undefined
  }
}

/** The rules of a level. */
export function schedulingRules({ names, level, isGateOn }: RulesSource): SchedulingRules {
  return {
    level,
    unschedulableTaint: subdomainLabel(names, 'node', 'unschedulable'),
    hostnameLabel: domainLabel(names, 'hostname'),
    zoneLabel: subdomainLabel(names, 'topology', 'zone'),
    zoneLabels: ['region', 'zone'].flatMap((name) => [
      { key: subdomainLabel(names, 'failure-domain.beta', name), later: level < 27 ? undefined : subdomainLabel(names, 'topology', name) },
      { key: subdomainLabel(names, 'topology', name), later: undefined },
    ]),
    volumes: volumeNames(names),
    volumeConflict: level < 35 ? 'node(s) had volume node affinity conflict' : "node(s) didn't match PersistentVolume's node affinity",
    hasAttributeClasses: isGateOn('VolumeAttributesClass'),
    hasClaimsOfOnePod: isGateOn('ReadWriteOncePod'),
    // As kube-scheduler 1.37.2 says it; the release of the change is not known.
    claimTaken:
      level < 37
        ? 'node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode'
        : 'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
    skipsMissingSpreads: level >= 28,
    hasMinDomains: isGateOn('MinDomainsInPodTopologySpread'),
    hasInclusionPolicies: isGateOn('NodeInclusionPolicyInPodTopologySpread'),
    hasMatchLabelKeys: isGateOn('MatchLabelKeysInPodTopologySpread'),
    namesTaints: level < 34,
    failsOnMissingNodes: level < 28,
    skipsUnrequested: level >= 28,
    knowsLargePods: level >= 34,
    scoresChangeOfBalance: level >= 36,
    skipsBalanceOfNothing: level >= 33,
    scoresInitImages: level >= 29,
    hasComparisons: isGateOn('TaintTolerationComparisonOperators'),
    marksVictims: isGateOn('PodDisruptionConditions'),
    namesPreemptor: level >= 27,
    hasObservedGeneration: isGateOn('PodObservedGenerationTracking'),
    waitsForVictimsAlone: level >= 27,
    sortsVictims: level >= 30,
    hasHints: level >= 32,
    triesPodsInBackoff: isGateOn('SchedulerPopFromBackoffQ'),
    hasDevices: level >= 34 && isGateOn('DynamicResourceAllocation'),
    devices: {
      level,
      hasPartitions: isGateOn('DRAPartitionableDevices'),
      hasTaints: isGateOn('DRADeviceTaints'),
      hasSharing: isGateOn('DRAConsumableCapacity'),
      hasLists: isGateOn('DRAListTypeAttributes'),
      hasAllocationTimes: isGateOn('DRADeviceBindingConditions') && isGateOn('DRAResourceClaimDeviceStatus'),
    },
    hasGates: isGateOn('PodSchedulingReadiness'),
    preemptionBeforeNodes: isGateOn('DynamicResourceAllocation') ? 'not found' : undefined,
    message: { hasUncountedRefusals: level >= 26, hasDoubledStop: level >= 26 && level < 29, leftOut: leftOutAt(level) },
  }
}

function leftOutAt(level: number): SchedulingRules['message']['leftOut'] {
  if (level < 28) return undefined
  if (level < 30) return () => 'node is filtered out by the prefilter result'
  return (plugins) => `node(s) didn't satisfy plugin(s) [${[...plugins].sort().join(' ')}]`
}
