import type { CompiledVariable } from './evaluation.ts'
import { PolicyLanguage } from './language.ts'
import type { PolicySpec } from './spec.ts'

/** Compiles the variables of a policy, and returns the language for expressions that may use them. */
export function compileVariables(
  spec: Pick<PolicySpec, 'paramKind' | 'variables'>,
  { isMutating = false }: { readonly isMutating?: boolean } = {},
): { readonly language: PolicyLanguage; readonly variables: readonly CompiledVariable[] } {
  const language = new PolicyLanguage(
    { hasParams: spec.paramKind != null, hasAuthorizer: true, variables: new Map(), isMutating },
    'stored',
  )
  const variables = (spec.variables ?? []).map(({ name = '', expression = '' }) => {
    const compiled = language.compile(expression)
    language.define(name, compiled)
    return { name, compiled }
  })
  return { language, variables }
}
