import { boolean, defineTypes, field, list, map, object, ref, string, struct, wrapped } from '../schema/define.ts'

/** The types of authorization/v1beta1: one definition each, read by everything that knows a type. */
export const authorizationV1beta1 = defineTypes({
  LocalSubjectAccessReview: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('authorization/v1beta1.SubjectAccessReviewSpec'), {
        tag: 2,
        required: true,
        doc: 'The wanted state, as the user asks for it.',
      }),
      status: field(ref('authorization/v1beta1.SubjectAccessReviewStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  NonResourceAttributes: () =>
    struct({
      path: field(string(), { tag: 1 }),
      verb: field(string(), { tag: 2 }),
    }),
  NonResourceRule: () =>
    struct({
      verbs: field(list(string()), { tag: 1, required: true }),
      nonResourceURLs: field(list(string()), { tag: 2 }),
    }),
  ResourceAttributes: () =>
    struct({
      namespace: field(string(), { tag: 1 }),
      verb: field(string(), { tag: 2 }),
      group: field(string(), { tag: 3 }),
      version: field(string(), { tag: 4 }),
      resource: field(string(), { tag: 5 }),
      subresource: field(string(), { tag: 6 }),
      name: field(string(), { tag: 7 }),
    }),
  ResourceRule: () =>
    struct({
      verbs: field(list(string()), { tag: 1, required: true }),
      apiGroups: field(list(string()), { tag: 2 }),
      resources: field(list(string()), { tag: 3 }),
      resourceNames: field(list(string()), { tag: 4 }),
    }),
  SelfSubjectAccessReview: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('authorization/v1beta1.SelfSubjectAccessReviewSpec'), {
        tag: 2,
        required: true,
        doc: 'The wanted state, as the user asks for it.',
      }),
      status: field(ref('authorization/v1beta1.SubjectAccessReviewStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  SelfSubjectAccessReviewSpec: () =>
    struct({
      resourceAttributes: field(ref('authorization/v1beta1.ResourceAttributes'), { tag: 1, pointer: true }),
      nonResourceAttributes: field(ref('authorization/v1beta1.NonResourceAttributes'), { tag: 2, pointer: true }),
    }),
  SelfSubjectRulesReview: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('authorization/v1beta1.SelfSubjectRulesReviewSpec'), {
        tag: 2,
        required: true,
        doc: 'The wanted state, as the user asks for it.',
      }),
      status: field(ref('authorization/v1beta1.SubjectRulesReviewStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  SelfSubjectRulesReviewSpec: () =>
    struct({
      namespace: field(string(), { tag: 1 }),
    }),
  SubjectAccessReview: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('authorization/v1beta1.SubjectAccessReviewSpec'), {
        tag: 2,
        required: true,
        doc: 'The wanted state, as the user asks for it.',
      }),
      status: field(ref('authorization/v1beta1.SubjectAccessReviewStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  SubjectAccessReviewSpec: () =>
    struct({
      resourceAttributes: field(ref('authorization/v1beta1.ResourceAttributes'), { tag: 1, pointer: true }),
      nonResourceAttributes: field(ref('authorization/v1beta1.NonResourceAttributes'), { tag: 2, pointer: true }),
      user: field(string(), { tag: 3 }),
      group: field(list(string()), { tag: 4 }),
      extra: field(map(wrapped(string())), { tag: 5 }),
      uid: field(string(), { tag: 6 }),
    }),
  SubjectAccessReviewStatus: () =>
    struct({
      allowed: field(boolean(), { tag: 1, required: true }),
      denied: field(boolean(), { tag: 4 }),
      reason: field(string(), { tag: 2 }),
      evaluationError: field(string(), { tag: 3 }),
    }),
  SubjectRulesReviewStatus: () =>
    struct({
      resourceRules: field(list(ref('authorization/v1beta1.ResourceRule')), { tag: 1, required: true }),
      nonResourceRules: field(list(ref('authorization/v1beta1.NonResourceRule')), { tag: 2, required: true }),
      incomplete: field(boolean(), { tag: 3, required: true }),
      evaluationError: field(string(), { tag: 4 }),
    }),
})
