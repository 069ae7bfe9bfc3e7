import {
  boolean,
  defineTypes,
  field,
  int32,
  int64,
  known,
  list,
  map,
  object,
  quantity,
  ref,
  string,
  struct,
  time,
} from '../schema/define.ts'

/** The types of storage/v1beta1: one definition each, read by everything that knows a type. */
export const storageV1beta1 = defineTypes({
  CSIDriver: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1 }),
      spec: field(ref('storage/v1beta1.CSIDriverSpec'), { tag: 2, required: true }),
    }),
  CSIDriverList: () =>
    object({
      metadata: field(ref('meta/v1.ListMeta'), { tag: 1 }),
      items: field(list(ref('storage/v1beta1.CSIDriver')), { tag: 2, required: true }),
    }),
  CSIDriverSpec: () =>
    struct({
      attachRequired: field(boolean(), { tag: 1, pointer: true }),
      podInfoOnMount: field(boolean(), { tag: 2, pointer: true }),
      volumeLifecycleModes: field(list(ref('storage/v1beta1.VolumeLifecycleMode')), { tag: 3 }),
      storageCapacity: field(boolean(), { tag: 4, pointer: true }),
      fsGroupPolicy: field(ref('storage/v1beta1.FSGroupPolicy'), { tag: 5, pointer: true }),
      tokenRequests: field(list(ref('storage/v1beta1.TokenRequest')), { tag: 6, listType: 'atomic' }),
      requiresRepublish: field(boolean(), { tag: 7, pointer: true }),
      seLinuxMount: field(boolean(), { tag: 8, pointer: true }),
    }),
  CSINode: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1 }),
      spec: field(ref('storage/v1beta1.CSINodeSpec'), { tag: 2, required: true }),
    }),
  CSINodeDriver: () =>
    struct({
      name: field(string(), { tag: 1, required: true }),
      nodeID: field(string(), { tag: 2, required: true }),
      topologyKeys: field(list(string()), { tag: 3, keepEmpty: true }),
      allocatable: field(ref('storage/v1beta1.VolumeNodeResources'), { tag: 4, pointer: true }),
    }),
  CSINodeList: () =>
    object({
      metadata: field(ref('meta/v1.ListMeta'), { tag: 1 }),
      items: field(list(ref('storage/v1beta1.CSINode')), { tag: 2, required: true }),
    }),
  CSINodeSpec: () =>
    struct({
      drivers: field(list(ref('storage/v1beta1.CSINodeDriver')), { tag: 1, required: true, patchStrategy: 'merge', patchMergeKey: 'name' }),
    }),
  CSIStorageCapacity: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1 }),
      nodeTopology: field(ref('meta/v1.LabelSelector'), { tag: 2, pointer: true }),
      storageClassName: field(string(), { tag: 3, required: true }),
      capacity: field(quantity(), { tag: 4, pointer: true }),
      maximumVolumeSize: field(quantity(), { tag: 5, pointer: true }),
    }),
  CSIStorageCapacityList: () =>
    object({
      metadata: field(ref('meta/v1.ListMeta'), { tag: 1 }),
      items: field(list(ref('storage/v1beta1.CSIStorageCapacity')), { tag: 2, required: true, listType: 'map', listMapKeys: ['name'] }),
    }),
  FSGroupPolicy: () => known('ReadWriteOnceWithFSType', 'File', 'None'),
  StorageClass: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1 }),
      provisioner: field(string(), { tag: 2, required: true }),
      parameters: field(map(string()), { tag: 3 }),
      reclaimPolicy: field(ref('core/v1.PersistentVolumeReclaimPolicy'), { tag: 4, pointer: true }),
      mountOptions: field(list(string()), { tag: 5 }),
      allowVolumeExpansion: field(boolean(), { tag: 6, pointer: true }),
      volumeBindingMode: field(ref('storage/v1beta1.VolumeBindingMode'), { tag: 7, pointer: true }),
      allowedTopologies: field(list(ref('core/v1.TopologySelectorTerm')), { tag: 8, listType: 'atomic' }),
    }),
  StorageClassList: () =>
    object({
      metadata: field(ref('meta/v1.ListMeta'), { tag: 1 }),
      items: field(list(ref('storage/v1beta1.StorageClass')), { tag: 2, required: true }),
    }),
  TokenRequest: () =>
    struct({
      audience: field(string(), { tag: 1, required: true }),
      expirationSeconds: field(int64(), { tag: 2, pointer: true }),
    }),
  VolumeAttachment: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1 }),
      spec: field(ref('storage/v1beta1.VolumeAttachmentSpec'), { tag: 2, required: true }),
      status: field(ref('storage/v1beta1.VolumeAttachmentStatus'), { tag: 3 }),
    }),
  VolumeAttachmentList: () =>
    object({
      metadata: field(ref('meta/v1.ListMeta'), { tag: 1 }),
      items: field(list(ref('storage/v1beta1.VolumeAttachment')), { tag: 2, required: true }),
    }),
  VolumeAttachmentSource: () =>
    struct({
      persistentVolumeName: field(string(), { tag: 1, pointer: true }),
      inlineVolumeSpec: field(ref('core/v1.PersistentVolumeSpec'), { tag: 2, pointer: true }),
    }),
  VolumeAttachmentSpec: () =>
    struct({
      attacher: field(string(), { tag: 1, required: true }),
      source: field(ref('storage/v1beta1.VolumeAttachmentSource'), { tag: 2, required: true }),
      nodeName: field(string(), { tag: 3, required: true }),
    }),
  VolumeAttachmentStatus: () =>
    struct({
      attached: field(boolean(), { tag: 1, required: true }),
      attachmentMetadata: field(map(string()), { tag: 2 }),
      attachError: field(ref('storage/v1beta1.VolumeError'), { tag: 3, pointer: true }),
      detachError: field(ref('storage/v1beta1.VolumeError'), { tag: 4, pointer: true }),
    }),
  VolumeBindingMode: () => known('Immediate', 'WaitForFirstConsumer'),
  VolumeError: () =>
    struct({
      time: field(time(), { tag: 1 }),
      message: field(string(), { tag: 2 }),
    }),
  VolumeLifecycleMode: () => known('Persistent', 'Ephemeral'),
  VolumeNodeResources: () =>
    struct({
      count: field(int32(), { tag: 1, pointer: true }),
    }),
})
