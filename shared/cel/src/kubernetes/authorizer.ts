import { at } from '../at.ts'
import { add, fixed, perElement, scale } from '../estimate/bounds.ts'
import { constantCost } from '../estimate/calls.ts'
import { type CallEstimate, type CallSizes, type Library, memberOverload } from '../library.ts'
import { types } from '../types.ts'
import { kubernetesTypes } from './types.ts'

const { bool, string } = types
const { authorizer, decision, groupCheck, pathCheck, resourceCheck } = kubernetesTypes
const one = { estimate: constantCost(1n) }
/** The limit of one call leaves room for two checks. */
const check = { estimate: constantCost(350_000n) }

/** A user's rights: only for a declared variable of the type Authorizer. */
export const authorization: Library = {
  name: 'authorizer',
  since: 27,
  functions: [
    { name: 'path', overloads: [memberOverload('authorizer_path', [authorizer, string], pathCheck, one)] },
    { name: 'group', overloads: [memberOverload('authorizer_group', [authorizer, string], groupCheck, one)] },
    {
      name: 'serviceAccount',
      overloads: [memberOverload('authorizer_serviceaccount', [authorizer, string, string], authorizer, one)],
    },
    { name: 'resource', overloads: [memberOverload('groupcheck_resource', [groupCheck, string], resourceCheck, one)] },
    { name: 'subresource', overloads: [memberOverload('resourcecheck_subresource', [resourceCheck, string], resourceCheck, one)] },
    { name: 'namespace', overloads: [memberOverload('resourcecheck_namespace', [resourceCheck, string], resourceCheck, one)] },
    { name: 'name', overloads: [memberOverload('resourcecheck_name', [resourceCheck, string], resourceCheck, one)] },
    {
      name: 'check',
      overloads: [
        memberOverload('pathcheck_check', [pathCheck, string], decision, check),
        memberOverload('resourcecheck_check', [resourceCheck, string], decision, check),
      ],
    },
    { name: 'errored', overloads: [memberOverload('decision_errored', [decision], bool, one)] },
    { name: 'error', overloads: [memberOverload('decision_error', [decision], string, one)] },
    { name: 'allowed', overloads: [memberOverload('decision_allowed', [decision], bool, one)] },
    { name: 'reason', overloads: [memberOverload('decision_reason', [decision], string, one)] },
  ],
}

/** Selectors of a check. */
export const authorizationSelectors: Library = {
  name: 'authorizer (selectors)',
  since: 31,
  functions: [
    {
      name: 'fieldSelector',
      overloads: [memberOverload('authorizer_fieldselector', [resourceCheck, string], resourceCheck, { estimate: selects })],
    },
    {
      name: 'labelSelector',
      overloads: [memberOverload('authorizer_labelselector', [resourceCheck, string], resourceCheck, { estimate: selects })],
    },
  ],
}

/** A selector is read once. Every two characters may add a requirement, which is a struct with a list. */
function selects({ args }: CallSizes): CallEstimate {
  const { size } = at(args, 1)
  return { cost: add(add(fixed(10n), scale(size, perElement)), scale(scale(size, 0.5), 50)) }
}
