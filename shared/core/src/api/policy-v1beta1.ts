import { defineTypes, field, object, ref } from '../description/define.ts'

/** The types of policy/v1beta1: one definition each, read by everything that knows a type. */
export const policyV1beta1 = defineTypes({
  Eviction: () =>
    object(
      {
        metadata: field(ref('meta/v1.ObjectMeta'), {
          tag: 1,
          doc: 'Standard metadata. The name is that of the pod.',
        }),
        deleteOptions: field(ref('meta/v1.DeleteOptions'), { tag: 2, pointer: true, doc: 'Options of the delete.' }),
      },
      { doc: 'Asks that a pod be ended, unless a disruption budget stands against it. Made through the eviction subresource of the pod.' },
    ),
})
