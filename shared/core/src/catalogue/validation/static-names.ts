import type { FieldError } from '../../meta/status.ts'
import { domainGroup, type Names } from '../../names.ts'
import { invalidValue } from '../../validation/field-errors.ts'
import { type Part, partOf, textOf } from '../../validation/part.ts'
import type { RuleContext } from '../../validation/rule-book.ts'

/** The first level that refuses new configurations with names reserved for static manifests. */
const refusedSince = 37

/** The error of a name that is reserved for static manifests; undefined for other names. */
export function staticNameProblem(object: Part, names: Names): string | undefined {
  const suffix = `.${domainGroup(names, 'static')}`
  if (!textOf(partOf(object, 'metadata'), 'name').endsWith(suffix)) return undefined
  return `names ending with "${suffix}" are reserved for static manifest-based configurations and cannot be managed via the API`
}

/** Refuses a new configuration whose name is reserved for static manifests. */
export function refuseStaticName(errors: FieldError[], object: Part, _at: string, { live, level, names }: RuleContext): void {
  const problem = live !== undefined || level < refusedSince ? undefined : staticNameProblem(object, names)
  if (problem !== undefined) errors.push(invalidValue('metadata.name', textOf(partOf(object, 'metadata'), 'name'), problem))
}
