import { operators } from '../ast.ts'
import { type Library, memberOverload, overload } from '../library.ts'
import { optionalMacros } from '../macros/optionals.ts'
import { listOf, mapOf, optionalOf, parameterOf, types } from '../types.ts'

const { bool, int } = types
const k = parameterOf('K')
const v = parameterOf('V')
const optional = optionalOf(v)

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
