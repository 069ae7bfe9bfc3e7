/** Releases of the API whose feature gates and group versions are known, by their minor number; `own` is the one that all types are of. */
export const knownReleases = { oldest: 23, own: 25, newest: 28 } as const

/** `1.27` for 27. */
export function printRelease(minor: number): string {
  return `1.${minor}`
}

/** 26 for `1.26`. */
export function minorOf(release: string): number {
  return Number(release.slice(release.indexOf('.') + 1))
}

/**
 * How gates that this server acts on are at releases other than 1.25: from which minor number on, stage, default, and whether they are
 * locked. Before the first of them the gate does not exist. Gates that are not listed are the same at all known releases.
 */
const steps: Readonly<Record<string, readonly string[]>> = {
  CSINodeExpandSecret: ['25 alpha off', '27 beta on'],
  EndpointSliceTerminatingCondition: ['20 alpha off', '22 beta on', '26 ga on locked'],
  HPAContainerMetrics: ['20 alpha off', '27 beta on'],
  JobPodFailurePolicy: ['25 alpha off', '26 beta on'],
  MatchLabelKeysInPodTopologySpread: ['25 alpha off', '27 beta on'],
  MaxUnavailableStatefulSet: ['24 alpha off'],
  MinDomainsInPodTopologySpread: ['24 alpha off', '25 beta off', '27 beta on'],
  NetworkPolicyStatus: ['24 alpha off'],
  NodeInclusionPolicyInPodTopologySpread: ['25 alpha off', '26 beta on'],
  ProbeTerminationGracePeriod: ['21 alpha off', '22 beta off', '25 beta on', '28 ga on locked'],
  ReadWriteOncePod: ['22 alpha off', '27 beta on'],
  RetroactiveDefaultStorageClass: ['25 alpha off', '26 beta on', '28 ga on locked'],
  SELinuxMountReadWriteOncePod: ['25 alpha off', '27 beta off', '28 beta on'],
  ServerSideFieldValidation: ['23 alpha off', '25 beta on', '27 ga on locked'],
  ServiceIPStaticSubrange: ['24 alpha off', '25 beta on', '26 ga on locked'],
  ServiceInternalTrafficPolicy: ['21 alpha off', '22 beta on', '26 ga on locked'],
  StatefulSetAutoDeletePVC: ['23 alpha off', '27 beta on'],
  TopologyAwareHints: ['21 alpha off', '23 beta off', '24 beta on'],
  UserNamespacesStatelessPodsSupport: ['25 alpha off'],
}

/** Stage, default and lock of a gate at a release: `beta on`; undefined where they are as in 1.25, `absent` where the gate does not exist yet. */
export function gateAt(name: string, minor: number): string | undefined {
  if (!Object.hasOwn(steps, name)) return undefined
  const step = steps[name]!.findLast((one) => Number.parseInt(one, 10) <= minor)
  return step === undefined ? 'absent' : step.slice(step.indexOf(' ') + 1)
}
