import type { PodContainer } from './phase.ts'
import type { ProbeKind, Turn } from './script-model.ts'

export type Probe = NonNullable<PodContainer['livenessProbe']>

/** A probe over one run of a container. All times are milliseconds since 1970. */
export interface ProbeRun {
  readonly kind: ProbeKind
  readonly probe: Probe
  readonly turns: readonly Turn[]
  /** Start of the container. */
  readonly startedMs: number
  readonly firstMs: number
  /** Undefined: no later call changes anything. */
  readonly nextMs: number | undefined
  /** The last result, and how many calls in a row had it. */
  readonly last: { readonly passes: boolean; readonly count: number; readonly output?: string | undefined } | undefined
  /** The result that has reached its threshold. */
  readonly result: 'unknown' | 'pass' | 'fail'
}

export interface ProbeStart extends Pick<ProbeRun, 'kind' | 'probe' | 'turns' | 'startedMs'> {
  /** The container counts as started from then on; probes other than startup begin no earlier. */
  readonly readyToProbeMs: number
}

/** A probe before its first call, which is due after its initial delay. */
export function beginProbe({ readyToProbeMs, ...rest }: ProbeStart): ProbeRun {
  const firstMs = Math.max(readyToProbeMs, rest.startedMs + (rest.probe.initialDelaySeconds ?? 0) * 1000)
  return { ...rest, firstMs, nextMs: firstMs, last: undefined, result: 'unknown' }
}

/** True if a probe passes that many milliseconds after the start of the container. */
export function passesAt(turns: readonly Turn[], atMs: number): boolean {
  return turnAt(turns, atMs)?.passes ?? true
}

function turnAt(turns: readonly Turn[], atMs: number): Turn | undefined {
  return turns.findLast((turn) => turn.atMs <= atMs)
}

/**
 * One call. A call that cannot change the result is left out: while a probe passes, the next call is the first one after the next turn.
 *
 *   period 10 s, turns 25s:fail   calls at 0 s (passes), 30 s (fails), 40 s, 50 s: the third failure counts
 */
export function callProbe(run: ProbeRun, nowMs: number): ProbeRun {
  const { kind, probe, turns, startedMs } = run
  const { passes, output } = turnAt(turns, nowMs - startedMs) ?? { passes: true }
  const last = { passes, output, count: run.last?.passes === passes ? run.last.count + 1 : 1 }
  const threshold = passes ? (probe.successThreshold ?? 1) : (probe.failureThreshold ?? 3)
  const result = last.count < threshold ? run.result : passes ? 'pass' : 'fail'
  const called = { ...run, last, result } as const
  if (last.count >= threshold && (kind === 'startup' || (kind === 'liveness' && !passes))) return { ...called, nextMs: undefined }
  if (!passes || last.count < threshold) return { ...called, nextMs: nowMs + periodOf(probe) }
  const turn = turns.find(({ atMs, passes }) => !passes && atMs > nowMs - startedMs)
  return { ...called, nextMs: turn === undefined ? undefined : callAfter(run, Math.max(startedMs + turn.atMs, nowMs + 1)) }
}

/** The probe with other turns from now on: its next call is the next one of its period. */
export function turnProbe(run: ProbeRun, turns: readonly Turn[], nowMs: number): ProbeRun {
  return { ...run, turns, nextMs: callAfter(run, run.last === undefined ? nowMs : nowMs + 1) }
}

/** The first call at that time or later. */
function callAfter({ firstMs, probe }: ProbeRun, timeMs: number): number {
  const periodMs = periodOf(probe)
  return firstMs + Math.max(0, Math.ceil((timeMs - firstMs) / periodMs)) * periodMs
}

function periodOf({ periodSeconds }: Probe): number {
  return (periodSeconds || 10) * 1000
}

/** The text of a failed call. */
export function printFailure({ httpGet, tcpSocket, grpc }: Probe, address: string): string {
  if (httpGet != null) return 'HTTP probe failed with statuscode: 500'
  if (tcpSocket != null) return `dial tcp ${tcpSocket.host || address}:${tcpSocket.port}: connect: connection refused`
  return grpc == null ? '' : 'service unhealthy (responded with "NOT_SERVING")'
}
