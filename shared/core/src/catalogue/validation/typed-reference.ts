import type { FieldError } from '../../meta/status.ts'
import { checkPathSegment, checkSubdomain } from '../../meta/validate-names.ts'
import type { Part } from '../../validation/part.ts'
import { allowChecked, checkGiven, requireText } from './checks.ts'

/** A reference to an object of any kind, as Ingress and IngressClass have it. */
export function validateTypedReference(errors: FieldError[], reference: Part, at: string): void {
  checkGiven(errors, { part: reference, name: 'apiGroup', at }, checkSubdomain)
  for (const name of ['kind', 'name']) {
    requireText(errors, { part: reference, name, at }, `${name} is required`)
    allowChecked(errors, { part: reference, name, at }, checkPathSegment)
  }
}
