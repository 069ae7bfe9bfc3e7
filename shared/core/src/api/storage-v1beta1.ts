import { inVersion } from '../description/in-version.ts'
import { storageV1 } from './storage-v1.ts'

const {
  CSINodeStatus: _status,
  StorageHealth: _health,
  StorageHealthCondition: _condition,
  StorageHealthStatusType: _type,
  VolumeAttributesClass: _class,
  VolumeAttributesClassList: _classes,
  ...shared
} = storageV1

/** The types of storage/v1beta1: those of v1. */
export const storageV1beta1 = inVersion(shared, { from: 'storage/v1', to: 'storage/v1beta1' })
