import { type Expr, operators } from '../ast.ts'
import { at } from '../at.ts'
import type { ExprBuilder, Macro } from '../library.ts'
import { bindVariable } from './parts.ts'

/** `optMap` and `optFlatMap`: apply an expression to the value of an optional. */
export const optionalMacros: readonly Macro[] = [
  over('optMap', (builder, bound) => builder.call('optional.of', bound)),
  over('optFlatMap', (_builder, bound) => bound),
]

function over(name: string, wrap: (builder: ExprBuilder, bound: Expr) => Expr): Macro {
  const expand: Macro['expand'] = (builder, target, args) => {
    const [variable] = args
    if (target === undefined) return undefined
    if (variable?.kind !== 'ident') return builder.fail(`${name}() variable name must be a simple identifier`, variable)
    const value = builder.memberCall('value', builder.copy(target))
    const bound = bindVariable(builder, variable.name, value, at(args, 1))
    return builder.call(operators.conditional, builder.memberCall('hasValue', target), wrap(builder, bound), builder.call('optional.none'))
  }
  return { name, member: true, arguments: 2, expand }
}
