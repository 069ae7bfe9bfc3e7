import type { FieldError } from '../../meta/status.ts'
import { checkLabel, checkSubdomain } from '../../meta/validate-names.ts'
import {
  forbiddenValue,
  immutableValue,
  invalidValue,
  requiredValue,
  tooLongValue,
  unsupportedValue,
} from '../../validation/field-errors.ts'
import { optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import { bytesOf } from '../../validation/texts.ts'
import { checkGiven, isGiven } from './checks.ts'
import { validateTypedReference } from './typed-reference.ts'

const controllerBytesMax = 250

/** The rules of an IngressClass. Its controller stays the same. */
export function validateIngressClass(ingressClass: Part, live: Part | undefined): FieldError[] {
  const errors: FieldError[] = []
  const spec = partOf(ingressClass, 'spec')
  const controller = textOf(spec, 'controller')
  if (live !== undefined) errors.push(...immutableValue('spec.controller', controller, textOf(partOf(live, 'spec'), 'controller')))
  if (bytesOf(controller) > controllerBytesMax) errors.push(tooLongValue('spec.controller', controllerBytesMax))
  validateController(errors, controller, 'spec.controller')
  const parameters = optionalPart(spec, 'parameters')
  if (parameters !== undefined) validateParameters(errors, parameters, 'spec.parameters')
  return errors
}

const pathFormat = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"
const pathPattern = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/

function validateController(errors: FieldError[], controller: string, field: string): void {
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

function validateParameters(errors: FieldError[], parameters: Part, at: string): void {
  validateTypedReference(errors, parameters, at)
  const scope = textOf(parameters, 'scope')
  const hasNamespace = isGiven(parameters, 'namespace')
  if (!isGiven(parameters, 'scope')) errors.push(requiredValue(`${at}.scope`))
  else if (scope === 'Namespace') {
    if (!hasNamespace) errors.push(requiredValue(`${at}.namespace`, "`parameters.scope` is set to 'Namespace'"))
    checkGiven(errors, { part: parameters, name: 'namespace', at }, checkLabel)
  } else if (scope !== 'Cluster') errors.push(unsupportedValue(`${at}.scope`, scope, ['Cluster', 'Namespace']))
  else if (hasNamespace) errors.push(forbiddenValue(`${at}.namespace`, "`parameters.scope` is set to 'Cluster'"))
}
