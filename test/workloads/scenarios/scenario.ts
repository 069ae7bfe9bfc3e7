import { readFileSync } from 'node:fs'
import type { ApiObject } from '@orch/core/meta'

/** A scenario with users, a kubelet and a scheduler against the controllers; README.md describes the form. */
export interface Scenario {
  readonly id: string
  readonly group: string
  readonly about: string
  /** `auto`: each Pod is ready or ends at once, and disappears at once when deleted. Absent: the steps control the Pods. */
  readonly kubelet?: Kubelet
  /** Warnings have no counts. */
  readonly countless?: boolean
  /** The compared kinds. Absent: workloads, Pods, budgets, autoscalers, claims and volumes. */
  readonly view?: readonly string[]
  /** The test compares the affinity of Pods. */
  readonly affinity?: boolean
  /** The test compares the data of revisions. */
  readonly revData?: boolean
  readonly steps: readonly Step[]
}

export type Kubelet = 'auto' | 'manual'

/** One step; each has one member, except the members of `expect`. */
export interface Step extends Partial<Expected> {
  readonly create?: OneOrMore<ApiObject>
  readonly patch?: OneOrMore<Patch>
  /** A patch of a Deployment's newest ReplicaSet. */
  readonly patchRS?: Pick<Patch, 'of' | 'body'>
  /** Sets a Deployment's template to that of its ReplicaSet with the revision. */
  readonly rollback?: { readonly of: string; readonly to: number }
  readonly delete?: OneOrMore<string | Deletion>
  readonly pods?: OneOrMore<PodAction>
  readonly kubelet?: Kubelet
  /** Seconds. */
  readonly wait?: number
  /** The CPU that each Pod uses from now on. */
  readonly usage?: string
  /** The memory that each Pod uses, in addition to `usage`. */
  readonly memory?: string
}

type OneOrMore<T> = T | readonly T[]

interface Patch {
  /** `KIND/NAME`. */
  readonly of: string
  readonly type?: 'merge' | 'json' | 'strategic'
  readonly sub?: string
  readonly body: unknown
}

interface Deletion {
  readonly of: string
  readonly propagation?: string
  readonly grace?: number
}

/** The state that the real controllers left. */
interface Expected {
  readonly expect: string
  /**
   * An expression over `v`, objects by name, and `e`, events. It decides when the test takes the state; after `max` milliseconds the test takes it in
   * any case.
   */
  readonly until?: string
  readonly max?: number
  /** Milliseconds of quiet in addition to the usual time. */
  readonly extra?: number
  readonly objects: Readonly<Record<string, object>>
  readonly events: readonly string[]
  readonly trace?: readonly string[]
  /** It is undefined which of several equal Pods the controller chose. */
  readonly loose?: boolean
  readonly objectsIncomplete?: boolean
  readonly eventsIncomplete?: boolean
}

export type ExpectStep = Step & Expected

export function isExpectStep(step: Step): step is ExpectStep {
  return step.expect !== undefined
}

/** An action of the kubelet on the Pods whose normal names match `of`. */
export interface PodAction {
  readonly of?: string
  readonly do: 'bind' | 'ready' | 'running' | 'succeed' | 'fail' | 'delete' | 'reap' | 'end' | 'evict' | 'patch'
  readonly first?: number
  readonly terminating?: boolean
  readonly age?: number
  readonly ages?: readonly number[]
  readonly node?: string
  readonly nodes?: readonly string[]
  readonly ip?: string
  readonly restarts?: number
  readonly exitCode?: number
  /** Exit codes by container. */
  readonly codes?: Readonly<Record<string, number>>
  readonly reason?: string
  /** The reason of a DisruptionTarget condition. */
  readonly target?: string
  readonly condition?: object
  readonly grace?: number
  readonly sub?: string
  readonly body?: unknown
}

/** The scenarios of a file in this folder. */
export function readScenarios(file: string): Scenario[] {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line): Scenario => JSON.parse(line))
}

export function listOf<T>(one: OneOrMore<T> | undefined): readonly T[] {
  if (one === undefined) return []
  // Array.isArray does not narrow read-only arrays.
  return Array.isArray(one) ? (one as readonly T[]) : [one as T]
}
