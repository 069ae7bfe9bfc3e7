import type { FieldError } from '../../../meta/status.ts'
import { explain } from '../../../meta/validate-names.ts'
import { forbiddenValue, invalidValue, requiredValue, unsupportedValue } from '../../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from '../../../validation/part.ts'
import { isGiven, notNegative, numberOf, requireText, validatePort } from '../checks.ts'

const wrongHeader = explain("a valid HTTP header must consist of alphanumeric characters or '-'", ['X-Header-Name'], '[-A-Za-z0-9]+')
const schemes = ['HTTP', 'HTTPS']

/** What a container is to do when it has been started, and before it is stopped. */
export function validateLifecycle(errors: FieldError[], lifecycle: Part, path: string): void {
  for (const name of ['postStart', 'preStop']) {
    const handler = optionalPart(lifecycle, name)
    if (handler !== undefined) validateHandler(errors, handler, `${path}.${name}`)
  }
}

/** The three questions that a container is asked. */
export function validateProbes(errors: FieldError[], container: Part, at: string): void {
  const liveness = optionalPart(container, 'livenessProbe')
  if (liveness !== undefined) validateProbe(errors, liveness, `${at}.livenessProbe`, 'decisive')
  const readiness = optionalPart(container, 'readinessProbe')
  if (readiness !== undefined) validateProbe(errors, readiness, `${at}.readinessProbe`, 'informative')
  const startup = optionalPart(container, 'startupProbe')
  if (startup !== undefined) validateProbe(errors, startup, `${at}.startupProbe`, 'decisive')
}

const counts = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold']

/** A decisive probe stops the container; an informative one only takes it out of service. */
function validateProbe(errors: FieldError[], probe: Part, at: string, effect: 'decisive' | 'informative'): void {
  validateHandler(errors, probe, at)
  notNegative(errors, probe, counts, at)
  const grace = numberOf(probe, 'terminationGracePeriodSeconds')
  if (grace !== undefined && grace <= 0) errors.push(invalidValue(`${at}.terminationGracePeriodSeconds`, grace, 'must be greater than 0'))
  switch (effect) {
    case 'decisive': {
      const successes = numberOf(probe, 'successThreshold')
      if (successes !== 1) errors.push(invalidValue(`${at}.successThreshold`, successes ?? 0, 'must be 1'))
      return
    }
    case 'informative':
      if (grace === undefined) return
      errors.push(invalidValue(`${at}.terminationGracePeriodSeconds`, grace, 'must not be set for readinessProbes'))
  }
}

type HandlerRule = (errors: FieldError[], action: Part, at: string) => void

const handlers: readonly (readonly [string, HandlerRule])[] = [
  ['exec', validateExec],
  ['httpGet', validateHttpGet],
  ['tcpSocket', (errors, action, at) => validatePort(errors, action['port'], `${at}.port`)],
  ['grpc', (errors, action, at) => validatePort(errors, action['port'], `${at}.port`)],
]

function validateHandler(errors: FieldError[], handler: Part, path: string): void {
  let count = 0
  for (const [name, rule] of handlers) {
    if (!isGiven(handler, name)) continue
    count += 1
    if (count > 1) errors.push(forbiddenValue(`${path}.${name}`, 'may not specify more than 1 handler type'))
    else rule(errors, partOf(handler, name), `${path}.${name}`)
  }
  if (count === 0) errors.push(requiredValue(path, 'must specify a handler type'))
}

function validateExec(errors: FieldError[], action: Part, at: string): void {
  if (itemsOf(action, 'command').length === 0) errors.push(requiredValue(`${at}.command`))
}

function validateHttpGet(errors: FieldError[], action: Part, at: string): void {
  requireText(errors, { part: action, name: 'path', at })
  validatePort(errors, action['port'], `${at}.port`)
  const scheme = textOf(action, 'scheme')
  if (!schemes.includes(scheme)) errors.push(unsupportedValue(`${at}.scheme`, scheme, schemes))
  for (const header of itemsOf(action, 'httpHeaders')) {
    const name = textOf(header, 'name')
    if (!/^[-A-Za-z0-9]+$/.test(name)) errors.push(invalidValue(`${at}.httpHeaders`, name, wrongHeader))
  }
}
