import { type Names, subdomainLabel } from '../../names.ts'
import type { BuiltIn } from '../../schema/built-in.ts'
import type { Pod } from '../pods.ts'
import { matchFailurePolicy } from './policies.ts'

export type Job = BuiltIn<'batch/v1.Job'>

/** Names in the product's domain. */
export type JobNames = ReturnType<typeof jobNames>

export function jobNames(names: Names) {
  return {
    /** The finalizer of uncounted Pods. */
    finalizer: subdomainLabel(names, 'batch', 'job-tracking'),
    /** The label and annotation of the completion index. */
    index: subdomainLabel(names, 'batch', 'job-completion-index'),
    failureCount: subdomainLabel(names, 'batch', 'job-index-failure-count'),
    ignoredFailureCount: subdomainLabel(names, 'batch', 'job-index-ignored-failure-count'),
    /** The value of `managedBy` for this controller. */
    manager: `${names.labelDomain}/job-controller`,
  }
}

/** Maximum length of a prefix for generated names. */
const prefixLengthMax = 58

const indexVariable = 'JOB_COMPLETION_INDEX'

export function isIndexed({ spec }: Job): boolean {
  return spec.completionMode === 'Indexed'
}

/** True if the Job is complete or failed. */
export function isFinishedJob(job: Job): boolean {
  return finishedType(job) !== undefined
}

/** The type of its final condition, Complete or Failed; undefined while it is active. */
export function finishedType({ status }: Job): 'Complete' | 'Failed' | undefined {
  const found = status.conditions?.find(({ type, status: value }) => (type === 'Complete' || type === 'Failed') && value === 'True')
  return found === undefined ? undefined : found.type === 'Complete' ? 'Complete' : 'Failed'
}

/** The completion index of a Pod; undefined if it has none. */
export function indexOf({ metadata }: Pod, names: JobNames): number | undefined {
  const text = metadata.annotations?.[names.index]
  return text !== undefined && /^\+?\d+$/.test(text) ? Number(text) : undefined
}

export function hasFinalizer({ metadata }: Pod, { finalizer }: JobNames): boolean {
  return metadata.finalizers?.includes(finalizer) === true
}

/** True if a Pod counts as failed. Deleted Pods do, unless the Job replaces only failed Pods. */
export function isFailedPod({ metadata, status }: Pod, { spec }: Job): boolean {
  if (status.phase === 'Failed') return true
  return spec.podReplacementPolicy !== 'Failed' && metadata.deletionTimestamp != null && status.phase !== 'Succeeded'
}

/** Failures of an index before a Pod. */
export interface IndexFailures {
  readonly counted: number
  readonly ignored: number
}

export function failuresBefore({ metadata: { annotations } }: Pod, { failureCount, ignoredFailureCount }: JobNames): IndexFailures {
  return { counted: toCount(annotations?.[failureCount]), ignored: toCount(annotations?.[ignoredFailureCount]) }
}

/** Failures of an index after its last Pod; undefined if it had no Pod. */
export function failuresAfter(pod: Pod | undefined, job: Job, names: JobNames): IndexFailures {
  if (pod === undefined) return { counted: 0, ignored: 0 }
  const { counted, ignored } = failuresBefore(pod, names)
  const { isCounted } = matchFailurePolicy(job.spec.podFailurePolicy, pod)
  return isCounted ? { counted: counted + 1, ignored } : { counted, ignored: ignored + 1 }
}

function toCount(text: string | undefined): number {
  const count = text !== undefined && /^\+?\d+$/.test(text) ? Number(text) : 0
  return count < 2 ** 31 ? count : 0
}

/** A Pod to create. */
export interface JobCreation {
  /** Undefined for a Job that is not indexed. */
  readonly index?: number
  /** Undefined if failures are not counted by index. */
  readonly failures?: IndexFailures
}

/** The name prefix of an indexed Pod, truncated so that its host name is valid. */
export function indexedPrefix(job: string, index: number): string {
  const end = `-${index}-`
  return job.length + end.length > prefixLengthMax ? job.slice(0, prefixLengthMax - end.length) + end : job + end
}

/** The metadata and spec of a Job's Pod, without its name and owner. */
export function podOf(job: Job, { index, failures }: JobCreation, { names, level }: { readonly names: JobNames; readonly level: number }) {
  const { metadata, spec } = job.spec.template
  const { labels, annotations, finalizers = [] } = metadata
  const tracked = finalizers.includes(names.finalizer) ? finalizers : [...finalizers, names.finalizer]
  if (index === undefined) return { metadata: { labels, annotations, finalizers: tracked }, spec }
  return {
    metadata: {
      labels: level < 28 ? labels : { ...labels, [names.index]: `${index}` },
      annotations: {
        ...annotations,
        [names.index]: `${index}`,
        ...(failures && { [names.failureCount]: `${failures.counted}` }),
        ...(failures && failures.ignored > 0 && { [names.ignoredFailureCount]: `${failures.ignored}` }),
      },
      finalizers: tracked,
    },
    spec: spec && { ...withIndexVariable(spec, indexPath(names, level)), hostname: `${job.metadata.name}-${index}` },
  }
}

function indexPath({ index }: JobNames, level: number): string {
  return `metadata.${level < 28 ? 'annotations' : 'labels'}['${index}']`
}

function withIndexVariable(spec: NonNullable<BuiltIn<'core/v1.PodTemplateSpec'>['spec']>, fieldPath: string) {
  const add = (container: BuiltIn<'core/v1.Container'>) =>
    container.env?.some(({ name }) => name === indexVariable)
      ? container
      : { ...container, env: [...(container.env ?? []), { name: indexVariable, valueFrom: { fieldRef: { fieldPath } } }] }
  return {
    ...spec,
    containers: spec.containers?.map(add),
    ...(spec.initContainers && { initContainers: spec.initContainers.map(add) }),
  }
}
