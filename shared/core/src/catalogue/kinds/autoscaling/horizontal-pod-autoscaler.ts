import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'
import { sameFields } from '../../../kind/reshape.ts'
import { horizontalPodAutoscalerCells } from '../../../table/cells/workloads.ts'
import { autoscalerToBeta, autoscalerToFirst, autoscalerToSecond, betaAutoscalerToSecond } from '../../conversion/autoscaler.ts'
import { fillHorizontalPodAutoscaler, fillMinReplicas } from '../../defaults/workloads.ts'
import { validateBetaAutoscaler } from '../../validation/autoscaler.ts'

/** Sets the number of pods of another object from the CPU they use. */
export const horizontalPodAutoscaler = defineResource({
  versions: [
    {
      type: 'autoscaling/v1.HorizontalPodAutoscaler',
      defaults: fillMinReplicas,
      reshape: { toStored: autoscalerToSecond, fromStored: autoscalerToFirst },
    },
    {
      type: 'autoscaling/v2beta1.HorizontalPodAutoscaler',
      deprecated: { since: '1.22', removed: '1.25', replacement: 'autoscaling/v2.HorizontalPodAutoscaler' },
      defaults: fillMinReplicas,
      validation: { main: validateBetaAutoscaler },
      reshape: { toStored: betaAutoscalerToSecond, fromStored: autoscalerToBeta },
    },
    { type: 'autoscaling/v2.HorizontalPodAutoscaler', defaults: fillHorizontalPodAutoscaler },
    {
      type: 'autoscaling/v2beta2.HorizontalPodAutoscaler',
      deprecated: { since: '1.23', removed: '1.26', replacement: 'autoscaling/v2.HorizontalPodAutoscaler' },
      defaults: fillHorizontalPodAutoscaler,
      reshape: sameFields,
    },
  ],
  storedAs: 'autoscaling/v2.HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  shortNames: ['hpa'],
  categories: ['all'],
  scope: 'Namespaced',
  subresources: [statusSubresource],
  storageVersionHash: 'oQlkt7f5j/A=',
  changes: { 27: { storageVersionHash: 'qwQve8ut294=' }, 37: { countsGenerations: true } },
  table: {
    cells: horizontalPodAutoscalerCells,
    columns: ['Name', 'Reference', { name: 'Targets', until: 29 }, { name: 'Targets', since: 30 }, 'MinPods', 'MaxPods', 'Replicas', 'Age'],
  },
})
