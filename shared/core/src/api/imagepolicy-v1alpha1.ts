import { field, required } from '../description/fields.ts'
import { defineTypes, object, struct } from '../description/structs.ts'
import { string } from '../description/texts.ts'
import { boolean, list, map, ref } from '../description/values.ts'
import { metadata } from './common.ts'

/** The types of imagepolicy/v1alpha1. */
export const imagepolicyV1alpha1 = defineTypes({
  ImageReview: object('Asks if the images of a pod are allowed.', () => ({
    metadata,
    spec: required(ref('imagepolicy/v1alpha1.ImageReviewSpec'), 2, 'The pod.'),
    status: field(ref('imagepolicy/v1alpha1.ImageReviewStatus'), 3, 'The answer of the webhook.'),
  })),
  ImageReviewContainerSpec: struct('A container of the pod.', () => ({
    image: field(string(), 1, 'Its image, which may be named by tag or by digest.'),
  })),
  ImageReviewSpec: struct('The pod to review.', () => ({
    containers: field(list(ref('imagepolicy/v1alpha1.ImageReviewContainerSpec')), 1, 'Its containers, in the order of the pod.'),
    annotations: field(map(string()), 2, 'Annotations of the pod for image policies.'),
    namespace: field(string(), 3, 'Its namespace.'),
  })),
  ImageReviewStatus: struct('Review of the images of a pod.', () => ({
    allowed: required(boolean(), 1, 'True if all images are allowed.'),
    reason: field(string(), 2, 'Reason of a refusal.'),
    auditAnnotations: field(map(string()), 3, 'Notes for the audit log.'),
  })),
})
