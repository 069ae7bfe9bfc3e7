import { operators } from '../ast.ts'
import { compares } from '../estimate/calls.ts'
import { type FunctionDeclaration, overload } from '../library.ts'
import { types } from '../types.ts'

const { bool, bytes, double, duration, int, string, timestamp, uint } = types

/** `<`, `<=`, `>` and `>=`, also between numbers of different types. */
export const comparison: readonly FunctionDeclaration[] = [
  {
    name: operators.less,
    overloads: [
      overload('less_bool', [bool, bool], bool),
      overload('less_int64', [int, int], bool),
      overload('less_int64_double', [int, double], bool),
      overload('less_int64_uint64', [int, uint], bool),
      overload('less_uint64', [uint, uint], bool),
      overload('less_uint64_double', [uint, double], bool),
      overload('less_uint64_int64', [uint, int], bool),
      overload('less_double', [double, double], bool),
      overload('less_double_int64', [double, int], bool),
      overload('less_double_uint64', [double, uint], bool),
      overload('less_string', [string, string], bool, { estimate: compares }),
      overload('less_bytes', [bytes, bytes], bool, { estimate: compares }),
      overload('less_timestamp', [timestamp, timestamp], bool),
      overload('less_duration', [duration, duration], bool),
    ],
  },
  {
    name: operators.lessEquals,
    overloads: [
      overload('less_equals_bool', [bool, bool], bool),
      overload('less_equals_int64', [int, int], bool),
      overload('less_equals_int64_double', [int, double], bool),
      overload('less_equals_int64_uint64', [int, uint], bool),
      overload('less_equals_uint64', [uint, uint], bool),
      overload('less_equals_uint64_double', [uint, double], bool),
      overload('less_equals_uint64_int64', [uint, int], bool),
      overload('less_equals_double', [double, double], bool),
      overload('less_equals_double_int64', [double, int], bool),
      overload('less_equals_double_uint64', [double, uint], bool),
      overload('less_equals_string', [string, string], bool, { estimate: compares }),
      overload('less_equals_bytes', [bytes, bytes], bool, { estimate: compares }),
      overload('less_equals_timestamp', [timestamp, timestamp], bool),
      overload('less_equals_duration', [duration, duration], bool),
    ],
  },
  {
    name: operators.greater,
    overloads: [
      overload('greater_bool', [bool, bool], bool),
      overload('greater_int64', [int, int], bool),
      overload('greater_int64_double', [int, double], bool),
      overload('greater_int64_uint64', [int, uint], bool),
      overload('greater_uint64', [uint, uint], bool),
      overload('greater_uint64_double', [uint, double], bool),
      overload('greater_uint64_int64', [uint, int], bool),
      overload('greater_double', [double, double], bool),
      overload('greater_double_int64', [double, int], bool),
      overload('greater_double_uint64', [double, uint], bool),
      overload('greater_string', [string, string], bool, { estimate: compares }),
      overload('greater_bytes', [bytes, bytes], bool, { estimate: compares }),
      overload('greater_timestamp', [timestamp, timestamp], bool),
      overload('greater_duration', [duration, duration], bool),
    ],
  },
  {
    name: operators.greaterEquals,
    overloads: [
      overload('greater_equals_bool', [bool, bool], bool),
      overload('greater_equals_int64', [int, int], bool),
      overload('greater_equals_int64_double', [int, double], bool),
      overload('greater_equals_int64_uint64', [int, uint], bool),
      overload('greater_equals_uint64', [uint, uint], bool),
      overload('greater_equals_uint64_double', [uint, double], bool),
      overload('greater_equals_uint64_int64', [uint, int], bool),
      overload('greater_equals_double', [double, double], bool),
      overload('greater_equals_double_int64', [double, int], bool),
      overload('greater_equals_double_uint64', [double, uint], bool),
      overload('greater_equals_string', [string, string], bool, { estimate: compares }),
      overload('greater_equals_bytes', [bytes, bytes], bool, { estimate: compares }),
      overload('greater_equals_timestamp', [timestamp, timestamp], bool),
      overload('greater_equals_duration', [duration, duration], bool),
    ],
  },
]
