import { boundedMemo } from '@orch/core/memo'
import type { Names } from '@orch/core/names'
import * as baseline from './baseline.ts'
import type { PodView } from './pod.ts'
import { type Level, type LevelVersion, minorOf } from './policy.ts'
import * as restricted from './restricted.ts'
import type { Violation } from './words.ts'

type Find = (pod: PodView, names: Names) => Violation | undefined

/** A check's form from a minor version on. */
interface Edition {
  readonly since: number
  readonly find: Find
}

interface Check {
  readonly level: Exclude<Level, 'privileged'>
  /** Oldest first. */
  readonly editions: readonly Edition[]
  /** A check of the baseline that says nothing new beside this one. */
  readonly replaces?: Find
}

/** The checks of the baseline first, each in the order of the listed violations. */
const checks: readonly Check[] = [
  always(baseline.findAppArmorProfiles),
  always(baseline.findAddedCapabilities),
  always(baseline.findHostNamespaces),
  always(baseline.findHostPaths),
  always(baseline.findHostPorts),
  always(baseline.findPrivileged),
  always(baseline.findProcMounts),
  always(baseline.findSeLinuxOptions),
  {
    level: 'baseline',
    editions: [
      { since: 0, find: baseline.findSeccompAnnotations },
      { since: 19, find: baseline.findSeccompProfiles },
    ],
  },
  always(baseline.findSysctls),
  always(baseline.findHostProcesses),
  { level: 'restricted', editions: linuxOnly(8, restricted.findPrivilegeEscalation) },
  { level: 'restricted', editions: linuxOnly(22, restricted.findUnrestrictedCapabilities), replaces: baseline.findAddedCapabilities },
  { level: 'restricted', editions: [{ since: 0, find: restricted.findVolumeTypes }], replaces: baseline.findHostPaths },
  { level: 'restricted', editions: [{ since: 0, find: restricted.findRoot }] },
  { level: 'restricted', editions: [{ since: 23, find: restricted.findRootUser }] },
  { level: 'restricted', editions: linuxOnly(19, restricted.findMissingSeccompProfiles), replaces: baseline.findSeccompProfiles },
]

function always(find: Find): Check {
  return { level: 'baseline', editions: [{ since: 0, find }] }
}

/** Since 1.25 a Pod for Windows need not state values that have no meaning there. */
function linuxOnly(since: number, find: Find): readonly Edition[] {
  return [
    { since, find },
    { since: 25, find: (pod, names) => (pod.spec.os?.name === 'windows' ? undefined : find(pod, names)) },
  ]
}

/** The violations of a level by a Pod, in the level's edition of a version. Versions after the latest known are the latest. */
export function evaluatePod({ level, version }: LevelVersion, pod: PodView, names: Names): readonly Violation[] {
  if (level === 'privileged') return []
  const finds = (level === 'baseline' ? baselineOf : restrictedOf)(minorOf(version))
  return finds.map((find) => find(pod, names)).filter((violation) => violation !== undefined)
}

/** Minor numbers of releases whose checks are kept. */
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
