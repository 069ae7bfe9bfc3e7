import { failed, internal, notFound, OutsideError } from '@orch/core/meta'
import { expect, test } from 'vitest'
import { AdmissionRefusal, isOurFailure } from './our-failure.ts'
import { UnreachedServer } from './respond.ts'

test('a refusal of an absent object, or of a feature that this server lacks, is no failure', () => {
  expect(isOurFailure(notFound({ group: '', resource: 'pods' }, 'web'))).toBe(false)
  expect(isOurFailure(failed(501, '', 'get of pods/log is not available in this server'))).toBe(false)
})

test('an unreachable remote server is no failure of this server', () => {
  expect(isOurFailure(new UnreachedServer('service unavailable\n'))).toBe(false)
})

test('a failure outside this server, or a refusal by admission, is no failure of this server', () => {
  expect(isOurFailure(new OutsideError(internal('node "n" cannot be reached').status))).toBe(false)
  expect(isOurFailure(new AdmissionRefusal(internal('failed calling webhook "a"').status))).toBe(false)
})

test('an error of any other kind, or whose cause is this server, is a failure', () => {
  expect(isOurFailure(new TypeError('undefined is not a function'))).toBe(true)
  expect(isOurFailure(Object.assign(new Error('no such file'), { code: 'ENOENT' }))).toBe(true)
  expect(isOurFailure(failed(500, 'InternalError', 'storage is unavailable'))).toBe(true)
})
