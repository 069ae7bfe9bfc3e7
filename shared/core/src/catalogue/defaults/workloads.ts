import type { IsGateOn } from '../../feature-gates.ts'
import { child, children, type Draft, ensureChild, fill, fillEmpty, isEmptyField, readMember } from '../../kind/draft.ts'
import type { Names } from '../../names.ts'
import { keeperName, keeperNames } from '../conversion/autoscaler.ts'
import { fillPodTemplate } from './pod.ts'
import { fillClaim } from './storage.ts'

/** Missing labels and selectors are copied from the template. */
export function fillReplicationController(controller: Draft, names: Names, isGateOn: IsGateOn, level: number): void {
  const spec = ensureChild(controller, 'spec')
  const labels = child(child(child(spec, 'template'), 'metadata'), 'labels')
  if (labels !== undefined) {
    if (isEmptyField(spec, 'selector')) spec['selector'] = { ...labels }
    const metadata = ensureChild(controller, 'metadata')
    if (isEmptyField(metadata, 'labels')) metadata['labels'] = { ...labels }
  }
  fill(spec, { replicas: 1 })
  fillPodTemplate(child(spec, 'template'), names, isGateOn, level)
}

export function fillReplicaSet(set: Draft, names: Names, isGateOn: IsGateOn, level: number): void {
  const spec = ensureChild(set, 'spec')
  fill(spec, { replicas: 1 })
  fillPodTemplate(child(spec, 'template'), names, isGateOn, level)
}

/** The annotation with the target revision of a Deployment's rollback in old versions. */
export const rollbackAnnotation = 'deprecated.deployment.rollback.to'

/** Normalizes a number in an annotation, without a plus sign or leading zeros. Validation refuses other texts. */
function spellNumber(annotations: Draft, name: string): void {
  const text = annotations[name]
  const [, minus = '', digits] = typeof text === 'string' ? (/^(?:\+|(-))?0*(\d+)$/.exec(text) ?? []) : []
  if (digits !== undefined) annotations[name] = digits === '0' ? digits : `${minus}${digits}`
}

export function fillDeployment(deployment: Draft, names: Names, isGateOn: IsGateOn, level: number): void {
  const annotations = child(child(deployment, 'metadata'), 'annotations')
  if (annotations !== undefined) {
    if (annotations[rollbackAnnotation] === '') delete annotations[rollbackAnnotation]
    spellNumber(annotations, rollbackAnnotation)
  }
  const spec = ensureChild(deployment, 'spec')
  fill(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 })
  const strategy = ensureChild(spec, 'strategy')
  fill(strategy, { type: 'RollingUpdate' })
  if (strategy['type'] === 'RollingUpdate') fill(ensureChild(strategy, 'rollingUpdate'), { maxUnavailable: '25%', maxSurge: '25%' })
  fillPodTemplate(child(spec, 'template'), names, isGateOn, level)
}

export function fillStatefulSet(set: Draft, names: Names, isGateOn: IsGateOn, level: number): void {
  const spec = ensureChild(set, 'spec')
  fill(spec, { replicas: 1, revisionHistoryLimit: 10, podManagementPolicy: 'OrderedReady' })
  const strategy = ensureChild(spec, 'updateStrategy')
  if (strategy['type'] === undefined) Object.assign(strategy, { type: 'RollingUpdate', rollingUpdate: strategy['rollingUpdate'] ?? {} })
  if (strategy['type'] === 'RollingUpdate') {
    fill(child(strategy, 'rollingUpdate'), { partition: 0, ...(isGateOn('MaxUnavailableStatefulSet') ? { maxUnavailable: 1 } : {}) })
  }
  if (isGateOn('StatefulSetAutoDeletePVC')) {
    fill(ensureChild(spec, 'persistentVolumeClaimRetentionPolicy'), { whenDeleted: 'Retain', whenScaled: 'Retain' })
  }
  for (const claim of children(spec, 'volumeClaimTemplates')) {
    Object.assign(claim, { kind: 'PersistentVolumeClaim', apiVersion: 'v1' })
    fillClaim(claim)
  }
  fillPodTemplate(child(spec, 'template'), names, isGateOn, level)
}

/** The annotation that counts changes of a DaemonSet's template. */
export const templateGenerationAnnotation = 'deprecated.daemonset.template.generation'

export function fillDaemonSet(set: Draft, names: Names, isGateOn: IsGateOn, level: number): void {
  // The server sets its own count later; a writer of an object without the annotation owns it from then on.
  const annotations = ensureChild(ensureChild(set, 'metadata'), 'annotations')
  fillEmpty(annotations, { [templateGenerationAnnotation]: '0' })
  spellNumber(annotations, templateGenerationAnnotation)
  const spec = ensureChild(set, 'spec')
  fill(spec, { revisionHistoryLimit: 10 })
  const strategy = ensureChild(spec, 'updateStrategy')
  fill(strategy, { type: 'RollingUpdate' })
  if (strategy['type'] === 'RollingUpdate') fill(ensureChild(strategy, 'rollingUpdate'), { maxUnavailable: 1, maxSurge: 0 })
  fillPodTemplate(child(spec, 'template'), names, isGateOn, level)
}

const isPresent = (draft: Draft, name: string): boolean => draft[name] !== undefined && draft[name] !== null

/** The first level at which `manualSelector` of Jobs is defaulted. */
const manualSelectorsSince = 29

export function fillJob(job: Draft, names: Names, isGateOn: IsGateOn, level: number): void {
  const spec = ensureChild(job, 'spec')
  if (spec['parallelism'] === undefined) fill(spec, { completions: 1 })
  const backoffLimit = isPresent(spec, 'backoffLimitPerIndex') ? 2_147_483_647 : 6
  fill(spec, { parallelism: 1, backoffLimit, completionMode: 'NonIndexed', suspend: false })
  if (isGateOn('JobPodReplacementPolicy'))
    fill(spec, { podReplacementPolicy: isPresent(spec, 'podFailurePolicy') ? 'Failed' : 'TerminatingOrFailed' })
  if (level >= manualSelectorsSince) fill(spec, { manualSelector: false })
  const labels = child(child(child(spec, 'template'), 'metadata'), 'labels')
  const metadata = ensureChild(job, 'metadata')
  // The same labels, not a copy: a new Job then gets the labels of its Pods that the server makes.
  if (labels !== undefined && isEmptyField(metadata, 'labels')) metadata['labels'] = labels
  for (const rule of children(child(spec, 'podFailurePolicy'), 'rules')) {
    for (const pattern of children(rule, 'onPodConditions')) fillEmpty(pattern, { status: 'True' })
  }
  fillPodTemplate(child(spec, 'template'), names, isGateOn, level)
}

export function fillCronJob(job: Draft, names: Names, isGateOn: IsGateOn, level: number): void {
  const spec = ensureChild(job, 'spec')
  fill(spec, { concurrencyPolicy: 'Allow', suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 })
  fillPodTemplate(child(child(child(spec, 'jobTemplate'), 'spec'), 'template'), names, isGateOn, level)
}

export function fillHorizontalPodAutoscaler(autoscaler: Draft, names: Names): void {
  dropKeepers(autoscaler, names)
  const spec = ensureChild(autoscaler, 'spec')
  fill(spec, { minReplicas: 1 })
  if (isEmptyField(spec, 'metrics')) {
    spec['metrics'] = [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } }]
  }
  const behavior = child(spec, 'behavior')
  if (behavior === undefined) return
  const percent = { type: 'Percent', value: 100, periodSeconds: 15 }
  fill(ensureChild(behavior, 'scaleUp'), {
    stabilizationWindowSeconds: 0,
    selectPolicy: 'Max',
    policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }, percent],
  })
  fill(ensureChild(behavior, 'scaleDown'), { selectPolicy: 'Max', policies: [{ ...percent }] })
}

/** Removes annotations that hold the fields of v2, which are real fields here. */
function dropKeepers(autoscaler: Draft, names: Names): void {
  const given = readMember(readMember(autoscaler, 'metadata'), 'annotations')
  if (given === undefined || !keeperNames(names).some((name) => Object.hasOwn(given, name))) return
  const metadata = ensureChild(autoscaler, 'metadata')
  const annotations = ensureChild(metadata, 'annotations')
  for (const name of keeperNames(names)) delete annotations[name]
  if (Object.keys(annotations).length === 0) delete metadata['annotations']
}

/** The defaults of v1. Without metrics in an annotation, the conversion to v2 adds the default for CPU, which is no change. */
export function fillFirstAutoscaler(autoscaler: Draft, names: Names): void {
  const annotations = readMember(readMember(autoscaler, 'metadata'), 'annotations') ?? {}
  const cpu = Object.hasOwn(annotations, keeperName(names, 'metrics')) ? {} : { targetCPUUtilizationPercentage: 80 }
  fill(ensureChild(autoscaler, 'spec'), { minReplicas: 1, ...cpu })
}

export function fillMinReplicas(autoscaler: Draft): void {
  fill(ensureChild(autoscaler, 'spec'), { minReplicas: 1 })
}
