import { boolean, defineTypes, field, list, map, object, ref, string, struct } from '../schema/define.ts'

/** The types of imagepolicy/v1alpha1: one definition each, read by everything that knows a type. */
export const imagepolicyV1alpha1 = defineTypes({
  ImageReview: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('imagepolicy/v1alpha1.ImageReviewSpec'), {
        tag: 2,
        required: true,
        doc: 'The wanted state, as the user asks for it.',
      }),
      status: field(ref('imagepolicy/v1alpha1.ImageReviewStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  ImageReviewContainerSpec: () =>
    struct({
      image: field(string(), { tag: 1 }),
    }),
  ImageReviewSpec: () =>
    struct({
      containers: field(list(ref('imagepolicy/v1alpha1.ImageReviewContainerSpec')), { tag: 1 }),
      annotations: field(map(string()), { tag: 2 }),
      namespace: field(string(), { tag: 3 }),
    }),
  ImageReviewStatus: () =>
    struct({
      allowed: field(boolean(), { tag: 1, required: true }),
      reason: field(string(), { tag: 2 }),
      auditAnnotations: field(map(string()), { tag: 3 }),
    }),
})
