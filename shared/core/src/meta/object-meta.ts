/** A reference from a dependent to its owner. */
export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

/** The fields that a manager owns by one operation in one version. */
export interface ManagedFieldsEntry {
  manager?: string
  operation?: 'Apply' | 'Update'
  apiVersion?: string
  time?: string
  fieldsType?: string
  fieldsV1?: Record<string, unknown>
  subresource?: string
}

/** The `metadata` of an object. All fields are optional, since a new object may lack any of them. */
export interface ObjectMeta {
  name?: string
  generateName?: string
  namespace?: string
  selfLink?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  creationTimestamp?: string | null
  deletionTimestamp?: string | null
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: OwnerReference[]
  finalizers?: string[]
  managedFields?: ManagedFieldsEntry[]
}

/** The `metadata` of a collection. */
export interface ListMeta {
  selfLink?: string
  resourceVersion?: string
  continue?: string
  remainingItemCount?: number
  /** Set if the list is the part of the collection that this selector of the request describes. */
  shardInfo?: { readonly selector: string }
}

/** An object of any kind: the common members, and fields that only its schema knows. */
export interface ApiObject {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
  [field: string]: unknown
}

/** A collection of objects of any kind. */
export interface ApiList<Item = ApiObject> {
  apiVersion: string
  kind: string
  metadata: ListMeta
  items: Item[]
}

/** The finalizer that keeps dependents when their owner is deleted. */
export const orphanFinalizer = 'orphan'

/** The finalizer that keeps an owner until its dependents are deleted. */
export const foregroundFinalizer = 'foregroundDeletion'

/**
 * The new metadata, completed with the live values of server-owned fields. A writer cannot set the creation and deletion times;
 * its values are ignored.
 */
export function carryOverMeta(meta: ObjectMeta, live: ObjectMeta): ObjectMeta {
  const carried: ObjectMeta = { ...meta }
  if (!meta.uid && live.uid) carried.uid = live.uid
  if (live.creationTimestamp) carried.creationTimestamp = live.creationTimestamp
  if (live.deletionTimestamp) carried.deletionTimestamp = live.deletionTimestamp
  if (meta.deletionGracePeriodSeconds === undefined && live.deletionGracePeriodSeconds !== undefined) {
    carried.deletionGracePeriodSeconds = live.deletionGracePeriodSeconds
  }
  return carried
}
