import { printDuration } from '../meta/duration.ts'
import { type ContainerEnd, printEnd, printMs } from './container-status.ts'
import type { Hook, StartHook } from './hooks.ts'
import type { LifeStep } from './life-step.ts'
import type { ContainerStatus } from './phase.ts'
import type { ProbeRun } from './probe-run.ts'
import type { ContainerScript, HookKind, ProbeKind, Turn } from './script-model.ts'

/** Pauses between attempts, as in the kubelet. */
export const backoffFirstMs = 10_000
export const backoffMaxMs = 300_000

/** Pause before another attempt to create a container. */
export const configRetryMs = 10_000

/** The texts about a container that waits before its next start. */
export function backoffTexts(container: string, delayMs: number, { pod, level }: Pick<LifeStep, 'pod' | 'level'>) {
  const { name, namespace, uid } = pod.metadata
  const place = `${name}_${namespace}(${uid})`
  const delay = printDuration(BigInt(delayMs) * 1_000_000n)
  return {
    event: `Back-off restarting failed container${level < 26 ? '' : ` ${container} in pod ${place}`}`,
    message: `back-off ${delay} restarting failed container=${container} pod=${place}`,
  }
}

/** A running container. */
export interface Running {
  readonly kind: 'running'
  readonly startedMs: number
  /** Infinity if it runs until it is stopped. */
  endMs: number
  exitCode: number
  /** Default: the reason for the exit code. */
  reason?: string
  message?: string
  startHook?: StartHook | undefined
  /** The time at which the node began to stop it; undefined if it did not. */
  stoppedMs?: number
  stop?: Stop
  /** The time of the stop signal, after the preStop hook. */
  signalMs?: number
  /** True if its preStop hook fails, which is not reported yet. */
  stopHookFails?: boolean
  /** The hook whose call was made last, or is made. */
  calledHook?: HookKind
  /** The end of a preStop hook whose call was made. */
  stopHook?: Hook
  /** True if the container starts again after this run, whatever its policy. */
  isReplaced?: boolean
  readonly probes: Map<ProbeKind, ProbeRun>
  /** The readiness that its program reports, instead of the script's. */
  readiness?: readonly Turn[]
}

/** The current state of a container. */
export type State =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'pulling'; readonly beganMs: number; readonly untilMs: number }
  | { readonly kind: 'starting'; readonly beganMs: number; readonly untilMs: number }
  | {
      readonly kind: 'unpulled'
      readonly reason: 'ErrImagePull' | 'ImagePullBackOff' | 'ErrImageNeverPull' | 'InvalidImageName'
      readonly message: string
      readonly untilMs: number
    }
  | { readonly kind: 'crashed'; readonly message: string; readonly untilMs: number }
  /** An object or key for its environment is missing. */
  | { readonly kind: 'unconfigured'; readonly message: string; readonly untilMs: number }
  | Running
  | { readonly kind: 'terminated'; readonly end: ContainerEnd; readonly isReplaced?: boolean | undefined }

/** Minimum time between the stop signal and the kill after a preStop hook. */
const graceAfterHookMs = 2000
/** The exit code after SIGKILL. */
export const killedCode = 137

interface Stop {
  readonly stoppedMs: number
  readonly graceMs: number
  readonly exitCode: number
  readonly shutdown: ContainerScript['shutdown']
  readonly hook: Hook | undefined
}

/** Stops a run: after its preStop hook the container has the rest of the grace period to end by itself. False if nothing changes. */
export function stopRun(state: Running, stop: Stop): boolean {
  const { stoppedMs, graceMs, exitCode, shutdown } = stop
  const hook = state.stopHook ?? stop.hook
  const hookMs = Math.min(graceMs, hook?.ms ?? 0)
  const leftMs = hookMs === 0 ? graceMs : Math.max(graceAfterHookMs, graceMs - Math.floor(hookMs / 1000) * 1000)
  const signalMs = stoppedMs + hookMs
  const endMs = signalMs + Math.min(leftMs, shutdown.ms)
  const isNews = state.stoppedMs === undefined || endMs < state.endMs
  Object.assign(state, {
    stop,
    stoppedMs,
    signalMs,
    ...(state.stoppedMs === undefined && graceMs > 0 && hook?.fails && { stopHookFails: true }),
  })
  if (endMs < state.endMs) {
    state.endMs = endMs
    state.exitCode = shutdown.ms > leftMs || graceMs === 0 ? killedCode : (shutdown.exitCode ?? exitCode)
    delete state.reason
    delete state.message
  }
  return isNews
}

/** The hook of a run whose call is to be made now; it is returned once. */
export function takeHook(run: Running): HookKind | undefined {
  const kind =
    run.stop?.hook?.isCalled === true && run.stop.graceMs > 0 ? 'preStop' : run.startHook?.isCalled === true ? 'postStart' : undefined
  if (kind === undefined || kind === run.calledHook) return undefined
  run.calledHook = kind
  return kind
}

/** Ends a hook of a run whose call was made. */
export function endHook(run: Running, kind: HookKind, fails: boolean, nowMs: number): void {
  if (kind === 'postStart') run.startHook = run.startHook && { untilMs: nowMs, fails }
  else if (run.stop !== undefined) {
    run.stopHook = { ms: nowMs - run.stop.stoppedMs, fails }
    run.stopHookFails = fails
    stopRun(run, run.stop)
  }
}

/** The end of a run, caused by its program. */
export interface ProgramEnd {
  readonly exitCode: number
  readonly message?: string
}

/** Prints a state for the API. `waiting` is the reason for a container that has not begun. */
export function printState(state: State, waiting: string): NonNullable<ContainerStatus['state']> {
  switch (state.kind) {
    case 'running':
      if (state.startHook !== undefined) return { waiting: { reason: waiting } }
      return { running: { startedAt: printMs(state.startedMs) } }
    case 'terminated':
      return { terminated: printEnd(state.end) }
    case 'crashed':
      return { waiting: { reason: 'CrashLoopBackOff', message: state.message } }
    case 'unpulled':
      return { waiting: { reason: state.reason, message: state.message } }
    case 'unconfigured':
      return { waiting: { reason: 'CreateContainerConfigError', message: state.message } }
    default:
      return { waiting: { reason: waiting } }
  }
}
