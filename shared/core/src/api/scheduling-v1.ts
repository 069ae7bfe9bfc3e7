import { boolean, defineTypes, field, int32, list, object, ref, string } from '../schema/define.ts'

/** The types of scheduling/v1: one definition each, read by everything that knows a type. */
export const schedulingV1 = defineTypes({
  PriorityClass: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      value: field(int32(), { tag: 2, required: true }),
      globalDefault: field(boolean(), { tag: 3 }),
      description: field(string(), { tag: 4 }),
      preemptionPolicy: field(ref('core/v1.PreemptionPolicy'), { tag: 5, pointer: true }),
    }),
  PriorityClassList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('scheduling/v1.PriorityClass')), { tag: 2, required: true, doc: 'The PriorityClass objects of the list.' }),
      },
      { doc: 'A list of PriorityClass objects.' },
    ),
})
