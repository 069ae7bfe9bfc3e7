import { operators } from '../ast.ts'
import { compares } from '../estimate/calls.ts'
import { equals } from '../estimate/equality.ts'
import { type Functions, overload } from '../library.ts'
import { parameterOf, types } from '../types.ts'

const { bool } = types
const a = parameterOf('A')

/** Logical operators, and `==` and `!=`. */
export const logic: Functions = {
  [operators.conditional]: [overload('conditional', [bool, a, a], a)],
  [operators.and]: [overload('logical_and', [bool, bool], bool)],
  [operators.or]: [overload('logical_or', [bool, bool], bool)],
  [operators.not]: [overload('logical_not', [bool], bool)],
  [operators.notStrictlyFalse]: [overload('not_strictly_false', [bool], bool)],
  [operators.equals]: [overload('equals', [a, a], bool, { estimate: equals })],
  [operators.notEquals]: [overload('not_equals', [a, a], bool, { estimate: compares })],
}
