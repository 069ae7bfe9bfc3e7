import { operators } from '../ast.ts'
import { compares } from '../estimate/calls.ts'
import { type Functions, type Overload, overload } from '../library.ts'
import { types } from '../types.ts'

const { bool, bytes, double, duration, int, string, timestamp, uint } = types

/** The overloads of an operator whose ids begin with a word: numbers are also compared with numbers of other types. */
function comparisons(word: string): readonly Overload[] {
  return [
    overload(`${word}_bool`, [bool, bool], bool),
    overload(`${word}_int64`, [int, int], bool),
    overload(`${word}_int64_double`, [int, double], bool),
    overload(`${word}_int64_uint64`, [int, uint], bool),
    overload(`${word}_uint64`, [uint, uint], bool),
    overload(`${word}_uint64_double`, [uint, double], bool),
    overload(`${word}_uint64_int64`, [uint, int], bool),
    overload(`${word}_double`, [double, double], bool),
    overload(`${word}_double_int64`, [double, int], bool),
    overload(`${word}_double_uint64`, [double, uint], bool),
    overload(`${word}_string`, [string, string], bool, { estimate: compares }),
    overload(`${word}_bytes`, [bytes, bytes], bool, { estimate: compares }),
    overload(`${word}_timestamp`, [timestamp, timestamp], bool),
    overload(`${word}_duration`, [duration, duration], bool),
  ]
}

/** `<`, `<=`, `>` and `>=`. */
export const comparison: Functions = {
  [operators.less]: comparisons('less'),
  [operators.lessEquals]: comparisons('less_equals'),
  [operators.greater]: comparisons('greater'),
  [operators.greaterEquals]: comparisons('greater_equals'),
}
