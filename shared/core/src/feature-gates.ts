import { gateAt, knownReleases, printRelease } from './gate-releases.ts'

export { knownReleases } from './gate-releases.ts'

/** How settled a feature is. */
type FeatureStage = 'alpha' | 'beta' | 'ga' | 'deprecated'

/** One feature that may be switched. */
export interface FeatureGate {
  readonly name: string
  readonly stage: FeatureStage
  readonly isOnByDefault: boolean
  /** The feature can no longer be switched. */
  readonly isLocked: boolean
  /** The release does not have the feature yet. */
  readonly isAbsent?: true
  /** This server does not have the feature: a word for what is missing. */
  readonly missing?: string
}

/** Gates that this server acts on; to switch any other one is refused, as nothing would come of it. */
export const actingGates = [
  'APIListChunking',
  'AllowUnsafeMalformedObjectDeletion',
  'CRDObservedGenerationTracking',
  'CSINodeExpandSecret',
  'ComponentFlagz',
  'ComponentStatusz',
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
  'ShardedListAndWatch',
  'SizeBasedListCostEstimate',
  'StatefulSetAutoDeletePVC',
  'TopologyAwareHints',
  'UserNamespacesStatelessPodsSupport',
  'WatchListCompression',
] as const

/** Gates about how kube-apiserver works inside, which change no answer: they may be switched, and the log says that nothing comes of it. */
const inner: ReadonlySet<string> = new Set([
  'APIServingWithRoutine',
  'CBORServingAndStorage',
  'ConcurrentWatchObjectDecode',
  'ConsistentListFromCacheSkipTimeoutFallback',
  'EtcdRangeStream',
  'SeparateCacheWatchRPC',
  'WatchCacheInitializationPostStartHook',
])

/** Gates of what this server does not have, with a word for it: they are off, whatever kube-apiserver's default is. */
const missing: ReadonlyMap<string, string> = new Map([
  ['ManifestBasedAdmissionControlConfig', 'admission configured by the manifests of a folder'],
  ['StructuredAuthenticationConfigurationEgressSelector', 'egress selectors'],
  ['UnknownVersionInteroperabilityProxy', 'proxy between servers of different versions'],
])

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

/** The gates of a release after words such as `APIListChunking=false`. The last word about a gate counts. */
export function parseFeatureGates(words: readonly string[], minor: number = knownReleases.own): FeatureGates | RefusedGates {
  const on = new Map<string, boolean>(actingGates.map((name) => [name, gateOf(name, minor)!.isOnByDefault]))
  const warnings: string[] = []
  for (const word of words) {
    const [name = '', text = ''] = word.split('=')
    const value = text === 'true' ? true : text === 'false' ? false : undefined
    const gate = gateOf(name, minor)
    if (gate === undefined) return { kind: 'refused', message: `unknown feature gate ${name}`, unknown: name }
    if (value === undefined) return { kind: 'refused', message: `feature gate ${name}=${text}: must be true or false` }
    const refusal = refuse(gate, value, minor)
    if (refusal !== undefined) return { kind: 'refused', message: refusal }
    if (inner.has(name)) warnings.push(`feature gate ${name} has no effect in this server`)
    if (gate.stage === 'ga' || gate.stage === 'deprecated')
      warnings.push(`feature gate ${name} is ${gate.stage === 'ga' ? 'settled' : 'deprecated'} and will be removed`)
    if (on.has(name)) on.set(name, value)
  }
  return { kind: 'gates', isOn: (name) => on.get(name) ?? gatesByDefault(name), warnings }
}

/** The gate of that name, as a release has it. */
export function gateOf(name: string, minor: number = knownReleases.own): FeatureGate | undefined {
  if (!Object.hasOwn(table, name)) return undefined
  const text = gateAt(name, minor) ?? table[name as keyof typeof table]
  if (text === 'absent') return { name, stage: 'alpha', isOnByDefault: false, isLocked: true, isAbsent: true }
  const [stage, state, lock] = text.split(' ')
  const lacks = missing.get(name)
  if (lacks !== undefined) return { name, stage: stage as FeatureStage, isOnByDefault: false, isLocked: true, missing: lacks }
  return { name, stage: stage as FeatureStage, isOnByDefault: state === 'on', isLocked: lock === 'locked' }
}

/** Every gate of API level 1.25, and those of newer levels about the API server. */
export function featureGates(): FeatureGate[] {
  return Object.keys(table).map((name) => gateOf(name)!)
}

function refuse(gate: FeatureGate, value: boolean, minor: number): string | undefined {
  if (value === gate.isOnByDefault || inner.has(gate.name)) return undefined
  if (gate.isAbsent)
    return `feature gate ${gate.name}: the feature does not exist at version ${printRelease(minor)}, so it cannot be switched on`
  if (gate.missing !== undefined) return `feature gate ${gate.name}: this server has no ${gate.missing}, so it cannot be switched on`
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
  APIServerWebhookAuthenticationToken: 'alpha off',
  APIServingWithRoutine: 'alpha off',
  AdvancedAuditing: 'ga on',
  AggregatedDiscoveryRemoveBetaType: 'deprecated on locked',
  AllAlpha: 'alpha off',
  AllBeta: 'beta off',
  AllowParsingUserUIDFromCertAuth: 'beta on',
  AllowUnsafeMalformedObjectDeletion: 'beta on',
  AnyVolumeDataSource: 'beta on',
  AppArmor: 'beta on',
  CBORServingAndStorage: 'alpha off',
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
  ComponentFlagz: 'beta on',
  ComponentStatusz: 'beta on',
  ConcurrentWatchObjectDecode: 'beta on',
  ConsistentListFromCacheSkipTimeoutFallback: 'alpha off',
  ConstrainedImpersonation: 'beta on',
  ContainerCheckpoint: 'alpha off',
  ContextualLogging: 'alpha off',
  ControllerManagerLeaderMigration: 'ga on locked',
  CoordinatedLeaderElection: 'beta off',
  CronJobTimeZone: 'beta on',
  CustomCPUCFSQuotaPeriod: 'alpha off',
  CustomResourceFieldSelectors: 'ga on locked',
  CustomResourceValidationExpressions: 'beta on',
  DaemonSetUpdateSurge: 'ga on locked',
  DeclarativeValidation: 'ga on locked',
  DeclarativeValidationBeta: 'beta on',
  DeclarativeValidationTakeover: 'deprecated on locked',
  DefaultPodTopologySpread: 'ga on locked',
  DelegateFSGroupToCSIDriver: 'beta on',
  DetectCacheInconsistency: 'beta on',
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
  EtcdRangeStream: 'beta on',
  ExcludeAdmissionWebhookVirtualResources: 'beta on',
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
  KMSv1: 'deprecated off',
  KMSv2: 'alpha off',
  KubeletCredentialProviders: 'beta on',
  KubeletInUserNamespace: 'alpha off',
  KubeletPodResources: 'beta on',
  KubeletPodResourcesGetAllocatable: 'beta on',
  KubeletTracing: 'alpha off',
  LegacyServiceAccountTokenNoAutoGeneration: 'beta on',
  ListFromCacheSnapshot: 'beta on',
  LocalStorageCapacityIsolation: 'ga on locked',
  LocalStorageCapacityIsolationFSQuotaMonitoring: 'alpha off',
  LogarithmicScaleDown: 'beta on',
  LoggingAlphaOptions: 'alpha off',
  LoggingBetaOptions: 'beta on',
  ManifestBasedAdmissionControlConfig: 'beta on',
  MatchLabelKeysInPodTopologySpread: 'alpha off',
  MaxUnavailableStatefulSet: 'alpha off',
  MemoryManager: 'beta on',
  MemoryQoS: 'alpha off',
  MinDomainsInPodTopologySpread: 'beta off',
  MixedProtocolLBService: 'beta on',
  MultiCIDRRangeAllocator: 'alpha off',
  MutatingAdmissionPolicy: 'ga on',
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
  RemainingItemCount: 'beta on',
  RemoteRequestHeaderUID: 'beta on',
  RemoveSelfLink: 'ga on locked',
  RetroactiveDefaultStorageClass: 'alpha off',
  RotateKubeletServerCertificate: 'beta on',
  SELinuxMountReadWriteOncePod: 'alpha off',
  SeccompDefault: 'beta on',
  SeparateCacheWatchRPC: 'deprecated on locked',
  ServerSideApply: 'ga on',
  ServerSideFieldValidation: 'beta on',
  ServiceIPStaticSubrange: 'beta on',
  ServiceInternalTrafficPolicy: 'beta on',
  ServiceLBNodePortControl: 'ga on locked',
  ServiceLoadBalancerClass: 'ga on locked',
  ShardedListAndWatch: 'alpha off',
  SizeBasedListCostEstimate: 'beta on',
  SizeMemoryBackedVolumes: 'beta on',
  StatefulSetAutoDeletePVC: 'alpha off',
  StatefulSetMinReadySeconds: 'ga on locked',
  StorageVersionAPI: 'alpha off',
  StorageVersionHash: 'beta on',
  StructuredAuthenticationConfigurationEgressSelector: 'beta on',
  StructuredAuthenticationConfigurationJWKSMetrics: 'beta on',
  SuspendJob: 'ga on locked',
  TokenRequestServiceAccountUIDValidation: 'beta on',
  TopologyAwareHints: 'beta on',
  TopologyManager: 'beta on',
  UnauthenticatedHTTP2DOSMitigation: 'beta off',
  UnknownVersionInteroperabilityProxy: 'beta on',
  UserNamespacesStatelessPodsSupport: 'alpha off',
  VolumeCapacityPriority: 'alpha off',
  WatchBookmark: 'ga on locked',
  WatchCacheInitializationPostStartHook: 'ga on locked',
  WatchList: 'beta on',
  WatchListCompression: 'beta on',
  WebhookRoundTripLoadBalancing: 'beta on',
  WinDSR: 'alpha off',
  WinOverlay: 'beta on',
  WindowsHostProcessContainers: 'beta on',
} as const
