import { type Expr, operators } from '../ast.ts'
import { at } from '../at.ts'
import { type ExprBuilder, type Library, type Macro, memberOverload, overload } from '../library.ts'
import { bindVariable } from '../macros/parts.ts'
import { listOf, mapOf, optionalOf, parameterOf, types } from '../types.ts'

const { bool, int } = types
const k = parameterOf('K')
const v = parameterOf('V')
const optional = optionalOf(v)

/** `optMap` and `optFlatMap`: apply an expression to the value of an optional. */
export const optionalMacros: readonly Macro[] = [
  over('optMap', (builder, bound) => builder.call('optional.of', bound)),
  over('optFlatMap', (_builder, bound) => bound),
]

/** Values that may be absent. */
export const optionals: Library = {
  name: 'optional',
  since: 28,
  optionals: true,
  macros: optionalMacros,
  types: { optional_type: optional },
  functions: {
    'optional.of': [overload('optional_of', [v], optional)],
    'optional.ofNonZeroValue': [overload('optional_ofNonZeroValue', [v], optional)],
    'optional.none': [overload('optional_none', [], optional)],
    'optional.unwrap': [overload('optional_unwrap', [listOf(optional)], listOf(v))],
    unwrapOpt: [memberOverload('optional_unwrapOpt', [listOf(optional)], listOf(v))],
    value: [memberOverload('optional_value', [optional], v)],
    hasValue: [memberOverload('optional_hasValue', [optional], bool)],
    or: [memberOverload('optional_or_optional', [optional, optional], optional)],
    orValue: [memberOverload('optional_orValue_value', [optional, v], v)],
    first: [memberOverload('list_first', [listOf(v)], optional)],
    last: [memberOverload('list_last', [listOf(v)], optional)],
    [operators.optionalIndex]: [
      overload('list_optindex_optional_int', [listOf(v), int], optional),
      overload('optional_list_optindex_optional_int', [optionalOf(listOf(v)), int], optional),
      overload('map_optindex_optional_value', [mapOf(k, v), k], optional),
      overload('optional_map_optindex_optional_value', [optionalOf(mapOf(k, v)), k], optional),
    ],
    [operators.index]: [
      overload('optional_list_index_int', [optionalOf(listOf(v)), int], optional),
      overload('optional_map_index_value', [optionalOf(mapOf(k, v)), k], optional),
    ],
  },
}

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
