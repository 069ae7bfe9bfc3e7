import type { Pod } from '../workloads/pods.ts'

/** A container in a Pod's spec. */
export type PodContainer = NonNullable<Pod['spec']['containers']>[number]
export type ContainerStatus = NonNullable<Pod['status']['containerStatuses']>[number]

/** True for an init container that keeps running beside the others. KEP-753. */
export function isSidecar({ restartPolicy }: PodContainer): boolean {
  return restartPolicy === 'Always'
}

/** True if a container restarts after this exit code: its rules decide first, then its policy, then the Pod's. KEP-5307. */
export function restartsAfter(container: PodContainer, spec: Pod['spec'], exitCode: number): boolean {
  const { restartPolicy, restartPolicyRules = [] } = container
  const rule = restartPolicyRules?.find(({ exitCodes }) => exitCodes != null && matches(exitCodes, exitCode))
  if (restartPolicy && rule !== undefined) return true
  const policy = restartPolicy || spec.restartPolicy
  return policy === 'OnFailure' ? exitCode !== 0 : policy !== 'Never'
}

function matches({ operator, values }: { readonly operator?: string; readonly values?: readonly number[] }, exitCode: number): boolean {
  const isListed = values?.includes(exitCode) === true
  return operator === 'In' ? isListed : operator === 'NotIn' && !isListed
}

export interface PhaseInput {
  readonly spec: Pod['spec']
  readonly statuses: readonly ContainerStatus[]
  /** True if no container will run again, whatever the policy. */
  readonly isOver?: boolean
  /** True if a container of `spec.containers` has run. */
  readonly hasStarted?: boolean
}

interface Counts {
  pendingInit: number
  pendingSidecars: number
  failedInit: number
  unknown: number
  waiting: number
  running: number
  stopped: number
  succeeded: number
  restarting: number
}

/**
 * The phase of a Pod from the states of its containers, by the kubelet's rules.
 *
 *   restartPolicy Never, exit codes 0 and 1   Failed
 *   restartPolicy Always, exit codes 0 and 1  Running: they restart
 */
export function podPhase({ spec, statuses, isOver = false, hasStarted = false }: PhaseInput): string {
  const byName = new Map(statuses.map((status) => [status.name, status]))
  const counts: Counts = {
    ...{ pendingInit: 0, pendingSidecars: 0, failedInit: 0, unknown: 0 },
    ...{ waiting: 0, running: 0, stopped: 0, succeeded: 0, restarting: 0 },
  }
  for (const container of spec.initContainers ?? []) {
    if (isSidecar(container)) countSidecar(byName.get(container.name), counts)
    else countInit(container, spec, byName.get(container.name), counts)
  }
  for (const container of spec.containers ?? []) countMain(container, spec, byName.get(container.name), counts)
  return phaseOf(counts, isOver, hasStarted)
}

function phaseOf(counts: Counts, isOver: boolean, hasStarted: boolean): string {
  if (counts.failedInit > 0) return 'Failed'
  if (counts.pendingInit > 0 || (counts.pendingSidecars > 0 && !hasStarted) || counts.waiting > 0) return 'Pending'
  if (counts.unknown > 0) return 'Pending'
  if (counts.running > 0) return 'Running'
  if (counts.stopped === 0) return 'Pending'
  if (counts.restarting > 0 && !isOver) return 'Running'
  return counts.stopped === counts.succeeded ? 'Succeeded' : 'Failed'
}

function countInit(container: PodContainer, spec: Pod['spec'], status: ContainerStatus | undefined, counts: Counts): void {
  const { state, lastState } = status ?? {}
  const end = state?.terminated ?? (state?.waiting ? lastState?.terminated : undefined)
  if (end == null) counts.pendingInit += 1
  else if (end.exitCode !== 0 && !restartsAfter(container, spec, end.exitCode)) counts.failedInit += 1
}

function countSidecar(status: ContainerStatus | undefined, counts: Counts): void {
  const { state, lastState, started } = status ?? {}
  if (state?.running) {
    if (started !== true) counts.pendingSidecars += 1
    counts.running += 1
  } else if (state?.waiting) {
    if (lastState?.terminated) return
    counts.pendingSidecars += 1
    counts.waiting += 1
  } else if (!state?.terminated) {
    counts.unknown += 1
  }
}

function countMain(container: PodContainer, spec: Pod['spec'], status: ContainerStatus | undefined, counts: Counts): void {
  const { state, lastState } = status ?? {}
  const end = state?.terminated ?? (state?.waiting ? lastState?.terminated : undefined)
  if (state?.running) counts.running += 1
  else if (end != null) {
    counts.stopped += 1
    if (restartsAfter(container, spec, end.exitCode)) counts.restarting += 1
    if (state?.terminated?.exitCode === 0) counts.succeeded += 1
  } else if (state?.waiting) counts.waiting += 1
  else counts.unknown += 1
}
