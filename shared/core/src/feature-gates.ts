/** How settled a feature is. */
type FeatureStage = 'alpha' | 'beta' | 'ga' | 'deprecated'

/** One feature that may be switched. */
export interface FeatureGate {
  readonly name: string
  readonly stage: FeatureStage
  readonly isOnByDefault: boolean
  /** The feature can no longer be switched. */
  readonly isLocked: boolean
}

/** Gates that this server acts on; to switch any other one is refused, as nothing would come of it. */
export const actingGates = [
  'APIListChunking',
  'CRDObservedGenerationTracking',
  'CSINodeExpandSecret',
  'ConstrainedImpersonation',
  'EndpointSliceTerminatingCondition',
  'HPAContainerMetrics',
  'HPAScaleToZero',
  'JobPodFailurePolicy',
  'MatchLabelKeysInPodTopologySpread',
  'MaxUnavailableStatefulSet',
  'MinDomainsInPodTopologySpread',
  'NetworkPolicyStatus',
  'NodeInclusionPolicyInPodTopologySpread',
  'ProbeTerminationGracePeriod',
  'ProcMountType',
  'ReadWriteOncePod',
  'RecoverVolumeExpansionFailure',
  'RemoteRequestHeaderUID',
  'RetroactiveDefaultStorageClass',
  'SELinuxMountReadWriteOncePod',
  'ServerSideFieldValidation',
  'ServiceIPStaticSubrange',
  'ServiceInternalTrafficPolicy',
  'StatefulSetAutoDeletePVC',
  'TopologyAwareHints',
  'UserNamespacesStatelessPodsSupport',
] as const

/** Whether a feature is on. */
export type IsGateOn = (name: string) => boolean

/** Every feature at its default. */
export const gatesByDefault: IsGateOn = (name) => gateOf(name)?.isOnByDefault ?? false

/** Which features are on. */
export interface FeatureGates {
  readonly kind: 'gates'
  /** Whether a feature is on; locked gates have their defaults, unknown ones are off. */
  readonly isOn: IsGateOn
  /** What the log should say about the words that were given. */
  readonly warnings: readonly string[]
}

/** The words cannot be followed; the message is meant for the person who gave them. */
export interface RefusedGates {
  readonly kind: 'refused'
  readonly message: string
  /** The name that is not known, for a suggestion. */
  readonly unknown?: string
}

/** The gates after words such as `APIListChunking=false`. The last word about a gate counts. */
export function parseFeatureGates(words: readonly string[]): FeatureGates | RefusedGates {
  const on = new Map<string, boolean>(actingGates.map((name) => [name, gateOf(name)!.isOnByDefault]))
  const warnings: string[] = []
  for (const word of words) {
    const [name = '', text = ''] = word.split('=')
    const value = text === 'true' ? true : text === 'false' ? false : undefined
    const gate = gateOf(name)
    if (gate === undefined) return { kind: 'refused', message: `unknown feature gate ${name}`, unknown: name }
    if (value === undefined) return { kind: 'refused', message: `feature gate ${name}=${text}: must be true or false` }
    const refusal = refuse(gate, value)
    if (refusal !== undefined) return { kind: 'refused', message: refusal }
    if (gate.stage === 'ga' || gate.stage === 'deprecated')
      warnings.push(`feature gate ${name} is ${gate.stage === 'ga' ? 'settled' : 'deprecated'} and will be removed`)
    if (on.has(name)) on.set(name, value)
  }
  return { kind: 'gates', isOn: (name) => on.get(name) ?? gatesByDefault(name), warnings }
}

/** The gate of that name. */
export function gateOf(name: string): FeatureGate | undefined {
  if (!Object.hasOwn(table, name)) return undefined
  const [stage, state, lock] = table[name as keyof typeof table].split(' ')
  return { name, stage: stage as FeatureStage, isOnByDefault: state === 'on', isLocked: lock === 'locked' }
}

/** Every gate of API level 1.25. */
export function featureGates(): FeatureGate[] {
  return Object.keys(table).map((name) => gateOf(name)!)
}

function refuse(gate: FeatureGate, value: boolean): string | undefined {
  if (value === gate.isOnByDefault) return undefined
  if (gate.isLocked || gate.stage === 'ga')
    return `feature gate ${gate.name}: the feature is settled and cannot be switched ${value ? 'on' : 'off'}`
  if (actingGates.some((name) => name === gate.name)) return undefined
  return `feature gate ${gate.name} is known but has no effect in this server, so it cannot be switched ${value ? 'on' : 'off'}`
}

/** Stage, default, and whether it is locked. */
const table = {
  APIListChunking: 'beta on',
  APIPriorityAndFairness: 'beta on',
  APIResponseCompression: 'beta on',
  APIServerIdentity: 'alpha off',
  APIServerTracing: 'alpha off',
  AdvancedAuditing: 'ga on',
  AllAlpha: 'alpha off',
  AllBeta: 'beta off',
  AnyVolumeDataSource: 'beta on',
  AppArmor: 'beta on',
  CPUManager: 'beta on',
  CPUManagerPolicyAlphaOptions: 'alpha off',
  CPUManagerPolicyBetaOptions: 'beta on',
  CPUManagerPolicyOptions: 'beta on',
  CRDObservedGenerationTracking: 'beta on',
  CRDValidationRatcheting: 'ga on locked',
  CSIInlineVolume: 'ga on locked',
  CSIMigration: 'ga on locked',
  CSIMigrationAWS: 'ga on locked',
  CSIMigrationAzureDisk: 'ga on locked',
  CSIMigrationAzureFile: 'beta on',
  CSIMigrationGCE: 'ga on locked',
  CSIMigrationOpenStack: 'ga on locked',
  CSIMigrationPortworx: 'beta off',
  CSIMigrationRBD: 'alpha off',
  CSIMigrationvSphere: 'beta on',
  CSINodeExpandSecret: 'alpha off',
  CSIStorageCapacity: 'ga on locked',
  CSIVolumeHealth: 'alpha off',
  CSRDuration: 'ga on locked',
  ConstrainedImpersonation: 'beta on',
  ContainerCheckpoint: 'alpha off',
  ContextualLogging: 'alpha off',
  ControllerManagerLeaderMigration: 'ga on locked',
  CronJobTimeZone: 'beta on',
  CustomCPUCFSQuotaPeriod: 'alpha off',
  CustomResourceFieldSelectors: 'ga on locked',
  CustomResourceValidationExpressions: 'beta on',
  DaemonSetUpdateSurge: 'ga on locked',
  DefaultPodTopologySpread: 'ga on locked',
  DelegateFSGroupToCSIDriver: 'beta on',
  DevicePlugins: 'beta on',
  DisableAcceleratorUsageMetrics: 'ga on locked',
  DisableCloudProviders: 'alpha off',
  DisableKubeletCloudCredentialProviders: 'alpha off',
  DownwardAPIHugePages: 'beta on',
  DryRun: 'ga on',
  DynamicKubeletConfig: 'deprecated off',
  EfficientWatchResumption: 'ga on locked',
  EndpointSliceTerminatingCondition: 'beta on',
  EphemeralContainers: 'ga on locked',
  ExecProbeTimeout: 'ga on',
  ExpandCSIVolumes: 'ga on',
  ExpandInUsePersistentVolumes: 'ga on',
  ExpandPersistentVolumes: 'ga on',
  ExpandedDNSConfig: 'alpha off',
  ExperimentalHostUserNamespaceDefaulting: 'beta off',
  GRPCContainerProbe: 'beta on',
  GracefulNodeShutdown: 'beta on',
  GracefulNodeShutdownBasedOnPodPriority: 'beta on',
  HPAContainerMetrics: 'alpha off',
  HPAScaleToZero: 'alpha off',
  HonorPVReclaimPolicy: 'alpha off',
  IPTablesOwnershipCleanup: 'alpha off',
  IdentifyPodOS: 'ga on locked',
  InTreePluginAWSUnregister: 'alpha off',
  InTreePluginAzureDiskUnregister: 'alpha off',
  InTreePluginAzureFileUnregister: 'alpha off',
  InTreePluginGCEUnregister: 'alpha off',
  InTreePluginOpenStackUnregister: 'alpha off',
  InTreePluginPortworxUnregister: 'alpha off',
  InTreePluginRBDUnregister: 'alpha off',
  InTreePluginvSphereUnregister: 'alpha off',
  IndexedJob: 'ga on locked',
  JobMutableNodeSchedulingDirectives: 'beta on',
  JobPodFailurePolicy: 'alpha off',
  JobReadyPods: 'beta on',
  JobTrackingWithFinalizers: 'beta on',
  KMSv2: 'alpha off',
  KubeletCredentialProviders: 'beta on',
  KubeletInUserNamespace: 'alpha off',
  KubeletPodResources: 'beta on',
  KubeletPodResourcesGetAllocatable: 'beta on',
  KubeletTracing: 'alpha off',
  LegacyServiceAccountTokenNoAutoGeneration: 'beta on',
  LocalStorageCapacityIsolation: 'ga on locked',
  LocalStorageCapacityIsolationFSQuotaMonitoring: 'alpha off',
  LogarithmicScaleDown: 'beta on',
  LoggingAlphaOptions: 'alpha off',
  LoggingBetaOptions: 'beta on',
  MatchLabelKeysInPodTopologySpread: 'alpha off',
  MaxUnavailableStatefulSet: 'alpha off',
  MemoryManager: 'beta on',
  MemoryQoS: 'alpha off',
  MinDomainsInPodTopologySpread: 'beta off',
  MixedProtocolLBService: 'beta on',
  MultiCIDRRangeAllocator: 'alpha off',
  NetworkPolicyEndPort: 'ga on locked',
  NetworkPolicyStatus: 'alpha off',
  NodeInclusionPolicyInPodTopologySpread: 'alpha off',
  NodeOutOfServiceVolumeDetach: 'alpha off',
  NodeSwap: 'alpha off',
  NonPreemptingPriority: 'ga on locked',
  OpenAPIEnums: 'beta on',
  OpenAPIV3: 'beta on',
  PodAffinityNamespaceSelector: 'ga on locked',
  PodAndContainerStatsFromCRI: 'alpha off',
  PodDeletionCost: 'beta on',
  PodDisruptionConditions: 'alpha off',
  PodHasNetworkCondition: 'alpha off',
  PodOverhead: 'ga on locked',
  PodSecurity: 'ga on locked',
  PreferNominatedNode: 'ga on locked',
  ProbeTerminationGracePeriod: 'beta on',
  ProcMountType: 'alpha off',
  ProxyTerminatingEndpoints: 'alpha off',
  QOSReserved: 'alpha off',
  ReadWriteOncePod: 'alpha off',
  RecoverVolumeExpansionFailure: 'alpha off',
  RemoteRequestHeaderUID: 'beta on',
  RemainingItemCount: 'beta on',
  RemoveSelfLink: 'ga on locked',
  RetroactiveDefaultStorageClass: 'alpha off',
  RotateKubeletServerCertificate: 'beta on',
  SELinuxMountReadWriteOncePod: 'alpha off',
  SeccompDefault: 'beta on',
  ServerSideApply: 'ga on',
  ServerSideFieldValidation: 'beta on',
  ServiceIPStaticSubrange: 'beta on',
  ServiceInternalTrafficPolicy: 'beta on',
  ServiceLBNodePortControl: 'ga on locked',
  ServiceLoadBalancerClass: 'ga on locked',
  SizeMemoryBackedVolumes: 'beta on',
  StatefulSetAutoDeletePVC: 'alpha off',
  StatefulSetMinReadySeconds: 'ga on locked',
  StorageVersionAPI: 'alpha off',
  StorageVersionHash: 'beta on',
  SuspendJob: 'ga on locked',
  TopologyAwareHints: 'beta on',
  TopologyManager: 'beta on',
  UnauthenticatedHTTP2DOSMitigation: 'beta off',
  UserNamespacesStatelessPodsSupport: 'alpha off',
  VolumeCapacityPriority: 'alpha off',
  WatchBookmark: 'ga on locked',
  WinDSR: 'alpha off',
  WinOverlay: 'beta on',
  WindowsHostProcessContainers: 'beta on',
} as const
