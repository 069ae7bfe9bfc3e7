import type { Pod } from '../workloads/pods.ts'

export type Role = 'init' | 'sidecar' | 'main' | 'ephemeral'

/** An event of a Pod. */
export interface PodEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  /** `spec.containers{web}`. Absent: it is about the Pod. */
  readonly fieldPath?: string
}

/** The surroundings of one step. */
export interface LifeStep {
  readonly pod: Pod
  readonly nowMs: number
  /** Minor number of the release. */
  readonly level: number
  /** The address of the Pod. */
  readonly address: string
  /** No container starts any more. */
  readonly isEnding: boolean
  /** 64 hexadecimal digits. */
  newId(): string
  report(event: PodEvent): void
  /** The reason why a container cannot be created, in the words of a kubelet. Undefined: it can. */
  configProblem(container: string): string | undefined
  /** A container has begun to run. */
  onRun(container: string): void
}
