import type { Names } from '../../names.ts'
import type { BuiltIn } from '../../schema/built-in.ts'
import type { Autoscaler } from '../autoscaler/decide.ts'
import type { CronJob } from '../cron-job/decide.ts'
import type { DaemonSet } from '../daemon-set/names.ts'
import type { Deployment, ReplicaSet } from '../deployment/status.ts'
import type { Budget } from '../disruption/budget.ts'
import type { Service } from '../endpoints/endpoint-pods.ts'
import type { Job } from '../job/pods.ts'
import type { Pod } from '../pods.ts'
import type { VolumeClaim } from '../stateful-set/claims.ts'
import type { StatefulSet } from '../stateful-set/names.ts'

/** Machine-readable causes of waiting. */
type Cause =
  | 'autoscaler'
  | 'back-off'
  | 'budget'
  | 'claim'
  | 'container'
  | 'controller'
  | 'deadline'
  | 'deletion'
  | 'failed'
  | 'gate'
  | 'image'
  | 'node'
  | 'order'
  | 'paused'
  | 'probe'
  | 'quota'
  | 'refused'
  | 'schedule'
  | 'selector'

/** A reason why an object makes no progress. */
export interface Wait {
  readonly cause: Cause
  readonly message: string
}

/** An object with its state and its reasons for waiting. */
export interface Finding {
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  /** One line: `1 of 3 available`. */
  readonly state: string
  readonly waits: readonly Wait[]
  /** Objects that it waits for or that affect it: members, claims, budgets and autoscalers. */
  readonly parts: readonly Finding[]
  /** Number of omitted parts with the same reasons as this one. */
  readonly alike?: number
  /** Numbers of omitted parts that do not wait, by kind. */
  readonly fine?: Readonly<Record<string, number>>
  /** Number of omitted waiting parts beyond the maximum. */
  readonly more?: number
}

/** An Event of core/v1. */
export type EventObject = BuiltIn<'core/v1.Event'>

/** The objects of a namespace that findings are based on. */
export interface World {
  readonly names: Names
  readonly deployments: readonly Deployment[]
  readonly replicaSets: readonly ReplicaSet[]
  readonly replicationControllers: readonly BuiltIn<'core/v1.ReplicationController'>[]
  readonly statefulSets: readonly StatefulSet[]
  readonly daemonSets: readonly DaemonSet[]
  readonly jobs: readonly Job[]
  readonly cronJobs: readonly CronJob[]
  readonly pods: readonly Pod[]
  readonly claims: readonly VolumeClaim[]
  readonly budgets: readonly Budget[]
  readonly autoscalers: readonly Autoscaler[]
  readonly services: readonly Service[]
  readonly events: readonly EventObject[]
}

interface Owned {
  readonly metadata: {
    readonly uid?: string | undefined
    readonly ownerReferences?: readonly { readonly uid?: string; readonly controller?: boolean | null }[] | undefined
  }
}

/** The objects whose controller is the owner. */
export function ownedBy<T extends Owned>(owner: Owned, objects: readonly T[]): T[] {
  const { uid } = owner.metadata
  if (uid === undefined) return []
  return objects.filter(({ metadata: { ownerReferences = [] } }) =>
    ownerReferences.some((reference) => reference.controller === true && reference.uid === uid),
  )
}

/** The latest event of an object, optionally with one of these reasons. */
export function latestEvent({ metadata }: Owned, { events }: World, ...reasons: readonly string[]): EventObject | undefined {
  return events
    .filter(({ involvedObject, reason = '' }) => involvedObject.uid === metadata.uid && (reasons.length === 0 || reasons.includes(reason)))
    .reduce<EventObject | undefined>(
      (latest, event) => (latest !== undefined && timeOf(latest) > timeOf(event) ? latest : event),
      undefined,
    )
}

function timeOf({ lastTimestamp, eventTime, metadata }: EventObject): string {
  return lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? ''
}

interface Deletable {
  readonly metadata: {
    readonly deletionTimestamp?: string | null | undefined
    readonly finalizers?: readonly string[] | null | undefined
  }
}

/** The finalizers that an object under deletion waits for. */
export function deletionWaits({ metadata: { deletionTimestamp, finalizers } }: Deletable): Wait[] {
  if (deletionTimestamp == null) return []
  const names = finalizers ?? []
  const message =
    names.length === 0
      ? `it is being deleted, until ${deletionTimestamp} at the latest`
      : `it is being deleted; these finalizers must be removed first: ${names.join(', ')}`
  return [{ cause: 'deletion', message }]
}

interface Observed {
  readonly metadata: { readonly generation?: number | undefined; readonly deletionTimestamp?: string | null | undefined }
  readonly status: { readonly observedGeneration?: number | null }
}

/** An object whose last change its controller has not observed yet. */
export function controllerWaits({ metadata: { generation = 0, deletionTimestamp }, status }: Observed): Wait[] {
  if (deletionTimestamp != null || (status.observedGeneration ?? 0) >= generation) return []
  const message = `no controller has looked at generation ${generation}; controllers of workloads are on with --controllers='*,workloads'`
  return [{ cause: 'controller', message }]
}

interface Conditioned {
  readonly status: {
    readonly conditions?: readonly { readonly type?: string; readonly status?: string; readonly message?: string }[] | null
  }
}

/** The condition of a type if it has the status. */
export function conditionOf({ status: { conditions } }: Conditioned, type: string, status: 'True' | 'False') {
  return (conditions ?? []).find((condition) => condition.type === type && condition.status === status)
}

/** The reason for a refused write: a quota or another rule. */
export function refusal(message: string): Wait {
  return { cause: message.includes('exceeded quota') ? 'quota' : 'refused', message }
}

/** Maximum number of shown parts of an object, for each kind of reason. */
const partsMax = 10

/** True if nothing in the finding and below it waits. */
function isFine({ waits, parts }: Finding): boolean {
  return waits.length === 0 && parts.every(isFine)
}

/** The waiting parts, one for equal reasons, with the numbers of omitted parts. */
export function shortened(parts: readonly Finding[]): Pick<Finding, 'parts' | 'fine' | 'more'> {
  const fine: Record<string, number> = {}
  const kinds = new Map<string, { readonly first: Finding; count: number }>()
  for (const part of parts) {
    if (isFine(part)) {
      fine[part.kind] = (fine[part.kind] ?? 0) + 1
      continue
    }
    const key = JSON.stringify([part.kind, part.state, part.waits, part.parts])
    const known = kinds.get(key)
    if (known === undefined) kinds.set(key, { first: part, count: 1 })
    else known.count++
  }
  const shown = [...kinds.values()]
  const more = shown.slice(partsMax).reduce((sum, { count }) => sum + count, 0)
  return {
    parts: shown.slice(0, partsMax).map(({ first, count }) => (count === 1 ? first : { ...first, alike: count - 1 })),
    ...(Object.keys(fine).length > 0 && { fine }),
    ...(more > 0 && { more }),
  }
}
