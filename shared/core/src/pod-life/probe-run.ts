import type { PodContainer } from './phase.ts'
import type { ProbeKind, Turn } from './script-model.ts'

type Probe = NonNullable<PodContainer['livenessProbe']>

/** A probe during one run of a container. All times are milliseconds since 1970. */
export interface ProbeRun {
  readonly kind: ProbeKind
  readonly probe: Probe
  readonly turns: readonly Turn[]
  /** The container's ports, which probes may name. */
  readonly ports: PodContainer['ports']
  readonly startedMs: number
  readonly firstMs: number
  /** Undefined if no later call can change the result. */
  readonly nextMs: number | undefined
  /** The last result, and the number of consecutive calls with it. */
  readonly last: { readonly passes: boolean; readonly count: number; readonly output?: string | undefined } | undefined
  /** True if its command runs for each call, which waits for the result as its only turn. */
  readonly isAsked: boolean
  /** The result that has reached its threshold. */
  readonly result: 'unknown' | 'pass' | 'fail'
}

export interface ProbeStart extends Pick<ProbeRun, 'kind' | 'probe' | 'turns' | 'isAsked' | 'ports' | 'startedMs'> {
  /** The time from which the container counts as started; probes other than the startup probe begin no earlier. */
  readonly readyToProbeMs: number
}

/** A new probe, whose first call follows its initial delay. */
export function beginProbe({ readyToProbeMs, ...rest }: ProbeStart): ProbeRun {
  const firstMs = Math.max(readyToProbeMs, rest.startedMs + (rest.probe.initialDelaySeconds ?? 0) * 1000)
  return { ...rest, firstMs, nextMs: firstMs, last: undefined, result: 'unknown' }
}

/** True if a probe passes at this time after the start of the container. */
export function passesAt(turns: readonly Turn[], atMs: number): boolean {
  return turnAt(turns, atMs)?.passes ?? true
}

function turnAt(turns: readonly Turn[], atMs: number): Turn | undefined {
  return turns.findLast((turn) => turn.atMs <= atMs)
}

/**
 * Makes one call. Calls that cannot change the result are skipped: while a probe passes, the next call is the first one after the next turn.
 *
 *   period 10 s, turns 25s:fail   calls at 0 s (passes), 30 s (fails), 40 s, 50 s: the third failure counts
 */
export function callProbe(run: ProbeRun, nowMs: number): ProbeRun {
  const { kind, probe, startedMs } = run
  const turns = portProblem(run) === undefined ? run.turns : unreachable
  const { passes, output } = turnAt(turns, nowMs - startedMs) ?? { passes: true }
  const last = { passes, output, count: run.last?.passes === passes ? run.last.count + 1 : 1 }
  const threshold = passes ? (probe.successThreshold ?? 1) : (probe.failureThreshold ?? 3)
  const result = last.count < threshold ? run.result : passes ? 'pass' : 'fail'
  const called = { ...run, last, result, turns: run.isAsked ? [] : run.turns } as const
  if (last.count >= threshold && (kind === 'startup' || (kind === 'liveness' && !passes))) return { ...called, nextMs: undefined }
  if (!passes || last.count < threshold || run.isAsked) return { ...called, nextMs: nowMs + periodOf(probe) }
  const turn = turns.find(({ atMs, passes }) => !passes && atMs > nowMs - startedMs)
  return { ...called, nextMs: turn === undefined ? undefined : callAfter(run, Math.max(startedMs + turn.atMs, nowMs + 1)) }
}

/** Changes the turns of a probe from now on; its next call is the next one of its period. */
export function turnProbe(run: ProbeRun, turns: readonly Turn[], nowMs: number): ProbeRun {
  return { ...run, turns, nextMs: callAfter(run, run.last === undefined ? nowMs : nowMs + 1) }
}

/** Takes the probes whose calls are to be made now. None is due again before `setFinding`; calls missed meanwhile are not made later. */
export function takeProbes(probes: Map<ProbeKind, ProbeRun>, nowMs: number): ProbeRun[] {
  const due = [...probes.values()].filter(({ nextMs = nowMs + 1, turns, isAsked }) => isAsked && turns.length === 0 && nextMs <= nowMs)
  for (const run of due) probes.set(run.kind, { ...run, nextMs: undefined })
  return due.map((run) => ({ ...run, nextMs: callAfter(run, nowMs + 1 - periodOf(run.probe)) }))
}

/** Ends the call of a taken probe. */
export function setFinding(probes: Map<ProbeKind, ProbeRun>, taken: ProbeRun, finding: Omit<Turn, 'atMs'>): void {
  probes.set(taken.kind, { ...taken, turns: [{ atMs: 0, ...finding }] })
}

function callAfter({ firstMs, probe }: ProbeRun, timeMs: number): number {
  const periodMs = periodOf(probe)
  return firstMs + Math.max(0, Math.ceil((timeMs - firstMs) / periodMs)) * periodMs
}

function periodOf({ periodSeconds }: Probe): number {
  return (periodSeconds || 10) * 1000
}

/** The turns of a probe whose port cannot be resolved. */
const unreachable: readonly Turn[] = [{ atMs: 0, passes: false }]
/** The first level at which a text of digits is not a port number. */
const namesAloneSince = 37
/** The first level whose message contains the state of a probe that cannot be called. */
const statesShownSince = 33

/** Resolves a port number or name, or returns an error (prober.go, later probe/util.go). */
export function resolvePort(
  port: number | string,
  ports: PodContainer['ports'],
  level = namesAloneSince,
): { readonly port: number } | { readonly problem: string } {
  const number = typeof port === 'number' ? port : (ports?.find(({ name }) => name === port)?.containerPort ?? parsePort(port, level))
  if (typeof number === 'string') return { problem: number }
  return number > 0 && number < 65_536 ? { port: number } : { problem: `invalid port number: ${number}` }
}

function parsePort(text: string, level: number): number | string {
  if (level >= namesAloneSince) return `port ${JSON.stringify(text)} not found`
  return /^[+-]?\d+$/.test(text) ? Number(text) : `strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`
}

/** The error of a probe that cannot be called. A port name that the API accepts contains a letter, so the level only affects the text. */
function portProblem({ probe, ports }: Pick<ProbeRun, 'probe' | 'ports'>, level = namesAloneSince): string | undefined {
  const port = probe.httpGet?.port ?? probe.tcpSocket?.port
  const resolved = port == null ? undefined : resolvePort(port, ports, level)
  return resolved !== undefined && 'problem' in resolved ? resolved.problem : undefined
}

/** The message about a failed call after its kind. */
export function printFailure(run: ProbeRun, address: string, level: number): string {
  const problem = portProblem(run, level)
  if (problem !== undefined) return `probe errored${level < statesShownSince ? '' : ' and resulted in unknown state'}: ${problem}`
  return `probe failed: ${run.last?.output ?? failureOf(run, address)}`
}

function failureOf({ probe: { httpGet, tcpSocket, grpc }, ports }: ProbeRun, address: string): string {
  if (httpGet != null) return 'HTTP probe failed with statuscode: 500'
  if (tcpSocket != null) {
    const resolved = resolvePort(tcpSocket.port, ports)
    return `dial tcp ${tcpSocket.host || address}:${'port' in resolved ? resolved.port : ''}: connect: connection refused`
  }
  return grpc == null ? '' : 'service unhealthy (responded with "NOT_SERVING")'
}
