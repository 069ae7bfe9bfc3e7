import { boolean, defineTypes, field, int32, list, object, ref, string } from '../description/define.ts'

/** The types of scheduling/v1. */
export const schedulingV1 = defineTypes({
  PriorityClass: () =>
    object(
      {
        metadata: field(ref('meta/v1.ObjectMeta'), {
          tag: 1,
          doc: 'Standard metadata of the object: its name, labels, annotations and fields that the server maintains.',
        }),
        value: field(int32(), {
          tag: 2,
          required: true,
          changes: { 36: { required: false, keepEmpty: true } },
          doc: 'The priority; the higher, the more important. Users may go up to one billion. Cannot be changed.',
        }),
        globalDefault: field(boolean(), {
          tag: 3,
          doc: 'True if pods that name no class get this one. At most one class should be the default. Default: false.',
        }),
        description: field(string(), { tag: 4, doc: 'Description of the use of the class.' }),
        preemptionPolicy: field(ref('core/v1.PreemptionPolicy'), {
          tag: 5,
          pointer: true,
          doc: 'Preemption by pods of the class: PreemptLowerPriority (the default) or Never. Cannot be changed.',
        }),
      },
      { doc: 'A name for a priority that pods can have.' },
    ),
  PriorityClassList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and the continue token if a limit cut it off.',
        }),
        items: field(list(ref('scheduling/v1.PriorityClass')), { tag: 2, required: true, doc: 'The PriorityClass objects of the list.' }),
      },
      { doc: 'A list of PriorityClass objects.' },
    ),
})
