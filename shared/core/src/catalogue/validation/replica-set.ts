import type { FieldError } from '../../meta/status.ts'
import type { Names } from '../../names.ts'
import { type Part, partOf } from '../../validation/part.ts'
import { immutable, notMoreThan, notNegative } from './checks.ts'
import { replicasOf, validateSelectedTemplate } from './pod-template.ts'

/** The rules of a ReplicaSet's spec. */
export function validateReplicaSet(set: Part, live: Part | undefined, names: Names): FieldError[] {
  const errors: FieldError[] = []
  const spec = partOf(set, 'spec')
  notNegative(errors, spec, ['replicas', 'minReadySeconds'], 'spec')
  const rules = { owner: 'ReplicaSet', path: 'spec.template', replicas: replicasOf(spec), names }
  validateSelectedTemplate(errors, spec, rules, 'deployment')
  if (live !== undefined) immutable(errors, { part: spec, live: partOf(live, 'spec'), name: 'selector', path: 'spec.selector' })
  return errors
}

/** The counts of a ReplicaSet or ReplicationController. */
export function validateReplicaCounts(set: Part): FieldError[] {
  const errors: FieldError[] = []
  const status = partOf(set, 'status')
  const parts = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']
  notNegative(errors, status, ['replicas', ...parts, 'observedGeneration'], 'status')
  notMoreThan(errors, status, parts, { bound: 'replicas', detail: 'cannot be greater than status.replicas' })
  notMoreThan(errors, status, ['availableReplicas'], { bound: 'readyReplicas', detail: 'cannot be greater than readyReplicas' })
  return errors
}
