/**
 * The structs within a Pod template, with their Go names and types: `STRUCT: FIELD; FIELD`. A field is `GoName type jsonName`; without a
 * jsonName it is embedded. `name=under` is a named type and its underlying type. `28+` is a field since level 28, `25..28` one of these levels.
 *
 * Names and types are those of k8s.io/api 1.25 to 1.37. Kubernetes is Copyright The Kubernetes Authors and licensed under the Apache
 * License 2.0.
 */
export const templateShapes = `
v1.AWSElasticBlockStoreVolumeSource: VolumeID string volumeID; FSType string fsType; Partition int32 partition; ReadOnly bool readOnly
v1.Affinity: NodeAffinity *v1.NodeAffinity nodeAffinity; PodAffinity *v1.PodAffinity podAffinity; PodAntiAffinity *v1.PodAntiAffinity
  podAntiAffinity
v1.AppArmorProfile: Type v1.AppArmorProfileType=string type; LocalhostProfile *string localhostProfile
v1.AzureDiskVolumeSource: DiskName string diskName; DataDiskURI string diskURI; CachingMode *v1.AzureDataDiskCachingMode=string
  cachingMode; FSType *string fsType; ReadOnly *bool readOnly; Kind *v1.AzureDataDiskKind=string kind
v1.AzureFileVolumeSource: SecretName string secretName; ShareName string shareName; ReadOnly bool readOnly
v1.CSIVolumeSource: Driver string driver; ReadOnly *bool readOnly; FSType *string fsType; VolumeAttributes map[string]string
  volumeAttributes; NodePublishSecretRef *v1.LocalObjectReference nodePublishSecretRef
v1.Capabilities: Add []v1.Capability=string add; Drop []v1.Capability=string drop
v1.CephFSVolumeSource: Monitors []string monitors; Path string path; User string user; SecretFile string secretFile; SecretRef
  *v1.LocalObjectReference secretRef; ReadOnly bool readOnly
v1.CinderVolumeSource: VolumeID string volumeID; FSType string fsType; ReadOnly bool readOnly; SecretRef *v1.LocalObjectReference
  secretRef
v1.ClaimSource: ResourceClaimName *string resourceClaimName; ResourceClaimTemplateName *string resourceClaimTemplateName
v1.ClusterTrustBundleProjection: Name *string name; SignerName *string signerName; LabelSelector *v1.LabelSelector labelSelector; Optional
  *bool optional; Path string path; User *int64 user 37+
v1.ConfigMapEnvSource: LocalObjectReference v1.LocalObjectReference; Optional *bool optional
v1.ConfigMapKeySelector: LocalObjectReference v1.LocalObjectReference; Key string key; Optional *bool optional
v1.ConfigMapProjection: LocalObjectReference v1.LocalObjectReference; Items []v1.KeyToPath items; Optional *bool optional
v1.ConfigMapVolumeSource: LocalObjectReference v1.LocalObjectReference; Items []v1.KeyToPath items; DefaultMode *int32 defaultMode;
  Optional *bool optional; DefaultUser *int64 defaultUser 37+
v1.Container: Name string name; Image string image; Command []string command; Args []string args; WorkingDir string workingDir; Ports
  []v1.ContainerPort ports; EnvFrom []v1.EnvFromSource envFrom; Env []v1.EnvVar env; Resources v1.ResourceRequirements resources;
  ResizePolicy []v1.ContainerResizePolicy resizePolicy 27+; RestartPolicy *v1.ContainerRestartPolicy=string restartPolicy 28+;
  RestartPolicyRules []v1.ContainerRestartRule restartPolicyRules 34+; VolumeMounts []v1.VolumeMount volumeMounts; VolumeDevices
  []v1.VolumeDevice volumeDevices; LivenessProbe *v1.Probe livenessProbe; ReadinessProbe *v1.Probe readinessProbe; StartupProbe *v1.Probe
  startupProbe; Lifecycle *v1.Lifecycle lifecycle; TerminationMessagePath string terminationMessagePath; TerminationMessagePolicy
  v1.TerminationMessagePolicy=string terminationMessagePolicy; ImagePullPolicy v1.PullPolicy=string imagePullPolicy; SecurityContext
  *v1.SecurityContext securityContext; Stdin bool stdin; StdinOnce bool stdinOnce; TTY bool tty
v1.ContainerPort: Name string name; HostPort int32 hostPort; ContainerPort int32 containerPort; Protocol v1.Protocol=string protocol;
  HostIP string hostIP
v1.ContainerResizePolicy: ResourceName v1.ResourceName=string resourceName; RestartPolicy v1.ResourceResizeRestartPolicy=string
  restartPolicy
v1.ContainerRestartRule: Action v1.ContainerRestartRuleAction=string action; ExitCodes *v1.ContainerRestartRuleOnExitCodes exitCodes
v1.ContainerRestartRuleOnExitCodes: Operator v1.ContainerRestartRuleOnExitCodesOperator=string operator; Values []int32 values
v1.DownwardAPIProjection: Items []v1.DownwardAPIVolumeFile items
v1.DownwardAPIVolumeFile: Path string path; FieldRef *v1.ObjectFieldSelector fieldRef; ResourceFieldRef *v1.ResourceFieldSelector
  resourceFieldRef; Mode *int32 mode; User *int64 user 37+
v1.DownwardAPIVolumeSource: Items []v1.DownwardAPIVolumeFile items; DefaultMode *int32 defaultMode; DefaultUser *int64 defaultUser 37+
v1.EmptyDirVolumeSource: Medium v1.StorageMedium=string medium; SizeLimit *resource.Quantity sizeLimit; Mode *int32 mode 37+
v1.EnvFromSource: Prefix string prefix; ConfigMapRef *v1.ConfigMapEnvSource configMapRef; SecretRef *v1.SecretEnvSource secretRef
v1.EnvVar: Name string name; Value string value; ValueFrom *v1.EnvVarSource valueFrom
v1.EnvVarSource: FieldRef *v1.ObjectFieldSelector fieldRef; ResourceFieldRef *v1.ResourceFieldSelector resourceFieldRef; ConfigMapKeyRef
  *v1.ConfigMapKeySelector configMapKeyRef; SecretKeyRef *v1.SecretKeySelector secretKeyRef; FileKeyRef *v1.FileKeySelector fileKeyRef 34+
v1.EphemeralContainer: EphemeralContainerCommon v1.EphemeralContainerCommon; TargetContainerName string targetContainerName
v1.EphemeralContainerCommon: Name string name; Image string image; Command []string command; Args []string args; WorkingDir string
  workingDir; Ports []v1.ContainerPort ports; EnvFrom []v1.EnvFromSource envFrom; Env []v1.EnvVar env; Resources v1.ResourceRequirements
  resources; ResizePolicy []v1.ContainerResizePolicy resizePolicy 27+; RestartPolicy *v1.ContainerRestartPolicy=string restartPolicy 28+;
  RestartPolicyRules []v1.ContainerRestartRule restartPolicyRules 34+; VolumeMounts []v1.VolumeMount volumeMounts; VolumeDevices
  []v1.VolumeDevice volumeDevices; LivenessProbe *v1.Probe livenessProbe; ReadinessProbe *v1.Probe readinessProbe; StartupProbe *v1.Probe
  startupProbe; Lifecycle *v1.Lifecycle lifecycle; TerminationMessagePath string terminationMessagePath; TerminationMessagePolicy
  v1.TerminationMessagePolicy=string terminationMessagePolicy; ImagePullPolicy v1.PullPolicy=string imagePullPolicy; SecurityContext
  *v1.SecurityContext securityContext; Stdin bool stdin; StdinOnce bool stdinOnce; TTY bool tty
v1.EphemeralVolumeSource: VolumeClaimTemplate *v1.PersistentVolumeClaimTemplate volumeClaimTemplate
v1.EvictionResponder: Name string name; Priority *int32 priority
v1.ExecAction: Command []string command
v1.FCVolumeSource: TargetWWNs []string targetWWNs; Lun *int32 lun; FSType string fsType; ReadOnly bool readOnly; WWIDs []string wwids
v1.FileKeySelector: VolumeName string volumeName; Path string path; Key string key; Optional *bool optional
v1.FlexVolumeSource: Driver string driver; FSType string fsType; SecretRef *v1.LocalObjectReference secretRef; ReadOnly bool readOnly;
  Options map[string]string options
v1.FlockerVolumeSource: DatasetName string datasetName; DatasetUUID string datasetUUID
v1.GCEPersistentDiskVolumeSource: PDName string pdName; FSType string fsType; Partition int32 partition; ReadOnly bool readOnly
v1.GRPCAction: Port int32 port; Service *string service; Mode *v1.GRPCProbeMode=string mode 37+
v1.GitRepoVolumeSource: Repository string repository; Revision string revision; Directory string directory
v1.GlusterfsVolumeSource: EndpointsName string endpoints; Path string path; ReadOnly bool readOnly
v1.HTTPGetAction: Path string path; Port intstr.IntOrString port; Host string host; Scheme v1.URIScheme=string scheme; HTTPHeaders
  []v1.HTTPHeader httpHeaders; Protocol *v1.HTTPProtocol=string protocol 37+
v1.HTTPHeader: Name string name; Value string value
v1.HostAlias: IP string ip; Hostnames []string hostnames
v1.HostPathVolumeSource: Path string path; Type *v1.HostPathType=string type
v1.ISCSIVolumeSource: TargetPortal string targetPortal; IQN string iqn; Lun int32 lun; ISCSIInterface string iscsiInterface; FSType string
  fsType; ReadOnly bool readOnly; Portals []string portals; DiscoveryCHAPAuth bool chapAuthDiscovery; SessionCHAPAuth bool
  chapAuthSession; SecretRef *v1.LocalObjectReference secretRef; InitiatorName *string initiatorName
v1.ImageVolumeSource: Reference string reference; PullPolicy v1.PullPolicy=string pullPolicy
v1.KeyToPath: Key string key; Path string path; Mode *int32 mode; User *int64 user 37+
v1.LabelSelector: MatchLabels map[string]string matchLabels; MatchExpressions []v1.LabelSelectorRequirement matchExpressions
v1.LabelSelectorRequirement: Key string key; Operator v1.LabelSelectorOperator=string operator; Values []string values
v1.Lifecycle: PostStart *v1.LifecycleHandler postStart; PreStop *v1.LifecycleHandler preStop; StopSignal *v1.Signal=string stopSignal 33+
v1.LifecycleHandler: Exec *v1.ExecAction exec; HTTPGet *v1.HTTPGetAction httpGet; TCPSocket *v1.TCPSocketAction tcpSocket; Sleep
  *v1.SleepAction sleep 29+
v1.LocalObjectReference: Name string name
v1.NFSVolumeSource: Server string server; Path string path; ReadOnly bool readOnly
v1.NodeAffinity: RequiredDuringSchedulingIgnoredDuringExecution *v1.NodeSelector requiredDuringSchedulingIgnoredDuringExecution;
  PreferredDuringSchedulingIgnoredDuringExecution []v1.PreferredSchedulingTerm preferredDuringSchedulingIgnoredDuringExecution
v1.NodeSelector: NodeSelectorTerms []v1.NodeSelectorTerm nodeSelectorTerms
v1.NodeSelectorRequirement: Key string key; Operator v1.NodeSelectorOperator=string operator; Values []string values
v1.NodeSelectorTerm: MatchExpressions []v1.NodeSelectorRequirement matchExpressions; MatchFields []v1.NodeSelectorRequirement matchFields
v1.ObjectFieldSelector: APIVersion string apiVersion; FieldPath string fieldPath
v1.ObjectMeta: Name string name; GenerateName string generateName; Namespace string namespace; SelfLink string selfLink; UID
  types.UID=string uid; ResourceVersion string resourceVersion; Generation int64 generation; CreationTimestamp v1.Time creationTimestamp;
  DeletionTimestamp *v1.Time deletionTimestamp; DeletionGracePeriodSeconds *int64 deletionGracePeriodSeconds; Labels map[string]string
  labels; Annotations map[string]string annotations; OwnerReferences []v1.OwnerReference ownerReferences; Finalizers []string finalizers;
  ManagedFields []v1.ManagedFieldsEntry managedFields
v1.OwnerReference: APIVersion string apiVersion; Kind string kind; Name string name; UID types.UID=string uid; Controller *bool
  controller; BlockOwnerDeletion *bool blockOwnerDeletion
v1.PersistentVolumeClaimSpec: AccessModes []v1.PersistentVolumeAccessMode=string accessModes; Selector *v1.LabelSelector selector;
  Resources v1.ResourceRequirements resources 25..28; Resources v1.VolumeResourceRequirements resources 29+; VolumeName string volumeName;
  StorageClassName *string storageClassName; VolumeMode *v1.PersistentVolumeMode=string volumeMode; DataSource
  *v1.TypedLocalObjectReference dataSource; DataSourceRef *v1.TypedLocalObjectReference dataSourceRef 25..25; DataSourceRef
  *v1.TypedObjectReference dataSourceRef 26+; VolumeAttributesClassName *string volumeAttributesClassName 29+
v1.PersistentVolumeClaimTemplate: ObjectMeta v1.ObjectMeta metadata; Spec v1.PersistentVolumeClaimSpec spec
v1.PersistentVolumeClaimVolumeSource: ClaimName string claimName; ReadOnly bool readOnly
v1.PhotonPersistentDiskVolumeSource: PdID string pdID; FSType string fsType
v1.PodAffinity: RequiredDuringSchedulingIgnoredDuringExecution []v1.PodAffinityTerm requiredDuringSchedulingIgnoredDuringExecution;
  PreferredDuringSchedulingIgnoredDuringExecution []v1.WeightedPodAffinityTerm preferredDuringSchedulingIgnoredDuringExecution
v1.PodAffinityTerm: LabelSelector *v1.LabelSelector labelSelector; Namespaces []string namespaces; TopologyKey string topologyKey;
  NamespaceSelector *v1.LabelSelector namespaceSelector; MatchLabelKeys []string matchLabelKeys 29+; MismatchLabelKeys []string
  mismatchLabelKeys 29+
v1.PodAntiAffinity: RequiredDuringSchedulingIgnoredDuringExecution []v1.PodAffinityTerm requiredDuringSchedulingIgnoredDuringExecution;
  PreferredDuringSchedulingIgnoredDuringExecution []v1.WeightedPodAffinityTerm preferredDuringSchedulingIgnoredDuringExecution
v1.PodCertificateProjection: SignerName string signerName; KeyType string keyType; MaxExpirationSeconds *int32 maxExpirationSeconds;
  CredentialBundlePath string credentialBundlePath; KeyPath string keyPath; CertificateChainPath string certificateChainPath;
  UserAnnotations map[string]string userAnnotations 35+; User *int64 user 37+
v1.PodDNSConfig: Nameservers []string nameservers; Searches []string searches; Options []v1.PodDNSConfigOption options
v1.PodDNSConfigOption: Name string name; Value *string value
v1.PodOS: Name v1.OSName=string name
v1.PodReadinessGate: ConditionType v1.PodConditionType=string conditionType
v1.PodResourceClaim: Name string name; Source v1.ClaimSource source 26..30; ResourceClaimName *string resourceClaimName 31+;
  ResourceClaimTemplateName *string resourceClaimTemplateName 31+
v1.PodSchedulingGate: Name string name
v1.PodSchedulingGroup: PodGroupName *string podGroupName
v1.PodSecurityContext: SELinuxOptions *v1.SELinuxOptions seLinuxOptions; WindowsOptions *v1.WindowsSecurityContextOptions windowsOptions;
  RunAsUser *int64 runAsUser; RunAsGroup *int64 runAsGroup; RunAsNonRoot *bool runAsNonRoot; SupplementalGroups []int64
  supplementalGroups; SupplementalGroupsPolicy *v1.SupplementalGroupsPolicy=string supplementalGroupsPolicy 31+; FSGroup *int64 fsGroup;
  Sysctls []v1.Sysctl sysctls; FSGroupChangePolicy *v1.PodFSGroupChangePolicy=string fsGroupChangePolicy; SeccompProfile
  *v1.SeccompProfile seccompProfile; AppArmorProfile *v1.AppArmorProfile appArmorProfile 30+; SELinuxChangePolicy
  *v1.PodSELinuxChangePolicy=string seLinuxChangePolicy 32+
v1.PodSpec: Volumes []v1.Volume volumes; InitContainers []v1.Container initContainers; Containers []v1.Container containers;
  EphemeralContainers []v1.EphemeralContainer ephemeralContainers; RestartPolicy v1.RestartPolicy=string restartPolicy;
  TerminationGracePeriodSeconds *int64 terminationGracePeriodSeconds; ActiveDeadlineSeconds *int64 activeDeadlineSeconds; DNSPolicy
  v1.DNSPolicy=string dnsPolicy; NodeSelector map[string]string nodeSelector; ServiceAccountName string serviceAccountName;
  DeprecatedServiceAccount string serviceAccount; AutomountServiceAccountToken *bool automountServiceAccountToken; NodeName string
  nodeName; HostNetwork bool hostNetwork; HostPID bool hostPID; HostIPC bool hostIPC; ShareProcessNamespace *bool shareProcessNamespace;
  SecurityContext *v1.PodSecurityContext securityContext; ImagePullSecrets []v1.LocalObjectReference imagePullSecrets; Hostname string
  hostname; Subdomain string subdomain; Affinity *v1.Affinity affinity; SchedulerName string schedulerName; Tolerations []v1.Toleration
  tolerations; HostAliases []v1.HostAlias hostAliases; PriorityClassName string priorityClassName; Priority *int32 priority; DNSConfig
  *v1.PodDNSConfig dnsConfig; ReadinessGates []v1.PodReadinessGate readinessGates; RuntimeClassName *string runtimeClassName;
  EnableServiceLinks *bool enableServiceLinks; PreemptionPolicy *v1.PreemptionPolicy=string preemptionPolicy; Overhead
  v1.ResourceList=map[v1.ResourceName=string]resource.Quantity overhead; TopologySpreadConstraints []v1.TopologySpreadConstraint
  topologySpreadConstraints; SetHostnameAsFQDN *bool setHostnameAsFQDN; OS *v1.PodOS os; HostUsers *bool hostUsers; SchedulingGates
  []v1.PodSchedulingGate schedulingGates 26+; ResourceClaims []v1.PodResourceClaim resourceClaims 26+; Resources *v1.ResourceRequirements
  resources 32+; HostnameOverride *string hostnameOverride 34+; WorkloadRef *v1.WorkloadReference workloadRef 35..35; SchedulingGroup
  *v1.PodSchedulingGroup schedulingGroup 36+; EvictionResponders []v1.EvictionResponder evictionResponders 37+
v1.PodTemplateSpec: ObjectMeta v1.ObjectMeta metadata; Spec v1.PodSpec spec
v1.PortworxVolumeSource: VolumeID string volumeID; FSType string fsType; ReadOnly bool readOnly
v1.PreferredSchedulingTerm: Weight int32 weight; Preference v1.NodeSelectorTerm preference
v1.Probe: ProbeHandler v1.ProbeHandler; InitialDelaySeconds int32 initialDelaySeconds; TimeoutSeconds int32 timeoutSeconds; PeriodSeconds
  int32 periodSeconds; SuccessThreshold int32 successThreshold; FailureThreshold int32 failureThreshold; TerminationGracePeriodSeconds
  *int64 terminationGracePeriodSeconds
v1.ProbeHandler: Exec *v1.ExecAction exec; HTTPGet *v1.HTTPGetAction httpGet; TCPSocket *v1.TCPSocketAction tcpSocket; GRPC *v1.GRPCAction
  grpc
v1.ProjectedVolumeSource: Sources []v1.VolumeProjection sources; DefaultMode *int32 defaultMode; DefaultUser *int64 defaultUser 37+
v1.QuobyteVolumeSource: Registry string registry; Volume string volume; ReadOnly bool readOnly; User string user; Group string group;
  Tenant string tenant
v1.RBDVolumeSource: CephMonitors []string monitors; RBDImage string image; FSType string fsType; RBDPool string pool; RadosUser string
  user; Keyring string keyring; SecretRef *v1.LocalObjectReference secretRef; ReadOnly bool readOnly
v1.ResourceClaim: Name string name; Request string request 31+
v1.ResourceFieldSelector: ContainerName string containerName; Resource string resource; Divisor resource.Quantity divisor
v1.ResourceRequirements: Limits v1.ResourceList=map[v1.ResourceName=string]resource.Quantity limits; Requests
  v1.ResourceList=map[v1.ResourceName=string]resource.Quantity requests; Claims []v1.ResourceClaim claims 26+
v1.SELinuxOptions: User string user; Role string role; Type string type; Level string level
v1.ScaleIOVolumeSource: Gateway string gateway; System string system; SecretRef *v1.LocalObjectReference secretRef; SSLEnabled bool
  sslEnabled; ProtectionDomain string protectionDomain; StoragePool string storagePool; StorageMode string storageMode; VolumeName string
  volumeName; FSType string fsType; ReadOnly bool readOnly
v1.SeccompProfile: Type v1.SeccompProfileType=string type; LocalhostProfile *string localhostProfile
v1.SecretEnvSource: LocalObjectReference v1.LocalObjectReference; Optional *bool optional
v1.SecretKeySelector: LocalObjectReference v1.LocalObjectReference; Key string key; Optional *bool optional
v1.SecretProjection: LocalObjectReference v1.LocalObjectReference; Items []v1.KeyToPath items; Optional *bool optional
v1.SecretVolumeSource: SecretName string secretName; Items []v1.KeyToPath items; DefaultMode *int32 defaultMode; Optional *bool optional;
  DefaultUser *int64 defaultUser 37+
v1.SecurityContext: Capabilities *v1.Capabilities capabilities; Privileged *bool privileged; SELinuxOptions *v1.SELinuxOptions
  seLinuxOptions; WindowsOptions *v1.WindowsSecurityContextOptions windowsOptions; RunAsUser *int64 runAsUser; RunAsGroup *int64
  runAsGroup; RunAsNonRoot *bool runAsNonRoot; ReadOnlyRootFilesystem *bool readOnlyRootFilesystem; AllowPrivilegeEscalation *bool
  allowPrivilegeEscalation; ProcMount *v1.ProcMountType=string procMount; SeccompProfile *v1.SeccompProfile seccompProfile;
  AppArmorProfile *v1.AppArmorProfile appArmorProfile 30+
v1.ServiceAccountTokenProjection: Audience string audience; ExpirationSeconds *int64 expirationSeconds; Path string path; User *int64 user
  37+
v1.SleepAction: Seconds int64 seconds
v1.StorageOSVolumeSource: VolumeName string volumeName; VolumeNamespace string volumeNamespace; FSType string fsType; ReadOnly bool
  readOnly; SecretRef *v1.LocalObjectReference secretRef
v1.Sysctl: Name string name; Value string value
v1.TCPSocketAction: Port intstr.IntOrString port; Host string host
v1.Toleration: Key string key; Operator v1.TolerationOperator=string operator; Value string value; Effect v1.TaintEffect=string effect;
  TolerationSeconds *int64 tolerationSeconds
v1.TopologySpreadConstraint: MaxSkew int32 maxSkew; TopologyKey string topologyKey; WhenUnsatisfiable
  v1.UnsatisfiableConstraintAction=string whenUnsatisfiable; LabelSelector *v1.LabelSelector labelSelector; MinDomains *int32 minDomains;
  NodeAffinityPolicy *v1.NodeInclusionPolicy=string nodeAffinityPolicy; NodeTaintsPolicy *v1.NodeInclusionPolicy=string nodeTaintsPolicy;
  MatchLabelKeys []string matchLabelKeys
v1.TypedLocalObjectReference: APIGroup *string apiGroup; Kind string kind; Name string name
v1.TypedObjectReference: APIGroup *string apiGroup; Kind string kind; Name string name; Namespace *string namespace
v1.Volume: Name string name; VolumeSource v1.VolumeSource
v1.VolumeDevice: Name string name; DevicePath string devicePath
v1.VolumeMount: Name string name; ReadOnly bool readOnly; RecursiveReadOnly *v1.RecursiveReadOnlyMode=string recursiveReadOnly 30+;
  MountPath string mountPath; SubPath string subPath; MountPropagation *v1.MountPropagationMode=string mountPropagation; SubPathExpr
  string subPathExpr; BindMountOptions []string bindMountOptions 37+
v1.VolumeProjection: Secret *v1.SecretProjection secret; DownwardAPI *v1.DownwardAPIProjection downwardAPI; ConfigMap
  *v1.ConfigMapProjection configMap; ServiceAccountToken *v1.ServiceAccountTokenProjection serviceAccountToken; ClusterTrustBundle
  *v1.ClusterTrustBundleProjection clusterTrustBundle 29+; PodCertificate *v1.PodCertificateProjection podCertificate 34+
v1.VolumeResourceRequirements: Limits v1.ResourceList=map[v1.ResourceName=string]resource.Quantity limits; Requests
  v1.ResourceList=map[v1.ResourceName=string]resource.Quantity requests
v1.VolumeSource: HostPath *v1.HostPathVolumeSource hostPath; EmptyDir *v1.EmptyDirVolumeSource emptyDir; GCEPersistentDisk
  *v1.GCEPersistentDiskVolumeSource gcePersistentDisk; AWSElasticBlockStore *v1.AWSElasticBlockStoreVolumeSource awsElasticBlockStore;
  GitRepo *v1.GitRepoVolumeSource gitRepo; Secret *v1.SecretVolumeSource secret; NFS *v1.NFSVolumeSource nfs; ISCSI *v1.ISCSIVolumeSource
  iscsi; Glusterfs *v1.GlusterfsVolumeSource glusterfs; PersistentVolumeClaim *v1.PersistentVolumeClaimVolumeSource persistentVolumeClaim;
  RBD *v1.RBDVolumeSource rbd; FlexVolume *v1.FlexVolumeSource flexVolume; Cinder *v1.CinderVolumeSource cinder; CephFS
  *v1.CephFSVolumeSource cephfs; Flocker *v1.FlockerVolumeSource flocker; DownwardAPI *v1.DownwardAPIVolumeSource downwardAPI; FC
  *v1.FCVolumeSource fc; AzureFile *v1.AzureFileVolumeSource azureFile; ConfigMap *v1.ConfigMapVolumeSource configMap; VsphereVolume
  *v1.VsphereVirtualDiskVolumeSource vsphereVolume; Quobyte *v1.QuobyteVolumeSource quobyte; AzureDisk *v1.AzureDiskVolumeSource
  azureDisk; PhotonPersistentDisk *v1.PhotonPersistentDiskVolumeSource photonPersistentDisk; Projected *v1.ProjectedVolumeSource
  projected; PortworxVolume *v1.PortworxVolumeSource portworxVolume; ScaleIO *v1.ScaleIOVolumeSource scaleIO; StorageOS
  *v1.StorageOSVolumeSource storageos; CSI *v1.CSIVolumeSource csi; Ephemeral *v1.EphemeralVolumeSource ephemeral; Image
  *v1.ImageVolumeSource image 31+
v1.VsphereVirtualDiskVolumeSource: VolumePath string volumePath; FSType string fsType; StoragePolicyName string storagePolicyName;
  StoragePolicyID string storagePolicyID
v1.WeightedPodAffinityTerm: Weight int32 weight; PodAffinityTerm v1.PodAffinityTerm podAffinityTerm
v1.WindowsSecurityContextOptions: GMSACredentialSpecName *string gmsaCredentialSpecName; GMSACredentialSpec *string gmsaCredentialSpec;
  RunAsUserName *string runAsUserName; HostProcess *bool hostProcess
v1.WorkloadReference: Name string name; PodGroup string podGroup; PodGroupReplicaKey string podGroupReplicaKey
`
