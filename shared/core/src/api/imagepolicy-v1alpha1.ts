import { boolean, defineTypes, field, list, map, object, ref, string, struct } from '../schema/define.ts'

/** The types of imagepolicy/v1alpha1: one definition each, read by everything that knows a type. */
export const imagepolicyV1alpha1 = defineTypes({
  ImageReview: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1 }),
      spec: field(ref('imagepolicy/v1alpha1.ImageReviewSpec'), { tag: 2, required: true }),
      status: field(ref('imagepolicy/v1alpha1.ImageReviewStatus'), { tag: 3 }),
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
