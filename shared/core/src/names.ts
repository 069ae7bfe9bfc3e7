import { boundedMemo } from '@orch/cel/memo'

/**
 * All identifiers that contain the product's name, with a column per profile.
 * No other code spells such a name.
 */
export type Profile = 'orch' | 'kubernetes'

/** All profiles, the default first. */
export const profiles: readonly Profile[] = ['orch', 'kubernetes']

/** The names of one profile. Read it with `namesOf(profile)`; the object is shared and frozen. */
export interface Names {
  readonly profile: Profile
  /** The domain after the first label of an API group: `storage.<apiDomain>`. */
  readonly apiDomain: string
  /** The domain of labels, annotations, finalizers and Secret types: `<labelDomain>/metadata.name`. */
  readonly labelDomain: string
  /** Media type of Protobuf bodies. */
  readonly protobufMediaType: string
  /** The prefix of the server's own header fields. */
  readonly headerPrefix: string
  readonly systemNamespace: string
  readonly publicNamespace: string
  readonly nodeLeaseNamespace: string
  /** The entry in a Namespace's `spec.finalizers` that the namespace controller removes. */
  readonly namespaceFinalizer: string
  /** The name of the server's own Service and Endpoints in `default`. */
  readonly serverServiceName: string
  /** The value of the label `component` on that Service. */
  readonly serverComponent: string
  /** The domain of annotations that control Pods on simulated nodes. */
  readonly simulationDomain: string
  /** The driver and provisioner of simulated volumes. */
  readonly simulatedDriver: string
  /** Field manager of simulated nodes. */
  readonly nodeAgent: string
  /** In-cluster DNS domain. */
  readonly clusterDomain: string
  /** Reversed domain that opens OpenAPI definition names: `<openApiRoot>.api.core.v1.Pod`. */
  readonly openApiRoot: string
  /** Title of the OpenAPI documents. */
  readonly openApiTitle: string
  /** Field manager of the server's own writes. */
  readonly serverManager: string
  /** Field manager of the controllers' writes. */
  readonly controllerManager: string
  /** Field manager of the scheduler's writes. */
  readonly schedulerManager: string
  /** Field manager of the initial FlowSchemas and PriorityLevelConfigurations. */
  readonly flowControlProducer: string
  /** Field manager of the conditions in FlowSchemas. */
  readonly flowControlConsumer: string
  /** The environment variable with cluster information for a credential plugin. */
  readonly execInfoVariable: string
  /** The name of the ConfigMap with root certificates in each namespace. */
  readonly rootCertificateConfigMap: string
  /** The prefix of the names of token volumes in Pods. */
  readonly tokenVolumePrefix: string
  /** The path below which the server has resources that kube-apiserver lacks. */
  readonly ownPath: string
  /** The header field by which a request asks for an explanation of its authorization and admission, and in which the response contains it. */
  readonly explainHeader: string
  /** The header field in which a response names the injected fault. */
  readonly faultHeader: string
  /** The aggregator, in its user name and in its labels. */
  readonly aggregator: string
  /** The key in a `WebhookAdmissionConfiguration` that names the client configuration file. */
  readonly clientConfigFileKey: string
}

/** The path of features that other API servers lack: past states, and control of a test server. */
export const controlPath = '/orch/v1'

const table: Readonly<Record<Profile, Names>> = {
  orch: Object.freeze({
    profile: 'orch',
    apiDomain: 'orch.io',
    labelDomain: 'orch.io',
    protobufMediaType: 'application/vnd.orch.protobuf',
    headerPrefix: 'x-orch',
    systemNamespace: 'orch-system',
    publicNamespace: 'orch-public',
    nodeLeaseNamespace: 'orch-node-lease',
    namespaceFinalizer: 'orch',
    serverServiceName: 'orch',
    serverComponent: 'apiserver',
    clusterDomain: 'cluster.local',
    openApiRoot: 'io.orch',
    openApiTitle: 'orch',
    serverManager: 'orch-apiserver',
    controllerManager: 'orch-controller-manager',
    nodeAgent: 'orch-kubelet',
    simulationDomain: 'simulation.orch.io',
    schedulerManager: 'orch-scheduler',
    simulatedDriver: 'simulated.csi.orch.io',
    flowControlProducer: 'orch-apiserver',
    flowControlConsumer: 'orch-apiserver',
    execInfoVariable: 'ORCH_EXEC_INFO',
    rootCertificateConfigMap: 'orch-root-ca.crt',
    tokenVolumePrefix: 'orch-api-access',
    ownPath: controlPath,
    explainHeader: 'orch-explain',
    faultHeader: 'orch-fault',
    aggregator: 'orch-aggregator',
    clientConfigFileKey: 'orchConfigFile',
  }),
  kubernetes: Object.freeze({
    profile: 'kubernetes',
    apiDomain: 'k8s.io',
    labelDomain: 'kubernetes.io',
    protobufMediaType: 'application/vnd.kubernetes.protobuf',
    headerPrefix: 'x-kubernetes',
    systemNamespace: 'kube-system',
    publicNamespace: 'kube-public',
    nodeLeaseNamespace: 'kube-node-lease',
    namespaceFinalizer: 'kubernetes',
    serverServiceName: 'kubernetes',
    serverComponent: 'apiserver',
    clusterDomain: 'cluster.local',
    openApiRoot: 'io.k8s',
    openApiTitle: 'Kubernetes',
    serverManager: 'kube-apiserver',
    controllerManager: 'kube-controller-manager',
    nodeAgent: 'kubelet',
    simulationDomain: 'simulation.orch.io',
    schedulerManager: 'kube-scheduler',
    simulatedDriver: 'simulated.csi.orch.io',
    flowControlProducer: 'api-priority-and-fairness-config-producer-v1',
    flowControlConsumer: 'api-priority-and-fairness-config-consumer-v1',
    execInfoVariable: 'KUBERNETES_EXEC_INFO',
    rootCertificateConfigMap: 'kube-root-ca.crt',
    tokenVolumePrefix: 'kube-api-access',
    ownPath: controlPath,
    explainHeader: 'kube-explain',
    faultHeader: 'orch-fault',
    aggregator: 'kube-aggregator',
    clientConfigFileKey: 'kubeConfigFile',
  }),
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
