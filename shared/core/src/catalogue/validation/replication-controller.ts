import type { FieldError } from '../../meta/status.ts'
import { duplicateValue, forbiddenValue, invalidValue, requiredValue, unsupportedValue } from '../../schema/required.ts'
import { validateConditions } from './node.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from './part.ts'

/** The rules of a ReplicationController's spec, its template included as far as replication is concerned. */
export function validateReplicationControllerSpec(controller: Part): FieldError[] {
  const spec = partOf(controller, 'spec')
  const selector = partOf(spec, 'selector')
  const errors = [...notNegative(spec, ['replicas', 'minReadySeconds'], 'spec')]
  if (Object.keys(selector).length === 0) errors.push(requiredValue('spec.selector'))
  const template = optionalPart(spec, 'template')
  if (template === undefined) return [...errors, requiredValue('spec.template')]
  return [...errors, ...validateTemplateLabels(template, selector), ...validateTemplateSpec(partOf(template, 'spec'))]
}

/** The rules of a ReplicationController's status. */
export function validateReplicationControllerStatus(controller: Part): FieldError[] {
  const status = partOf(controller, 'status')
  const counts = ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration']
  const errors = notNegative(status, counts, 'status')
  const total = Number(status['replicas'] ?? 0)
  for (const name of ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']) {
    const count = Number(status[name] ?? 0)
    if (count > total) errors.push(invalidValue(`status.${name}`, count, 'cannot be greater than status.replicas'))
  }
  return [...errors, ...validateConditions(itemsOf(status, 'conditions'), 'status.conditions')]
}

function notNegative(part: Part, names: readonly string[], path: string): FieldError[] {
  return names.flatMap((name) => {
    const value = part[name]
    const isNegative = (typeof value === 'number' || typeof value === 'bigint') && value < 0
    return isNegative ? [invalidValue(`${path}.${name}`, value, 'must be greater than or equal to 0')] : []
  })
}

function validateTemplateLabels(template: Part, selector: Part): FieldError[] {
  const labels = partOf(partOf(template, 'metadata'), 'labels')
  const isMatch = Object.entries(selector).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value)
  return isMatch ? [] : [invalidValue('spec.template.metadata.labels', labels, '`selector` does not match template `labels`')]
}

function validateTemplateSpec(spec: Part): FieldError[] {
  const path = 'spec.template.spec'
  const errors: FieldError[] = []
  const policy = textOf(spec, 'restartPolicy')
  if (policy !== '' && policy !== 'Always') errors.push(unsupportedValue(`${path}.restartPolicy`, policy, ['Always']))
  if (itemsOf(spec, 'containers').length === 0) errors.push(requiredValue(`${path}.containers`))
  if (itemsOf(spec, 'ephemeralContainers').length > 0) {
    errors.push(forbiddenValue(`${path}.ephemeralContainers`, 'ephemeral containers not allowed in pod template'))
  }
  if (spec['activeDeadlineSeconds'] !== undefined) {
    errors.push(forbiddenValue(`${path}.activeDeadlineSeconds`, 'activeDeadlineSeconds in ReplicationController is not Supported'))
  }
  return [...errors, ...validateContainers(spec, path)]
}

/** Containers of both lists share their names. */
function validateContainers(spec: Part, path: string): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  for (const list of ['initContainers', 'containers']) {
    for (const [index, container] of itemsOf(spec, list).entries()) {
      const at = `${path}.${list}[${index}]`
      const name = textOf(container, 'name')
      if (name === '') errors.push(requiredValue(`${at}.name`))
      else if (seen.has(name)) errors.push(duplicateValue(`${at}.name`, name))
      if (textOf(container, 'image') === '') errors.push(requiredValue(`${at}.image`))
      seen.add(name)
    }
  }
  return errors
}
