import { decodes, encodes } from '../estimate/calls.ts'
import { type Functions, overload } from '../library.ts'
import { parameterOf, typeOf, types } from '../types.ts'

const { bool, bytes, double, duration, dyn, int, string, timestamp, uint } = types
const a = parameterOf('A')

/** Conversions between types, under the name of the type they give. */
export const conversions: Functions = {
  bool: [overload('bool_to_bool', [bool], bool), overload('string_to_bool', [string], bool)],
  bytes: [overload('bytes_to_bytes', [bytes], bytes), overload('string_to_bytes', [string], bytes, { estimate: encodes })],
  double: [
    overload('double_to_double', [double], double),
    overload('int64_to_double', [int], double),
    overload('string_to_double', [string], double),
    overload('uint64_to_double', [uint], double),
  ],
  duration: [overload('duration_to_duration', [duration], duration), overload('string_to_duration', [string], duration)],
  int: [
    overload('int64_to_int64', [int], int),
    overload('double_to_int64', [double], int),
    overload('duration_to_int64', [duration], int),
    overload('string_to_int64', [string], int),
    overload('timestamp_to_int64', [timestamp], int),
    overload('uint64_to_int64', [uint], int),
  ],
  string: [
    overload('string_to_string', [string], string),
    overload('bool_to_string', [bool], string),
    overload('bytes_to_string', [bytes], string, { estimate: decodes }),
    overload('double_to_string', [double], string),
    overload('duration_to_string', [duration], string),
    overload('int64_to_string', [int], string),
    overload('timestamp_to_string', [timestamp], string),
    overload('uint64_to_string', [uint], string),
  ],
  timestamp: [
    overload('timestamp_to_timestamp', [timestamp], timestamp),
    overload('int64_to_timestamp', [int], timestamp),
    overload('string_to_timestamp', [string], timestamp),
  ],
  uint: [
    overload('uint64_to_uint64', [uint], uint),
    overload('double_to_uint64', [double], uint),
    overload('int64_to_uint64', [int], uint),
    overload('string_to_uint64', [string], uint),
  ],
  dyn: [overload('to_dyn', [a], dyn)],
  type: [overload('type', [a], typeOf(a))],
}
