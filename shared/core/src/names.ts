import { boundedMemo } from '@orch/cel/memo'

/**
 * All identifiers that contain the product's name, with a column per profile.
 * No other code spells such a name.
 */
export type Profile = 'orch' | 'kubernetes'

/** All profiles, the default first. */
export const profiles: readonly Profile[] = ['orch', 'kubernetes']

/** The path of features that other API servers lack: past states, and control of a test server. */
export const controlPath = '/orch/v1'

/** Each name in the profile `orch`, and in the profile `kubernetes`. */
const rows = {
  /** The domain after the first label of an API group: `storage.<apiDomain>`. */
  apiDomain: ['orch.io', 'k8s.io'],
  /** The domain of labels, annotations, finalizers and Secret types: `<labelDomain>/metadata.name`. */
  labelDomain: ['orch.io', 'kubernetes.io'],
  /** Media type of Protobuf bodies. */
  protobufMediaType: ['application/vnd.orch.protobuf', 'application/vnd.kubernetes.protobuf'],
  /** The prefix of the server's own header fields. */
  headerPrefix: ['x-orch', 'x-kubernetes'],
  systemNamespace: ['orch-system', 'kube-system'],
  publicNamespace: ['orch-public', 'kube-public'],
  nodeLeaseNamespace: ['orch-node-lease', 'kube-node-lease'],
  /** The entry in a Namespace's `spec.finalizers` that the namespace controller removes. */
  namespaceFinalizer: ['orch', 'kubernetes'],
  /** The name of the server's own Service and Endpoints in `default`. */
  serverServiceName: ['orch', 'kubernetes'],
  /** The value of the label `component` on that Service. */
  serverComponent: ['apiserver', 'apiserver'],
  /** The domain of annotations that control Pods on simulated nodes. */
  simulationDomain: ['simulation.orch.io', 'simulation.orch.io'],
  /** The driver and provisioner of simulated volumes. */
  simulatedDriver: ['simulated.csi.orch.io', 'simulated.csi.orch.io'],
  /** Field manager of simulated nodes. */
  nodeAgent: ['orch-kubelet', 'kubelet'],
  /** In-cluster DNS domain. */
  clusterDomain: ['cluster.local', 'cluster.local'],
  /** Reversed domain that opens OpenAPI definition names: `<openApiRoot>.api.core.v1.Pod`. */
  openApiRoot: ['io.orch', 'io.k8s'],
  /** Title of the OpenAPI documents. */
  openApiTitle: ['orch', 'Kubernetes'],
  /** Field manager of the server's own writes. */
  serverManager: ['orch-apiserver', 'kube-apiserver'],
  /** Field manager of the controllers' writes. */
  controllerManager: ['orch-controller-manager', 'kube-controller-manager'],
  /** Field manager of the scheduler's writes. */
  schedulerManager: ['orch-scheduler', 'kube-scheduler'],
  /** Field manager of the initial FlowSchemas and PriorityLevelConfigurations. */
  flowControlProducer: ['orch-apiserver', 'api-priority-and-fairness-config-producer-v1'],
  /** Field manager of the conditions in FlowSchemas. */
  flowControlConsumer: ['orch-apiserver', 'api-priority-and-fairness-config-consumer-v1'],
  /** The environment variable with cluster information for a credential plugin. */
  execInfoVariable: ['ORCH_EXEC_INFO', 'KUBERNETES_EXEC_INFO'],
  /** The name of the ConfigMap with root certificates in each namespace. */
  rootCertificateConfigMap: ['orch-root-ca.crt', 'kube-root-ca.crt'],
  /** The prefix of the names of token volumes in Pods. */
  tokenVolumePrefix: ['orch-api-access', 'kube-api-access'],
  /** The path below which the server has resources that kube-apiserver lacks. */
  ownPath: [controlPath, controlPath],
  /** The header field by which a request asks for an explanation of its authorization and admission, and in which the response contains it. */
  explainHeader: ['orch-explain', 'kube-explain'],
  /** The header field in which a response names the injected fault. */
  faultHeader: ['orch-fault', 'orch-fault'],
  /** The aggregator, in its user name and in its labels. */
  aggregator: ['orch-aggregator', 'kube-aggregator'],
  /** The key in a `WebhookAdmissionConfiguration` that names the client configuration file. */
  clientConfigFileKey: ['orchConfigFile', 'kubeConfigFile'],
} satisfies Readonly<Record<string, readonly [string, string]>>

/** The names of one profile. Read it with `namesOf(profile)`; the object is shared and frozen. */
export type Names = { readonly profile: Profile } & { readonly [N in keyof typeof rows]: string }

const table: Readonly<Record<Profile, Names>> = { orch: columnOf('orch', 0), kubernetes: columnOf('kubernetes', 1) }

function columnOf(profile: Profile, column: 0 | 1): Names {
  const names = Object.entries(rows).map(([name, texts]) => [name, texts[column]])
  // The rows have the members of the type.
  return Object.freeze({ profile, ...Object.fromEntries(names) }) as Names
}

/** The API group of injected faults, in every profile. */
export const faultsGroup = 'faults.orch.io'

/** True for the control path and all paths below it. */
export function isControlPath(path: string): boolean {
  return path.startsWith(controlPath) && (path.length === controlPath.length || path[controlPath.length] === '/')
}

export function namesOf(profile: Profile): Names {
  return table[profile]
}

/** An API group in the product's domain: `domainGroup(names, 'storage')` is `storage.orch.io`. */
export function domainGroup(names: Names, prefix: string): string {
  return `${prefix}.${names.apiDomain}`
}

/**
 * A name below an API group instead of the label domain: `groupName(names, 'rbac.authorization', 'aggregate-to-view')`
 * is `rbac.authorization.orch.io/aggregate-to-view`. The two domains differ in the `kubernetes` profile.
 */
export function groupName(names: Names, prefix: string, name: string): string {
  return `${domainGroup(names, prefix)}/${name}`
}

/** A label, annotation, finalizer or Secret type: `domainLabel(names, 'metadata.name')` is `orch.io/metadata.name`. */
export function domainLabel(names: Names, name: string): string {
  return asKey(`${names.labelDomain}/${name}`)
}

/** The text as an internalized string. V8 repeatedly deoptimizes code that uses concatenated strings as property names. */
const asKey = boundedMemo(1_000, (text: string) => Object.keys({ [text]: text })[0] ?? text)

/** A label below a sub-domain: `subdomainLabel(names, 'node', 'not-ready')` is `node.orch.io/not-ready`. */
export function subdomainLabel(names: Names, subdomain: string, name: string): string {
  return asKey(`${subdomain}.${names.labelDomain}/${name}`)
}

/** The label of APIServices that the server creates for its own group versions. */
export function automanagedLabel(names: Names): string {
  return subdomainLabel(names, names.aggregator, 'automanaged')
}

/** The domain of kwok's annotations in every profile. */
export const kwokDomain = 'kwok.x-k8s.io'
