import type { FieldError } from '../meta/status.ts'
import type { Names } from '../names.ts'
import { invalidValue, requiredValue } from '../validation/field-errors.ts'
import { type Part, partOf, textOf } from '../validation/part.ts'
import { type DefinitionCondition, specOf } from './definition-spec.ts'

/** The state of the approval annotation of a definition in a protected group. */
type ApprovalState = 'approved' | 'bypassed' | 'missing' | 'invalid'

/** An approval with its reason in words. */
interface Approval {
  readonly state: ApprovalState
  readonly reason: string
}

const proposal = 'see https://github.com/kubernetes/enhancements/pull/1111'

/** True if definitions in the group need an approval, which is so for the profile's domains. */
export function isProtectedGroup(group: string, { apiDomain, labelDomain }: Names): boolean {
  return [apiDomain, labelDomain].some((domain) => group === domain || group.endsWith(`.${domain}`))
}

/** The key of the annotation that holds the approval. */
function approvalAnnotation({ labelDomain }: Names): string {
  return `api-approved.${labelDomain}`
}

/** The approval in a definition's annotation. */
export function approvalOf(annotation: string, names: Names): Approval {
  const needed = `protected groups must have approval annotation "${approvalAnnotation(names)}"`
  if (annotation === '') return { state: 'missing', reason: `${needed}, ${proposal}` }
  if (annotation.startsWith('unapproved')) return { state: 'bypassed', reason: `not approved: ${JSON.stringify(annotation)}` }
  if (/^[A-Za-z][-A-Za-z0-9+.]*:\/\/[^/?#\s]+[^\s]*$/.test(annotation)) return { state: 'approved', reason: `approved in ${annotation}` }
  return { state: 'invalid', reason: `${needed} with either a URL or a reason starting with "unapproved", ${proposal}` }
}

/** Validates the approval. An invalid stored value may stay unchanged. */
export function validateApproval(definition: Part, live: Part | undefined, names: Names): FieldError[] {
  if (!isProtectedGroup(specOf(definition).group ?? '', names)) return []
  const text = annotationOf(definition, names)
  const { state, reason } = approvalOf(text, names)
  if (live !== undefined && approvalOf(annotationOf(live, names), names).state === state) return []
  const field = `metadata.annotations[${approvalAnnotation(names)}]`
  if (state === 'missing') return [requiredValue(field, reason)]
  return state === 'invalid' ? [invalidValue(field, text, reason)] : []
}

const conditions: Readonly<Record<ApprovalState, { readonly status: string; readonly reason: string }>> = {
  approved: { status: 'True', reason: 'ApprovedAnnotation' },
  bypassed: { status: 'False', reason: 'UnapprovedAnnotation' },
  missing: { status: 'False', reason: 'MissingAnnotation' },
  invalid: { status: 'False', reason: 'InvalidAnnotation' },
}

/** The condition that reports the approval; undefined for unprotected groups. */
export function approvalCondition(definition: Part, names: Names): DefinitionCondition | undefined {
  if (!isProtectedGroup(specOf(definition).group ?? '', names)) return undefined
  const { state, reason } = approvalOf(annotationOf(definition, names), names)
  return { type: 'KubernetesAPIApprovalPolicyConformant', ...conditions[state], message: reason }
}

function annotationOf(definition: Part, names: Names): string {
  return textOf(partOf(partOf(definition, 'metadata'), 'annotations'), approvalAnnotation(names))
}
