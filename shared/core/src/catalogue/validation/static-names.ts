import type { FieldError } from '../../meta/status.ts'
import { domainGroup, type Names } from '../../names.ts'
import { invalidValue } from '../../validation/field-errors.ts'
import { type Part, partOf, textOf } from '../../validation/part.ts'
import type { RuleContext } from '../../validation/rule-book.ts'

/** The first level that refuses new configurations with names that are left to the manifests of a folder. */
const refusedSince = 37

/** Why a name is left to the manifests of a folder; undefined: it is not. */
export function staticNameProblem(object: Part, names: Names): string | undefined {
  const suffix = `.${domainGroup(names, 'static')}`
  if (!textOf(partOf(object, 'metadata'), 'name').endsWith(suffix)) return undefined
  return `names ending with "${suffix}" are reserved for static manifest-based configurations and cannot be managed via the API`
}

type Rule = (object: Part, live: Part | undefined, names: Names, context: RuleContext) => FieldError[]

/** The rules of a kind of admission configurations, and the one about reserved names. */
export function withStaticNames(rule: Rule): Rule {
  return (object, live, names, context) => {
    const errors = rule(object, live, names, context)
    const problem = live !== undefined || context.level < refusedSince ? undefined : staticNameProblem(object, names)
    return problem === undefined ? errors : [...errors, invalidValue('metadata.name', textOf(partOf(object, 'metadata'), 'name'), problem)]
  }
}
