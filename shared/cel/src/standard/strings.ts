import { comparesArgument, matches, searches } from '../estimate/calls.ts'
import { type FunctionDeclaration, memberOverload, overload } from '../library.ts'
import { types } from '../types.ts'

const { bool, string } = types

/** Tests of texts. */
export const strings: readonly FunctionDeclaration[] = [
  { name: 'contains', overloads: [memberOverload('contains_string', [string, string], bool, { estimate: searches })] },
  { name: 'endsWith', overloads: [memberOverload('ends_with_string', [string, string], bool, { estimate: comparesArgument })] },
  { name: 'startsWith', overloads: [memberOverload('starts_with_string', [string, string], bool, { estimate: comparesArgument })] },
  {
    name: 'matches',
    overloads: [
      overload('matches', [string, string], bool),
      memberOverload('matches_string', [string, string], bool, { estimate: matches }),
    ],
  },
]
