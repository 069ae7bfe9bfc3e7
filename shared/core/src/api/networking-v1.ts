import { closed, defineTypes, field, inline, int32, intOrString, known, list, object, ref, string, struct } from '../schema/define.ts'

/** The types of networking/v1: one definition each, read by everything that knows a type. */
export const networkingV1 = defineTypes({
  HTTPIngressPath: () =>
    struct({
      path: field(string(), { tag: 1 }),
      pathType: field(ref('networking/v1.PathType'), { tag: 3, required: true, pointer: true }),
      backend: field(ref('networking/v1.IngressBackend'), { tag: 2, required: true }),
    }),
  HTTPIngressRuleValue: () =>
    struct({
      paths: field(list(ref('networking/v1.HTTPIngressPath')), { tag: 1, required: true, listType: 'atomic' }),
    }),
  IPBlock: () =>
    struct({
      cidr: field(string(), { tag: 1, required: true }),
      except: field(list(string()), { tag: 2 }),
    }),
  Ingress: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('networking/v1.IngressSpec'), { tag: 2, doc: 'The wanted state, as the user asks for it.' }),
      status: field(ref('networking/v1.IngressStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  IngressBackend: () =>
    struct({
      service: field(ref('networking/v1.IngressServiceBackend'), { tag: 4, pointer: true }),
      resource: field(ref('core/v1.TypedLocalObjectReference'), { tag: 3, pointer: true }),
    }),
  IngressClass: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('networking/v1.IngressClassSpec'), { tag: 2, doc: 'The wanted state, as the user asks for it.' }),
    }),
  IngressClassList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('networking/v1.IngressClass')), { tag: 2, required: true, doc: 'The IngressClass objects of the list.' }),
      },
      { doc: 'A list of IngressClass objects.' },
    ),
  IngressClassParametersReference: () =>
    struct({
      apiGroup: field(string(), { tag: 1, protoName: 'aPIGroup', pointer: true }),
      kind: field(string(), { tag: 2, required: true }),
      name: field(string(), { tag: 3, required: true }),
      scope: field(string(), { tag: 4, keepEmpty: true, pointer: true }),
      namespace: field(string(), { tag: 5, pointer: true }),
    }),
  IngressClassSpec: () =>
    struct({
      controller: field(string(), { tag: 1 }),
      parameters: field(ref('networking/v1.IngressClassParametersReference'), { tag: 2, pointer: true }),
    }),
  IngressList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('networking/v1.Ingress')), { tag: 2, required: true, doc: 'The Ingress objects of the list.' }),
      },
      { doc: 'A list of Ingress objects.' },
    ),
  IngressRule: () =>
    struct({
      host: field(string(), { tag: 1 }),
      ingressRuleValue: inline('networking/v1.IngressRuleValue', { tag: 2 }),
    }),
  IngressRuleValue: () =>
    struct({
      http: field(ref('networking/v1.HTTPIngressRuleValue'), { tag: 1, pointer: true }),
    }),
  IngressServiceBackend: () =>
    struct({
      name: field(string(), { tag: 1, required: true }),
      port: field(ref('networking/v1.ServiceBackendPort'), { tag: 2 }),
    }),
  IngressSpec: () =>
    struct({
      ingressClassName: field(string(), { tag: 4, pointer: true }),
      defaultBackend: field(ref('networking/v1.IngressBackend'), { tag: 1, pointer: true }),
      tls: field(list(ref('networking/v1.IngressTLS')), { tag: 2, listType: 'atomic' }),
      rules: field(list(ref('networking/v1.IngressRule')), { tag: 3, listType: 'atomic' }),
    }),
  IngressStatus: () =>
    struct({
      loadBalancer: field(ref('core/v1.LoadBalancerStatus'), { tag: 1 }),
    }),
  IngressTLS: () =>
    struct({
      hosts: field(list(string()), { tag: 1, listType: 'atomic' }),
      secretName: field(string(), { tag: 2 }),
    }),
  NetworkPolicy: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('networking/v1.NetworkPolicySpec'), { tag: 2, doc: 'The wanted state, as the user asks for it.' }),
      status: field(ref('networking/v1.NetworkPolicyStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  NetworkPolicyConditionReason: () => known('FeatureNotSupported'),
  NetworkPolicyConditionType: () => known('Accepted', 'PartialFailure', 'Failure'),
  NetworkPolicyEgressRule: () =>
    struct({
      ports: field(list(ref('networking/v1.NetworkPolicyPort')), { tag: 1 }),
      to: field(list(ref('networking/v1.NetworkPolicyPeer')), { tag: 2 }),
    }),
  NetworkPolicyIngressRule: () =>
    struct({
      ports: field(list(ref('networking/v1.NetworkPolicyPort')), { tag: 1 }),
      from: field(list(ref('networking/v1.NetworkPolicyPeer')), { tag: 2 }),
    }),
  NetworkPolicyList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('networking/v1.NetworkPolicy')), { tag: 2, required: true, doc: 'The NetworkPolicy objects of the list.' }),
      },
      { doc: 'A list of NetworkPolicy objects.' },
    ),
  NetworkPolicyPeer: () =>
    struct({
      podSelector: field(ref('meta/v1.LabelSelector'), { tag: 1, pointer: true }),
      namespaceSelector: field(ref('meta/v1.LabelSelector'), { tag: 2, pointer: true }),
      ipBlock: field(ref('networking/v1.IPBlock'), { tag: 3, pointer: true }),
    }),
  NetworkPolicyPort: () =>
    struct({
      protocol: field(ref('core/v1.Protocol'), { tag: 1, pointer: true }),
      port: field(intOrString(), { tag: 2, pointer: true }),
      endPort: field(int32(), { tag: 3, pointer: true }),
    }),
  NetworkPolicySpec: () =>
    struct({
      podSelector: field(ref('meta/v1.LabelSelector'), { tag: 1, required: true }),
      ingress: field(list(ref('networking/v1.NetworkPolicyIngressRule')), { tag: 2 }),
      egress: field(list(ref('networking/v1.NetworkPolicyEgressRule')), { tag: 3 }),
      policyTypes: field(list(ref('networking/v1.PolicyType')), { tag: 4 }),
    }),
  NetworkPolicyStatus: () =>
    struct({
      conditions: field(list(ref('meta/v1.Condition')), {
        tag: 1,
        patchStrategy: 'merge',
        patchMergeKey: 'type',
        listType: 'map',
        listMapKeys: ['type'],
      }),
    }),
  PathType: () => closed('Exact', 'Prefix', 'ImplementationSpecific'),
  PolicyType: () => closed('Ingress', 'Egress'),
  ServiceBackendPort: () =>
    struct({
      name: field(string(), { tag: 1 }),
      number: field(int32(), { tag: 2 }),
    }),
})
