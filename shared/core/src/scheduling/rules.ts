import { domainGroup, domainLabel, type Names, subdomainLabel } from '../names.ts'
import type { BuiltIn } from '../schema/built-in.ts'
import { type VolumeNames, volumeNames } from '../workloads/volumes/objects.ts'
import type { DeviceRules } from './devices/objects.ts'

/** The affinity to nodes that a scheduler adds to each of its Pods. */
export type AddedAffinity = BuiltIn<'core/v1.NodeAffinity'>

/** The names under which the scheduler serves Pods, each with its added affinity (SCHED-32). */
export type SchedulerProfiles = ReadonlyMap<string, AddedAffinity | undefined>

/** The profile without a configuration. */
const usualProfiles: SchedulerProfiles = new Map([['default-scheduler', undefined]])

/** A level and its feature gates. */
export interface RulesSource {
  readonly names: Names
  /** The minor version, such as 37. */
  readonly level: number
  readonly isGateOn: (gate: string) => boolean
  /** Default: `default-scheduler` without an added affinity. */
  readonly profiles?: SchedulerProfiles | undefined
}

/** Rules and texts of the scheduler that differ between releases, and names. */
export interface SchedulingRules {
  readonly level: number
  readonly profiles: SchedulerProfiles
  /** The taint of nodes with `spec.unschedulable`. */
  readonly unschedulableTaint: string
  readonly hostnameLabel: string
  readonly zoneLabel: string
  /** Labels of zones and regions; `later` is the label that replaces it, if it also counts. */
  readonly zoneLabels: readonly { readonly key: string; readonly later: string | undefined }[]
  readonly volumes: VolumeNames
  /** The refusal of a node that cannot access a volume. */
  readonly volumeConflict: string
  readonly hasAttributeClasses: boolean
  /** True if the access mode ReadWriteOncePod exists. */
  readonly hasClaimsOfOnePod: boolean
  /** The refusal of a node while another Pod uses a ReadWriteOncePod claim. */
  readonly claimTaken: string
  /** True if the refusal for a taint names the taint: up to 1.33 (later patches of 1.34 do not). */
  readonly namesTaints: boolean
  /** True if a Pod that names a missing node fails with an error: before 1.28. */
  readonly failsOnMissingNodes: boolean
  /** True if an overcommitted resource only affects Pods that request it: since 1.28. */
  readonly skipsUnrequested: boolean
  /** True if a Pod larger than the node's capacity is refused as unresolvable. */
  readonly knowsLargePods: boolean
  /** True if the balance before the Pod also counts: since 1.36. */
  readonly scoresChangeOfBalance: boolean
  /** True if Pods without requests get no balance score: since 1.33. */
  readonly skipsBalanceOfNothing: boolean
  /** True if image locality also counts images of init containers and image volumes. */
  readonly scoresInitImages: boolean
  /** True if nothing to spread means no score; before 1.28 all nodes got the highest score. */
  readonly skipsMissingSpreads: boolean
  /** Feature gates of topology spread constraints. */
  readonly hasMinDomains: boolean
  readonly hasInclusionPolicies: boolean
  readonly hasMatchLabelKeys: boolean
  /** True if tolerations support Lt and Gt. */
  readonly hasComparisons: boolean
  /** True if victims get the condition DisruptionTarget. */
  readonly marksVictims: boolean
  /** True if the event about a victim names the preempting Pod: since 1.27. */
  readonly namesPreemptor: boolean
  /** True if victims that are terminating already are not deleted again: since 1.35. */
  readonly sparesTerminating: boolean
  /** True if a Pod is nominated for its node while volumes or devices are prepared there. */
  readonly nominatesBindings: boolean
  /** True if the message of a Pod with victims names its node: since 1.37. Events about the victims then lack the Pod, a bug of 1.37.2. */
  readonly reportsPlacement: boolean
  /** True if conditions contain the observed generation. */
  readonly hasObservedGeneration: boolean
  /** True if a Pod waits only for its victims, not for other terminating Pods: since 1.27. */
  readonly waitsForVictimsAlone: boolean
  /** True if victims of a node are compared in order of importance: since 1.30. */
  readonly sortsVictims: boolean
  /** True if plugins check changes before a refused Pod is retried: since 1.32. */
  readonly hasHints: boolean
  /** True if Pods in backoff are tried while no others wait: since 1.33. */
  readonly triesPodsInBackoff: boolean
  /** True if Pods wait for device claims: the API is v1 from 1.34 on. */
  readonly hasDevices: boolean
  readonly devices: DeviceRules
  /** True if Pods wait while they have scheduling gates. */
  readonly hasGates: boolean
  /**
   * The preemption message for a Pod that was refused as unresolvable before any node was checked. kube-scheduler 1.37.2 asks its device plugin
   * first, which has not seen that Pod. Undefined for the usual message.
   */
  readonly preemptionBeforeNodes: string | undefined
  readonly message: {
    /** True if a refusal before any node was checked has no count. */
    readonly hasUncountedRefusals: boolean
    /** True if the preemption message has an extra full stop, a bug of 1.26 to 1.28. */
    readonly hasDoubledStop: boolean
    /** The refusal of nodes excluded before they were checked; undefined if they have none. */
    readonly leftOut: ((plugins: readonly string[]) => string) | undefined
  }
}

export function schedulingRules({ names, level, isGateOn, profiles = usualProfiles }: RulesSource): SchedulingRules {
  return {
    level,
    profiles,
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
    // The text of kube-scheduler 1.37.2; it is unknown in which release it changed.
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
    sparesTerminating: level >= 35,
    nominatesBindings: isGateOn('NominatedNodeNameForExpectation'),
    reportsPlacement: level >= 37,
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
      hasTaintRules: level >= 37 && isGateOn('DRADeviceTaintRules'),
      hasSharing: isGateOn('DRAConsumableCapacity'),
      hasLists: isGateOn('DRAListTypeAttributes'),
      hasBindingConditions: isGateOn('DRADeviceBindingConditions') && isGateOn('DRAResourceClaimDeviceStatus'),
      hasExtendedResources: level >= 34 && isGateOn('DynamicResourceAllocation') && isGateOn('DRAExtendedResource'),
      extendedClaim: subdomainLabel(names, 'resource', 'extended-resource-claim'),
      classPrefix: subdomainLabel(names, 'deviceclass.resource', ''),
      claimVersion: `${domainGroup(names, 'resource')}/v1`,
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
