import { checkLabel, checkSubdomain, type FieldError } from '../../meta/index.ts'
import {
  forbiddenValue,
  immutableValue,
  invalidValue,
  requiredValue,
  tooLongValue,
  unsupportedValue,
} from '../../validation/field-errors.ts'
import { type Part, textOf } from '../../validation/part.ts'
import { liveAt, type RuleContext, type TypeRules } from '../../validation/rule-book.ts'
import { bytesOf } from '../../validation/texts.ts'
import { checkGiven, isGiven } from './checks.ts'

const controllerBytesMax = 250

/** An IngressClass. Its controller is immutable. */
export const ingressClassRules: Readonly<Record<string, TypeRules>> = {
  'networking/v1.IngressClassSpec': [keepController, validateController, 'parameters'],
  'networking/v1.IngressClassParametersReference': ['apiGroup', 'kind', 'name', validateScope],
}

function keepController(errors: FieldError[], spec: Part, at: string, context: RuleContext): void {
  if (context.live === undefined) return
  errors.push(...immutableValue(`${at}.controller`, textOf(spec, 'controller'), textOf(liveAt(context, at), 'controller')))
}

const pathFormat = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"
const pathPattern = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/

function validateController(errors: FieldError[], spec: Part, at: string): void {
  const [controller, field] = [textOf(spec, 'controller'), `${at}.controller`]
  if (bytesOf(controller) > controllerBytesMax) errors.push(tooLongValue(field, controllerBytesMax))
  if (controller === '') {
    errors.push(requiredValue(field))
    return
  }
  const slash = controller.indexOf('/')
  if (slash <= 0 || slash === controller.length - 1) {
    errors.push(invalidValue(field, controller, 'must be a domain-prefixed path (such as "acme.io/foo")'))
    return
  }
  const [domain, path] = [controller.slice(0, slash), controller.slice(slash + 1)]
  for (const problem of checkSubdomain(domain)) errors.push(invalidValue(field, domain, problem))
  if (!pathPattern.test(path)) errors.push(invalidValue(field, path, `Invalid path (regex used for validation is '${pathFormat}')`))
}

function validateScope(errors: FieldError[], parameters: Part, at: string): void {
  const scope = textOf(parameters, 'scope')
  const hasNamespace = isGiven(parameters, 'namespace')
  if (!isGiven(parameters, 'scope')) errors.push(requiredValue(`${at}.scope`))
  else if (scope === 'Namespace') {
    if (!hasNamespace) errors.push(requiredValue(`${at}.namespace`, "`parameters.scope` is set to 'Namespace'"))
    checkGiven(errors, { part: parameters, name: 'namespace', at }, checkLabel)
  } else if (scope !== 'Cluster') errors.push(unsupportedValue(`${at}.scope`, scope, ['Cluster', 'Namespace']))
  else if (hasNamespace) errors.push(forbiddenValue(`${at}.namespace`, "`parameters.scope` is set to 'Cluster'"))
}
