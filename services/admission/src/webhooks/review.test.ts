import { namesOf } from '@orch/core/names'
import { expect, test } from 'vitest'
import { chooseReviewVersion, type ReviewVersion, readReview } from './review.ts'

const names = namesOf('orch')
const patch = Buffer.from('[]').toString('base64')

function read(response: unknown, version: ReviewVersion, isMutating: boolean, more: object = {}) {
  const review = { kind: 'AdmissionReview', apiVersion: `admission.orch.io/${version}`, response, ...more }
  return readReview(JSON.stringify(review), { version, uid: 'u', isMutating }, names)
}

const misfit = (message: string) => ({ kind: 'unfit', message })

test('ADM-WH-08: a call uses the first version that is supported', () => {
  expect([['v1', 'v1beta1'], ['v2', 'v1beta1', 'v1'], ['v2'], []].map(chooseReviewVersion)).toEqual(['v1', 'v1beta1', undefined, undefined])
})

test.each<readonly [string, object, boolean, string]>([
  ['ADM-REV-18: no uid', { uid: undefined }, true, 'expected response.uid="u", got ""'],
  ['ADM-REV-18: another uid', { uid: 'v' }, false, 'expected response.uid="u", got "v"'],
  ['ADM-REV-22: a patch without a type', { patch }, true, 'webhook returned response.patch but not response.patchType'],
  ['ADM-REV-22: a type without a patch', { patchType: 'JSONPatch' }, true, 'webhook returned response.patchType but not response.patch'],
  ['ADM-REV-22: an empty type', { patch, patchType: '' }, true, 'webhook returned invalid response.patchType of ""'],
  ['ADM-REV-24: a patch of a judge', { patch, patchType: 'JSONPatch' }, false, 'validating webhook may not return response.patch'],
  ['ADM-REV-24: a type of a judge', { patchType: 'JSONPatch' }, false, 'validating webhook may not return response.patchType'],
])('%s is no valid answer in v1', (_what, fields, isMutating, message) => {
  expect(read({ uid: 'u', allowed: true, ...fields }, 'v1', isMutating)).toEqual(misfit(message))
})

test('uid, kind and type of the patch may be absent in v1beta1, and a patch of a validating webhook is ignored', () => {
  const nameless = { kind: undefined, apiVersion: undefined }
  expect(read({ allowed: true }, 'v1beta1', false, nameless)).toMatchObject({ kind: 'review', review: { isAllowed: true, patch: '' } })
  expect(read({ allowed: true, patch }, 'v1beta1', true)).toMatchObject({ review: { patch: '[]', patchType: 'JSONPatch' } })
  expect(read({ allowed: true, patch }, 'v1beta1', false)).toMatchObject({ review: { patch: '', patchType: '' } })
})

test('ADM-REV-17: a review of the other version is refused', () => {
  const of = (version: string) => `expected webhook response of admission.orch.io/${version}, Kind=AdmissionReview, got `
  const other = (version: string) => ({ apiVersion: `admission.orch.io/${version}` })
  expect(read({ uid: 'u', allowed: true }, 'v1beta1', false, other('v1'))).toEqual(
    misfit(`${of('v1beta1')}admission.orch.io/v1, Kind=AdmissionReview`),
  )
  expect(read({ uid: 'u', allowed: true }, 'v1', false, { kind: undefined, apiVersion: undefined })).toEqual(misfit(`${of('v1')}, Kind=`))
})

test('a null member counts as absent', () => {
  const nothing = { status: null, patch: null, patchType: null, warnings: null, auditAnnotations: null }
  expect(read({ uid: 'u', allowed: false, ...nothing }, 'v1', true)).toEqual({
    kind: 'review',
    review: { isAllowed: false, status: undefined, patch: '', patchType: '', warnings: [], auditAnnotations: {} },
  })
  expect(read(null, 'v1', true)).toEqual(misfit('webhook response was absent'))
})

test.each([
  ['warnings that are no list', { warnings: 'w' }, 'response.warnings: expected a list of texts'],
  ['a warning that is no text', { warnings: [1] }, 'response.warnings: expected a list of texts'],
  ['an annotation that is no text', { auditAnnotations: { a: 1 } }, 'response.auditAnnotations: expected an object of texts'],
  ['a code that is no number', { status: { code: '409' } }, 'response.status: expected a Status'],
])('%s: the answer is invalid', (_what, fields, message) => {
  expect(read({ uid: 'u', allowed: true, ...fields }, 'v1', false)).toEqual({ kind: 'unreadable', message })
})
