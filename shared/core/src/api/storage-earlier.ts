import { inVersion } from '../description/in-version.ts'
import { storageV1 } from './storage-v1.ts'

const {
  CSINodeStatus: _status,
  StorageHealth: _health,
  StorageHealthCondition: _condition,
  StorageHealthStatusType: _type,
  VolumeAttributesClass,
  VolumeAttributesClassList,
  ...shared
} = storageV1
const classes = { VolumeAttributesClass, VolumeAttributesClassList }

/** The types of storage/v1beta1: those of v1. */
export const storageV1beta1 = {
  ...inVersion(shared, { from: 'storage/v1', to: 'storage/v1beta1' }),
  ...inVersion(classes, { from: 'storage/v1', to: 'storage/v1beta1', lifetimeOf: () => ({ since: 31 }) }),
}

/** The types of storage/v1alpha1 that later versions have as well. */
export const storageV1alpha1 = inVersion(classes, { from: 'storage/v1', to: 'storage/v1alpha1', lifetimeOf: () => ({ since: 29 }) })
