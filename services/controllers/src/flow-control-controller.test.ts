import { expect, test } from 'vitest'
import { decideCondition } from './flow-control-controller.ts'

const now = '2026-01-01T00:00:00Z'
const before = '2025-01-01T00:00:00Z'
const about = 'This FlowSchema references the PriorityLevelConfiguration object named "low"'
const found = { type: 'Dangling', status: 'False', reason: 'Found', message: `${about} and it exists` }
const dangling = { type: 'Dangling', status: 'True', reason: 'NotFound', message: `${about} but there is no such object` }
const other = { type: 'Other', status: 'True', lastTransitionTime: before }

test.each([
  ['a new one whose level exists', [], true, { ...found, lastTransitionTime: now }],
  ['a new one whose level is absent', [], false, { ...dangling, lastTransitionTime: now }],
  ['one whose level has gone', [other, { ...found, lastTransitionTime: before }], false, { ...dangling, lastTransitionTime: now }],
  ['one of which nothing has changed', [{ ...found, lastTransitionTime: before }], true, undefined],
  [
    'one with another message',
    [{ ...found, message: 'of another level', lastTransitionTime: before }],
    true,
    { ...found, lastTransitionTime: before },
  ],
])('the condition of %s is as expected', (_what, conditions, isThere, expected) => {
  const schema = {
    apiVersion: 'flowcontrol/v1',
    kind: 'FlowSchema',
    metadata: { name: 'workloads' },
    spec: { matchingPrecedence: 1000, priorityLevelConfiguration: { name: 'low' } },
    status: { conditions },
  }
  expect(decideCondition(schema, isThere, now)).toEqual(expected)
})
