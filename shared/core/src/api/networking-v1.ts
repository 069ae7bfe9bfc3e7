import { atomic, atomicSince30, field, inline, merged, needed, pointer, required } from '../description/fields.ts'
import { defineTypes, object, struct } from '../description/structs.ts'
import { closed, known, only, string, text } from '../description/texts.ts'
import { int32, intOrString, list, ref } from '../description/values.ts'
import { metadata, objectList } from './common.ts'

/** The types of networking/v1. */
export const networkingV1 = defineTypes({
  HTTPIngressPath: struct('Backend of requests for one path.', () => ({
    path: field(string(), 1, 'Path of the request, beginning with a slash. Required for Exact and Prefix.'),
    pathType: pointer(ref('networking/v1.PathType'), 3, {
      required: true,
      doc: 'Exact, Prefix (by path segments), or ImplementationSpecific (defined by the controller).',
    }),
    backend: required(ref('networking/v1.IngressBackend'), 2, 'Backend of the requests.'),
  })),
  HTTPIngressRuleValue: struct('Distributes HTTP requests by path.', () => ({
    paths: needed(list(ref('networking/v1.HTTPIngressPath')), 1, {
      required: true,
      listType: 'atomic',
      doc: 'The paths. The longest that matches wins.',
    }),
  })),
  IPAddress: object({ since: 33, doc: 'An allocated address of a Service. The name of the object is the address.' }, () => ({
    metadata: field(ref('meta/v1.ObjectMeta'), 1, 'Standard metadata. The name is the address in canonical form.'),
    spec: field(ref('networking/v1.IPAddressSpec'), 2, { changes: { 36: { listedAsRequired: true } }, doc: 'Owner of the address.' }),
  })),
  IPAddressList: objectList('networking/v1.IPAddress', { since: 33 }),
  IPAddressSpec: struct({ since: 33, doc: 'Owner of an address.' }, () => ({
    parentRef: needed(ref('networking/v1.ParentReference'), 1, {
      isImmutable: true,
      declaredSince: 37,
      changes: { 30: { listedAsRequired: true } },
      pointer: true,
      doc: 'The object that uses the address.',
    }),
  })),
  IPBlock: struct('Addresses of a network, with exceptions.', () => ({
    cidr: required(string(), 1, 'The network, in CIDR notation.'),
    except: atomicSince30(list(string()), 2, 'Excluded networks within it.'),
  })),
  Ingress: object('Rules by which requests from outside reach services of the cluster.', () => ({
    metadata,
    spec: field(ref('networking/v1.IngressSpec'), 2, 'The rules.'),
    status: field(ref('networking/v1.IngressStatus'), 3, 'Address at which requests are accepted.'),
  })),
  IngressBackend: struct('Backend of requests. Exactly one field is set.', () => ({
    service: pointer(ref('networking/v1.IngressServiceBackend'), 4, 'A service of the namespace.'),
    resource: pointer(ref('core/v1.TypedLocalObjectReference'), 3, 'Another object of the namespace.'),
  })),
  IngressClass: object('A named controller that ingresses can choose. An annotation makes one class the default.', () => ({
    metadata,
    spec: field(ref('networking/v1.IngressClassSpec'), 2, 'The controller and its parameters.'),
  })),
  IngressClassList: objectList('networking/v1.IngressClass'),
  IngressClassParametersReference: struct('Names an object with settings for a controller.', () => ({
    apiGroup: pointer(text('subdomain'), 1, 'API group of the object. Unset means the legacy group.'),
    kind: required(text('pathSegment'), 2, { needed: 'kind is required', declaredSince: 37, doc: 'Kind of the object.' }),
    name: required(text('pathSegment'), 3, { needed: 'name is required', declaredSince: 37, doc: 'Name of the object.' }),
    scope: pointer(string(), 4, { keepEmpty: true, doc: 'Namespace if the object is in a namespace, otherwise Cluster (the default).' }),
    namespace: pointer(string(), 5, 'Namespace of the object. Required for scope Namespace, not allowed for Cluster.'),
  })),
  IngressClassSpec: struct('A controller for ingresses.', () => ({
    controller: field(string(), 1, 'Name of the controller, with a domain before a slash; at most 250 characters. Cannot be changed.'),
    parameters: pointer(ref('networking/v1.IngressClassParametersReference'), 2, 'Object with further settings for the controller.'),
  })),
  IngressList: objectList('networking/v1.Ingress'),
  IngressLoadBalancerIngress: struct({ since: 26, doc: 'An address of the load balancer of an ingress.' }, () => ({
    ip: field(string(), 1, 'IP address.'),
    hostname: field(string(), 2, 'Name in DNS.'),
    ports: atomic(list(ref('networking/v1.IngressPortStatus')), 4, 'State of the ports.'),
  })),
  IngressLoadBalancerStatus: struct({ since: 26, doc: 'State of the load balancer of an ingress.' }, () => ({
    ingress: atomicSince30(list(ref('networking/v1.IngressLoadBalancerIngress')), 1, 'Addresses of the load balancer.'),
  })),
  IngressPortStatus: struct({ since: 26, doc: 'State of a port of a load balancer.' }, () => ({
    port: required(int32(), 1, 'Number of the port.'),
    protocol: required(ref('core/v1.Protocol'), 2, 'TCP, UDP or SCTP.'),
    error: pointer(string(), 3, 'Problem of the port as one word in CamelCase, with a domain if it is not a standard one.'),
  })),
  IngressRule: struct('Backends of requests for one host.', () => ({
    host: field(string(), 1, 'Host name, without a port, where *.name matches names with one more part. Empty means every host.'),
    ingressRuleValue: inline('networking/v1.IngressRuleValue', 2),
  })),
  IngressRuleValue: struct('Method of dividing the requests of a schema into flows.', () => ({
    http: pointer(ref('networking/v1.HTTPIngressRuleValue'), 1, {
      doc: 'Distributes HTTP requests by path. Unset sends all requests to the default backend.',
    }),
  })),
  IngressServiceBackend: struct('A service that receives requests.', () => ({
    name: needed(text('label1035'), 1, { changes: { 36: { node: text('label') } }, required: true, doc: 'Name of the service.' }),
    port: field(ref('networking/v1.ServiceBackendPort'), 2, 'Port of the service. Required.'),
  })),
  IngressSpec: struct('Rules for requests from outside.', () => ({
    ingressClassName: pointer(text('subdomain'), 4, {
      doc: 'Class that says which controller serves the ingress. Unset means the default class, if there is one.',
    }),
    defaultBackend: pointer(ref('networking/v1.IngressBackend'), 1, {
      doc: 'Backend of requests that match no rule. Required if there are no rules.',
    }),
    tls: atomic(list(ref('networking/v1.IngressTLS')), 2, 'Hosts that are served over TLS, with their certificates.'),
    rules: atomic(list(ref('networking/v1.IngressRule')), 3, 'Rules by host. Without a match requests go to the default backend.'),
  })),
  IngressStatus: struct('Addresses of an ingress.', () => ({
    loadBalancer: field(ref('core/v1.LoadBalancerStatus'), 1, {
      changes: { 26: { node: ref('networking/v1.IngressLoadBalancerStatus') } },
      doc: 'State of the load balancer.',
    }),
  })),
  IngressTLS: struct('Hosts that share a certificate.', () => ({
    hosts: atomic(list(string()), 1, 'Hosts that the certificate is for. Unset leaves it to the controller.'),
    secretName: field(text('subdomain'), 2, 'Secret with certificate and key. Unset lets the controller pass TLS on by host name.'),
  })),
  NetworkPolicy: object('Defines the allowed traffic of pods in the namespace. Pods that no policy selects have no restrictions.', () => ({
    metadata,
    spec: field(ref('networking/v1.NetworkPolicySpec'), 2, 'Selected pods, and their allowed traffic.'),
    status: field(ref('networking/v1.NetworkPolicyStatus'), 3, { until: 27, doc: 'State of the policy by aspect.' }),
  })),
  NetworkPolicyConditionReason: () => known('FeatureNotSupported'),
  NetworkPolicyConditionType: () => known('Accepted', 'PartialFailure', 'Failure'),
  NetworkPolicyEgressRule: struct('Traffic that may go out: both ports and to must match.', () => ({
    ports: atomicSince30(list(ref('networking/v1.NetworkPolicyPort')), 1, 'Ports at the other end. Empty means all.'),
    to: atomicSince30(list(ref('networking/v1.NetworkPolicyPeer')), 2, 'Allowed destinations of traffic. Empty: every destination.'),
  })),
  NetworkPolicyIngressRule: struct('Traffic that may come in: both ports and from must match.', () => ({
    ports: atomicSince30(list(ref('networking/v1.NetworkPolicyPort')), 1, 'Ports of the chosen pods. Empty means all.'),
    from: atomicSince30(list(ref('networking/v1.NetworkPolicyPeer')), 2, 'Allowed sources of traffic. Empty: every source.'),
  })),
  NetworkPolicyList: objectList('networking/v1.NetworkPolicy'),
  NetworkPolicyPeer: struct('The other end of traffic. Either ipBlock or selectors are set; two selectors must both match.', () => ({
    podSelector: pointer(ref('meta/v1.LabelSelector'), 1, {
      doc: "Labels of pods, in the chosen namespaces or else the policy's own. Empty chooses all.",
    }),
    namespaceSelector: pointer(ref('meta/v1.LabelSelector'), 2, 'Labels of namespaces. Empty chooses all.'),
    ipBlock: pointer(ref('networking/v1.IPBlock'), 3, 'Addresses. Not together with selectors.'),
  })),
  NetworkPolicyPort: struct('A port of traffic.', () => ({
    protocol: pointer(only(closed('TCP', 'UDP', 'SCTP')), 1, 'TCP (the default), UDP or SCTP.'),
    port: pointer(intOrString(), 2, 'Port, by number or by name. Unset means all.'),
    endPort: pointer(int32(), 3, 'Last port of a range that begins with port, which must then be a number.'),
  })),
  NetworkPolicySpec: struct('Allowed traffic of selected pods.', () => ({
    podSelector: required(ref('meta/v1.LabelSelector'), 1, {
      changes: { 34: { required: false, keepEmpty: true } },
      doc: 'Labels of the pods that the policy is for. Empty chooses all pods of the namespace.',
    }),
    ingress: atomicSince30(list(ref('networking/v1.NetworkPolicyIngressRule')), 2, {
      doc: 'Traffic that may come in. All rules of all policies add up; empty allows none.',
    }),
    egress: atomicSince30(list(ref('networking/v1.NetworkPolicyEgressRule')), 3, {
      doc: 'Traffic that may go out. All rules of all policies add up; empty allows none if the policy is for Egress.',
    }),
    policyTypes: atomicSince30(list(ref('networking/v1.PolicyType')), 4, {
      doc: 'Directions that the policy is for: Ingress, Egress or both. Default: Ingress, and Egress if there are rules for it.',
    }),
  })),
  NetworkPolicyStatus: struct({ until: 27, doc: 'Observed state of a policy.' }, () => ({
    conditions: merged('type', list(ref('meta/v1.Condition')), 1, 'State of the policy by aspect.'),
  })),
  ParentReference: struct({ since: 33, doc: 'A reference to the object that uses an address.' }, () => ({
    group: field(text('subdomain'), 1, 'Group of the resource. Empty: the core group.'),
    resource: needed(text('pathSegment'), 2, {
      changes: { 30: { listedAsRequired: true } },
      doc: 'Name of the resource, such as services.',
    }),
    namespace: field(text('pathSegment'), 3, 'Namespace of the object. Empty: none.'),
    name: needed(text('pathSegment'), 4, { changes: { 30: { listedAsRequired: true } }, doc: 'Name of the object.' }),
    uid: field(string(), 5, { until: 28, doc: 'Identity of the object.' }),
  })),
  PathType: () => closed('Exact', 'Prefix', 'ImplementationSpecific'),
  PolicyType: () => only(closed('Ingress', 'Egress')),
  ServiceBackendPort: struct({ changes: { 31: { structType: 'atomic' } }, doc: 'A port of a service. Exactly one field is set.' }, () => ({
    name: field(text('portName'), 1, 'Name of the port.'),
    number: field(int32(), 2, 'Number of the port.'),
  })),
  ServiceCIDR: object({ since: 33, doc: 'A range that addresses of Services are taken from.' }, () => ({
    metadata: field(ref('meta/v1.ObjectMeta'), 1, 'Standard metadata.'),
    spec: field(ref('networking/v1.ServiceCIDRSpec'), 2, 'The ranges.'),
    status: field(ref('networking/v1.ServiceCIDRStatus'), 3, 'State of the ranges.'),
  })),
  ServiceCIDRList: objectList('networking/v1.ServiceCIDR', { since: 33 }),
  ServiceCIDRSpec: struct({ since: 33, doc: 'Ranges for addresses of Services.' }, () => ({
    cidrs: needed(list(text('canonicalCidr')), 1, {
      needed: 'at least one CIDR required',
      changes: { 30: { listType: 'atomic' } },
      doc: 'One range, or one of each IP family, in CIDR notation. They cannot be changed.',
    }),
  })),
  ServiceCIDRStatus: struct({ since: 33, doc: 'State of ranges for addresses of Services.' }, () => ({
    conditions: merged('type', list(ref('meta/v1.Condition')), 1, 'Conditions: Ready says that addresses are taken from the ranges.'),
  })),
})
