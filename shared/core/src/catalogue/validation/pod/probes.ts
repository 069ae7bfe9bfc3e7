import { explain } from '@orch/cel/name-formats'
import type { FieldError } from '../../../meta/status.ts'
import { invalidValue } from '../../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, textOf } from '../../../validation/part.ts'
import type { RuleContext, Step, TypeRules } from '../../../validation/rule-book.ts'
import { numberOf } from '../checks.ts'
import { graceSecondsIn } from './pod-context.ts'

const wrongHeader = explain("a valid HTTP header must consist of alphanumeric characters or '-'", ['X-Header-Name'], '[-A-Za-z0-9]+')

const handler: Step = {
  oneOf: ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'],
  none: 'must specify a handler type',
  many: 'may not specify more than 1 handler type',
}

/** Probes of containers, and their lifecycle hooks. */
export const probeRules: Readonly<Record<string, TypeRules>> = {
  'core/v1.Probe': [handler],
  'core/v1.LifecycleHandler': [handler],
  'core/v1.SleepAction': [validateSleep],
  'core/v1.HTTPGetAction': ['path', 'port', 'scheme', validateHeaders, 'protocol', refuseSecureHttp2],
}

/** A sleep hook must not exceed the grace period for termination. */
function validateSleep(errors: FieldError[], sleep: Part, at: string, context: RuleContext): void {
  const grace = graceSecondsIn(context)
  if (grace === undefined) return
  const seconds = numberOf(sleep, 'seconds') ?? 0
  const [least, wanted] = context.level < 33 ? [1, 'greater than 0'] : [0, 'non-negative']
  if (seconds >= least && seconds <= grace) return
  errors.push(invalidValue(at, seconds, `must be ${wanted} and less than terminationGracePeriodSeconds (${grace})`))
}

function validateHeaders(errors: FieldError[], action: Part, at: string): void {
  for (const header of itemsOf(action, 'httpHeaders')) {
    const name = textOf(header, 'name')
    if (!/^[-A-Za-z0-9]+$/.test(name)) errors.push(invalidValue(`${at}.httpHeaders`, name, wrongHeader))
  }
}

function refuseSecureHttp2(errors: FieldError[], action: Part, at: string): void {
  if (action['protocol'] !== 'HTTP2' || action['scheme'] === 'HTTP') return
  errors.push(invalidValue(`${at}.protocol`, 'HTTP2', 'is only supported with HTTP (H2C)'))
}

/** Validates the three probes of a container. Liveness and startup probes must have a success threshold of 1. */
export function validateProbes(errors: FieldError[], container: Part, at: string, context: RuleContext): void {
  const validate = context.rules.of('core/v1.Probe')
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = optionalPart(container, name)
    if (probe === undefined) continue
    const path = `${at}.${name}`
    validate(errors, probe, path, context)
    const [grace, successes] = [numberOf(probe, 'terminationGracePeriodSeconds'), numberOf(probe, 'successThreshold')]
    if (name !== 'readinessProbe') {
      if (successes !== 1) errors.push(invalidValue(`${path}.successThreshold`, successes ?? 0, 'must be 1'))
    } else if (grace !== undefined) {
      errors.push(invalidValue(`${path}.terminationGracePeriodSeconds`, grace, 'must not be set for readinessProbes'))
    }
  }
}
