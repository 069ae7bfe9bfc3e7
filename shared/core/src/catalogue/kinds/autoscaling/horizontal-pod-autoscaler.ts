import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'
import { sameFields } from '../../../kind/reshape.ts'
import { horizontalPodAutoscalerCells } from '../../../table/cells/workloads.ts'
import { autoscalerToBeta, autoscalerToFirst, autoscalerToSecond, betaAutoscalerToSecond } from '../../conversion/autoscaler.ts'
import { fillFirstAutoscaler, fillHorizontalPodAutoscaler, fillMinReplicas } from '../../defaults/workloads.ts'
import { validateBetaAutoscaler } from '../../validation/autoscaler.ts'

/** Sets the number of pods of another object from the CPU they use. */
export const horizontalPodAutoscaler = defineResource('autoscaling.HorizontalPodAutoscaler', {
  versions: {
    v1: { defaults: fillFirstAutoscaler, reshape: { toStored: autoscalerToSecond, fromStored: autoscalerToFirst } },
    v2beta1: {
      deprecated: { since: '1.22', removed: '1.25', replacement: 'v2' },
      defaults: fillMinReplicas,
      validation: { main: validateBetaAutoscaler },
      reshape: { toStored: betaAutoscalerToSecond, fromStored: autoscalerToBeta },
    },
    v2: { defaults: fillHorizontalPodAutoscaler },
    v2beta2: {
      deprecated: { since: '1.23', removed: '1.26', replacement: 'v2' },
      defaults: fillHorizontalPodAutoscaler,
      reshape: sameFields,
    },
  },
  storedAs: 'v2',
  shortNames: ['hpa'],
  categories: ['all'],
  scope: 'Namespaced',
  subresources: [statusSubresource],
  storageVersion: 'v1',
  changes: { 27: { storageVersion: 'v2' }, 37: { countsGenerations: true } },
  table: {
    cells: horizontalPodAutoscalerCells,
    columns: ['Name', 'Reference', { name: 'Targets', until: 29 }, { name: 'Targets', since: 30 }, 'MinPods', 'MaxPods', 'Replicas', 'Age'],
  },
})
