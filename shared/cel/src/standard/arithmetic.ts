import { operators } from '../ast.ts'
import { concatenates, joinsLists } from '../estimate/calls.ts'
import { type Functions, overload } from '../library.ts'
import { listOf, parameterOf, types } from '../types.ts'

const { bytes, double, duration, int, string, timestamp, uint } = types
const listOfA = listOf(parameterOf('A'))

/** `+`, `-`, `*`, `/`, `%` and the sign. */
export const arithmetic: Functions = {
  [operators.add]: [
    overload('add_bytes', [bytes, bytes], bytes, { estimate: concatenates }),
    overload('add_double', [double, double], double),
    overload('add_duration_duration', [duration, duration], duration),
    overload('add_duration_timestamp', [duration, timestamp], timestamp),
    overload('add_timestamp_duration', [timestamp, duration], timestamp),
    overload('add_int64', [int, int], int),
    overload('add_list', [listOfA, listOfA], listOfA, { estimate: joinsLists }),
    overload('add_string', [string, string], string, { estimate: concatenates }),
    overload('add_uint64', [uint, uint], uint),
  ],
  [operators.subtract]: [
    overload('subtract_double', [double, double], double),
    overload('subtract_duration_duration', [duration, duration], duration),
    overload('subtract_int64', [int, int], int),
    overload('subtract_timestamp_duration', [timestamp, duration], timestamp),
    overload('subtract_timestamp_timestamp', [timestamp, timestamp], duration),
    overload('subtract_uint64', [uint, uint], uint),
  ],
  [operators.multiply]: [
    overload('multiply_double', [double, double], double),
    overload('multiply_int64', [int, int], int),
    overload('multiply_uint64', [uint, uint], uint),
  ],
  [operators.divide]: [
    overload('divide_double', [double, double], double),
    overload('divide_int64', [int, int], int),
    overload('divide_uint64', [uint, uint], uint),
  ],
  [operators.modulo]: [overload('modulo_int64', [int, int], int), overload('modulo_uint64', [uint, uint], uint)],
  [operators.negate]: [overload('negate_double', [double], double), overload('negate_int64', [int], int)],
}
