import { compareVersions, parseSemver, Semver } from '@orch/cel/semver'

/** True for a semantic version: `1.37.0`. `isTolerant`: a version may begin with `v`, and lack the last numbers. */
export function isSemver(text: string, { isTolerant = false } = {}): boolean {
  return parseSemver(text, isTolerant) instanceof Semver
}

/** Compares semantic versions. A text that is no version counts as 0.0.0. `isTolerant`: as in `isSemver`. */
export function compareSemver(left: string, right: string, { isTolerant = false } = {}): number {
  return Number(compareVersions(toVersion(left, isTolerant), toVersion(right, isTolerant)))
}

function toVersion(text: string, isTolerant: boolean): Semver {
  const parsed = parseSemver(text, isTolerant)
  return parsed instanceof Semver ? parsed : new Semver([0n, 0n, 0n], [])
}
