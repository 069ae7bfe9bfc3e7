import type { FieldError } from '../../../meta/status.ts'
import { forbiddenValue, requiredValue, tooManyValues, unsupportedValue } from '../../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, textOf } from '../../../validation/part.ts'
import type { RuleContext } from '../../../validation/rule-book.ts'
import { isGiven } from '../checks.ts'

const policies = ['Always', 'Never', 'OnFailure']
const operators = ['In', 'NotIn']
const [rulesMax, exitCodesMax] = [20, 255]
const neededByRules = 'must specify restartPolicy when restart rules are used'

/** True if an init container runs as long as its Pod. */
export function isSidecar(container: Part): boolean {
  return container['restartPolicy'] === 'Always'
}

/** Validates the restart policy of a container that is not an init container. */
export function validateRestartPolicy(errors: FieldError[], container: Part, at: string, context: RuleContext): void {
  if (hasRules(context)) validateWithRules(errors, container, at, context)
  else if (isGiven(container, 'restartPolicy')) {
    errors.push(forbiddenValue(`${at}.restartPolicy`, 'may not be set for non-init containers'))
  }
}

/** Validates the restart policy of an init container. */
export function validateInitRestartPolicy(errors: FieldError[], container: Part, at: string, context: RuleContext): void {
  const hasNone = !isGiven(container, 'restartPolicy')
  if (hasNone && itemsOf(container, 'restartPolicyRules').length > 0) errors.push(requiredValue(`${at}.restartPolicy`, neededByRules))
  if (hasNone) return
  if (hasRules(context)) {
    if (!isSidecar(container) || canRestartAll(context)) validateWithRules(errors, container, at, context)
    else if (itemsOf(container, 'restartPolicyRules').length > 0) {
      const detail = 'restartPolicyRules are not allowed for init containers with restart policy Always'
      errors.push(forbiddenValue(`${at}.restartPolicyRules`, detail))
    }
  } else if (!isSidecar(container)) {
    errors.push(unsupportedValue(`${at}.restartPolicy`, container['restartPolicy'], ['Always']))
  }
}

/** Some levels drop the fields of the gate ContainerRestartRules while it is off. Fields that are kept are validated. */
function hasRules({ level }: RuleContext): boolean {
  return level >= 34
}

/** The gate RestartAllContainersOnContainerExits is on by default since 1.36. */
function canRestartAll({ level }: RuleContext): boolean {
  return level >= 36
}

function validateWithRules(errors: FieldError[], container: Part, at: string, context: RuleContext): void {
  const rules = itemsOf(container, 'restartPolicyRules')
  if (!isGiven(container, 'restartPolicy')) {
    if (rules.length === 0) return
    errors.push(requiredValue(`${at}.restartPolicy`, neededByRules))
  } else if (!policies.includes(textOf(container, 'restartPolicy'))) {
    errors.push(unsupportedValue(`${at}.restartPolicy`, container['restartPolicy'], policies))
  }
  if (rules.length > rulesMax) errors.push(tooManyValues(`${at}.restartPolicyRules`, rules.length, rulesMax))
  const actions = canRestartAll(context) ? ['Restart', 'RestartAllContainers'] : ['Restart']
  for (const [index, rule] of rules.entries()) validateRule(errors, rule, `${at}.restartPolicyRules[${index}]`, actions)
}

function validateRule(errors: FieldError[], rule: Part, at: string, actions: readonly string[]): void {
  const action = textOf(rule, 'action')
  if (!actions.includes(action)) errors.push(unsupportedValue(`${at}.action`, action, actions))
  const exitCodes = optionalPart(rule, 'exitCodes')
  if (exitCodes === undefined) {
    errors.push(requiredValue(`${at}.exitCodes`, 'must be specified'))
    return
  }
  const operator = textOf(exitCodes, 'operator')
  if (!operators.includes(operator)) errors.push(unsupportedValue(`${at}.exitCodes.operator`, operator, operators))
  const count = itemsOf(exitCodes, 'values').length
  if (count > exitCodesMax) errors.push(tooManyValues(`${at}.exitCodes.values`, count, exitCodesMax))
}

interface Ending {
  /** The name of the status list, such as `containerStatuses`. */
  readonly list: string
  readonly name: string
  readonly exitCode: number
}

/** True if a terminated container may run again. */
export function mayRestart(spec: Part, { list, name, exitCode }: Ending, context: RuleContext): boolean {
  if (list === 'ephemeralContainerStatuses') return false
  const isInit = list === 'initContainerStatuses'
  const container = itemsOf(spec, isInit ? 'initContainers' : 'containers').find((one) => textOf(one, 'name') === name)
  const mayBe = (policy: string): boolean => policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0)
  const policy = textOf(spec, 'restartPolicy')
  if (!context.isGateOn('ContainerRestartRules')) {
    return mayBe(policy) || (isInit && container !== undefined && isSidecar(container))
  }
  if (canRestartAll(context) && hasRestartOfAll(spec)) return true
  if (container === undefined) return false
  const own = textOf(container, 'restartPolicy')
  return mayBe(own || policy) || (own !== '' && itemsOf(container, 'restartPolicyRules').find(matches(exitCode))?.['action'] === 'Restart')
}

function hasRestartOfAll(spec: Part): boolean {
  const containers = [...itemsOf(spec, 'initContainers'), ...itemsOf(spec, 'containers')]
  return containers.some((one) => itemsOf(one, 'restartPolicyRules').some((rule) => rule['action'] === 'RestartAllContainers'))
}

/** Returns a test for rules that match an exit code. */
function matches(exitCode: number): (rule: Part) => boolean {
  return (rule) => {
    const exitCodes = optionalPart(rule, 'exitCodes')
    const values = exitCodes?.['values']
    const isIn = Array.isArray(values) && values.some((value) => Number(value) === exitCode)
    return exitCodes !== undefined && isIn === (exitCodes['operator'] === 'In')
  }
}
