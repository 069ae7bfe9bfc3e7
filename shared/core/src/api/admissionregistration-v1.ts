import { atomicSince30, field, inline, merged, mergedSince30, needed, pointer, required } from '../description/fields.ts'
import { defineTypes, object, struct } from '../description/structs.ts'
import { closed, only, string } from '../description/texts.ts'
import { bytes, int32, list, ref } from '../description/values.ts'
import { metadata, objectList } from './common.ts'

/** The types of admissionregistration/v1. */
export const admissionregistrationV1 = defineTypes({
  FailurePolicyType: () => only(closed('Fail', 'Ignore')),
  MatchPolicyType: () => only(closed('Equivalent', 'Exact')),
  MutatingWebhook: struct('A remote service that is called for requests before they take effect.', () => {
    const { matchConditions, ...members } = webhookMembers({ objectSelector: 11, matchConditions: 12 })
    return {
      ...members,
      reinvocationPolicy: pointer(ref('admissionregistration/v1.ReinvocationPolicyType'), 10, {
        doc: 'Never calls once (the default); IfNeeded calls again when a later webhook has changed the object.',
      }),
      matchConditions,
    }
  }),
  MutatingWebhookConfiguration: object('Webhooks that may change objects before they are stored.', () => ({
    metadata,
    webhooks: mergedSince30('name', list(ref('admissionregistration/v1.MutatingWebhook')), 2, 'The webhooks, called one after another.'),
  })),
  MutatingWebhookConfigurationList: objectList('admissionregistration/v1.MutatingWebhookConfiguration'),
  OperationType: () => only(closed('*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE')),
  PatchType: () => only(closed('ApplyConfiguration', 'JSONPatch')),
  ReinvocationPolicyType: () => only(closed('IfNeeded', 'Never')),
  Rule: struct('Resources for which a webhook is called.', () => ({
    apiGroups: needed(list(string(), { starExcludes: 'API groups' }), 1, {
      changes: { 26: { listType: 'atomic' } },
      doc: 'Groups of the resources. * means all and must be alone.',
    }),
    apiVersions: needed(list(string(), { starExcludes: 'API versions' }), 2, {
      changes: { 26: { listType: 'atomic' } },
      doc: 'Versions of the resources. * means all and must be alone.',
    }),
    resources: needed(list(string()), 3, {
      changes: { 26: { listType: 'atomic' } },
      doc: 'Resources, or resource/subresource. * is all resources, */* all with subresources, */status one subresource of all.',
    }),
    scope: pointer(ref('admissionregistration/v1.ScopeType'), 4, {
      doc: 'Cluster for resources without a namespace, Namespaced for resources with one, or * (the default) for both.',
    }),
  })),
  RuleWithOperations: struct('Resources and operations for which a webhook is called.', () => ({
    operations: needed(list(ref('admissionregistration/v1.OperationType'), { starExcludes: 'operations' }), 1, {
      changes: { 26: { listType: 'atomic' } },
      doc: 'CREATE, UPDATE, DELETE, CONNECT or * for all of them.',
    }),
    rule: inline('admissionregistration/v1.Rule', 2),
  })),
  ScopeType: () => only(closed('*', 'Cluster', 'Namespaced')),
  ServiceReference: struct('Points to a service of the cluster that answers webhook calls.', () => ({
    namespace: required(string(), 1, 'Namespace of the service. Required.'),
    name: required(string(), 2, 'Name of the service. Required.'),
    path: pointer(string(), 3, 'Path of the URL that is called.'),
    port: pointer(int32(), 4, 'Port of the service, from 1 to 65535. Default: 443.'),
  })),
  SideEffectClass: () => closed('Unknown', 'None', 'Some', 'NoneOnDryRun'),
  ValidatingWebhook: struct('A remote service that is called for requests before they take effect.', () =>
    webhookMembers({ objectSelector: 10, matchConditions: 11 }),
  ),
  ValidatingWebhookConfiguration: object('Webhooks that may refuse requests but change nothing.', () => ({
    metadata,
    webhooks: mergedSince30('name', list(ref('admissionregistration/v1.ValidatingWebhook')), 2, 'The webhooks, called side by side.'),
  })),
  ValidatingWebhookConfigurationList: objectList('admissionregistration/v1.ValidatingWebhookConfiguration'),
  WebhookClientConfig: struct('Address of a webhook: a url or a service, exactly one of them.', () => ({
    url: pointer(string(), 3, 'Address that is called, beginning with https. User name, query and fragment are not allowed.'),
    service: pointer(ref('admissionregistration/v1.ServiceReference'), 1, 'Service of the cluster that is called.'),
    caBundle: field(bytes(), 2, {
      doc: "Certificates, in PEM, that the service must be signed by. Unset means the roots that the server's system trusts.",
    }),
  })),
})

/** The fields of all webhooks; the kinds of webhooks have these under different tags. */
function webhookMembers(tags: { readonly objectSelector: number; readonly matchConditions: number }) {
  return {
    name: required(string(), 1, 'Name of the webhook, a domain name with at least three parts. Unique within its configuration.'),
    clientConfig: required(ref('admissionregistration/v1.WebhookClientConfig'), 2, 'Address of the service. Required.'),
    rules: atomicSince30(list(ref('admissionregistration/v1.RuleWithOperations')), 3, {
      doc: 'Requests that are sent to the webhook: those that match at least one rule. Requests for webhook configurations are never sent.',
    }),
    failurePolicy: pointer(ref('admissionregistration/v1.FailurePolicyType'), 4, {
      doc: 'Effect of a call that fails or times out: Fail refuses the request (the default), Ignore continues without the webhook.',
    }),
    matchPolicy: pointer(ref('admissionregistration/v1.MatchPolicyType'), 9, {
      doc: 'Exact sends only requests for the group version of a rule; Equivalent (the default) also converts requests for other versions of the same resource.',
    }),
    namespaceSelector: pointer(ref('meta/v1.LabelSelector'), 5, {
      doc: 'Only requests for objects in namespaces with matching labels. Objects without a namespace always match. Empty matches all.',
    }),
    objectSelector: pointer(ref('meta/v1.LabelSelector'), tags.objectSelector, {
      doc: 'Only requests whose object, before or after the change, has matching labels. Empty matches all.',
    }),
    sideEffects: pointer(ref('admissionregistration/v1.SideEffectClass'), 6, {
      required: true,
      doc: 'Side effects of calls: None or NoneOnDryRun. Webhooks with other effects are not called for dry runs.',
    }),
    timeoutSeconds: pointer(int32({ min: 1, max: 30, detail: 'the timeout value must be between 1 and 30 seconds' }), 7, {
      doc: 'Seconds to wait for an answer, from 1 to 30. Default: 10.',
    }),
    admissionReviewVersions: atomicSince30(list(string()), 8, {
      needed: 'must specify one of v1, v1beta1',
      required: true,
      doc: 'Versions of AdmissionReview that the service understands, best first. The server uses the first that it knows.',
    }),
    matchConditions: merged('name', list(ref('admissionregistration/v1.MatchCondition')), tags.matchConditions, {
      since: 27,
      featureGate: 'AdmissionWebhookMatchConditions',
      doc: 'Conditions in CEL. The webhook is only called if all are true. At most 64.',
    }),
  }
}
