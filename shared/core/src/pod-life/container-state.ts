import { type ContainerEnd, printEnd, printMs } from './container-status.ts'
import type { ContainerStatus } from './phase.ts'
import type { ProbeRun } from './probe-run.ts'
import type { ProbeKind, Turn } from './script-model.ts'

/** Pauses between attempts, as in the kubelet. */
export const backoffFirstMs = 10_000
export const backoffMaxMs = 300_000

/** Pause before another attempt to create a container. */
export const configRetryMs = 10_000

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
  /** The time of the stop signal; undefined if there was none. */
  stoppedMs?: number
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
      readonly reason: 'ErrImagePull' | 'ImagePullBackOff' | 'ErrImageNeverPull'
      readonly message: string
      readonly untilMs: number
    }
  | { readonly kind: 'crashed'; readonly message: string; readonly untilMs: number }
  /** An object or key for its environment is missing. */
  | { readonly kind: 'unconfigured'; readonly message: string; readonly untilMs: number }
  | Running
  | { readonly kind: 'terminated'; readonly end: ContainerEnd; readonly isReplaced?: boolean | undefined }

/** The end of a run, caused by its program. */
export interface ProgramEnd {
  readonly exitCode: number
  readonly message?: string
}

/** Prints a state for the API. `waiting` is the reason for a container that has not begun. */
export function printState(state: State, waiting: string): NonNullable<ContainerStatus['state']> {
  switch (state.kind) {
    case 'running':
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
