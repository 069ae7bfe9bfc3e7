import { printTime, toInstant } from '../meta/time.ts'
import type { ContainerStatus, PodContainer } from './phase.ts'

/** The end of a run. */
export interface ContainerEnd {
  readonly exitCode: number
  readonly reason: string
  readonly message?: string
  readonly startedMs?: number
  readonly finishedMs?: number
  readonly id?: string
}

/** Prints a time for the API. */
export function printMs(timeMs: number): string {
  return printTime(toInstant(timeMs))
}

type Terminated = NonNullable<NonNullable<ContainerStatus['state']>['terminated']>

/** Parses the end of a run in the API. */
export function endOf({ exitCode, reason = '', message, startedAt, finishedAt, containerID }: Terminated): ContainerEnd {
  return {
    exitCode,
    reason,
    ...(message && { message }),
    ...(startedAt && { startedMs: Date.parse(startedAt) }),
    ...(finishedAt && { finishedMs: Date.parse(finishedAt) }),
    ...(containerID && { id: containerID }),
  }
}

/** Prints the end of a run for the API. */
export function printEnd({ exitCode, reason, message, startedMs, finishedMs, id }: ContainerEnd): Terminated {
  return {
    exitCode,
    reason,
    ...(message !== undefined && { message }),
    startedAt: startedMs === undefined ? null : printMs(startedMs),
    finishedAt: finishedMs === undefined ? null : printMs(finishedMs),
    ...(id !== undefined && { containerID: id }),
  }
}

/** The container's resources, which are those of its spec. */
export function resourcesOf({ resources }: PodContainer): Partial<ContainerStatus> {
  return { ...(resources?.requests && { allocatedResources: resources.requests }), resources: resources ?? {} }
}

/** The container's mounts, which are those of its spec. */
export function mountsOf({ volumeMounts }: PodContainer): Partial<ContainerStatus> {
  if (!volumeMounts || volumeMounts.length === 0) return {}
  const mounts = volumeMounts.map(({ name, mountPath, readOnly, recursiveReadOnly }) => {
    const isRecursive = recursiveReadOnly === 'IfPossible' || recursiveReadOnly === 'Enabled'
    return { name, mountPath, ...(readOnly === true && { readOnly, recursiveReadOnly: isRecursive ? 'Enabled' : 'Disabled' }) }
  })
  return { volumeMounts: mounts }
}
