import type { ContainerEnd } from './container-status.ts'
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
  | { readonly kind: 'terminated'; readonly end: ContainerEnd }

/** The end of a run, caused by its program. */
export interface ProgramEnd {
  readonly exitCode: number
  readonly message?: string
}
