import { defineTypes, field, int32, int64, intOrString, list, map, object, ref, struct, time } from '../schema/define.ts'

/** The types of policy/v1: one definition each, read by everything that knows a type. */
export const policyV1 = defineTypes({
  Eviction: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      deleteOptions: field(ref('meta/v1.DeleteOptions'), { tag: 2, pointer: true }),
    }),
  PodDisruptionBudget: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('policy/v1.PodDisruptionBudgetSpec'), { tag: 2, doc: 'The wanted state, as the user asks for it.' }),
      status: field(ref('policy/v1.PodDisruptionBudgetStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  PodDisruptionBudgetList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('policy/v1.PodDisruptionBudget')), {
          tag: 2,
          required: true,
          doc: 'The PodDisruptionBudget objects of the list.',
        }),
      },
      { doc: 'A list of PodDisruptionBudget objects.' },
    ),
  PodDisruptionBudgetSpec: () =>
    struct({
      minAvailable: field(intOrString(), { tag: 1, pointer: true }),
      selector: field(ref('meta/v1.LabelSelector'), { tag: 2, pointer: true, patchStrategy: 'replace' }),
      maxUnavailable: field(intOrString(), { tag: 3, pointer: true }),
    }),
  PodDisruptionBudgetStatus: () =>
    struct({
      observedGeneration: field(int64(), { tag: 1 }),
      disruptedPods: field(map(time()), { tag: 2 }),
      disruptionsAllowed: field(int32(), { tag: 3, required: true }),
      currentHealthy: field(int32(), { tag: 4, required: true }),
      desiredHealthy: field(int32(), { tag: 5, required: true }),
      expectedPods: field(int32(), { tag: 6, required: true }),
      conditions: field(list(ref('meta/v1.Condition')), {
        tag: 7,
        patchStrategy: 'merge',
        patchMergeKey: 'type',
        listType: 'map',
        listMapKeys: ['type'],
      }),
    }),
})
