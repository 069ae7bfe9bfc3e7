import { getOrMake } from '@orch/cel/memo'
import { types } from '@orch/cel/types'
import type { ExpressionAge } from '../../expressions/libraries.ts'
import { checkQualifiedName, type FieldError, type LevelText } from '../../meta/index.ts'
import { PolicyLanguage, type Wanted } from '../../policies/language.ts'
import { duplicateValue, invalidFor, invalidValue, requiredValue, tooManyValues } from '../../validation/field-errors.ts'
import { itemsOf, type Part, textOf } from '../../validation/part.ts'

const matchConditionsMax = 64

/** Match conditions of a policy or a webhook. A webhook has no parameters. */
export function validateMatchConditions(
  parent: Part,
  at: string,
  { hasParams, stored, level }: { readonly hasParams: boolean; readonly stored: ReadonlySet<string>; readonly level: number },
): FieldError[] {
  const conditions = itemsOf(parent, 'matchConditions')
  if (conditions.length === 0) return []
  const errors: FieldError[] = []
  if (conditions.length > matchConditionsMax) errors.push(tooManyValues(at, conditions.length, matchConditionsMax))
  const seen = new Set<string>()
  const languages = lazyLanguages(hasParams, undefined)
  for (const [index, condition] of conditions.entries()) {
    const [name, expression] = [textOf(condition, 'name'), textOf(condition, 'expression')]
    const path = `${at}[${index}]`
    errors.push(
      ...expressionErrors(`${path}.expression`, expression, {
        wanted: [types.bool],
        language: languages(stored.has(expression) ? 'stored' : level),
      }),
    )
    if (name === '') errors.push(requiredValue(`${path}.name`))
    else errors.push(...invalidFor(`${path}.name`, name, checkQualifiedName(name)))
    if (name !== '' && seen.has(name)) errors.push(duplicateValue(`${path}.name`, name))
    seen.add(name)
  }
  return errors
}

/** Returns the language for expressions of an age. */
export type Languages = (age: ExpressionAge) => PolicyLanguage

/** Languages for new and for stored expressions, created on demand. */
export function lazyLanguages(
  hasParams: boolean,
  variables: PolicyLanguage['variables'] | undefined,
  { hasAuthorizer = true, isMutating = false }: { readonly hasAuthorizer?: boolean; readonly isMutating?: boolean } = {},
): Languages {
  const made = new Map<ExpressionAge, PolicyLanguage>()
  return (age) =>
    getOrMake(
      made,
      age,
      () => new PolicyLanguage({ hasParams, hasAuthorizer, isMutating, ...(variables === undefined ? {} : { variables }) }, age),
    )
}

/** Options for checking an expression. */
export interface ExpressionCheck {
  /** The allowed result types; empty for any type. */
  readonly wanted: Wanted
  readonly language: PolicyLanguage
  /** The error text for an absent expression. */
  readonly absent?: LevelText | undefined
}

/** The errors of an expression whose result type is restricted. */
export function expressionErrors(field: string, text: string, { wanted, language, absent }: ExpressionCheck): FieldError[] {
  if (text.trim() === '') return [requiredValue(field, absent)]
  const compiled = language.compile(text, wanted)
  return compiled.kind === 'malformed' ? [invalidValue(field, text, compiled.problem)] : []
}
