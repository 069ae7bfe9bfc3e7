import type { ContainerEnd } from './container-status.ts'
import type { ProbeRun } from './probe-run.ts'
import type { ProbeKind, Turn } from './script-model.ts'

/** Pauses between attempts, as the kubelet has them. */
export const backoffFirstMs = 10_000
export const backoffMaxMs = 300_000

/** Pause of a Pod whose container could not be created. */
export const configRetryMs = 10_000

/** A container that runs. */
export interface Running {
  readonly kind: 'running'
  readonly startedMs: number
  /** Infinity: it runs until it is stopped. */
  endMs: number
  exitCode: number
  /** Absent: the one that goes with the exit code. */
  reason?: string
  message?: string
  /** Time of the signal to end. Absent: there was none. */
  stoppedMs?: number
  readonly probes: Map<ProbeKind, ProbeRun>
  /** Readiness by its program, in the place of the script's. */
  readiness?: readonly Turn[]
}

/** The present state of a container. */
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
  /** An object or a key that its environment needs is missing. */
  | { readonly kind: 'unconfigured'; readonly message: string; readonly untilMs: number }
  | Running
  | { readonly kind: 'terminated'; readonly end: ContainerEnd }

/** The end of a run that its program has brought about. */
export interface ProgramEnd {
  readonly exitCode: number
  readonly message?: string
}
