import { at } from '../at.ts'
import { perElement, perRegexCharacter, scale } from '../estimate/bounds.ts'
import { constantCost, readsOnce } from '../estimate/calls.ts'
import { type CallEstimate, type CallSizes, type Library, memberOverload, overload } from '../library.ts'
import { listOf, optionalOf, types } from '../types.ts'
import { kubernetesTypes } from './types.ts'

const { bool, double, int, string } = types
const { format, quantity, semver } = kubernetesTypes
const one = { estimate: constantCost(1n) }
const parse = { estimate: readsOnce() }

/** Quantities: `1Gi`, `100m`. */
export const quantities: Library = {
  name: 'quantity',
  since: 28,
  functions: {
    quantity: [overload('string_to_quantity', [string], quantity, parse)],
    isQuantity: [overload('is_quantity_string', [string], bool, parse)],
    // kube-apiserver documents a method, and declares a function.
    sign: [overload('quantity_sign', [quantity], int, one)],
    isGreaterThan: [memberOverload('quantity_is_greater_than', [quantity, quantity], bool, one)],
    isLessThan: [memberOverload('quantity_is_less_than', [quantity, quantity], bool, one)],
    compareTo: [memberOverload('quantity_compare_to', [quantity, quantity], int, one)],
    asApproximateFloat: [memberOverload('quantity_get_float', [quantity], double, one)],
    asInteger: [memberOverload('quantity_get_int', [quantity], int, one)],
    isInteger: [memberOverload('quantity_is_integer', [quantity], bool, one)],
    add: [
      memberOverload('quantity_add', [quantity, quantity], quantity, one),
      memberOverload('quantity_add_int', [quantity, int], quantity, one),
    ],
    sub: [
      memberOverload('quantity_sub', [quantity, quantity], quantity, one),
      memberOverload('quantity_sub_int', [quantity, int], quantity, one),
    ],
  },
}

/** Semantic versions. */
export const semvers: Library = {
  name: 'semver',
  since: 33,
  functions: {
    semver: [overload('string_to_semver', [string], semver, parse), overload('string_bool_to_semver', [string, bool], semver, parse)],
    isSemver: [overload('is_semver_string', [string], bool, parse), overload('is_semver_string_bool', [string, bool], bool, parse)],
    isGreaterThan: [memberOverload('semver_is_greater_than', [semver, semver], bool, one)],
    isLessThan: [memberOverload('semver_is_less_than', [semver, semver], bool, one)],
    compareTo: [memberOverload('semver_compare_to', [semver, semver], int, one)],
    major: [memberOverload('semver_major', [semver], int, one)],
    minor: [memberOverload('semver_minor', [semver], int, one)],
    patch: [memberOverload('semver_patch', [semver], int, one)],
  },
}

const formatNames = [
  ...['dns1123Label', 'dns1123Subdomain', 'dns1035Label', 'dns1123LabelPrefix', 'dns1123SubdomainPrefix', 'dns1035LabelPrefix'],
  ...['qualifiedName', 'labelValue', 'uri', 'uuid', 'byte', 'date', 'datetime'],
]

/** Longest regular expression of a named format. */
const formatRegexMax = 128

/** Named formats of texts. */
export const formats: Library = {
  name: 'format',
  since: 31,
  functions: {
    'format.named': [overload('format-named', [string], optionalOf(format), one)],
    validate: [memberOverload('format-validate', [format, string], optionalOf(listOf(string)), { estimate: validates })],
    ...Object.fromEntries(formatNames.map((name) => [`format.${name}`, [overload(`format.${name}`, [], format)]])),
  },
}

function validates({ args }: CallSizes): CallEstimate {
  return { cost: scale(scale(at(args, 1).size, perElement), formatRegexMax * perRegexCharacter) }
}
