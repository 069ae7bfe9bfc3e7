import type { Expr } from '../ast.ts'
import { at } from '../at.ts'
import { type ExprBuilder, type Library, type Macro, overload } from '../library.ts'
import { allOf, existsOf, existsOneOf, type LoopBody, listOfEach, mapOfEach } from '../macros/loops.ts'
import { loopVariable } from '../macros/parts.ts'
import { mapOf, parameterOf } from '../types.ts'

const k = parameterOf('K')
const v = parameterOf('V')

/** The function that adds an entry to a map. Its name cannot be written in an expression. */
const mapInsert = 'cel.@mapInsert'

/** Macros that loop over index and element of a list, or key and value of a map. */
export const twoVariableMacros: readonly Macro[] = [
  loop('all', 3, (builder, args) => allOf(builder, at(args, 2))),
  loop('exists', 3, (builder, args) => existsOf(builder, at(args, 2))),
  loop('existsOne', 3, (builder, args) => existsOneOf(builder, at(args, 2))),
  loop('exists_one', 3, (builder, args) => existsOneOf(builder, at(args, 2))),
  loop('transformList', 3, (builder, args) => listOfEach(builder, undefined, at(args, 2))),
  loop('transformList', 4, (builder, args) => listOfEach(builder, args[2], at(args, 3))),
  loop('transformMap', 3, (builder, args) => mapOfEach(builder, undefined, mapInsert, at(args, 0), at(args, 2))),
  loop('transformMap', 4, (builder, args) => mapOfEach(builder, args[2], mapInsert, at(args, 0), at(args, 3))),
  loop('transformMapEntry', 3, (builder, args) => mapOfEach(builder, undefined, mapInsert, at(args, 2))),
  loop('transformMapEntry', 4, (builder, args) => mapOfEach(builder, args[2], mapInsert, at(args, 3))),
]

/** Loops over index and element, or key and value. */
export const twoVariableLoops: Library = {
  name: 'two-variable comprehensions',
  since: 32,
  macros: twoVariableMacros,
  functions: {
    [mapInsert]: [
      overload('@mapInsert_map_key_value', [mapOf(k, v), k, v], mapOf(k, v)),
      overload('@mapInsert_map_map', [mapOf(k, v), mapOf(k, v)], mapOf(k, v)),
    ],
  },
}

function loop(name: string, count: number, body: (builder: ExprBuilder, args: readonly Expr[]) => LoopBody): Macro {
  const expand: Macro['expand'] = (builder, target, args) => {
    const variable = loopVariable(builder, at(args, 0))
    const variable2 = loopVariable(builder, at(args, 1))
    if (variable === undefined || variable2 === undefined || target === undefined) return undefined
    if (variable === variable2) return builder.fail(`duplicate variable name: ${variable}`, args[1])
    return builder.comprehension({ variable, variable2, range: target, ...body(builder, args) })
  }
  return { name, member: true, arguments: count, expand }
}
