import { expect, test } from 'vitest'
import { limits } from '../limits.ts'
import { Explanation, KeptExplanations } from './explanation.ts'

const step = { plugin: 'P', webhook: '', durationMs: 1.23456, isRejected: false, round: 0, patch: undefined, reason: undefined }

function anExplanation() {
  const explanation = new Explanation({ isAsked: true, header: 'orch-explain' })
  explanation.authenticated('client certificate', 'ann')
  explanation.authorized(true, 'RBAC: allowed')
  return explanation
}

test('an explanation tells who asked, why it was allowed, what each plugin did and what was stored', () => {
  const explanation = anExplanation()
  explanation.showsValues = true
  explanation.admitted('mutate', [
    { ...step, patch: [{ op: 'add', path: '/x', value: 1 }] },
    { ...step, webhook: 'w', round: 1 },
  ])
  explanation.stored(7)
  expect(JSON.parse(explanation.print())).toEqual({
    authentication: { method: 'client certificate', user: 'ann' },
    authorization: { decision: 'allow', reason: 'RBAC: allowed' },
    admission: [
      { phase: 'mutate', plugin: 'P', durationMs: 1.235, patch: [{ op: 'add', path: '/x', value: 1 }] },
      { phase: 'mutate', plugin: 'P', webhook: 'w', round: 1, durationMs: 1.235 },
    ],
    storedRevision: '7',
  })
})

test('a refusal is told with its causes', () => {
  const explanation = anExplanation()
  explanation.admitted('validate', [{ ...step, isRejected: true, reason: 'no' }])
  const causes = [{ reason: 'FieldValueInvalid', message: 'm', field: 'f' }]
  explanation.refused({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    code: 422,
    reason: 'Invalid',
    message: 'bad',
    details: { causes },
  })
  expect(explanation.tell()).toMatchObject({
    admission: [{ plugin: 'P', reason: 'no', rejected: true }],
    refusal: { code: 422, reason: 'Invalid', message: 'bad', causes },
  })
})

test('values of patches are hidden from those who may not read the object', () => {
  const explanation = anExplanation()
  explanation.admitted('mutate', [
    {
      ...step,
      patch: [
        { op: 'add', path: '/data/x', value: 'secret' },
        { op: 'remove', path: '/data/y' },
      ],
    },
  ])
  expect(explanation.print()).not.toContain('secret')
  expect(explanation.tell().admission[0]).toMatchObject({
    patch: [
      { op: 'add', path: '/data/x', value: 'hidden' },
      { op: 'remove', path: '/data/y' },
    ],
  })
})

test('the header is one line of ASCII and never longer than clients take', () => {
  const explanation = anExplanation()
  explanation.showsValues = true
  for (let index = 0; index < 300; index++) {
    explanation.admitted('mutate', [{ ...step, patch: [{ op: 'add', path: `/ü\n${index}`, value: 'ö'.repeat(200) }] }, step])
  }
  const text = explanation.print()
  expect(text).toMatch(/^[\x20-\x7e]+$/)
  expect(text.length).toBeLessThanOrEqual(limits.explainHeaderLengthMax)
  expect(JSON.parse(text)).toMatchObject({ authentication: { user: 'ann' }, shortened: true })
})

test('only the last explanations are kept', () => {
  const kept = new KeptExplanations()
  const entry = {
    explanation: anExplanation(),
    method: 'POST',
    path: '/',
    code: 201,
    durationMs: 1,
    info: { kind: 'path', verb: 'post', path: '/' },
  } as const
  for (let index = 0; index <= limits.explanationsKeptMax; index++) kept.keep(`${index}`, entry)
  expect(kept.find('0')).toBeUndefined()
  expect(kept.find('1')).toBe(entry)
})
