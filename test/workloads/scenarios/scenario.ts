import { readFileSync } from 'node:fs'
import type { ApiObject } from '@orch/core/meta'

/** Users, a kubelet and a scheduler, played against controllers; README.md has the form. */
export interface Scenario {
  readonly id: string
  readonly group: string
  readonly about: string
  /** `auto`: each Pod is ready or ends at once, and is removed at once when it is deleted. Absent: Pods do what the steps say. */
  readonly kubelet?: Kubelet
  /** Warnings have no counts. */
  readonly countless?: boolean
  /** Kinds that are compared. Absent: workloads, Pods, budgets, autoscalers, claims and volumes. */
  readonly view?: readonly string[]
  /** Affinity of Pods is compared. */
  readonly affinity?: boolean
  /** Data of revisions is compared. */
  readonly revData?: boolean
  readonly steps: readonly Step[]
}

export type Kubelet = 'auto' | 'manual'

/** One thing that happens; each has one member besides those of `expect`. */
export interface Step extends Partial<Expected> {
  readonly create?: OneOrMore<ApiObject>
  readonly patch?: OneOrMore<Patch>
  /** A patch of the newest ReplicaSet of a Deployment. */
  readonly patchRS?: Pick<Patch, 'of' | 'body'>
  /** A Deployment gets the template of its ReplicaSet with the revision. */
  readonly rollback?: { readonly of: string; readonly to: number }
  readonly delete?: OneOrMore<string | Deletion>
  readonly pods?: OneOrMore<PodAction>
  readonly kubelet?: Kubelet
  /** Seconds. */
  readonly wait?: number
  /** CPU that each Pod uses from now on. */
  readonly usage?: string
  /** Memory that each Pod uses, beside `usage`. */
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
  /** An expression over `v`, objects by name, and `e`, events, that tells when to look; `max` milliseconds after which to look anyway. */
  readonly until?: string
  readonly max?: number
  /** Milliseconds of quiet, beside the usual ones. */
  readonly extra?: number
  readonly objects: Readonly<Record<string, object>>
  readonly events: readonly string[]
  readonly trace?: readonly string[]
  /** It is not defined which of equal Pods was taken. */
  readonly loose?: boolean
  readonly objectsIncomplete?: boolean
  readonly eventsIncomplete?: boolean
}

export type ExpectStep = Step & Expected

export function isExpectStep(step: Step): step is ExpectStep {
  return step.expect !== undefined
}

/** An action of the kubelet on the Pods whose names in normal form match `of`. */
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
  /** The reason of a condition DisruptionTarget. */
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
