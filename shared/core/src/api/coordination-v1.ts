import { defineTypes, field, int32, list, microTime, object, ref, string, struct } from '../schema/define.ts'

/** The types of coordination/v1: one definition each, read by everything that knows a type. */
export const coordinationV1 = defineTypes({
  Lease: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('coordination/v1.LeaseSpec'), { tag: 2, doc: 'The wanted state, as the user asks for it.' }),
    }),
  LeaseList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('coordination/v1.Lease')), { tag: 2, required: true, doc: 'The Lease objects of the list.' }),
      },
      { doc: 'A list of Lease objects.' },
    ),
  LeaseSpec: () =>
    struct({
      holderIdentity: field(string(), { tag: 1, pointer: true }),
      leaseDurationSeconds: field(int32(), { tag: 2, pointer: true }),
      acquireTime: field(microTime(), { tag: 3, pointer: true }),
      renewTime: field(microTime(), { tag: 4, pointer: true }),
      leaseTransitions: field(int32(), { tag: 5, pointer: true }),
    }),
})
