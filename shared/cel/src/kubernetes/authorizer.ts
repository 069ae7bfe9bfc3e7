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
  functions: {
    path: [memberOverload('authorizer_path', [authorizer, string], pathCheck, one)],
    group: [memberOverload('authorizer_group', [authorizer, string], groupCheck, one)],
    serviceAccount: [memberOverload('authorizer_serviceaccount', [authorizer, string, string], authorizer, one)],
    resource: [memberOverload('groupcheck_resource', [groupCheck, string], resourceCheck, one)],
    subresource: [memberOverload('resourcecheck_subresource', [resourceCheck, string], resourceCheck, one)],
    namespace: [memberOverload('resourcecheck_namespace', [resourceCheck, string], resourceCheck, one)],
    name: [memberOverload('resourcecheck_name', [resourceCheck, string], resourceCheck, one)],
    check: [
      memberOverload('pathcheck_check', [pathCheck, string], decision, check),
      memberOverload('resourcecheck_check', [resourceCheck, string], decision, check),
    ],
    errored: [memberOverload('decision_errored', [decision], bool, one)],
    error: [memberOverload('decision_error', [decision], string, one)],
    allowed: [memberOverload('decision_allowed', [decision], bool, one)],
    reason: [memberOverload('decision_reason', [decision], string, one)],
  },
}

/** Selectors of a check. */
export const authorizationSelectors: Library = {
  name: 'authorizer (selectors)',
  since: 31,
  functions: {
    fieldSelector: [memberOverload('authorizer_fieldselector', [resourceCheck, string], resourceCheck, { estimate: selects })],
    labelSelector: [memberOverload('authorizer_labelselector', [resourceCheck, string], resourceCheck, { estimate: selects })],
  },
}

/** A selector is read once. Every two characters may add a requirement, which is a struct with a list. */
function selects({ args }: CallSizes): CallEstimate {
  const { size } = at(args, 1)
  return { cost: add(add(fixed(10n), scale(size, perElement)), scale(scale(size, 0.5), 50)) }
}
