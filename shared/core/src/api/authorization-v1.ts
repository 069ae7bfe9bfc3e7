import { atomicSince30, field, pointer, required } from '../description/fields.ts'
import { defineTypes, object, struct } from '../description/structs.ts'
import { string } from '../description/texts.ts'
import { boolean, list, map, ref, wrapped } from '../description/values.ts'

/** The types of authorization/v1. */
export const authorizationV1 = defineTypes({
  FieldSelectorAttributes: struct('A limitation to objects with certain fields.', () => ({
    rawSelector: field(string(), 1, 'Selector in the syntax of queries. Not together with requirements.'),
    requirements: field(list(ref('meta/v1.FieldSelectorRequirement')), 2, {
      changes: { 31: { listType: 'atomic' } },
      doc: 'Terms, all of which must hold.',
    }),
  })),
  LabelSelectorAttributes: struct('A limitation to objects with certain labels.', () => ({
    rawSelector: field(string(), 1, 'Selector in the syntax of queries. Not together with requirements.'),
    requirements: field(list(ref('meta/v1.LabelSelectorRequirement')), 2, {
      changes: { 31: { listType: 'atomic' } },
      doc: 'Terms, all of which must hold.',
    }),
  })),
  LocalSubjectAccessReview: object('Checks whether a user has a permission in one namespace.', () => ({
    metadata: field(ref('meta/v1.ObjectMeta'), 1, 'Standard metadata. The namespace must be that of the question.'),
    spec: required(ref('authorization/v1.SubjectAccessReviewSpec'), 2, 'The question.'),
    status: field(ref('authorization/v1.SubjectAccessReviewStatus'), 3, 'The answer, filled in by the server.'),
  })),
  NonResourceAttributes: struct('A request for a path that is not a resource.', () => ({
    path: field(string(), 1, 'Path of the request.'),
    verb: field(string(), 2, 'HTTP method of the request, in lower case.'),
  })),
  NonResourceRule: struct('Paths and the allowed verbs.', () => ({
    verbs: atomicSince30(list(string()), 1, { required: true, doc: 'HTTP methods, in lower case. * means all.' }),
    nonResourceURLs: atomicSince30(list(string()), 2, 'Paths. A * alone matches all paths, and a * at the end matches the rest.'),
  })),
  ResourceAttributes: struct('A request for a resource.', () => ({
    namespace: field(string(), 1, 'Namespace. Empty means none, or all for a resource with namespaces.'),
    verb: field(string(), 2, 'Verb: get, list, watch, create, update, patch, delete and so on. * means all.'),
    group: field(string(), 3, 'API group. * means all.'),
    version: field(string(), 4, 'Version of the group. * means all.'),
    resource: field(string(), 5, 'Resource. * means all.'),
    subresource: field(string(), 6, 'Subresource. Empty means the resource itself.'),
    name: field(string(), 7, 'Name of the object. Empty means all.'),
    fieldSelector: pointer(ref('authorization/v1.FieldSelectorAttributes'), 8, {
      since: 31,
      doc: 'Limits a list, a watch or a deletion of a collection to objects with certain fields.',
    }),
    labelSelector: pointer(ref('authorization/v1.LabelSelectorAttributes'), 9, {
      since: 31,
      doc: 'Limits a list, a watch or a deletion of a collection to objects with certain labels.',
    }),
  })),
  ResourceRule: struct('Resources and the allowed verbs.', () => ({
    verbs: atomicSince30(list(string()), 1, { required: true, doc: 'Allowed verbs. * means all.' }),
    apiGroups: atomicSince30(list(string()), 2, 'Groups of the resources. * means all.'),
    resources: atomicSince30(list(string()), 3, 'The resources. * means all, and */name a subresource of all.'),
    resourceNames: atomicSince30(list(string()), 4, 'Names of the objects. Empty means all.'),
  })),
  SelfSubjectAccessReview: object('Checks whether the caller has a permission.', () => ({
    metadata: field(ref('meta/v1.ObjectMeta'), 1, 'Standard metadata; not used.'),
    spec: required(ref('authorization/v1.SelfSubjectAccessReviewSpec'), 2, 'The question.'),
    status: field(ref('authorization/v1.SubjectAccessReviewStatus'), 3, 'The answer, filled in by the server.'),
  })),
  SelfSubjectAccessReviewSpec: struct('Action of a handler. Exactly one field is set.', () => ({
    resourceAttributes: pointer(ref('authorization/v1.ResourceAttributes'), 1, 'A request for a resource.'),
    nonResourceAttributes: pointer(ref('authorization/v1.NonResourceAttributes'), 2, 'A request for a path that is not a resource.'),
  })),
  SelfSubjectRulesReview: object("Asks for the caller's permissions in a namespace.", () => ({
    metadata: field(ref('meta/v1.ObjectMeta'), 1, 'Standard metadata; not used.'),
    spec: required(ref('authorization/v1.SelfSubjectRulesReviewSpec'), 2, 'The question.'),
    status: field(ref('authorization/v1.SubjectRulesReviewStatus'), 3, 'The answer, filled in by the server. It may be incomplete.'),
  })),
  SelfSubjectRulesReviewSpec: struct('Attributes of an access to a resource.', () => ({
    namespace: field(string(), 1, 'The namespace. Required.'),
  })),
  SubjectAccessReview: object('Checks whether a user has a permission.', () => ({
    metadata: field(ref('meta/v1.ObjectMeta'), 1, 'Standard metadata; not used.'),
    spec: required(ref('authorization/v1.SubjectAccessReviewSpec'), 2, 'The question.'),
    status: field(ref('authorization/v1.SubjectAccessReviewStatus'), 3, 'The answer, filled in by the server.'),
  })),
  SubjectAccessReviewSpec: struct(
    'User and access in question. Exactly one of the attributes is set, and at least one of user and groups.',
    () => ({
      resourceAttributes: pointer(ref('authorization/v1.ResourceAttributes'), 1, 'A request for a resource.'),
      nonResourceAttributes: pointer(ref('authorization/v1.NonResourceAttributes'), 2, 'A request for a path that is not a resource.'),
      user: field(string(), 3, 'Name of the user.'),
      groups: atomicSince30(list(string()), 4, 'Groups of the user.'),
      extra: field(map(wrapped(string())), 5, 'Further attributes of the user.'),
      uid: field(string(), 6, 'Identity of the user.'),
    }),
  ),
  SubjectAccessReviewStatus: struct('Result of a question about an access.', () => ({
    allowed: required(boolean(), 1, 'True if the access is allowed.'),
    denied: field(boolean(), 4, {
      doc: 'True if the access is denied. Not together with allowed; if both are false, no authorizer has an opinion.',
    }),
    reason: field(string(), 2, 'Reason of the answer, if it is known.'),
    evaluationError: field(string(), 3, 'Error during the check. The answer may be valid nevertheless.'),
  })),
  SubjectRulesReviewStatus: struct('Permissions of a user in a namespace.', () => ({
    resourceRules: atomicSince30(list(ref('authorization/v1.ResourceRule')), 1, {
      required: true,
      doc: 'Permissions for resources, in no order.',
    }),
    nonResourceRules: atomicSince30(list(ref('authorization/v1.NonResourceRule')), 2, {
      required: true,
      doc: 'Permissions for paths that are not resources, in no order.',
    }),
    incomplete: required(boolean(), 3, 'True if there may be more rules than the listed ones.'),
    evaluationError: field(string(), 4, 'Error during the check. The rules may be valid nevertheless.'),
  })),
})
