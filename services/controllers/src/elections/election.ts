import { printMicroTime, toInstant } from '@orch/core/meta'
import type { BuiltIn } from '@orch/core/schema'
import { compareSemver, isSemver } from '@orch/core/validation'

export type Lease = BuiltIn<'coordination/v1.Lease'>
export type Candidate = BuiltIn<'coordination/v1beta1.LeaseCandidate'>
type LeaseSpec = BuiltIn<'coordination/v1.LeaseSpec'>

/** Time in which a candidate has to answer. */
export const electionMs = 5_000
/** Time after which a candidate that does not renew is gone. */
const candidateMs = 30 * 60_000
const leaseSeconds = 5
const tolerant = { isTolerant: true }

/** The next step of an election. */
export type ElectionStep =
  /** The holder is the best candidate, or candidates may still answer. */
  | { readonly kind: 'wait' }
  /** Candidates are asked to renew. */
  | { readonly kind: 'ask'; readonly candidates: readonly Candidate[] }
  /** The lease gets this specification. */
  | { readonly kind: 'elect'; readonly spec: LeaseSpec }
  /** Nothing follows before the next event. */
  | { readonly kind: 'stop' }

/** True for a candidate that has not renewed for long. */
export function isGone({ spec, metadata }: Candidate, nowMs: number): boolean {
  return timeOf(spec.renewTime ?? metadata.creationTimestamp) + candidateMs < nowMs
}

/**
 * The next step of the election of a lease's holder. It depends on the lease and its candidates alone, as in kube-apiserver: candidates are asked,
 * answer by a renewal within five seconds, and the best candidate that answered is elected.
 */
export function decideElection(lease: Lease | undefined, candidates: readonly Candidate[], nowMs: number): ElectionStep {
  const present = candidates.filter(({ spec }) => spec.renewTime != null && timeOf(spec.renewTime) + candidateMs >= nowMs)
  if (present.length === 0) return { kind: 'stop' }
  if (!isNeeded(lease, present, nowMs)) return { kind: 'wait' }
  const isWaiting = (one: Candidate) => askedAt(one) + electionMs > nowMs && renewedAt(one) < askedAt(one)
  const hasAnswered = (one: Candidate) => renewedAt(one) + electionMs > nowMs
  const unasked = present.filter((one) => !isWaiting(one) && !hasAnswered(one) && isToBeAsked(one, nowMs))
  if (unasked.length > 0) return { kind: 'ask', candidates: unasked }
  if (present.some(isWaiting)) return { kind: 'wait' }
  const answered = present.filter(hasAnswered)
  const strategy = strategyOf(answered)
  if (strategy === undefined) return { kind: 'stop' }
  const holder = strategy === 'OldestEmulationVersion' ? best(answered)?.metadata.name : undefined
  const spec = specAfter(lease?.spec, strategy, holder, nowMs)
  return spec === undefined ? { kind: 'wait' } : { kind: 'elect', spec }
}

/** A candidate that never answered is not asked again. */
function isToBeAsked(one: Candidate, nowMs: number): boolean {
  return one.spec.pingTime == null || (askedAt(one) + electionMs < nowMs && renewedAt(one) >= askedAt(one))
}

function isNeeded(lease: Lease | undefined, candidates: readonly Candidate[], nowMs: number): boolean {
  if (lease === undefined || isExpired(lease.spec, nowMs) || !lease.spec?.holderIdentity) return true
  // All candidates are asked from time to time, so that absent ones can be deleted.
  if (candidates.some((one) => renewedAt(one) + candidateMs / 2 < nowMs)) return true
  if (strategyOf(candidates) !== 'OldestEmulationVersion') return false
  const wanted = best(candidates)
  return wanted !== undefined && wanted.metadata.name !== lease.spec.holderIdentity
}

function isExpired(spec: LeaseSpec | undefined, nowMs: number): boolean {
  if (spec?.renewTime == null || spec.leaseDurationSeconds == null) return true
  return timeOf(spec.renewTime) + spec.leaseDurationSeconds * 1_000 < nowMs
}

/** The strategy of the newest candidate; undefined if candidates of one version differ. */
function strategyOf(candidates: readonly Candidate[]): string | undefined {
  const [first, ...others] = candidates
  if (first === undefined) return undefined
  let newest = first
  for (const one of others) {
    const order = compareVersions(newest.spec.binaryVersion, one.spec.binaryVersion)
    if (order === 0 && one.spec.strategy !== newest.spec.strategy) return undefined
    if (order < 0) newest = one
  }
  return newest.spec.strategy
}

/** The candidate with the oldest emulated version, then the oldest version, then the longest life. Other strategies need no emulated version. */
function best(candidates: readonly Candidate[]): Candidate | undefined {
  const isVersion = (text = '') => isSemver(text, tolerant)
  const versioned = candidates.filter(({ spec }) => isVersion(spec.emulationVersion) && isVersion(spec.binaryVersion))
  return versioned.toSorted(
    (one, other) =>
      compareVersions(one.spec.emulationVersion, other.spec.emulationVersion) ||
      compareVersions(one.spec.binaryVersion, other.spec.binaryVersion) ||
      timeOf(one.metadata.creationTimestamp) - timeOf(other.metadata.creationTimestamp),
  )[0]
}

/** The lease after an election; undefined without a change. */
function specAfter(before: LeaseSpec | undefined, strategy: string, holder: string | undefined, nowMs: number): LeaseSpec | undefined {
  const renewTime = printMicroTime(toInstant(nowMs))
  if (before === undefined)
    return { strategy, leaseDurationSeconds: leaseSeconds, renewTime, ...(holder === undefined ? {} : { holderIdentity: holder }) }
  const isOther = holder !== undefined && before.holderIdentity !== holder
  if (isOther && (!before.holderIdentity || isExpired(before, nowMs))) {
    const { preferredHolder: _preferred, acquireTime: _acquired, ...rest } = before
    return { ...rest, strategy, holderIdentity: holder, renewTime, leaseDurationSeconds: leaseSeconds }
  }
  if (isOther && before.preferredHolder !== holder) return { ...before, strategy, preferredHolder: holder }
  return before.strategy === strategy ? undefined : { ...before, strategy }
}

function compareVersions(left = '', right = ''): number {
  return compareSemver(left, right, tolerant)
}

function askedAt({ spec }: Candidate): number {
  return timeOf(spec.pingTime)
}

function renewedAt({ spec }: Candidate): number {
  return timeOf(spec.renewTime)
}

function timeOf(text: string | null | undefined): number {
  return text == null ? Number.NEGATIVE_INFINITY : Date.parse(text)
}
