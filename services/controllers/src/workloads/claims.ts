import { type EventDraft, type InformerEvent, unlessGone } from '@orch/client'
import type { LabelRequirement } from '@orch/core/contracts'
import { memo } from '@orch/core/memo'
import type { ApiObject, OwnerReference } from '@orch/core/meta'
import { type LabelSelector, matchesLabels, toLabelRequirements } from '@orch/core/selectors'
import { controllerOf, type KindOf, keyOf } from '../informers/object-keys.ts'
import { type Action, type Mapped, mapped, type Own, type Reader, type Watched, type World } from '../reconciler/index.ts'

/** Delays of the rate limiter of upstream's workload controllers. */
export const workloadBackoff = { firstMs: 5, maxMs: 1_000_000 }
/** Maximum number of retries before upstream's controllers of Deployments, Endpoints and EndpointSlices wait for the next event of a key. */
export const retriesMax = 15

/** The reference with which an owner controls an object. */
export function referenceTo({ apiVersion, kind }: KindOf, { metadata }: ApiObject): OwnerReference {
  const { name = '', uid = '' } = metadata
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }
}

/** The cache may not show yet that the owner is being deleted or was recreated. */
export async function mayAdopt(owner: ApiObject, owners: Own<ApiObject>, world: World, signal: AbortSignal): Promise<boolean> {
  const { name = '', namespace, uid } = owner.metadata
  const live = await unlessGone(() => world.collection(owners).get(name, { namespace, signal }))
  return live?.metadata.uid === uid && live?.metadata.deletionTimestamp == null
}

interface Claims {
  readonly in: Watched<ApiObject>
  readonly owner: ApiObject
  readonly reference: OwnerReference
  readonly adopted: readonly ApiObject[]
  readonly released: readonly ApiObject[]
  /** Finalizers that are added at adoption and removed at release. */
  readonly finalizers?: readonly string[]
}

/** The patches that adopt and release objects. */
export function claimActions({ in: watch, owner, reference, adopted, released, finalizers }: Claims): Action[] {
  const patch = (object: ApiObject, metadata: object): Action => {
    const { uid } = object.metadata
    return { kind: 'patch', in: watch, object, type: 'strategic', patch: { metadata: { uid, ...metadata } } }
  }
  const { uid } = owner.metadata
  return [
    ...adopted.map((object) => patch(object, { ownerReferences: [reference], ...(finalizers && { finalizers }) })),
    ...released.map((object) => {
      const ownerReferences = [{ $patch: 'delete', uid }]
      return patch(object, { ownerReferences, ...(finalizers && { '$deleteFromPrimitiveList/finalizers': finalizers }) })
    }),
  ]
}

type Selector = LabelSelector | null | undefined

/** Undefined for an invalid selector, with which nothing is done. */
export function requirementsOf(selector: Selector): readonly LabelRequirement[] | undefined {
  const reading = readSelector(selector ?? everything)
  return reading.kind === 'selector' ? reading.requirements : undefined
}

/** The event about an owner whose selector is empty, after which its controller does nothing. */
export function selectingAll(owner: string): EventDraft {
  const message = `This ${owner} is selecting all pods. A non-empty selector is required.`
  return { type: 'Warning', reason: 'SelectingAll', message }
}

const everything: LabelSelector = {}
/** The versions of a cached object share an equal selector. */
const readSelector = memo(toLabelRequirements)

/** Watches objects without a controller: each enqueues the owners in its namespace whose selectors match. */
export function adoptable<T extends ApiObject, O extends ApiObject>(
  groupVersion: string,
  plural: string,
  owners: Own<O>,
  selectorOf: (owner: O) => Selector,
): Mapped<T> {
  return mapped<T>(groupVersion, plural, (event, caches) => adoptersOf(event, caches.read(owners), selectorOf), { isLazy: true })
}

function adoptersOf<O extends ApiObject>(
  { kind, object }: InformerEvent<ApiObject>,
  owners: Reader<O>,
  selectorOf: (owner: O) => Selector,
): string[] {
  if (kind === 'deleted' || object.metadata.deletionTimestamp != null || controllerOf(object) !== undefined) return []
  const found: string[] = []
  for (const owner of owners.inNamespace(object.metadata.namespace)) {
    const selector = requirementsOf(selectorOf(owner))
    // An empty selector matches no object here, as upstream.
    if (selector !== undefined && selector.length > 0 && matchesLabels(selector, object.metadata.labels)) found.push(keyOf(owner))
  }
  return found
}
