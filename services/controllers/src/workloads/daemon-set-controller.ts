import type { InformerEvent } from '@orch/client'
import { jsonEqual } from '@orch/core/json'
import {
  affinityTo,
  type ControllerRevision,
  chooseRevision,
  claim,
  countDaemonPods,
  type DaemonSet,
  type DaemonSetObserved,
  type DaemonSetPlan,
  daemonTolerations,
  decideDaemonSet,
  type FailureBackoff,
  type FitOptions,
  fitOf,
  inRevisionOrder,
  type Node,
  newRevision,
  nodeOf,
  noRemovals,
  type Pod,
  podLabels,
  printSorted,
  revisionData,
  revisionLabel,
  templateHashesAt,
  tolerationsOf,
} from '@orch/core/workloads'
import type { Controller } from '../controller.ts'
import { keyOf } from '../informers/object-keys.ts'
import { reconciler } from '../reconciler/reconciler.ts'
import { type Caches, mapped, own, ownedBy } from '../reconciler/watches.ts'
import { type Action, done, type Result, requeueAfter, type World } from '../reconciler/world.ts'
import { adoptable, claimActions, mayAdopt, referenceTo, requirementsOf, workloadBackoff } from './claims.ts'
import { PodActions } from './pod-actions.ts'
import type { ServedLevel } from './replica-controllers.ts'
import { claimRevisions, createRevision, deleteRevisions, raiseRevision, revisions } from './revisions.ts'

const kind = { apiVersion: 'apps/v1', kind: 'DaemonSet' }
const sets = own<DaemonSet>('apps/v1', 'daemonsets')
const pods = ownedBy<Pod>('v1', 'pods', { isLazy: true })
const orphans = adoptable<Pod, DaemonSet>('v1', 'pods', sets, ({ spec }) => spec.selector)

/** Runs a Pod of each DaemonSet on each node that fits, and keeps the revisions of their templates. */
export function daemonSetController(served: ServedLevel): Controller {
  return reconciler<DaemonSet>('daemonset', ({ names }) => {
    const fit: FitOptions = {
      tolerations: daemonTolerations(names),
      hasComparisons: served.isGateOn('TaintTolerationComparisonOperators'),
    }
    const nodes = mapped<Node>('v1', 'nodes', (event, caches) => setsOfNode(event, caches, fit), { isLazy: true })
    const hashes = templateHashesAt(served.level)
    /** Removals of failed Pods, by uid of their DaemonSet. */
    const removals = new Map<string, FailureBackoff>()
    return {
      watches: [sets, pods, orphans, revisions, nodes],
      backoff: workloadBackoff,
      absent: async ({ last }) => {
        removals.delete(last?.metadata.uid ?? '')
        return done
      },
      reconcile: async ({ object: set, world, clock, signal }) =>
        new Pass({ set, world, nodes: () => world.read(nodes).values(), fit, hashes, removals, level: served.level, signal }).run(
          clock.now(),
        ),
    }
  })
}

/** The DaemonSets that an event of a node affects: a Pod is missing, surplus or was misplaced (WL-DS-11). */
function setsOfNode(event: InformerEvent<Node>, caches: Caches, fit: FitOptions): string[] {
  const { kind: what, object: node } = event
  if (what === 'deleted' || (what === 'updated' && isAlike(event.before, node))) return []
  const isConcerned = (set: DaemonSet) => {
    const { shouldRun, shouldContinue } = fitOf(set.spec.template, node, fit)
    const hasPod = [...caches.read(pods).controlledBy(set.metadata.uid)].some((pod) => nodeOf(pod) === node.metadata.name)
    return hasPod ? !shouldContinue || set.status.numberMisscheduled > 0 : shouldRun
  }
  return [...caches.read(sets).values()].filter(isConcerned).map(keyOf)
}

/** Nodes are written every few minutes as a heartbeat. */
function isAlike(before: Node, after: Node): boolean {
  return jsonEqual(before.metadata.labels, after.metadata.labels) && jsonEqual(before.spec.taints, after.spec.taints)
}

type Selector = NonNullable<ReturnType<typeof requirementsOf>>

interface PassParts {
  readonly set: DaemonSet
  readonly world: World
  readonly nodes: () => Iterable<Node>
  readonly fit: FitOptions
  readonly hashes: ReturnType<typeof templateHashesAt>
  readonly removals: Map<string, FailureBackoff>
  readonly level: number
  readonly signal: AbortSignal
}

/** The revisions of a pass. */
interface History {
  /** The hash of the template's revision. */
  readonly hash: string
  /** Revisions of other templates, oldest first. */
  readonly former: readonly ControllerRevision[]
}

/** One pass over one DaemonSet. */
class Pass {
  readonly #parts: PassParts
  readonly #actions: PodActions

  constructor(parts: PassParts) {
    const { set: owner, world } = parts
    this.#parts = parts
    this.#actions = new PodActions({ kind, owner, world, pods })
  }

  async run(nowMs: number): Promise<Result> {
    const { set, world, removals, level, fit, nodes } = this.#parts
    const selector = requirementsOf(set.spec.selector)
    // The API refuses an empty selector, which would match all Pods.
    if (selector === undefined || selector.length === 0 || set.metadata.deletionTimestamp != null) return done
    const members = await this.#claimPods(selector)
    const history = members && (await this.#chooseRevision(selector, members))
    if (members === undefined || history === undefined) return done
    const { uid = '' } = set.metadata
    const backoff = removals.get(uid) ?? noRemovals
    const observed: DaemonSetObserved = { set, nodes: nodes(), pods: members, hash: history.hash, fit, backoff, level }
    if (world.isPending) return world.writeStatus(set, countDaemonPods(observed, nowMs))
    const plan = decideDaemonSet(observed, nowMs)
    removals.set(uid, plan.backoff)
    const failure = await this.#perform(plan, history.hash)
    if (failure === undefined) await this.#trimHistory(history, members)
    await world.writeStatus(set, plan.status)
    if (failure !== undefined) throw failure
    return plan.waitMs === undefined ? done : requeueAfter(plan.waitMs)
  }

  /** The Pods of the set, including newly adopted ones. Undefined if it may not adopt. */
  async #claimPods(selector: Selector): Promise<readonly Pod[] | undefined> {
    const { set, world, signal } = this.#parts
    const { uid, namespace } = set.metadata
    const cached = world.read(pods)
    const free = [...cached.uncontrolled(namespace)].filter(({ metadata }) => metadata.deletionTimestamp == null)
    const { owned, adopted, released } = claim([...cached.controlledBy(uid), ...free], { owner: set.metadata, selector })
    if (adopted.length > 0 && !(await mayAdopt(set, sets, world, signal))) return undefined
    await world.perform(claimActions({ in: pods, owner: set, reference: referenceTo(kind, set), adopted, released }))
    return [...owned, ...adopted]
  }

  /** The revision of the template, which is created if it is new. Undefined if the pass ends here, and an event causes another. */
  async #chooseRevision(selector: Selector, members: readonly Pod[]): Promise<History | undefined> {
    const { set, world, level, signal } = this.#parts
    const claimed = await claimRevisions({ owner: set, owners: sets, kind, selector, world, signal })
    if (claimed === undefined) return undefined
    const known = inRevisionOrder(claimed)
    const data = revisionData(set.spec.template, level)
    const equal = known.filter((revision) => printSorted(revision.data) === data)
    const former = known.filter((revision) => !equal.includes(revision))
    const choice = chooseRevision(known, (revision) => equal.includes(revision))
    if (choice.kind === 'create') {
      const hash = await this.#createRevision(data, choice.number)
      return hash === undefined ? undefined : { hash, former }
    }
    const { revision } = choice
    const hash = hashOf(revision)
    await this.#mergeDuplicates(
      equal.filter((one) => one !== revision),
      hash,
      members,
    )
    if (choice.kind === 'raise') await raiseRevision(revision, choice.to, world, signal)
    return { hash, former }
  }

  /** The hash of the new revision. Undefined if its name belongs to other data, so that the next attempt has another collision count (WL-DS-23). */
  async #createRevision(data: string, number: number): Promise<string | undefined> {
    const { set, world, hashes, signal } = this.#parts
    const { template } = set.spec
    const { collisionCount } = set.status
    const hash = hashes.hashOf(template, collisionCount ?? undefined)
    const draft = newRevision({ owner: set.metadata, template, hash, number, data, hashLabel: revisionLabel })
    const made = await createRevision(draft, referenceTo(kind, set), world, signal)
    if (made !== undefined) return hashOf(made)
    await world.writeStatus(set, { ...set.status, collisionCount: (collisionCount ?? 0) + 1 })
    return undefined
  }

  /** Merges revisions of equal templates, whose Pods get the remaining hash (WL-DS-25). */
  async #mergeDuplicates(duplicates: readonly ControllerRevision[], hash: string, members: readonly Pod[]): Promise<void> {
    if (duplicates.length === 0) return
    const { world, signal } = this.#parts
    const patch = { metadata: { labels: { [revisionLabel]: hash } } }
    const others = members.filter(({ metadata }) => metadata.labels?.[revisionLabel] !== hash)
    await world.perform(others.map((object): Action => ({ kind: 'patch', in: pods, object, type: 'merge', patch })))
    await deleteRevisions(duplicates, world, signal)
  }

  /** Returns the first failure. A refused creation does not prevent deletions. */
  async #perform({ createdOn, deleted, ended }: DaemonSetPlan, hash: string): Promise<unknown> {
    const { world } = this.#parts
    for (const { pod, node, phase } of ended) {
      const { namespace, name } = pod.metadata
      const [type, doing] = phase === 'Failed' ? (['Warning', 'kill'] as const) : (['Normal', 'delete'] as const)
      const message = `Found ${phase.toLowerCase()} daemon pod ${namespace}/${name} on node ${node}, will try to ${doing} it`
      this.#actions.record({ type, reason: `${phase}DaemonPod`, message })
    }
    const groups = [createdOn.map((node) => this.#creation(node, hash)), deleted.map((pod) => this.#actions.remove(pod))]
    let failure: unknown
    for (const group of groups) {
      await world.perform(group).catch((error: unknown) => {
        failure ??= error
      })
    }
    return failure
  }

  #creation(node: string, hash: string): Action {
    const { set, fit } = this.#parts
    const { metadata, spec } = set.spec.template
    const tolerations = [...tolerationsOf(spec, fit.tolerations)]
    return this.#actions.create({
      metadata: { ...metadata, labels: podLabels(set, hash) },
      spec: { ...spec, tolerations, affinity: affinityTo(node, spec.affinity) },
    })
  }

  async #trimHistory({ former }: History, members: readonly Pod[]): Promise<void> {
    const { set, world, signal } = this.#parts
    const live = new Set(members.map(({ metadata }) => metadata.labels?.[revisionLabel] ?? ''))
    const limit = set.spec.revisionHistoryLimit ?? 10
    const surplus = former.filter((revision) => !live.has(hashOf(revision))).slice(0, Math.max(0, former.length - limit))
    await deleteRevisions(surplus, world, signal)
  }
}

/** The hash in the label of a revision. For a revision without the label, by another client, its name. */
function hashOf({ metadata }: ControllerRevision): string {
  return metadata.labels?.[revisionLabel] ?? metadata.name ?? ''
}
