import { atomic, atomicSince30, checked, field, merged, mergedSince30, needed, pointer, required } from '../description/fields.ts'
import { defineTypes, object, struct } from '../description/structs.ts'
import { closed, known, only, string, text } from '../description/texts.ts'
import { boolean, int32, int64, list, map, quantity, ref, time } from '../description/values.ts'
import { gated, listMetadata, metadata, objectList } from './common.ts'

/** The types of storage/v1. */
export const storageV1 = defineTypes({
  CSIDriver: object(
    'A volume driver that is installed in the cluster, and how it wants to be called. Its name is the name of the driver.',
    () => ({ metadata, spec: required(ref('storage/v1.CSIDriverSpec'), 2, 'Needs and abilities of the driver.') }),
  ),
  CSIDriverList: objectList('storage/v1.CSIDriver'),
  CSIDriverSpec: struct('Needs and abilities of a volume driver.', () => ({
    attachRequired: needed(boolean(), 1, {
      pointer: true,
      doc: 'True if volumes must be attached to a node before they are mounted. Default: true. Cannot be changed.',
    }),
    podInfoOnMount: needed(boolean(), 2, {
      isImmutable: true,
      changes: { 29: { isImmutable: undefined } },
      pointer: true,
      doc: 'True if the driver gets information about the pod when it mounts a volume. Default: false.',
    }),
    volumeLifecycleModes: field(list(ref('storage/v1.VolumeLifecycleMode')), 3, {
      isImmutable: true,
      listType: 'set',
      doc: 'Kinds of volumes that the driver supports: Persistent (the default), Ephemeral, or both. Cannot be changed.',
    }),
    storageCapacity: needed(boolean(), 4, {
      pointer: true,
      featureGate: 'CSIStorageCapacity',
      doc: 'True if the scheduler considers the capacity that the driver publishes. Default: false.',
    }),
    fsGroupPolicy: pointer(ref('storage/v1.FSGroupPolicy'), 5, {
      isImmutable: true,
      changes: { 29: { isImmutable: undefined } },
      doc: "Changes of owner and mode of a volume for the pod's fsGroup: ReadWriteOnceWithFSType (the default), File or None.",
    }),
    tokenRequests: atomic(list(ref('storage/v1.TokenRequest')), 6, {
      doc: 'Service account tokens that the driver is given when it mounts, at most one for an audience.',
    }),
    requiresRepublish: pointer(boolean(), 7, {
      doc: 'True if mounted volumes are published again from time to time, so that changes arrive. Default: false.',
    }),
    seLinuxMount: pointer(boolean(), 8, {
      featureGate: 'SELinuxMountReadWriteOncePod',
      doc: 'True if the driver can mount a volume with an SELinux context given as an option. Default: false.',
    }),
    nodeAllocatableUpdatePeriodSeconds: pointer(int64({ min: 10, detail: 'must be greater than or equal to 10 seconds' }), 9, {
      ...gated('MutableCSINodeAllocatableCount'),
      doc: 'Seconds between updates of the number of volumes that a node can attach: at least 10. Unset: no updates.',
    }),
    serviceAccountTokenInSecrets: pointer(boolean(), 10, {
      ...gated('CSIServiceAccountTokenSecrets'),
      doc: 'True passes tokens of service accounts in the secrets of a call instead of its volume context. Needs tokenRequests.',
    }),
    preventPodSchedulingIfMissing: pointer(boolean(), 11, {
      featureGate: 'VolumeLimitScaling',
      since: 36,
      doc: 'True keeps pods that need the driver from nodes that do not have it.',
    }),
  })),
  CSINode: object(
    'The volume drivers installed on one node. It has the name of the node, belongs to it, and is written by its agent.',
    () => ({
      metadata,
      spec: required(ref('storage/v1.CSINodeSpec'), 2, 'The drivers of the node.'),
      status: field(ref('storage/v1.CSINodeStatus'), 3, { since: 37, doc: 'State of the storage of the node.' }),
    }),
  ),
  CSINodeDriver: struct('A volume driver on a node.', () => ({
    name: required(string(), 1, 'Name by which the driver is registered, the same as the name of its CSIDriver.'),
    nodeID: needed(string(), 2, {
      required: true,
      doc: 'Name that the driver itself has for the node. Volumes are attached to the node by this name.',
    }),
    topologyKeys: atomicSince30(list(string()), 3, {
      keepEmpty: true,
      doc: 'Labels of the node by which the driver says where it is. May be empty, and may differ between nodes.',
    }),
    allocatable: pointer(ref('storage/v1.VolumeNodeResources'), 4, {
      doc: 'Greatest number of volumes of the driver on the node. Unset: no limit.',
    }),
  })),
  CSINodeList: objectList('storage/v1.CSINode'),
  CSINodeSpec: struct('The volume drivers of a node.', () => ({
    drivers: mergedSince30('name', list(ref('storage/v1.CSINodeDriver'), { uniqueBy: 'name' }), 1, {
      required: true,
      doc: 'The drivers, each with another name. May be empty, if all have been removed.',
    }),
  })),
  CSINodeStatus: struct({ since: 37, doc: 'State of the storage of a node.' }, () => ({
    storageHealth: merged('name', list(ref('storage/v1.StorageHealth')), 1, {
      featureGate: 'CSIVolumeHealth',
      doc: 'Health of the storage, by driver.',
    }),
  })),
  CSIStorageCapacity: object('Capacity for new volumes of one storage class in one part of the cluster.', () => ({
    metadata,
    nodeTopology: pointer(ref('meta/v1.LabelSelector'), 2, {
      isImmutable: true,
      doc: 'Nodes that can reach the storage. Unset means none, empty means all.',
    }),
    storageClassName: checked(text('subdomain'), 3, {
      isImmutable: true,
      required: true,
      doc: 'The storage class that the numbers are for. Cannot be changed.',
    }),
    capacity: pointer(quantity({ sign: 'notNegative' }), 4, 'Space that is left. Unset means unknown.'),
    maximumVolumeSize: pointer(quantity(), 5, 'Size of the largest volume that can be made. Unset means unknown; then capacity is used.'),
  })),
  CSIStorageCapacityList: object('A list of CSIStorageCapacity objects.', () => ({
    metadata: listMetadata,
    items: required(list(ref('storage/v1.CSIStorageCapacity')), 2, {
      listType: 'map',
      listMapKeys: ['name'],
      changes: { 30: { listType: undefined, listMapKeys: undefined } },
      doc: 'The CSIStorageCapacity objects of the list.',
    }),
  })),
  FSGroupPolicy: () => only(known('File', 'None', 'ReadWriteOnceWithFSType')),
  StorageClass: object('A kind of storage that claims can ask for by name, and how volumes of it are made.', () => ({
    metadata,
    provisioner: needed(string(), 2, { required: true, doc: 'Name of the driver that makes the volumes. Cannot be changed.' }),
    parameters: field(map(string()), 3, 'Settings that the driver takes for new volumes. Cannot be changed.'),
    reclaimPolicy: pointer(ref('core/v1.PersistentVolumeReclaimPolicy'), 4, {
      doc: 'Action on a volume when its claim is deleted: Delete (the default) or Retain.',
    }),
    mountOptions: atomicSince30(list(string()), 5, {
      doc: 'Options that volumes of the class are mounted with. They are not checked; a wrong one fails the mount.',
    }),
    allowVolumeExpansion: pointer(boolean(), 6, 'True if claims of the class can ask for more space later. Default: false.'),
    volumeBindingMode: needed(ref('storage/v1.VolumeBindingMode'), 7, {
      pointer: true,
      doc: 'Time of provisioning and binding: Immediate (the default), or WaitForFirstConsumer, after a pod is scheduled.',
    }),
    allowedTopologies: atomic(list(ref('core/v1.TopologySelectorTerm')), 8, {
      doc: 'Limits where volumes may be made. Empty means everywhere. Takes effect if the driver knows topology.',
    }),
  })),
  StorageClassList: objectList('storage/v1.StorageClass'),
  StorageHealth: struct({ since: 37, doc: 'Health of the storage of a driver on a node.' }, () => ({
    name: required(string(), 1, 'Name of the driver.'),
    healthConditions: atomic(list(ref('storage/v1.StorageHealthCondition')), 2, 'Problems of the storage. Empty: none is known.'),
  })),
  StorageHealthCondition: struct({ since: 37, doc: 'A problem of the storage of a driver on a node.' }, () => ({
    status: required(ref('storage/v1.StorageHealthStatusType'), 1, 'StorageUnreachable or StorageDegraded.'),
    reason: required(string(), 2, 'Cause as one word in CamelCase.'),
    message: field(string(), 3, 'Explanation for people.'),
    accessMode: pointer(ref('core/v1.PersistentVolumeAccessMode'), 4, 'Access mode that is affected. Unset: all of them.'),
    volumeMode: pointer(ref('core/v1.PersistentVolumeMode'), 5, 'Volume mode that is affected. Unset: all of them.'),
    lastTransitionTime: field(time(), 6, 'Moment of the last change of the problem.'),
  })),
  StorageHealthStatusType: () => closed('StorageUnreachable', 'StorageDegraded'),
  TokenRequest: struct('A service account token that a driver asks for.', () => ({
    audience: required(string(), 1, 'For whom the token is. Empty means the server itself.'),
    expirationSeconds: pointer(int64(), 2, 'Lifetime of the token in seconds. Default: one hour.'),
  })),
  VolumeAttachment: object(
    'Asks that a volume be attached to a node, and tells how that went. Written by controllers, not by users.',
    () => ({
      metadata,
      spec: required(ref('storage/v1.VolumeAttachmentSpec'), 2, {
        isImmutable: true,
        declaredSince: 37,
        doc: 'Volume, node and attacher. Cannot be changed.',
      }),
      status: field(ref('storage/v1.VolumeAttachmentStatus'), 3, 'Progress of attaching or detaching, written by the attacher.'),
    }),
  ),
  VolumeAttachmentList: objectList('storage/v1.VolumeAttachment'),
  VolumeAttachmentSource: struct('The volume to attach. Exactly one field is set.', () => ({
    persistentVolumeName: pointer(string(), 1, 'Name of the persistent volume.'),
    inlineVolumeSpec: pointer(ref('core/v1.PersistentVolumeSpec'), 2, {
      doc: 'The volume itself, for volumes that pods spell out and that were moved to a driver. Not for other uses.',
    }),
  })),
  VolumeAttachmentSpec: struct('Volume to attach, its node and its attacher.', () => ({
    attacher: needed(string(), 1, { changes: { 37: { needed: undefined } }, required: true, doc: 'Name of the driver that has to do it.' }),
    source: required(ref('storage/v1.VolumeAttachmentSource'), 2, 'The volume.'),
    nodeName: checked(text('subdomain'), 3, { required: true, doc: 'Name of the node.' }),
  })),
  VolumeAttachmentStatus: struct('Progress of attaching or detaching.', () => ({
    attached: required(boolean(), 1, 'True if the volume is attached. Written by the attacher only.'),
    attachmentMetadata: field(map(string()), 2, {
      doc: 'Information from the attacher for later calls that mount the volume. Only set once attached.',
    }),
    attachError: pointer(ref('storage/v1.VolumeError'), 3, 'The last error while attaching, if any.'),
    detachError: pointer(ref('storage/v1.VolumeError'), 4, 'The last error while detaching, if any.'),
  })),
  VolumeAttributesClass: object({ since: 34, doc: 'Attributes of volumes that may be changed while a volume is in use.' }, () => ({
    metadata: field(ref('meta/v1.ObjectMeta'), 1, 'Standard metadata.'),
    driverName: needed(string(), 2, { required: true, doc: 'Name of the CSI driver. It cannot be changed.' }),
    parameters: field(map(string()), 3, 'Attributes for the driver, at most 512, by key. They cannot be changed.'),
  })),
  VolumeAttributesClassList: objectList('storage/v1.VolumeAttributesClass', { since: 34 }),
  VolumeBindingMode: () => only(closed('Immediate', 'WaitForFirstConsumer')),
  VolumeError: struct('An error of a volume operation.', () => ({
    time: field(time(), 1, 'Time of the event.'),
    message: field(string({ bytesMax: 1024 }), 2, 'Description for people. May be logged, so it holds no secrets.'),
    errorCode: pointer(int32({ min: 0, max: 2_147_483_647 }), 3, {
      ...gated('MutableCSINodeAllocatableCount'),
      doc: 'Code of gRPC that the operation ended with, where there was one.',
    }),
  })),
  VolumeLifecycleMode: () => known('Persistent', 'Ephemeral'),
  VolumeNodeResources: struct('Limits of a node for one driver.', () => ({
    count: pointer(int32({ min: 0 }), 1, {
      doc: 'Most volumes of the driver on the node. A volume counts once, however many pods use it. Unset means no limit is known; 0 means none.',
    }),
  })),
})
