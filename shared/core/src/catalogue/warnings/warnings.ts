import { domainLabel, type Names } from '../../names.ts'
import { templateGenerationAnnotation } from '../defaults/workloads.ts'
import { isGiven } from '../validation/checks.ts'
import { type Part, partOf, textOf } from '../validation/part.ts'
import { warningsOfPod, warningsOfTemplate } from './pod-warnings.ts'

/** What the writer of a sound object should know of it; `live` is the one that it replaces. */
type WarningRule = (object: Part, live: Part | undefined, names: Names) => string[]

/** Texts for `Warning` headers about a new object, or about one whose main part an update writes. */
export function warningsOf(type: string, object: Part, live: Part | undefined, names: Names): string[] {
  return rulesByType[type]?.(object, live, names) ?? []
}

const ofTemplate =
  (...path: string[]): WarningRule =>
  (object, live, names) =>
    isAsBefore(object, live) ? [] : warningsOfTemplate(path.reduce(partOf, object), path.join('.'), names)

const specTemplate = ofTemplate('spec', 'template')
const jobTemplate = ofTemplate('spec', 'jobTemplate', 'spec', 'template')

const rulesByType: Readonly<Record<string, WarningRule>> = {
  // Pods are mostly updated by programs, which do not read warnings.
  'core/v1.Pod': (pod, live, names) => (live === undefined ? warningsOfPod(pod, names) : []),
  'core/v1.PodTemplate': ofTemplate('template'),
  'core/v1.ReplicationController': specTemplate,
  'apps/v1.Deployment': specTemplate,
  'apps/v1.ReplicaSet': specTemplate,
  'apps/v1.StatefulSet': specTemplate,
  'apps/v1.DaemonSet': (set, live, names) => (hasCountedTemplate(set, live) ? [] : specTemplate(set, undefined, names)),
  'batch/v1.Job': specTemplate,
  'batch/v1.CronJob': (job, live, names) => [...jobTemplate(job, live, names), ...warningsOfSchedule(job)],
  'networking/v1.Ingress': warningsOfIngress,
}

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

function warningsOfIngress(ingress: Part, live: Part | undefined, names: Names): string[] {
  const annotation = domainLabel(names, 'ingress.class')
  const isOld = isGiven(partOf(partOf(ingress, 'metadata'), 'annotations'), annotation)
  if (live !== undefined || !isOld || isGiven(partOf(ingress, 'spec'), 'ingressClassName')) return []
  return [`annotation ${JSON.stringify(annotation)} is deprecated, please use 'spec.ingressClassName' instead`]
}
