import type { Pod } from '../workloads/pods.ts'

export type Role = 'init' | 'sidecar' | 'main' | 'ephemeral'

/** An event of a Pod. */
export interface PodEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  /** `spec.containers{web}`. Default: the event is about the Pod. */
  readonly fieldPath?: string
}

/** The context of a step. */
export interface LifeStep {
  readonly pod: Pod
  readonly nowMs: number
  /** The minor version of the release. */
  readonly level: number
  /** The Pod's address. */
  readonly address: string
  /** True if no more containers start. */
  readonly isEnding: boolean
  /** Returns 64 hexadecimal digits. */
  newId(): string
  report(event: PodEvent): void
  /** The reason why a container cannot be created, in the kubelet's words; undefined if it can. */
  configProblem(container: string): string | undefined
  /** Called when a container has started. */
  onRun(container: string): void
}
