import { foregroundFinalizer, type ObjectMeta, orphanFinalizer } from '@orch/core/meta'

/** The facts of an object that the collector needs. */
export interface Observed {
  readonly uid: string
  readonly name: string
  /** Undefined for a cluster-scoped object. */
  readonly namespace: string | undefined
  readonly owners: readonly OwnerReference[]
  readonly phase: Phase
}

export type OwnerReference = Readonly<NonNullable<ObjectMeta['ownerReferences']>[number]>

/** The stage of a deletion: `foreground` waits for dependants, `orphan` releases them first, `deleting` waits for finalizers of others. */
export type Phase = 'live' | 'deleting' | 'foreground' | 'orphan'

/** The relevant part of metadata. */
export type Metadata = Pick<
  ObjectMeta,
  'uid' | 'name' | 'namespace' | 'resourceVersion' | 'deletionTimestamp' | 'finalizers' | 'ownerReferences'
>

export function observe(metadata: Metadata): Observed {
  const { uid = '', name = '', namespace } = metadata
  return { uid, name, namespace, owners: ownersOf(metadata), phase: phaseOf(metadata) }
}

export function ownersOf({ ownerReferences }: Metadata): readonly OwnerReference[] {
  return ownerReferences ?? []
}

export function groupOf({ apiVersion }: OwnerReference): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
}

/** True if a reference names an owner of this resource, in any version. */
export function isOf({ apiVersion, kind }: OwnerReference, resource: { readonly group: string; readonly kind: string }): boolean {
  if (kind !== resource.kind) return false
  const slash = apiVersion.indexOf('/')
  // A part of the text would be a new text for each comparison.
  return slash < 0 ? resource.group === '' : slash === resource.group.length && apiVersion.startsWith(resource.group)
}

function phaseOf({ deletionTimestamp, finalizers = [] }: Metadata): Phase {
  if (deletionTimestamp === undefined || deletionTimestamp === null) return 'live'
  if (finalizers.includes(foregroundFinalizer)) return 'foreground'
  return finalizers.includes(orphanFinalizer) ? 'orphan' : 'deleting'
}

/** An owner in a namespace owns only objects of that namespace. */
export function mayOwn(owner: { readonly namespace: string | undefined }, dependant: { readonly namespace: string | undefined }): boolean {
  return owner.namespace === undefined || owner.namespace === dependant.namespace
}
