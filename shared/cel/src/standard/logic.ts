import { operators } from '../ast.ts'
import { compares } from '../estimate/calls.ts'
import { equals } from '../estimate/equality.ts'
import { type FunctionDeclaration, overload } from '../library.ts'
import { parameterOf, types } from '../types.ts'

const { bool } = types
const a = parameterOf('A')

/** Logical operators, and `==` and `!=`. */
export const logic: readonly FunctionDeclaration[] = [
  { name: operators.conditional, overloads: [overload('conditional', [bool, a, a], a)] },
  { name: operators.and, overloads: [overload('logical_and', [bool, bool], bool)] },
  { name: operators.or, overloads: [overload('logical_or', [bool, bool], bool)] },
  { name: operators.not, overloads: [overload('logical_not', [bool], bool)] },
  { name: operators.notStrictlyFalse, overloads: [overload('not_strictly_false', [bool], bool)] },
  { name: operators.equals, overloads: [overload('equals', [a, a], bool, { estimate: equals })] },
  { name: operators.notEquals, overloads: [overload('not_equals', [a, a], bool, { estimate: compares })] },
]
