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
import { type Action, done, type Pass, type Result, requeueAfter } from '../reconciler/world.ts'
import { adoptable, claimActions, mayAdopt, referenceTo, requirementsOf, selectingAll, workloadBackoff } from './claims.ts'
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
    const nodes = mapped<Node>('v1', 'nodes', (event, caches) => setsOfNode(event, caches, fit, served.level), { isLazy: true })
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
      reconcile: async ({ object: set, world, clock, signal }) => {
        const actions = new PodActions({ kind, owner: set, world, pods })
        const shared = { fit, hashes, removals, level: served.level, nodes: () => world.read(nodes).values() }
        return runPass({ ...shared, set, world, actions, signal }, clock.now())
      },
    }
  })
}

/** Below this level, an event of a node affects a DaemonSet whenever the result of its fit changes. */
const placesSince = 33
/** Below this level, misplaced Pods of a DaemonSet do not matter. */
const misplacedSince = 34

/** The DaemonSets that an event of a node affects: a Pod is missing, surplus or was misplaced (WL-DS-11). */
function setsOfNode(event: InformerEvent<Node>, caches: Caches, fit: FitOptions, level: number): string[] {
  const { kind: what, object: node } = event
  if (what === 'deleted' || (what === 'updated' && isAlike(event.before, node))) return []
  const isConcerned = (set: DaemonSet) => {
    const { shouldRun, shouldContinue } = fitOf(set.spec.template, node, fit)
    if (level < placesSince) {
      const before = event.kind === 'updated' ? fitOf(set.spec.template, event.before, fit) : { shouldRun: false, shouldContinue }
      return before.shouldRun !== shouldRun || before.shouldContinue !== shouldContinue
    }
    const hasPod = [...caches.read(pods).controlledBy(set.metadata.uid)].some((pod) => nodeOf(pod) === node.metadata.name)
    return hasPod ? !shouldContinue || (level >= misplacedSince && set.status.numberMisscheduled > 0) : shouldRun
  }
  return [...caches.read(sets).values()].filter(isConcerned).map(keyOf)
}

/** Nodes are written every few minutes as a heartbeat. */
function isAlike(before: Node, after: Node): boolean {
  return jsonEqual(before.metadata.labels, after.metadata.labels) && jsonEqual(before.spec.taints, after.spec.taints)
}

type Selector = NonNullable<ReturnType<typeof requirementsOf>>

interface PassParts extends Pass {
  readonly set: DaemonSet
  readonly nodes: () => Iterable<Node>
  readonly fit: FitOptions
  readonly hashes: ReturnType<typeof templateHashesAt>
  readonly removals: Map<string, FailureBackoff>
  readonly actions: PodActions
}

/** The revisions of a pass. */
interface History {
  /** The hash of the template's revision. */
  readonly hash: string
  /** Revisions of other templates, oldest first. */
  readonly former: readonly ControllerRevision[]
}

async function runPass(parts: PassParts, nowMs: number): Promise<Result> {
  const { set, world, removals, level, fit, nodes, actions } = parts
  const selector = requirementsOf(set.spec.selector)
  if (selector === undefined) return done
  // The API refuses an empty selector, which older servers stored.
  if (selector.length === 0) {
    actions.record(selectingAll('daemon set'))
    return done
  }
  if (set.metadata.deletionTimestamp != null) return done
  const members = await claimPods(parts, selector)
  const history = members && (await findHistory(parts, selector, members))
  if (members === undefined || history === undefined) return done
  const { uid = '' } = set.metadata
  const backoff = removals.get(uid) ?? noRemovals
  const observed: DaemonSetObserved = { set, nodes: nodes(), pods: members, hash: history.hash, fit, backoff, level }
  if (world.isPending) return world.writeStatus(set, countDaemonPods(observed, nowMs))
  const plan = decideDaemonSet(observed, nowMs)
  removals.set(uid, plan.backoff)
  const failure = await performPlan(parts, plan, history.hash)
  if (failure === undefined) await trimHistory(parts, history, members)
  await world.writeStatus(set, plan.status)
  if (failure !== undefined) throw failure
  return plan.waitMs === undefined ? done : requeueAfter(plan.waitMs)
}

/** The Pods of the set, including newly adopted ones. Undefined if it may not adopt. */
async function claimPods({ set, world, signal }: PassParts, selector: Selector): Promise<readonly Pod[] | undefined> {
  const { uid, namespace } = set.metadata
  const cached = world.read(pods)
  const free = [...cached.uncontrolled(namespace)].filter(({ metadata }) => metadata.deletionTimestamp == null)
  const { owned, adopted, released } = claim([...cached.controlledBy(uid), ...free], { owner: set.metadata, selector })
  if (adopted.length > 0 && !(await mayAdopt(set, sets, world, signal))) return undefined
  await world.perform(claimActions({ in: pods, owner: set, reference: referenceTo(kind, set), adopted, released }))
  return [...owned, ...adopted]
}

/** The revision of the template, which is created if it is new. Undefined if the pass ends here, and an event causes another. */
async function findHistory(parts: PassParts, selector: Selector, members: readonly Pod[]): Promise<History | undefined> {
  const { set, world, level, signal } = parts
  const claimed = await claimRevisions({ owner: set, owners: sets, kind, selector, world, signal })
  if (claimed === undefined) return undefined
  const known = inRevisionOrder(claimed)
  const data = revisionData(set.spec.template, level)
  const equal = known.filter((revision) => printSorted(revision.data) === data)
  const former = known.filter((revision) => !equal.includes(revision))
  const choice = chooseRevision(known, (revision) => equal.includes(revision))
  if (choice.kind === 'create') {
    const hash = await createHash(parts, data, choice.number)
    return hash === undefined ? undefined : { hash, former }
  }
  const { revision } = choice
  const hash = hashOf(revision)
  await mergeDuplicates(
    parts,
    equal.filter((one) => one !== revision),
    hash,
    members,
  )
  if (choice.kind === 'raise') await raiseRevision(revision, choice.to, world, signal)
  return { hash, former }
}

/** The hash of the new revision. Undefined if its name belongs to other data, so that the next attempt has another collision count (WL-DS-23). */
async function createHash({ set, world, hashes, signal }: PassParts, data: string, number: number): Promise<string | undefined> {
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
async function mergeDuplicates(
  parts: PassParts,
  duplicates: readonly ControllerRevision[],
  hash: string,
  members: readonly Pod[],
): Promise<void> {
  if (duplicates.length === 0) return
  const { world, signal } = parts
  const patch = { metadata: { labels: { [revisionLabel]: hash } } }
  const others = members.filter(({ metadata }) => metadata.labels?.[revisionLabel] !== hash)
  await world.perform(others.map((object): Action => ({ kind: 'patch', in: pods, object, type: 'merge', patch })))
  await deleteRevisions(duplicates, world, signal)
}

/** Returns the first failure. A refused creation does not prevent deletions. */
async function performPlan(parts: PassParts, { createdOn, deleted, ended }: DaemonSetPlan, hash: string): Promise<unknown> {
  const { world } = parts
  for (const { pod, node, phase } of ended) {
    const { namespace, name } = pod.metadata
    const [type, doing] = phase === 'Failed' ? (['Warning', 'kill'] as const) : (['Normal', 'delete'] as const)
    const message = `Found ${phase.toLowerCase()} daemon pod ${namespace}/${name} on node ${node}, will try to ${doing} it`
    parts.actions.record({ type, reason: `${phase}DaemonPod`, message })
  }
  const groups = [createdOn.map((node) => creationOn(parts, node, hash)), deleted.map((pod) => parts.actions.remove(pod))]
  let failure: unknown
  for (const group of groups) {
    await world.perform(group).catch((error: unknown) => {
      failure ??= error
    })
  }
  return failure
}

function creationOn(parts: PassParts, node: string, hash: string): Action {
  const { set, fit } = parts
  const { metadata, spec } = set.spec.template
  const tolerations = [...tolerationsOf(spec, fit.tolerations)]
  return parts.actions.create({
    metadata: { ...metadata, labels: podLabels(set, hash) },
    spec: { ...spec, tolerations, affinity: affinityTo(node, spec.affinity) },
  })
}

async function trimHistory({ set, world, signal }: PassParts, { former }: History, members: readonly Pod[]): Promise<void> {
  const live = new Set(members.map(({ metadata }) => metadata.labels?.[revisionLabel] ?? ''))
  const limit = set.spec.revisionHistoryLimit ?? 10
  const surplus = former.filter((revision) => !live.has(hashOf(revision))).slice(0, Math.max(0, former.length - limit))
  await deleteRevisions(surplus, world, signal)
}

/** The hash in the label of a revision. For a revision without the label, by another client, its name. */
function hashOf({ metadata }: ControllerRevision): string {
  return metadata.labels?.[revisionLabel] ?? metadata.name ?? ''
}
