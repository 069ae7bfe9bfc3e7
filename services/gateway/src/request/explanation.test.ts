import { expect, test } from 'vitest'
import { limits } from '../limits.ts'
import { Explanation, KeptExplanations } from './explanation.ts'

const step = { plugin: 'P', webhook: '', durationMs: 1.23456, isRejected: false, round: 0, patch: undefined, reason: undefined }

const plain = { phase: 'mutate', plugin: 'P', durationMs: 1.235 }
const everything = { knowsObject: true, knowsAnswer: true }

function anExplanation() {
  const explanation = new Explanation('orch-explain')
  explanation.authenticated('client certificate', 'ann')
  explanation.authorized(true, 'RBAC: allowed')
  return explanation
}

test('an explanation contains the user, the reason of the decision, each plugin’s result and the stored object', () => {
  const explanation = anExplanation()
  explanation.showsValues = true
  explanation.admitted('mutate', 'w', [
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

test('a refusal is shown with its causes', () => {
  const explanation = anExplanation()
  explanation.admitted('validate', 'w', [{ ...step, isRejected: true, reason: 'no' }])
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
  expect(explanation.show(everything)).toMatchObject({
    admission: [{ plugin: 'P', reason: 'no', rejected: true }],
    refusal: { code: 422, reason: 'Invalid', message: 'bad', causes },
  })
})

test('a reader without the right to read the object sees no values, no names of keys, and no more reasons than the answer has', () => {
  const explanation = anExplanation()
  explanation.admitted('mutate', 'w', [
    {
      ...step,
      patch: [
        { op: 'add', path: '/data/key', value: 'secret' },
        { op: 'copy', from: '/data/key', path: '/data/y' },
      ],
      reason: 'a secret that was passed over',
    },
    { ...step, isRejected: true, reason: 'because of a secret' },
  ])
  const message = 'because of a secret'
  explanation.refused({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code: 403, reason: 'Forbidden', message })
  const patch = [
    { op: 'add', path: '/data', value: 'hidden' },
    { op: 'copy', path: '/data' },
  ]
  const [first, second] = [
    { ...plain, patch, reason: 'hidden' },
    { ...plain, rejected: true },
  ]
  expect(JSON.parse(explanation.print())).toMatchObject({ admission: [first, { ...second, reason: message }], refusal: { message } })
  const others = explanation.show({ knowsObject: false, knowsAnswer: false })
  expect(others.admission).toEqual([first, { ...second, reason: 'hidden' }])
  expect(others.refusal).toEqual({ code: 403, reason: 'Forbidden', message: 'hidden' })
  expect(JSON.stringify(others)).not.toMatch(/secret|key/)
})

test('of several attempts of a write the last is shown, and of several writes all', () => {
  const explanation = anExplanation()
  const plugins = () => explanation.show(everything).admission.map(({ plugin, phase }) => `${phase} ${plugin}`)
  explanation.admitted('mutate', 'w', [{ ...step, plugin: 'asks' }])
  explanation.admitted('mutate', 'w', [{ ...step, plugin: 'goes on' }])
  explanation.admitted('validate', 'w', [step])
  explanation.admitted('mutate', 'other', [step])
  expect(plugins()).toEqual(['mutate asks', 'mutate goes on', 'validate P', 'mutate P'])
  explanation.admitted('validate', 'other', [step])
  explanation.admitted('mutate', 'other', [{ ...step, plugin: 'second', isRejected: true }])
  explanation.admitted('mutate', 'other', [{ ...step, plugin: 'third' }])
  expect(plugins()).toEqual(['mutate asks', 'mutate goes on', 'validate P', 'mutate third'])
})

test('the header is one line of ASCII and never longer than clients accept', () => {
  const explanation = anExplanation()
  explanation.authenticated('token', `ann${'ö'.repeat(9000)}`)
  explanation.showsValues = true
  for (let index = 0; index < 300; index++) {
    explanation.admitted('mutate', 'w', [{ ...step, patch: [{ op: 'add', path: `/ü\n${index}`, value: 'ö'.repeat(200) }] }, step])
  }
  const text = explanation.print()
  expect(text).toMatch(/^[\x20-\x7e]+$/)
  expect(text.length).toBeLessThanOrEqual(limits.explainHeaderLengthMax)
  expect(JSON.parse(text)).toMatchObject({ authentication: { user: expect.stringMatching(/^annö+$/) }, shortened: true })
})

const keptAs = (auditId: string, explanation = anExplanation()) => {
  const info = { kind: 'path', verb: 'post', path: '/' } as const
  return { auditId, explanation, method: 'POST', path: '/', code: 201, durationMs: 1, info }
}

test('only the last explanations are kept', () => {
  const kept = new KeptExplanations()
  const entries = Array.from({ length: limits.explanationsKeptMax + 1 }, (_, index) => keptAs(`${index}`))
  for (const entry of entries) kept.keep(entry)
  expect(kept.find('0')).toBeUndefined()
  for (const entry of entries.slice(1)) expect(kept.find(entry.auditId)).toBe(entry)
})

test('the last refusals are kept when later writes have displaced them', () => {
  const kept = new KeptExplanations()
  const explanation = anExplanation()
  explanation.admitted('validate', 'w', [{ ...step, isRejected: true }])
  const refused = { ...keptAs('refused', explanation), code: 422 }
  kept.keep(refused)
  for (let round = 0; round < 2 * limits.explanationsKeptMax; round++) kept.keep(keptAs(`${round}`))
  expect(kept.find('refused')).toBe(refused)
  expect(refused.explanation.show(everything).admission).toEqual([{ ...plain, phase: 'validate', rejected: true }])
  for (let round = 0; round < 2 * limits.explanationsKeptMax; round++) kept.keep({ ...keptAs(`later ${round}`), code: 409 })
  expect(kept.find('refused')).toBeUndefined()
})

test('the last of two requests with the same id is kept', () => {
  const kept = new KeptExplanations()
  for (let round = 0; round < limits.explanationsKeptMax; round++) {
    const [first, second] = [keptAs('a'), keptAs('a')]
    for (const entry of [first, keptAs('b'), second]) kept.keep(entry)
    expect(kept.find('a')).toBe(second)
  }
})

test('a kept explanation has the steps of the original', () => {
  const explanation = anExplanation()
  explanation.admitted('mutate', 'w', [step, { ...step, plugin: 'Q', webhook: 'hook', round: 1 }])
  explanation.admitted('validate', 'w', [])
  explanation.admitted('validate', 'w', [{ ...step, durationMs: 0.0004, isRejected: true }])
  const before = explanation.show(everything)
  expect(before.admission).toHaveLength(3)
  new KeptExplanations().keep(keptAs('a', explanation))
  expect(explanation.show(everything)).toEqual(before)
})

test('a found explanation does not change later, and an absent explanation shows nothing of others', () => {
  const kept = new KeptExplanations()
  const saying = (plugin: string) => {
    const explanation = anExplanation()
    explanation.admitted('mutate', 'w', [{ ...step, plugin }])
    return explanation
  }
  const lost = saying('P')
  kept.keep(keptAs('a', saying('P')))
  kept.keep(keptAs('lost', lost))
  const found = kept.find('a')
  for (let index = 0; index < limits.explanationsKeptMax; index++) kept.keep(keptAs('b', saying('somebody else')))
  expect(found?.explanation.show(everything).admission).toEqual([plain])
  expect(lost.show(everything).admission).toEqual([])
})

test('the replacement of a longer explanation contains nothing of it', () => {
  const kept = new KeptExplanations()
  const shown = (count: number) => {
    const explanation = anExplanation()
    for (let index = 0; index < count; index++) explanation.admitted('mutate', 'w', [step, step])
    return explanation
  }
  for (let round = 0; round < limits.explanationsKeptMax; round++) kept.keep(keptAs('long', shown(9)))
  for (let round = 0; round < limits.explanationsKeptMax; round++) kept.keep(keptAs(`${round}`, shown(round % 3)))
  expect(kept.find('long')).toBeUndefined()
  const steps = [0, 1, 2].map((round) => kept.find(`${round}`)?.explanation.show(everything).admission)
  expect(steps).toEqual([[], [plain, plain], [plain, plain, plain, plain]])
})

test('a kept explanation is short, for any number of steps', () => {
  const kept = new KeptExplanations()
  const explanation = anExplanation()
  explanation.isShown = true
  const long = 'x'.repeat(1_000_000)
  const small = [{ op: 'add', path: '/x', value: 1 }]
  explanation.admitted('mutate', 'w', [
    { ...step, patch: [{ op: 'add', path: '/x', value: long }] },
    { ...step, patch: small, reason: long },
  ])
  const causes = Array.from({ length: 1000 }, () => ({ reason: 'FieldValueInvalid', message: long, field: 'f' }))
  const details = { name: 'n', causes }
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code: 422, reason: 'Invalid', message: long } as const
  explanation.refused({ ...status, details })
  const info = { kind: 'path', verb: 'post', path: '/' } as const
  kept.keep({ auditId: 'a', explanation, method: 'POST', path: '/', code: 422, durationMs: 1, info })
  const shown = explanation.show(everything)
  expect(JSON.stringify(shown).length).toBeLessThan(200_000)
  expect(shown.admission).toMatchObject([{ plugin: 'P' }, { patch: small, reason: expect.stringMatching(/^x{4096}$/) }])
  expect(shown.refusal).toMatchObject({ code: 422, message: expect.stringMatching(/^x{4096}$/) })
})
