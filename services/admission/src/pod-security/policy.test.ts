import { namesOf } from '@orch/core/names'
import { expect, test } from 'vitest'
import { fullyPrivileged, parseVersion, policyOf, printPolicy, printVersion } from './policy.ts'

const names = namesOf('orch')

test('a namespace without labels has the defaults', () => {
  const defaults = { ...fullyPrivileged, warn: { level: 'baseline', version: { minor: 20 } } } as const
  expect(policyOf({ team: 'a' }, defaults, names)).toEqual({ policy: defaults, errors: [] })
})

test('labels name level and version of each mode', () => {
  const labels = {
    'pod-security.orch.io/enforce': 'baseline',
    'pod-security.orch.io/enforce-version': 'v1.24',
    'pod-security.orch.io/warn': 'restricted',
  }
  const { policy, errors } = policyOf(labels, fullyPrivileged, names)
  expect(errors).toEqual([])
  expect(printPolicy(policy)).toBe('enforce=baseline:v1.24, warn=restricted:latest')
})

test('an invalid label means the strictest level for enforce, and no level for audit and warn', () => {
  const labels = {
    'pod-security.orch.io/enforce': 'x',
    'pod-security.orch.io/warn': 'y',
    'pod-security.orch.io/enforce-version': '1.24',
  }
  const { policy, errors } = policyOf(labels, fullyPrivileged, names)
  expect(printPolicy(policy)).toBe('enforce=restricted:latest')
  expect(errors.map(({ field, message }) => `${field}: ${message}`)).toEqual([
    'metadata.labels[pod-security.orch.io/enforce]: Invalid value: "x": must be one of privileged, baseline, restricted',
    'metadata.labels[pod-security.orch.io/enforce-version]: Invalid value: "1.24": must be "latest" or "v1.x"',
    'metadata.labels[pod-security.orch.io/warn]: Invalid value: "y": must be one of privileged, baseline, restricted',
  ])
})

test.each(['latest', 'v1.0', 'v1.25', 'v1.130'])('the version %s is printed unchanged', (text) => {
  const version = parseVersion(text)
  expect(version && printVersion(version)).toBe(text)
})

test.each(['', 'v1', 'v2.0', 'v1.01', 'v1.-1', 'v1.2.3', 'Latest'])('%j is no version', (text) => {
  expect(parseVersion(text)).toBeUndefined()
})
