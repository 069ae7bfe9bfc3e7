import type { FieldError } from '../../meta/status.ts'
import type { Names } from '../../names.ts'
import { requiredValue } from '../../validation/field-errors.ts'
import { optionalPart, type Part, partOf } from '../../validation/part.ts'
import type { RuleContext } from '../../validation/rule-book.ts'
import { notNegative } from './checks.ts'
import { labelsOf, notSelected, replicasOf, validateLastingTemplate } from './pod-template.ts'

/** The rules of a ReplicationController's spec. Its selector is a plain map of labels. */
export function validateReplicationController(
  controller: Part,
  _live: Part | undefined,
  _names: Names,
  context: RuleContext,
): FieldError[] {
  const errors: FieldError[] = []
  const spec = partOf(controller, 'spec')
  const selector = partOf(spec, 'selector')
  notNegative(errors, spec, ['minReadySeconds', 'replicas'], 'spec')
  if (Object.keys(selector).length === 0) errors.push(requiredValue('spec.selector'))
  const template = optionalPart(spec, 'template')
  if (template === undefined) return [...errors, requiredValue('spec.template')]
  const labels = labelsOf(template)
  const isTaken = Object.entries(selector).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value)
  if (!isTaken) errors.push(notSelected(template, 'spec.template.metadata.labels'))
  const rules = { owner: 'ReplicationController', path: 'spec.template', replicas: replicasOf(spec), context }
  validateLastingTemplate(errors, template, rules)
  return errors
}
