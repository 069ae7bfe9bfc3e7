import { defineTypes, field, int64, known, list, object, ref, string, struct, time } from '../schema/define.ts'

/** The types of apiserverinternal/v1alpha1: one definition each, read by everything that knows a type. */
export const apiserverinternalV1alpha1 = defineTypes({
  ConditionStatus: () => known('True', 'False', 'Unknown'),
  ServerStorageVersion: () =>
    struct({
      apiServerID: field(string(), { tag: 1 }),
      encodingVersion: field(string(), { tag: 2 }),
      decodableVersions: field(list(string()), { tag: 3, listType: 'set' }),
    }),
  StorageVersion: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1 }),
      spec: field(ref('apiserverinternal/v1alpha1.StorageVersionSpec'), { tag: 2, required: true }),
      status: field(ref('apiserverinternal/v1alpha1.StorageVersionStatus'), { tag: 3, required: true }),
    }),
  StorageVersionCondition: () =>
    struct({
      type: field(ref('apiserverinternal/v1alpha1.StorageVersionConditionType'), { tag: 1, required: true }),
      status: field(ref('apiserverinternal/v1alpha1.ConditionStatus'), { tag: 2, required: true }),
      observedGeneration: field(int64(), { tag: 3 }),
      lastTransitionTime: field(time(), { tag: 4, markedRequired: true }),
      reason: field(string(), { tag: 5, required: true }),
      message: field(string(), { tag: 6, markedRequired: true }),
    }),
  StorageVersionConditionType: () => known('AllEncodingVersionsEqual'),
  StorageVersionList: () =>
    object({
      metadata: field(ref('meta/v1.ListMeta'), { tag: 1 }),
      items: field(list(ref('apiserverinternal/v1alpha1.StorageVersion')), { tag: 2, required: true }),
    }),
  StorageVersionSpec: () => struct({}),
  StorageVersionStatus: () =>
    struct({
      storageVersions: field(list(ref('apiserverinternal/v1alpha1.ServerStorageVersion')), {
        tag: 1,
        listType: 'map',
        listMapKeys: ['apiServerID'],
      }),
      commonEncodingVersion: field(string(), { tag: 2, pointer: true }),
      conditions: field(list(ref('apiserverinternal/v1alpha1.StorageVersionCondition')), {
        tag: 3,
        listType: 'map',
        listMapKeys: ['type'],
      }),
    }),
})
