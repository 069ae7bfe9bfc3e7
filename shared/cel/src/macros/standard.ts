import type { Expr } from '../ast.ts'
import { at } from '../at.ts'
import type { ExprBuilder, Macro } from '../library.ts'
import { allOf, existsOf, existsOneOf, type LoopBody, listOfEach } from './loops.ts'
import { loopVariable } from './parts.ts'

/** The macros of the language: `has`, and loops over a list or over the keys of a map. */
export const standardMacros: readonly Macro[] = [
  { name: 'has', member: false, arguments: 1, expand: expandHas },
  loop('all', 2, (builder, args) => allOf(builder, at(args, 1))),
  loop('exists', 2, (builder, args) => existsOf(builder, at(args, 1))),
  loop('exists_one', 2, (builder, args) => existsOneOf(builder, at(args, 1))),
  loop('map', 2, (builder, args) => listOfEach(builder, undefined, at(args, 1))),
  loop('map', 3, (builder, args) => listOfEach(builder, args[1], at(args, 2))),
  loop('filter', 2, (builder, args) => listOfEach(builder, args[1], at(args, 0))),
]

function expandHas(builder: ExprBuilder, _target: Expr | undefined, [argument]: readonly Expr[]): Expr | undefined {
  if (argument?.kind !== 'select' || argument.test) return builder.fail('invalid argument to has() macro')
  return builder.select(argument.operand, argument.field, true)
}

function loop(name: string, count: number, body: (builder: ExprBuilder, args: readonly Expr[]) => LoopBody): Macro {
  const isQuantifier = name !== 'map' && name !== 'filter'
  const expand: Macro['expand'] = (builder, target, args) => {
    const variable = loopVariable(builder, at(args, 0), isQuantifier ? undefined : 'argument is not an identifier')
    if (variable === undefined || target === undefined) return undefined
    return builder.comprehension({ variable, range: target, ...body(builder, args) })
  }
  return { name, member: true, arguments: count, expand }
}
