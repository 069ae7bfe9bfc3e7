import { bytes, closed, defineTypes, field, inline, int32, list, object, ref, string, struct } from '../schema/define.ts'

/** The types of admissionregistration/v1: one definition each, read by everything that knows a type. */
export const admissionregistrationV1 = defineTypes({
  FailurePolicyType: () => closed('Ignore', 'Fail'),
  MatchPolicyType: () => closed('Exact', 'Equivalent'),
  MutatingWebhook: () =>
    struct({
      name: field(string(), { tag: 1, required: true }),
      clientConfig: field(ref('admissionregistration/v1.WebhookClientConfig'), { tag: 2, required: true }),
      rules: field(list(ref('admissionregistration/v1.RuleWithOperations')), { tag: 3 }),
      failurePolicy: field(ref('admissionregistration/v1.FailurePolicyType'), { tag: 4, pointer: true }),
      matchPolicy: field(ref('admissionregistration/v1.MatchPolicyType'), { tag: 9, pointer: true }),
      namespaceSelector: field(ref('meta/v1.LabelSelector'), { tag: 5, pointer: true }),
      objectSelector: field(ref('meta/v1.LabelSelector'), { tag: 11, pointer: true }),
      sideEffects: field(ref('admissionregistration/v1.SideEffectClass'), { tag: 6, required: true, pointer: true }),
      timeoutSeconds: field(int32(), { tag: 7, pointer: true }),
      admissionReviewVersions: field(list(string()), { tag: 8, required: true }),
      reinvocationPolicy: field(ref('admissionregistration/v1.ReinvocationPolicyType'), { tag: 10, pointer: true }),
    }),
  MutatingWebhookConfiguration: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1 }),
      webhooks: field(list(ref('admissionregistration/v1.MutatingWebhook')), {
        tag: 2,
        protoName: 'Webhooks',
        patchStrategy: 'merge',
        patchMergeKey: 'name',
      }),
    }),
  MutatingWebhookConfigurationList: () =>
    object({
      metadata: field(ref('meta/v1.ListMeta'), { tag: 1 }),
      items: field(list(ref('admissionregistration/v1.MutatingWebhookConfiguration')), { tag: 2, required: true }),
    }),
  OperationType: () => closed('*', 'CREATE', 'UPDATE', 'DELETE', 'CONNECT'),
  ReinvocationPolicyType: () => closed('Never', 'IfNeeded'),
  Rule: () =>
    struct({
      apiGroups: field(list(string()), { tag: 1 }),
      apiVersions: field(list(string()), { tag: 2 }),
      resources: field(list(string()), { tag: 3 }),
      scope: field(ref('admissionregistration/v1.ScopeType'), { tag: 4, pointer: true }),
    }),
  RuleWithOperations: () =>
    struct({
      operations: field(list(ref('admissionregistration/v1.OperationType')), { tag: 1 }),
      rule: inline('admissionregistration/v1.Rule', { tag: 2 }),
    }),
  ScopeType: () => closed('Cluster', 'Namespaced', '*'),
  ServiceReference: () =>
    struct({
      namespace: field(string(), { tag: 1, required: true }),
      name: field(string(), { tag: 2, required: true }),
      path: field(string(), { tag: 3, pointer: true }),
      port: field(int32(), { tag: 4, pointer: true }),
    }),
  SideEffectClass: () => closed('Unknown', 'None', 'Some', 'NoneOnDryRun'),
  ValidatingWebhook: () =>
    struct({
      name: field(string(), { tag: 1, required: true }),
      clientConfig: field(ref('admissionregistration/v1.WebhookClientConfig'), { tag: 2, required: true }),
      rules: field(list(ref('admissionregistration/v1.RuleWithOperations')), { tag: 3 }),
      failurePolicy: field(ref('admissionregistration/v1.FailurePolicyType'), { tag: 4, pointer: true }),
      matchPolicy: field(ref('admissionregistration/v1.MatchPolicyType'), { tag: 9, pointer: true }),
      namespaceSelector: field(ref('meta/v1.LabelSelector'), { tag: 5, pointer: true }),
      objectSelector: field(ref('meta/v1.LabelSelector'), { tag: 10, pointer: true }),
      sideEffects: field(ref('admissionregistration/v1.SideEffectClass'), { tag: 6, required: true, pointer: true }),
      timeoutSeconds: field(int32(), { tag: 7, pointer: true }),
      admissionReviewVersions: field(list(string()), { tag: 8, required: true }),
    }),
  ValidatingWebhookConfiguration: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1 }),
      webhooks: field(list(ref('admissionregistration/v1.ValidatingWebhook')), {
        tag: 2,
        protoName: 'Webhooks',
        patchStrategy: 'merge',
        patchMergeKey: 'name',
      }),
    }),
  ValidatingWebhookConfigurationList: () =>
    object({
      metadata: field(ref('meta/v1.ListMeta'), { tag: 1 }),
      items: field(list(ref('admissionregistration/v1.ValidatingWebhookConfiguration')), { tag: 2, required: true }),
    }),
  WebhookClientConfig: () =>
    struct({
      url: field(string(), { tag: 3, pointer: true }),
      service: field(ref('admissionregistration/v1.ServiceReference'), { tag: 1, pointer: true }),
      caBundle: field(bytes(), { tag: 2 }),
    }),
})
