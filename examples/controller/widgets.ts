// Written by `orch types`. Changes are lost when it is written again.

/** The metadata of an object. */
export interface ObjectMeta {
  annotations?: { [key: string]: string }
  readonly creationTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly deletionTimestamp?: string
  finalizers?: string[]
  generateName?: string
  readonly generation?: number
  labels?: { [key: string]: string }
  managedFields?: {
    apiVersion?: string
    fieldsType?: string
    fieldsV1?: { [key: string]: unknown }
    manager?: string
    operation?: 'Apply' | 'Update'
    subresource?: string
    time?: string
  }[]
  name?: string
  namespace?: string
  ownerReferences?: {
    apiVersion: string
    blockOwnerDeletion?: boolean
    controller?: boolean
    kind: string
    name: string
    uid: string
  }[]
  resourceVersion?: string
  selfLink?: string
  readonly uid?: string
}

/** The metadata of a list. */
export interface ListMeta {
  readonly continue?: string
  readonly remainingItemCount?: number
  readonly resourceVersion?: string
}

/** Widget of example.com/v1. */
export type V1Widget = {
  apiVersion: 'example.com/v1'
  kind: 'Widget'
  metadata: ObjectMeta
  spec: {
    /** The number of ConfigMaps that the widget has. */
    parts: number
  }
  status?: {
    /** The number of existing ConfigMaps. */
    parts?: number
  }
}

/** A list of Widget objects. */
export type V1WidgetList = {
  apiVersion: 'example.com/v1'
  kind: 'WidgetList'
  metadata: ListMeta
  items: V1Widget[]
}
