import type { Library } from '../library.ts'
import { listOf, mapOf, parameterOf, types } from '../types.ts'
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
  functions: { ...logic, ...comparison, ...arithmetic, ...collections, ...strings, ...conversions, ...times },
  types: {
    bool: types.bool,
    bytes: types.bytes,
    double: types.double,
    int: types.int,
    uint: types.uint,
    string: types.string,
    null_type: types.null,
    list: listOf(parameterOf('A')),
    map: mapOf(parameterOf('A'), parameterOf('B')),
    type: types.type,
    'google.protobuf.Duration': types.duration,
    'google.protobuf.Timestamp': types.timestamp,
  },
}
