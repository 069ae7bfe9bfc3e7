/** A resource as it is written down, before a profile has given its group a name. */
export interface ResourceDefinition {
  /** The type of its objects: `core/v1.Pod`. Its package says group and version, its last word the kind. */
  readonly type: string
  readonly plural: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly scope: 'Namespaced' | 'Cluster'
  readonly verbs: readonly string[]
  /** `stored`: kept by storage. `virtual`: a question that is answered and forgotten. `computed`: made up on each read. */
  readonly form: 'stored' | 'virtual' | 'computed'
  readonly subresources: readonly SubresourceDefinition[]
  /** Opaque text by which clients notice that the stored version has changed. */
  readonly storageVersionHash?: string
  readonly deprecated?: { readonly since: string; readonly removed?: string; readonly replacement?: string }
}

export interface SubresourceDefinition {
  readonly name: string
  /** Type of the body, where it is not the resource's own. */
  readonly type?: string
  readonly verbs: readonly string[]
  /** Type that the query parameters are read as. */
  readonly optionsType?: string
  /** Methods of a subresource that is a tunnel to somewhere else. */
  readonly connect?: readonly string[]
  /** Whether a path may follow the subresource's name. */
  readonly hasSubpath?: boolean
  /** Media type of the answer, where it is not an API object. */
  readonly produces?: string
  /** What is written through it is dropped unless this feature gate is on. */
  readonly featureGate?: string
}

const allVerbs: readonly string[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

function resource(type: string, plural: string, given: Partial<ResourceDefinition>): ResourceDefinition {
  const defaults = { shortNames: [], categories: [], scope: 'Namespaced', verbs: allVerbs, form: 'stored', subresources: [] } as const
  return { type, plural, ...defaults, ...given }
}

const statusVerbs: readonly string[] = ['get', 'patch', 'update']
const status: SubresourceDefinition = { name: 'status', verbs: statusVerbs }
const scale: SubresourceDefinition = { name: 'scale', type: 'autoscaling/v1.Scale', verbs: statusVerbs }
const gated = (subresource: SubresourceDefinition, featureGate: string): SubresourceDefinition => ({ ...subresource, featureGate })

/** A group with its versions, the preferred one first. */
export interface GroupDefinition {
  readonly group?: string
  /** First words of a group that carries the product's domain. */
  readonly domain?: string
  readonly versions: readonly string[]
}

/** The groups in the order of `/apis`. */
export const groupDefinitions: readonly GroupDefinition[] = [
  { domain: 'apiregistration', versions: ['v1'] },
  { group: '', versions: ['v1'] },
  { group: 'apps', versions: ['v1'] },
  { domain: 'events', versions: ['v1'] },
  { domain: 'authentication', versions: ['v1', 'v1beta1'] },
  { domain: 'authorization', versions: ['v1'] },
  { group: 'autoscaling', versions: ['v2', 'v1', 'v2beta2'] },
  { group: 'batch', versions: ['v1'] },
  { domain: 'certificates', versions: ['v1'] },
  { domain: 'networking', versions: ['v1', 'v1alpha1'] },
  { group: 'policy', versions: ['v1'] },
  { domain: 'rbac.authorization', versions: ['v1'] },
  { domain: 'storage', versions: ['v1', 'v1beta1'] },
  { domain: 'apiextensions', versions: ['v1'] },
  { domain: 'admissionregistration', versions: ['v1'] },
  { domain: 'scheduling', versions: ['v1'] },
  { domain: 'coordination', versions: ['v1'] },
  { domain: 'node', versions: ['v1'] },
  { domain: 'discovery', versions: ['v1'] },
  { domain: 'flowcontrol.apiserver', versions: ['v1beta2', 'v1beta1'] },
  { domain: 'internal.apiserver', versions: ['v1alpha1'] },
]

/** Every resource that API level 1.25 serves. */
export const resourceDefinitions: readonly ResourceDefinition[] = [
  resource('apiregistration/v1.APIService', 'apiservices', {
    categories: ['api-extensions'],
    scope: 'Cluster',
    subresources: [status],
    storageVersionHash: 'InPBPD7+PqM=',
  }),
  resource('core/v1.Binding', 'bindings', { verbs: ['create'], form: 'virtual' }),
  resource('core/v1.ComponentStatus', 'componentstatuses', {
    shortNames: ['cs'],
    scope: 'Cluster',
    verbs: ['get', 'list'],
    form: 'computed',
    deprecated: { since: '1.19' },
  }),
  resource('core/v1.ConfigMap', 'configmaps', { shortNames: ['cm'], storageVersionHash: 'qFsyl6wFWjQ=' }),
  resource('core/v1.Endpoints', 'endpoints', { shortNames: ['ep'], storageVersionHash: 'fWeeMqaN/OA=' }),
  resource('core/v1.Event', 'events', { shortNames: ['ev'], storageVersionHash: 'r2yiGXH7wu8=' }),
  resource('core/v1.LimitRange', 'limitranges', { shortNames: ['limits'], storageVersionHash: 'EBKMFVe6cwo=' }),
  resource('core/v1.Namespace', 'namespaces', {
    shortNames: ['ns'],
    scope: 'Cluster',
    verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
    subresources: [{ name: 'finalize', verbs: ['update'] }, status],
    storageVersionHash: 'Q3oi5N2YM8M=',
  }),
  resource('core/v1.Node', 'nodes', {
    shortNames: ['no'],
    scope: 'Cluster',
    subresources: [
      {
        name: 'proxy',
        type: 'core/v1.NodeProxyOptions',
        verbs: ['create', 'delete', 'get', 'patch', 'update'],
        optionsType: 'core/v1.NodeProxyOptions',
        connect: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'],
        hasSubpath: true,
      },
      status,
    ],
    storageVersionHash: 'XwShjMxG9Fs=',
  }),
  resource('core/v1.PersistentVolumeClaim', 'persistentvolumeclaims', {
    shortNames: ['pvc'],
    subresources: [status],
    storageVersionHash: 'QWTyNDq0dC4=',
  }),
  resource('core/v1.PersistentVolume', 'persistentvolumes', {
    shortNames: ['pv'],
    scope: 'Cluster',
    subresources: [status],
    storageVersionHash: 'HN/zwEC+JgM=',
  }),
  resource('core/v1.Pod', 'pods', {
    shortNames: ['po'],
    categories: ['all'],
    subresources: [
      {
        name: 'attach',
        type: 'core/v1.PodAttachOptions',
        verbs: ['create', 'get'],
        optionsType: 'core/v1.PodAttachOptions',
        connect: ['GET', 'POST'],
      },
      { name: 'binding', type: 'core/v1.Binding', verbs: ['create'] },
      { name: 'ephemeralcontainers', verbs: ['get', 'patch', 'update'] },
      { name: 'eviction', type: 'policy/v1.Eviction', verbs: ['create'] },
      {
        name: 'exec',
        type: 'core/v1.PodExecOptions',
        verbs: ['create', 'get'],
        optionsType: 'core/v1.PodExecOptions',
        connect: ['GET', 'POST'],
      },
      { name: 'log', verbs: ['get'], optionsType: 'core/v1.PodLogOptions', produces: 'text/plain' },
      {
        name: 'portforward',
        type: 'core/v1.PodPortForwardOptions',
        verbs: ['create', 'get'],
        optionsType: 'core/v1.PodPortForwardOptions',
        connect: ['GET', 'POST'],
      },
      {
        name: 'proxy',
        type: 'core/v1.PodProxyOptions',
        verbs: ['create', 'delete', 'get', 'patch', 'update'],
        optionsType: 'core/v1.PodProxyOptions',
        connect: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'],
        hasSubpath: true,
      },
      status,
    ],
    storageVersionHash: 'xPOwRZ+Yhw8=',
  }),
  resource('core/v1.PodTemplate', 'podtemplates', { storageVersionHash: 'LIXB2x4IFpk=' }),
  resource('core/v1.ReplicationController', 'replicationcontrollers', {
    shortNames: ['rc'],
    categories: ['all'],
    subresources: [scale, status],
    storageVersionHash: 'Jond2If31h0=',
  }),
  resource('core/v1.ResourceQuota', 'resourcequotas', {
    shortNames: ['quota'],
    subresources: [status],
    storageVersionHash: '8uhSgffRX6w=',
  }),
  resource('core/v1.Secret', 'secrets', { storageVersionHash: 'S6u1pOWzb84=' }),
  resource('core/v1.ServiceAccount', 'serviceaccounts', {
    shortNames: ['sa'],
    subresources: [{ name: 'token', type: 'authentication/v1.TokenRequest', verbs: ['create'] }],
    storageVersionHash: 'pbx9ZvyFpBE=',
  }),
  resource('core/v1.Service', 'services', {
    shortNames: ['svc'],
    categories: ['all'],
    subresources: [
      {
        name: 'proxy',
        type: 'core/v1.ServiceProxyOptions',
        verbs: ['create', 'delete', 'get', 'patch', 'update'],
        optionsType: 'core/v1.ServiceProxyOptions',
        connect: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'],
        hasSubpath: true,
      },
      status,
    ],
    storageVersionHash: '0/CO1lhkEBI=',
  }),
  resource('apps/v1.ControllerRevision', 'controllerrevisions', { storageVersionHash: '85nkx63pcBU=' }),
  resource('apps/v1.DaemonSet', 'daemonsets', {
    shortNames: ['ds'],
    categories: ['all'],
    subresources: [status],
    storageVersionHash: 'dd7pWHUlMKQ=',
  }),
  resource('apps/v1.Deployment', 'deployments', {
    shortNames: ['deploy'],
    categories: ['all'],
    subresources: [scale, status],
    storageVersionHash: '8aSe+NMegvE=',
  }),
  resource('apps/v1.ReplicaSet', 'replicasets', {
    shortNames: ['rs'],
    categories: ['all'],
    subresources: [scale, status],
    storageVersionHash: 'P1RzHs8/mWQ=',
  }),
  resource('apps/v1.StatefulSet', 'statefulsets', {
    shortNames: ['sts'],
    categories: ['all'],
    subresources: [scale, status],
    storageVersionHash: 'H+vl74LkKdo=',
  }),
  resource('events/v1.Event', 'events', { shortNames: ['ev'], storageVersionHash: 'r2yiGXH7wu8=' }),
  resource('authentication/v1.TokenReview', 'tokenreviews', { scope: 'Cluster', verbs: ['create'], form: 'virtual' }),
  // Beyond this level: newer clients ask it who they are.
  resource('authentication/v1.SelfSubjectReview', 'selfsubjectreviews', { scope: 'Cluster', verbs: ['create'], form: 'virtual' }),
  resource('authentication/v1beta1.SelfSubjectReview', 'selfsubjectreviews', { scope: 'Cluster', verbs: ['create'], form: 'virtual' }),
  resource('authorization/v1.LocalSubjectAccessReview', 'localsubjectaccessreviews', { verbs: ['create'], form: 'virtual' }),
  resource('authorization/v1.SelfSubjectAccessReview', 'selfsubjectaccessreviews', {
    scope: 'Cluster',
    verbs: ['create'],
    form: 'virtual',
  }),
  resource('authorization/v1.SelfSubjectRulesReview', 'selfsubjectrulesreviews', { scope: 'Cluster', verbs: ['create'], form: 'virtual' }),
  resource('authorization/v1.SubjectAccessReview', 'subjectaccessreviews', { scope: 'Cluster', verbs: ['create'], form: 'virtual' }),
  resource('autoscaling/v1.HorizontalPodAutoscaler', 'horizontalpodautoscalers', {
    shortNames: ['hpa'],
    categories: ['all'],
    subresources: [status],
    storageVersionHash: 'oQlkt7f5j/A=',
  }),
  resource('autoscaling/v2.HorizontalPodAutoscaler', 'horizontalpodautoscalers', {
    shortNames: ['hpa'],
    categories: ['all'],
    subresources: [status],
    storageVersionHash: 'oQlkt7f5j/A=',
  }),
  resource('autoscaling/v2beta2.HorizontalPodAutoscaler', 'horizontalpodautoscalers', {
    shortNames: ['hpa'],
    categories: ['all'],
    subresources: [status],
    storageVersionHash: 'oQlkt7f5j/A=',
    deprecated: { since: '1.23', removed: '1.26', replacement: 'autoscaling/v2.HorizontalPodAutoscaler' },
  }),
  resource('batch/v1.CronJob', 'cronjobs', {
    shortNames: ['cj'],
    categories: ['all'],
    subresources: [status],
    storageVersionHash: 'sd5LIXh4Fjs=',
  }),
  resource('batch/v1.Job', 'jobs', { categories: ['all'], subresources: [status], storageVersionHash: 'mudhfqk/qZY=' }),
  resource('certificates/v1.CertificateSigningRequest', 'certificatesigningrequests', {
    shortNames: ['csr'],
    scope: 'Cluster',
    subresources: [{ name: 'approval', verbs: ['get', 'patch', 'update'] }, status],
    storageVersionHash: '95fRKMXA+00=',
  }),
  resource('networking/v1.IngressClass', 'ingressclasses', { scope: 'Cluster', storageVersionHash: 'l/iqIbDgFyQ=' }),
  resource('networking/v1.Ingress', 'ingresses', { shortNames: ['ing'], subresources: [status], storageVersionHash: '39NQlfNR+bo=' }),
  resource('networking/v1.NetworkPolicy', 'networkpolicies', {
    shortNames: ['netpol'],
    subresources: [gated(status, 'NetworkPolicyStatus')],
    storageVersionHash: 'YpfwF18m1G8=',
  }),
  resource('networking/v1alpha1.ClusterCIDR', 'clustercidrs', { scope: 'Cluster', storageVersionHash: 'iC0u25BTSsc=' }),
  resource('policy/v1.PodDisruptionBudget', 'poddisruptionbudgets', {
    shortNames: ['pdb'],
    subresources: [status],
    storageVersionHash: '6BGBu0kpHtk=',
  }),
  resource('rbac/v1.ClusterRoleBinding', 'clusterrolebindings', { scope: 'Cluster', storageVersionHash: '48tpQ8gZHFc=' }),
  resource('rbac/v1.ClusterRole', 'clusterroles', { scope: 'Cluster', storageVersionHash: 'bYE5ZWDrJ44=' }),
  resource('rbac/v1.RoleBinding', 'rolebindings', { storageVersionHash: 'eGsCzGH6b1g=' }),
  resource('rbac/v1.Role', 'roles', { storageVersionHash: '7FuwZcIIItM=' }),
  resource('storage/v1.CSIDriver', 'csidrivers', { scope: 'Cluster', storageVersionHash: 'hL6j/rwBV5w=' }),
  resource('storage/v1.CSINode', 'csinodes', { scope: 'Cluster', storageVersionHash: 'Pe62DkZtjuo=' }),
  resource('storage/v1.CSIStorageCapacity', 'csistoragecapacities', { storageVersionHash: 'xeVl+2Ly1kE=' }),
  resource('storage/v1.StorageClass', 'storageclasses', { shortNames: ['sc'], scope: 'Cluster', storageVersionHash: 'K+m6uJwbjGY=' }),
  resource('storage/v1.VolumeAttachment', 'volumeattachments', {
    scope: 'Cluster',
    subresources: [status],
    storageVersionHash: 'tJx/ezt6UDU=',
  }),
  resource('storage/v1beta1.CSIStorageCapacity', 'csistoragecapacities', {
    storageVersionHash: 'xeVl+2Ly1kE=',
    deprecated: { since: '1.24', removed: '1.27', replacement: 'storage/v1.CSIStorageCapacity' },
  }),
  resource('admissionregistration/v1.MutatingWebhookConfiguration', 'mutatingwebhookconfigurations', {
    categories: ['api-extensions'],
    scope: 'Cluster',
    storageVersionHash: 'Sqi0GUgDaX0=',
  }),
  resource('admissionregistration/v1.ValidatingWebhookConfiguration', 'validatingwebhookconfigurations', {
    categories: ['api-extensions'],
    scope: 'Cluster',
    storageVersionHash: 'B0wHjQmsGNk=',
  }),
  resource('apiextensions/v1.CustomResourceDefinition', 'customresourcedefinitions', {
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    scope: 'Cluster',
    subresources: [status],
    storageVersionHash: 'jfWCUB31mvA=',
  }),
  resource('scheduling/v1.PriorityClass', 'priorityclasses', { shortNames: ['pc'], scope: 'Cluster', storageVersionHash: '1QwjyaZjj3Y=' }),
  resource('coordination/v1.Lease', 'leases', { storageVersionHash: 'gqkMMb/YqFM=' }),
  resource('node/v1.RuntimeClass', 'runtimeclasses', { scope: 'Cluster', storageVersionHash: 'WQTu1GL3T2Q=' }),
  resource('discovery/v1.EndpointSlice', 'endpointslices', { storageVersionHash: 'Nx3SIv6I0mE=' }),
  resource('flowcontrol/v1beta1.FlowSchema', 'flowschemas', {
    scope: 'Cluster',
    subresources: [status],
    storageVersionHash: '9bSnTLYweJ0=',
    deprecated: { since: '1.23', removed: '1.26', replacement: 'flowcontrol/v1beta2.FlowSchema' },
  }),
  resource('flowcontrol/v1beta1.PriorityLevelConfiguration', 'prioritylevelconfigurations', {
    scope: 'Cluster',
    subresources: [status],
    storageVersionHash: 'BFVwf8eYnsw=',
    deprecated: { since: '1.23', removed: '1.26', replacement: 'flowcontrol/v1beta2.PriorityLevelConfiguration' },
  }),
  resource('flowcontrol/v1beta2.FlowSchema', 'flowschemas', {
    scope: 'Cluster',
    subresources: [status],
    storageVersionHash: '9bSnTLYweJ0=',
  }),
  resource('flowcontrol/v1beta2.PriorityLevelConfiguration', 'prioritylevelconfigurations', {
    scope: 'Cluster',
    subresources: [status],
    storageVersionHash: 'BFVwf8eYnsw=',
  }),
  resource('apiserverinternal/v1alpha1.StorageVersion', 'storageversions', {
    scope: 'Cluster',
    subresources: [status],
    storageVersionHash: 'c8YZt5U0nPk=',
  }),
]
