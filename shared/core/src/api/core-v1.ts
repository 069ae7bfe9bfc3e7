import {
  boolean,
  bytes,
  closed,
  defineTypes,
  field,
  inline,
  int32,
  int64,
  intOrString,
  known,
  list,
  map,
  microTime,
  object,
  quantity,
  raw,
  ref,
  string,
  struct,
  time,
} from '../schema/define.ts'

/** The types of core/v1: one definition each, read by everything that knows a type. */
export const coreV1 = defineTypes({
  AWSElasticBlockStoreVolumeSource: () =>
    struct({
      volumeID: field(string(), { tag: 1, required: true }),
      fsType: field(string(), { tag: 2 }),
      partition: field(int32(), { tag: 3 }),
      readOnly: field(boolean(), { tag: 4 }),
    }),
  Affinity: () =>
    struct({
      nodeAffinity: field(ref('core/v1.NodeAffinity'), { tag: 1, pointer: true }),
      podAffinity: field(ref('core/v1.PodAffinity'), { tag: 2, pointer: true }),
      podAntiAffinity: field(ref('core/v1.PodAntiAffinity'), { tag: 3, pointer: true }),
    }),
  AttachedVolume: () =>
    struct({
      name: field(string(), { tag: 1, required: true }),
      devicePath: field(string(), { tag: 2, required: true }),
    }),
  AvoidPods: () =>
    struct({
      preferAvoidPods: field(list(ref('core/v1.PreferAvoidPodsEntry')), { tag: 1 }),
    }),
  AzureDataDiskCachingMode: () => closed('None', 'ReadOnly', 'ReadWrite'),
  AzureDataDiskKind: () => closed('Shared', 'Dedicated', 'Managed'),
  AzureDiskVolumeSource: () =>
    struct({
      diskName: field(string(), { tag: 1, required: true }),
      diskURI: field(string(), { tag: 2, required: true }),
      cachingMode: field(ref('core/v1.AzureDataDiskCachingMode'), { tag: 3, pointer: true }),
      fsType: field(string(), { tag: 4, pointer: true }),
      readOnly: field(boolean(), { tag: 5, pointer: true }),
      kind: field(ref('core/v1.AzureDataDiskKind'), { tag: 6, pointer: true }),
    }),
  AzureFilePersistentVolumeSource: () =>
    struct({
      secretName: field(string(), { tag: 1, required: true }),
      shareName: field(string(), { tag: 2, required: true }),
      readOnly: field(boolean(), { tag: 3 }),
      secretNamespace: field(string(), { tag: 4, keepEmpty: true, pointer: true }),
    }),
  AzureFileVolumeSource: () =>
    struct({
      secretName: field(string(), { tag: 1, required: true }),
      shareName: field(string(), { tag: 2, required: true }),
      readOnly: field(boolean(), { tag: 3 }),
    }),
  Binding: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      target: field(ref('core/v1.ObjectReference'), { tag: 2, required: true }),
    }),
  CSIPersistentVolumeSource: () =>
    struct({
      driver: field(string(), { tag: 1, required: true }),
      volumeHandle: field(string(), { tag: 2, required: true }),
      readOnly: field(boolean(), { tag: 3 }),
      fsType: field(string(), { tag: 4 }),
      volumeAttributes: field(map(string()), { tag: 5 }),
      controllerPublishSecretRef: field(ref('core/v1.SecretReference'), { tag: 6, pointer: true }),
      nodeStageSecretRef: field(ref('core/v1.SecretReference'), { tag: 7, pointer: true }),
      nodePublishSecretRef: field(ref('core/v1.SecretReference'), { tag: 8, pointer: true }),
      controllerExpandSecretRef: field(ref('core/v1.SecretReference'), { tag: 9, pointer: true }),
      nodeExpandSecretRef: field(ref('core/v1.SecretReference'), { tag: 10, pointer: true }),
    }),
  CSIVolumeSource: () =>
    struct({
      driver: field(string(), { tag: 1, required: true }),
      readOnly: field(boolean(), { tag: 2, pointer: true }),
      fsType: field(string(), { tag: 3, pointer: true }),
      volumeAttributes: field(map(string()), { tag: 4 }),
      nodePublishSecretRef: field(ref('core/v1.LocalObjectReference'), { tag: 5, pointer: true }),
    }),
  Capabilities: () =>
    struct({
      add: field(list(string()), { tag: 1 }),
      drop: field(list(string()), { tag: 2 }),
    }),
  CephFSPersistentVolumeSource: () =>
    struct({
      monitors: field(list(string()), { tag: 1, required: true }),
      path: field(string(), { tag: 2 }),
      user: field(string(), { tag: 3 }),
      secretFile: field(string(), { tag: 4 }),
      secretRef: field(ref('core/v1.SecretReference'), { tag: 5, pointer: true }),
      readOnly: field(boolean(), { tag: 6 }),
    }),
  CephFSVolumeSource: () =>
    struct({
      monitors: field(list(string()), { tag: 1, required: true }),
      path: field(string(), { tag: 2 }),
      user: field(string(), { tag: 3 }),
      secretFile: field(string(), { tag: 4 }),
      secretRef: field(ref('core/v1.LocalObjectReference'), { tag: 5, pointer: true }),
      readOnly: field(boolean(), { tag: 6 }),
    }),
  CinderPersistentVolumeSource: () =>
    struct({
      volumeID: field(string(), { tag: 1, required: true }),
      fsType: field(string(), { tag: 2 }),
      readOnly: field(boolean(), { tag: 3 }),
      secretRef: field(ref('core/v1.SecretReference'), { tag: 4, pointer: true }),
    }),
  CinderVolumeSource: () =>
    struct({
      volumeID: field(string(), { tag: 1, required: true }),
      fsType: field(string(), { tag: 2 }),
      readOnly: field(boolean(), { tag: 3 }),
      secretRef: field(ref('core/v1.LocalObjectReference'), { tag: 4, pointer: true }),
    }),
  ClientIPConfig: () =>
    struct({
      timeoutSeconds: field(int32(), { tag: 1, pointer: true }),
    }),
  ComponentCondition: () =>
    struct({
      type: field(ref('core/v1.ComponentConditionType'), { tag: 1, required: true, doc: 'What the condition is about.' }),
      status: field(ref('core/v1.ConditionStatus'), { tag: 2, required: true, doc: 'True, False or Unknown.' }),
      message: field(string(), { tag: 3, doc: 'Details of the last change, for people.' }),
      error: field(string(), { tag: 4 }),
    }),
  ComponentConditionType: () => known('Healthy'),
  ComponentStatus: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      conditions: field(list(ref('core/v1.ComponentCondition')), { tag: 2, patchStrategy: 'merge', patchMergeKey: 'type' }),
    }),
  ComponentStatusList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('core/v1.ComponentStatus')), { tag: 2, required: true, doc: 'The ComponentStatus objects of the list.' }),
      },
      { doc: 'A list of ComponentStatus objects.' },
    ),
  ConditionStatus: () => known('True', 'False', 'Unknown'),
  ConfigMap: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      immutable: field(boolean(), { tag: 4, pointer: true }),
      data: field(map(string()), { tag: 2 }),
      binaryData: field(map(bytes()), { tag: 3 }),
    }),
  ConfigMapEnvSource: () =>
    struct({
      localObjectReference: inline('core/v1.LocalObjectReference', { tag: 1 }),
      optional: field(boolean(), { tag: 2, pointer: true }),
    }),
  ConfigMapKeySelector: () =>
    struct(
      {
        localObjectReference: inline('core/v1.LocalObjectReference', { tag: 1 }),
        key: field(string(), { tag: 2, required: true }),
        optional: field(boolean(), { tag: 3, pointer: true }),
      },
      { structType: 'atomic' },
    ),
  ConfigMapList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('core/v1.ConfigMap')), { tag: 2, required: true, doc: 'The ConfigMap objects of the list.' }),
      },
      { doc: 'A list of ConfigMap objects.' },
    ),
  ConfigMapNodeConfigSource: () =>
    struct({
      namespace: field(string(), { tag: 1, required: true }),
      name: field(string(), { tag: 2, required: true }),
      uid: field(string(), { tag: 3 }),
      resourceVersion: field(string(), { tag: 4 }),
      kubeletConfigKey: field(string(), { tag: 5, required: true }),
    }),
  ConfigMapProjection: () =>
    struct({
      localObjectReference: inline('core/v1.LocalObjectReference', { tag: 1 }),
      items: field(list(ref('core/v1.KeyToPath')), { tag: 2 }),
      optional: field(boolean(), { tag: 4, pointer: true }),
    }),
  ConfigMapVolumeSource: () =>
    struct({
      localObjectReference: inline('core/v1.LocalObjectReference', { tag: 1 }),
      items: field(list(ref('core/v1.KeyToPath')), { tag: 2 }),
      defaultMode: field(int32(), { tag: 3, pointer: true }),
      optional: field(boolean(), { tag: 4, pointer: true }),
    }),
  Container: () =>
    struct({
      name: field(string(), { tag: 1, required: true }),
      image: field(string(), { tag: 2 }),
      command: field(list(string()), { tag: 3 }),
      args: field(list(string()), { tag: 4 }),
      workingDir: field(string(), { tag: 5 }),
      ports: field(list(ref('core/v1.ContainerPort')), {
        tag: 6,
        patchStrategy: 'merge',
        patchMergeKey: 'containerPort',
        listType: 'map',
        listMapKeys: ['containerPort', 'protocol'],
      }),
      envFrom: field(list(ref('core/v1.EnvFromSource')), { tag: 19 }),
      env: field(list(ref('core/v1.EnvVar')), { tag: 7, patchStrategy: 'merge', patchMergeKey: 'name' }),
      resources: field(ref('core/v1.ResourceRequirements'), { tag: 8 }),
      volumeMounts: field(list(ref('core/v1.VolumeMount')), { tag: 9, patchStrategy: 'merge', patchMergeKey: 'mountPath' }),
      volumeDevices: field(list(ref('core/v1.VolumeDevice')), { tag: 21, patchStrategy: 'merge', patchMergeKey: 'devicePath' }),
      livenessProbe: field(ref('core/v1.Probe'), { tag: 10, pointer: true }),
      readinessProbe: field(ref('core/v1.Probe'), { tag: 11, pointer: true }),
      startupProbe: field(ref('core/v1.Probe'), { tag: 22, pointer: true }),
      lifecycle: field(ref('core/v1.Lifecycle'), { tag: 12, pointer: true }),
      terminationMessagePath: field(string(), { tag: 13 }),
      terminationMessagePolicy: field(ref('core/v1.TerminationMessagePolicy'), { tag: 20 }),
      imagePullPolicy: field(ref('core/v1.PullPolicy'), { tag: 14 }),
      securityContext: field(ref('core/v1.SecurityContext'), { tag: 15, pointer: true }),
      stdin: field(boolean(), { tag: 16 }),
      stdinOnce: field(boolean(), { tag: 17 }),
      tty: field(boolean(), { tag: 18 }),
    }),
  ContainerImage: () =>
    struct({
      names: field(list(string()), { tag: 1, keepEmpty: true }),
      sizeBytes: field(int64(), { tag: 2 }),
    }),
  ContainerPort: () =>
    struct({
      name: field(string(), { tag: 1 }),
      hostPort: field(int32(), { tag: 2 }),
      containerPort: field(int32(), { tag: 3, required: true }),
      protocol: field(ref('core/v1.Protocol'), { tag: 4, default: 'TCP' }),
      hostIP: field(string(), { tag: 5 }),
    }),
  ContainerState: () =>
    struct({
      waiting: field(ref('core/v1.ContainerStateWaiting'), { tag: 1, pointer: true }),
      running: field(ref('core/v1.ContainerStateRunning'), { tag: 2, pointer: true }),
      terminated: field(ref('core/v1.ContainerStateTerminated'), { tag: 3, pointer: true }),
    }),
  ContainerStateRunning: () =>
    struct({
      startedAt: field(time(), { tag: 1 }),
    }),
  ContainerStateTerminated: () =>
    struct({
      exitCode: field(int32(), { tag: 1, required: true }),
      signal: field(int32(), { tag: 2 }),
      reason: field(string(), { tag: 3 }),
      message: field(string(), { tag: 4 }),
      startedAt: field(time(), { tag: 5 }),
      finishedAt: field(time(), { tag: 6 }),
      containerID: field(string(), { tag: 7 }),
    }),
  ContainerStateWaiting: () =>
    struct({
      reason: field(string(), { tag: 1 }),
      message: field(string(), { tag: 2 }),
    }),
  ContainerStatus: () =>
    struct({
      name: field(string(), { tag: 1, required: true }),
      state: field(ref('core/v1.ContainerState'), { tag: 2 }),
      lastState: field(ref('core/v1.ContainerState'), { tag: 3 }),
      ready: field(boolean(), { tag: 4, required: true }),
      restartCount: field(int32(), { tag: 5, required: true }),
      image: field(string(), { tag: 6, required: true }),
      imageID: field(string(), { tag: 7, required: true }),
      containerID: field(string(), { tag: 8 }),
      started: field(boolean(), { tag: 9, pointer: true }),
    }),
  DNSPolicy: () => closed('ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'),
  DaemonEndpoint: () =>
    struct({
      Port: field(int32(), { tag: 1, required: true }),
    }),
  DownwardAPIProjection: () =>
    struct({
      items: field(list(ref('core/v1.DownwardAPIVolumeFile')), { tag: 1 }),
    }),
  DownwardAPIVolumeFile: () =>
    struct({
      path: field(string(), { tag: 1, required: true }),
      fieldRef: field(ref('core/v1.ObjectFieldSelector'), { tag: 2, pointer: true }),
      resourceFieldRef: field(ref('core/v1.ResourceFieldSelector'), { tag: 3, pointer: true }),
      mode: field(int32(), { tag: 4, pointer: true }),
    }),
  DownwardAPIVolumeSource: () =>
    struct({
      items: field(list(ref('core/v1.DownwardAPIVolumeFile')), { tag: 1 }),
      defaultMode: field(int32(), { tag: 2, pointer: true }),
    }),
  EmptyDirVolumeSource: () =>
    struct({
      medium: field(ref('core/v1.StorageMedium'), { tag: 1 }),
      sizeLimit: field(quantity(), { tag: 2, pointer: true }),
    }),
  EndpointAddress: () =>
    struct(
      {
        ip: field(string(), { tag: 1, required: true }),
        hostname: field(string(), { tag: 3 }),
        nodeName: field(string(), { tag: 4, pointer: true }),
        targetRef: field(ref('core/v1.ObjectReference'), { tag: 2, pointer: true }),
      },
      { structType: 'atomic' },
    ),
  EndpointPort: () =>
    struct(
      {
        name: field(string(), { tag: 1 }),
        port: field(int32(), { tag: 2, required: true }),
        protocol: field(ref('core/v1.Protocol'), { tag: 3 }),
        appProtocol: field(string(), { tag: 4, pointer: true }),
      },
      { structType: 'atomic' },
    ),
  EndpointSubset: () =>
    struct({
      addresses: field(list(ref('core/v1.EndpointAddress')), { tag: 1 }),
      notReadyAddresses: field(list(ref('core/v1.EndpointAddress')), { tag: 2 }),
      ports: field(list(ref('core/v1.EndpointPort')), { tag: 3 }),
    }),
  Endpoints: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      subsets: field(list(ref('core/v1.EndpointSubset')), { tag: 2 }),
    }),
  EndpointsList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('core/v1.Endpoints')), { tag: 2, required: true, doc: 'The Endpoints objects of the list.' }),
      },
      { doc: 'A list of Endpoints objects.' },
    ),
  EnvFromSource: () =>
    struct({
      prefix: field(string(), { tag: 1 }),
      configMapRef: field(ref('core/v1.ConfigMapEnvSource'), { tag: 2, pointer: true }),
      secretRef: field(ref('core/v1.SecretEnvSource'), { tag: 3, pointer: true }),
    }),
  EnvVar: () =>
    struct({
      name: field(string(), { tag: 1, required: true }),
      value: field(string(), { tag: 2 }),
      valueFrom: field(ref('core/v1.EnvVarSource'), { tag: 3, pointer: true }),
    }),
  EnvVarSource: () =>
    struct({
      fieldRef: field(ref('core/v1.ObjectFieldSelector'), { tag: 1, pointer: true }),
      resourceFieldRef: field(ref('core/v1.ResourceFieldSelector'), { tag: 2, pointer: true }),
      configMapKeyRef: field(ref('core/v1.ConfigMapKeySelector'), { tag: 3, pointer: true }),
      secretKeyRef: field(ref('core/v1.SecretKeySelector'), { tag: 4, pointer: true }),
    }),
  EphemeralContainer: () =>
    struct({
      ephemeralContainerCommon: inline('core/v1.EphemeralContainerCommon', { tag: 1 }),
      targetContainerName: field(string(), { tag: 2 }),
    }),
  EphemeralContainerCommon: () =>
    struct({
      name: field(string(), { tag: 1, required: true }),
      image: field(string(), { tag: 2 }),
      command: field(list(string()), { tag: 3 }),
      args: field(list(string()), { tag: 4 }),
      workingDir: field(string(), { tag: 5 }),
      ports: field(list(ref('core/v1.ContainerPort')), {
        tag: 6,
        patchStrategy: 'merge',
        patchMergeKey: 'containerPort',
        listType: 'map',
        listMapKeys: ['containerPort', 'protocol'],
      }),
      envFrom: field(list(ref('core/v1.EnvFromSource')), { tag: 19 }),
      env: field(list(ref('core/v1.EnvVar')), { tag: 7, patchStrategy: 'merge', patchMergeKey: 'name' }),
      resources: field(ref('core/v1.ResourceRequirements'), { tag: 8 }),
      volumeMounts: field(list(ref('core/v1.VolumeMount')), { tag: 9, patchStrategy: 'merge', patchMergeKey: 'mountPath' }),
      volumeDevices: field(list(ref('core/v1.VolumeDevice')), { tag: 21, patchStrategy: 'merge', patchMergeKey: 'devicePath' }),
      livenessProbe: field(ref('core/v1.Probe'), { tag: 10, pointer: true }),
      readinessProbe: field(ref('core/v1.Probe'), { tag: 11, pointer: true }),
      startupProbe: field(ref('core/v1.Probe'), { tag: 22, pointer: true }),
      lifecycle: field(ref('core/v1.Lifecycle'), { tag: 12, pointer: true }),
      terminationMessagePath: field(string(), { tag: 13 }),
      terminationMessagePolicy: field(ref('core/v1.TerminationMessagePolicy'), { tag: 20 }),
      imagePullPolicy: field(ref('core/v1.PullPolicy'), { tag: 14 }),
      securityContext: field(ref('core/v1.SecurityContext'), { tag: 15, pointer: true }),
      stdin: field(boolean(), { tag: 16 }),
      stdinOnce: field(boolean(), { tag: 17 }),
      tty: field(boolean(), { tag: 18 }),
    }),
  EphemeralVolumeSource: () =>
    struct({
      volumeClaimTemplate: field(ref('core/v1.PersistentVolumeClaimTemplate'), { tag: 1, pointer: true }),
    }),
  Event: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        required: true,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      involvedObject: field(ref('core/v1.ObjectReference'), { tag: 2, required: true }),
      reason: field(string(), { tag: 3 }),
      message: field(string(), { tag: 4 }),
      source: field(ref('core/v1.EventSource'), { tag: 5 }),
      firstTimestamp: field(time(), { tag: 6 }),
      lastTimestamp: field(time(), { tag: 7 }),
      count: field(int32(), { tag: 8 }),
      type: field(string(), { tag: 9 }),
      eventTime: field(microTime(), { tag: 10 }),
      series: field(ref('core/v1.EventSeries'), { tag: 11, pointer: true }),
      action: field(string(), { tag: 12 }),
      related: field(ref('core/v1.ObjectReference'), { tag: 13, pointer: true }),
      reportingComponent: field(string(), { tag: 14, keepEmpty: true }),
      reportingInstance: field(string(), { tag: 15, keepEmpty: true }),
    }),
  EventList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('core/v1.Event')), { tag: 2, required: true, doc: 'The Event objects of the list.' }),
      },
      { doc: 'A list of Event objects.' },
    ),
  EventSeries: () =>
    struct({
      count: field(int32(), { tag: 1 }),
      lastObservedTime: field(microTime(), { tag: 2 }),
    }),
  EventSource: () =>
    struct({
      component: field(string(), { tag: 1 }),
      host: field(string(), { tag: 2 }),
    }),
  ExecAction: () =>
    struct({
      command: field(list(string()), { tag: 1 }),
    }),
  FCVolumeSource: () =>
    struct({
      targetWWNs: field(list(string()), { tag: 1 }),
      lun: field(int32(), { tag: 2, pointer: true }),
      fsType: field(string(), { tag: 3 }),
      readOnly: field(boolean(), { tag: 4 }),
      wwids: field(list(string()), { tag: 5 }),
    }),
  FlexPersistentVolumeSource: () =>
    struct({
      driver: field(string(), { tag: 1, required: true }),
      fsType: field(string(), { tag: 2 }),
      secretRef: field(ref('core/v1.SecretReference'), { tag: 3, pointer: true }),
      readOnly: field(boolean(), { tag: 4 }),
      options: field(map(string()), { tag: 5 }),
    }),
  FlexVolumeSource: () =>
    struct({
      driver: field(string(), { tag: 1, required: true }),
      fsType: field(string(), { tag: 2 }),
      secretRef: field(ref('core/v1.LocalObjectReference'), { tag: 3, pointer: true }),
      readOnly: field(boolean(), { tag: 4 }),
      options: field(map(string()), { tag: 5 }),
    }),
  FlockerVolumeSource: () =>
    struct({
      datasetName: field(string(), { tag: 1 }),
      datasetUUID: field(string(), { tag: 2 }),
    }),
  GCEPersistentDiskVolumeSource: () =>
    struct({
      pdName: field(string(), { tag: 1, required: true }),
      fsType: field(string(), { tag: 2 }),
      partition: field(int32(), { tag: 3 }),
      readOnly: field(boolean(), { tag: 4 }),
    }),
  GRPCAction: () =>
    struct({
      port: field(int32(), { tag: 1, required: true }),
      service: field(string(), { tag: 2, keepEmpty: true, pointer: true, default: '' }),
    }),
  GitRepoVolumeSource: () =>
    struct({
      repository: field(string(), { tag: 1, required: true }),
      revision: field(string(), { tag: 2 }),
      directory: field(string(), { tag: 3 }),
    }),
  GlusterfsPersistentVolumeSource: () =>
    struct({
      endpoints: field(string(), { tag: 1, required: true }),
      path: field(string(), { tag: 2, required: true }),
      readOnly: field(boolean(), { tag: 3 }),
      endpointsNamespace: field(string(), { tag: 4, pointer: true }),
    }),
  GlusterfsVolumeSource: () =>
    struct({
      endpoints: field(string(), { tag: 1, required: true }),
      path: field(string(), { tag: 2, required: true }),
      readOnly: field(boolean(), { tag: 3 }),
    }),
  HTTPGetAction: () =>
    struct({
      path: field(string(), { tag: 1 }),
      port: field(intOrString(), { tag: 2, required: true }),
      host: field(string(), { tag: 3 }),
      scheme: field(ref('core/v1.URIScheme'), { tag: 4 }),
      httpHeaders: field(list(ref('core/v1.HTTPHeader')), { tag: 5 }),
    }),
  HTTPHeader: () =>
    struct({
      name: field(string(), { tag: 1, required: true }),
      value: field(string(), { tag: 2, required: true }),
    }),
  HostAlias: () =>
    struct({
      ip: field(string(), { tag: 1 }),
      hostnames: field(list(string()), { tag: 2 }),
    }),
  HostPathType: () => closed('', 'DirectoryOrCreate', 'Directory', 'FileOrCreate', 'File', 'Socket', 'CharDevice', 'BlockDevice'),
  HostPathVolumeSource: () =>
    struct({
      path: field(string(), { tag: 1, required: true }),
      type: field(ref('core/v1.HostPathType'), { tag: 2, pointer: true }),
    }),
  IPFamily: () => closed('IPv4', 'IPv6'),
  IPFamilyPolicy: () => closed('SingleStack', 'PreferDualStack', 'RequireDualStack'),
  ISCSIPersistentVolumeSource: () =>
    struct({
      targetPortal: field(string(), { tag: 1, required: true }),
      iqn: field(string(), { tag: 2, required: true }),
      lun: field(int32(), { tag: 3, required: true }),
      iscsiInterface: field(string(), { tag: 4 }),
      fsType: field(string(), { tag: 5 }),
      readOnly: field(boolean(), { tag: 6 }),
      portals: field(list(string()), { tag: 7 }),
      chapAuthDiscovery: field(boolean(), { tag: 8 }),
      chapAuthSession: field(boolean(), { tag: 11 }),
      secretRef: field(ref('core/v1.SecretReference'), { tag: 10, pointer: true }),
      initiatorName: field(string(), { tag: 12, pointer: true }),
    }),
  ISCSIVolumeSource: () =>
    struct({
      targetPortal: field(string(), { tag: 1, required: true }),
      iqn: field(string(), { tag: 2, required: true }),
      lun: field(int32(), { tag: 3, required: true }),
      iscsiInterface: field(string(), { tag: 4 }),
      fsType: field(string(), { tag: 5 }),
      readOnly: field(boolean(), { tag: 6 }),
      portals: field(list(string()), { tag: 7 }),
      chapAuthDiscovery: field(boolean(), { tag: 8 }),
      chapAuthSession: field(boolean(), { tag: 11 }),
      secretRef: field(ref('core/v1.LocalObjectReference'), { tag: 10, pointer: true }),
      initiatorName: field(string(), { tag: 12, pointer: true }),
    }),
  KeyToPath: () =>
    struct({
      key: field(string(), { tag: 1, required: true }),
      path: field(string(), { tag: 2, required: true }),
      mode: field(int32(), { tag: 3, pointer: true }),
    }),
  Lifecycle: () =>
    struct({
      postStart: field(ref('core/v1.LifecycleHandler'), { tag: 1, pointer: true }),
      preStop: field(ref('core/v1.LifecycleHandler'), { tag: 2, pointer: true }),
    }),
  LifecycleHandler: () =>
    struct({
      exec: field(ref('core/v1.ExecAction'), { tag: 1, pointer: true }),
      httpGet: field(ref('core/v1.HTTPGetAction'), { tag: 2, pointer: true }),
      tcpSocket: field(ref('core/v1.TCPSocketAction'), { tag: 3, pointer: true }),
    }),
  LimitRange: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('core/v1.LimitRangeSpec'), { tag: 2, doc: 'The wanted state, as the user asks for it.' }),
    }),
  LimitRangeItem: () =>
    struct({
      type: field(ref('core/v1.LimitType'), { tag: 1, required: true }),
      max: field(map(quantity()), { tag: 2 }),
      min: field(map(quantity()), { tag: 3 }),
      default: field(map(quantity()), { tag: 4 }),
      defaultRequest: field(map(quantity()), { tag: 5 }),
      maxLimitRequestRatio: field(map(quantity()), { tag: 6 }),
    }),
  LimitRangeList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('core/v1.LimitRange')), { tag: 2, required: true, doc: 'The LimitRange objects of the list.' }),
      },
      { doc: 'A list of LimitRange objects.' },
    ),
  LimitRangeSpec: () =>
    struct({
      limits: field(list(ref('core/v1.LimitRangeItem')), { tag: 1, required: true }),
    }),
  LimitType: () => known('Pod', 'Container', 'PersistentVolumeClaim'),
  List: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(raw()), { tag: 2, required: true, doc: 'The  objects of the list.' }),
      },
      { doc: 'A list of  objects.' },
    ),
  LoadBalancerIngress: () =>
    struct({
      ip: field(string(), { tag: 1 }),
      hostname: field(string(), { tag: 2 }),
      ports: field(list(ref('core/v1.PortStatus')), { tag: 4, listType: 'atomic' }),
    }),
  LoadBalancerStatus: () =>
    struct({
      ingress: field(list(ref('core/v1.LoadBalancerIngress')), { tag: 1 }),
    }),
  LocalObjectReference: () =>
    struct(
      {
        name: field(string(), { tag: 1 }),
      },
      { structType: 'atomic' },
    ),
  LocalVolumeSource: () =>
    struct({
      path: field(string(), { tag: 1, required: true }),
      fsType: field(string(), { tag: 2, pointer: true }),
    }),
  MountPropagationMode: () => closed('None', 'HostToContainer', 'Bidirectional'),
  NFSVolumeSource: () =>
    struct({
      server: field(string(), { tag: 1, required: true }),
      path: field(string(), { tag: 2, required: true }),
      readOnly: field(boolean(), { tag: 3 }),
    }),
  Namespace: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('core/v1.NamespaceSpec'), { tag: 2, doc: 'The wanted state, as the user asks for it.' }),
      status: field(ref('core/v1.NamespaceStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  NamespaceCondition: () =>
    struct({
      type: field(ref('core/v1.NamespaceConditionType'), { tag: 1, required: true, doc: 'What the condition is about.' }),
      status: field(ref('core/v1.ConditionStatus'), { tag: 2, required: true, doc: 'True, False or Unknown.' }),
      lastTransitionTime: field(time(), { tag: 4, doc: 'When the status last changed from one value to another.' }),
      reason: field(string(), { tag: 5, doc: 'One word in CamelCase that says why the condition has this status, for programs.' }),
      message: field(string(), { tag: 6, doc: 'Details of the last change, for people.' }),
    }),
  NamespaceConditionType: () =>
    known(
      'NamespaceDeletionDiscoveryFailure',
      'NamespaceDeletionContentFailure',
      'NamespaceDeletionGroupVersionParsingFailure',
      'NamespaceContentRemaining',
      'NamespaceFinalizersRemaining',
    ),
  NamespaceList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('core/v1.Namespace')), { tag: 2, required: true, doc: 'The Namespace objects of the list.' }),
      },
      { doc: 'A list of Namespace objects.' },
    ),
  NamespacePhase: () => closed('Active', 'Terminating'),
  NamespaceSpec: () =>
    struct({
      finalizers: field(list(string()), { tag: 1 }),
    }),
  NamespaceStatus: () =>
    struct({
      phase: field(ref('core/v1.NamespacePhase'), { tag: 1 }),
      conditions: field(list(ref('core/v1.NamespaceCondition')), { tag: 2, patchStrategy: 'merge', patchMergeKey: 'type' }),
    }),
  Node: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('core/v1.NodeSpec'), { tag: 2, doc: 'The wanted state, as the user asks for it.' }),
      status: field(ref('core/v1.NodeStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  NodeAddress: () =>
    struct({
      type: field(ref('core/v1.NodeAddressType'), { tag: 1, required: true }),
      address: field(string(), { tag: 2, required: true }),
    }),
  NodeAddressType: () => known('Hostname', 'InternalIP', 'ExternalIP', 'InternalDNS', 'ExternalDNS'),
  NodeAffinity: () =>
    struct({
      requiredDuringSchedulingIgnoredDuringExecution: field(ref('core/v1.NodeSelector'), { tag: 1, pointer: true }),
      preferredDuringSchedulingIgnoredDuringExecution: field(list(ref('core/v1.PreferredSchedulingTerm')), { tag: 2 }),
    }),
  NodeCondition: () =>
    struct({
      type: field(ref('core/v1.NodeConditionType'), { tag: 1, required: true, doc: 'What the condition is about.' }),
      status: field(ref('core/v1.ConditionStatus'), { tag: 2, required: true, doc: 'True, False or Unknown.' }),
      lastHeartbeatTime: field(time(), { tag: 3, doc: 'When the reporter last confirmed the condition.' }),
      lastTransitionTime: field(time(), { tag: 4, doc: 'When the status last changed from one value to another.' }),
      reason: field(string(), { tag: 5, doc: 'One word in CamelCase that says why the condition has this status, for programs.' }),
      message: field(string(), { tag: 6, doc: 'Details of the last change, for people.' }),
    }),
  NodeConditionType: () => known('Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable'),
  NodeConfigSource: () =>
    struct({
      configMap: field(ref('core/v1.ConfigMapNodeConfigSource'), { tag: 2, pointer: true }),
    }),
  NodeConfigStatus: () =>
    struct({
      assigned: field(ref('core/v1.NodeConfigSource'), { tag: 1, pointer: true }),
      active: field(ref('core/v1.NodeConfigSource'), { tag: 2, pointer: true }),
      lastKnownGood: field(ref('core/v1.NodeConfigSource'), { tag: 3, pointer: true }),
      error: field(string(), { tag: 4 }),
    }),
  NodeDaemonEndpoints: () =>
    struct({
      kubeletEndpoint: field(ref('core/v1.DaemonEndpoint'), { tag: 1 }),
    }),
  NodeInclusionPolicy: () => closed('Ignore', 'Honor'),
  NodeList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('core/v1.Node')), { tag: 2, required: true, doc: 'The Node objects of the list.' }),
      },
      { doc: 'A list of Node objects.' },
    ),
  NodePhase: () => closed('Pending', 'Running', 'Terminated'),
  NodeProxyOptions: () =>
    object({
      path: field(string(), { tag: 1 }),
    }),
  NodeSelector: () =>
    struct(
      {
        nodeSelectorTerms: field(list(ref('core/v1.NodeSelectorTerm')), { tag: 1, required: true }),
      },
      { structType: 'atomic' },
    ),
  NodeSelectorOperator: () => closed('In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'),
  NodeSelectorRequirement: () =>
    struct({
      key: field(string(), { tag: 1, required: true }),
      operator: field(ref('core/v1.NodeSelectorOperator'), { tag: 2, required: true }),
      values: field(list(string()), { tag: 3 }),
    }),
  NodeSelectorTerm: () =>
    struct(
      {
        matchExpressions: field(list(ref('core/v1.NodeSelectorRequirement')), { tag: 1 }),
        matchFields: field(list(ref('core/v1.NodeSelectorRequirement')), { tag: 2 }),
      },
      { structType: 'atomic' },
    ),
  NodeSpec: () =>
    struct({
      podCIDR: field(string(), { tag: 1 }),
      podCIDRs: field(list(string()), { tag: 7, patchStrategy: 'merge' }),
      providerID: field(string(), { tag: 3 }),
      unschedulable: field(boolean(), { tag: 4 }),
      taints: field(list(ref('core/v1.Taint')), { tag: 5 }),
      configSource: field(ref('core/v1.NodeConfigSource'), { tag: 6, pointer: true }),
      externalID: field(string(), { tag: 2 }),
    }),
  NodeStatus: () =>
    struct({
      capacity: field(map(quantity()), { tag: 1 }),
      allocatable: field(map(quantity()), { tag: 2 }),
      phase: field(ref('core/v1.NodePhase'), { tag: 3 }),
      conditions: field(list(ref('core/v1.NodeCondition')), { tag: 4, patchStrategy: 'merge', patchMergeKey: 'type' }),
      addresses: field(list(ref('core/v1.NodeAddress')), { tag: 5, patchStrategy: 'merge', patchMergeKey: 'type' }),
      daemonEndpoints: field(ref('core/v1.NodeDaemonEndpoints'), { tag: 6 }),
      nodeInfo: field(ref('core/v1.NodeSystemInfo'), { tag: 7 }),
      images: field(list(ref('core/v1.ContainerImage')), { tag: 8 }),
      volumesInUse: field(list(string()), { tag: 9 }),
      volumesAttached: field(list(ref('core/v1.AttachedVolume')), { tag: 10 }),
      config: field(ref('core/v1.NodeConfigStatus'), { tag: 11, pointer: true }),
    }),
  NodeSystemInfo: () =>
    struct({
      machineID: field(string(), { tag: 1, required: true }),
      systemUUID: field(string(), { tag: 2, required: true }),
      bootID: field(string(), { tag: 3, required: true }),
      kernelVersion: field(string(), { tag: 4, required: true }),
      osImage: field(string(), { tag: 5, required: true }),
      containerRuntimeVersion: field(string(), { tag: 6, required: true }),
      kubeletVersion: field(string(), { tag: 7, required: true }),
      kubeProxyVersion: field(string(), { tag: 8, required: true }),
      operatingSystem: field(string(), { tag: 9, required: true }),
      architecture: field(string(), { tag: 10, required: true }),
    }),
  OSName: () => known('linux', 'windows'),
  ObjectFieldSelector: () =>
    struct(
      {
        apiVersion: field(string(), { tag: 1 }),
        fieldPath: field(string(), { tag: 2, required: true }),
      },
      { structType: 'atomic' },
    ),
  ObjectReference: () =>
    struct(
      {
        kind: field(string(), { tag: 1 }),
        namespace: field(string(), { tag: 2 }),
        name: field(string(), { tag: 3 }),
        uid: field(string(), { tag: 4 }),
        apiVersion: field(string(), { tag: 5 }),
        resourceVersion: field(string(), { tag: 6 }),
        fieldPath: field(string(), { tag: 7 }),
      },
      { structType: 'atomic' },
    ),
  PersistentVolume: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('core/v1.PersistentVolumeSpec'), { tag: 2, doc: 'The wanted state, as the user asks for it.' }),
      status: field(ref('core/v1.PersistentVolumeStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  PersistentVolumeAccessMode: () => closed('ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'),
  PersistentVolumeClaim: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('core/v1.PersistentVolumeClaimSpec'), { tag: 2, doc: 'The wanted state, as the user asks for it.' }),
      status: field(ref('core/v1.PersistentVolumeClaimStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  PersistentVolumeClaimCondition: () =>
    struct({
      type: field(ref('core/v1.PersistentVolumeClaimConditionType'), { tag: 1, required: true, doc: 'What the condition is about.' }),
      status: field(ref('core/v1.ConditionStatus'), { tag: 2, required: true, doc: 'True, False or Unknown.' }),
      lastProbeTime: field(time(), { tag: 3, doc: 'When the condition was last checked.' }),
      lastTransitionTime: field(time(), { tag: 4, doc: 'When the status last changed from one value to another.' }),
      reason: field(string(), { tag: 5, doc: 'One word in CamelCase that says why the condition has this status, for programs.' }),
      message: field(string(), { tag: 6, doc: 'Details of the last change, for people.' }),
    }),
  PersistentVolumeClaimConditionType: () => known('Resizing', 'FileSystemResizePending'),
  PersistentVolumeClaimList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('core/v1.PersistentVolumeClaim')), {
          tag: 2,
          required: true,
          doc: 'The PersistentVolumeClaim objects of the list.',
        }),
      },
      { doc: 'A list of PersistentVolumeClaim objects.' },
    ),
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
  PersistentVolumeClaimSpec: () =>
    struct({
      accessModes: field(list(ref('core/v1.PersistentVolumeAccessMode')), { tag: 1 }),
      selector: field(ref('meta/v1.LabelSelector'), { tag: 4, pointer: true }),
      resources: field(ref('core/v1.ResourceRequirements'), { tag: 2 }),
      volumeName: field(string(), { tag: 3 }),
      storageClassName: field(string(), { tag: 5, pointer: true }),
      volumeMode: field(ref('core/v1.PersistentVolumeMode'), { tag: 6, pointer: true }),
      dataSource: field(ref('core/v1.TypedLocalObjectReference'), { tag: 7, pointer: true }),
      dataSourceRef: field(ref('core/v1.TypedLocalObjectReference'), { tag: 8, pointer: true }),
    }),
  PersistentVolumeClaimStatus: () =>
    struct({
      phase: field(ref('core/v1.PersistentVolumeClaimPhase'), { tag: 1 }),
      accessModes: field(list(ref('core/v1.PersistentVolumeAccessMode')), { tag: 2 }),
      capacity: field(map(quantity()), { tag: 3 }),
      conditions: field(list(ref('core/v1.PersistentVolumeClaimCondition')), { tag: 4, patchStrategy: 'merge', patchMergeKey: 'type' }),
      allocatedResources: field(map(quantity()), { tag: 5, featureGate: 'RecoverVolumeExpansionFailure' }),
      resizeStatus: field(ref('core/v1.PersistentVolumeClaimResizeStatus'), {
        tag: 6,
        pointer: true,
        featureGate: 'RecoverVolumeExpansionFailure',
      }),
    }),
  PersistentVolumeClaimTemplate: () =>
    struct({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('core/v1.PersistentVolumeClaimSpec'), { tag: 2, required: true, doc: 'The wanted state, as the user asks for it.' }),
    }),
  PersistentVolumeClaimVolumeSource: () =>
    struct({
      claimName: field(string(), { tag: 1, required: true }),
      readOnly: field(boolean(), { tag: 2 }),
    }),
  PersistentVolumeList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('core/v1.PersistentVolume')), { tag: 2, required: true, doc: 'The PersistentVolume objects of the list.' }),
      },
      { doc: 'A list of PersistentVolume objects.' },
    ),
  PersistentVolumeMode: () => closed('Block', 'Filesystem'),
  PersistentVolumePhase: () => closed('Pending', 'Available', 'Bound', 'Released', 'Failed'),
  PersistentVolumeReclaimPolicy: () => closed('Recycle', 'Delete', 'Retain'),
  PersistentVolumeSource: () =>
    struct({
      gcePersistentDisk: field(ref('core/v1.GCEPersistentDiskVolumeSource'), { tag: 1, pointer: true }),
      awsElasticBlockStore: field(ref('core/v1.AWSElasticBlockStoreVolumeSource'), { tag: 2, pointer: true }),
      hostPath: field(ref('core/v1.HostPathVolumeSource'), { tag: 3, pointer: true }),
      glusterfs: field(ref('core/v1.GlusterfsPersistentVolumeSource'), { tag: 4, pointer: true }),
      nfs: field(ref('core/v1.NFSVolumeSource'), { tag: 5, pointer: true }),
      rbd: field(ref('core/v1.RBDPersistentVolumeSource'), { tag: 6, pointer: true }),
      iscsi: field(ref('core/v1.ISCSIPersistentVolumeSource'), { tag: 7, pointer: true }),
      cinder: field(ref('core/v1.CinderPersistentVolumeSource'), { tag: 8, pointer: true }),
      cephfs: field(ref('core/v1.CephFSPersistentVolumeSource'), { tag: 9, pointer: true }),
      fc: field(ref('core/v1.FCVolumeSource'), { tag: 10, pointer: true }),
      flocker: field(ref('core/v1.FlockerVolumeSource'), { tag: 11, pointer: true }),
      flexVolume: field(ref('core/v1.FlexPersistentVolumeSource'), { tag: 12, pointer: true }),
      azureFile: field(ref('core/v1.AzureFilePersistentVolumeSource'), { tag: 13, pointer: true }),
      vsphereVolume: field(ref('core/v1.VsphereVirtualDiskVolumeSource'), { tag: 14, pointer: true }),
      quobyte: field(ref('core/v1.QuobyteVolumeSource'), { tag: 15, pointer: true }),
      azureDisk: field(ref('core/v1.AzureDiskVolumeSource'), { tag: 16, pointer: true }),
      photonPersistentDisk: field(ref('core/v1.PhotonPersistentDiskVolumeSource'), { tag: 17, pointer: true }),
      portworxVolume: field(ref('core/v1.PortworxVolumeSource'), { tag: 18, pointer: true }),
      scaleIO: field(ref('core/v1.ScaleIOPersistentVolumeSource'), { tag: 19, pointer: true }),
      local: field(ref('core/v1.LocalVolumeSource'), { tag: 20, pointer: true }),
      storageos: field(ref('core/v1.StorageOSPersistentVolumeSource'), { tag: 21, pointer: true }),
      csi: field(ref('core/v1.CSIPersistentVolumeSource'), { tag: 22, pointer: true }),
    }),
  PersistentVolumeSpec: () =>
    struct({
      capacity: field(map(quantity()), { tag: 1 }),
      persistentVolumeSource: inline('core/v1.PersistentVolumeSource', { tag: 2 }),
      accessModes: field(list(ref('core/v1.PersistentVolumeAccessMode')), { tag: 3 }),
      claimRef: field(ref('core/v1.ObjectReference'), { tag: 4, pointer: true, structType: 'granular' }),
      persistentVolumeReclaimPolicy: field(ref('core/v1.PersistentVolumeReclaimPolicy'), { tag: 5 }),
      storageClassName: field(string(), { tag: 6 }),
      mountOptions: field(list(string()), { tag: 7 }),
      volumeMode: field(ref('core/v1.PersistentVolumeMode'), { tag: 8, pointer: true }),
      nodeAffinity: field(ref('core/v1.VolumeNodeAffinity'), { tag: 9, pointer: true }),
    }),
  PersistentVolumeStatus: () =>
    struct({
      phase: field(ref('core/v1.PersistentVolumePhase'), { tag: 1 }),
      message: field(string(), { tag: 2 }),
      reason: field(string(), { tag: 3 }),
    }),
  PhotonPersistentDiskVolumeSource: () =>
    struct({
      pdID: field(string(), { tag: 1, required: true }),
      fsType: field(string(), { tag: 2 }),
    }),
  Pod: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('core/v1.PodSpec'), { tag: 2, doc: 'The wanted state, as the user asks for it.' }),
      status: field(ref('core/v1.PodStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  PodAffinity: () =>
    struct({
      requiredDuringSchedulingIgnoredDuringExecution: field(list(ref('core/v1.PodAffinityTerm')), { tag: 1 }),
      preferredDuringSchedulingIgnoredDuringExecution: field(list(ref('core/v1.WeightedPodAffinityTerm')), { tag: 2 }),
    }),
  PodAffinityTerm: () =>
    struct({
      labelSelector: field(ref('meta/v1.LabelSelector'), { tag: 1, pointer: true }),
      namespaces: field(list(string()), { tag: 2 }),
      topologyKey: field(string(), { tag: 3, required: true }),
      namespaceSelector: field(ref('meta/v1.LabelSelector'), { tag: 4, pointer: true }),
    }),
  PodAntiAffinity: () =>
    struct({
      requiredDuringSchedulingIgnoredDuringExecution: field(list(ref('core/v1.PodAffinityTerm')), { tag: 1 }),
      preferredDuringSchedulingIgnoredDuringExecution: field(list(ref('core/v1.WeightedPodAffinityTerm')), { tag: 2 }),
    }),
  PodAttachOptions: () =>
    object({
      stdin: field(boolean(), { tag: 1 }),
      stdout: field(boolean(), { tag: 2 }),
      stderr: field(boolean(), { tag: 3 }),
      tty: field(boolean(), { tag: 4 }),
      container: field(string(), { tag: 5 }),
    }),
  PodCondition: () =>
    struct({
      type: field(ref('core/v1.PodConditionType'), { tag: 1, required: true, doc: 'What the condition is about.' }),
      status: field(ref('core/v1.ConditionStatus'), { tag: 2, required: true, doc: 'True, False or Unknown.' }),
      lastProbeTime: field(time(), { tag: 3, doc: 'When the condition was last checked.' }),
      lastTransitionTime: field(time(), { tag: 4, doc: 'When the status last changed from one value to another.' }),
      reason: field(string(), { tag: 5, doc: 'One word in CamelCase that says why the condition has this status, for programs.' }),
      message: field(string(), { tag: 6, doc: 'Details of the last change, for people.' }),
    }),
  PodConditionType: () => known('ContainersReady', 'Initialized', 'Ready', 'PodScheduled', 'DisruptionTarget'),
  PodDNSConfig: () =>
    struct({
      nameservers: field(list(string()), { tag: 1 }),
      searches: field(list(string()), { tag: 2 }),
      options: field(list(ref('core/v1.PodDNSConfigOption')), { tag: 3 }),
    }),
  PodDNSConfigOption: () =>
    struct({
      name: field(string(), { tag: 1 }),
      value: field(string(), { tag: 2, pointer: true }),
    }),
  PodExecOptions: () =>
    object({
      stdin: field(boolean(), { tag: 1 }),
      stdout: field(boolean(), { tag: 2 }),
      stderr: field(boolean(), { tag: 3 }),
      tty: field(boolean(), { tag: 4 }),
      container: field(string(), { tag: 5 }),
      command: field(list(string()), { tag: 6, required: true }),
    }),
  PodFSGroupChangePolicy: () => closed('OnRootMismatch', 'Always'),
  PodIP: () =>
    struct({
      ip: field(string(), { tag: 1 }),
    }),
  PodList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('core/v1.Pod')), { tag: 2, required: true, doc: 'The Pod objects of the list.' }),
      },
      { doc: 'A list of Pod objects.' },
    ),
  PodLogOptions: () =>
    object({
      container: field(string(), { tag: 1 }),
      follow: field(boolean(), { tag: 2 }),
      previous: field(boolean(), { tag: 3 }),
      sinceSeconds: field(int64(), { tag: 4, pointer: true }),
      sinceTime: field(time(), { tag: 5, pointer: true }),
      timestamps: field(boolean(), { tag: 6 }),
      tailLines: field(int64(), { tag: 7, pointer: true }),
      limitBytes: field(int64(), { tag: 8, pointer: true }),
      insecureSkipTLSVerifyBackend: field(boolean(), { tag: 9 }),
    }),
  PodOS: () =>
    struct({
      name: field(ref('core/v1.OSName'), { tag: 1, required: true }),
    }),
  PodPhase: () => closed('Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'),
  PodPortForwardOptions: () =>
    object({
      ports: field(list(int32()), { tag: 1 }),
    }),
  PodProxyOptions: () =>
    object({
      path: field(string(), { tag: 1 }),
    }),
  PodQOSClass: () => closed('Guaranteed', 'Burstable', 'BestEffort'),
  PodReadinessGate: () =>
    struct({
      conditionType: field(ref('core/v1.PodConditionType'), { tag: 1, required: true }),
    }),
  PodSecurityContext: () =>
    struct({
      seLinuxOptions: field(ref('core/v1.SELinuxOptions'), { tag: 1, pointer: true }),
      windowsOptions: field(ref('core/v1.WindowsSecurityContextOptions'), { tag: 8, pointer: true }),
      runAsUser: field(int64(), { tag: 2, pointer: true }),
      runAsGroup: field(int64(), { tag: 6, pointer: true }),
      runAsNonRoot: field(boolean(), { tag: 3, pointer: true }),
      supplementalGroups: field(list(int64()), { tag: 4 }),
      fsGroup: field(int64(), { tag: 5, pointer: true }),
      sysctls: field(list(ref('core/v1.Sysctl')), { tag: 7 }),
      fsGroupChangePolicy: field(ref('core/v1.PodFSGroupChangePolicy'), { tag: 9, pointer: true }),
      seccompProfile: field(ref('core/v1.SeccompProfile'), { tag: 10, pointer: true }),
    }),
  PodSignature: () =>
    struct({
      podController: field(ref('meta/v1.OwnerReference'), { tag: 1, pointer: true }),
    }),
  PodSpec: () =>
    struct({
      volumes: field(list(ref('core/v1.Volume')), { tag: 1, patchStrategy: 'merge,retainKeys', patchMergeKey: 'name' }),
      initContainers: field(list(ref('core/v1.Container')), { tag: 20, patchStrategy: 'merge', patchMergeKey: 'name' }),
      containers: field(list(ref('core/v1.Container')), { tag: 2, required: true, patchStrategy: 'merge', patchMergeKey: 'name' }),
      ephemeralContainers: field(list(ref('core/v1.EphemeralContainer')), { tag: 34, patchStrategy: 'merge', patchMergeKey: 'name' }),
      restartPolicy: field(ref('core/v1.RestartPolicy'), { tag: 3 }),
      terminationGracePeriodSeconds: field(int64(), { tag: 4, pointer: true }),
      activeDeadlineSeconds: field(int64(), { tag: 5, pointer: true }),
      dnsPolicy: field(ref('core/v1.DNSPolicy'), { tag: 6 }),
      nodeSelector: field(map(string()), { tag: 7, mapType: 'atomic' }),
      serviceAccountName: field(string(), { tag: 8 }),
      serviceAccount: field(string(), { tag: 9 }),
      automountServiceAccountToken: field(boolean(), { tag: 21, pointer: true }),
      nodeName: field(string(), { tag: 10 }),
      hostNetwork: field(boolean(), { tag: 11 }),
      hostPID: field(boolean(), { tag: 12 }),
      hostIPC: field(boolean(), { tag: 13 }),
      shareProcessNamespace: field(boolean(), { tag: 27, pointer: true }),
      securityContext: field(ref('core/v1.PodSecurityContext'), { tag: 14, pointer: true }),
      imagePullSecrets: field(list(ref('core/v1.LocalObjectReference')), { tag: 15, patchStrategy: 'merge', patchMergeKey: 'name' }),
      hostname: field(string(), { tag: 16 }),
      subdomain: field(string(), { tag: 17 }),
      affinity: field(ref('core/v1.Affinity'), { tag: 18, pointer: true }),
      schedulerName: field(string(), { tag: 19 }),
      tolerations: field(list(ref('core/v1.Toleration')), { tag: 22 }),
      hostAliases: field(list(ref('core/v1.HostAlias')), { tag: 23, patchStrategy: 'merge', patchMergeKey: 'ip' }),
      priorityClassName: field(string(), { tag: 24 }),
      priority: field(int32(), { tag: 25, pointer: true }),
      dnsConfig: field(ref('core/v1.PodDNSConfig'), { tag: 26, pointer: true }),
      readinessGates: field(list(ref('core/v1.PodReadinessGate')), { tag: 28 }),
      runtimeClassName: field(string(), { tag: 29, pointer: true }),
      enableServiceLinks: field(boolean(), { tag: 30, pointer: true }),
      preemptionPolicy: field(ref('core/v1.PreemptionPolicy'), { tag: 31, pointer: true }),
      overhead: field(map(quantity()), { tag: 32 }),
      topologySpreadConstraints: field(list(ref('core/v1.TopologySpreadConstraint')), {
        tag: 33,
        patchStrategy: 'merge',
        patchMergeKey: 'topologyKey',
        listType: 'map',
        listMapKeys: ['topologyKey', 'whenUnsatisfiable'],
      }),
      setHostnameAsFQDN: field(boolean(), { tag: 35, pointer: true }),
      os: field(ref('core/v1.PodOS'), { tag: 36, pointer: true }),
      hostUsers: field(boolean(), { tag: 37, pointer: true }),
    }),
  PodStatus: () =>
    struct({
      phase: field(ref('core/v1.PodPhase'), { tag: 1 }),
      conditions: field(list(ref('core/v1.PodCondition')), { tag: 2, patchStrategy: 'merge', patchMergeKey: 'type' }),
      message: field(string(), { tag: 3 }),
      reason: field(string(), { tag: 4 }),
      nominatedNodeName: field(string(), { tag: 11 }),
      hostIP: field(string(), { tag: 5 }),
      podIP: field(string(), { tag: 6 }),
      podIPs: field(list(ref('core/v1.PodIP')), { tag: 12, patchStrategy: 'merge', patchMergeKey: 'ip' }),
      startTime: field(time(), { tag: 7, pointer: true }),
      initContainerStatuses: field(list(ref('core/v1.ContainerStatus')), { tag: 10 }),
      containerStatuses: field(list(ref('core/v1.ContainerStatus')), { tag: 8 }),
      qosClass: field(ref('core/v1.PodQOSClass'), { tag: 9 }),
      ephemeralContainerStatuses: field(list(ref('core/v1.ContainerStatus')), { tag: 13 }),
    }),
  PodStatusResult: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      status: field(ref('core/v1.PodStatus'), {
        tag: 2,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  PodTemplate: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      template: field(ref('core/v1.PodTemplateSpec'), { tag: 2 }),
    }),
  PodTemplateList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('core/v1.PodTemplate')), { tag: 2, required: true, doc: 'The PodTemplate objects of the list.' }),
      },
      { doc: 'A list of PodTemplate objects.' },
    ),
  PodTemplateSpec: () =>
    struct({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('core/v1.PodSpec'), { tag: 2, doc: 'The wanted state, as the user asks for it.' }),
    }),
  PortStatus: () =>
    struct({
      port: field(int32(), { tag: 1, required: true }),
      protocol: field(ref('core/v1.Protocol'), { tag: 2, required: true }),
      error: field(string(), { tag: 3, pointer: true }),
    }),
  PortworxVolumeSource: () =>
    struct({
      volumeID: field(string(), { tag: 1, required: true }),
      fsType: field(string(), { tag: 2 }),
      readOnly: field(boolean(), { tag: 3 }),
    }),
  Preconditions: () =>
    struct({
      uid: field(string(), { tag: 1, pointer: true }),
    }),
  PreemptionPolicy: () => closed('PreemptLowerPriority', 'Never'),
  PreferAvoidPodsEntry: () =>
    struct({
      podSignature: field(ref('core/v1.PodSignature'), { tag: 1, required: true }),
      evictionTime: field(time(), { tag: 2 }),
      reason: field(string(), { tag: 3 }),
      message: field(string(), { tag: 4 }),
    }),
  PreferredSchedulingTerm: () =>
    struct({
      weight: field(int32(), { tag: 1, required: true }),
      preference: field(ref('core/v1.NodeSelectorTerm'), { tag: 2, required: true }),
    }),
  Probe: () =>
    struct({
      handler: inline('core/v1.ProbeHandler', { tag: 1 }),
      initialDelaySeconds: field(int32(), { tag: 2 }),
      timeoutSeconds: field(int32(), { tag: 3 }),
      periodSeconds: field(int32(), { tag: 4 }),
      successThreshold: field(int32(), { tag: 5 }),
      failureThreshold: field(int32(), { tag: 6 }),
      terminationGracePeriodSeconds: field(int64(), { tag: 7, pointer: true }),
    }),
  ProbeHandler: () =>
    struct({
      exec: field(ref('core/v1.ExecAction'), { tag: 1, pointer: true }),
      httpGet: field(ref('core/v1.HTTPGetAction'), { tag: 2, pointer: true }),
      tcpSocket: field(ref('core/v1.TCPSocketAction'), { tag: 3, pointer: true }),
      grpc: field(ref('core/v1.GRPCAction'), { tag: 4, pointer: true, featureGate: 'GRPCContainerProbe' }),
    }),
  ProcMountType: () => closed('Default', 'Unmasked'),
  ProjectedVolumeSource: () =>
    struct({
      sources: field(list(ref('core/v1.VolumeProjection')), { tag: 1, keepEmpty: true }),
      defaultMode: field(int32(), { tag: 2, pointer: true }),
    }),
  Protocol: () => closed('TCP', 'UDP', 'SCTP'),
  PullPolicy: () => closed('Always', 'Never', 'IfNotPresent'),
  QuobyteVolumeSource: () =>
    struct({
      registry: field(string(), { tag: 1, required: true }),
      volume: field(string(), { tag: 2, required: true }),
      readOnly: field(boolean(), { tag: 3 }),
      user: field(string(), { tag: 4 }),
      group: field(string(), { tag: 5 }),
      tenant: field(string(), { tag: 6 }),
    }),
  RBDPersistentVolumeSource: () =>
    struct({
      monitors: field(list(string()), { tag: 1, required: true }),
      image: field(string(), { tag: 2, required: true }),
      fsType: field(string(), { tag: 3 }),
      pool: field(string(), { tag: 4 }),
      user: field(string(), { tag: 5 }),
      keyring: field(string(), { tag: 6 }),
      secretRef: field(ref('core/v1.SecretReference'), { tag: 7, pointer: true }),
      readOnly: field(boolean(), { tag: 8 }),
    }),
  RBDVolumeSource: () =>
    struct({
      monitors: field(list(string()), { tag: 1, required: true }),
      image: field(string(), { tag: 2, required: true }),
      fsType: field(string(), { tag: 3 }),
      pool: field(string(), { tag: 4 }),
      user: field(string(), { tag: 5 }),
      keyring: field(string(), { tag: 6 }),
      secretRef: field(ref('core/v1.LocalObjectReference'), { tag: 7, pointer: true }),
      readOnly: field(boolean(), { tag: 8 }),
    }),
  RangeAllocation: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      range: field(string(), { tag: 2, required: true }),
      data: field(bytes(), { tag: 3, required: true }),
    }),
  ReplicationController: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('core/v1.ReplicationControllerSpec'), { tag: 2, doc: 'The wanted state, as the user asks for it.' }),
      status: field(ref('core/v1.ReplicationControllerStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  ReplicationControllerCondition: () =>
    struct({
      type: field(ref('core/v1.ReplicationControllerConditionType'), { tag: 1, required: true, doc: 'What the condition is about.' }),
      status: field(ref('core/v1.ConditionStatus'), { tag: 2, required: true, doc: 'True, False or Unknown.' }),
      lastTransitionTime: field(time(), { tag: 3, doc: 'When the status last changed from one value to another.' }),
      reason: field(string(), { tag: 4, doc: 'One word in CamelCase that says why the condition has this status, for programs.' }),
      message: field(string(), { tag: 5, doc: 'Details of the last change, for people.' }),
    }),
  ReplicationControllerConditionType: () => known('ReplicaFailure'),
  ReplicationControllerList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('core/v1.ReplicationController')), {
          tag: 2,
          required: true,
          doc: 'The ReplicationController objects of the list.',
        }),
      },
      { doc: 'A list of ReplicationController objects.' },
    ),
  ReplicationControllerSpec: () =>
    struct({
      replicas: field(int32(), { tag: 1, pointer: true }),
      minReadySeconds: field(int32(), { tag: 4 }),
      selector: field(map(string()), { tag: 2, mapType: 'atomic' }),
      template: field(ref('core/v1.PodTemplateSpec'), { tag: 3, pointer: true }),
    }),
  ReplicationControllerStatus: () =>
    struct({
      replicas: field(int32(), { tag: 1, required: true }),
      fullyLabeledReplicas: field(int32(), { tag: 2 }),
      readyReplicas: field(int32(), { tag: 4 }),
      availableReplicas: field(int32(), { tag: 5 }),
      observedGeneration: field(int64(), { tag: 3 }),
      conditions: field(list(ref('core/v1.ReplicationControllerCondition')), { tag: 6, patchStrategy: 'merge', patchMergeKey: 'type' }),
    }),
  ResourceFieldSelector: () =>
    struct(
      {
        containerName: field(string(), { tag: 1 }),
        resource: field(string(), { tag: 2, required: true }),
        divisor: field(quantity(), { tag: 3 }),
      },
      { structType: 'atomic' },
    ),
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
  ResourceQuota: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('core/v1.ResourceQuotaSpec'), { tag: 2, doc: 'The wanted state, as the user asks for it.' }),
      status: field(ref('core/v1.ResourceQuotaStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  ResourceQuotaList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('core/v1.ResourceQuota')), { tag: 2, required: true, doc: 'The ResourceQuota objects of the list.' }),
      },
      { doc: 'A list of ResourceQuota objects.' },
    ),
  ResourceQuotaScope: () =>
    closed('Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort', 'PriorityClass', 'CrossNamespacePodAffinity'),
  ResourceQuotaSpec: () =>
    struct({
      hard: field(map(quantity()), { tag: 1 }),
      scopes: field(list(ref('core/v1.ResourceQuotaScope')), { tag: 2 }),
      scopeSelector: field(ref('core/v1.ScopeSelector'), { tag: 3, pointer: true }),
    }),
  ResourceQuotaStatus: () =>
    struct({
      hard: field(map(quantity()), { tag: 1 }),
      used: field(map(quantity()), { tag: 2 }),
    }),
  ResourceRequirements: () =>
    struct({
      limits: field(map(quantity()), { tag: 1 }),
      requests: field(map(quantity()), { tag: 2 }),
    }),
  RestartPolicy: () => closed('Always', 'OnFailure', 'Never'),
  SELinuxOptions: () =>
    struct({
      user: field(string(), { tag: 1 }),
      role: field(string(), { tag: 2 }),
      type: field(string(), { tag: 3 }),
      level: field(string(), { tag: 4 }),
    }),
  ScaleIOPersistentVolumeSource: () =>
    struct({
      gateway: field(string(), { tag: 1, required: true }),
      system: field(string(), { tag: 2, required: true }),
      secretRef: field(ref('core/v1.SecretReference'), { tag: 3, required: true, pointer: true }),
      sslEnabled: field(boolean(), { tag: 4 }),
      protectionDomain: field(string(), { tag: 5 }),
      storagePool: field(string(), { tag: 6 }),
      storageMode: field(string(), { tag: 7 }),
      volumeName: field(string(), { tag: 8 }),
      fsType: field(string(), { tag: 9 }),
      readOnly: field(boolean(), { tag: 10 }),
    }),
  ScaleIOVolumeSource: () =>
    struct({
      gateway: field(string(), { tag: 1, required: true }),
      system: field(string(), { tag: 2, required: true }),
      secretRef: field(ref('core/v1.LocalObjectReference'), { tag: 3, required: true, pointer: true }),
      sslEnabled: field(boolean(), { tag: 4 }),
      protectionDomain: field(string(), { tag: 5 }),
      storagePool: field(string(), { tag: 6 }),
      storageMode: field(string(), { tag: 7 }),
      volumeName: field(string(), { tag: 8 }),
      fsType: field(string(), { tag: 9 }),
      readOnly: field(boolean(), { tag: 10 }),
    }),
  ScopeSelector: () =>
    struct(
      {
        matchExpressions: field(list(ref('core/v1.ScopedResourceSelectorRequirement')), { tag: 1 }),
      },
      { structType: 'atomic' },
    ),
  ScopeSelectorOperator: () => closed('In', 'NotIn', 'Exists', 'DoesNotExist'),
  ScopedResourceSelectorRequirement: () =>
    struct({
      scopeName: field(ref('core/v1.ResourceQuotaScope'), { tag: 1, required: true }),
      operator: field(ref('core/v1.ScopeSelectorOperator'), { tag: 2, required: true }),
      values: field(list(string()), { tag: 3 }),
    }),
  SeccompProfile: () =>
    struct(
      {
        type: field(ref('core/v1.SeccompProfileType'), { tag: 1, required: true, unionDiscriminator: true }),
        localhostProfile: field(string(), { tag: 2, pointer: true }),
      },
      { union: true },
    ),
  SeccompProfileType: () => closed('Unconfined', 'RuntimeDefault', 'Localhost'),
  Secret: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      immutable: field(boolean(), { tag: 5, pointer: true }),
      data: field(map(bytes()), { tag: 2 }),
      stringData: field(map(string()), { tag: 4 }),
      type: field(string(), { tag: 3 }),
    }),
  SecretEnvSource: () =>
    struct({
      localObjectReference: inline('core/v1.LocalObjectReference', { tag: 1 }),
      optional: field(boolean(), { tag: 2, pointer: true }),
    }),
  SecretKeySelector: () =>
    struct(
      {
        localObjectReference: inline('core/v1.LocalObjectReference', { tag: 1 }),
        key: field(string(), { tag: 2, required: true }),
        optional: field(boolean(), { tag: 3, pointer: true }),
      },
      { structType: 'atomic' },
    ),
  SecretList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('core/v1.Secret')), { tag: 2, required: true, doc: 'The Secret objects of the list.' }),
      },
      { doc: 'A list of Secret objects.' },
    ),
  SecretProjection: () =>
    struct({
      localObjectReference: inline('core/v1.LocalObjectReference', { tag: 1 }),
      items: field(list(ref('core/v1.KeyToPath')), { tag: 2 }),
      optional: field(boolean(), { tag: 4, pointer: true }),
    }),
  SecretReference: () =>
    struct(
      {
        name: field(string(), { tag: 1 }),
        namespace: field(string(), { tag: 2 }),
      },
      { structType: 'atomic' },
    ),
  SecretVolumeSource: () =>
    struct({
      secretName: field(string(), { tag: 1 }),
      items: field(list(ref('core/v1.KeyToPath')), { tag: 2 }),
      defaultMode: field(int32(), { tag: 3, pointer: true }),
      optional: field(boolean(), { tag: 4, pointer: true }),
    }),
  SecurityContext: () =>
    struct({
      capabilities: field(ref('core/v1.Capabilities'), { tag: 1, pointer: true }),
      privileged: field(boolean(), { tag: 2, pointer: true }),
      seLinuxOptions: field(ref('core/v1.SELinuxOptions'), { tag: 3, pointer: true }),
      windowsOptions: field(ref('core/v1.WindowsSecurityContextOptions'), { tag: 10, pointer: true }),
      runAsUser: field(int64(), { tag: 4, pointer: true }),
      runAsGroup: field(int64(), { tag: 8, pointer: true }),
      runAsNonRoot: field(boolean(), { tag: 5, pointer: true }),
      readOnlyRootFilesystem: field(boolean(), { tag: 6, pointer: true }),
      allowPrivilegeEscalation: field(boolean(), { tag: 7, pointer: true }),
      procMount: field(ref('core/v1.ProcMountType'), { tag: 9, pointer: true }),
      seccompProfile: field(ref('core/v1.SeccompProfile'), { tag: 11, pointer: true }),
    }),
  SerializedReference: () =>
    object({
      reference: field(ref('core/v1.ObjectReference'), { tag: 1 }),
    }),
  Service: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('core/v1.ServiceSpec'), { tag: 2, doc: 'The wanted state, as the user asks for it.' }),
      status: field(ref('core/v1.ServiceStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  ServiceAccount: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      secrets: field(list(ref('core/v1.ObjectReference')), { tag: 2, patchStrategy: 'merge', patchMergeKey: 'name' }),
      imagePullSecrets: field(list(ref('core/v1.LocalObjectReference')), { tag: 3 }),
      automountServiceAccountToken: field(boolean(), { tag: 4, pointer: true }),
    }),
  ServiceAccountList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('core/v1.ServiceAccount')), { tag: 2, required: true, doc: 'The ServiceAccount objects of the list.' }),
      },
      { doc: 'A list of ServiceAccount objects.' },
    ),
  ServiceAccountTokenProjection: () =>
    struct({
      audience: field(string(), { tag: 1 }),
      expirationSeconds: field(int64(), { tag: 2, pointer: true }),
      path: field(string(), { tag: 3, required: true }),
    }),
  ServiceAffinity: () => closed('ClientIP', 'None'),
  ServiceExternalTrafficPolicyType: () => closed('Cluster', 'Local'),
  ServiceInternalTrafficPolicyType: () => closed('Cluster', 'Local'),
  ServiceList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('core/v1.Service')), { tag: 2, required: true, doc: 'The Service objects of the list.' }),
      },
      { doc: 'A list of Service objects.' },
    ),
  ServicePort: () =>
    struct({
      name: field(string(), { tag: 1 }),
      protocol: field(ref('core/v1.Protocol'), { tag: 2, default: 'TCP' }),
      appProtocol: field(string(), { tag: 6, pointer: true }),
      port: field(int32(), { tag: 3, required: true }),
      targetPort: field(intOrString(), { tag: 4 }),
      nodePort: field(int32(), { tag: 5 }),
    }),
  ServiceProxyOptions: () =>
    object({
      path: field(string(), { tag: 1 }),
    }),
  ServiceSpec: () =>
    struct({
      ports: field(list(ref('core/v1.ServicePort')), {
        tag: 1,
        patchStrategy: 'merge',
        patchMergeKey: 'port',
        listType: 'map',
        listMapKeys: ['port', 'protocol'],
      }),
      selector: field(map(string()), { tag: 2, mapType: 'atomic' }),
      clusterIP: field(string(), { tag: 3 }),
      clusterIPs: field(list(string()), { tag: 18, listType: 'atomic' }),
      type: field(ref('core/v1.ServiceType'), { tag: 4 }),
      externalIPs: field(list(string()), { tag: 5 }),
      sessionAffinity: field(ref('core/v1.ServiceAffinity'), { tag: 7 }),
      loadBalancerIP: field(string(), { tag: 8 }),
      loadBalancerSourceRanges: field(list(string()), { tag: 9 }),
      externalName: field(string(), { tag: 10 }),
      externalTrafficPolicy: field(ref('core/v1.ServiceExternalTrafficPolicyType'), { tag: 11 }),
      healthCheckNodePort: field(int32(), { tag: 12 }),
      publishNotReadyAddresses: field(boolean(), { tag: 13 }),
      sessionAffinityConfig: field(ref('core/v1.SessionAffinityConfig'), { tag: 14, pointer: true }),
      ipFamilies: field(list(ref('core/v1.IPFamily')), { tag: 19, listType: 'atomic' }),
      ipFamilyPolicy: field(ref('core/v1.IPFamilyPolicy'), { tag: 17, pointer: true }),
      allocateLoadBalancerNodePorts: field(boolean(), { tag: 20, pointer: true }),
      loadBalancerClass: field(string(), { tag: 21, pointer: true, featureGate: 'LoadBalancerClass' }),
      internalTrafficPolicy: field(ref('core/v1.ServiceInternalTrafficPolicyType'), {
        tag: 22,
        pointer: true,
        featureGate: 'ServiceInternalTrafficPolicy',
      }),
    }),
  ServiceStatus: () =>
    struct({
      loadBalancer: field(ref('core/v1.LoadBalancerStatus'), { tag: 1 }),
      conditions: field(list(ref('meta/v1.Condition')), {
        tag: 2,
        patchStrategy: 'merge',
        patchMergeKey: 'type',
        listType: 'map',
        listMapKeys: ['type'],
      }),
    }),
  ServiceType: () => closed('ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'),
  SessionAffinityConfig: () =>
    struct({
      clientIP: field(ref('core/v1.ClientIPConfig'), { tag: 1, pointer: true }),
    }),
  StorageMedium: () => known('', 'Memory', 'HugePages', 'HugePages-'),
  StorageOSPersistentVolumeSource: () =>
    struct({
      volumeName: field(string(), { tag: 1 }),
      volumeNamespace: field(string(), { tag: 2 }),
      fsType: field(string(), { tag: 3 }),
      readOnly: field(boolean(), { tag: 4 }),
      secretRef: field(ref('core/v1.ObjectReference'), { tag: 5, pointer: true }),
    }),
  StorageOSVolumeSource: () =>
    struct({
      volumeName: field(string(), { tag: 1 }),
      volumeNamespace: field(string(), { tag: 2 }),
      fsType: field(string(), { tag: 3 }),
      readOnly: field(boolean(), { tag: 4 }),
      secretRef: field(ref('core/v1.LocalObjectReference'), { tag: 5, pointer: true }),
    }),
  Sysctl: () =>
    struct({
      name: field(string(), { tag: 1, required: true }),
      value: field(string(), { tag: 2, required: true }),
    }),
  TCPSocketAction: () =>
    struct({
      port: field(intOrString(), { tag: 1, required: true }),
      host: field(string(), { tag: 2 }),
    }),
  Taint: () =>
    struct({
      key: field(string(), { tag: 1, required: true }),
      value: field(string(), { tag: 2 }),
      effect: field(ref('core/v1.TaintEffect'), { tag: 3, required: true }),
      timeAdded: field(time(), { tag: 4, pointer: true }),
    }),
  TaintEffect: () => closed('NoSchedule', 'PreferNoSchedule', 'NoExecute'),
  TerminationMessagePolicy: () => closed('File', 'FallbackToLogsOnError'),
  Toleration: () =>
    struct({
      key: field(string(), { tag: 1 }),
      operator: field(ref('core/v1.TolerationOperator'), { tag: 2 }),
      value: field(string(), { tag: 3 }),
      effect: field(ref('core/v1.TaintEffect'), { tag: 4 }),
      tolerationSeconds: field(int64(), { tag: 5, pointer: true }),
    }),
  TolerationOperator: () => closed('Exists', 'Equal'),
  TopologySelectorLabelRequirement: () =>
    struct({
      key: field(string(), { tag: 1, required: true }),
      values: field(list(string()), { tag: 2, required: true }),
    }),
  TopologySelectorTerm: () =>
    struct(
      {
        matchLabelExpressions: field(list(ref('core/v1.TopologySelectorLabelRequirement')), { tag: 1 }),
      },
      { structType: 'atomic' },
    ),
  TopologySpreadConstraint: () =>
    struct({
      maxSkew: field(int32(), { tag: 1, required: true }),
      topologyKey: field(string(), { tag: 2, required: true }),
      whenUnsatisfiable: field(ref('core/v1.UnsatisfiableConstraintAction'), { tag: 3, required: true }),
      labelSelector: field(ref('meta/v1.LabelSelector'), { tag: 4, pointer: true }),
      minDomains: field(int32(), { tag: 5, pointer: true }),
      nodeAffinityPolicy: field(ref('core/v1.NodeInclusionPolicy'), { tag: 6, pointer: true }),
      nodeTaintsPolicy: field(ref('core/v1.NodeInclusionPolicy'), { tag: 7, pointer: true }),
      matchLabelKeys: field(list(string()), { tag: 8, listType: 'atomic' }),
    }),
  TypedLocalObjectReference: () =>
    struct(
      {
        apiGroup: field(string(), { tag: 1, keepEmpty: true, pointer: true }),
        kind: field(string(), { tag: 2, required: true }),
        name: field(string(), { tag: 3, required: true }),
      },
      { structType: 'atomic' },
    ),
  URIScheme: () => closed('HTTP', 'HTTPS'),
  UnsatisfiableConstraintAction: () => closed('DoNotSchedule', 'ScheduleAnyway'),
  Volume: () =>
    struct({
      name: field(string(), { tag: 1, required: true }),
      volumeSource: inline('core/v1.VolumeSource', { tag: 2 }),
    }),
  VolumeDevice: () =>
    struct({
      name: field(string(), { tag: 1, required: true }),
      devicePath: field(string(), { tag: 2, required: true }),
    }),
  VolumeMount: () =>
    struct({
      name: field(string(), { tag: 1, required: true }),
      readOnly: field(boolean(), { tag: 2 }),
      mountPath: field(string(), { tag: 3, required: true }),
      subPath: field(string(), { tag: 4 }),
      mountPropagation: field(ref('core/v1.MountPropagationMode'), { tag: 5, pointer: true }),
      subPathExpr: field(string(), { tag: 6 }),
    }),
  VolumeNodeAffinity: () =>
    struct({
      required: field(ref('core/v1.NodeSelector'), { tag: 1, pointer: true }),
    }),
  VolumeProjection: () =>
    struct({
      secret: field(ref('core/v1.SecretProjection'), { tag: 1, pointer: true }),
      downwardAPI: field(ref('core/v1.DownwardAPIProjection'), { tag: 2, pointer: true }),
      configMap: field(ref('core/v1.ConfigMapProjection'), { tag: 3, pointer: true }),
      serviceAccountToken: field(ref('core/v1.ServiceAccountTokenProjection'), { tag: 4, pointer: true }),
    }),
  VolumeSource: () =>
    struct({
      hostPath: field(ref('core/v1.HostPathVolumeSource'), { tag: 1, pointer: true }),
      emptyDir: field(ref('core/v1.EmptyDirVolumeSource'), { tag: 2, pointer: true }),
      gcePersistentDisk: field(ref('core/v1.GCEPersistentDiskVolumeSource'), { tag: 3, pointer: true }),
      awsElasticBlockStore: field(ref('core/v1.AWSElasticBlockStoreVolumeSource'), { tag: 4, pointer: true }),
      gitRepo: field(ref('core/v1.GitRepoVolumeSource'), { tag: 5, pointer: true }),
      secret: field(ref('core/v1.SecretVolumeSource'), { tag: 6, pointer: true }),
      nfs: field(ref('core/v1.NFSVolumeSource'), { tag: 7, pointer: true }),
      iscsi: field(ref('core/v1.ISCSIVolumeSource'), { tag: 8, pointer: true }),
      glusterfs: field(ref('core/v1.GlusterfsVolumeSource'), { tag: 9, pointer: true }),
      persistentVolumeClaim: field(ref('core/v1.PersistentVolumeClaimVolumeSource'), { tag: 10, pointer: true }),
      rbd: field(ref('core/v1.RBDVolumeSource'), { tag: 11, pointer: true }),
      flexVolume: field(ref('core/v1.FlexVolumeSource'), { tag: 12, pointer: true }),
      cinder: field(ref('core/v1.CinderVolumeSource'), { tag: 13, pointer: true }),
      cephfs: field(ref('core/v1.CephFSVolumeSource'), { tag: 14, pointer: true }),
      flocker: field(ref('core/v1.FlockerVolumeSource'), { tag: 15, pointer: true }),
      downwardAPI: field(ref('core/v1.DownwardAPIVolumeSource'), { tag: 16, pointer: true }),
      fc: field(ref('core/v1.FCVolumeSource'), { tag: 17, pointer: true }),
      azureFile: field(ref('core/v1.AzureFileVolumeSource'), { tag: 18, pointer: true }),
      configMap: field(ref('core/v1.ConfigMapVolumeSource'), { tag: 19, pointer: true }),
      vsphereVolume: field(ref('core/v1.VsphereVirtualDiskVolumeSource'), { tag: 20, pointer: true }),
      quobyte: field(ref('core/v1.QuobyteVolumeSource'), { tag: 21, pointer: true }),
      azureDisk: field(ref('core/v1.AzureDiskVolumeSource'), { tag: 22, pointer: true }),
      photonPersistentDisk: field(ref('core/v1.PhotonPersistentDiskVolumeSource'), { tag: 23, pointer: true }),
      projected: field(ref('core/v1.ProjectedVolumeSource'), { tag: 26, pointer: true }),
      portworxVolume: field(ref('core/v1.PortworxVolumeSource'), { tag: 24, pointer: true }),
      scaleIO: field(ref('core/v1.ScaleIOVolumeSource'), { tag: 25, pointer: true }),
      storageos: field(ref('core/v1.StorageOSVolumeSource'), { tag: 27, pointer: true }),
      csi: field(ref('core/v1.CSIVolumeSource'), { tag: 28, pointer: true }),
      ephemeral: field(ref('core/v1.EphemeralVolumeSource'), { tag: 29, pointer: true }),
    }),
  VsphereVirtualDiskVolumeSource: () =>
    struct({
      volumePath: field(string(), { tag: 1, required: true }),
      fsType: field(string(), { tag: 2 }),
      storagePolicyName: field(string(), { tag: 3 }),
      storagePolicyID: field(string(), { tag: 4 }),
    }),
  WeightedPodAffinityTerm: () =>
    struct({
      weight: field(int32(), { tag: 1, required: true }),
      podAffinityTerm: field(ref('core/v1.PodAffinityTerm'), { tag: 2, required: true }),
    }),
  WindowsSecurityContextOptions: () =>
    struct({
      gmsaCredentialSpecName: field(string(), { tag: 1, pointer: true }),
      gmsaCredentialSpec: field(string(), { tag: 2, pointer: true }),
      runAsUserName: field(string(), { tag: 3, pointer: true }),
      hostProcess: field(boolean(), { tag: 4, pointer: true }),
    }),
})
