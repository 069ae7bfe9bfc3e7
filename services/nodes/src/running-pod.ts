import { createHash } from 'node:crypto'
import { boundedMemo } from '@orch/core/memo'
import type { NodeStep, PodLife } from '@orch/core/pod-life'
import type { Pod } from '@orch/core/workloads'
import type { SourcesOfPod } from './pod-sources.ts'
import type { ProgramRuns } from './program-runs.ts'
import type { SimulatedNode } from './simulated-node.ts'

export type Variables = Readonly<Record<string, string>>

/** A Pod of a node. */
export interface RunningPod {
  readonly uid: string
  readonly node: SimulatedNode
  readonly life: PodLife
  /** Undefined if no container has a program. */
  readonly programs: ProgramRuns | undefined
  /** Undefined if it needs no objects. */
  readonly sources: SourcesOfPod | undefined
  /** The environments of containers that have started here, by name. */
  readonly environments: ReadonlyMap<string, Variables>
  /** The Pod after the last write of its node, until the watch shows it: the object of the watch shares parts with other Pods. */
  written: Pod | undefined
  /** The number of events during a write. Undefined at other times. */
  eventsOfWrite: number | undefined
  isDeleted: boolean
}

/** Counts an event during a write, whose end looks at it. True for such an event, and for the event of the last write. */
export function isLeftToWrite(running: RunningPod | undefined, { metadata: { resourceVersion } }: Pod): boolean {
  if (running?.eventsOfWrite === undefined) return running?.written?.metadata.resourceVersion === resourceVersion
  running.eventsOfWrite += 1
  return true
}

/** Ends the Pods of a node in a range of priorities. Returns their keys. */
export function shutDownPods(
  pods: ReadonlyMap<string, RunningPod>,
  node: SimulatedNode,
  { from, below, graceMs }: NonNullable<NodeStep['shutdown']>,
): string[] {
  const isEnded = ({ node: own, life: { pod } }: RunningPod) =>
    own === node && (pod.spec.priority ?? 0) >= from && (pod.spec.priority ?? 0) < below
  const ended = [...pods].filter(([, running]) => isEnded(running))
  for (const [, { life }] of ended) life.shutDown(graceMs)
  return ended.map(([key]) => key)
}

/** Cached, as there are few images and many Pods. */
export const digestOf = boundedMemo(1000, (image: string): string => createHash('sha256').update(image).digest('hex'))
