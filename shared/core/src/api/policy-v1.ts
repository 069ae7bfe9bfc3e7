import { defineTypes, field, int32, int64, intOrString, list, map, object, ref, struct, time } from '../schema/define.ts'

/** The types of policy/v1: one definition each, read by everything that knows a type. */
export const policyV1 = defineTypes({
  Eviction: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1 }),
      deleteOptions: field(ref('meta/v1.DeleteOptions'), { tag: 2, pointer: true }),
    }),
  PodDisruptionBudget: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1 }),
      spec: field(ref('policy/v1.PodDisruptionBudgetSpec'), { tag: 2 }),
      status: field(ref('policy/v1.PodDisruptionBudgetStatus'), { tag: 3 }),
    }),
  PodDisruptionBudgetList: () =>
    object({
      metadata: field(ref('meta/v1.ListMeta'), { tag: 1 }),
      items: field(list(ref('policy/v1.PodDisruptionBudget')), { tag: 2, required: true }),
    }),
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
