import {
  atomicSince30,
  boolean,
  defineTypes,
  field,
  list,
  map,
  object,
  pointer,
  ref,
  required,
  string,
  struct,
  wrapped,
} from '../description/define.ts'

/** The types of authorization/v1. */
export const authorizationV1 = defineTypes({
  FieldSelectorAttributes: struct('A limitation to objects with certain fields.', () => ({
    rawSelector: field(string(), { tag: 1, doc: 'Selector in the syntax of queries. Not together with requirements.' }),
    requirements: field(list(ref('meta/v1.FieldSelectorRequirement')), {
      tag: 2,
      changes: { 31: { listType: 'atomic' } },
      doc: 'Terms, all of which must hold.',
    }),
  })),
  LabelSelectorAttributes: struct('A limitation to objects with certain labels.', () => ({
    rawSelector: field(string(), { tag: 1, doc: 'Selector in the syntax of queries. Not together with requirements.' }),
    requirements: field(list(ref('meta/v1.LabelSelectorRequirement')), {
      tag: 2,
      changes: { 31: { listType: 'atomic' } },
      doc: 'Terms, all of which must hold.',
    }),
  })),
  LocalSubjectAccessReview: object('Checks whether a user has a permission in one namespace.', () => ({
    metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1, doc: 'Standard metadata. The namespace must be that of the question.' }),
    spec: required(ref('authorization/v1.SubjectAccessReviewSpec'), { tag: 2, doc: 'The question.' }),
    status: field(ref('authorization/v1.SubjectAccessReviewStatus'), { tag: 3, doc: 'The answer, filled in by the server.' }),
  })),
  NonResourceAttributes: struct('A request for a path that is not a resource.', () => ({
    path: field(string(), { tag: 1, doc: 'Path of the request.' }),
    verb: field(string(), { tag: 2, doc: 'HTTP method of the request, in lower case.' }),
  })),
  NonResourceRule: struct('Paths and the allowed verbs.', () => ({
    verbs: atomicSince30(list(string()), { tag: 1, required: true, doc: 'HTTP methods, in lower case. * means all.' }),
    nonResourceURLs: atomicSince30(list(string()), {
      tag: 2,
      doc: 'Paths. A * alone matches all paths, and a * at the end matches the rest.',
    }),
  })),
  ResourceAttributes: struct('A request for a resource.', () => ({
    namespace: field(string(), { tag: 1, doc: 'Namespace. Empty means none, or all for a resource with namespaces.' }),
    verb: field(string(), { tag: 2, doc: 'Verb: get, list, watch, create, update, patch, delete and so on. * means all.' }),
    group: field(string(), { tag: 3, doc: 'API group. * means all.' }),
    version: field(string(), { tag: 4, doc: 'Version of the group. * means all.' }),
    resource: field(string(), { tag: 5, doc: 'Resource. * means all.' }),
    subresource: field(string(), { tag: 6, doc: 'Subresource. Empty means the resource itself.' }),
    name: field(string(), { tag: 7, doc: 'Name of the object. Empty means all.' }),
    fieldSelector: pointer(ref('authorization/v1.FieldSelectorAttributes'), {
      since: 31,
      tag: 8,
      doc: 'Limits a list, a watch or a deletion of a collection to objects with certain fields.',
    }),
    labelSelector: pointer(ref('authorization/v1.LabelSelectorAttributes'), {
      since: 31,
      tag: 9,
      doc: 'Limits a list, a watch or a deletion of a collection to objects with certain labels.',
    }),
  })),
  ResourceRule: struct('Resources and the allowed verbs.', () => ({
    verbs: atomicSince30(list(string()), { tag: 1, required: true, doc: 'Allowed verbs. * means all.' }),
    apiGroups: atomicSince30(list(string()), { tag: 2, doc: 'Groups of the resources. * means all.' }),
    resources: atomicSince30(list(string()), { tag: 3, doc: 'The resources. * means all, and */name a subresource of all.' }),
    resourceNames: atomicSince30(list(string()), { tag: 4, doc: 'Names of the objects. Empty means all.' }),
  })),
  SelfSubjectAccessReview: object('Checks whether the caller has a permission.', () => ({
    metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1, doc: 'Standard metadata; not used.' }),
    spec: required(ref('authorization/v1.SelfSubjectAccessReviewSpec'), { tag: 2, doc: 'The question.' }),
    status: field(ref('authorization/v1.SubjectAccessReviewStatus'), { tag: 3, doc: 'The answer, filled in by the server.' }),
  })),
  SelfSubjectAccessReviewSpec: struct('Action of a handler. Exactly one field is set.', () => ({
    resourceAttributes: pointer(ref('authorization/v1.ResourceAttributes'), { tag: 1, doc: 'A request for a resource.' }),
    nonResourceAttributes: pointer(ref('authorization/v1.NonResourceAttributes'), {
      tag: 2,
      doc: 'A request for a path that is not a resource.',
    }),
  })),
  SelfSubjectRulesReview: object("Asks for the caller's permissions in a namespace.", () => ({
    metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1, doc: 'Standard metadata; not used.' }),
    spec: required(ref('authorization/v1.SelfSubjectRulesReviewSpec'), { tag: 2, doc: 'The question.' }),
    status: field(ref('authorization/v1.SubjectRulesReviewStatus'), {
      tag: 3,
      doc: 'The answer, filled in by the server. It may be incomplete.',
    }),
  })),
  SelfSubjectRulesReviewSpec: struct('Attributes of an access to a resource.', () => ({
    namespace: field(string(), { tag: 1, doc: 'The namespace. Required.' }),
  })),
  SubjectAccessReview: object('Checks whether a user has a permission.', () => ({
    metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1, doc: 'Standard metadata; not used.' }),
    spec: required(ref('authorization/v1.SubjectAccessReviewSpec'), { tag: 2, doc: 'The question.' }),
    status: field(ref('authorization/v1.SubjectAccessReviewStatus'), { tag: 3, doc: 'The answer, filled in by the server.' }),
  })),
  SubjectAccessReviewSpec: struct(
    'User and access in question. Exactly one of the attributes is set, and at least one of user and groups.',
    () => ({
      resourceAttributes: pointer(ref('authorization/v1.ResourceAttributes'), { tag: 1, doc: 'A request for a resource.' }),
      nonResourceAttributes: pointer(ref('authorization/v1.NonResourceAttributes'), {
        tag: 2,
        doc: 'A request for a path that is not a resource.',
      }),
      user: field(string(), { tag: 3, doc: 'Name of the user.' }),
      groups: atomicSince30(list(string()), { tag: 4, doc: 'Groups of the user.' }),
      extra: field(map(wrapped(string())), { tag: 5, doc: 'Further attributes of the user.' }),
      uid: field(string(), { tag: 6, doc: 'Identity of the user.' }),
    }),
  ),
  SubjectAccessReviewStatus: struct('Result of a question about an access.', () => ({
    allowed: required(boolean(), { tag: 1, doc: 'True if the access is allowed.' }),
    denied: field(boolean(), {
      tag: 4,
      doc: 'True if the access is denied. Not together with allowed; if both are false, no authorizer has an opinion.',
    }),
    reason: field(string(), { tag: 2, doc: 'Reason of the answer, if it is known.' }),
    evaluationError: field(string(), { tag: 3, doc: 'Error during the check. The answer may be valid nevertheless.' }),
  })),
  SubjectRulesReviewStatus: struct('Permissions of a user in a namespace.', () => ({
    resourceRules: atomicSince30(list(ref('authorization/v1.ResourceRule')), {
      tag: 1,
      required: true,
      doc: 'Permissions for resources, in no order.',
    }),
    nonResourceRules: atomicSince30(list(ref('authorization/v1.NonResourceRule')), {
      tag: 2,
      required: true,
      doc: 'Permissions for paths that are not resources, in no order.',
    }),
    incomplete: required(boolean(), { tag: 3, doc: 'True if there may be more rules than the listed ones.' }),
    evaluationError: field(string(), { tag: 4, doc: 'Error during the check. The rules may be valid nevertheless.' }),
  })),
})
