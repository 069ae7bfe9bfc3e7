import type { FieldError } from '../../../meta/status.ts'
import { forbiddenValue, requiredValue } from '../../../validation/field-errors.ts'
import { validateAnnotations, validateLabels } from '../../../validation/object-meta.ts'
import { optionalPart, type Part, partOf } from '../../../validation/part.ts'
import { validateClaimSpec } from '../claim-spec.ts'

/** A claim that is made together with its Pod. It is named after the Pod, so its metadata may only describe it. */
export function validateClaimTemplate(errors: FieldError[], source: Part, at: string): void {
  const template = optionalPart(source, 'volumeClaimTemplate')
  if (template === undefined) {
    errors.push(requiredValue(`${at}.volumeClaimTemplate`))
    return
  }
  const path = `${at}.volumeClaimTemplate`
  for (const [name, value] of Object.entries(partOf(template, 'metadata'))) {
    if (value === null || value === undefined) continue
    if (name === 'labels') validateLabels(errors, value as Record<string, string>, `${path}.metadata.labels`)
    else if (name === 'annotations') validateAnnotations(errors, value as Record<string, string>, `${path}.metadata.annotations`)
    else errors.push(forbiddenValue(`${path}.metadata.${name}`, 'cannot be set for an ephemeral volume'))
  }
  errors.push(...validateClaimSpec(partOf(template, 'spec'), `${path}.spec`))
}
