import type { FieldError } from '../../meta/status.ts'
import { domainGroup, type Names } from '../../names.ts'
import { invalidValue } from '../../validation/field-errors.ts'
import { type Part, partOf, textOf } from '../../validation/part.ts'
import type { RuleContext } from '../../validation/rule-book.ts'

/** The gate that reserves names of webhook configurations, policies and bindings for static manifests. */
export const staticNameGate = 'ManifestBasedAdmissionControlConfig'

/** The end of the names that are reserved for static manifests. */
export function staticNameSuffix(names: Names): string {
  return `.${domainGroup(names, 'static')}`
}

/** The error of a name that is reserved for static manifests; undefined for other names. */
export function staticNameProblem(object: Part, names: Names): string | undefined {
  const suffix = staticNameSuffix(names)
  if (!textOf(partOf(object, 'metadata'), 'name').endsWith(suffix)) return undefined
  return `names ending with "${suffix}" are reserved for static manifest-based configurations and cannot be managed via the API`
}

/** Refuses a new configuration whose name is reserved for static manifests. */
export function refuseStaticName(errors: FieldError[], object: Part, _at: string, { live, isGateOn, names }: RuleContext): void {
  const problem = live !== undefined || !isGateOn(staticNameGate) ? undefined : staticNameProblem(object, names)
  if (problem !== undefined) errors.push(invalidValue('metadata.name', textOf(partOf(object, 'metadata'), 'name'), problem))
}
