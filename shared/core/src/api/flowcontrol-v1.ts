import { atomic, checked, field, merged, needed, pointer, required } from '../description/fields.ts'
import { defineTypes, object, struct } from '../description/structs.ts'
import { known, only, string, text } from '../description/texts.ts'
import { boolean, int32, list, ref } from '../description/values.ts'
import { lastChange, metadata, objectList } from './common.ts'

/** The types of flowcontrol/v1. */
export const flowcontrolV1 = defineTypes({
  ConditionStatus: () => known('True', 'False', 'Unknown'),
  ExemptPriorityLevelConfiguration: struct(
    { since: 28, doc: 'Share of an exempt priority level. Its own requests are never bounded.' },
    () => ({
      nominalConcurrencyShares: pointer(int32({ min: 0, detail: 'must be a non-negative integer' }), 1, {
        doc: 'Share of the parallel requests that is reserved for the level. Default: 0.',
      }),
      lendablePercent: pointer(int32({ min: 0, max: 100 }), 2, 'Percentage of its share that the level lends to others. Default: 0.'),
    }),
  ),
  FlowDistinguisherMethod: struct('Method of dividing the requests of a schema into flows.', () => ({
    type: required(ref('flowcontrol/v1.FlowDistinguisherMethodType'), 1, 'ByUser or ByNamespace.'),
  })),
  FlowDistinguisherMethodType: () => known('ByUser', 'ByNamespace'),
  FlowSchema: object('Sorts requests into a priority level.', () => ({
    metadata,
    spec: field(ref('flowcontrol/v1.FlowSchemaSpec'), 2, {
      changes: { 37: { listedAsRequired: true } },
      doc: 'Matched requests, and their priority level.',
    }),
    status: field(ref('flowcontrol/v1.FlowSchemaStatus'), 3, 'Observed state of the schema.'),
  })),
  FlowSchemaCondition: struct("One aspect of a schema's state.", () => ({
    type: field(string(), 1, { changes: { 37: { listedAsRequired: true } }, doc: 'Aspect that the condition describes.' }),
    status: field(ref('flowcontrol/v1.ConditionStatus'), 2, 'True, False or Unknown.'),
    ...lastChange(3),
  })),
  FlowSchemaList: objectList('flowcontrol/v1.FlowSchema'),
  FlowSchemaSpec: struct('Matched requests, and their priority level.', () => ({
    priorityLevelConfiguration: required(ref('flowcontrol/v1.PriorityLevelConfigurationReference'), 1, {
      doc: 'Priority level that the requests go to. While it does not exist the schema is not used.',
    }),
    matchingPrecedence: field(int32(), 2, {
      keepEmpty: true,
      doc: 'When several schemas match, the lowest number wins. From 1 to 10000. Default: 1000.',
    }),
    distinguisherMethod: pointer(ref('flowcontrol/v1.FlowDistinguisherMethod'), 3, {
      doc: 'Method of dividing requests into flows. Unset: one flow.',
    }),
    rules: atomic(list(ref('flowcontrol/v1.PolicyRulesWithSubjects')), 4, {
      doc: 'Rules; a request matches if it matches at least one of them. Empty matches none.',
    }),
  })),
  FlowSchemaStatus: struct('Observed state of a schema.', () => ({
    conditions: merged('type', list(ref('flowcontrol/v1.FlowSchemaCondition')), 1, {
      doc: 'State of the schema by aspect. Dangling tells that its priority level does not exist.',
    }),
  })),
  GroupSubject: struct('A group of users.', () => ({
    name: needed(string(), 1, { required: true, doc: 'Name of the group. * means every group.' }),
  })),
  LimitResponse: struct({ isUnion: true, doc: 'Treatment of requests that cannot be served at once.' }, () => ({
    type: checked(ref('flowcontrol/v1.LimitResponseType'), 1, {
      required: true,
      unionDiscriminator: true,
      changes: { 37: { isAlwaysChecked: undefined } },
      doc: 'Queue lets them wait, Reject answers 429.',
    }),
    queuing: pointer(ref('flowcontrol/v1.QueuingConfiguration'), 2, {
      needed: 'must not be empty if limited.limitResponse.type is Limited',
      changes: { 36: { needed: true } },
      doc: 'Settings for Queue; not allowed for Reject.',
    }),
  })),
  LimitResponseType: () => only(known('Queue', 'Reject')),
  LimitedPriorityLevelConfiguration: struct('Bounds on the requests of a priority level.', () => ({
    nominalConcurrencyShares: pointer(int32({ min: 0, detail: 'must be a non-negative integer' }), 1, {
      keepEmpty: true,
      doc: 'Share of the parallel requests. The server divides its total among the levels by their shares. Default: 30.',
    }),
    limitResponse: field(ref('flowcontrol/v1.LimitResponse'), 2, {
      changes: { 37: { listedAsRequired: true } },
      doc: 'Treatment of requests that cannot be served at once.',
    }),
    lendablePercent: pointer(int32({ min: 0, max: 100 }), 3, {
      doc: 'Percentage of its requests that the level lends to others while it does not need them. Default: 0.',
    }),
    borrowingLimitPercent: pointer(int32({ min: 0, detail: 'if specified, must be a non-negative integer' }), 4, {
      doc: 'Maximum that the level borrows from others, in percent of its own requests. Unset: no maximum.',
    }),
  })),
  NonResourcePolicyRule: struct('Requests for paths that are not resources: both verb and path must match.', () => ({
    verbs: required(list(string(), { starExcludes: 'verbs' }), 1, {
      needed: 'verbs must contain at least one value',
      listType: 'set',
      doc: 'HTTP methods, in lower case. * means all and must be alone.',
    }),
    nonResourceURLs: required(list(string(), { starExcludes: 'non-resource URLs' }), 6, {
      needed: 'nonResourceURLs must contain at least one value',
      listType: 'set',
      doc: 'Paths. A * alone matches all paths, and a * at the end matches the rest.',
    }),
  })),
  PolicyRulesWithSubjects: struct('Requests: both the subject and a rule must match. At least one rule is given.', () => ({
    subjects: required(list(ref('flowcontrol/v1.Subject')), 1, {
      needed: 'subjects must contain at least one value',
      listType: 'atomic',
      doc: 'Subjects of the request. At least one.',
    }),
    resourceRules: atomic(list(ref('flowcontrol/v1.ResourcePolicyRule')), 2, 'Requests for resources.'),
    nonResourceRules: atomic(list(ref('flowcontrol/v1.NonResourcePolicyRule')), 3, 'Requests for other paths.'),
  })),
  PriorityLevelConfiguration: object('Limits of the requests that are served at once, and the queuing of others.', () => ({
    metadata,
    spec: field(ref('flowcontrol/v1.PriorityLevelConfigurationSpec'), 2, {
      changes: { 37: { listedAsRequired: true } },
      doc: 'The bounds.',
    }),
    status: field(ref('flowcontrol/v1.PriorityLevelConfigurationStatus'), 3, 'Observed state of the level.'),
  })),
  PriorityLevelConfigurationCondition: struct("One aspect of a priority level's state.", () => ({
    type: field(string(), 1, { changes: { 37: { listedAsRequired: true } }, doc: 'Aspect that the condition describes.' }),
    status: field(ref('flowcontrol/v1.ConditionStatus'), 2, 'True, False or Unknown.'),
    ...lastChange(3),
  })),
  PriorityLevelConfigurationList: objectList('flowcontrol/v1.PriorityLevelConfiguration'),
  PriorityLevelConfigurationReference: struct('Names a priority level.', () => ({
    name: needed(text('subdomain'), 1, { required: true, needed: 'must reference a priority level', doc: 'Name of the level. Required.' }),
  })),
  PriorityLevelConfigurationSpec: struct({ isUnion: true, doc: 'Limits of the requests of a level.' }, () => ({
    type: checked(ref('flowcontrol/v1.PriorityLevelEnablement'), 1, {
      required: true,
      unionDiscriminator: true,
      changes: { 37: { isAlwaysChecked: undefined } },
      doc: 'Exempt (not bounded) or Limited.',
    }),
    limited: pointer(ref('flowcontrol/v1.LimitedPriorityLevelConfiguration'), 2, {
      needed: 'must not be empty when type is Limited',
      changes: { 36: { needed: true } },
      doc: 'Bounds for Limited; not allowed for Exempt.',
    }),
    exempt: pointer(ref('flowcontrol/v1.ExemptPriorityLevelConfiguration'), 3, {
      since: 28,
      doc: 'Share of an exempt level; not allowed for Limited.',
    }),
  })),
  PriorityLevelConfigurationStatus: struct('Observed state of a priority level.', () => ({
    conditions: merged('type', list(ref('flowcontrol/v1.PriorityLevelConfigurationCondition')), 1, 'State of the level by aspect.'),
  })),
  PriorityLevelEnablement: () => only(known('Exempt', 'Limited')),
  QueuingConfiguration: struct('Settings of the queues.', () => ({
    queues: field(int32(), 1, { keepEmpty: true, doc: 'Number of queues. 1 lets all flows share one. Default: 64.' }),
    handSize: field(int32(), 2, {
      keepEmpty: true,
      doc: 'Queues that a flow is spread over, of which a request takes the shortest. Not more than queues. Default: 8.',
    }),
    queueLengthLimit: field(int32({ min: 1, detail: 'must be positive' }), 3, {
      keepEmpty: true,
      doc: 'Most requests that wait in a queue; more are rejected. Default: 50.',
    }),
  })),
  ResourcePolicyRule: struct('Requests for resources: verb, group, resource and namespace must match.', () => ({
    verbs: required(list(string(), { starExcludes: 'verbs' }), 1, {
      needed: 'verbs must contain at least one value',
      listType: 'set',
      doc: 'Matched verbs. * means all and must be alone.',
    }),
    apiGroups: required(list(string(), { starExcludes: 'api groups' }), 2, {
      needed: 'resource rules must supply at least one api group',
      listType: 'set',
      doc: 'Groups of the resources. * means all and must be alone.',
    }),
    resources: required(list(string(), { starExcludes: 'resources' }), 3, {
      needed: 'resource rules must supply at least one resource',
      listType: 'set',
      doc: 'Resources, or resource/subresource. * means all and must be alone.',
    }),
    clusterScope: field(boolean(), 4, 'True if requests without a namespace match. Default: false.'),
    namespaces: field(list(string(), { starExcludes: 'namespaces' }), 5, {
      keepEmpty: true,
      listType: 'set',
      doc: 'Namespaces of the requests. * means all, but not requests without one. Empty needs clusterScope.',
    }),
  })),
  ServiceAccountSubject: struct('A service account.', () => ({
    namespace: needed(text('label'), 1, {
      required: true,
      needed: 'must specify namespace for service account',
      doc: 'Namespace of the account.',
    }),
    name: needed(string(), 2, { required: true, doc: 'Name of the account. * means every account of the namespace.' }),
  })),
  Subject: struct({ isUnion: true, doc: 'Subject of a request. The kind decides which field is set.' }, () => ({
    kind: checked(ref('flowcontrol/v1.SubjectKind'), 1, {
      required: true,
      unionDiscriminator: true,
      doc: 'User, Group or ServiceAccount.',
    }),
    user: pointer(ref('flowcontrol/v1.UserSubject'), 2, { needed: "user is required when subject kind is 'User'", doc: 'A user.' }),
    group: pointer(ref('flowcontrol/v1.GroupSubject'), 3, {
      needed: "group is required when subject kind is 'Group'",
      doc: 'A group of users.',
    }),
    serviceAccount: pointer(ref('flowcontrol/v1.ServiceAccountSubject'), 4, {
      needed: "serviceAccount is required when subject kind is 'ServiceAccount'",
      doc: 'A service account.',
    }),
  })),
  SubjectKind: () => only(known('Group', 'ServiceAccount', 'User')),
  UserSubject: struct('A user.', () => ({
    name: needed(string(), 1, { required: true, doc: 'Name of the user. * means every user.' }),
  })),
})
