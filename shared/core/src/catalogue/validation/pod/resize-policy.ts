import type { FieldError } from '../../../meta/status.ts'
import { duplicateValue, invalidValue } from '../../../validation/field-errors.ts'
import { itemsOf, type Part, textOf } from '../../../validation/part.ts'
import { wordErrors } from '../checks.ts'
import type { PodContext } from './pod-context.ts'

const resources = ['cpu', 'memory']
const policies = ['NotRequired', 'RestartContainer']

/** Validates the resize policies of a container. kube-apiserver reports most errors on the list. */
export function validateResizePolicy(errors: FieldError[], container: Part, at: string, { restartPolicy }: PodContext): void {
  const path = `${at}.resizePolicy`
  const seen = new Set<string>()
  for (const [index, item] of itemsOf(container, 'resizePolicy').entries()) {
    const [resource, policy] = [textOf(item, 'resourceName'), textOf(item, 'restartPolicy')]
    if (seen.has(resource)) errors.push(duplicateValue(`${path}[${index}]`, resource))
    seen.add(resource)
    errors.push(...wordErrors(path, resource || undefined, resources), ...wordErrors(path, policy || undefined, policies))
    if (restartPolicy === 'Never' && policy !== 'NotRequired') {
      errors.push(invalidValue(path, policy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"))
    }
  }
}

/** An init container cannot be restarted for a resize. */
export function refuseRestartsOfInit(errors: FieldError[], container: Part, at: string): void {
  const detail = "must not be set to 'RestartContainer' for non-sidecar initContainers"
  for (const [index, item] of itemsOf(container, 'resizePolicy').entries()) {
    const policy = textOf(item, 'restartPolicy')
    if (policy === 'RestartContainer') errors.push(invalidValue(`${at}.resizePolicy[${index}].restartPolicy`, policy, detail))
  }
}
