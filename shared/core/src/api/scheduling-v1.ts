import { field, pointer } from '../description/fields.ts'
import { defineTypes, object } from '../description/structs.ts'
import { string } from '../description/texts.ts'
import { boolean, int32, ref } from '../description/values.ts'
import { metadata, objectList, requiredUntil } from './common.ts'

/** The types of scheduling/v1. */
export const schedulingV1 = defineTypes({
  PriorityClass: object('A name for a priority that pods can have.', () => ({
    metadata,
    value: field(int32(), 2, {
      ...requiredUntil(35),
      doc: 'The priority; the higher, the more important. Users may go up to one billion. Cannot be changed.',
    }),
    globalDefault: field(boolean(), 3, {
      doc: 'True if pods that name no class get this one. At most one class should be the default. Default: false.',
    }),
    description: field(string(), 4, 'Description of the use of the class.'),
    preemptionPolicy: pointer(ref('core/v1.PreemptionPolicy'), 5, {
      doc: 'Preemption by pods of the class: PreemptLowerPriority (the default) or Never. Cannot be changed.',
    }),
  })),
  PriorityClassList: objectList('scheduling/v1.PriorityClass'),
})
