import { setImmediate } from 'node:timers/promises'
import { at } from '@orch/core/json'
import { foregroundFinalizer, orphanFinalizer } from '@orch/core/meta'
import type { ControllerContext } from '../controller.ts'
import type { Graph, Node } from './graph.ts'

import type { ReportMisplaced } from './misplaced-owner.ts'
import { deleteLive, getLive, patchOwners, removeFinalizer } from './objects.ts'
import { type Metadata, type OwnerReference, observe, ownersOf } from './observed.ts'
import type { Owners, Standing } from './owners.ts'

/** The dependencies of the collector. */
export interface Collection {
  readonly context: ControllerContext
  readonly graph: Graph
  readonly owners: Owners
  readonly report: ReportMisplaced
  /** The object is already deleted. */
  readonly dropped: (uid: string) => void
}

/** Dependants that are changed in parallel. */
const orphansAtOnce = 20
/** Maximum number of owners of one object that get Events. */
const ownersReportedMax = 100

/** Processes one object. */
export async function collect(uid: string, collection: Collection): Promise<void> {
  const node = collection.graph.get(uid)
  if (node === undefined || node.phase === 'deleting') return
  const live = await getLive(collection.context, node.resource, node)
  if (live === undefined) return collection.dropped(uid)
  const { phase } = observe(live)
  switch (phase) {
    case 'deleting':
      return
    case 'orphan':
      return letDependantsGo(node, live, collection)
    case 'foreground':
      return awaitDependants(node, live, collection)
    case 'live':
      return checkOwners(node, live, collection)
  }
}

/** An object whose owners are all deleted is deleted; references to deleted owners are removed beside an existing one. */
async function checkOwners(node: Node, live: Metadata, collection: Collection): Promise<void> {
  const { context, graph, owners } = collection
  const references = ownersOf(live)
  if (references.length === 0) return
  const standings = await inGroups(references, (owner) => standingOf(owner, node, collection))
  // The object is checked again when the kind of its owner is served and has been listed.
  if (standings.includes('unserved')) return
  const reported = references.slice(0, ownersReportedMax)
  await inGroups(reported, (owner, index) => collection.report(node, owner, at(standings, index)))
  if (standings.includes('misplaced')) return
  if (standings.includes('solid')) {
    const solid = references.filter((_, index) => standings[index] === 'solid')
    if (solid.length < references.length) await patchOwners(context, node.resource, live, solid)
    return
  }
  const others = references.filter(({ uid }, index) => standings[index] !== 'absent' || !owners.isParted(uid))
  if (others.length < references.length) return patchOwners(context, node.resource, live, others)
  const isWaitedFor = standings.includes('waiting') && graph.dependantsOf(node).length > 0
  await deleteLive(context, node.resource, live, isWaitedFor ? 'Foreground' : policyOf(live))
}

async function standingOf(owner: OwnerReference, node: Node, { graph, owners }: Collection): Promise<Standing> {
  if (graph.hasLive(owner, node.namespace)) return 'solid'
  const known = graph.get(owner.uid)
  if (known?.phase === 'foreground' && (known.namespace === undefined || known.namespace === node.namespace)) return 'waiting'
  return owners.standingOf(owner, node.namespace)
}

/** A finalizer of the collector sets the policy; without one, dependants are deleted on their own. */
function policyOf({ finalizers = [] }: Metadata): 'Background' | 'Orphan' | 'Foreground' {
  if (finalizers.includes(orphanFinalizer)) return 'Orphan'
  return finalizers.includes(foregroundFinalizer) ? 'Foreground' : 'Background'
}

/** Deletes the object when no blocking dependant remains. */
async function awaitDependants(node: Node, live: Metadata, { context, graph }: Collection): Promise<void> {
  if (graph.blockersOf(node).length === 0) return removeFinalizer(context, node.resource, live, foregroundFinalizer)
  await leaveCycles(node, live, { context, graph })
}

/** In a cycle all objects would wait: the object no longer blocks an owner that it waits for itself, directly or through others. */
async function leaveCycles(node: Node, live: Metadata, { context, graph }: Pick<Collection, 'context' | 'graph'>): Promise<void> {
  const references = ownersOf(live)
  const isInCycle = (owner: OwnerReference) => owner.blockOwnerDeletion === true && graph.isWaitingFor(node, owner.uid)
  if (!references.some(isInCycle)) return
  const freed = references.map((owner) => (isInCycle(owner) ? { ...owner, blockOwnerDeletion: false } : owner))
  await patchOwners(context, node.resource, live, freed)
}

/** Dependants lose the reference before the object is deleted. */
async function letDependantsGo(node: Node, live: Metadata, { context, graph, owners }: Collection): Promise<void> {
  if (live.finalizers?.length === 1) owners.setParted(node.uid)
  const waiting = graph.dependantsOf(node).values()
  const worker = async () => {
    for (const dependant of waiting) await forget(dependant, node.uid, context)
  }
  await Promise.all(Array.from({ length: orphansAtOnce }, worker))
  await removeFinalizer(context, node.resource, live, orphanFinalizer)
}

async function forget(dependant: Node, ownerUid: string, context: ControllerContext): Promise<void> {
  const live = await getLive(context, dependant.resource, dependant)
  if (live === undefined) return
  const references = ownersOf(live)
  const others = references.filter(({ uid }) => uid !== ownerUid)
  if (others.length < references.length) await patchOwners(context, dependant.resource, live, others)
}

/** Items processed in parallel: some milliseconds if the server is in this process. */
export const groupSize = 32

/** Processes the items, a few in parallel. Other work runs between groups, as an object may have ten thousand owners. */
export async function inGroups<T, R>(items: readonly T[], work: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const done: R[] = []
  for (let from = 0; from < items.length; from += groupSize) {
    if (from > 0) await setImmediate()
    const group = items.slice(from, from + groupSize)
    done.push(...(await Promise.all(group.map((item, index) => work(item, from + index)))))
  }
  return done
}
