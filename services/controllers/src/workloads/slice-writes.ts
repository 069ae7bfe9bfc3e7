import { type ApiObject, type ObjectMeta, type OwnerReference, toNamePrefix } from '@orch/core/meta'
import type { EndpointSlice, SliceDraft, SlicesPlan } from '@orch/core/workloads'
import type { OwnedBy, World } from '../reconciler/index.ts'

/** The common parts of the slices of one owner and address family. */
export interface SliceFrame {
  /** Group and version of slices. */
  readonly apiVersion: string
  readonly owner: ApiObject
  readonly reference: OwnerReference
  readonly family: string
  readonly labels: Readonly<Record<string, string>>
  /** The metadata that an update of a slice keeps, besides labels, annotations and owner. */
  keptOf(existing: EndpointSlice): ObjectMeta
  /** Annotations of written slices. */
  annotationsOf(existing: EndpointSlice | undefined): Readonly<Record<string, string>>
}

/** Writes the slices of a plan: new ones first, then changed ones, and deletes the rest. */
export async function writeSlices(plan: SlicesPlan, frame: SliceFrame, { world, slices, signal }: SliceWriter): Promise<void> {
  const isDeleted = frame.owner.metadata.deletionTimestamp != null
  const created = isDeleted ? [] : plan.created
  await world.perform(created.map((draft) => ({ kind: 'create', in: slices, object: toSlice(draft, frame) }) as const))
  for (const draft of plan.updated) await world.collection(slices).update(toSlice(draft, frame), { signal })
  await world.perform(plan.deleted.map((object) => ({ kind: 'delete', in: slices, object }) as const))
}

export interface SliceWriter {
  readonly world: World
  readonly slices: OwnedBy<EndpointSlice>
  readonly signal: AbortSignal
}

/** The server completes the name of a new slice. */
function toSlice({ existing, ports, endpoints }: SliceDraft, frame: SliceFrame): EndpointSlice {
  const { apiVersion, owner, reference, family, labels } = frame
  const { name = '', namespace } = owner.metadata
  const metadata = existing === undefined ? { generateName: toNamePrefix(name), namespace } : frame.keptOf(existing)
  return {
    apiVersion,
    kind: 'EndpointSlice',
    metadata: { ...metadata, labels, annotations: frame.annotationsOf(existing), ownerReferences: [reference] },
    addressType: family,
    // Upstream writes empty lists as null, and null has no owner among managers.
    ports: ports.length === 0 ? null : ports,
    endpoints: endpoints.length === 0 ? null : endpoints,
  }
}
