import { defineResource } from '../../../kind/define-resource.ts'
import { child } from '../../../kind/draft.ts'
import { podTemplateCells } from '../../../table/cells/workloads.ts'
import { fillPodTemplate } from '../../defaults/pod.ts'
import { warningsOfPodTemplate } from '../../warnings/rules.ts'

/** A pod template as a separate object. */
export const podTemplate = defineResource('core.PodTemplate', {
  scope: 'Namespaced',
  deleteAnswer: 'object',
  countsGenerations: true,
  defaults: (object, names, isGateOn, level) => fillPodTemplate(child(object, 'template'), names, isGateOn, level),
  warnings: warningsOfPodTemplate,
  table: { cells: podTemplateCells, columns: ['Name', 'Containers', 'Images', 'Pod Labels'] },
})
