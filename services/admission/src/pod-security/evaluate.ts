import { boundedMemo } from '@orch/core/memo'
import * as baseline from './baseline.ts'
import type { PodView } from './pod.ts'
import { type Level, type LevelVersion, minorOf } from './policy.ts'
import * as restricted from './restricted.ts'
import type { Violation } from './words.ts'

type Find = (pod: PodView, judge: baseline.Judge) => Violation | undefined

/** The form of a check from a minor version on. */
interface Edition {
  readonly since: number
  readonly find: Find
}

interface Check {
  readonly level: Exclude<Level, 'privileged'>
  /** Oldest first. */
  readonly editions: readonly Edition[]
  /** A baseline check that this check makes redundant. */
  readonly replaces?: Find
}

/** Since 1.35 the baseline ignores proc mounts of Pods in a user namespace. */
const procMountEditions = hostUsersOnly(0, baseline.findProcMounts)

/** The baseline checks first, each in the order of the listed violations. */
const checks: readonly Check[] = [
  always(baseline.findAppArmorProfiles),
  always(baseline.findAddedCapabilities),
  always(baseline.findHostNamespaces),
  always(baseline.findHostPaths),
  always(baseline.findHostPorts),
  { level: 'baseline', editions: [{ since: 34, find: baseline.findProbeHosts }] },
  always(baseline.findPrivileged),
  { level: 'baseline', editions: procMountEditions },
  {
    level: 'baseline',
    editions: [
      { since: 0, find: baseline.findSeLinuxOptions },
      { since: 31, find: baseline.findSeLinuxOptionsOfEngines },
    ],
  },
  {
    level: 'baseline',
    editions: [
      { since: 0, find: baseline.findSeccompAnnotations },
      { since: 19, find: baseline.findSeccompProfiles },
    ],
  },
  { level: 'baseline', editions: baseline.sysctlEditions },
  always(baseline.findHostProcesses),
  { level: 'restricted', editions: linuxOnly(8, restricted.findPrivilegeEscalation) },
  { level: 'restricted', editions: linuxOnly(22, restricted.findUnrestrictedCapabilities), replaces: baseline.findAddedCapabilities },
  { level: 'restricted', editions: [{ since: 35, find: baseline.findProcMounts }], replaces: procMountEditions[1].find },
  { level: 'restricted', editions: [{ since: 0, find: restricted.findVolumeTypes }], replaces: baseline.findHostPaths },
  { level: 'restricted', editions: hostUsersOnly(0, restricted.findRoot) },
  { level: 'restricted', editions: hostUsersOnly(23, restricted.findRootUser) },
  { level: 'restricted', editions: linuxOnly(19, restricted.findMissingSeccompProfiles), replaces: baseline.findSeccompProfiles },
]

function always(find: Find): Check {
  return { level: 'baseline', editions: [{ since: 0, find }] }
}

/** Since 1.25 a Pod for Windows may omit values without meaning there. */
function linuxOnly(since: number, find: Find): readonly Edition[] {
  return [
    { since, find },
    { since: 25, find: (pod, judge) => (pod.spec.os?.name === 'windows' ? undefined : find(pod, judge)) },
  ]
}

/** Since 1.35 a Pod in a user namespace may run as root, which has no rights on the node. */
function hostUsersOnly(since: number, find: Find): readonly [Edition, Edition] {
  return [
    { since, find },
    { since: 35, find: (pod, judge) => (pod.spec.hostUsers === false ? undefined : find(pod, judge)) },
  ]
}

/** The violations of a level by a Pod, under the rules of a version. Versions after the server's use the rules of the server. */
export function evaluatePod({ level, version }: LevelVersion, pod: PodView, judge: baseline.Judge): readonly Violation[] {
  if (level === 'privileged') return []
  const finds = (level === 'baseline' ? baselineOf : restrictedOf)(minorOf(version, judge.level))
  return finds.map((find) => find(pod, judge)).filter((violation) => violation !== undefined)
}

/** Maximum number of releases whose checks are cached. */
const editionsMax = 256

/** The checks of the level baseline, by the minor number of the release. */
const baselineOf = boundedMemo(editionsMax, (minor: number) => findsOf('baseline', minor))

/** The checks of the level restricted, by the minor number of the release. */
const restrictedOf = boundedMemo(editionsMax, (minor: number) => findsOf('restricted', minor))

function findsOf(level: Check['level'], minor: number): readonly Find[] {
  const replaced = new Set<Find>()
  const finds: Find[] = []
  for (const check of checks) {
    if (check.level === 'restricted' && level === 'baseline') continue
    const edition = check.editions.findLast(({ since }) => since <= minor)
    if (edition === undefined) continue
    finds.push(edition.find)
    if (check.replaces !== undefined) replaced.add(check.replaces)
  }
  return finds.filter((find) => !replaced.has(find))
}

/** `privileged (container "a" must not …), hostPort (…)`. */
export function printViolations(violations: readonly Violation[]): string {
  return violations.map(({ reason, detail }) => `${reason} (${detail})`).join(', ')
}

/** `privileged, hostPort`. */
export function printReasons(violations: readonly Violation[]): string {
  return violations.map(({ reason }) => reason).join(', ')
}
