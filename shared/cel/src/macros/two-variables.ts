import type { Expr } from '../ast.ts'
import type { ExprBuilder, Macro } from '../library.ts'
import { allOf, existsOf, existsOneOf, type LoopBody, listOfEach, mapOfEach } from './loops.ts'
import { loopVariable } from './parts.ts'

/** The function that gives a map with one entry more, which no expression can spell. */
export const mapInsert = 'cel.@mapInsert'

/** Macros that loop over index and element of a list, or key and value of a map. */
export const twoVariableMacros: readonly Macro[] = [
  loop('all', 3, (builder, [, , predicate]) => allOf(builder, predicate!)),
  loop('exists', 3, (builder, [, , predicate]) => existsOf(builder, predicate!)),
  loop('existsOne', 3, (builder, [, , predicate]) => existsOneOf(builder, predicate!)),
  loop('exists_one', 3, (builder, [, , predicate]) => existsOneOf(builder, predicate!)),
  loop('transformList', 3, (builder, [, , element]) => listOfEach(builder, undefined, element!)),
  loop('transformList', 4, (builder, [, , filter, element]) => listOfEach(builder, filter, element!)),
  loop('transformMap', 3, (builder, [key, , value]) => mapOfEach(builder, undefined, mapInsert, key!, value!)),
  loop('transformMap', 4, (builder, [key, , filter, value]) => mapOfEach(builder, filter, mapInsert, key!, value!)),
  loop('transformMapEntry', 3, (builder, [, , entry]) => mapOfEach(builder, undefined, mapInsert, entry!)),
  loop('transformMapEntry', 4, (builder, [, , filter, entry]) => mapOfEach(builder, filter, mapInsert, entry!)),
]

function loop(name: string, count: number, body: (builder: ExprBuilder, args: readonly Expr[]) => LoopBody): Macro {
  const expand: Macro['expand'] = (builder, target, args) => {
    const variable = loopVariable(builder, args[0]!)
    const variable2 = loopVariable(builder, args[1]!)
    if (variable === undefined || variable2 === undefined || target === undefined) return undefined
    if (variable === variable2) return builder.fail(`duplicate variable name: ${variable}`, args[1])
    return builder.comprehension({ variable, variable2, range: target, ...body(builder, args) })
  }
  return { name, member: true, arguments: count, expand }
}
