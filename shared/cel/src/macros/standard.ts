import type { Expr } from '../ast.ts'
import type { ExprBuilder, Macro } from '../library.ts'
import { allOf, existsOf, existsOneOf, type LoopBody, listOfEach } from './loops.ts'
import { loopVariable } from './parts.ts'

/** The macros of the language: `has`, and what loops over a list or over the keys of a map. */
export const standardMacros: readonly Macro[] = [
  { name: 'has', member: false, arguments: 1, expand: expandHas },
  loop('all', 2, (builder, [, predicate]) => allOf(builder, predicate!)),
  loop('exists', 2, (builder, [, predicate]) => existsOf(builder, predicate!)),
  loop('exists_one', 2, (builder, [, predicate]) => existsOneOf(builder, predicate!)),
  loop('existsOne', 2, (builder, [, predicate]) => existsOneOf(builder, predicate!)),
  loop('map', 2, (builder, [, element]) => listOfEach(builder, undefined, element!)),
  loop('map', 3, (builder, [, filter, element]) => listOfEach(builder, filter, element!)),
  loop('filter', 2, (builder, [variable, filter]) => listOfEach(builder, filter, variable!)),
]

function expandHas(builder: ExprBuilder, _target: Expr | undefined, [argument]: readonly Expr[]): Expr | undefined {
  if (argument?.kind !== 'select' || argument.test) return builder.fail('invalid argument to has() macro')
  return builder.select(argument.operand, argument.field, true)
}

function loop(name: string, count: number, body: (builder: ExprBuilder, args: readonly Expr[]) => LoopBody): Macro {
  const isQuantifier = name !== 'map' && name !== 'filter'
  const expand: Macro['expand'] = (builder, target, args) => {
    const variable = loopVariable(builder, args[0]!, isQuantifier ? undefined : 'argument is not an identifier')
    if (variable === undefined || target === undefined) return undefined
    return builder.comprehension({ variable, range: target, ...body(builder, args) })
  }
  return { name, member: true, arguments: count, expand }
}
