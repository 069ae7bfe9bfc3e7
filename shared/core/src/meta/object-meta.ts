/** A pointer from a dependant to an object that owns it. */
export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

/** The fields that one manager owns, by one operation, through one version. */
export interface ManagedFieldsEntry {
  manager?: string
  operation?: 'Apply' | 'Update'
  apiVersion?: string
  time?: string
  fieldsType?: string
  fieldsV1?: Record<string, unknown>
  subresource?: string
}

/** The `metadata` of every object. All fields are optional, as an object on its way in may lack any of them. */
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
  /** The list is a part of the collection, as this selector of the request says. */
  shardInfo?: { readonly selector: string }
}

/** An object of any kind: the common members of all kinds, and fields that only its schema knows. */
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

/** The finalizer that keeps dependants when their owner is deleted. */
export const orphanFinalizer = 'orphan'

/** The finalizer that lets the owner go only after its dependants. */
export const foregroundFinalizer = 'foregroundDeletion'

/**
 * The new metadata with the live values of the server-owned fields that it leaves out. The creation and deletion times
 * are never the writer's: its values for them are ignored.
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
