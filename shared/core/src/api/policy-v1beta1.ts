import { defineTypes, field, object, ref } from '../schema/define.ts'

/** The types of policy/v1beta1: one definition each, read by everything that knows a type. */
export const policyV1beta1 = defineTypes({
  Eviction: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      deleteOptions: field(ref('meta/v1.DeleteOptions'), { tag: 2, pointer: true }),
    }),
})
