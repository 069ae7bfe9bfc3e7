import { boolean, defineTypes, field, list, map, object, ref, required, string, struct } from '../description/define.ts'
import { metadata } from './common.ts'

/** The types of imagepolicy/v1alpha1. */
export const imagepolicyV1alpha1 = defineTypes({
  ImageReview: object('Asks if the images of a pod are allowed.', () => ({
    metadata,
    spec: required(ref('imagepolicy/v1alpha1.ImageReviewSpec'), { tag: 2, doc: 'The pod.' }),
    status: field(ref('imagepolicy/v1alpha1.ImageReviewStatus'), { tag: 3, doc: 'The answer of the webhook.' }),
  })),
  ImageReviewContainerSpec: struct('A container of the pod.', () => ({
    image: field(string(), { tag: 1, doc: 'Its image, which may be named by tag or by digest.' }),
  })),
  ImageReviewSpec: struct('The pod to review.', () => ({
    containers: field(list(ref('imagepolicy/v1alpha1.ImageReviewContainerSpec')), {
      tag: 1,
      doc: 'Its containers, in the order of the pod.',
    }),
    annotations: field(map(string()), { tag: 2, doc: 'Annotations of the pod for image policies.' }),
    namespace: field(string(), { tag: 3, doc: 'Its namespace.' }),
  })),
  ImageReviewStatus: struct('Review of the images of a pod.', () => ({
    allowed: required(boolean(), { tag: 1, doc: 'True if all images are allowed.' }),
    reason: field(string(), { tag: 2, doc: 'Reason of a refusal.' }),
    auditAnnotations: field(map(string()), { tag: 3, doc: 'Notes for the audit log.' }),
  })),
})
