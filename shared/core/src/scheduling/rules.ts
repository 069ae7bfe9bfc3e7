import { domainGroup, domainLabel, type Names, subdomainLabel } from '../names.ts'
import type { BuiltIn } from '../schema/built-in.ts'
import { volumeNames } from '../workloads/volumes/objects.ts'
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
export type SchedulingRules = ReturnType<typeof schedulingRules>

/** The rules of a level with its gates. */
export function schedulingRules({ names, level, isGateOn, profiles = usualProfiles }: RulesSource) {
  return {
    level,
    profiles,
    /** The taint of nodes with `spec.unschedulable`. */
    unschedulableTaint: subdomainLabel(names, 'node', 'unschedulable'),
    hostnameLabel: domainLabel(names, 'hostname'),
    zoneLabel: subdomainLabel(names, 'topology', 'zone'),
    /** Labels of zones and regions; `later` is the label that replaces it, if it also counts. */
    zoneLabels: ['region', 'zone'].flatMap((name) => [
      { key: subdomainLabel(names, 'failure-domain.beta', name), later: level < 27 ? undefined : subdomainLabel(names, 'topology', name) },
      { key: subdomainLabel(names, 'topology', name), later: undefined },
    ]),
    volumes: volumeNames(names),
    /** The refusal of a node that cannot access a volume. */
    volumeConflict: level < 35 ? 'node(s) had volume node affinity conflict' : "node(s) didn't match PersistentVolume's node affinity",
    hasAttributeClasses: isGateOn('VolumeAttributesClass'),
    /** True if the access mode ReadWriteOncePod exists. */
    hasClaimsOfOnePod: isGateOn('ReadWriteOncePod'),
    /** The refusal of a node while another Pod uses a ReadWriteOncePod claim. It is unknown in which release the text of 1.37.2 began. */
    claimTaken:
      level < 37
        ? 'node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode'
        : 'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
    /** True if nothing to spread means no score; before 1.28 all nodes got the highest score. */
    skipsMissingSpreads: level >= 28,
    /** Feature gates of topology spread constraints. */
    hasMinDomains: isGateOn('MinDomainsInPodTopologySpread'),
    hasInclusionPolicies: isGateOn('NodeInclusionPolicyInPodTopologySpread'),
    hasMatchLabelKeys: isGateOn('MatchLabelKeysInPodTopologySpread'),
    /** True if the refusal for a taint names the taint: up to 1.33 (later patches of 1.34 do not). */
    namesTaints: level < 34,
    /** True if a Pod that names a missing node fails with an error: before 1.28. */
    failsOnMissingNodes: level < 28,
    /** True if an overcommitted resource only affects Pods that request it: since 1.28. */
    skipsUnrequested: level >= 28,
    /** True if a Pod larger than the node's capacity is refused as unresolvable. */
    knowsLargePods: level >= 34,
    /** True if the balance before the Pod also counts: since 1.36. */
    scoresChangeOfBalance: level >= 36,
    /** True if Pods without requests get no balance score: since 1.33. */
    skipsBalanceOfNothing: level >= 33,
    /** True if image locality also counts images of init containers and image volumes. */
    scoresInitImages: level >= 29,
    /** True if tolerations support Lt and Gt. */
    hasComparisons: isGateOn('TaintTolerationComparisonOperators'),
    /** True if victims get the condition DisruptionTarget. */
    marksVictims: isGateOn('PodDisruptionConditions'),
    /** True if the event about a victim names the preempting Pod: since 1.27. */
    namesPreemptor: level >= 27,
    /** True if victims that are terminating already are not deleted again: since 1.35. */
    sparesTerminating: level >= 35,
    /** True if a Pod is nominated for its node while volumes or devices are prepared there. */
    nominatesBindings: isGateOn('NominatedNodeNameForExpectation'),
    /** True if the message of a Pod with victims names its node: since 1.37. Events about the victims then lack the Pod, a bug of 1.37.2. */
    reportsPlacement: level >= 37,
    /** True if conditions contain the observed generation. */
    hasObservedGeneration: isGateOn('PodObservedGenerationTracking'),
    /** True if a Pod waits only for its victims, not for other terminating Pods: since 1.27. */
    waitsForVictimsAlone: level >= 27,
    /** True if victims of a node are compared in order of importance: since 1.30. */
    sortsVictims: level >= 30,
    /** True if plugins check changes before a refused Pod is retried: since 1.32. */
    hasHints: level >= 32,
    /** True if Pods in backoff are tried while no others wait: since 1.33. */
    triesPodsInBackoff: isGateOn('SchedulerPopFromBackoffQ'),
    /** True if Pods wait for device claims: the API is v1 from 1.34 on. */
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
    } satisfies DeviceRules,
    /** True if Pods wait while they have scheduling gates. */
    hasGates: isGateOn('PodSchedulingReadiness'),
    /**
     * The preemption message for a Pod that was refused as unresolvable before any node was checked. kube-scheduler 1.37.2 asks its device plugin
     * first, which has not seen that Pod. Undefined for the usual message.
     */
    preemptionBeforeNodes: isGateOn('DynamicResourceAllocation') ? 'not found' : undefined,
    message: {
      /** True if a refusal before any node was checked has no count. */
      hasUncountedRefusals: level >= 26,
      /** True if the preemption message has an extra full stop, a bug of 1.26 to 1.28. */
      hasDoubledStop: level >= 26 && level < 29,
      /** The refusal of nodes excluded before they were checked; undefined if they have none. */
      leftOut: leftOutAt(level),
    },
  }
}

function leftOutAt(level: number): ((plugins: readonly string[]) => string) | undefined {
  if (level < 28) return undefined
  if (level < 30) return () => 'node is filtered out by the prefilter result'
  return (plugins) => `node(s) didn't satisfy plugin(s) [${[...plugins].sort().join(' ')}]`
}
