import type { WarningRule } from '../../kind/define-resource.ts'
import { domainLabel, type Names } from '../../names.ts'
import { type Part, partOf, textOf } from '../../validation/part.ts'
import { templateGenerationAnnotation } from '../defaults/workloads.ts'
import { isGiven } from '../validation/checks.ts'
import { warningsOfPod, warningsOfTemplate } from './pod-warnings.ts'

const ofTemplate =
  (...path: string[]): WarningRule =>
  (object, live, names) =>
    isAsBefore(object, live) ? [] : warningsOfTemplate(path.reduce(partOf, object), path.join('.'), names)

export const warningsOfPodTemplate = ofTemplate('template')
export const warningsOfSpecTemplate = ofTemplate('spec', 'template')
const ofJobTemplate = ofTemplate('spec', 'jobTemplate', 'spec', 'template')

/** Pods are mostly updated by programs, which do not read warnings. */
export const warningsOfNewPod: WarningRule = (pod, live, names) => (live === undefined ? warningsOfPod(pod, names) : [])

export const warningsOfDaemonSet: WarningRule = (set, live, names) =>
  hasCountedTemplate(set, live) ? [] : warningsOfSpecTemplate(set, undefined, names)

export const warningsOfCronJob: WarningRule = (job, live, names) => [...ofJobTemplate(job, live, names), ...warningsOfSchedule(job)]

/** The generation has been counted when what the object wants has changed. */
function isAsBefore(object: Part, live: Part | undefined): boolean {
  return live !== undefined && partOf(object, 'metadata')['generation'] === partOf(live, 'metadata')['generation']
}

function hasCountedTemplate(set: Part, live: Part | undefined): boolean {
  if (live === undefined) return false
  const countOf = (object: Part): string => textOf(partOf(partOf(object, 'metadata'), 'annotations'), templateGenerationAnnotation)
  return countOf(set) === countOf(live)
}

function warningsOfSchedule(job: Part): string[] {
  if (!textOf(partOf(job, 'spec'), 'schedule').includes('TZ')) return []
  return ['CRON_TZ or TZ used in spec.schedule is not officially supported; use spec.timeZone instead']
}

export function warningsOfIngress(ingress: Part, live: Part | undefined, names: Names): string[] {
  const annotation = domainLabel(names, 'ingress.class')
  const isOld = isGiven(partOf(partOf(ingress, 'metadata'), 'annotations'), annotation)
  if (live !== undefined || !isOld || isGiven(partOf(ingress, 'spec'), 'ingressClassName')) return []
  return [`annotation ${JSON.stringify(annotation)} is deprecated, please use 'spec.ingressClassName' instead`]
}

/** What is said of fields of a Node that nothing reads. */
export function warningsOfNode(node: Part): string[] {
  const spec = partOf(node, 'spec')
  return [
    ...(isGiven(spec, 'configSource') ? ['spec.configSource: the feature is removed'] : []),
    ...(textOf(spec, 'externalID') === '' ? [] : ['spec.externalID: this field is deprecated, and is unused by Kubernetes']),
  ]
}
