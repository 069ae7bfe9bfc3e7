import type { Expr } from '../ast.ts'
import type { CheckedAst } from '../checked.ts'
import type { Overload } from '../library.ts'
import type { Issue } from '../parse/source.ts'
import { walk } from './expressions.ts'

/** Functions whose literal argument is tried when an expression is compiled, and which argument that is. */
const checkedArguments: Readonly<Record<string, number>> = {
  string_to_duration: 0,
  string_to_timestamp: 0,
  matches: 1,
  matches_string: 1,
}

/** What is wrong with literal durations, timestamps and regular expressions. */
export function checkLiterals({ expr, references }: CheckedAst): readonly Issue[] {
  const issues: Issue[] = []
  walk(expr, (part) => {
    if (part.kind !== 'call') return
    const reference = references.get(part.id)
    if (reference?.kind !== 'function') return
    for (const overload of reference.overloads) {
      const literal = literalOf(overload, part.target === undefined ? part.args : [part.target, ...part.args])
      if (literal !== undefined && isRefused(overload, literal.value)) {
        issues.push({ offset: literal.offset, message: `invalid ${part.name} argument` })
      }
    }
  })
  return issues
}

function literalOf(overload: Overload, args: readonly Expr[]): { readonly offset: number; readonly value: string } | undefined {
  const argument = args[checkedArguments[overload.id] ?? -1]
  if (argument?.kind !== 'constant' || argument.constant.type !== 'string') return undefined
  return { offset: argument.offset, value: argument.constant.value }
}

/** Whether the function gives an error for the literal; other arguments of it are the empty text. */
function isRefused(overload: Overload, literal: string): boolean {
  const args = overload.parameters.map((_, index) => (index === checkedArguments[overload.id] ? literal : ''))
  const result = overload.run?.(...args)
  return typeof result === 'object' && result !== null && 'kind' in result && result.kind === 'error'
}
