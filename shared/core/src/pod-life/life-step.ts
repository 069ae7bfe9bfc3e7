import type { Pod } from '../workloads/pods.ts'
import type { LogLine, LogRun } from './log-lines.ts'

export type Role = 'init' | 'sidecar' | 'main' | 'ephemeral'

/** The lists of containers in a Pod's spec. */
export const fieldPaths: Readonly<Record<Role, string>> = {
  init: 'spec.initContainers',
  sidecar: 'spec.initContainers',
  main: 'spec.containers',
  ephemeral: 'spec.ephemeralContainers',
}

export interface PodEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  /** `spec.containers{web}`. Default: the event is about the Pod. */
  readonly fieldPath?: string
}

/** Reads the last lines of a run's log. */
export type ReadLog = (container: string, run: LogRun, linesMax: number) => readonly LogLine[]

/** The context of a step. */
export interface LifeStep {
  readonly pod: Pod
  readonly nowMs: number
  readonly level: number
  readonly address: string
  /** True if no more containers start. */
  readonly isEnding: boolean
  /** Returns 64 hexadecimal digits. */
  newId(): string
  report(event: PodEvent): void
  /** The reason why a container cannot be created, in the kubelet's words; undefined if it can. */
  configProblem(container: string): string | undefined
  readLog: ReadLog
  onRun(container: string): void
}

/** The grace period of a container whose Pod is not deleted. */
export function graceMsOf({ pod: { spec } }: Pick<LifeStep, 'pod'>, ownSeconds?: number | null): number {
  return (ownSeconds ?? spec.terminationGracePeriodSeconds ?? 30) * 1000
}
