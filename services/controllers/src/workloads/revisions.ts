import { isRefusal, unlessGone } from '@orch/client'
import { jsonEqual } from '@orch/core/json'
import type { ApiObject, OwnerReference } from '@orch/core/meta'
import { type ControllerRevision, claim } from '@orch/core/workloads'
import { type KindOf, mapped, type Own, type World } from '../reconciler/index.ts'
import { claimActions, mayAdopt, referenceTo, type requirementsOf } from './claims.ts'

/** Revisions, whose events enqueue nothing, as upstream. */
export const revisions = mapped<ControllerRevision>('apps/v1', 'controllerrevisions', () => [], { isLazy: true })

interface RevisionOwner {
  readonly owner: ApiObject
  readonly owners: Own<ApiObject>
  readonly kind: KindOf
  readonly selector: NonNullable<ReturnType<typeof requirementsOf>>
  readonly world: World
  readonly signal: AbortSignal
}

/** The revisions of an owner, including newly adopted ones. Undefined if it may not adopt. */
export async function claimRevisions(parts: RevisionOwner): Promise<readonly ControllerRevision[] | undefined> {
  const { owner, owners, kind, selector, world, signal } = parts
  const { uid, namespace } = owner.metadata
  const cached = world.read(revisions)
  const candidates = [...cached.controlledBy(uid), ...cached.uncontrolled(namespace)]
  const { owned, adopted } = claim(candidates, { owner: owner.metadata, selector })
  if (adopted.length > 0 && !(await mayAdopt(owner, owners, world, signal))) return undefined
  await world.perform(claimActions({ in: revisions, owner, reference: referenceTo(kind, owner), adopted, released: [] }))
  return [...owned, ...adopted]
}

/** The created revision, or an existing one with its name and data. Undefined if the name belongs to other data (WL-STS-25). */
export async function createRevision(
  draft: ControllerRevision,
  reference: OwnerReference,
  world: World,
  signal: AbortSignal,
): Promise<ControllerRevision | undefined> {
  const { name = '', namespace } = draft.metadata
  const collection = world.collection(revisions)
  try {
    return await collection.create({ ...draft, metadata: { ...draft.metadata, ownerReferences: [reference] } }, { signal })
  } catch (error) {
    if (!isRefusal(error, ['AlreadyExists'])) throw error
    const existing = await collection.get(name, { namespace, signal })
    return jsonEqual(existing.data, draft.data) ? existing : undefined
  }
}

/** Makes an earlier revision the newest. */
export function raiseRevision(revision: ControllerRevision, to: number, world: World, signal: AbortSignal): Promise<ControllerRevision> {
  return world.collection(revisions).update({ ...revision, revision: to }, { signal })
}

export async function deleteRevisions(surplus: readonly ControllerRevision[], world: World, signal: AbortSignal): Promise<void> {
  for (const { metadata } of surplus) {
    const { name = '', namespace } = metadata
    await unlessGone(() => world.collection(revisions).delete(name, { namespace, signal }))
  }
}
