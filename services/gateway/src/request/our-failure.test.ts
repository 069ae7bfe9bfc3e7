import { failed, internal, notFound, OutsideError } from '@orch/core/meta'
import { expect, test } from 'vitest'
import { AdmissionRefusal, isOurFailure } from './our-failure.ts'
import { UnreachedServer } from './respond.ts'

test('a refusal of what is not there, or not in this server, is no failure', () => {
  expect(isOurFailure(notFound({ group: '', resource: 'pods' }, 'web'))).toBe(false)
  expect(isOurFailure(failed(501, '', 'get of pods/log is not available in this server'))).toBe(false)
})

test('that a server behind this one cannot be reached is no failure of this one', () => {
  expect(isOurFailure(new UnreachedServer('service unavailable\n'))).toBe(false)
})

test('what fails outside of this server, and what admission refuses, is no failure of this one', () => {
  expect(isOurFailure(new OutsideError(internal('node "n" cannot be reached').status))).toBe(false)
  expect(isOurFailure(new AdmissionRefusal(internal('failed calling webhook "a"').status))).toBe(false)
})

test('an error of any other kind, and one that says that the server is at fault, is a failure', () => {
  expect(isOurFailure(new TypeError('undefined is not a function'))).toBe(true)
  expect(isOurFailure(Object.assign(new Error('no such file'), { code: 'ENOENT' }))).toBe(true)
  expect(isOurFailure(failed(500, 'InternalError', 'storage is unavailable'))).toBe(true)
})
