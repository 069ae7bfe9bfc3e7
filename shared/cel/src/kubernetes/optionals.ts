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
  functions: [
    { name: 'optional.of', overloads: [overload('optional_of', [v], optional)] },
    { name: 'optional.ofNonZeroValue', overloads: [overload('optional_ofNonZeroValue', [v], optional)] },
    { name: 'optional.none', overloads: [overload('optional_none', [], optional)] },
    { name: 'optional.unwrap', overloads: [overload('optional_unwrap', [listOf(optional)], listOf(v))] },
    { name: 'unwrapOpt', overloads: [memberOverload('optional_unwrapOpt', [listOf(optional)], listOf(v))] },
    { name: 'value', overloads: [memberOverload('optional_value', [optional], v)] },
    { name: 'hasValue', overloads: [memberOverload('optional_hasValue', [optional], bool)] },
    { name: 'or', overloads: [memberOverload('optional_or_optional', [optional, optional], optional)] },
    { name: 'orValue', overloads: [memberOverload('optional_orValue_value', [optional, v], v)] },
    { name: 'first', overloads: [memberOverload('list_first', [listOf(v)], optional)] },
    { name: 'last', overloads: [memberOverload('list_last', [listOf(v)], optional)] },
    {
      name: operators.optionalIndex,
      overloads: [
        overload('list_optindex_optional_int', [listOf(v), int], optional),
        overload('optional_list_optindex_optional_int', [optionalOf(listOf(v)), int], optional),
        overload('map_optindex_optional_value', [mapOf(k, v), k], optional),
        overload('optional_map_optindex_optional_value', [optionalOf(mapOf(k, v)), k], optional),
      ],
    },
    {
      name: operators.index,
      overloads: [
        overload('optional_list_index_int', [optionalOf(listOf(v)), int], optional),
        overload('optional_map_index_value', [optionalOf(mapOf(k, v)), k], optional),
      ],
    },
  ],
}
