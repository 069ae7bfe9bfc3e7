import { type Library, overload } from '../library.ts'
import { mapInsert, twoVariableMacros } from '../macros/two-variables.ts'
import { mapOf, parameterOf } from '../types.ts'

const k = parameterOf('K')
const v = parameterOf('V')

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
