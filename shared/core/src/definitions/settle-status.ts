import { printFieldError } from '../meta/status.ts'
import type { Names } from '../names.ts'
import { type Part, print } from '../validation/part.ts'
import { approvalCondition } from './approval.ts'
import { findCaBundleProblem } from './ca-bundle.ts'
import { type DefinitionCondition, type DefinitionStatus, specOf, statusOf } from './definition-spec.ts'
import { checkNames, type TakenNames } from './naming.ts'
import { findUnsupported, validateStructure } from './structural-grammar.ts'

/** The inputs of a status besides the definition itself. */
export interface SettlingContext {
  /** The names of the other definitions of the group. */
  readonly taken: TakenNames
  readonly names: Names
  /** The time of changed conditions. */
  readonly now: string
  /** The minor version of the release whose texts are used. */
  readonly level: number
}

/**
 * Computes the status of a definition: its accepted names and conditions. Parts of other writers stay. If the status is unchanged,
 * the same object is returned.
 */
export function settleStatus(definition: Part, context: SettlingContext): DefinitionStatus {
  const status = statusOf(definition)
  const { acceptedNames, condition: naming } = checkNames(definition, context.taken)
  const given = [...(status.conditions ?? [])]
  const isNamed = naming.status === 'True'
  const conditions = withConditions(given, context.now, [
    naming,
    establishment(definition, isNamed, given),
    ...optional(definition, context),
  ])
  const settled = { ...status, conditions, acceptedNames }
  return print(settled) === print(status) ? status : settled
}

/** Replaces conditions at their positions, or appends them. The transition time changes only with the status; `observedGeneration` stays, since another writer owns it. */
export function withConditions(
  conditions: readonly DefinitionCondition[],
  now: string,
  news: readonly (DefinitionCondition | { readonly type: string; readonly isGone: true })[],
): DefinitionCondition[] {
  const result = [...conditions]
  for (const condition of news) {
    const at = result.findIndex(({ type }) => type === condition.type)
    if ('isGone' in condition) {
      if (at >= 0) result.splice(at, 1)
      continue
    }
    const before = result[at]
    const lastTransitionTime = (before?.status === condition.status ? before?.lastTransitionTime : undefined) ?? now
    const { observedGeneration } = before ?? {}
    result.splice(at < 0 ? result.length : at, 1, {
      ...(observedGeneration !== undefined && { observedGeneration }),
      ...condition,
      lastTransitionTime,
    })
  }
  return result
}

const established: DefinitionCondition = {
  type: 'Established',
  status: 'True',
  reason: 'InitialNamesAccepted',
  message: 'the initial names have been accepted',
}

/** A definition becomes established with its first accepted names, and stays established. */
function establishment(definition: Part, isNamed: boolean, conditions: readonly DefinitionCondition[]): DefinitionCondition {
  const before = conditions.find(({ type }) => type === 'Established')
  if (before?.status === 'True') return before
  if (!isNamed) return { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' }
  if (findCaBundleProblem(specOf(definition).conversion?.webhook?.clientConfig) === undefined) return established
  return {
    type: 'Established',
    status: 'False',
    reason: 'InvalidCABundle',
    message: 'The conversion webhook CABundle is invalid',
  }
}

/** Conditions that are present only in some cases. A definition that prunes is structural. */
function optional(definition: Part, { names, level }: SettlingContext): (DefinitionCondition | { type: string; isGone: true })[] {
  const keepsUnknown = specOf(definition).preserveUnknownFields === true
  return [
    (keepsUnknown ? nonStructural(definition, level) : undefined) ?? { type: 'NonStructuralSchema', isGone: true },
    approvalCondition(definition, names) ?? { type: 'KubernetesAPIApprovalPolicyConformant', isGone: true },
  ]
}

function nonStructural(definition: Part, level: number): DefinitionCondition {
  const { versions } = specOf(definition)
  const problems = ['spec.preserveUnknownFields: Invalid value: true: must be false']
  for (const [index, { name = '', schema }] of (versions ?? []).entries()) {
    const root = schema?.openAPIV3Schema
    if (root === undefined) continue
    const unsupported = findUnsupported(root)
    if (unsupported !== undefined) {
      const message = `failed to check validation schema for version ${name}: ${unsupported}`
      return { type: 'NonStructuralSchema', status: 'Unknown', reason: 'StructuralError', message }
    }
    problems.push(
      ...validateStructure(root, `spec.versions[${index}].schema.openAPIV3Schema`).map((error) => printFieldError(error, level)),
    )
  }
  const message = problems.length === 1 ? (problems[0] ?? '') : `[${problems.join(', ')}]`
  return { type: 'NonStructuralSchema', status: 'True', reason: 'Violations', message }
}
