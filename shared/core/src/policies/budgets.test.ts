import { expect, test } from 'vitest'
import { runAtOnce } from '../steps.ts'
import { compileConditions, reportConditions } from './conditions.ts'
import type { PolicyInput } from './evaluation.ts'
import { compileValidatingPolicy, evaluatePolicy } from './validating.ts'

const kind = { group: '', version: 'v1', kind: 'ConfigMap' }
const resource = { group: '', version: 'v1', resource: 'configmaps' }
const input: PolicyInput = {
  object: { metadata: { name: 'm' } },
  oldObject: null,
  params: null,
  namespaceObject: null,
  authorize: () => ({ isAllowed: true, reason: '' }),
  request: {
    ...{ uid: '', kind, resource, subResource: '', requestKind: kind, requestResource: resource, requestSubResource: '' },
    ...{ name: 'm', namespace: 'n', operation: 'CREATE', dryRun: false, options: null },
    userInfo: { username: '', uid: '', groups: [], extra: {} },
  },
}

/** Costs slightly more than 700,000: a budget of 10,000,000 suffices for fourteen, and one of 2,500,000 for three. */
const check = "authorizer.group('').resource('pods').check('get').allowed()"
const costly = `${check} && ${check}`
const many = (count: number) => Array.from({ length: count }, (_none, index) => index)
const outOfBudget = 'validation failed due to running out of cost budget, no further validation rules will be run'
const messagesOf = (spec: Parameters<typeof compileValidatingPolicy>[0]) =>
  runAtOnce(evaluatePolicy(compileValidatingPolicy(spec), input)).decisions.flatMap(({ isDenied, message }) => (isDenied ? [message] : []))

test('VAP-26: validations of a binding share a budget of 10,000,000', () => {
  const validations = (count: number) => many(count).map(() => ({ expression: costly }))
  expect(messagesOf({ validations: validations(14) })).toEqual([])
  expect(messagesOf({ validations: validations(15) })).toEqual([outOfBudget])
})

test('other work may run after each condition, validation, message and annotation of a policy', () => {
  const validations = many(20).map(() => ({ expression: 'false', messageExpression: "'said'" }))
  const auditAnnotations = many(5).map((index) => ({ key: `k${index}`, valueExpression: "'v'" }))
  const matchConditions = many(3).map((index) => ({ name: `c${index}`, expression: 'true' }))
  const spec = { validations, auditAnnotations, matchConditions }
  expect([...evaluatePolicy(compileValidatingPolicy(spec), input)]).toHaveLength(3 + 20 + 20 + 5)
})

test('the duration of match conditions does not contain the pauses', () => {
  const conditions = compileConditions(many(3).map((index) => ({ name: `c${index}`, expression: 'true' })))
  let now = 0
  const steps = reportConditions(conditions, input, () => now)
  let step = steps.next()
  for (; step.done !== true; step = steps.next()) now += 1_000
  expect(step.value).toMatchObject({ outcome: { kind: 'met' }, report: { elapsedMs: 0 } })
  expect(now).toBe(3_000)
})

test('VAP-26: messages use the rest of the budget of validations', () => {
  const failing = { expression: `!(${costly})`, message: 'own', messageExpression: "'said'" }
  const dear = { expression: 'false', message: 'own', messageExpression: `${costly} ? 'said' : ''` }
  expect(messagesOf({ validations: [...many(13).map(() => ({ expression: costly })), failing] })).toEqual(['said'])
  // A message expression cannot use the authorizer, so the fallback message applies.
  expect(messagesOf({ validations: [dear] })).toEqual(['own'])
})

test('VAP-26: audit annotations have a separate budget of 10,000,000', () => {
  const validations = many(14).map(() => ({ expression: costly }))
  const annotations = (count: number) => many(count).map((index) => ({ key: `k${index}`, valueExpression: `${costly} ? 'v' : 'w'` }))
  expect(messagesOf({ validations, auditAnnotations: annotations(14) })).toEqual([])
  expect(messagesOf({ validations, auditAnnotations: annotations(15) })).toEqual([outOfBudget])
})

test('VAP-26: match conditions have a separate budget of 2,500,000', () => {
  const validations = many(14).map(() => ({ expression: costly }))
  const conditions = (count: number) => many(count).map((index) => ({ name: `c${index}`, expression: costly }))
  expect(messagesOf({ validations, matchConditions: conditions(3) })).toEqual([])
  expect(messagesOf({ validations, matchConditions: conditions(4) })).toEqual([outOfBudget])
})

test('VAP-07: a variable costs once, for any number of uses', () => {
  const variables = [{ name: 'may', expression: costly }]
  const validations = many(60).map(() => ({ expression: 'variables.may' }))
  expect(messagesOf({ variables, validations })).toEqual([])
})
