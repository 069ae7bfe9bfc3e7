import type { Library } from '../library.ts'
import { listOf, mapOf, parameterOf, typeOf, types } from '../types.ts'
import { arithmetic } from './arithmetic.ts'
import { collections } from './collections.ts'
import { comparison } from './comparison.ts'
import { conversions } from './conversions.ts'
import { logic } from './logic.ts'
import { strings } from './strings.ts'
import { times } from './times.ts'

/** The language's own functions and types. Its macros belong to the parser. */
export const standardLibrary: Library = {
  name: 'standard',
  since: 0,
  functions: [...logic, ...comparison, ...arithmetic, ...collections, ...strings, ...conversions, ...times],
  types: {
    bool: typeOf(types.bool),
    bytes: typeOf(types.bytes),
    double: typeOf(types.double),
    int: typeOf(types.int),
    uint: typeOf(types.uint),
    string: typeOf(types.string),
    null_type: typeOf(types.null),
    list: typeOf(listOf(parameterOf('A'))),
    map: typeOf(mapOf(parameterOf('A'), parameterOf('B'))),
    type: typeOf(types.type),
    'google.protobuf.Duration': typeOf(types.duration),
    'google.protobuf.Timestamp': typeOf(types.timestamp),
  },
}
