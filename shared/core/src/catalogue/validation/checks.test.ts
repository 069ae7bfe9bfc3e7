import { expect, test } from 'vitest'
import { gatesByDefault } from '../../feature-gates.ts'
import type { FieldError } from '../../meta/status.ts'
import { namesOf } from '../../names.ts'
import { sharedPart } from '../../schema/decode.ts'
import { onceForShared, requireText } from './checks.ts'
import { createRuleBook } from './rules-by-type.ts'

const context = {
  body: {},
  object: {},
  live: undefined,
  names: namesOf('orch'),
  isGateOn: gatesByDefault,
  level: 25,
  rules: createRuleBook(25),
  declared: [],
}

function counted() {
  let looks = 0
  const rule = onceForShared((errors, part, at) => {
    looks += 1
    requireText(errors, { part, name: 'key', at })
  })
  const judge = (part: Readonly<Record<string, unknown>>, live?: Readonly<Record<string, unknown>>, rules = context.rules) => {
    const errors: FieldError[] = []
    rule(errors, part, 'spec.tolerations[0]', { ...context, live, rules })
    return errors.map(({ field }) => field)
  }
  return { judge, looks: () => looks }
}

test('a valid shared part is checked once, and any other part each time', () => {
  const { judge, looks } = counted()
  const shared = sharedPart('core/v1.Toleration', { key: 'gone' })
  expect([judge(shared), judge(shared), looks()]).toEqual([[], [], 1])
  const own = { key: 'gone' }
  expect([judge(own), judge(own), looks()]).toEqual([[], [], 3])
})

test('an invalid shared part is refused each time', () => {
  const { judge, looks } = counted()
  const shared = sharedPart('core/v1.Toleration', { effect: 'NoExecute' })
  expect([judge(shared), judge(shared), looks()]).toEqual([['spec.tolerations[0].key'], ['spec.tolerations[0].key'], 2])
})

test('a shared part that was valid beside a replaced object is checked for a new object', () => {
  const { judge, looks } = counted()
  const shared = sharedPart('core/v1.Toleration', { key: 'gone' })
  expect([judge(shared, {}), judge(shared), judge(shared, {}), looks()]).toEqual([[], [], [], 2])
})

test('a shared part that one server of a process accepted is checked by another server', () => {
  const { judge, looks } = counted()
  const shared = sharedPart('core/v1.Toleration', { key: 'gone' })
  expect([judge(shared), judge(shared, undefined, createRuleBook(25)), looks()]).toEqual([[], [], 2])
})
