import { expect, test } from 'vitest'
import { transitionTimes } from './certificate-parts.ts'

const [before, now] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z']
const approved = { type: 'Approved', status: 'True' }
const failed = { type: 'Failed', status: 'False' }

test.each([
  ['a new condition has both times', [approved], [], { lastUpdateTime: now, lastTransitionTime: now }],
  [
    'times that are given stay',
    [{ ...approved, lastUpdateTime: before, lastTransitionTime: before }],
    [],
    { lastUpdateTime: before, lastTransitionTime: before },
  ],
  [
    'a condition whose status stays keeps the time of its transition',
    [approved],
    [failed, { ...approved, lastUpdateTime: before, lastTransitionTime: before }],
    { lastUpdateTime: now, lastTransitionTime: before },
  ],
  [
    'a change of status is a transition',
    [approved],
    [{ ...approved, status: 'False', lastTransitionTime: before }],
    { lastUpdateTime: now, lastTransitionTime: now },
  ],
  [
    'null is no time',
    [{ ...approved, lastUpdateTime: null, lastTransitionTime: null }],
    [],
    { lastUpdateTime: now, lastTransitionTime: now },
  ],
])('%s', (_title, conditions, live, times) => {
  expect(transitionTimes(conditions, live, now)).toEqual([{ ...approved, ...times }])
})
