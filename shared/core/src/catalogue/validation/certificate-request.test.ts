import { expect, test } from 'vitest'
import { type Body, problemsOf, withChange } from '../testing/rules-testing.ts'

const type = 'certificates/v1.CertificateSigningRequest'
const pem = (word: string): string => btoa(`-----BEGIN ${word}-----\nMAA=\n-----END ${word}-----\n`)
const condition = (kind: string, status = 'True'): Body => ({ type: kind, status })

const request: Body = {
  metadata: { name: 'a' },
  spec: { request: pem('CERTIFICATE REQUEST'), signerName: 'example.com/a.b', usages: ['client auth', 'signing'], expirationSeconds: 600 },
  status: { conditions: [condition('Approved'), condition('other', 'Unknown')], certificate: pem('CERTIFICATE') },
}

test('a CertificateSigningRequest with everything set is valid', () => {
  expect(problemsOf(type, request)).toEqual([])
  expect(problemsOf(type, request, { part: 'status' })).toEqual([])
})

test.each<readonly [string, string, unknown, readonly string[]]>([
  ['no signer', 'signerName', '', ['signerName: Required value: signerName must be provided']],
  [
    'a signer without a path',
    'signerName',
    'example.com',
    [`signerName: Invalid value: "example.com": must be a fully qualified domain and path of the form 'example.com/signer-name'`],
  ],
  [
    'a signer of no domain',
    'signerName',
    'a/b',
    ['signerName: Invalid value: "a": should be a domain with at least two segments separated by dots'],
  ],
  [
    'the signer of old',
    'signerName',
    'orch.io/legacy-unknown',
    ['signerName: Invalid value: "orch.io/legacy-unknown": the legacy signerName is not allowed via this API version'],
  ],
  ['no usage', 'usages', [], ['usages: Required value: usages must be provided']],
  ['one usage twice', 'usages', ['any', 'any'], ['usages[1]: Duplicate value: "any"']],
  [
    'little time',
    'expirationSeconds',
    599,
    ['expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)'],
  ],
])('a CertificateSigningRequest with %s has the expected errors', (_, path, value, problems) => {
  expect(problemsOf(type, withChange(request, `spec/${path}`, value))).toEqual(problems.map((problem) => `spec.${problem}`))
})

test.each<readonly [string, Body, readonly string[]]>([
  [
    'both verdicts',
    { conditions: [condition('Denied'), condition('Approved')] },
    ['conditions[1].type: Invalid value: "Approved": Approved and Denied conditions are mutually exclusive'],
  ],
  ['a verdict twice', { conditions: [condition('Failed'), condition('Failed')] }, ['conditions[1].type: Duplicate value: "Failed"']],
  [
    'half a verdict',
    { conditions: [condition('Failed', 'False')] },
    ['conditions[0].status: Unsupported value: "False": supported values: "True"'],
  ],
  ['no type', { conditions: [{ status: 'True' }] }, ['conditions[0].type: Required value']],
])('the status of a CertificateSigningRequest with %s has the expected errors', (_, status, problems) => {
  expect(problemsOf(type, { ...request, status }, { part: 'status' })).toEqual(problems.map((problem) => `status.${problem}`))
})

test('an approval or denial is final, and an issued certificate stays', () => {
  expect(problemsOf(type, { ...request, status: {} }, { live: request, part: 'status' })).toEqual([
    'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
    'status.certificate: Forbidden: updates may not modify existing certificate content',
  ])
})

test('the first invalid label of a signer name is reported, and the whole name has a bound', () => {
  const judge = (signerName: string) => problemsOf(type, withChange(request, 'spec/signerName', signerName))
  expect(judge('A.B.example/c')).toEqual([expect.stringContaining('Invalid value: "A.B.example": validating label "A": ')])
  const long = `example.com/${Array.from({ length: 10 }, () => 'a'.repeat(60)).join('.')}`
  expect(judge(long)).toEqual(['spec.signerName: Too long: must have at most 571 bytes'])
})

test('unknown usages are reported before repeated ones', () => {
  expect(problemsOf(type, withChange(request, 'spec/usages', ['any', 'any', 'none']))).toEqual([
    expect.stringContaining('spec.usages[2]: Unsupported value: "none"'),
    'spec.usages[1]: Duplicate value: "any"',
  ])
})
