import type { FieldError } from '../../meta/status.ts'
import { optionalPart, type Part, partOf } from '../../validation/part.ts'
import { type RuleContext, type TypeRules, within } from '../../validation/rule-book.ts'
import { notMoreThan } from './checks.ts'
import { labelsOf, notSelected, replicasOf, selectedTemplate, validateLastingTemplate } from './pod-template.ts'

/** A ReplicaSet, or a ReplicationController, whose selector is a plain map of labels. */
export const replicaRules: Readonly<Record<string, TypeRules>> = {
  'apps/v1.ReplicaSetSpec': [
    ...['replicas', 'minReadySeconds'],
    selectedTemplate({ owner: 'ReplicaSet', what: 'deployment' }),
    { passedOver: ['selector', 'template'] },
  ],
  'core/v1.ReplicationControllerSpec': [
    ...['minReadySeconds', 'replicas', 'selector'],
    { decisive: within('template') },
    validateControlled,
  ],
  'apps/v1.ReplicaSetStatus': ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', '*', validateCounts],
  'core/v1.ReplicationControllerStatus': ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', '*', validateCounts],
}

function validateControlled(errors: FieldError[], spec: Part, at: string, context: RuleContext): void {
  const template = optionalPart(spec, 'template') ?? {}
  const labels = labelsOf(template)
  const isTaken = Object.entries(partOf(spec, 'selector')).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value)
  if (!isTaken) errors.push(notSelected(template, `${at}.template`, context))
  const rules = { owner: 'ReplicationController', path: `${at}.template`, replicas: replicasOf(spec), context }
  validateLastingTemplate(errors, template, rules)
}

function validateCounts(errors: FieldError[], status: Part): void {
  const parts = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']
  notMoreThan(errors, status, parts, { bound: 'replicas', detail: 'cannot be greater than status.replicas' })
  notMoreThan(errors, status, ['availableReplicas'], { bound: 'readyReplicas', detail: 'cannot be greater than readyReplicas' })
}
