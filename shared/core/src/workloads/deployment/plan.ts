import { jsonEqual } from '../../json/equal.ts'
import { printTime, toInstant } from '../../meta/time.ts'
import type { LabelRequirement } from '../../selectors/selection.ts'
import { type Claim, claim, isControlled } from '../claim.ts'
import { type TemplateHashes, templateHashLabel } from '../hash/content-hash.ts'
import type { WorkloadEvent } from '../pods.ts'
import { boundsOf, type RollWish } from './bounds.ts'
import { Conditions, progress, progressing, unlimited } from './conditions.ts'
import { type AnnotationNames, newSetAnnotations, readCount, readRevision, revisionOf, scalingNotes } from './revisions.ts'
import { byCreation, nextNewSize, type Resize, rollingStep, type SizedSet, scaledSizes, totalReplicas } from './sizes.ts'
import {
  countsOf,
  type Deployment,
  type DeploymentStatus,
  deadlineOf,
  isComplete,
  judgeProgress,
  type ReplicaSet,
  type StatusSources,
  waitOf,
} from './status.ts'

/** A Deployment and its related ReplicaSets. */
export interface DeploymentObserved {
  readonly deployment: Deployment
  readonly selector: readonly LabelRequirement[]
  /** ReplicaSets that it controls, and ReplicaSets of the namespace without a controller. */
  readonly sets: readonly ReplicaSet[]
  readonly templates: TemplateHashes
  readonly annotations: AnnotationNames
  /** True if the level has `terminatingReplicas`. */
  readonly hasTerminatingReplicas: boolean
  /** True if the level truncates long Deployment names in ReplicaSet names. */
  readonly cutsLongNames: boolean
  /** True if a ReplicaSet has the Deployment's template. */
  hasTemplate(set: ReplicaSet): boolean
  /** True if a ReplicaSet has an unfinished Pod, including terminating ones. */
  hasRunningPods(set: ReplicaSet): boolean
}

/** A write to a ReplicaSet. */
export type SetWrite =
  | { readonly kind: 'create'; readonly set: ReplicaSet }
  | {
      readonly kind: 'change'
      readonly set: ReplicaSet
      readonly annotations: Readonly<Record<string, string>>
      readonly minReadySeconds?: number | undefined
      readonly resize?: Resize | undefined
    }
  | { readonly kind: 'delete'; readonly set: ReplicaSet }

type SetsOutcome =
  | { readonly kind: 'written' }
  /** The name of the new ReplicaSet is already taken by another one. */
  | { readonly kind: 'collision' }
  /** The new ReplicaSet was not created. */
  | { readonly kind: 'refused'; readonly message: string }

/** The next step of a Deployment. */
export type DeploymentPlan = ReturnType<typeof decideDeployment>

/**
 * The next step of a Deployment: Pods of its template are rolled out, resized or, if it is paused, only kept. As in kube-controller-manager,
 * a step either resizes the new ReplicaSet, resizes old ones, or deletes old revisions. The status reflects the ReplicaSets as observed.
 *
 *   3 replicas, surge 1, web-a 3 (available 3)              create web-b with 1
 *   3 replicas, surge 1, web-a 3, web-b 1 (available 1)     web-a 3 → 2
 */
export function decideDeployment(observed: DeploymentObserved, nowMs: number) {
  const { deployment, sets } = observed
  const owned = ownedSets(deployment, sets, observed)
  const step = new Step(observed, owned, printTime(toInstant(nowMs)))
  const isRollout = step.decide()
  const { adopted, released } = owned
  const status = step.status(isRollout, nowMs)
  return {
    adopted,
    released,
    /** The writes in order; the first failure ends them. */
    writes: step.writes,
    /** The revision of the new ReplicaSet, for the Deployment's annotation; undefined without a new ReplicaSet. */
    revision: step.revision,
    statusAfter: (outcome: SetsOutcome) => (outcome.kind === 'written' ? status : step.statusAfterFailure(outcome)),
    /** Time until progress is checked again; undefined if nothing is pending. */
    waitMs: isRollout ? waitOf(deployment, status, nowMs) : undefined,
    /** The result of a rollback request, which replaces the status. */
    rollback: step.rollback,
  }
}

/** The desired replicas and rollout limits of a Deployment, with the defaults of the API. */
function wishOf({ spec }: Deployment): RollWish {
  const { replicas, strategy } = spec
  const { maxSurge = '25%', maxUnavailable = '25%' } = strategy?.rollingUpdate ?? {}
  return {
    replicas: replicas ?? 1,
    rollingUpdate: strategy?.type === 'Recreate' ? undefined : { maxSurge: maxSurge ?? '25%', maxUnavailable: maxUnavailable ?? '25%' },
  }
}

class Step {
  readonly writes: SetWrite[] = []
  readonly #observed: DeploymentObserved
  readonly #oldSets: readonly ReplicaSet[]
  readonly #wish: RollWish
  readonly #conditions: Conditions
  #newSet: ReplicaSet | undefined
  /** True if a write creates the new ReplicaSet. */
  #isCreated = false
  revision: string | undefined
  rollback: Rollback | undefined

  constructor(observed: DeploymentObserved, { newSet, oldSets }: OwnedSets, now: string) {
    this.#observed = observed
    this.#newSet = newSet
    this.#oldSets = oldSets
    this.#wish = wishOf(observed.deployment)
    this.#conditions = new Conditions(observed.deployment.status.conditions ?? [], now)
  }

  /** True if the progress of a rollout must be checked. */
  decide(): boolean {
    const { metadata, spec } = this.#observed.deployment
    const isDeleted = metadata.deletionTimestamp != null
    if (!isDeleted) this.#tellOfPause()
    this.#keepNewSet()
    if (isDeleted) return false
    const rollbackTo = spec.paused === true ? undefined : rollbackRevision(this.#observed.deployment, this.#observed.annotations)
    if (rollbackTo !== undefined) {
      this.#rollBack(rollbackTo)
      return false
    }
    if (spec.paused === true || this.#isRescaled()) {
      this.#rescale()
      if (spec.paused === true) this.#deleteHistory()
      return false
    }
    if (this.#wish.rollingUpdate === undefined) this.#recreate()
    else this.#roll()
    return true
  }

  status(isRollout: boolean, nowMs: number): DeploymentStatus {
    const { deployment, hasTerminatingReplicas } = this.#observed
    const sources: StatusSources = { deployment, wish: this.#wish, newSet: this.#newSet, oldSets: this.#oldSets, hasTerminatingReplicas }
    const conditions = this.#conditions.fork()
    if (this.#isCreated && deadlineOf(deployment) !== undefined) conditions.set(progress.created(this.#newSet?.metadata.name ?? ''))
    const counts = countsOf(sources, conditions)
    if (isRollout) judgeProgress(sources, counts, conditions, nowMs)
    return { ...counts, conditions: conditions.list }
  }

  statusAfterFailure(outcome: Exclude<SetsOutcome, { kind: 'written' }>): DeploymentStatus {
    const { deployment } = this.#observed
    const { status } = deployment
    if (outcome.kind === 'collision') return { ...status, collisionCount: (status.collisionCount ?? 0) + 1 }
    if (deadlineOf(deployment) !== undefined) this.#conditions.set(progress.refused(this.#newSet?.metadata.name ?? '', outcome.message))
    return { ...status, conditions: this.#conditions.list }
  }

  /** The time for which a Deployment is paused does not count towards its progress deadline (WL-DEP-39). */
  #tellOfPause(): void {
    const { deployment } = this.#observed
    const reason = this.#conditions.find(progressing)?.reason
    if (deadlineOf(deployment) === undefined || reason === progress.timedOut('').reason) return
    const wasPaused = reason === progress.paused.reason
    if (deployment.spec.paused === true && !wasPaused) this.#conditions.set(progress.paused)
    else if (deployment.spec.paused !== true && wasPaused) this.#conditions.set(progress.resumed)
  }

  /** The next revision, one above the highest revision of old ReplicaSets. */
  #nextRevision(): bigint {
    const revisions = this.#oldSets.map(({ metadata }) => revisionOf(metadata.annotations, this.#observed.annotations))
    const [highest = 0n] = revisions.sort((left, right) => Number(right - left))
    return highest > 0n ? BigInt.asIntN(64, highest + 1n) : 1n
  }

  #keepNewSet(): void {
    const { deployment, annotations: names } = this.#observed
    const set = this.#newSet
    if (set === undefined) return
    const before = set.metadata.annotations ?? {}
    const annotations = newSetAnnotations(before, deployment.metadata.annotations ?? {}, this.#nextRevision(), names)
    const minReadySeconds = deployment.spec.minReadySeconds ?? 0
    if (!jsonEqual(before, annotations) || (set.spec.minReadySeconds ?? 0) !== minReadySeconds)
      this.writes.push({ kind: 'change', set, annotations, minReadySeconds })
    this.revision = annotations[names.revision]
    if (deadlineOf(deployment) !== undefined && this.#conditions.find(progressing) === undefined)
      this.#conditions.set(progress.found(set.metadata.name ?? ''))
  }

  #isRescaled(): boolean {
    const active = this.#sizedSets().filter(({ replicas }) => replicas > 0)
    return active.some(({ desired }) => desired !== undefined && desired !== this.#wish.replicas)
  }

  #sizedSets() {
    const { annotations } = this.#observed
    return [...this.#oldSets, ...(this.#newSet === undefined ? [] : [this.#newSet])].map((set) => sized(set, annotations))
  }

  #rescale(): void {
    const { deployment, annotations } = this.#observed
    const newSet = this.#newSet && sized(this.#newSet, annotations)
    const oldSets = this.#oldSets.map((set) => sized(set, annotations))
    this.#resize(scaledSizes(this.#wish, { newSet, oldSets, statusReplicas: deployment.status.replicas ?? 0 }))
  }

  /** The new ReplicaSet must get its revision first. */
  #rollBack(revision: bigint): void {
    const { deployment, annotations: names, templates } = this.#observed
    if (this.#newSet === undefined) this.#create()
    if (this.writes.length > 0 || this.#newSet === undefined) return
    this.rollback = rollBack(deployment, { sets: [...this.#oldSets, this.#newSet], revision, names, templates })
  }

  #roll(): void {
    const oldSets = this.#oldSets.map((set) => sized(set))
    const resizes = rollingStep(this.#wish, sized(this.#newSet ?? this.#create()), oldSets)
    this.#resize(resizes)
    if (resizes.length === 0) this.#deleteHistoryWhenComplete()
  }

  #recreate(): void {
    const active = this.#oldSets.map((set) => sized(set)).filter(({ replicas }) => replicas > 0)
    this.#resize(active.map(({ name, replicas }) => ({ name, from: replicas, to: 0 })))
    if (active.length > 0 || this.#oldSets.some((set) => (set.status.replicas ?? 0) > 0 || this.#observed.hasRunningPods(set))) return
    if (this.#newSet === undefined) this.#create()
    else {
      const { name, replicas } = sized(this.#newSet)
      if (replicas !== this.#wish.replicas) this.#resize([{ name, from: replicas, to: this.#wish.replicas }])
    }
    this.#deleteHistoryWhenComplete()
  }

  #create(): ReplicaSet {
    const { deployment, annotations: names, templates, cutsLongNames } = this.#observed
    const { metadata, spec, status } = deployment
    const hash = templates.hashOf(spec.template, status.collisionCount ?? undefined)
    const labels = { ...spec.template.metadata?.labels, [templateHashLabel]: hash }
    const next = this.#nextRevision()
    const notes = scalingNotes(this.#wish.replicas, boundsOf(this.#wish).maxTotal, names)
    const ofName = cutsLongNames ? metadata.name?.slice(0, nameLengthMax - hash.length - 1) : metadata.name
    const annotations = { ...newSetAnnotations({}, metadata.annotations ?? {}, next, names), ...notes }
    const replicas = nextNewSize(this.#wish, { replicas: 0 }, totalReplicas(this.#oldSets.map((set) => sized(set))))
    const set: ReplicaSet = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: `${ofName}-${hash}`, namespace: metadata.namespace, labels, annotations },
      spec: {
        replicas,
        minReadySeconds: spec.minReadySeconds,
        selector: { ...spec.selector, matchLabels: { ...spec.selector?.matchLabels, [templateHashLabel]: hash } },
        template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
      },
      status: { replicas: 0 },
    }
    this.writes.push({ kind: 'create', set })
    this.#newSet = set
    this.revision = String(next)
    this.#isCreated = true
    return set
  }

  /** Writes each resized ReplicaSet with its scaling annotations, and others only if these annotations differ. */
  #resize(resizes: readonly Resize[]): void {
    const notes = scalingNotes(this.#wish.replicas, boundsOf(this.#wish).maxTotal, this.#observed.annotations)
    const sets = [...this.#oldSets, ...(this.#newSet === undefined ? [] : [this.#newSet])]
    for (const resize of resizes) {
      const set = sets.find(({ metadata }) => metadata.name === resize.name)
      if (set === undefined) continue
      const hasNotes = Object.entries(notes).every(([name, note]) => set.metadata.annotations?.[name] === note)
      if (resize.from === resize.to && hasNotes) continue
      this.writes.push({ kind: 'change', set, annotations: notes, resize: resize.from === resize.to ? undefined : resize })
    }
  }

  #deleteHistoryWhenComplete(): void {
    const { deployment } = this.#observed
    if (isComplete(deployment, deployment.status)) this.#deleteHistory()
  }

  #deleteHistory(): void {
    const { deployment, annotations } = this.#observed
    const { revisionHistoryLimit = 10 } = deployment.spec
    if (revisionHistoryLimit === null || revisionHistoryLimit === unlimited) return
    for (const set of beyondHistory(this.#oldSets, revisionHistoryLimit, annotations)) this.writes.push({ kind: 'delete', set })
  }
}

const nameLengthMax = 253

/** A Deployment's ReplicaSets. */
export interface OwnedSets extends Pick<Claim<ReplicaSet>, 'adopted' | 'released'> {
  /** The oldest ReplicaSet with the Deployment's template. */
  readonly newSet: ReplicaSet | undefined
  readonly oldSets: readonly ReplicaSet[]
}

interface Claimer {
  readonly selector: readonly LabelRequirement[]
  /** True if the set has the Deployment's template. */
  hasTemplate(set: ReplicaSet): boolean
}

/** Claims ReplicaSets by their labels. */
function ownedSets({ metadata }: Deployment, sets: readonly ReplicaSet[], { selector, hasTemplate }: Claimer): OwnedSets {
  const claimable = sets.filter((set) => set.metadata.deletionTimestamp == null || isControlled(set))
  const { owned, adopted, released } = claim(claimable, { owner: metadata, selector })
  const all = [...owned, ...adopted].sort((left, right) => byCreation(sized(left), sized(right)))
  const newSet = all.find(hasTemplate)
  return { adopted, released, newSet, oldSets: all.filter((set) => set !== newSet) }
}

function sized({ metadata, spec, status }: ReplicaSet, names?: AnnotationNames): SizedSet {
  return {
    name: metadata.name ?? '',
    replicas: spec.replicas ?? 1,
    available: status.availableReplicas ?? 0,
    createdMs: Date.parse(metadata.creationTimestamp ?? ''),
    desired: readCount(metadata.annotations?.[names?.desired ?? '']),
    max: readCount(metadata.annotations?.[names?.max ?? '']),
  }
}

/** Old ReplicaSets without Pods beyond the history limit, lowest revisions first (WL-DEP-13). */
function beyondHistory(oldSets: readonly ReplicaSet[], limit: number, names: AnnotationNames): ReplicaSet[] {
  const revision = ({ metadata }: ReplicaSet) => revisionOf(metadata.annotations, names)
  return oldSets
    .filter(({ metadata }) => metadata.deletionTimestamp == null)
    .sort((left, right) => Number(revision(left) - revision(right)) || byCreation(sized(left), sized(right)))
    .slice(0, Math.max(0, oldSets.filter(({ metadata }) => metadata.deletionTimestamp == null).length - limit))
    .filter(({ metadata, spec, status }) => {
      const isObserved = (metadata.generation ?? 0) <= (status.observedGeneration ?? 0)
      return (status.replicas ?? 0) === 0 && spec.replicas === 0 && isObserved
    })
}

/** The result of a rollback request. */
interface Rollback extends WorkloadEvent {
  /** The Deployment without the request, and with the template and annotations of the revision if it was found. */
  readonly replacement: Deployment
}

/** The revision requested by the annotation of extensions/v1beta1; 0 means the previous one. Undefined without a request. */
function rollbackRevision({ metadata }: Deployment, { rollbackTo }: AnnotationNames): bigint | undefined {
  return readRevision(metadata.annotations?.[rollbackTo])
}

interface RollbackSources {
  readonly sets: readonly ReplicaSet[]
  readonly revision: bigint
  readonly names: AnnotationNames
  readonly templates: TemplateHashes
}

/** Restores the template of a revision (WL-DEP-16). */
function rollBack(deployment: Deployment, { sets, revision, names, templates }: RollbackSources): Rollback {
  const { [names.rollbackTo]: _, ...annotations } = deployment.metadata.annotations ?? {}
  const without: Deployment = { ...deployment, metadata: { ...deployment.metadata, annotations } }
  const warning = (reason: string, message: string): Rollback => ({ replacement: without, type: 'Warning', reason, message })
  const notFound = 'DeploymentRollbackRevisionNotFound'
  const revisions = sets.map(({ metadata }) => revisionOf(metadata.annotations, names)).sort((left, right) => Number(right - left))
  const wanted = revision === 0n ? (revisions[1] ?? 0n) : revision
  if (wanted === 0n) return warning(notFound, 'Unable to find last revision.')
  const set = sets.find(({ metadata }) => revisionOf(metadata.annotations, names) === wanted)
  if (set?.spec.template == null) return warning(notFound, 'Unable to find the revision to rollback to.')
  const { name } = deployment.metadata
  if (templates.areEqual(deployment.spec.template, set.spec.template)) {
    const message = `The rollback revision contains the same template as current deployment "${name}"`
    return warning('DeploymentRollbackTemplateUnchanged', message)
  }
  const { metadata, ...rest } = set.spec.template
  const { [templateHashLabel]: _hash, ...labels } = metadata?.labels ?? {}
  const kept = new Set(Object.values(names))
  const select = (all: Readonly<Record<string, string>>, isKept: boolean) =>
    Object.fromEntries(Object.entries(all).filter(([annotation]) => kept.has(annotation) === isKept))
  return {
    replacement: {
      ...without,
      metadata: { ...without.metadata, annotations: { ...select(annotations, true), ...select(set.metadata.annotations ?? {}, false) } },
      spec: { ...without.spec, template: { ...rest, metadata: { ...metadata, labels } } },
    },
    type: 'Normal',
    reason: 'DeploymentRollback',
    message: `Rolled back deployment "${name}" to revision ${wanted}`,
  }
}
