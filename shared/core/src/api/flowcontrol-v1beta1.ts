import { boolean, defineTypes, field, int32, known, list, object, ref, string, struct, time } from '../schema/define.ts'

/** The types of flowcontrol/v1beta1: one definition each, read by everything that knows a type. */
export const flowcontrolV1beta1 = defineTypes({
  ConditionStatus: () => known('True', 'False', 'Unknown'),
  FlowDistinguisherMethod: () =>
    struct({
      type: field(ref('flowcontrol/v1beta1.FlowDistinguisherMethodType'), { tag: 1, required: true }),
    }),
  FlowDistinguisherMethodType: () => known('ByUser', 'ByNamespace'),
  FlowSchema: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('flowcontrol/v1beta1.FlowSchemaSpec'), { tag: 2, doc: 'The wanted state, as the user asks for it.' }),
      status: field(ref('flowcontrol/v1beta1.FlowSchemaStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  FlowSchemaCondition: () =>
    struct({
      type: field(string(), { tag: 1, doc: 'What the condition is about.' }),
      status: field(ref('flowcontrol/v1beta1.ConditionStatus'), { tag: 2, doc: 'True, False or Unknown.' }),
      lastTransitionTime: field(time(), { tag: 3, doc: 'When the status last changed from one value to another.' }),
      reason: field(string(), { tag: 4, doc: 'One word in CamelCase that says why the condition has this status, for programs.' }),
      message: field(string(), { tag: 5, doc: 'Details of the last change, for people.' }),
    }),
  FlowSchemaList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('flowcontrol/v1beta1.FlowSchema')), { tag: 2, required: true, doc: 'The FlowSchema objects of the list.' }),
      },
      { doc: 'A list of FlowSchema objects.' },
    ),
  FlowSchemaSpec: () =>
    struct({
      priorityLevelConfiguration: field(ref('flowcontrol/v1beta1.PriorityLevelConfigurationReference'), { tag: 1, required: true }),
      matchingPrecedence: field(int32(), { tag: 2, keepEmpty: true }),
      distinguisherMethod: field(ref('flowcontrol/v1beta1.FlowDistinguisherMethod'), { tag: 3, pointer: true }),
      rules: field(list(ref('flowcontrol/v1beta1.PolicyRulesWithSubjects')), { tag: 4, listType: 'atomic' }),
    }),
  FlowSchemaStatus: () =>
    struct({
      conditions: field(list(ref('flowcontrol/v1beta1.FlowSchemaCondition')), { tag: 1, listType: 'map', listMapKeys: ['type'] }),
    }),
  GroupSubject: () =>
    struct({
      name: field(string(), { tag: 1, required: true }),
    }),
  LimitResponse: () =>
    struct(
      {
        type: field(ref('flowcontrol/v1beta1.LimitResponseType'), { tag: 1, required: true, unionDiscriminator: true }),
        queuing: field(ref('flowcontrol/v1beta1.QueuingConfiguration'), { tag: 2, pointer: true }),
      },
      { union: true },
    ),
  LimitResponseType: () => known('Queue', 'Reject'),
  LimitedPriorityLevelConfiguration: () =>
    struct({
      assuredConcurrencyShares: field(int32(), { tag: 1, keepEmpty: true }),
      limitResponse: field(ref('flowcontrol/v1beta1.LimitResponse'), { tag: 2 }),
    }),
  NonResourcePolicyRule: () =>
    struct({
      verbs: field(list(string()), { tag: 1, required: true, listType: 'set' }),
      nonResourceURLs: field(list(string()), { tag: 6, required: true, listType: 'set' }),
    }),
  PolicyRulesWithSubjects: () =>
    struct({
      subjects: field(list(ref('flowcontrol/v1beta1.Subject')), { tag: 1, required: true, listType: 'atomic' }),
      resourceRules: field(list(ref('flowcontrol/v1beta1.ResourcePolicyRule')), { tag: 2, listType: 'atomic' }),
      nonResourceRules: field(list(ref('flowcontrol/v1beta1.NonResourcePolicyRule')), { tag: 3, listType: 'atomic' }),
    }),
  PriorityLevelConfiguration: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('flowcontrol/v1beta1.PriorityLevelConfigurationSpec'), { tag: 2, doc: 'The wanted state, as the user asks for it.' }),
      status: field(ref('flowcontrol/v1beta1.PriorityLevelConfigurationStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  PriorityLevelConfigurationCondition: () =>
    struct({
      type: field(string(), { tag: 1, doc: 'What the condition is about.' }),
      status: field(ref('flowcontrol/v1beta1.ConditionStatus'), { tag: 2, doc: 'True, False or Unknown.' }),
      lastTransitionTime: field(time(), { tag: 3, doc: 'When the status last changed from one value to another.' }),
      reason: field(string(), { tag: 4, doc: 'One word in CamelCase that says why the condition has this status, for programs.' }),
      message: field(string(), { tag: 5, doc: 'Details of the last change, for people.' }),
    }),
  PriorityLevelConfigurationList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('flowcontrol/v1beta1.PriorityLevelConfiguration')), {
          tag: 2,
          required: true,
          doc: 'The PriorityLevelConfiguration objects of the list.',
        }),
      },
      { doc: 'A list of PriorityLevelConfiguration objects.' },
    ),
  PriorityLevelConfigurationReference: () =>
    struct({
      name: field(string(), { tag: 1, required: true }),
    }),
  PriorityLevelConfigurationSpec: () =>
    struct(
      {
        type: field(ref('flowcontrol/v1beta1.PriorityLevelEnablement'), { tag: 1, required: true, unionDiscriminator: true }),
        limited: field(ref('flowcontrol/v1beta1.LimitedPriorityLevelConfiguration'), { tag: 2, pointer: true }),
      },
      { union: true },
    ),
  PriorityLevelConfigurationStatus: () =>
    struct({
      conditions: field(list(ref('flowcontrol/v1beta1.PriorityLevelConfigurationCondition')), {
        tag: 1,
        listType: 'map',
        listMapKeys: ['type'],
      }),
    }),
  PriorityLevelEnablement: () => known('Exempt', 'Limited'),
  QueuingConfiguration: () =>
    struct({
      queues: field(int32(), { tag: 1, keepEmpty: true }),
      handSize: field(int32(), { tag: 2, keepEmpty: true }),
      queueLengthLimit: field(int32(), { tag: 3, keepEmpty: true }),
    }),
  ResourcePolicyRule: () =>
    struct({
      verbs: field(list(string()), { tag: 1, required: true, listType: 'set' }),
      apiGroups: field(list(string()), { tag: 2, required: true, listType: 'set' }),
      resources: field(list(string()), { tag: 3, required: true, listType: 'set' }),
      clusterScope: field(boolean(), { tag: 4 }),
      namespaces: field(list(string()), { tag: 5, keepEmpty: true, listType: 'set' }),
    }),
  ServiceAccountSubject: () =>
    struct({
      namespace: field(string(), { tag: 1, required: true }),
      name: field(string(), { tag: 2, required: true }),
    }),
  Subject: () =>
    struct(
      {
        kind: field(ref('flowcontrol/v1beta1.SubjectKind'), { tag: 1, required: true, unionDiscriminator: true }),
        user: field(ref('flowcontrol/v1beta1.UserSubject'), { tag: 2, pointer: true }),
        group: field(ref('flowcontrol/v1beta1.GroupSubject'), { tag: 3, pointer: true }),
        serviceAccount: field(ref('flowcontrol/v1beta1.ServiceAccountSubject'), { tag: 4, pointer: true }),
      },
      { union: true },
    ),
  SubjectKind: () => known('User', 'Group', 'ServiceAccount'),
  UserSubject: () =>
    struct({
      name: field(string(), { tag: 1, required: true }),
    }),
})
