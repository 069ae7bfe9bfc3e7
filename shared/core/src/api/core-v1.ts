import { atomic, atomicSince30, checked, field, inline, merged, mergedSince30, needed, pointer, required } from '../description/fields.ts'
import { atomicStruct, defineTypes, object, struct } from '../description/structs.ts'
import { closed, known, labels, only, string, text, valuesByLevel } from '../description/texts.ts'
import { boolean, bytes, int32, int64, intOrString, list, map, microTime, quantity, raw, ref, time } from '../description/values.ts'

import { aboveZero, directoryMode, fileMode, identity, optionalPort, partition, portNumber, weight } from './bounds.ts'
import { gated, lastChange, listMetadata, metadata, objectList } from './common.ts'
import {
  azureFileMembers,
  cephFsVolume,
  cinderVolume,
  flexVolume,
  fsType,
  glusterfsMembers,
  iscsiVolume,
  rbdVolume,
  scaleIoVolume,
  storageOsVolume,
} from './shared-volumes.ts'

const notInEphemeral = 'Not allowed for ephemeral containers.'

const defaultUser = (tag: number) =>
  pointer(int64(identity), tag, { ...gated('AtomicWriteVolumeUserFields'), doc: 'User id of the owner of files that set none.' })

const user = (tag: number) =>
  pointer(int64(identity), tag, {
    ...gated('AtomicWriteVolumeUserFields'),
    doc: 'User id of the owner of the file. Unset: the owner set for the volume.',
  })

const items = (tag: number) =>
  atomicSince30(list(ref('core/v1.KeyToPath')), tag, 'Keys that become files, and where. Empty means every key, under its own name.')

const defaultMode = (tag: number) =>
  pointer(int32(fileMode), tag, 'Mode of the files where none is given, from 0 to 0777. JSON needs it in decimal. Default: 0644.')

const healthConditions = (tag: number) =>
  merged('status', list(ref('core/v1.VolumeHealthCondition')), tag, {
    listMapKeys: ['status', 'reason'],
    doc: 'Problems of the volume. Empty: none is known.',
  })

/** The types of core/v1. */
export const coreV1 = defineTypes({
  AWSElasticBlockStoreVolumeSource: struct(
    'A disk of AWS Elastic Block Store. It must be in the zone of the node, and only one node can attach it.',
    () => ({
      volumeID: needed(string(), 1, { required: true, doc: 'Identity of the disk.' }),
      fsType: fsType(2),
      partition: field(int32(partition), 3, 'Number of the partition to mount. Unset or 0 means the whole disk.'),
      readOnly: field(boolean(), 4, 'Mount read-only. Default: false.'),
    }),
  ),
  Affinity: struct('Rules on the placement of a pod.', () => ({
    nodeAffinity: pointer(ref('core/v1.NodeAffinity'), 1, 'Rules on the nodes.'),
    podAffinity: pointer(ref('core/v1.PodAffinity'), 2, 'Rules on pods to place the pod near to.'),
    podAntiAffinity: pointer(ref('core/v1.PodAntiAffinity'), 3, 'Rules on pods to place the pod away from.'),
  })),
  AppArmorProfile: struct({ isUnion: true, since: 30, doc: 'AppArmor settings of a pod or a container.' }, () => ({
    type: required(ref('core/v1.AppArmorProfileType'), 1, {
      unionDiscriminator: true,
      doc: "Kind of profile: Localhost (a profile of the node), RuntimeDefault (the container runtime's default) or Unconfined (none).",
    }),
    localhostProfile: pointer(string(), 2, 'Name of a profile that is loaded on the node. Only with type Localhost, and required there.'),
  })),
  AppArmorProfileType: () => closed('Unconfined', 'RuntimeDefault', 'Localhost'),
  AttachedVolume: struct('A volume that is attached to a node.', () => ({
    name: required(string(), 1, 'Name of the volume, as the system has it.'),
    devicePath: required(string(), 2, 'Device under which the node sees the volume.'),
  })),
  AvoidPods: struct('Pods that should not be placed on a node if possible. Stored in an annotation of the node.', () => ({
    preferAvoidPods: atomicSince30(list(ref('core/v1.PreferAvoidPodsEntry')), 1, 'The pods, by their controllers.'),
  })),
  AzureDataDiskCachingMode: () => only(closed('None', 'ReadOnly', 'ReadWrite')),
  AzureDataDiskKind: () => only(closed('Dedicated', 'Managed', 'Shared')),
  AzureDiskVolumeSource: struct('A data disk of Azure.', () => ({
    diskName: needed(string(), 1, { required: true, doc: 'Name of the disk.' }),
    diskURI: needed(string(), 2, { required: true, doc: 'Address of the disk in its storage.' }),
    cachingMode: pointer(ref('core/v1.AzureDataDiskCachingMode'), 3, {
      changes: { 31: { default: 'ReadWrite' } },
      doc: 'Caching by the host: None, ReadOnly or ReadWrite (the default).',
    }),
    fsType: pointer(string(), 4, {
      changes: { 31: { default: 'ext4' } },
      doc: 'Type of the file system, such as ext4 or xfs, which the node must support. Default: ext4.',
    }),
    readOnly: pointer(boolean(), 5, { changes: { 31: { default: false } }, doc: 'Mount read-only. Default: false.' }),
    kind: pointer(ref('core/v1.AzureDataDiskKind'), 6, {
      changes: { 31: { default: 'Shared' } },
      doc: 'Shared (the default: several disks for a storage account), Dedicated (one), or Managed.',
    }),
  })),
  AzureFilePersistentVolumeSource: struct('A file share of Azure.', () => ({
    ...azureFileMembers(),
    secretNamespace: pointer(string(), 4, { keepEmpty: true, doc: 'Namespace of the secret. Default: the namespace of the claim.' }),
  })),
  AzureFileVolumeSource: struct('A file share of Azure.', azureFileMembers),
  BindMountOption: () => known('noexec', 'nodev', 'nosuid'),
  Binding: object(
    'Ties one object to another, as the scheduler does with a pod and its node. Made through the binding subresource of the pod.',
    () => ({
      metadata: field(ref('meta/v1.ObjectMeta'), 1, 'Standard metadata, with the name of the object to bind.'),
      target: required(ref('core/v1.ObjectReference'), 2, 'Target of the binding.'),
    }),
  ),
  CSIPersistentVolumeSource: struct('Storage of a volume driver installed in the cluster.', () => ({
    driver: required(string(), 1, 'Name of the driver. Required.'),
    volumeHandle: needed(string(), 2, { required: true, doc: 'Identity of the volume for the driver. Required.' }),
    readOnly: field(boolean(), 3, 'Publish the volume as read-only. Default: false.'),
    fsType: fsType(4),
    volumeAttributes: field(map(string()), 5, 'Attributes of the volume, for the driver.'),
    controllerPublishSecretRef: pointer(ref('core/v1.SecretReference'), 6, {
      doc: 'Secret that the driver is given when it attaches or detaches the volume.',
    }),
    nodeStageSecretRef: pointer(ref('core/v1.SecretReference'), 7, {
      doc: 'Secret that the driver is given when it prepares the volume on a node.',
    }),
    nodePublishSecretRef: pointer(ref('core/v1.SecretReference'), 8, {
      doc: 'Secret that the driver is given when it mounts the volume for a pod.',
    }),
    controllerExpandSecretRef: pointer(ref('core/v1.SecretReference'), 9, {
      doc: 'Secret that the driver is given when it makes the volume larger.',
    }),
    nodeExpandSecretRef: pointer(ref('core/v1.SecretReference'), 10, {
      featureGate: 'CSINodeExpandSecret',
      doc: 'Secret that the driver is given when it makes the volume larger on a node.',
    }),
  })),
  CSIVolumeSource: struct('Storage that a volume driver makes for the pod and deletes with it.', () => ({
    driver: required(string(), 1, 'Name of the driver.'),
    readOnly: pointer(boolean(), 2, 'Mount read-only. Default: false.'),
    fsType: pointer(string(), 3, 'Type of the file system, such as ext4. Unset leaves it to the driver.'),
    volumeAttributes: field(map(string()), 4, 'Attributes of the volume, for the driver.'),
    nodePublishSecretRef: pointer(ref('core/v1.LocalObjectReference'), 5, {
      doc: 'Secret of the namespace that the driver is given when it mounts the volume.',
    }),
  })),
  Capabilities: struct('Capabilities to add to and to drop from the default ones of processes.', () => ({
    add: atomicSince30(list(string()), 1, 'Capabilities to add.'),
    drop: atomicSince30(list(string()), 2, 'Capabilities to drop.'),
  })),
  CephFSPersistentVolumeSource: cephFsVolume('core/v1.SecretReference'),
  CephFSVolumeSource: cephFsVolume('core/v1.LocalObjectReference'),
  CinderPersistentVolumeSource: cinderVolume('core/v1.SecretReference'),
  CinderVolumeSource: cinderVolume('core/v1.LocalObjectReference'),
  ClaimResourceStatus: () =>
    valuesByLevel(
      closed(
        'ControllerResizeInProgress',
        'ControllerResizeInfeasible',
        'NodeResizePending',
        'NodeResizeInProgress',
        'NodeResizeInfeasible',
        'ControllerResizeFailed',
        'NodeResizeFailed',
      ),
      { since: { ControllerResizeInfeasible: 31, NodeResizeInfeasible: 31 }, until: { ControllerResizeFailed: 30, NodeResizeFailed: 30 } },
    ),
  ClaimSource: struct({ since: 26, until: 30, doc: 'Source of a resource claim of a pod. One of its fields is set.' }, () => ({
    resourceClaimName: pointer(string(), 1, 'Name of a claim in the namespace of the pod.'),
    resourceClaimTemplateName: pointer(string(), 2, 'Name of a template from which a claim is made for the pod.'),
  })),
  ClientIPConfig: struct('Settings of the session affinity by client address.', () => ({
    timeoutSeconds: pointer(int32(), 1, {
      doc: 'Seconds without traffic after which a client may be sent to another pod, from 1 to 86400. Default: 10800 (three hours).',
    }),
  })),
  ClusterTrustBundleProjection: struct({ since: 29, doc: 'A file with the certificates of trust bundles.' }, () => ({
    name: pointer(string(), 1, 'Name of one bundle. Not together with signerName and labelSelector.'),
    signerName: pointer(string(), 2, 'Signer whose bundles are taken. Not together with name.'),
    labelSelector: pointer(ref('meta/v1.LabelSelector'), 3, {
      doc: 'Labels of the bundles of the signer. Unset: none of them; empty: all of them.',
    }),
    optional: pointer(boolean(), 5, 'True lets the pod start while there are no such bundles, with an empty file.'),
    path: required(string(), 4, 'Path of the file within the volume.'),
    user: pointer(int64(identity), 6, {
      ...gated('AtomicWriteVolumeUserFields'),
      doc: 'User id of the owner of the file. Unset: the owner set for the volume.',
    }),
  })),
  ComponentCondition: struct('Health of a component.', () => ({
    type: required(ref('core/v1.ComponentConditionType'), 1, 'Subject of the check. The only value is Healthy.'),
    status: required(ref('core/v1.ConditionStatus'), 2, 'True, False or Unknown.'),
    message: field(string(), 3, 'Result of the check.'),
    error: field(string(), 4, 'The error of the check.'),
  })),
  ComponentConditionType: () => known('Healthy'),
  ComponentStatus: object('Health of a component of the control plane. Deprecated; ask the components themselves.', () => ({
    metadata,
    conditions: mergedSince30('type', list(ref('core/v1.ComponentCondition')), 2, 'State of the component by aspect.'),
  })),
  ComponentStatusList: objectList('core/v1.ComponentStatus'),
  ConditionStatus: () => known('True', 'False', 'Unknown'),
  ConfigMap: object('Settings for pods and others to read, by key.', () => ({
    metadata,
    immutable: pointer(boolean(), 4, 'When true, neither data nor binaryData may change, and this cannot be undone. Default: false.'),
    data: field(map(string()), 2, {
      doc: 'Text values, by key. Keys are letters, digits, dashes, underscores and dots. A key may not also be in binaryData.',
    }),
    binaryData: field(map(bytes()), 3, 'Values that need not be text, by key, in base64. A key may not also be in data.'),
  })),
  ConfigMapEnvSource: struct('A ConfigMap whose keys become environment variables.', () => ({
    localObjectReference: inline('core/v1.LocalObjectReference', 1),
    optional: pointer(boolean(), 2, 'True if the ConfigMap may be missing. Default: false.'),
  })),
  ConfigMapKeySelector: atomicStruct('A key of a ConfigMap.', () => ({
    localObjectReference: inline('core/v1.LocalObjectReference', 1),
    key: needed(text('dataKey'), 2, { required: true, doc: 'The key.' }),
    optional: pointer(boolean(), 3, 'True if the ConfigMap or the key may be missing. Default: false.'),
  })),
  ConfigMapList: objectList('core/v1.ConfigMap'),
  ConfigMapNodeConfigSource: struct('Deprecated. Points to a ConfigMap with settings for the node agent.', () => ({
    namespace: required(string(), 1, 'Namespace of the ConfigMap.'),
    name: required(string(), 2, 'Name of the ConfigMap.'),
    uid: field(string(), 3, 'Identity of the ConfigMap. Not allowed in the spec of a node, required in its status.'),
    resourceVersion: field(string(), 4, 'Revision of the ConfigMap. Not allowed in the spec of a node, required in its status.'),
    kubeletConfigKey: required(string(), 5, 'Key of the ConfigMap under which the settings are.'),
  })),
  ConfigMapProjection: struct('The keys of a ConfigMap, as files in a projected volume.', () => ({
    localObjectReference: inline('core/v1.LocalObjectReference', 1),
    items: items(2),
    optional: pointer(boolean(), 4, 'True if the ConfigMap or its keys may be missing. Default: false.'),
  })),
  ConfigMapVolumeSource: struct('The keys of a ConfigMap, as files.', () => ({
    localObjectReference: inline('core/v1.LocalObjectReference', 1),
    items: items(2),
    defaultMode: defaultMode(3),
    optional: pointer(boolean(), 4, 'True if the ConfigMap or its keys may be missing. Default: false.'),
    defaultUser: defaultUser(5),
  })),
  Container: struct('A program that runs in a pod.', containerMembers),
  ContainerExtendedResourceRequest: struct(
    { since: 34, doc: 'A request of a container for an extended resource that a device satisfies.' },
    () => ({
      containerName: required(string(), 1, 'Name of the container.'),
      resourceName: required(string(), 2, 'Name of the extended resource.'),
      requestName: required(string(), 3, 'Name of the request in the claim.'),
    }),
  ),
  ContainerImage: struct('An image that a node has.', () => ({
    names: atomicSince30(list(string()), 1, { keepEmpty: true, doc: 'Names of the image, with tags and digests.' }),
    sizeBytes: field(int64(), 2, 'Size in bytes.'),
  })),
  ContainerPort: struct('A port that a container listens on.', () => ({
    name: field(text('portName'), 1, {
      doc: 'Name of the port, by which services can refer to it. At most 15 lower-case letters, digits and dashes, unique in the pod.',
    }),
    hostPort: field(int32(optionalPort), 2, {
      doc: 'Port of the node that forwards to this port. With hostNetwork it must equal containerPort. Most containers need none.',
    }),
    containerPort: needed(int32(portNumber), 3, { required: true, doc: 'Port on the address of the pod, from 1 to 65535.' }),
    protocol: needed(ref('core/v1.Protocol'), 4, { default: 'TCP', doc: 'TCP (the default), UDP or SCTP.' }),
    hostIP: field(string(), 5, 'Address of the node that the host port is bound to. Unset means all.'),
  })),
  ContainerResizePolicy: struct({ since: 27, doc: 'Policy for a change of one resource of a container.' }, () => ({
    resourceName: required(ref('core/v1.ResourceName'), 1, 'Name of the resource: cpu or memory.'),
    restartPolicy: required(ref('core/v1.ResourceResizeRestartPolicy'), 2, {
      doc: 'Effect of a change: NotRequired or RestartContainer. Default: NotRequired.',
    }),
  })),
  ContainerRestartPolicy: () => valuesByLevel(known('Always', 'Never', 'OnFailure'), { since: { Never: 34, OnFailure: 34 } }),
  ContainerRestartRule: struct({ since: 34, doc: 'Rule about the end of a container.' }, () => ({
    action: field(ref('core/v1.ContainerRestartRuleAction'), 1, {
      listedAsRequired: true,
      doc: 'Action of a match: Restart, or RestartAllContainers.',
    }),
    exitCodes: pointer(ref('core/v1.ContainerRestartRuleOnExitCodes'), 2, 'Exit codes that match.'),
  })),
  ContainerRestartRuleAction: () => valuesByLevel(known('Restart', 'RestartAllContainers'), { since: { RestartAllContainers: 35 } }),
  ContainerRestartRuleOnExitCodes: struct({ since: 34, doc: 'Comparison of the exit code of a container.' }, () => ({
    operator: field(ref('core/v1.ContainerRestartRuleOnExitCodesOperator'), 1, {
      listedAsRequired: true,
      doc: 'Relation of the exit code to the values: In or NotIn.',
    }),
    values: field(list(int32()), 2, { listType: 'set', doc: 'Exit codes, at most 255 of them.' }),
  })),
  ContainerRestartRuleOnExitCodesOperator: () => known('In', 'NotIn'),
  ContainerState: struct('State of a container. One is set; if none is, the container is waiting.', () => ({
    waiting: pointer(ref('core/v1.ContainerStateWaiting'), 1, 'Set while the container waits.'),
    running: pointer(ref('core/v1.ContainerStateRunning'), 2, 'Set while the container runs.'),
    terminated: pointer(ref('core/v1.ContainerStateTerminated'), 3, 'Set once the container has ended.'),
  })),
  ContainerStateRunning: struct('A container that runs.', () => ({ startedAt: field(time(), 1, 'Time of the last start.') })),
  ContainerStateTerminated: struct('A container that has ended.', () => ({
    exitCode: required(int32(), 1, 'Code that it ended with.'),
    signal: field(int32(), 2, 'Signal that it was ended by.'),
    reason: field(string(), 3, 'Reason of the termination in one word, such as Error or OOMKilled.'),
    message: field(string(), 4, 'Details of the termination, for people.'),
    startedAt: field(time(), 5, 'Time of the start.'),
    finishedAt: field(time(), 6, 'Time of the end.'),
    containerID: field(string(), 7, 'Identity of the container, as runtime://id.'),
  })),
  ContainerStateWaiting: struct('A container that waits to run.', () => ({
    reason: field(string(), 1, 'Reason of the waiting state in one word, such as ImagePullBackOff.'),
    message: field(string(), 2, 'Details of the waiting state, for people.'),
  })),
  ContainerStatus: struct('Observed state of a container.', () => ({
    name: required(string(), 1, 'Name of the container.'),
    state: field(ref('core/v1.ContainerState'), 2, 'Current state of the container.'),
    lastState: field(ref('core/v1.ContainerState'), 3, 'Details of its last termination.'),
    ready: required(boolean(), 4, 'True if the container passes its readiness probe.'),
    restartCount: required(int32(), 5, 'Number of restarts. May begin at 0 again after old containers are removed.'),
    image: required(string(), 6, 'Image that it runs. It may be written differently from the spec.'),
    imageID: required(string(), 7, 'Identity of the image that it runs.'),
    containerID: field(string(), 8, 'Identity of the container, as runtime://id.'),
    started: pointer(boolean(), 9, 'True if the container passes its startup probe. Without a probe, true as soon as it runs.'),
    allocatedResources: field(map(quantity()), 10, {
      ...gated('InPlacePodVerticalScaling'),
      doc: 'Resources that the node has allocated to the container.',
    }),
    resources: pointer(ref('core/v1.ResourceRequirements'), 11, {
      ...gated('InPlacePodVerticalScaling'),
      doc: 'Requests and limits of the running container.',
    }),
    volumeMounts: merged('mountPath', list(ref('core/v1.VolumeMountStatus')), 12, {
      ...gated('RecursiveReadOnlyMounts'),
      doc: 'State of the mounts of volumes.',
    }),
    user: pointer(ref('core/v1.ContainerUser'), 13, {
      ...gated('SupplementalGroupsPolicy'),
      doc: 'User that the first process of the container started as.',
    }),
    allocatedResourcesStatus: merged('name', list(ref('core/v1.ResourceStatus')), 14, {
      ...gated('ResourceHealthStatus'),
      doc: 'Health of the devices that are allocated to the container, by resource.',
    }),
    stopSignal: pointer(ref('core/v1.Signal'), 15, { since: 33, doc: 'Signal that stops the container.' }),
  })),
  ContainerUser: struct({ since: 31, doc: 'User that a container runs as.' }, () => ({
    linux: pointer(ref('core/v1.LinuxContainerUser'), 1, 'User and groups on Linux.'),
  })),
  DNSPolicy: () => only(closed('ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None')),
  DaemonEndpoint: struct('A port on which a daemon of a node listens.', () => ({
    Port: required(int32(), 1, 'Port number.'),
  })),
  DownwardAPIProjection: struct('Fields of the pod, as files in a projected volume.', () => ({
    items: atomicSince30(list(ref('core/v1.DownwardAPIVolumeFile')), 1, 'The files.'),
  })),
  DownwardAPIVolumeFile: struct('A file with a field of the pod. One of fieldRef and resourceFieldRef is set.', () => ({
    path: needed(string(), 1, { required: true, doc: "Path of the file, relative and without '..'." }),
    fieldRef: pointer(ref('core/v1.ObjectFieldSelector'), 2, "A field of the pod's metadata: annotations, labels, name, namespace or uid."),
    resourceFieldRef: pointer(ref('core/v1.ResourceFieldSelector'), 3, 'A resource of a container.'),
    mode: pointer(int32(fileMode), 4, 'Mode of the file, from 0 to 0777. JSON needs it in decimal. Unset means the default of the volume.'),
    user: user(5),
  })),
  DownwardAPIVolumeSource: struct('Fields of the pod, as files.', () => ({
    items: atomicSince30(list(ref('core/v1.DownwardAPIVolumeFile')), 1, 'The files.'),
    defaultMode: defaultMode(2),
    defaultUser: defaultUser(3),
  })),
  EmptyDirVolumeSource: struct('An empty directory that lives as long as the pod.', () => ({
    medium: field(ref('core/v1.StorageMedium'), 1, {
      doc: 'Medium of storage: empty for the disk of the node (the default), Memory, or HugePages.',
    }),
    sizeLimit: pointer(quantity(), 2, 'Maximum size. Unset means no limit besides that of the medium.'),
    mode: pointer(int32(directoryMode), 3, {
      ...gated('EmptyDirVolumeMode'),
      doc: 'Permission bits of the directory. Unset: the default of the node.',
    }),
  })),
  EndpointAddress: atomicStruct('An IP address of a service.', () => ({
    ip: required(string(), 1, 'The address. Loopback, link-local and multicast addresses are not allowed.'),
    hostname: field(text('label'), 3, 'Host name of the endpoint.'),
    nodeName: pointer(text('subdomain'), 4, 'Node that the endpoint is on.'),
    targetRef: pointer(ref('core/v1.ObjectReference'), 2, 'The object behind the address, most often a pod.'),
  })),
  EndpointPort: atomicStruct("A port of a service's addresses.", () => ({
    name: field(text('label'), 1, "Name of the port, the same as that of the service's port. Needed if there is more than one port."),
    port: required(int32(portNumber), 2, 'Port number.'),
    protocol: needed(ref('core/v1.Protocol'), 3, 'TCP (the default), UDP or SCTP.'),
    appProtocol: pointer(text('qualifiedName'), 4, {
      doc: 'Protocol of the application: a registered service name, or a name with a domain prefix.',
    }),
  })),
  EndpointSubset: struct('Addresses that share the same ports. Every pair of an address and a port is an endpoint.', () => ({
    addresses: atomicSince30(list(ref('core/v1.EndpointAddress')), 1, 'Addresses that are ready for traffic.'),
    notReadyAddresses: atomicSince30(list(ref('core/v1.EndpointAddress')), 2, {
      doc: 'Addresses that have the ports but are not ready, or are terminating.',
    }),
    ports: atomicSince30(list(ref('core/v1.EndpointPort')), 3, 'Ports that each address offers.'),
  })),
  Endpoints: object('The addresses behind a service of the same name. Every subset means all pairs of its addresses and ports.', () => ({
    metadata,
    subsets: atomicSince30(list(ref('core/v1.EndpointSubset')), 2, 'All addresses of the service, grouped by their ports.'),
  })),
  EndpointsList: objectList('core/v1.Endpoints'),
  EnvFromSource: struct('An object whose keys become environment variables.', () => ({
    prefix: field(text('variableName'), 1, 'Text that is put before each key.'),
    configMapRef: pointer(ref('core/v1.ConfigMapEnvSource'), 2, 'ConfigMap that is used.'),
    secretRef: pointer(ref('core/v1.SecretEnvSource'), 3, 'Secret that is used.'),
  })),
  EnvVar: struct('An environment variable.', () => ({
    name: needed(text('variableName'), 1, { required: true, doc: 'Name of the variable.' }),
    value: field(string(), 2, 'Value. $(NAME) is replaced by an earlier variable, $$ by one dollar. Default: empty.'),
    valueFrom: pointer(ref('core/v1.EnvVarSource'), 3, 'Source of the value. Not together with value.'),
  })),
  EnvVarSource: struct('Source of the value of an environment variable. Exactly one is set.', () => ({
    fieldRef: pointer(ref('core/v1.ObjectFieldSelector'), 1, 'A field of the pod.'),
    resourceFieldRef: pointer(ref('core/v1.ResourceFieldSelector'), 2, 'A resource of a container.'),
    configMapKeyRef: pointer(ref('core/v1.ConfigMapKeySelector'), 3, 'A key of a ConfigMap of the namespace.'),
    secretKeyRef: pointer(ref('core/v1.SecretKeySelector'), 4, 'A key of a secret of the namespace.'),
    fileKeyRef: pointer(ref('core/v1.FileKeySelector'), 5, { ...gated('EnvFiles'), doc: 'Key of a file in a volume of the pod.' }),
  })),
  EphemeralContainer: struct(
    'A program that is added to a running pod for debugging. It is never restarted and has no guaranteed resources.',
    () => ({
      ephemeralContainerCommon: inline('core/v1.EphemeralContainerCommon', 1),
      targetContainerName: field(string(), 2, "Container whose processes this one can see. Unset means the pod's default."),
    }),
  ),
  EphemeralContainerCommon: struct('A program that is added to a running pod for debugging.', () => {
    const members = containerMembers()
    return {
      ...members,
      ports: { ...members.ports, doc: notInEphemeral },
      resources: { ...members.resources, doc: notInEphemeral },
      resizePolicy: { ...members.resizePolicy, doc: notInEphemeral },
      restartPolicy: { ...members.restartPolicy, doc: notInEphemeral },
      restartPolicyRules: { ...members.restartPolicyRules, doc: notInEphemeral },
      livenessProbe: { ...members.livenessProbe, doc: notInEphemeral },
      readinessProbe: { ...members.readinessProbe, doc: notInEphemeral },
      startupProbe: { ...members.startupProbe, doc: notInEphemeral },
      lifecycle: { ...members.lifecycle, doc: notInEphemeral },
    }
  }),
  EphemeralVolumeSource: struct('A volume made for the pod by a claim and deleted with it.', () => ({
    volumeClaimTemplate: pointer(ref('core/v1.PersistentVolumeClaimTemplate'), 1, {
      doc: 'The claim. It is named pod-volume after the pod and the volume, and is owned by the pod.',
    }),
  })),
  Event: object('A note that something happened to an object. Events are kept for a short time and are for information only.', () => ({
    metadata: required(ref('meta/v1.ObjectMeta'), 1, 'Standard metadata of the event.'),
    involvedObject: required(ref('core/v1.ObjectReference'), 2, 'The object that the event is about.'),
    reason: field(string(), 3, 'Reason of the event in one word, for programs.'),
    message: field(string(), 4, 'Description for people.'),
    source: field(ref('core/v1.EventSource'), 5, 'The component that reports the event.'),
    firstTimestamp: field(time(), 6, 'Time of the first occurrence.'),
    lastTimestamp: field(time(), 7, 'Time of the last occurrence.'),
    count: field(int32(), 8, 'Number of occurrences.'),
    type: field(string(), 9, 'Normal or Warning. Other values may be added in future.'),
    eventTime: field(microTime(), 10, 'Time of the first occurrence, to the microsecond.'),
    series: pointer(ref('core/v1.EventSeries'), 11, 'Set if the event counts several occurrences.'),
    action: field(string(), 12, 'Action that was taken or failed for the object.'),
    related: pointer(ref('core/v1.ObjectReference'), 13, 'A second object, if the action involves one.'),
    reportingComponent: field(string(), 14, { keepEmpty: true, doc: 'Name of the controller that reports the event.' }),
    reportingInstance: field(string(), 15, { keepEmpty: true, doc: 'Instance of the controller that reports the event.' }),
  })),
  EventList: objectList('core/v1.Event'),
  EventSeries: struct('Number of occurrences of an event, and the time of the last one.', () => ({
    count: field(int32(), 1, 'Number of occurrences of the event.'),
    lastObservedTime: field(microTime(), 2, 'Time of the last occurrence of the event.'),
  })),
  EventSource: struct('Origin of an event.', () => ({
    component: field(string(), 1, 'Component that reports the event.'),
    host: field(string(), 2, 'Node on which the component runs.'),
  })),
  EvictionResponder: atomicStruct({ since: 37, doc: 'A component that takes part in the eviction of a pod.' }, () => ({
    name: required(string(), 1, 'Name of the responder, with a domain.'),
    priority: pointer(int32(), 2, { required: true, doc: 'Priority among the responders, the highest first.' }),
  })),
  ExecAction: struct('Runs a command in a container.', () => ({
    command: atomicSince30(list(string()), 1, {
      needed: true,
      doc: 'The command and its arguments, not run in a shell. Exit code 0 means success.',
    }),
  })),
  FCVolumeSource: struct('A disk reached over Fibre Channel. Either wwids, or targetWWNs with lun, is set.', () => ({
    targetWWNs: atomicSince30(list(string()), 1, 'World wide names of the targets.'),
    lun: pointer(int32(), 2, 'Number of the unit at the target.'),
    fsType: fsType(3),
    readOnly: field(boolean(), 4, 'Mount read-only. Default: false.'),
    wwids: atomicSince30(list(string()), 5, 'World wide identities of the disk.'),
  })),
  FileKeySelector: atomicStruct({ since: 34, doc: 'A key of a file with environment variables in a volume.' }, () => ({
    volumeName: required(string(), 1, 'Name of the volume of the pod, an emptyDir.'),
    path: required(string(), 2, 'Path of the file within the volume, relative and without "..".'),
    key: required(string(), 3, 'Name of the variable in the file.'),
    optional: pointer(boolean(), 4, { default: false, doc: 'True lets the container start without the file or the key. Default: false.' }),
  })),
  FlexPersistentVolumeSource: flexVolume('core/v1.SecretReference'),
  FlexVolumeSource: flexVolume('core/v1.LocalObjectReference'),
  FlockerVolumeSource: struct('A volume of the Flocker control service. Exactly one of name and identity is set.', () => ({
    datasetName: field(string(), 1, 'Deprecated. Name of the dataset.'),
    datasetUUID: field(string(), 2, 'Identity of the dataset.'),
  })),
  GCEPersistentDiskVolumeSource: struct(
    'A disk of Google Compute Engine. It must be in the project and zone of the node, and only one node can write to it.',
    () => ({
      pdName: needed(string(), 1, { required: true, doc: 'Name of the disk.' }),
      fsType: fsType(2),
      partition: field(int32(partition), 3, 'Number of the partition to mount. Unset or 0 means the whole disk.'),
      readOnly: field(boolean(), 4, 'Mount read-only. Default: false.'),
    }),
  ),
  GRPCAction: struct('Asks a gRPC health service. The answer that it is serving means success.', () => ({
    port: required(int32(portNumber), 1, 'Port of the service, from 1 to 65535.'),
    service: pointer(string(), 2, {
      keepEmpty: true,
      default: '',
      doc: 'Name of the service to ask about. Default: empty, which is the server as a whole.',
    }),
    mode: pointer(ref('core/v1.GRPCProbeMode'), 3, {
      ...gated('GRPCContainerProbeTLS'),
      doc: 'Transport of the probe: Plaintext or TLS without verification. Unset: Plaintext.',
    }),
  })),
  GRPCProbeMode: () => only(closed('Plaintext', 'TLS')),
  GitRepoVolumeSource: struct(
    'A directory with a checked out repository. Deprecated: use an init container and an empty directory.',
    () => ({
      repository: needed(string(), 1, { required: true, doc: 'Address of the repository.' }),
      revision: field(string(), 2, 'Commit to check out.'),
      directory: field(string(), 3, {
        doc: "Directory to check out into, without '..'. '.' is the root of the volume; empty makes one named after the repository.",
      }),
    }),
  ),
  GlusterfsPersistentVolumeSource: struct('A Glusterfs volume.', () => ({
    ...glusterfsMembers(),
    endpointsNamespace: pointer(string(), 4, 'Namespace of the endpoints. Default: the namespace of the claim.'),
  })),
  GlusterfsVolumeSource: struct('A Glusterfs volume.', glusterfsMembers),
  HTTPGetAction: struct('Makes an HTTP GET request. A code from 200 to 399 means success.', () => ({
    path: needed(string(), 1, 'Path of the request. Default: /.'),
    port: required(intOrString({ means: 'port' }), 2, 'Port of the container, by number or by name.'),
    host: field(string(), 3, 'Host to connect to. Default: the address of the pod.'),
    scheme: checked(ref('core/v1.URIScheme'), 4, 'HTTP (the default) or HTTPS.'),
    httpHeaders: atomicSince30(list(ref('core/v1.HTTPHeader')), 5, 'Headers of the request. Several of the same name are allowed.'),
    protocol: pointer(ref('core/v1.HTTPProtocol'), 6, {
      ...gated('H2CContainerProbe'),
      doc: 'Version of HTTP: HTTP1 or HTTP2. Unset: HTTP1.',
    }),
  })),
  HTTPHeader: struct('A header of an HTTP request.', () => ({
    name: required(string(), 1, 'Name of the header.'),
    value: required(string(), 2, 'Value of the header.'),
  })),
  HTTPProtocol: () => only(closed('HTTP1', 'HTTP2')),
  HostAlias: struct('A line of the hosts file.', () => ({
    ip: field(string(), 1, { changes: { 30: { required: true } }, doc: 'Address.' }),
    hostnames: atomicSince30(list(string()), 2, 'Names for the address.'),
  })),
  HostIP: struct({ since: 28, doc: 'An address of the node of a pod.' }, () => ({
    ip: field(string(), 1, { changes: { 30: { required: true } }, doc: 'The address.' }),
  })),
  HostPathType: () => only(closed('', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket')),
  HostPathVolumeSource: struct('A file or directory of the node.', () => ({
    path: needed(string(), 1, { required: true, doc: 'Path on the node. A symbolic link is followed.' }),
    type: pointer(ref('core/v1.HostPathType'), 2, {
      doc: 'Required type of the path; some types create a missing path. Empty (the default): no check.',
    }),
  })),
  IPFamily: () => valuesByLevel(closed('IPv4', 'IPv6', ''), { since: { '': 29 } }),
  IPFamilyPolicy: () => only(closed('PreferDualStack', 'RequireDualStack', 'SingleStack')),
  ISCSIPersistentVolumeSource: iscsiVolume('core/v1.SecretReference', 'storedIscsiName'),
  ISCSIVolumeSource: iscsiVolume('core/v1.LocalObjectReference', 'iscsiName'),
  ImageVolumeSource: struct({ since: 31, doc: 'A volume with the files of an OCI image or artifact, read-only.' }, () => ({
    reference: needed(string(), 1, 'Reference of the image or artifact.'),
    pullPolicy: field(ref('core/v1.PullPolicy'), 2, {
      doc: 'Pull policy: Always, Never or IfNotPresent. Default: Always for the tag latest, otherwise IfNotPresent.',
    }),
  })),
  ImageVolumeStatus: struct({ since: 36, doc: 'State of an image volume.' }, () => ({
    imageRef: field(string(), 1, { listedAsRequired: true, doc: 'Digest of the image that is mounted.' }),
  })),
  KeyToPath: struct('A key and the file that it becomes.', () => ({
    key: needed(string(), 1, { required: true, doc: 'The key.' }),
    path: needed(string(), 2, { required: true, doc: "Path of the file, relative and without '..'." }),
    mode: pointer(int32(fileMode), 3, 'Mode of the file, from 0 to 0777. JSON needs it in decimal. Unset means the default of the volume.'),
    user: user(4),
  })),
  Lifecycle: struct('Actions after a container starts and before it ends.', () => ({
    postStart: pointer(ref('core/v1.LifecycleHandler'), 1, {
      doc: 'Runs just after the container is created. If it fails, the container is killed and its restart policy applies.',
    }),
    preStop: pointer(ref('core/v1.LifecycleHandler'), 2, {
      doc: 'Runs before the container is signalled to stop, within the grace period. It does not run if the container ends by itself.',
    }),
    stopSignal: pointer(ref('core/v1.Signal'), 3, {
      featureGate: 'ContainerStopSignals',
      dropsPart: 'whenEmpty',
      since: 33,
      doc: 'Signal that stops the container. Needs the operating system in spec.os. Unset: the default of the image or the runtime.',
    }),
  })),
  LifecycleHandler: struct('An action. Exactly one field is set.', () => ({
    exec: pointer(ref('core/v1.ExecAction'), 1, 'Run a command in the container.'),
    httpGet: pointer(ref('core/v1.HTTPGetAction'), 2, 'Make an HTTP request.'),
    tcpSocket: pointer(ref('core/v1.TCPSocketAction'), 3, 'Deprecated. Not supported; the action fails.'),
    sleep: pointer(ref('core/v1.SleepAction'), 4, { ...gated('PodLifecycleSleepAction'), doc: 'Time for the container to sleep.' }),
  })),
  LimitRange: object("Bounds and defaults for the requests of a namespace's objects.", () => ({
    metadata,
    spec: field(ref('core/v1.LimitRangeSpec'), 2, 'The bounds and defaults.'),
  })),
  LimitRangeItem: struct('Bounds and defaults for one type of object.', () => ({
    type: required(ref('core/v1.LimitType'), 1, 'Kind of the limited objects: Container, Pod or PersistentVolumeClaim.'),
    max: field(map(quantity()), 2, 'Maximum request, by resource.'),
    min: field(map(quantity()), 3, 'Minimum request, by resource.'),
    default: field(map(quantity()), 4, 'Default limit, by resource.'),
    defaultRequest: field(map(quantity()), 5, 'Default request, by resource.'),
    maxLimitRequestRatio: field(map(quantity()), 6, 'Greatest ratio of limit to request, by resource. Both must be set and not be zero.'),
  })),
  LimitRangeList: objectList('core/v1.LimitRange'),
  LimitRangeSpec: struct('Bounds and defaults for resources.', () => ({
    limits: atomicSince30(list(ref('core/v1.LimitRangeItem')), 1, { required: true, doc: 'The bounds and defaults, by type of object.' }),
  })),
  LimitType: () => known('Pod', 'Container', 'PersistentVolumeClaim'),
  LinuxContainerUser: struct({ since: 31, doc: 'User and groups of a process on Linux.' }, () => ({
    uid: required(int64(identity), 1, 'User id.'),
    gid: required(int64(identity), 2, 'Group id.'),
    supplementalGroups: atomic(list(int64(identity)), 3, 'Further group ids.'),
  })),
  List: object('Objects of any kinds, put together by a client.', () => ({
    metadata: listMetadata,
    items: required(list(raw()), 2, 'The objects.'),
  })),
  LoadBalancerIPMode: () => known('VIP', 'Proxy'),
  LoadBalancerIngress: struct('An address at which a load balancer accepts traffic.', () => ({
    ip: field(string(), 1, 'Address, for load balancers that have one.'),
    hostname: field(string(), 2, 'Host name, for load balancers that have one.'),
    ipMode: pointer(ref('core/v1.LoadBalancerIPMode'), 3, {
      ...gated('LoadBalancerIPMode'),
      doc: "Delivery by the load balancer: VIP (to the load balancer's address) or Proxy (to the address of the node or the pod). Only with an ip.",
    }),
    ports: atomic(list(ref('core/v1.PortStatus')), 4, 'State of the ports. If set, all ports of the service are listed.'),
  })),
  LoadBalancerStatus: struct('State of a load balancer.', () => ({
    ingress: atomicSince30(list(ref('core/v1.LoadBalancerIngress')), 1, 'Address of the load balancer.'),
  })),
  LocalObjectReference: atomicStruct('Names an object in the same namespace.', () => ({
    name: field(string(), 1, { changes: { 30: { default: '' } }, doc: 'Name of the object.' }),
  })),
  LocalVolumeSource: struct('A disk or directory of one node.', () => ({
    path: needed(string(), 1, { required: true, doc: 'Path on the node: a directory or a block device.' }),
    fsType: pointer(string(), 2, 'Type of the file system, used only for a block device. Unset lets the system choose.'),
  })),
  ModifyVolumeStatus: struct({ since: 29, doc: 'State of a change of the attributes of a volume.' }, () => ({
    targetVolumeAttributesClassName: field(string(), 1, 'Name of the class that the volume is changed to.'),
    status: required(ref('core/v1.PersistentVolumeClaimModifyVolumeStatus'), 2, 'State of the change: Pending, InProgress or Infeasible.'),
  })),
  MountPropagationMode: () => closed('None', 'HostToContainer', 'Bidirectional'),
  NFSVolumeSource: struct('A directory of an NFS server.', () => ({
    server: needed(string(), 1, { required: true, doc: 'Name or address of the server.' }),
    path: needed(string(), 2, { required: true, doc: 'Path that the server exports.' }),
    readOnly: field(boolean(), 3, 'Mount read-only. Default: false.'),
  })),
  Namespace: object('A scope for names. Objects of most kinds are in a namespace and are deleted together with it.', () => ({
    metadata,
    spec: field(ref('core/v1.NamespaceSpec'), 2, 'Desired state of the namespace.'),
    status: field(ref('core/v1.NamespaceStatus'), 3, 'Observed state of the namespace: in use, or terminating.'),
  })),
  NamespaceCondition: struct("One aspect of a namespace's state, mostly of its deletion.", () => ({
    type: required(ref('core/v1.NamespaceConditionType'), 1, 'Aspect that the condition describes.'),
    status: required(ref('core/v1.ConditionStatus'), 2, 'True, False or Unknown.'),
    ...lastChange(4),
  })),
  NamespaceConditionType: () =>
    known(
      'NamespaceDeletionDiscoveryFailure',
      'NamespaceDeletionContentFailure',
      'NamespaceDeletionGroupVersionParsingFailure',
      'NamespaceContentRemaining',
      'NamespaceFinalizersRemaining',
    ),
  NamespaceList: objectList('core/v1.Namespace'),
  NamespacePhase: () => closed('Active', 'Terminating'),
  NamespaceSpec: struct('Desired state of a namespace.', () => ({
    finalizers: atomicSince30(list(string()), 1, {
      doc: 'Names that must be removed before the namespace is deleted. Changed only through the finalize subresource.',
    }),
  })),
  NamespaceStatus: struct('The state of a namespace.', () => ({
    phase: field(ref('core/v1.NamespacePhase'), 1, 'Active, or Terminating once a delete has begun.'),
    conditions: mergedSince30('type', list(ref('core/v1.NamespaceCondition')), 2, {
      doc: 'State of the deletion by aspect, such as contents that remain.',
    }),
  })),
  Node: object('A machine that runs pods.', () => ({
    metadata,
    spec: field(ref('core/v1.NodeSpec'), 2, 'Desired state of the node.'),
    status: field(ref('core/v1.NodeStatus'), 3, 'Observed state of the node, written mostly by its agent.'),
  })),
  NodeAddress: struct('An address of a node.', () => ({
    type: required(ref('core/v1.NodeAddressType'), 1, 'Hostname, InternalIP, ExternalIP, InternalDNS or ExternalDNS.'),
    address: required(string(), 2, 'The address.'),
  })),
  NodeAddressType: () => known('Hostname', 'InternalIP', 'ExternalIP', 'InternalDNS', 'ExternalDNS'),
  NodeAffinity: struct('Rules on the nodes that a pod is placed on.', () => ({
    requiredDuringSchedulingIgnoredDuringExecution: pointer(ref('core/v1.NodeSelector'), 1, {
      doc: 'Nodes that the pod may be placed on. A running pod stays if they no longer match.',
    }),
    preferredDuringSchedulingIgnoredDuringExecution: atomicSince30(list(ref('core/v1.PreferredSchedulingTerm')), 2, {
      doc: 'Preferred nodes. The weights of matching terms are added, and the highest sum wins.',
    }),
  })),
  NodeAllocatableMappedResources: struct({ since: 37, doc: 'An amount of a node resource that a claim uses.' }, () => ({
    name: required(ref('core/v1.ResourceName'), 1, 'Name of the resource.'),
    quantity: pointer(quantity(), 2, { required: true, doc: 'Amount.' }),
  })),
  NodeAllocatableOverheadResources: struct({ since: 37, doc: 'A node resource that a claim uses in addition.' }, () => ({
    name: required(ref('core/v1.ResourceName'), 1, 'Name of the resource.'),
    perPod: pointer(quantity(), 2, 'Amount for the pod.'),
    perContainer: pointer(quantity(), 3, 'Amount for each container that uses the claim.'),
  })),
  NodeAllocatableResourceClaimStatus: struct({ since: 36, doc: 'Node resources that a claim of a pod uses.' }, () => ({
    resourceClaimName: required(string(), 1, 'Name of the claim.'),
    containers: field(list(string()), 2, { listType: 'set', doc: 'Names of the containers that use the claim.' }),
    resources: required(map(quantity()), 3, { until: 36, doc: 'Amounts that the claim uses, by resource.' }),
    mapping: merged('name', list(ref('core/v1.NodeAllocatableMappedResources')), 4, { since: 37, doc: 'Amounts that the claim uses.' }),
    overhead: merged('name', list(ref('core/v1.NodeAllocatableOverheadResources')), 5, { since: 37, doc: 'Additional amounts.' }),
  })),
  NodeCondition: struct("One aspect of a node's state.", () => ({
    type: required(ref('core/v1.NodeConditionType'), 1, {
      doc: 'Aspect that the condition describes: Ready, MemoryPressure, DiskPressure, PIDPressure, NetworkUnavailable, or one of another controller.',
    }),
    status: required(ref('core/v1.ConditionStatus'), 2, 'True, False or Unknown.'),
    lastHeartbeatTime: field(time(), 3, 'Time of the last confirmation by the reporter.'),
    ...lastChange(4),
  })),
  NodeConditionType: () =>
    valuesByLevel(
      known(
        'Ready',
        'MemoryPressure',
        'DiskPressure',
        'PIDPressure',
        'NetworkUnavailable',
        'GracefulNodeShutdownInProgress',
        'DrainInProgress',
        'Drained',
        'MaintenancePlanned',
        'MaintenanceInProgress',
      ),
      {
        since: { GracefulNodeShutdownInProgress: 37, DrainInProgress: 37, Drained: 37, MaintenancePlanned: 37, MaintenanceInProgress: 37 },
      },
    ),
  NodeConfigSource: struct("Deprecated. The source of the node agent's settings. At least one field is set.", () => ({
    configMap: pointer(ref('core/v1.ConfigMapNodeConfigSource'), 2, 'A ConfigMap with the settings.'),
  })),
  NodeConfigStatus: struct('Deprecated. The assigned and the active settings of a node agent.', () => ({
    assigned: pointer(ref('core/v1.NodeConfigSource'), 1, 'Settings that the agent will try to use.'),
    active: pointer(ref('core/v1.NodeConfigSource'), 2, 'Settings that the agent uses. The local ones if unset.'),
    lastKnownGood: pointer(ref('core/v1.NodeConfigSource'), 3, {
      doc: 'Settings that the agent falls back to: assigned settings that have worked for ten minutes. Unset when configSource is reset.',
    }),
    error: field(string(), 4, 'Error that keeps the assigned settings from being active. Empty if there is none.'),
  })),
  NodeDaemonEndpoints: struct('Ports of the daemons of a node.', () => ({
    kubeletEndpoint: field(ref('core/v1.DaemonEndpoint'), 1, 'Address of the node agent.'),
  })),
  NodeFeatures: struct({ since: 31, doc: 'Features of the container runtime of a node.' }, () => ({
    supplementalGroupsPolicy: pointer(boolean(), 1, 'True if supplementalGroupsPolicy and the user of containers are supported.'),
  })),
  NodeInclusionPolicy: () => only(closed('Honor', 'Ignore')),
  NodeList: objectList('core/v1.Node'),
  NodePhase: () => closed('Pending', 'Running', 'Terminated'),
  NodePodPreemptionPolicy: struct({ since: 37, doc: 'Preemption of the pods of a node.' }, () => ({
    disableResizePreemption: field(list(string()), 1, {
      listType: 'set',
      doc: 'Resources whose growth in a running pod may not preempt other pods.',
    }),
  })),
  NodeProxyOptions: object('Options of a request that is proxied to a node.', () => ({
    path: field(string(), 1, 'Path of the request at the node.'),
  })),
  NodeRuntimeHandler: struct({ since: 30, doc: 'A handler of the container runtime of a node.' }, () => ({
    name: field(string(), 1, { keepEmpty: true, doc: 'Name of the handler. Empty: the default one.' }),
    features: pointer(ref('core/v1.NodeRuntimeHandlerFeatures'), 2, 'Features of the handler.'),
  })),
  NodeRuntimeHandlerFeatures: struct({ since: 30, doc: 'Features of a runtime handler.' }, () => ({
    recursiveReadOnlyMounts: pointer(boolean(), 1, 'True if mounts can be recursively read-only.'),
    userNamespaces: pointer(boolean(), 2, { since: 31, doc: 'True if pods can have a separate user namespace.' }),
  })),
  NodeSelector: atomicStruct('Selects nodes that match at least one of the terms.', () => ({
    nodeSelectorTerms: atomicSince30(list(ref('core/v1.NodeSelectorTerm')), 1, {
      needed: 'must have at least one node selector term',
      required: true,
      doc: 'The terms. At least one.',
    }),
  })),
  NodeSelectorOperator: () => closed('In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'),
  NodeSelectorRequirement: struct('A requirement on one label or field of a node.', () => ({
    key: required(string(), 1, 'Key of the label, or name of the field.'),
    operator: required(ref('core/v1.NodeSelectorOperator'), 2, 'Relation to the values: In, NotIn, Exists, DoesNotExist, Gt or Lt.'),
    values: atomicSince30(list(string()), 3, {
      doc: 'Values to compare with: some for In and NotIn, none for Exists and DoesNotExist, one integer for Gt and Lt.',
    }),
  })),
  NodeSelectorTerm: atomicStruct('A term of a node selector. All of its requirements must hold; an empty term matches no node.', () => ({
    matchExpressions: atomicSince30(list(ref('core/v1.NodeSelectorRequirement')), 1, 'Requirements on labels of the node.'),
    matchFields: atomicSince30(list(ref('core/v1.NodeSelectorRequirement')), 2, {
      doc: 'Requirements on fields of the node. The only field is metadata.name.',
    }),
  })),
  NodeSpec: struct('Desired state of a node.', () => ({
    podCIDR: field(string(), 1, 'Network from which the pods of the node get addresses, in CIDR notation. Cannot be changed once set.'),
    podCIDRs: field(list(string()), 7, {
      patchStrategy: 'merge',
      changes: { 30: { listType: 'set' } },
      doc: 'Networks for pods, at most one for each IP family. The first must equal podCIDR.',
    }),
    providerID: field(string(), 3, 'Identity of the machine at its provider, as provider://id. Cannot be changed once set.'),
    unschedulable: field(boolean(), 4, 'Keeps new pods away from the node. Default: false.'),
    taints: atomicSince30(list(ref('core/v1.Taint')), 5, 'Marks that keep pods away unless they tolerate them.'),
    configSource: pointer(ref('core/v1.NodeConfigSource'), 6, {
      doc: "Deprecated. The source of the node agent's settings. Newer agents do not read it.",
    }),
    externalID: field(string(), 2, 'Deprecated. Not used by anything; older nodes may have it.'),
    podPreemptionPolicy: pointer(ref('core/v1.NodePodPreemptionPolicy'), 8, {
      ...gated('InPlacePodVerticalScalingSchedulerPreemption'),
      doc: 'Preemption of the pods of the node. Unset: the default of the scheduler.',
    }),
  })),
  NodeStatus: struct('Observed state of a node.', () => ({
    capacity: field(map(quantity()), 1, "The machine's total amounts, by resource."),
    allocatable: field(map(quantity()), 2, 'Amount available to pods, by resource. Defaults to capacity.'),
    phase: field(ref('core/v1.NodePhase'), 3, 'Deprecated and never set.'),
    conditions: mergedSince30('type', list(ref('core/v1.NodeCondition')), 4, 'State of the node by aspect, such as Ready or DiskPressure.'),
    addresses: mergedSince30('type', list(ref('core/v1.NodeAddress')), 5, {
      doc: 'Addresses at which the node can be reached. There may be several of one type, of which a strategic merge patch may lose some.',
    }),
    daemonEndpoints: field(ref('core/v1.NodeDaemonEndpoints'), 6, 'Ports of the daemons that run on the node.'),
    nodeInfo: field(ref('core/v1.NodeSystemInfo'), 7, 'Identities and versions of the machine and its software.'),
    images: atomicSince30(list(ref('core/v1.ContainerImage')), 8, {
      doc: 'Container images on the node, the largest first; the list may be cut off.',
    }),
    volumesInUse: atomicSince30(list(string()), 9, 'Volumes that are attached and in use. They must not be detached.'),
    volumesAttached: atomicSince30(list(ref('core/v1.AttachedVolume')), 10, 'Volumes that are attached to the node.'),
    config: pointer(ref('core/v1.NodeConfigStatus'), 11, 'Deprecated. State of the settings assigned through configSource.'),
    runtimeHandlers: atomic(list(ref('core/v1.NodeRuntimeHandler')), 12, {
      ...gated('RecursiveReadOnlyMounts'),
      doc: 'Handlers of the container runtime.',
    }),
    features: pointer(ref('core/v1.NodeFeatures'), 13, { ...gated('SupplementalGroupsPolicy'), doc: 'Features of the container runtime.' }),
    declaredFeatures: atomic(list(string()), 14, {
      ...gated('NodeDeclaredFeatures'),
      doc: 'Features of the node that the scheduler may ask for, sorted.',
    }),
  })),
  NodeSwapStatus: struct({ since: 33, doc: 'Swap memory of a node.' }, () => ({
    capacity: pointer(int64(), 1, 'Total size in bytes.'),
  })),
  NodeSystemInfo: struct('Identities and versions of a machine and its software.', () => ({
    machineID: required(string(), 1, 'Identity of the system, from its machine-id file. Unique in the cluster.'),
    systemUUID: required(string(), 2, 'Identity of the hardware, from its firmware.'),
    bootID: required(string(), 3, 'Identity of the current boot of the system.'),
    kernelVersion: required(string(), 4, 'Version of the kernel.'),
    osImage: required(string(), 5, 'Name and version of the system, for people.'),
    containerRuntimeVersion: required(string(), 6, 'Name and version of the container runtime, as name://version.'),
    kubeletVersion: required(string(), 7, 'Version of the node agent.'),
    kubeProxyVersion: required(string(), 8, 'Version of the service proxy.'),
    operatingSystem: required(string(), 9, 'Operating system: linux or windows.'),
    architecture: required(string(), 10, 'Architecture of the machine, such as amd64 or arm64.'),
    swap: pointer(ref('core/v1.NodeSwapStatus'), 11, { since: 33, doc: 'Swap memory of the node.' }),
    runningInUserNamespace: pointer(boolean(), 12, {
      featureGate: 'KubeletInUserNamespace',
      since: 37,
      doc: 'True if the node agent runs in a user namespace.',
    }),
  })),
  OSName: () => known('linux', 'windows'),
  ObjectFieldSelector: atomicStruct('A field of an object.', () => ({
    apiVersion: field(string(), 1, 'Version of the object to which the path applies. Default: v1.'),
    fieldPath: required(string(), 2, 'Path of the field, such as metadata.name.'),
  })),
  ObjectReference: atomicStruct('Refers to an object or to a part of it. The use decides which fields are required.', () => ({
    kind: field(string(), 1, 'Kind of the object.'),
    namespace: field(string(), 2, 'Namespace of the object.'),
    name: field(string(), 3, 'Name of the object.'),
    uid: field(string(), 4, 'Identity of the object.'),
    apiVersion: field(string(), 5, 'Group version of the object.'),
    resourceVersion: field(string(), 6, 'Revision of the object, if a specific one is meant.'),
    fieldPath: field(string(), 7, 'Part of the object, as a path such as spec.containers{name}; empty for the whole object.'),
  })),
  PersistentVolume: object(
    'A piece of storage in the cluster, made by an administrator or a driver, that a claim can be bound to.',
    () => ({
      metadata,
      spec: field(ref('core/v1.PersistentVolumeSpec'), 2, 'Source, properties and claim of the volume.'),
      status: field(ref('core/v1.PersistentVolumeStatus'), 3, 'Observed state of the volume.'),
    }),
  ),
  PersistentVolumeAccessMode: () => closed('ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'),
  PersistentVolumeClaim: object("A user's request for storage, and the hold on a volume once one is bound.", () => ({
    metadata,
    spec: field(ref('core/v1.PersistentVolumeClaimSpec'), 2, 'The requested storage.'),
    status: field(ref('core/v1.PersistentVolumeClaimStatus'), 3, 'Observed state of the claim.'),
  })),
  PersistentVolumeClaimCondition: struct("One aspect of a claim's state.", () => ({
    type: required(ref('core/v1.PersistentVolumeClaimConditionType'), 1, {
      doc: 'Aspect that the condition describes, such as Resizing or FileSystemResizePending.',
    }),
    status: required(ref('core/v1.ConditionStatus'), 2, 'True, False or Unknown.'),
    lastProbeTime: field(time(), 3, 'Time of the last check of the condition.'),
    ...lastChange(4),
  })),
  PersistentVolumeClaimConditionType: () =>
    valuesByLevel(
      known(
        'Resizing',
        'FileSystemResizePending',
        'ModifyVolumeError',
        'ModifyingVolume',
        'ControllerResizeError',
        'NodeResizeError',
        'Unused',
      ),
      { since: { ModifyVolumeError: 29, ModifyingVolume: 29, ControllerResizeError: 31, NodeResizeError: 31, Unused: 36 } },
    ),
  PersistentVolumeClaimList: objectList('core/v1.PersistentVolumeClaim'),
  PersistentVolumeClaimModifyVolumeStatus: () => closed('Pending', 'InProgress', 'Infeasible'),
  PersistentVolumeClaimPhase: () => closed('Pending', 'Bound', 'Lost'),
  PersistentVolumeClaimResizeStatus: () =>
    closed(
      '',
      'ControllerExpansionInProgress',
      'ControllerExpansionFailed',
      'NodeExpansionPending',
      'NodeExpansionInProgress',
      'NodeExpansionFailed',
    ),
  PersistentVolumeClaimSpec: struct('The requested storage. Except for the size it cannot be changed once bound.', () => ({
    accessModes: atomicSince30(list(ref('core/v1.PersistentVolumeAccessMode')), 1, {
      needed: 'at least 1 access mode is required',
      gatedValues: { ReadWriteOncePod: 'ReadWriteOncePod' },
      doc: 'Ways in which the volume must be mountable: ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod.',
    }),
    selector: pointer(ref('meta/v1.LabelSelector'), 4, 'Labels that the volume must have. With a selector, no new volume is provisioned.'),
    resources: field(ref('core/v1.ResourceRequirements'), 2, {
      changes: { 29: { node: ref('core/v1.VolumeResourceRequirements') } },
      doc: 'Minimum size of the volume. If the class allows expansion, the request may change, but not below the size in the status.',
    }),
    volumeName: field(string(), 3, 'Name of the volume that is bound to the claim.'),
    storageClassName: pointer(string(), 5, 'Requested storage class. Unset means the default class, empty means none.'),
    volumeMode: pointer(ref('core/v1.PersistentVolumeMode'), 6, 'Filesystem (the default), or Block for a bare device.'),
    dataSource: pointer(ref('core/v1.TypedLocalObjectReference'), 7, {
      doc: 'Volume snapshot or claim whose contents the new volume gets. Kept equal to dataSourceRef if both support the kind.',
    }),
    dataSourceRef: pointer(ref('core/v1.TypedLocalObjectReference'), 8, {
      changes: { 26: { node: ref('core/v1.TypedObjectReference') } },
      doc: 'Object of any kind from which the new volume is filled. Unknown kinds are kept, unlike in dataSource.',
    }),
    volumeAttributesClassName: pointer(string(), 9, {
      ...gated('VolumeAttributesClass'),
      doc: 'Name of the VolumeAttributesClass of the claim. It may be changed, which changes the volume.',
    }),
  })),
  PersistentVolumeClaimStatus: struct('Observed state of a claim.', () => ({
    phase: field(ref('core/v1.PersistentVolumeClaimPhase'), 1, 'Pending, Bound, or Lost if its volume no longer exists.'),
    accessModes: atomicSince30(list(ref('core/v1.PersistentVolumeAccessMode')), 2, 'Ways in which the bound volume can be mounted.'),
    capacity: field(map(quantity()), 3, 'Actual amount of the bound volume, by resource.'),
    conditions: mergedSince30('type', list(ref('core/v1.PersistentVolumeClaimCondition')), 4, {
      doc: 'State of the claim by aspect, such as resizing.',
    }),
    allocatedResources: field(map(quantity()), 5, {
      featureGate: 'RecoverVolumeExpansionFailure',
      doc: 'Reserved amount, by resource. May be more than capacity while the volume grows.',
    }),
    allocatedResourceStatuses: field(map(ref('core/v1.ClaimResourceStatus')), 7, {
      mapType: 'granular',
      featureGate: 'RecoverVolumeExpansionFailure',
      since: 28,
      doc: 'State of a resize, by resource.',
    }),
    currentVolumeAttributesClassName: pointer(string(), 8, {
      ...gated('VolumeAttributesClass'),
      doc: 'Name of the VolumeAttributesClass that the volume has. Unset: none.',
    }),
    modifyVolumeStatus: pointer(ref('core/v1.ModifyVolumeStatus'), 9, {
      ...gated('VolumeAttributesClass'),
      doc: 'State of the change to another VolumeAttributesClass. Unset: no change is in progress.',
    }),
    healthStatus: pointer(ref('core/v1.VolumeHealthStatus'), 10, {
      featureGate: 'CSIVolumeHealth',
      since: 37,
      doc: 'Health of the volume.',
    }),
    resizeStatus: pointer(ref('core/v1.PersistentVolumeClaimResizeStatus'), 6, {
      featureGate: 'RecoverVolumeExpansionFailure',
      until: 27,
      doc: 'Progress of an expansion of the volume. Unset while there is none.',
    }),
  })),
  PersistentVolumeClaimTemplate: struct('A template for a claim.', () => ({
    metadata: field(ref('meta/v1.ObjectMeta'), 1, 'Labels and annotations for the claim. Nothing else is allowed.'),
    spec: required(ref('core/v1.PersistentVolumeClaimSpec'), 2, 'The requested storage.'),
  })),
  PersistentVolumeClaimVolumeSource: struct('The volume that is bound to a claim of the namespace.', () => ({
    claimName: needed(string(), 1, { required: true, doc: 'Name of the claim.' }),
    readOnly: field(boolean(), 2, 'Mounts the volume read-only for all containers. Default: false.'),
  })),
  PersistentVolumeList: objectList('core/v1.PersistentVolume'),
  PersistentVolumeMode: () => only(closed('Block', 'Filesystem')),
  PersistentVolumePhase: () => closed('Pending', 'Available', 'Bound', 'Released', 'Failed'),
  PersistentVolumeReclaimPolicy: () => only(closed('Delete', 'Recycle', 'Retain')),
  PersistentVolumeSource: struct('The storage behind a persistent volume. Exactly one kind is set.', () => ({
    gcePersistentDisk: pointer(ref('core/v1.GCEPersistentDiskVolumeSource'), 1, 'A disk of Google Compute Engine.'),
    awsElasticBlockStore: pointer(ref('core/v1.AWSElasticBlockStoreVolumeSource'), 2, 'A disk of AWS Elastic Block Store.'),
    hostPath: pointer(ref('core/v1.HostPathVolumeSource'), 3, {
      doc: 'A file or directory of the node. It gives pods access to the node itself; most pods do not need it.',
    }),
    glusterfs: pointer(ref('core/v1.GlusterfsPersistentVolumeSource'), 4, 'A Glusterfs volume.'),
    nfs: pointer(ref('core/v1.NFSVolumeSource'), 5, 'A directory of an NFS server.'),
    rbd: pointer(ref('core/v1.RBDPersistentVolumeSource'), 6, 'A block device of a Ceph cluster.'),
    iscsi: pointer(ref('core/v1.ISCSIPersistentVolumeSource'), 7, 'A disk reached over iSCSI.'),
    cinder: pointer(ref('core/v1.CinderPersistentVolumeSource'), 8, 'A disk of OpenStack Cinder.'),
    cephfs: pointer(ref('core/v1.CephFSPersistentVolumeSource'), 9, 'A Ceph file system.'),
    fc: pointer(ref('core/v1.FCVolumeSource'), 10, 'A disk reached over Fibre Channel.'),
    flocker: pointer(ref('core/v1.FlockerVolumeSource'), 11, 'A volume of the Flocker control service.'),
    flexVolume: pointer(ref('core/v1.FlexPersistentVolumeSource'), 12, 'Deprecated. A volume made by a program on the node.'),
    azureFile: pointer(ref('core/v1.AzureFilePersistentVolumeSource'), 13, 'A file share of Azure.'),
    vsphereVolume: pointer(ref('core/v1.VsphereVirtualDiskVolumeSource'), 14, 'A disk of vSphere.'),
    quobyte: pointer(ref('core/v1.QuobyteVolumeSource'), 15, 'A Quobyte volume.'),
    azureDisk: pointer(ref('core/v1.AzureDiskVolumeSource'), 16, 'A data disk of Azure.'),
    photonPersistentDisk: pointer(ref('core/v1.PhotonPersistentDiskVolumeSource'), 17, 'A disk of the Photon controller.'),
    portworxVolume: pointer(ref('core/v1.PortworxVolumeSource'), 18, 'A Portworx volume.'),
    scaleIO: pointer(ref('core/v1.ScaleIOPersistentVolumeSource'), 19, 'A ScaleIO volume.'),
    local: pointer(ref('core/v1.LocalVolumeSource'), 20, 'A disk or directory of one node, which nodeAffinity must name.'),
    storageos: pointer(ref('core/v1.StorageOSPersistentVolumeSource'), 21, 'A StorageOS volume.'),
    csi: pointer(ref('core/v1.CSIPersistentVolumeSource'), 22, 'Storage of a volume driver installed in the cluster.'),
  })),
  PersistentVolumeSpec: struct('Source and properties of a volume. Exactly one kind of storage is set.', () => ({
    capacity: field(map(quantity()), 1, 'Capacity by resource; in practice of storage.'),
    persistentVolumeSource: inline('core/v1.PersistentVolumeSource', 2),
    accessModes: atomicSince30(list(ref('core/v1.PersistentVolumeAccessMode')), 3, {
      needed: true,
      gatedValues: { ReadWriteOncePod: 'ReadWriteOncePod' },
      doc: 'Ways in which the volume can be mounted: ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod.',
    }),
    claimRef: pointer(ref('core/v1.ObjectReference'), 4, {
      structType: 'granular',
      doc: 'The claim that the volume is bound to, or kept for. Both sides must point to each other.',
    }),
    persistentVolumeReclaimPolicy: field(ref('core/v1.PersistentVolumeReclaimPolicy'), 5, {
      doc: 'Action on the volume after its claim is deleted: Retain (default for volumes made by hand), Delete, or Recycle (deprecated).',
    }),
    storageClassName: field(text('subdomain'), 6, 'Storage class that the volume belongs to. Empty means none.'),
    mountOptions: atomicSince30(list(string()), 7, {
      doc: 'Options that the volume is mounted with. They are not checked; a wrong one fails the mount.',
    }),
    volumeMode: pointer(ref('core/v1.PersistentVolumeMode'), 8, 'Filesystem (the default), or Block for a bare device.'),
    nodeAffinity: pointer(ref('core/v1.VolumeNodeAffinity'), 9, 'Nodes that can access the volume. Pods that use it are placed on them.'),
    volumeAttributesClassName: pointer(string(), 10, {
      ...gated('VolumeAttributesClass'),
      doc: 'Name of the VolumeAttributesClass of the volume. It is that of the claim. Unset: none.',
    }),
  })),
  PersistentVolumeStatus: struct('Observed state of a volume.', () => ({
    phase: field(ref('core/v1.PersistentVolumePhase'), 1, 'Pending, Available, Bound to a claim, Released by it, or Failed.'),
    message: field(string(), 2, 'Details of the phase, for people.'),
    reason: field(string(), 3, 'One word for a failure.'),
    lastPhaseTransitionTime: pointer(time(), 4, {
      ...gated('PersistentVolumeLastPhaseTransitionTime'),
      doc: 'Moment of the last change of the phase.',
    }),
  })),
  PhotonPersistentDiskVolumeSource: struct('A disk of the Photon controller.', () => ({
    pdID: needed(string(), 1, { required: true, doc: 'Identity of the disk.' }),
    fsType: fsType(2),
  })),
  Pod: object('Containers that run together on one node and share its network address.', () => ({
    metadata,
    spec: field(ref('core/v1.PodSpec'), 2, 'Desired state of the pod.'),
    status: field(ref('core/v1.PodStatus'), 3, 'Observed state, written by the node agent. May be out of date.'),
  })),
  PodAffinity: struct('Rules on pods near which a pod is placed.', () => ({
    requiredDuringSchedulingIgnoredDuringExecution: atomicSince30(list(ref('core/v1.PodAffinityTerm')), 1, {
      doc: 'Terms that must all match a place. A running pod stays if they no longer match.',
    }),
    preferredDuringSchedulingIgnoredDuringExecution: atomicSince30(list(ref('core/v1.WeightedPodAffinityTerm')), 2, {
      doc: 'Terms that make a place better. The weights of matching terms are added, and the highest sum wins.',
    }),
  })),
  PodAffinityTerm: struct('Other pods, and how near to them a place is.', () => ({
    labelSelector: pointer(ref('meta/v1.LabelSelector'), 1, 'Labels of the other pods. Unset matches none.'),
    namespaces: atomicSince30(list(string()), 2, {
      doc: "Namespaces of the other pods, in addition to namespaceSelector. Without both, only the pod's own namespace counts.",
    }),
    topologyKey: checked(text('qualifiedName'), 3, {
      needed: 'can not be empty',
      required: true,
      doc: 'Label of nodes. Nodes with the same value are one place. Required.',
    }),
    namespaceSelector: pointer(ref('meta/v1.LabelSelector'), 4, 'Labels of namespaces of the other pods. Unset adds none, empty adds all.'),
    matchLabelKeys: atomic(list(string()), 5, {
      ...gated('MatchLabelKeysInPodAffinity'),
      doc: "Keys of labels; only pods with the new pod's values of them count. Needs labelSelector, which must not contain the same keys.",
    }),
    mismatchLabelKeys: atomic(list(string()), 6, {
      ...gated('MatchLabelKeysInPodAffinity'),
      doc: "Keys of labels; only pods without the new pod's values of them count. Needs labelSelector, which must not contain the same keys.",
    }),
  })),
  PodAntiAffinity: struct('Rules on pods that a pod is placed away from.', () => ({
    requiredDuringSchedulingIgnoredDuringExecution: atomicSince30(list(ref('core/v1.PodAffinityTerm')), 1, {
      doc: 'Terms that must not match a place. A running pod stays if they match later.',
    }),
    preferredDuringSchedulingIgnoredDuringExecution: atomicSince30(list(ref('core/v1.WeightedPodAffinityTerm')), 2, {
      doc: 'Terms that make a place worse. The weights of matching terms are added, and the lowest sum wins.',
    }),
  })),
  PodAttachOptions: object('Options of a request that attaches to a running container.', () => ({
    stdin: field(boolean(), 1, 'Send the standard input. Default: false.'),
    stdout: field(boolean(), 2, 'Receive the standard output. Default: true.'),
    stderr: field(boolean(), 3, 'Receive the standard error. Default: true.'),
    tty: field(boolean(), 4, 'Use a terminal. The container must have one. Default: false.'),
    container: field(string(), 5, "Container to attach to. Defaults to the pod's only container."),
  })),
  PodCertificateProjection: struct(
    { since: 34, doc: 'Files with a private key and a certificate that the node requests for the pod.' },
    () => ({
      signerName: field(string(), 1, { listedAsRequired: true, doc: 'Requested signer of the certificate.' }),
      keyType: field(string(), 2, {
        listedAsRequired: true,
        doc: 'Type of the key: RSA3072, RSA4096, ECDSAP256, ECDSAP384, ECDSAP521 or ED25519.',
      }),
      maxExpirationSeconds: pointer(int32(), 3, {
        doc: 'Longest validity of the certificate, in seconds: at least 3600. The signer may make it shorter.',
      }),
      credentialBundlePath: field(string(), 4, 'Path of a file with both the key and the certificates.'),
      keyPath: field(string(), 5, 'Path of a file with only the key.'),
      certificateChainPath: field(string(), 6, 'Path of a file with only the certificates.'),
      userAnnotations: field(map(string()), 7, { since: 35, doc: 'Hints to the signer, by key. They are not verified.' }),
      user: pointer(int64(identity), 8, {
        ...gated('AtomicWriteVolumeUserFields'),
        doc: 'User id of the owner of the files. Unset: the owner set for the volume.',
      }),
    }),
  ),
  PodCondition: struct("One aspect of a pod's state.", () => ({
    type: required(ref('core/v1.PodConditionType'), 1, {
      doc: 'Aspect that the condition describes: PodScheduled, Initialized, ContainersReady, Ready, or one of another controller.',
    }),
    observedGeneration: field(int64(), 7, {
      ...gated('PodObservedGenerationTracking'),
      doc: 'Generation of the pod when the condition was set.',
    }),
    status: required(ref('core/v1.ConditionStatus'), 2, 'True, False or Unknown.'),
    lastProbeTime: field(time(), 3, 'Time of the last check of the condition.'),
    ...lastChange(4),
  })),
  PodConditionType: () =>
    valuesByLevel(
      known(
        'ContainersReady',
        'Initialized',
        'Ready',
        'PodScheduled',
        'DisruptionTarget',
        'PodReadyToStartContainers',
        'PodResizePending',
        'PodResizeInProgress',
        'AllContainersRestarting',
      ),
      { since: { PodReadyToStartContainers: 29, PodResizePending: 33, PodResizeInProgress: 33, AllContainersRestarting: 35 } },
    ),
  PodDNSConfig: struct('Settings for resolving names.', () => ({
    nameservers: atomicSince30(list(string()), 1, 'Addresses of name servers, added to those of the policy.'),
    searches: atomicSince30(list(string()), 2, 'Domains in which short names are looked up, added to those of the policy.'),
    options: atomicSince30(list(ref('core/v1.PodDNSConfigOption')), 3, 'Options of the resolver, which replace those of the same name.'),
  })),
  PodDNSConfigOption: struct('An option of the resolver.', () => ({
    name: field(string(), 1, 'Name of the option. Required.'),
    value: pointer(string(), 2, 'Value of the option, if it takes one.'),
  })),
  PodExecOptions: object('Options of a request that runs a command in a container.', () => ({
    stdin: field(boolean(), 1, 'Send the standard input. Default: false.'),
    stdout: field(boolean(), 2, 'Receive the standard output.'),
    stderr: field(boolean(), 3, 'Receive the standard error.'),
    tty: field(boolean(), 4, 'Give the command a terminal. Default: false.'),
    container: field(string(), 5, "Container to run in. Defaults to the pod's only container."),
    command: atomicSince30(list(string()), 6, { required: true, doc: 'The command and its arguments, not run in a shell.' }),
  })),
  PodExtendedResourceClaimStatus: struct({ since: 34, doc: 'The claim that was made for extended resources of a pod.' }, () => ({
    requestMappings: required(list(ref('core/v1.ContainerExtendedResourceRequest')), 1, {
      listType: 'atomic',
      doc: 'Requests of containers, with the requests in the claim that satisfy them.',
    }),
    resourceClaimName: required(string(), 2, 'Name of the claim, in the namespace of the pod.'),
  })),
  PodFSGroupChangePolicy: () => only(closed('Always', 'OnRootMismatch')),
  PodIP: struct('An address of a pod.', () => ({
    ip: field(string(), 1, { changes: { 30: { required: true } }, doc: 'The address, IPv4 or IPv6.' }),
  })),
  PodList: objectList('core/v1.Pod'),
  PodLogOptions: object('Options of a request for the log of a container.', () => ({
    container: field(string(), 1, "Container whose log is read. Defaults to the pod's only container."),
    follow: field(boolean(), 2, 'Follows the log as it grows. Default: false.'),
    previous: field(boolean(), 3, 'Reads the log of the previous container, before the last restart. Default: false.'),
    sinceSeconds: pointer(int64(), 4, 'Number of seconds before now from which lines are returned. Not together with sinceTime.'),
    sinceTime: pointer(time(), 5, 'Only lines from this time on. Not together with sinceSeconds.'),
    timestamps: field(boolean(), 6, 'Begins each line with its time. Default: false.'),
    tailLines: pointer(int64(), 7, 'Maximum number of lines, counted from the end. Unset means all.'),
    limitBytes: pointer(int64(), 8, 'Maximum number of bytes. May cut the last line.'),
    insecureSkipTLSVerifyBackend: field(boolean(), 9, {
      doc: "Skips the check of the node agent's certificate, so that the log could be changed in transit. Default: false.",
    }),
    stream: pointer(string(), 10, {
      ...gated('PodLogsQuerySplitStreams'),
      doc: 'Stream to read: All (the default), Stdout or Stderr. With tailLines only All is allowed.',
    }),
  })),
  PodOS: struct('The operating system of a pod.', () => ({
    name: required(ref('core/v1.OSName'), 1, { needed: true, doc: 'Name of the system: linux or windows.' }),
  })),
  PodPhase: () => closed('Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'),
  PodPortForwardOptions: object('Options of a request that forwards ports to a pod.', () => ({
    ports: atomicSince30(list(int32()), 1, 'Ports to forward. Required over WebSockets.'),
  })),
  PodProxyOptions: object('Options of a request that is proxied to a pod.', () => ({
    path: field(string(), 1, 'Path of the request at the pod.'),
  })),
  PodQOSClass: () => closed('Guaranteed', 'Burstable', 'BestEffort'),
  PodReadinessGate: struct('A condition that must be True for a pod to be ready.', () => ({
    conditionType: checked(text('qualifiedName'), 1, { required: true, doc: 'Type of the condition.' }),
  })),
  PodResizeStatus: () => valuesByLevel(known('InProgress', 'Deferred', 'Infeasible', 'Proposed'), { until: { Proposed: 32 } }),
  PodResourceClaim: struct({ since: 26, doc: 'A resource claim that containers of the pod may use by its name here.' }, () => ({
    name: required(string(), 1, 'Name of the claim within the pod.'),
    source: field(ref('core/v1.ClaimSource'), 2, { until: 30, doc: 'Source of the claim.' }),
    resourceClaimName: pointer(string(), 3, {
      since: 31,
      doc: 'Name of a claim in the namespace of the pod. Either this or the template is set.',
    }),
    resourceClaimTemplateName: pointer(string(), 4, {
      since: 31,
      doc: 'Name of a template from which a claim is made for the pod, and deleted with it.',
    }),
  })),
  PodResourceClaimStatus: struct({ since: 28, doc: 'The claim of an entry of spec.resourceClaims.' }, () => ({
    name: required(string(), 1, 'Name of the claim within the pod.'),
    resourceClaimName: pointer(string(), 2, 'Name of the claim that was made from the template. Unset: none was needed.'),
  })),
  PodSELinuxChangePolicy: () => known('MountOption', 'Recursive'),
  PodSchedulingGate: struct({ since: 26, doc: 'A gate that keeps a pod from being scheduled.' }, () => ({
    name: required(string(), 1, 'Name of the gate, a qualified name.'),
  })),
  PodSchedulingGroup: struct({ isUnion: true, since: 36, doc: 'Group that a pod is scheduled with.' }, () => ({
    podGroupName: pointer(text('subdomain'), 1, 'Name of a PodGroup in the namespace of the pod.'),
  })),
  PodSecurityContext: struct('Security settings for all containers of a pod. Settings of a container take precedence.', () => ({
    seLinuxOptions: pointer(ref('core/v1.SELinuxOptions'), 1, {
      doc: 'SELinux context of the containers. Unset lets the runtime pick one. Not for windows.',
    }),
    windowsOptions: pointer(ref('core/v1.WindowsSecurityContextOptions'), 8, 'Settings that only apply on windows.'),
    runAsUser: pointer(int64(identity), 2, 'User id of the processes. Unset means the user of the image. Not for windows.'),
    runAsGroup: pointer(int64(identity), 6, 'Group id of the processes. Unset means the default of the runtime. Not for windows.'),
    runAsNonRoot: pointer(boolean(), 3, 'Refuse to start containers that would run as user 0. Default: false.'),
    supplementalGroups: atomicSince30(list(int64(identity)), 4, 'Further groups of the processes. Not for windows.'),
    supplementalGroupsPolicy: pointer(ref('core/v1.SupplementalGroupsPolicy'), 12, {
      ...gated('SupplementalGroupsPolicy'),
      doc: 'Groups of the first process: Merge (with those of the image, the default) or Strict (only the groups set here).',
    }),
    fsGroup: pointer(int64(identity), 5, 'Group that owns the files of volumes which support it; processes are members. Not for windows.'),
    sysctls: field(list(ref('core/v1.Sysctl'), { uniqueBy: 'name', comparesSound: true }), 7, {
      changes: { 30: { listType: 'atomic' } },
      doc: 'Kernel settings for the pod. Settings that the runtime does not support fail the pod. Not for windows.',
    }),
    fsGroupChangePolicy: pointer(ref('core/v1.PodFSGroupChangePolicy'), 9, {
      doc: 'Changes of owner and mode of files for fsGroup: Always (the default), or OnRootMismatch, which saves time.',
    }),
    seccompProfile: pointer(ref('core/v1.SeccompProfile'), 10, 'System calls that the containers may use. Not for windows.'),
    appArmorProfile: pointer(ref('core/v1.AppArmorProfile'), 11, {
      ...gated('AppArmorFields'),
      doc: 'AppArmor settings of all containers that set none.',
    }),
    seLinuxChangePolicy: pointer(ref('core/v1.PodSELinuxChangePolicy'), 13, {
      ...gated('SELinuxChangePolicy'),
      doc: "Method of giving volumes the pod's SELinux label: MountOption (by the mount, the default where possible) or Recursive (each file).",
    }),
  })),
  PodSignature: struct('Selects the pods of one controller.', () => ({
    podController: pointer(ref('meta/v1.OwnerReference'), 1, 'The controller of the pods.'),
  })),
  PodSpec: struct('Desired state of a pod.', () => ({
    volumes: field(list(ref('core/v1.Volume')), 1, {
      patchStrategy: 'merge,retainKeys',
      patchMergeKey: 'name',
      changes: { 30: { listType: 'map', listMapKeys: ['name'] } },
      doc: 'Volumes that containers of the pod can mount.',
    }),
    initContainers: mergedSince30('name', list(ref('core/v1.Container')), 20, {
      doc: 'Containers that run to completion one after another before the others start. If one fails, the pod fails or retries it.',
    }),
    containers: mergedSince30('name', list(ref('core/v1.Container')), 2, {
      required: true,
      doc: 'Containers of the pod. At least one. Cannot be added or removed later.',
    }),
    ephemeralContainers: mergedSince30('name', list(ref('core/v1.EphemeralContainer')), 34, {
      doc: 'Containers added to the running pod for debugging, only through the ephemeralcontainers subresource.',
    }),
    restartPolicy: needed(ref('core/v1.RestartPolicy'), 3, 'Restart of containers that end: Always (the default), OnFailure or Never.'),
    terminationGracePeriodSeconds: pointer(int64(), 4, {
      doc: 'Seconds between the signal to stop and the kill of containers. Zero kills at once. Default: 30.',
    }),
    activeDeadlineSeconds: pointer(int64({ min: 1, max: 2 ** 31 - 1 }), 5, {
      doc: 'Seconds after the start at which the pod is stopped and marked as failed. Unset means no limit.',
    }),
    dnsPolicy: needed(ref('core/v1.DNSPolicy'), 6, {
      doc: 'Resolution of names: ClusterFirst (the default), ClusterFirstWithHostNet, Default (as on the node) or None (dnsConfig alone).',
    }),
    nodeSelector: field(labels(), 7, { mapType: 'atomic', doc: 'Labels that the node must have.' }),
    serviceAccountName: field(text('subdomain'), 8, 'Service account that the pod runs as. Default: default.'),
    serviceAccount: field(string(), 9, 'Deprecated name of serviceAccountName; kept equal to it.'),
    automountServiceAccountToken: pointer(boolean(), 21, {
      doc: 'True if a token of the service account is mounted into the containers. Unset: the account decides.',
    }),
    nodeName: field(text('subdomain'), 10, 'Node that the pod runs on. The scheduler sets it; setting it by hand bypasses the scheduler.'),
    hostNetwork: field(boolean(), 11, 'Uses the network of the node. Ports must then also be given as host ports. Default: false.'),
    hostPID: field(boolean(), 12, 'Use the process ids of the node. Default: false.'),
    hostIPC: field(boolean(), 13, 'Use the inter-process communication of the node. Default: false.'),
    shareProcessNamespace: pointer(boolean(), 27, {
      doc: "Let containers of the pod see each other's processes. Not together with hostPID. Default: false.",
    }),
    securityContext: pointer(ref('core/v1.PodSecurityContext'), 14, {
      doc: 'Security settings for all containers. Settings of a container take precedence.',
    }),
    imagePullSecrets: mergedSince30('name', list(ref('core/v1.LocalObjectReference')), 15, {
      doc: 'Secrets of this namespace with credentials for pulling the images.',
    }),
    hostname: field(text('label'), 16, 'Host name of the pod. Default: its name.'),
    subdomain: field(text('label'), 17, "If set, the pod's full name is hostname.subdomain.namespace.svc.domain. Otherwise it has none."),
    affinity: pointer(ref('core/v1.Affinity'), 18, 'Rules on the placement of the pod.'),
    schedulerName: field(string(), 19, 'Scheduler that places the pod. Unset means the default one.'),
    tolerations: atomicSince30(list(ref('core/v1.Toleration')), 22, 'Taints of nodes that the pod accepts.'),
    hostAliases: mergedSince30('ip', list(ref('core/v1.HostAlias')), 23, {
      doc: 'Lines that are added to the hosts file of the containers. Not used with hostNetwork.',
    }),
    priorityClassName: field(text('subdomain'), 24, {
      doc: 'Priority class of the pod. Unset means the default class, or priority zero without one.',
    }),
    priority: pointer(int32(), 25, 'Priority as a number, filled in from the class. The higher, the more important.'),
    dnsConfig: pointer(ref('core/v1.PodDNSConfig'), 26, 'Settings for resolving names, added to those of dnsPolicy.'),
    readinessGates: atomicSince30(list(ref('core/v1.PodReadinessGate')), 28, {
      doc: 'Conditions that must be True, besides the containers, for the pod to be ready.',
    }),
    runtimeClassName: pointer(text('subdomain'), 29, 'Runtime class that the pod runs in. It must exist. Unset means the default runtime.'),
    enableServiceLinks: pointer(boolean(), 30, {
      doc: 'True if containers get environment variables for the services of the namespace. Default: true.',
    }),
    preemptionPolicy: pointer(ref('core/v1.PreemptionPolicy'), 31, {
      doc: 'Preemption of pods of lower priority: PreemptLowerPriority (the default) or Never.',
    }),
    overhead: field(map(quantity()), 32, 'Resources needed beyond the containers, filled in from the runtime class.'),
    topologySpreadConstraints: merged('topologyKey', list(ref('core/v1.TopologySpreadConstraint')), 33, {
      listMapKeys: ['topologyKey', 'whenUnsatisfiable'],
      doc: 'Rules for spreading a group of pods over the cluster. All must hold.',
    }),
    setHostnameAsFQDN: pointer(boolean(), 35, 'True if the full name is the host name of the containers. Default: false.'),
    os: pointer(ref('core/v1.PodOS'), 36, "Operating system of the pod's images. Some security settings are then not allowed."),
    hostUsers: pointer(boolean(), 37, {
      featureGate: 'UserNamespacesStatelessPodsSupport',
      changes: { 28: { featureGate: 'UserNamespacesSupport' } },
      doc: 'Use the user ids of the node. False gives the pod its own, so that root in it is not root on the node. Default: true.',
    }),
    schedulingGates: merged('name', list(ref('core/v1.PodSchedulingGate')), 38, {
      ...gated('PodSchedulingReadiness'),
      doc: 'Gates that keep the pod from being scheduled while any is left. They may be set on create only, and removed later.',
    }),
    resourceClaims: field(list(ref('core/v1.PodResourceClaim')), 39, {
      patchStrategy: 'merge,retainKeys',
      patchMergeKey: 'name',
      listType: 'map',
      listMapKeys: ['name'],
      ...gated('DynamicResourceAllocation'),
      doc: 'Resource claims that must be allocated before the pod starts. They cannot be changed.',
    }),
    resources: pointer(ref('core/v1.ResourceRequirements'), 40, {
      ...gated('PodLevelResources'),
      doc: 'Requests and limits of the pod as a whole: cpu, memory and huge pages. Containers share them.',
    }),
    hostnameOverride: pointer(string(), 41, {
      ...gated('HostnameOverride'),
      doc: 'Hostname within the pod, at most 64 characters. It takes precedence over hostname and subdomain, and does not change DNS records.',
    }),
    workloadRef: pointer(ref('core/v1.WorkloadReference'), 42, {
      since: 35,
      until: 35,
      doc: 'Workload whose pods are scheduled together with this one. It cannot be changed.',
    }),
    schedulingGroup: pointer(ref('core/v1.PodSchedulingGroup'), 43, {
      featureGate: 'GenericWorkload',
      since: 36,
      doc: 'Group that the pod is scheduled with. It cannot be changed.',
    }),
    evictionResponders: merged('name', list(ref('core/v1.EvictionResponder')), 44, {
      ...gated('EvictionRequestAPI'),
      doc: 'Components that take part in an eviction of the pod, by name.',
    }),
  })),
  PodStatus: struct('Observed state of a pod.', () => ({
    observedGeneration: field(int64(), 17, {
      ...gated('PodObservedGenerationTracking'),
      doc: 'Generation of the pod that this status is about.',
    }),
    phase: field(ref('core/v1.PodPhase'), 1, {
      doc: 'Pending, Running, Succeeded (all containers succeeded), Failed (all have ended, some with a failure), or Unknown (the node does not answer).',
    }),
    conditions: mergedSince30('type', list(ref('core/v1.PodCondition')), 2, 'State of the pod by aspect, such as Ready or PodScheduled.'),
    message: field(string(), 3, 'Details of the state, for people.'),
    reason: field(string(), 4, "Reason of the pod's state in one word, such as Evicted."),
    nominatedNodeName: field(string(), 11, {
      doc: 'Node on which other pods are preempted for the pod. The pod may still be placed on another node.',
    }),
    hostIP: field(string(), 5, 'Address of the node. Empty until the pod is placed.'),
    hostIPs: atomic(list(ref('core/v1.HostIP')), 16, {
      patchStrategy: 'merge',
      patchMergeKey: 'ip',
      ...gated('PodHostIPs'),
      doc: 'Addresses of the node. The first one is hostIP.',
    }),
    podIP: field(string(), 6, 'Address of the pod. Empty until it has one.'),
    podIPs: mergedSince30('ip', list(ref('core/v1.PodIP')), 12, {
      doc: 'Addresses of the pod, at most one for each IP family. The first is the same as podIP.',
    }),
    startTime: pointer(time(), 7, 'Time at which the node agent accepted the pod, before it pulled images.'),
    initContainerStatuses: atomicSince30(list(ref('core/v1.ContainerStatus')), 10, 'State of each init container.'),
    containerStatuses: atomicSince30(list(ref('core/v1.ContainerStatus')), 8, 'State of each container.'),
    qosClass: field(ref('core/v1.PodQOSClass'), 9, {
      doc: 'Quality of service, which decides the order of eviction when resources run short: Guaranteed, Burstable or BestEffort. Derived from requests and limits.',
    }),
    ephemeralContainerStatuses: atomicSince30(list(ref('core/v1.ContainerStatus')), 13, 'State of each ephemeral container.'),
    resize: field(ref('core/v1.PodResizeStatus'), 14, {
      ...gated('InPlacePodVerticalScaling'),
      doc: 'State of a resize: InProgress, Deferred or Infeasible. Replaced by conditions.',
    }),
    resourceClaimStatuses: field(list(ref('core/v1.PodResourceClaimStatus')), 15, {
      patchStrategy: 'merge,retainKeys',
      patchMergeKey: 'name',
      listType: 'map',
      listMapKeys: ['name'],
      featureGate: 'DynamicResourceAllocation',
      since: 28,
      doc: 'The claims of the entries of spec.resourceClaims.',
    }),
    extendedResourceClaimStatus: pointer(ref('core/v1.PodExtendedResourceClaimStatus'), 18, {
      ...gated('DRAExtendedResource'),
      doc: 'The claim for extended resources that devices satisfy.',
    }),
    allocatedResources: field(map(quantity()), 19, {
      ...gated('InPlacePodLevelResourcesVerticalScaling'),
      doc: 'Resources that the node has allocated to the pod as a whole.',
    }),
    resources: pointer(ref('core/v1.ResourceRequirements'), 20, {
      ...gated('InPlacePodLevelResourcesVerticalScaling'),
      doc: 'Requests and limits of the running pod as a whole.',
    }),
    nodeAllocatableResourceClaimStatuses: atomic(list(ref('core/v1.NodeAllocatableResourceClaimStatus')), 21, {
      ...gated('DRANodeAllocatableResources'),
      changes: {
        37: { patchStrategy: 'merge', patchMergeKey: 'resourceClaimName', listType: 'map', listMapKeys: ['resourceClaimName'] },
      },
      doc: 'Node resources that claims of the pod use.',
    }),
    volumeHealth: field(list(ref('core/v1.PodVolumeHealth')), 22, {
      listType: 'map',
      listMapKeys: ['name'],
      featureGate: 'CSIVolumeHealth',
      since: 37,
      doc: 'Health of volumes of the pod.',
    }),
  })),
  PodStatusResult: object({ until: 36, doc: 'A pod reduced to its status.' }, () => ({
    metadata,
    status: field(ref('core/v1.PodStatus'), 2, 'Observed state.'),
  })),
  PodTemplate: object('A pod template as a separate object.', () => ({
    metadata,
    template: field(ref('core/v1.PodTemplateSpec'), 2, 'The template of the pod.'),
  })),
  PodTemplateList: objectList('core/v1.PodTemplate'),
  PodTemplateSpec: struct("A template for a controller's pods.", () => ({
    metadata: field(ref('meta/v1.ObjectMeta'), 1, 'Metadata for the pods: labels, annotations and so on.'),
    spec: field(ref('core/v1.PodSpec'), 2, 'Desired state of the pods.'),
  })),
  PodVolumeHealth: struct({ since: 37, doc: 'Health of a volume of a pod.' }, () => ({
    name: required(string(), 1, 'Name of the volume within the pod.'),
    healthConditions: healthConditions(2),
    lastTransitionTime: field(time(), 3, 'Time of the last change of the problems.'),
  })),
  PortStatus: struct('State of a port of a load balancer.', () => ({
    port: required(int32(), 1, 'Port number.'),
    protocol: required(ref('core/v1.Protocol'), 2, 'TCP, UDP or SCTP.'),
    error: pointer(string(), 3, 'One word for the problem with the port, if there is one.'),
  })),
  PortworxVolumeSource: struct('A Portworx volume.', () => ({
    volumeID: needed(string(), 1, { required: true, doc: 'Identity of the volume.' }),
    fsType: fsType(2),
    readOnly: field(boolean(), 3, 'Mount read-only. Default: false.'),
  })),
  Preconditions: struct('Values that an object must have for a request to proceed.', () => ({
    uid: pointer(string(), 1, 'Identity that the object must have.'),
  })),
  PreemptionPolicy: () => only(closed('PreemptLowerPriority', 'Never')),
  PreferAvoidPodsEntry: struct('A group of pods that should not be placed on a node if possible.', () => ({
    podSignature: required(ref('core/v1.PodSignature'), 1, 'Selected pods.'),
    evictionTime: field(time(), 2, 'Time at which the entry was added.'),
    reason: field(string(), 3, 'Reason of the entry in one word.'),
    message: field(string(), 4, 'Reason of the entry, for people.'),
  })),
  PreferredSchedulingTerm: struct(
    'A preference for nodes, with a weight. An empty preference matches all nodes and so changes nothing.',
    () => ({
      weight: required(int32(weight), 1, 'Weight of the preference, from 1 to 100.'),
      preference: required(ref('core/v1.NodeSelectorTerm'), 2, 'Nodes that are preferred.'),
    }),
  ),
  Probe: struct('A periodic check of a container. Exactly one method is set.', () => ({
    handler: inline('core/v1.ProbeHandler', 1),
    initialDelaySeconds: field(int32({ min: 0 }), 2, 'Seconds after the start before the first check. Default: 0.'),
    timeoutSeconds: field(int32({ min: 0 }), 3, 'Seconds after which a check has failed. Default: 1. At least 1.'),
    periodSeconds: field(int32({ min: 0 }), 4, 'Seconds between checks. Default: 10. At least 1.'),
    successThreshold: field(int32({ min: 0 }), 5, {
      doc: 'Checks in a row that must succeed after a failure. Default: 1, and it must be 1 for liveness and startup.',
    }),
    failureThreshold: field(int32({ min: 0 }), 6, 'Checks in a row that must fail. Default: 3. At least 1.'),
    terminationGracePeriodSeconds: pointer(int64({ min: 1 }), 7, {
      featureGate: 'ProbeTerminationGracePeriod',
      doc: "Grace period in seconds after the check has failed, instead of the pod's. Not allowed for readiness. At least 1.",
    }),
  })),
  ProbeHandler: struct('A method of checking a container. Exactly one is set.', () => ({
    exec: pointer(ref('core/v1.ExecAction'), 1, 'Run a command in the container.'),
    httpGet: pointer(ref('core/v1.HTTPGetAction'), 2, 'Make an HTTP request.'),
    tcpSocket: pointer(ref('core/v1.TCPSocketAction'), 3, 'Open a TCP connection.'),
    grpc: pointer(ref('core/v1.GRPCAction'), 4, 'Ask the gRPC health service.'),
  })),
  ProcMountType: () => only(closed('Default', 'Unmasked')),
  ProjectedVolumeSource: struct('Several sources in one directory.', () => ({
    sources: atomicSince30(list(ref('core/v1.VolumeProjection')), 1, {
      keepEmpty: true,
      doc: 'The sources. Only one of them may provide each path.',
    }),
    defaultMode: defaultMode(2),
    defaultUser: defaultUser(3),
  })),
  Protocol: () => only(closed('SCTP', 'TCP', 'UDP')),
  PullPolicy: () => only(closed('Always', 'IfNotPresent', 'Never')),
  QuobyteVolumeSource: struct('A Quobyte volume.', () => ({
    registry: required(string(), 1, 'Address of the registries, as host:port, several separated by commas.'),
    volume: required(string(), 2, 'Name of the volume.'),
    readOnly: field(boolean(), 3, 'Mount read-only. Default: false.'),
    user: field(string(), 4, 'User that the volume is mounted as. Default: the user of the service account.'),
    group: field(string(), 5, 'Group that the volume is mounted as. Default: none.'),
    tenant: field(string(), 6, 'Tenant that owns the volume; set by the driver.'),
  })),
  RBDPersistentVolumeSource: rbdVolume('core/v1.SecretReference'),
  RBDVolumeSource: rbdVolume('core/v1.LocalObjectReference'),
  RangeAllocation: object('Allocated numbers of a range. For use inside the server only.', () => ({
    metadata,
    range: required(string(), 2, 'The range, as text, such as a network in CIDR notation.'),
    data: required(bytes(), 3, 'One bit for each number of the range, set if it is taken.'),
  })),
  RecursiveReadOnlyMode: () => known('Disabled', 'IfPossible', 'Enabled'),
  ReplicationController: object('Keeps a number of equal pods running. Newer objects use a ReplicaSet, made by a Deployment.', () => ({
    metadata: field(ref('meta/v1.ObjectMeta'), 1, 'Standard metadata. If labels are empty, they default to those of the pod template.'),
    spec: field(ref('core/v1.ReplicationControllerSpec'), 2, 'Desired number of pods, and their template.'),
    status: field(ref('core/v1.ReplicationControllerStatus'), 3, 'Observed number of pods.'),
  })),
  ReplicationControllerCondition: struct("One aspect of a replication controller's state.", () => ({
    type: required(ref('core/v1.ReplicationControllerConditionType'), 1, 'Aspect that the condition describes, such as ReplicaFailure.'),
    status: required(ref('core/v1.ConditionStatus'), 2, 'True, False or Unknown.'),
    ...lastChange(3),
  })),
  ReplicationControllerConditionType: () => known('ReplicaFailure'),
  ReplicationControllerList: objectList('core/v1.ReplicationController'),
  ReplicationControllerSpec: struct('Desired number of pods, and their template.', () => ({
    replicas: pointer(int32({ min: 0 }), 1, { changes: { 33: { default: 1 } }, doc: 'Number of pods. Default: 1. May be zero.' }),
    minReadySeconds: field(int32({ min: 0 }), 4, {
      changes: { 33: { default: 0 } },
      doc: 'Seconds that a pod must have been ready, with no container crashing, before it counts as available. Default: 0.',
    }),
    selector: needed(map(string()), 2, {
      mapType: 'atomic',
      doc: 'Labels of the pods that are counted. Defaults to the labels of the template, which must match it.',
    }),
    template: needed(ref('core/v1.PodTemplateSpec'), 3, { pointer: true, doc: 'The pod that is made when there are too few.' }),
  })),
  ReplicationControllerStatus: struct('Observed number of pods.', () => ({
    replicas: required(int32({ min: 0 }), 1, 'Number of pods that match the selector.'),
    fullyLabeledReplicas: field(int32({ min: 0 }), 2, 'Number of matching pods with all labels of the template.'),
    readyReplicas: field(int32({ min: 0 }), 4, 'Number of ready pods.'),
    availableReplicas: field(int32({ min: 0 }), 5, 'Number of pods that have been ready for at least minReadySeconds.'),
    observedGeneration: field(int64({ min: 0 }), 3, 'The metadata.generation that the status was derived from.'),
    conditions: mergedSince30('type', list(ref('core/v1.ReplicationControllerCondition')), 6, {
      doc: 'State of the controller by aspect, such as a failure to create pods.',
    }),
  })),
  ResourceClaim: struct({ since: 26, doc: 'An entry of the resource claims of the pod that a container uses.' }, () => ({
    name: required(string(), 1, 'Name of an entry of spec.resourceClaims.'),
    request: field(string(), 2, { since: 31, doc: 'Name of one request of the claim. Empty: all of them.' }),
  })),
  ResourceFieldSelector: atomicStruct('A resource of a container.', () => ({
    containerName: field(string(), 1, 'Name of the container. Required for volumes; otherwise the container itself.'),
    resource: required(string(), 2, 'Resource, such as limits.cpu or requests.memory.'),
    divisor: field(quantity(), 3, 'Unit in which the value is given, rounded up. Default: 1.'),
  })),
  ResourceHealth: struct({ since: 31, doc: 'Health of a device.' }, () => ({
    resourceID: required(string(), 1, 'Identity of the device, unique in its resource.'),
    health: checked(ref('core/v1.ResourceHealthStatus'), 2, 'Healthy, Unhealthy or Unknown.'),
    message: pointer(string(), 6, { ...gated('ResourceHealthStatusMessage'), doc: 'Explanation for people.' }),
  })),
  ResourceHealthStatus: () => only(known('Healthy', 'Unhealthy', 'Unknown')),
  ResourceName: () =>
    known(
      'cpu',
      'memory',
      'storage',
      'ephemeral-storage',
      'pods',
      'services',
      'replicationcontrollers',
      'resourcequotas',
      'secrets',
      'configmaps',
      'persistentvolumeclaims',
      'services.nodeports',
      'services.loadbalancers',
      'requests.cpu',
      'requests.memory',
      'requests.storage',
      'requests.ephemeral-storage',
      'limits.cpu',
      'limits.memory',
      'limits.ephemeral-storage',
    ),
  ResourceQuota: object("Limits the total usage of a namespace's objects.", () => ({
    metadata,
    spec: field(ref('core/v1.ResourceQuotaSpec'), 2, 'The limits.'),
    status: field(ref('core/v1.ResourceQuotaStatus'), 3, 'The limits in force and the usage.'),
  })),
  ResourceQuotaList: objectList('core/v1.ResourceQuota'),
  ResourceQuotaScope: () =>
    valuesByLevel(
      only(
        closed(
          'BestEffort',
          'CrossNamespacePodAffinity',
          'NotBestEffort',
          'NotTerminating',
          'PriorityClass',
          'Terminating',
          'VolumeAttributesClass',
        ),
      ),
      { since: { VolumeAttributesClass: 33 } },
    ),
  ResourceQuotaSpec: struct('Limits for a namespace.', () => ({
    hard: field(map(quantity()), 1, {
      doc: 'Maximum usage, by resource. Numbers of objects are limited by count/plural.group and a few older names.',
    }),
    scopes: atomicSince30(list(ref('core/v1.ResourceQuotaScope')), 2, {
      doc: 'Count only objects to which every scope applies. Empty means all objects.',
    }),
    scopeSelector: pointer(ref('core/v1.ScopeSelector'), 3, 'Like scopes, with operators and values. Both must match.'),
  })),
  ResourceQuotaStatus: struct('The limits in force in a namespace and the usage.', () => ({
    hard: field(map(quantity()), 1, 'The limits in force, by resource.'),
    used: field(map(quantity()), 2, 'Current use in the namespace, by resource.'),
  })),
  ResourceRequirements: struct('Requested and maximum amounts of resources.', () => ({
    limits: field(map(quantity()), 1, 'Maximum usage, by resource.'),
    requests: field(map(quantity()), 2, 'Minimum amounts, by resource. Defaults to the limits.'),
    claims: field(list(ref('core/v1.ResourceClaim')), 3, {
      listType: 'map',
      listMapKeys: ['name'],
      ...gated('DynamicResourceAllocation'),
      doc: 'Entries of spec.resourceClaims of the pod that the container uses. They cannot be changed.',
    }),
  })),
  ResourceResizeRestartPolicy: () => known('NotRequired', 'RestartContainer'),
  ResourceStatus: struct({ since: 31, doc: 'Health of the devices of one resource of a container.' }, () => ({
    name: required(ref('core/v1.ResourceName'), 1, 'Name of the resource, or claim:NAME/REQUEST of a claim.'),
    resources: field(list(ref('core/v1.ResourceHealth'), { uniqueBy: 'resourceID' }), 2, {
      listType: 'map',
      listMapKeys: ['resourceID'],
      doc: 'The devices.',
    }),
  })),
  RestartPolicy: () => only(closed('Always', 'OnFailure', 'Never')),
  SELinuxOptions: struct('An SELinux label.', () => ({
    user: field(string(), 1, 'User part of the label.'),
    role: field(string(), 2, 'Role part of the label.'),
    type: field(string(), 3, 'Type part of the label.'),
    level: field(string(), 4, 'Level part of the label.'),
  })),
  ScaleIOPersistentVolumeSource: scaleIoVolume('core/v1.SecretReference'),
  ScaleIOVolumeSource: scaleIoVolume('core/v1.LocalObjectReference'),
  ScopeSelector: atomicStruct('Selects the objects that a quota counts, by scopes.', () => ({
    matchExpressions: atomicSince30(list(ref('core/v1.ScopedResourceSelectorRequirement')), 1, 'Requirements that must all hold.'),
  })),
  ScopeSelectorOperator: () => only(closed('DoesNotExist', 'Exists', 'In', 'NotIn')),
  ScopedResourceSelectorRequirement: struct('A requirement on one scope.', () => ({
    scopeName: needed(ref('core/v1.ResourceQuotaScope'), 1, {
      required: true,
      doc: 'Scope, such as BestEffort, NotTerminating or PriorityClass.',
    }),
    operator: needed(ref('core/v1.ScopeSelectorOperator'), 2, {
      required: true,
      doc: 'In, NotIn, Exists or DoesNotExist. In and NotIn are for the scope PriorityClass.',
    }),
    values: atomicSince30(list(string()), 3, 'Values to compare with. At least one for In and NotIn, none for Exists and DoesNotExist.'),
  })),
  SeccompProfile: struct({ isUnion: true, doc: 'Profile of allowed system calls.' }, () => ({
    type: required(ref('core/v1.SeccompProfileType'), 1, {
      needed: 'type is required when seccompProfile is set',
      unionDiscriminator: true,
      doc: 'RuntimeDefault (the profile of the runtime), Localhost (a file of the node) or Unconfined (all calls).',
    }),
    localhostProfile: pointer(string(), 2, {
      doc: 'File with the profile, below the profile directory of the node. Required for Localhost, not allowed otherwise.',
    }),
  })),
  SeccompProfileType: () => only(closed('Localhost', 'RuntimeDefault', 'Unconfined')),
  Secret: object('Sensitive values for pods and others to read, by key.', () => ({
    metadata,
    immutable: pointer(boolean(), 5, 'When true, the values may not change, and this cannot be undone. Default: false.'),
    data: field(map(bytes()), 2, 'Values, by key, in base64. Keys are letters, digits, dashes, underscores and dots.'),
    stringData: field(map(string()), 4, 'Values as plain text, by key. On a write they replace values in data. They are never returned.'),
    type: field(string(), 3, {
      doc: 'Purpose of the secret. The server checks that well-known types have their required keys. Default: Opaque. Cannot be changed.',
    }),
  })),
  SecretEnvSource: struct('A secret whose keys become environment variables.', () => ({
    localObjectReference: inline('core/v1.LocalObjectReference', 1),
    optional: pointer(boolean(), 2, 'True if the secret may be missing. Default: false.'),
  })),
  SecretKeySelector: atomicStruct('A key of a secret.', () => ({
    localObjectReference: inline('core/v1.LocalObjectReference', 1),
    key: needed(text('dataKey'), 2, { required: true, doc: 'The key.' }),
    optional: pointer(boolean(), 3, 'True if the secret or the key may be missing. Default: false.'),
  })),
  SecretList: objectList('core/v1.Secret'),
  SecretProjection: struct('The keys of a secret, as files in a projected volume.', () => ({
    localObjectReference: inline('core/v1.LocalObjectReference', 1),
    items: items(2),
    optional: pointer(boolean(), 4, 'True if the secret or its keys may be missing. Default: false.'),
  })),
  SecretReference: atomicStruct('Names a secret, in any namespace.', () => ({
    name: field(string(), 1, 'Name of the secret.'),
    namespace: field(string(), 2, 'Namespace of the secret.'),
  })),
  SecretVolumeSource: struct('The keys of a secret, as files.', () => ({
    secretName: needed(string(), 1, 'Secret of the namespace.'),
    items: items(2),
    defaultMode: defaultMode(3),
    optional: pointer(boolean(), 4, 'True if the secret or its keys may be missing. Default: false.'),
    defaultUser: defaultUser(5),
  })),
  SecurityContext: struct('Security settings of a container. They take precedence over those of the pod.', () => ({
    capabilities: pointer(ref('core/v1.Capabilities'), 1, {
      doc: 'Capabilities to add and to drop. Unset means the default of the runtime. Not for windows.',
    }),
    privileged: pointer(boolean(), 2, 'Run with all rights on the node. Default: false. Not for windows.'),
    seLinuxOptions: pointer(ref('core/v1.SELinuxOptions'), 3, {
      doc: 'SELinux context of the container. Unset lets the runtime pick one. Not for windows.',
    }),
    windowsOptions: pointer(ref('core/v1.WindowsSecurityContextOptions'), 10, 'Settings that only apply on windows.'),
    runAsUser: pointer(int64(identity), 4, 'User id of the processes. Unset means the user of the image. Not for windows.'),
    runAsGroup: pointer(int64(identity), 8, 'Group id of the processes. Unset means the default of the runtime. Not for windows.'),
    runAsNonRoot: pointer(boolean(), 5, 'Refuse to start the container if it would run as user 0. Default: false.'),
    readOnlyRootFilesystem: pointer(boolean(), 6, 'True if the root file system is read-only. Default: false. Not for windows.'),
    allowPrivilegeEscalation: pointer(boolean(), 7, {
      doc: 'True if a process may gain more rights than its parent. Always true if privileged or with CAP_SYS_ADMIN. Not for windows.',
    }),
    procMount: pointer(ref('core/v1.ProcMountType'), 9, {
      featureGate: 'ProcMountType',
      valueWhenOff: 'Default',
      doc: 'View of the proc file system: Default hides parts of it, Unmasked shows all. Not for windows.',
    }),
    seccompProfile: pointer(ref('core/v1.SeccompProfile'), 11, 'System calls that the container may use. Not for windows.'),
    appArmorProfile: pointer(ref('core/v1.AppArmorProfile'), 12, {
      ...gated('AppArmorFields'),
      doc: 'AppArmor settings of the container. Unset: those of the pod.',
    }),
  })),
  SerializedReference: object('A reference to an object, in a form that can be stored as text.', () => ({
    reference: field(ref('core/v1.ObjectReference'), 1, 'The object that is meant.'),
  })),
  Service: object('A name and an address under which a set of pods can be reached.', () => ({
    metadata,
    spec: field(ref('core/v1.ServiceSpec'), 2, 'Desired state of the service.'),
    status: field(ref('core/v1.ServiceStatus'), 3, 'Addresses of the load balancer, if there is one.'),
  })),
  ServiceAccount: object('An identity for programs that run in pods.', () => ({
    metadata,
    secrets: mergedSince30('name', list(ref('core/v1.ObjectReference')), 2, {
      doc: 'Secrets that pods of this account may use. Tokens are no longer added automatically.',
    }),
    imagePullSecrets: atomicSince30(list(ref('core/v1.LocalObjectReference')), 3, {
      doc: 'Secrets for pulling images, added to pods of this account that name none.',
    }),
    automountServiceAccountToken: pointer(boolean(), 4, {
      doc: 'True if a token is mounted into pods of this account. A pod may override it. Default: true.',
    }),
  })),
  ServiceAccountList: objectList('core/v1.ServiceAccount'),
  ServiceAccountTokenProjection: struct("A token of the pod's service account, as a file that is renewed.", () => ({
    audience: field(string(), 1, 'Audiences of the token. A recipient must refuse tokens for other audiences. Default: the server itself.'),
    expirationSeconds: pointer(int64(), 2, {
      doc: 'Requested lifetime in seconds, at least 600. The token is renewed before it expires. Default: 3600.',
    }),
    path: required(string(), 3, "Path of the file, relative and without '..'."),
    user: user(4),
  })),
  ServiceAffinity: () => closed('ClientIP', 'None'),
  ServiceExternalTrafficPolicy: () => closed('Cluster', 'Local'),
  ServiceExternalTrafficPolicyType: () => closed('Cluster', 'Local'),
  ServiceInternalTrafficPolicy: () => only(closed('Cluster', 'Local')),
  ServiceInternalTrafficPolicyType: () => only(closed('Cluster', 'Local')),
  ServiceList: objectList('core/v1.Service'),
  ServicePort: struct('A port of a service.', () => ({
    name: field(text('label'), 1, 'Name of the port, a lower-case DNS label. Needed if there is more than one port.'),
    protocol: needed(ref('core/v1.Protocol'), 2, { default: 'TCP', doc: 'TCP (the default), UDP or SCTP.' }),
    appProtocol: pointer(text('qualifiedName'), 6, {
      doc: 'Protocol of the application: a registered service name, or a name with a domain prefix.',
    }),
    port: required(int32(portNumber), 3, 'Port at which the service accepts traffic.'),
    targetPort: field(intOrString(), 4, 'Port of the pods, by number or by name. Defaults to port. Not used for headless services.'),
    nodePort: field(int32(), 5, 'Port on every node. If it is empty and the type needs one, the server picks it.'),
  })),
  ServiceProxyOptions: object('Options of a request that is proxied to a service.', () => ({
    path: field(string(), 1, 'Path of the request at the service.'),
  })),
  ServiceSpec: struct('Desired state of a service.', () => ({
    ports: merged('port', list(ref('core/v1.ServicePort'), { uniqueBy: 'name' }), 1, {
      listMapKeys: ['port', 'protocol'],
      doc: 'Ports of the service. Required unless it is headless or an ExternalName.',
    }),
    selector: field(labels(), 2, {
      mapType: 'atomic',
      doc: 'Labels of the pods that get the traffic. Without a selector, another client manages the endpoints. Not used for ExternalName.',
    }),
    clusterIP: field(string(), 3, {
      doc: 'Address of the service in the cluster. Empty picks one, None makes the service headless. Cannot be changed in most cases.',
    }),
    clusterIPs: atomic(list(string()), 18, 'Addresses of the service, at most one for each IP family. The first is the same as clusterIP.'),
    type: checked(ref('core/v1.ServiceType'), 4, {
      doc: 'Way of reaching the service: ClusterIP (the default), NodePort, LoadBalancer or ExternalName. NodePort includes ClusterIP, and LoadBalancer includes both.',
    }),
    externalIPs: atomicSince30(list(string()), 5, {
      doc: 'Further addresses at which nodes accept traffic for the service. The user must route the traffic to the nodes.',
    }),
    sessionAffinity: field(ref('core/v1.ServiceAffinity'), 7, {
      doc: 'ClientIP sends a client to the same pod each time; None (the default) does not.',
    }),
    loadBalancerIP: field(string(), 8, 'Deprecated. Requested address of the load balancer; ignored if the provider does not support it.'),
    loadBalancerSourceRanges: atomicSince30(list(string()), 9, {
      doc: 'Networks whose clients the load balancer admits, if the provider supports it.',
    }),
    externalName: field(string(), 10, 'Name that the service is an alias for in DNS. Only for ExternalName; nothing is proxied.'),
    externalTrafficPolicy: field(ref('core/v1.ServiceExternalTrafficPolicyType'), 11, {
      doc: "Traffic from outside: Cluster (the default) spreads it over all nodes, Local keeps it on the node and keeps the client's address.",
    }),
    healthCheckNodePort: field(int32(), 12, {
      doc: 'Port at which load balancers can check if a node has pods of the service. Only for LoadBalancer with Local; the server picks it if empty.',
    }),
    publishNotReadyAddresses: field(boolean(), 13, {
      doc: 'Publishes pods before they are ready, so that members of a group can find each other. Default: false.',
    }),
    sessionAffinityConfig: pointer(ref('core/v1.SessionAffinityConfig'), 14, 'Settings of the session affinity.'),
    ipFamilies: atomic(list(ref('core/v1.IPFamily'), { isUnique: true }), 19, {
      doc: 'IP families of the service: IPv4, IPv6 or both. The server picks them if empty.',
    }),
    ipFamilyPolicy: pointer(ref('core/v1.IPFamilyPolicy'), 17, {
      doc: 'SingleStack (the default), PreferDualStack, or RequireDualStack, which fails on clusters with one family.',
    }),
    allocateLoadBalancerNodePorts: pointer(boolean(), 20, 'True if a LoadBalancer service gets node ports. Default: true.'),
    loadBalancerClass: pointer(string(), 21, {
      featureGate: 'ServiceLoadBalancerClass',
      doc: "Class of the load balancer for this service. Unset means the provider's default. Cannot be changed.",
    }),
    internalTrafficPolicy: pointer(ref('core/v1.ServiceInternalTrafficPolicyType'), 22, {
      featureGate: 'ServiceInternalTrafficPolicy',
      doc: 'Traffic from inside: Cluster (the default) goes to all pods, Local only to pods of the same node.',
    }),
    trafficDistribution: pointer(string(), 23, {
      ...gated('ServiceTrafficDistribution'),
      doc: 'Preference among endpoints: PreferSameZone (or PreferClose, its older name), PreferSameNode. Unset: none.',
    }),
  })),
  ServiceStatus: struct('Observed state of a service.', () => ({
    loadBalancer: field(ref('core/v1.LoadBalancerStatus'), 1, 'State of the load balancer, if there is one.'),
    conditions: merged('type', list(ref('meta/v1.Condition')), 2, 'State of the service by aspect.'),
  })),
  ServiceType: () => only(closed('ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort')),
  SessionAffinityConfig: struct('Settings of a session affinity.', () => ({
    clientIP: pointer(ref('core/v1.ClientIPConfig'), 1, 'Settings of the affinity by client address.'),
  })),
  Signal: () =>
    closed(
      'SIGABRT',
      'SIGALRM',
      'SIGBUS',
      'SIGCHLD',
      'SIGCLD',
      'SIGCONT',
      'SIGFPE',
      'SIGHUP',
      'SIGILL',
      'SIGINT',
      'SIGIO',
      'SIGIOT',
      'SIGKILL',
      'SIGPIPE',
      'SIGPOLL',
      'SIGPROF',
      'SIGPWR',
      'SIGQUIT',
      'SIGSEGV',
      'SIGSTKFLT',
      'SIGSTOP',
      'SIGSYS',
      'SIGTERM',
      'SIGTRAP',
      'SIGTSTP',
      'SIGTTIN',
      'SIGTTOU',
      'SIGURG',
      'SIGUSR1',
      'SIGUSR2',
      'SIGVTALRM',
      'SIGWINCH',
      'SIGXCPU',
      'SIGXFSZ',
      'SIGRTMIN',
      'SIGRTMIN+1',
      'SIGRTMIN+2',
      'SIGRTMIN+3',
      'SIGRTMIN+4',
      'SIGRTMIN+5',
      'SIGRTMIN+6',
      'SIGRTMIN+7',
      'SIGRTMIN+8',
      'SIGRTMIN+9',
      'SIGRTMIN+10',
      'SIGRTMIN+11',
      'SIGRTMIN+12',
      'SIGRTMIN+13',
      'SIGRTMIN+14',
      'SIGRTMIN+15',
      'SIGRTMAX-14',
      'SIGRTMAX-13',
      'SIGRTMAX-12',
      'SIGRTMAX-11',
      'SIGRTMAX-10',
      'SIGRTMAX-9',
      'SIGRTMAX-8',
      'SIGRTMAX-7',
      'SIGRTMAX-6',
      'SIGRTMAX-5',
      'SIGRTMAX-4',
      'SIGRTMAX-3',
      'SIGRTMAX-2',
      'SIGRTMAX-1',
      'SIGRTMAX',
    ),
  SleepAction: struct({ since: 29, doc: 'Sleep as the handler of a lifecycle event.' }, () => ({
    seconds: required(int64(), 1, 'Duration in seconds, at most the grace period.'),
  })),
  StorageMedium: () => known('', 'Memory', 'HugePages', 'HugePages-'),
  StorageOSPersistentVolumeSource: storageOsVolume('core/v1.ObjectReference'),
  StorageOSVolumeSource: storageOsVolume('core/v1.LocalObjectReference'),
  SupplementalGroupsPolicy: () => only(closed('Merge', 'Strict')),
  Sysctl: struct('A kernel setting.', () => ({
    name: needed(string(), 1, { required: true, doc: 'Name of the setting.' }),
    value: required(string(), 2, 'Value of the setting.'),
  })),
  TCPSocketAction: struct('Opens a TCP connection. An established connection means success.', () => ({
    port: required(intOrString({ means: 'port' }), 1, 'Port of the container, by number or by name.'),
    host: field(string(), 2, 'Host to connect to. Default: the address of the pod.'),
  })),
  Taint: struct('A mark on a node that keeps pods away, unless they tolerate it.', () => ({
    key: required(string(), 1, 'Key of the taint.'),
    value: field(string(), 2, 'Value that goes with the key.'),
    effect: required(ref('core/v1.TaintEffect'), 3, {
      doc: 'Effect on pods: NoSchedule (new ones stay away), PreferNoSchedule (if possible), NoExecute (running ones leave too).',
    }),
    timeAdded: pointer(time(), 4, 'Time at which the taint was added. Only set for NoExecute.'),
  })),
  TaintEffect: () => closed('NoSchedule', 'PreferNoSchedule', 'NoExecute'),
  TerminationMessagePolicy: () => only(closed('File', 'FallbackToLogsOnError')),
  Toleration: struct('A taint that a pod accepts.', () => ({
    key: field(string(), 1, 'Key of the taint. Empty, with Exists, means every key.'),
    operator: field(ref('core/v1.TolerationOperator'), 2, 'Equal (the default) compares the value, Exists accepts every value.'),
    value: field(string(), 3, 'Value of the taint. Must be empty for Exists.'),
    effect: field(ref('core/v1.TaintEffect'), 4, {
      doc: 'Effect of the taint: NoSchedule, PreferNoSchedule or NoExecute. Empty means every effect.',
    }),
    tolerationSeconds: pointer(int64(), 5, {
      doc: 'Seconds for which the pod stays despite a NoExecute taint. Unset means for ever; zero or less, not at all.',
    }),
  })),
  TolerationOperator: () => valuesByLevel(closed('Exists', 'Equal', 'Lt', 'Gt'), { since: { Lt: 35, Gt: 35 } }),
  TopologySelectorLabelRequirement: struct('A requirement on one topology label.', () => ({
    key: required(string(), 1, 'Key of the label.'),
    values: atomicSince30(list(string()), 2, { required: true, doc: 'Allowed values of the label.' }),
  })),
  TopologySelectorTerm: atomicStruct(
    'A term of a topology selector. All of its requirements must hold; an empty term matches everything.',
    () => ({
      matchLabelExpressions: atomicSince30(list(ref('core/v1.TopologySelectorLabelRequirement')), 1, 'Requirements on topology labels.'),
    }),
  ),
  TopologySpreadConstraint: struct('Rule for spreading a group of pods over the cluster.', () => ({
    maxSkew: required(int32(aboveZero), 1, 'Greatest difference between the numbers of pods in two topology domains. At least 1.'),
    topologyKey: required(string(), 2, {
      needed: 'can not be empty',
      doc: 'Label of nodes. Nodes with the same value are the same place; nodes without it are left out.',
    }),
    whenUnsatisfiable: checked(ref('core/v1.UnsatisfiableConstraintAction'), 3, {
      required: true,
      doc: 'DoNotSchedule leaves a pod pending if no place fits; ScheduleAnyway uses the best place.',
    }),
    labelSelector: pointer(ref('meta/v1.LabelSelector'), 4, 'Labels of the pods that are counted.'),
    minDomains: pointer(int32(aboveZero), 5, {
      featureGate: 'MinDomainsInPodTopologySpread',
      doc: 'Minimum number of places. While there are fewer, the minimum number of pods per place counts as zero. Only with DoNotSchedule. Unset means 1.',
    }),
    nodeAffinityPolicy: pointer(ref('core/v1.NodeInclusionPolicy'), 6, {
      featureGate: 'NodeInclusionPolicyInPodTopologySpread',
      doc: "Treatment of nodes that the pod's node selector or affinity excludes: Honor (the default) leaves them out, Ignore counts them.",
    }),
    nodeTaintsPolicy: pointer(ref('core/v1.NodeInclusionPolicy'), 7, {
      featureGate: 'NodeInclusionPolicyInPodTopologySpread',
      doc: 'Treatment of nodes with taints that the pod does not tolerate: Honor leaves them out, Ignore (the default) counts them.',
    }),
    matchLabelKeys: atomic(list(string()), 8, {
      featureGate: 'MatchLabelKeysInPodTopologySpread',
      doc: 'Keys of labels; only pods with the same values as the pod itself are counted.',
    }),
  })),
  TypedLocalObjectReference: atomicStruct('Names an object of any kind in the same namespace.', () => ({
    apiGroup: pointer(string(), 1, { keepEmpty: true, doc: 'API group of the object. Unset means the legacy group.' }),
    kind: required(string(), 2, 'Kind of the object.'),
    name: required(string(), 3, 'Name of the object.'),
  })),
  TypedObjectReference: struct({ since: 26, doc: 'A reference to an object, in any namespace.' }, () => ({
    apiGroup: pointer(string(), 1, { keepEmpty: true, doc: 'Group of the kind. Unset: the core group.' }),
    kind: required(string(), 2, 'Kind of the object.'),
    name: required(string(), 3, 'Name of the object.'),
    namespace: pointer(string(), 4, 'Namespace of the object, which must allow the reference. Unset: the same namespace.'),
  })),
  URIScheme: () => only(closed('HTTP', 'HTTPS')),
  UnsatisfiableConstraintAction: () => only(closed('DoNotSchedule', 'ScheduleAnyway')),
  Volume: struct('A volume of a pod. Exactly one kind of storage is set.', () => ({
    name: required(string(), 1, 'Name of the volume, a lower-case DNS label, unique in the pod.'),
    volumeSource: inline('core/v1.VolumeSource', 2),
  })),
  VolumeDevice: struct('Mapping of a raw block volume into a container.', () => ({
    name: required(string(), 1, 'Name of the volume, which must be a claim of mode Block.'),
    devicePath: required(string(), 2, 'Path of the device in the container.'),
  })),
  VolumeHealthCondition: struct({ since: 37, doc: 'A problem of a volume.' }, () => ({
    status: required(ref('core/v1.VolumeHealthStatusType'), 1, 'Inaccessible, DataLoss or Degraded.'),
    reason: required(string(), 2, 'Cause as one word in CamelCase.'),
    message: field(string(), 3, 'Explanation for people.'),
  })),
  VolumeHealthStatus: struct({ since: 37, doc: 'Health of a volume.' }, () => ({
    healthConditions: healthConditions(1),
    lastTransitionTime: field(time(), 2, 'Time of the last change of the problems.'),
  })),
  VolumeHealthStatusType: () => closed('Inaccessible', 'DataLoss', 'Degraded'),
  VolumeMount: struct('Mount of a volume in a container.', () => ({
    name: required(string(), 1, 'Name of the volume.'),
    readOnly: field(boolean(), 2, 'Mount read-only. Default: false.'),
    recursiveReadOnly: pointer(ref('core/v1.RecursiveReadOnlyMode'), 7, {
      ...gated('RecursiveReadOnlyMounts'),
      doc: 'Read-only mounts below: Disabled (the default), IfPossible or Enabled. Needs readOnly and no propagation.',
    }),
    mountPath: required(string(), 3, 'Path in the container. May not contain a colon.'),
    subPath: field(string(), 4, 'Path in the volume that is mounted. Default: its root.'),
    mountPropagation: pointer(ref('core/v1.MountPropagationMode'), 5, {
      doc: 'Propagation of later mounts: None (the default), HostToContainer or Bidirectional.',
    }),
    subPathExpr: field(string(), 6, 'Like subPath, with $(NAME) for environment variables. Not together with subPath.'),
    bindMountOptions: field(list(string()), 8, {
      listType: 'set',
      ...gated('VolumeBindMountOptions'),
      doc: 'Options of the mount: noexec, nodev and nosuid.',
    }),
  })),
  VolumeMountStatus: struct({ since: 30, doc: 'State of the mount of a volume.' }, () => ({
    name: required(string(), 1, 'Name of the volume.'),
    mountPath: required(string(), 2, 'Path within the container.'),
    readOnly: field(boolean(), 3, 'True if the mount is read-only.'),
    recursiveReadOnly: pointer(ref('core/v1.RecursiveReadOnlyMode'), 4, 'Disabled or Enabled: the actual mode. Only for read-only mounts.'),
    volumeStatus: pointer(ref('core/v1.VolumeStatus'), 5, { since: 36, doc: 'State of the volume.' }),
  })),
  VolumeNodeAffinity: struct('Limits the nodes that can access a volume.', () => ({
    required: pointer(ref('core/v1.NodeSelector'), 1, {
      needed: 'must specify required node constraints',
      doc: 'Selector that the nodes must match.',
    }),
  })),
  VolumeProjection: struct('A source of a projected volume. Exactly one is set.', () => ({
    secret: pointer(ref('core/v1.SecretProjection'), 1, 'Keys of a secret.'),
    downwardAPI: pointer(ref('core/v1.DownwardAPIProjection'), 2, 'Fields of the pod.'),
    configMap: pointer(ref('core/v1.ConfigMapProjection'), 3, 'Keys of a ConfigMap.'),
    serviceAccountToken: pointer(ref('core/v1.ServiceAccountTokenProjection'), 4, "A token of the pod's service account."),
    clusterTrustBundle: pointer(ref('core/v1.ClusterTrustBundleProjection'), 5, {
      ...gated('ClusterTrustBundleProjection'),
      doc: 'Certificates of trust bundles.',
    }),
    podCertificate: pointer(ref('core/v1.PodCertificateProjection'), 6, {
      ...gated('PodCertificateRequest'),
      doc: 'A private key and a certificate of the pod.',
    }),
  })),
  VolumeResourceRequirements: struct({ since: 29, doc: 'Amounts of storage that a claim requests.' }, () => ({
    limits: field(map(quantity()), 1, 'Largest amount, by resource.'),
    requests: field(map(quantity()), 2, 'Smallest amount, by resource.'),
  })),
  VolumeSource: struct('The storage behind a volume. Exactly one kind is set.', () => ({
    hostPath: pointer(ref('core/v1.HostPathVolumeSource'), 1, {
      doc: 'A file or directory of the node. It gives pods access to the node itself; most pods do not need it.',
    }),
    emptyDir: pointer(ref('core/v1.EmptyDirVolumeSource'), 2, 'An empty directory that lives as long as the pod.'),
    gcePersistentDisk: pointer(ref('core/v1.GCEPersistentDiskVolumeSource'), 3, 'A disk of Google Compute Engine.'),
    awsElasticBlockStore: pointer(ref('core/v1.AWSElasticBlockStoreVolumeSource'), 4, 'A disk of AWS Elastic Block Store.'),
    gitRepo: pointer(ref('core/v1.GitRepoVolumeSource'), 5, 'Deprecated. A directory with a checked out repository.'),
    secret: pointer(ref('core/v1.SecretVolumeSource'), 6, 'The keys of a secret, as files.'),
    nfs: pointer(ref('core/v1.NFSVolumeSource'), 7, 'A directory of an NFS server.'),
    iscsi: pointer(ref('core/v1.ISCSIVolumeSource'), 8, 'A disk reached over iSCSI.'),
    glusterfs: pointer(ref('core/v1.GlusterfsVolumeSource'), 9, 'A Glusterfs volume.'),
    persistentVolumeClaim: pointer(ref('core/v1.PersistentVolumeClaimVolumeSource'), 10, {
      doc: 'The volume that is bound to a claim of the namespace.',
    }),
    rbd: pointer(ref('core/v1.RBDVolumeSource'), 11, 'A block device of a Ceph cluster.'),
    flexVolume: pointer(ref('core/v1.FlexVolumeSource'), 12, 'Deprecated. A volume made by a program on the node.'),
    cinder: pointer(ref('core/v1.CinderVolumeSource'), 13, 'A disk of OpenStack Cinder.'),
    cephfs: pointer(ref('core/v1.CephFSVolumeSource'), 14, 'A Ceph file system.'),
    flocker: pointer(ref('core/v1.FlockerVolumeSource'), 15, 'A volume of the Flocker control service.'),
    downwardAPI: pointer(ref('core/v1.DownwardAPIVolumeSource'), 16, 'Fields of the pod, as files.'),
    fc: pointer(ref('core/v1.FCVolumeSource'), 17, 'A disk reached over Fibre Channel.'),
    azureFile: pointer(ref('core/v1.AzureFileVolumeSource'), 18, 'A file share of Azure.'),
    configMap: pointer(ref('core/v1.ConfigMapVolumeSource'), 19, 'The keys of a ConfigMap, as files.'),
    vsphereVolume: pointer(ref('core/v1.VsphereVirtualDiskVolumeSource'), 20, 'A disk of vSphere.'),
    quobyte: pointer(ref('core/v1.QuobyteVolumeSource'), 21, 'A Quobyte volume.'),
    azureDisk: pointer(ref('core/v1.AzureDiskVolumeSource'), 22, 'A data disk of Azure.'),
    photonPersistentDisk: pointer(ref('core/v1.PhotonPersistentDiskVolumeSource'), 23, 'A disk of the Photon controller.'),
    projected: pointer(ref('core/v1.ProjectedVolumeSource'), 26, 'Several sources in one directory.'),
    portworxVolume: pointer(ref('core/v1.PortworxVolumeSource'), 24, 'A Portworx volume.'),
    scaleIO: pointer(ref('core/v1.ScaleIOVolumeSource'), 25, 'A ScaleIO volume.'),
    storageos: pointer(ref('core/v1.StorageOSVolumeSource'), 27, 'A StorageOS volume.'),
    csi: pointer(ref('core/v1.CSIVolumeSource'), 28, 'Storage of a volume driver installed in the cluster.'),
    ephemeral: pointer(ref('core/v1.EphemeralVolumeSource'), 29, 'A volume made for the pod by a claim and deleted with it.'),
    image: pointer(ref('core/v1.ImageVolumeSource'), 30, {
      featureGate: 'ImageVolume',
      dropsPart: 'always',
      since: 31,
      doc: 'Files of an OCI image or artifact, read-only.',
    }),
  })),
  VolumeStatus: struct({ since: 36, doc: 'State of a volume of a container.' }, () => ({
    image: pointer(ref('core/v1.ImageVolumeStatus'), 1, { featureGate: 'ImageVolumeWithDigest', doc: 'State of an image volume.' }),
  })),
  VsphereVirtualDiskVolumeSource: struct('A disk of vSphere.', () => ({
    volumePath: needed(string(), 1, { required: true, doc: 'Path of the disk.' }),
    fsType: fsType(2),
    storagePolicyName: field(string(), 3, 'Name of the storage policy.'),
    storagePolicyID: field(string(), 4, 'Identity of the storage policy.'),
  })),
  WeightedPodAffinityTerm: struct('A term with a weight.', () => ({
    weight: required(int32(weight), 1, 'Weight of the term, from 1 to 100.'),
    podAffinityTerm: required(ref('core/v1.PodAffinityTerm'), 2, 'The term.'),
  })),
  WindowsSecurityContextOptions: struct('Security settings on windows.', () => ({
    gmsaCredentialSpecName: pointer(text('subdomain'), 1, 'Name of the credential specification of a group managed service account.'),
    gmsaCredentialSpec: pointer(string(), 2, 'The credential specification itself, filled in from its name.'),
    runAsUserName: pointer(string(), 3, 'User that the processes run as. Unset means the user of the image.'),
    hostProcess: pointer(boolean(), 4, {
      doc: 'Run in the namespaces of the node. All containers of a pod must agree, and hostNetwork must be set. Default: false.',
    }),
  })),
  WorkloadReference: struct({ since: 35, until: 35, doc: 'A reference to a group of pods in a Workload.' }, () => ({
    name: required(string(), 1, 'Name of the Workload in the namespace of the pod.'),
    podGroup: required(string(), 2, 'Name of the group in it.'),
    podGroupReplicaKey: field(string(), 3, 'Key that distinguishes replicas of the group.'),
  })),
})

/** The fields of all containers. */
function containerMembers() {
  return {
    name: needed(text('label'), 1, {
      required: true,
      doc: 'Name of the container, a lower-case DNS label, unique in the pod. Cannot be changed.',
    }),
    image: needed(string(), 2, 'Image that is run. Controllers may fill it in later.'),
    command: atomicSince30(list(string()), 3, {
      doc: 'Program to run, not in a shell. Unset means the entry point of the image. $(NAME) is replaced by the variable, $$ by one dollar.',
    }),
    args: atomicSince30(list(string()), 4, {
      doc: 'Arguments of the program. Unset means those of the image. $(NAME) is replaced by the variable, $$ by one dollar.',
    }),
    workingDir: field(string(), 5, 'Directory in which the program starts. Unset means the default of the image or the runtime.'),
    ports: merged('containerPort', list(ref('core/v1.ContainerPort'), { uniqueBy: 'name', comparesSound: true }), 6, {
      listMapKeys: ['containerPort', 'protocol'],
      doc: 'Ports that the container listens on. For information mostly: other ports can be reached too.',
    }),
    envFrom: atomicSince30(list(ref('core/v1.EnvFromSource')), 19, {
      doc: 'Objects whose keys become environment variables. Later objects take precedence, and env takes precedence over all.',
    }),
    env: mergedSince30('name', list(ref('core/v1.EnvVar')), 7, 'Environment variables.'),
    resources: field(ref('core/v1.ResourceRequirements'), 8, 'Requests and limits of the container. Cannot be changed.'),
    resizePolicy: atomic(list(ref('core/v1.ContainerResizePolicy')), 23, {
      ...gated('InPlacePodVerticalScaling'),
      doc: 'Policies for a change of resources while the container runs, by resource.',
    }),
    restartPolicy: pointer(ref('core/v1.ContainerRestartPolicy'), 24, {
      ...gated('SidecarContainers'),
      keptWhenOff: (_value, list) => list !== 'initContainers',
      changes: {
        34: { featureGate: 'ContainerRestartRules', keptWhenOff: (value, list) => list === 'initContainers' && value === 'Always' },
      },
      doc: 'Restart policy of this container. Always makes an init container a sidecar. Unset: that of the pod.',
    }),
    restartPolicyRules: atomic(list(ref('core/v1.ContainerRestartRule')), 25, {
      ...gated('ContainerRestartRules'),
      doc: 'Rules about the end of the container, in order, at most 20. The first match decides; without a match, restartPolicy decides.',
    }),
    volumeMounts: mergedSince30('mountPath', list(ref('core/v1.VolumeMount')), 9, 'Volumes that are mounted into the container.'),
    volumeDevices: mergedSince30('devicePath', list(ref('core/v1.VolumeDevice')), 21, 'Volumes that the container gets as bare devices.'),
    livenessProbe: pointer(ref('core/v1.Probe'), 10, 'Check that the container works. It is started again when the check fails.'),
    readinessProbe: pointer(ref('core/v1.Probe'), 11, {
      doc: 'Check that the container can take traffic. While it fails, services send the pod no traffic.',
    }),
    startupProbe: pointer(ref('core/v1.Probe'), 22, {
      doc: 'Check that the container has started. Other checks wait for it; the container is started again when it fails.',
    }),
    lifecycle: pointer(ref('core/v1.Lifecycle'), 12, 'Actions after the container starts and before it ends.'),
    terminationMessagePath: field(string(), 13, {
      doc: 'File whose text becomes the message of the ended container; at most 4096 bytes. Default: /dev/termination-log.',
    }),
    terminationMessagePolicy: needed(ref('core/v1.TerminationMessagePolicy'), 20, {
      doc: 'File (the default) takes the message from the file; FallbackToLogsOnError takes the last lines of the log if that is empty.',
    }),
    imagePullPolicy: needed(ref('core/v1.PullPolicy'), 14, {
      doc: 'Pull policy of the image: Always, IfNotPresent or Never. Default: Always for the tag latest, otherwise IfNotPresent.',
    }),
    securityContext: pointer(ref('core/v1.SecurityContext'), 15, 'Security settings. They take precedence over those of the pod.'),
    stdin: field(boolean(), 16, 'Keeps the standard input open. Otherwise, reading it gives the end of file at once. Default: false.'),
    stdinOnce: field(boolean(), 17, 'Closes the standard input after the first client has disconnected. Default: false.'),
    tty: field(boolean(), 18, 'Give the container a terminal. Needs stdin. Default: false.'),
  }
}
