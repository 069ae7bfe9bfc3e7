import { checked, field, merged, pointer } from '../description/fields.ts'
import { defineTypes, object, struct } from '../description/structs.ts'
import { closed, only } from '../description/texts.ts'
import { int32, int64, intOrString, list, map, ref, time } from '../description/values.ts'
import { gated, metadata, objectList, requiredUntil } from './common.ts'

/** The types of policy/v1. */
export const policyV1 = defineTypes({
  Eviction: object(
    'Asks that a pod be ended, unless a disruption budget stands against it. Made through the eviction subresource of the pod.',
    () => ({
      metadata: field(ref('meta/v1.ObjectMeta'), 1, 'Standard metadata. The name is that of the pod.'),
      deleteOptions: pointer(ref('meta/v1.DeleteOptions'), 2, 'Options of the delete.'),
    }),
  ),
  PodDisruptionBudget: object('Bounds how many pods of a group may be evicted at once.', () => ({
    metadata,
    spec: field(ref('policy/v1.PodDisruptionBudgetSpec'), 2, 'Selected pods, and the number that must stay.'),
    status: field(ref('policy/v1.PodDisruptionBudgetStatus'), 3, 'Number of pods that may be evicted now.'),
  })),
  PodDisruptionBudgetList: objectList('policy/v1.PodDisruptionBudget'),
  PodDisruptionBudgetSpec: struct('Selected pods, and the number that must stay. One of minAvailable and maxUnavailable is set.', () => ({
    minAvailable: pointer(intOrString({ means: 'count', max: 100 }), 1, {
      doc: 'Least number of pods, or percentage rounded up, that must be left after an eviction. 100% forbids all.',
    }),
    selector: pointer(ref('meta/v1.LabelSelector'), 2, {
      patchStrategy: 'replace',
      doc: 'Labels of the pods. Empty matches all pods of the namespace, unset none.',
    }),
    maxUnavailable: pointer(intOrString({ means: 'count', max: 100 }), 3, {
      doc: 'Most pods, as a number or percentage rounded up, that may be missing after an eviction. 0 forbids all.',
    }),
    unhealthyPodEvictionPolicy: checked(ref('policy/v1.UnhealthyPodEvictionPolicyType'), 4, {
      pointer: true,
      ...gated('PDBUnhealthyPodEvictionPolicy'),
      doc: 'Eviction of running pods that are not ready: IfHealthyBudget (while the budget is met, the default) or AlwaysAllow.',
    }),
  })),
  PodDisruptionBudgetStatus: struct('Number of pods that may be evicted now.', () => ({
    observedGeneration: field(int64(), 1, {
      doc: 'The metadata.generation that the status was derived from. While it is behind, no pod may be evicted.',
    }),
    disruptedPods: field(map(time()), 2, {
      doc: 'Pods whose eviction was allowed and that are not seen to end yet, with the time. They are dropped after a while.',
    }),
    disruptionsAllowed: field(int32({ min: 0 }), 3, { ...requiredUntil(35), doc: 'Pods that may be evicted now.' }),
    currentHealthy: field(int32({ min: 0 }), 4, { ...requiredUntil(35), doc: 'Pods that are healthy.' }),
    desiredHealthy: field(int32({ min: 0 }), 5, { ...requiredUntil(35), doc: 'Least number of pods that must be healthy.' }),
    expectedPods: field(int32({ min: 0 }), 6, { ...requiredUntil(35), doc: 'Pods that the budget counts.' }),
    conditions: merged('type', list(ref('meta/v1.Condition'), { uniqueBy: 'type', isPlacedSince: 37 }), 7, {
      doc: 'State of the budget by aspect. DisruptionAllowed tells whether pods may be evicted.',
    }),
  })),
  UnhealthyPodEvictionPolicyType: () => only(closed('AlwaysAllow', 'IfHealthyBudget')),
})
