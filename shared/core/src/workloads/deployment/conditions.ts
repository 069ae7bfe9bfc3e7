import type { ReplicaCondition } from '../replicas.ts'
/** A condition of a Deployment. Times are RFC 3339. */
export interface DeploymentCondition extends ReplicaCondition {
  readonly lastUpdateTime?: string | null | undefined
}

type Draft = Required<Pick<DeploymentCondition, 'type' | 'status' | 'reason' | 'message'>>

/** The value of a progress deadline or revision limit that means unlimited, as in upstream's `HasProgressDeadline` and `HasRevisionHistoryLimit`. */
export const unlimited = 2 ** 31 - 1

/** The conditions of a Deployment during a decision; `list` is the result. */
export class Conditions {
  #list: readonly DeploymentCondition[]
  readonly #now: string

  constructor(list: readonly DeploymentCondition[], now: string) {
    this.#list = list
    this.#now = now
  }

  get list(): readonly DeploymentCondition[] {
    return this.#list
  }

  /** An independent copy. */
  fork(): Conditions {
    return new Conditions(this.#list, this.#now)
  }

  find(type: string): DeploymentCondition | undefined {
    return this.#list.find((condition) => condition.type === type)
  }

  /** Sets a condition at the end if its status or reason differs (WL-DEP-51, WL-DEP-52). */
  set(draft: Draft): void {
    const before = this.find(draft.type)
    if (before?.status !== draft.status || before.reason !== draft.reason) this.renew(draft)
  }

  /** Sets a condition at the end. The transition time changes only with the status. */
  renew(draft: Draft): void {
    const before = this.find(draft.type)
    const lastTransitionTime = before?.status === draft.status ? before.lastTransitionTime : this.#now
    this.#replace({ ...draft, lastUpdateTime: this.#now, lastTransitionTime })
  }

  /** Copies a ReplicaSet's condition with its time. */
  take(condition: DeploymentCondition): void {
    const before = this.find(condition.type)
    if (before?.status === condition.status && before.reason === condition.reason) return
    const { lastTransitionTime } = condition
    const transition = before?.status === condition.status ? before.lastTransitionTime : lastTransitionTime
    this.#replace({ ...condition, lastUpdateTime: lastTransitionTime, lastTransitionTime: transition })
  }

  remove(type: string): void {
    if (this.find(type) !== undefined) this.#list = this.#list.filter((condition) => condition.type !== type)
  }

  #replace(condition: DeploymentCondition): void {
    this.#list = [...this.#list.filter(({ type }) => type !== condition.type), condition]
  }
}

export const progressing = 'Progressing'

/** The condition Progressing, by event. `subject` is a quoted name with its kind: `ReplicaSet "web-5"`. */
export const progress = {
  created: (name: string): Draft => progressOf('True', 'NewReplicaSetCreated', `Created new replica set "${name}"`),
  found: (name: string): Draft => progressOf('True', 'FoundNewReplicaSet', `Found new replica set "${name}"`),
  refused: (name: string, error: string): Draft =>
    progressOf('False', 'ReplicaSetCreateError', `Failed to create new replica set "${name}": ${error}`),
  paused: progressOf('Unknown', 'DeploymentPaused', 'Deployment is paused'),
  resumed: progressOf('Unknown', 'DeploymentResumed', 'Deployment is resumed'),
  complete: (subject: string): Draft => progressOf('True', 'NewReplicaSetAvailable', `${subject} has successfully progressed.`),
  going: (subject: string): Draft => progressOf('True', 'ReplicaSetUpdated', `${subject} is progressing.`),
  timedOut: (subject: string): Draft => progressOf('False', 'ProgressDeadlineExceeded', `${subject} has timed out progressing.`),
} as const

function progressOf(status: string, reason: string, message: string): Draft {
  return { type: progressing, status, reason, message }
}
