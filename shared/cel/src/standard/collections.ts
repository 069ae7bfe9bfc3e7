import { operators } from '../ast.ts'
import { looksThrough } from '../estimate/calls.ts'
import { type Functions, memberOverload, overload } from '../library.ts'
import { listOf, mapOf, parameterOf, types } from '../types.ts'

const { bool, bytes, int, string } = types
const a = parameterOf('A')
const b = parameterOf('B')

/** Elements and sizes of lists and maps. */
export const collections: Functions = {
  [operators.index]: [overload('index_list', [listOf(a), int], a), overload('index_map', [mapOf(a, b), a], b)],
  [operators.in]: [overload('in_list', [a, listOf(a)], bool, { estimate: looksThrough }), overload('in_map', [a, mapOf(a, b)], bool)],
  size: [
    overload('size_bytes', [bytes], int),
    memberOverload('bytes_size', [bytes], int),
    overload('size_list', [listOf(a)], int),
    memberOverload('list_size', [listOf(a)], int),
    overload('size_map', [mapOf(a, b)], int),
    memberOverload('map_size', [mapOf(a, b)], int),
    overload('size_string', [string], int),
    memberOverload('string_size', [string], int),
  ],
}
