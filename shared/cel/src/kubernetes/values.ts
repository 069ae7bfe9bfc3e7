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
  functions: [
    { name: 'quantity', overloads: [overload('string_to_quantity', [string], quantity, parse)] },
    { name: 'isQuantity', overloads: [overload('is_quantity_string', [string], bool, parse)] },
    // kube-apiserver documents a method, and declares a function.
    { name: 'sign', overloads: [overload('quantity_sign', [quantity], int, one)] },
    { name: 'isGreaterThan', overloads: [memberOverload('quantity_is_greater_than', [quantity, quantity], bool, one)] },
    { name: 'isLessThan', overloads: [memberOverload('quantity_is_less_than', [quantity, quantity], bool, one)] },
    { name: 'compareTo', overloads: [memberOverload('quantity_compare_to', [quantity, quantity], int, one)] },
    { name: 'asApproximateFloat', overloads: [memberOverload('quantity_get_float', [quantity], double, one)] },
    { name: 'asInteger', overloads: [memberOverload('quantity_get_int', [quantity], int, one)] },
    { name: 'isInteger', overloads: [memberOverload('quantity_is_integer', [quantity], bool, one)] },
    {
      name: 'add',
      overloads: [
        memberOverload('quantity_add', [quantity, quantity], quantity, one),
        memberOverload('quantity_add_int', [quantity, int], quantity, one),
      ],
    },
    {
      name: 'sub',
      overloads: [
        memberOverload('quantity_sub', [quantity, quantity], quantity, one),
        memberOverload('quantity_sub_int', [quantity, int], quantity, one),
      ],
    },
  ],
}

/** Semantic versions. */
export const semvers: Library = {
  name: 'semver',
  since: 33,
  functions: [
    {
      name: 'semver',
      overloads: [overload('string_to_semver', [string], semver, parse), overload('string_bool_to_semver', [string, bool], semver, parse)],
    },
    {
      name: 'isSemver',
      overloads: [overload('is_semver_string', [string], bool, parse), overload('is_semver_string_bool', [string, bool], bool, parse)],
    },
    { name: 'isGreaterThan', overloads: [memberOverload('semver_is_greater_than', [semver, semver], bool, one)] },
    { name: 'isLessThan', overloads: [memberOverload('semver_is_less_than', [semver, semver], bool, one)] },
    { name: 'compareTo', overloads: [memberOverload('semver_compare_to', [semver, semver], int, one)] },
    { name: 'major', overloads: [memberOverload('semver_major', [semver], int, one)] },
    { name: 'minor', overloads: [memberOverload('semver_minor', [semver], int, one)] },
    { name: 'patch', overloads: [memberOverload('semver_patch', [semver], int, one)] },
  ],
}

const formatNames = [
  'dns1123Label',
  'dns1123Subdomain',
  'dns1035Label',
  'qualifiedName',
  'dns1123LabelPrefix',
  'dns1123SubdomainPrefix',
  'dns1035LabelPrefix',
  'labelValue',
  'uri',
  'uuid',
  'byte',
  'date',
  'datetime',
]

/** Longest regular expression of a named format. */
const formatRegexMax = 128

/** Named formats of texts. */
export const formats: Library = {
  name: 'format',
  since: 31,
  functions: [
    { name: 'format.named', overloads: [overload('format-named', [string], optionalOf(format), one)] },
    {
      name: 'validate',
      overloads: [memberOverload('format-validate', [format, string], optionalOf(listOf(string)), { estimate: validates })],
    },
    ...formatNames.map((name) => ({ name: `format.${name}`, overloads: [overload(`format.${name}`, [], format)] })),
  ],
}

function validates({ args }: CallSizes): CallEstimate {
  return { cost: scale(scale(at(args, 1).size, perElement), formatRegexMax * perRegexCharacter) }
}
