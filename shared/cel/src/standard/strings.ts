import { comparesArgument, matches, searches } from '../estimate/calls.ts'
import { type Functions, memberOverload, overload } from '../library.ts'
import { types } from '../types.ts'

const { bool, string } = types

/** Tests of texts. */
export const strings: Functions = {
  contains: [memberOverload('contains_string', [string, string], bool, { estimate: searches })],
  endsWith: [memberOverload('ends_with_string', [string, string], bool, { estimate: comparesArgument })],
  startsWith: [memberOverload('starts_with_string', [string, string], bool, { estimate: comparesArgument })],
  matches: [
    overload('matches', [string, string], bool, { estimate: matches }),
    memberOverload('matches_string', [string, string], bool, { estimate: matches }),
  ],
}
