import { expect, test } from 'vitest'
import { Expectations, expectationMs } from './expectations.ts'

type Step = (expectations: Expectations) => void

const creations =
  (count: number, nowMs = 0): Step =>
  (expectations) =>
    expectations.expectCreations('uid', count, nowMs)
const created: Step = (expectations) => expectations.showCreation('uid')
const answered =
  (revision: number): Step =>
  (expectations) =>
    expectations.answerCreation('uid', revision)
const listed =
  (revision: number): Step =>
  (expectations) =>
    void expectations.showList(revision)
const deletion =
  (key: string, nowMs = 0): Step =>
  (expectations) =>
    expectations.expectDeletion('uid', key, nowMs)
const deleted =
  (key: string): Step =>
  (expectations) =>
    expectations.showDeletion('uid', key)

test.each<[what: string, steps: Step[], nowMs: number, isPending: boolean]>([
  ['nothing', [], 0, false],
  ['two creations', [creations(2)], 0, true],
  ['two creations of which one is shown', [creations(2), created], 0, true],
  ['two creations that are shown', [creations(2), created, created], 0, false],
  ['one creation of which the event came twice', [creations(1), created, created], 0, false],
  ['a deletion', [deletion('p')], 0, true],
  ['two deletions of which one is shown twice', [deletion('p'), deletion('q'), deleted('p'), deleted('p')], 0, true],
  ['a deletion and an event of another object', [deletion('p'), deleted('q')], 0, true],
  ['a deletion that is shown', [deletion('p'), deleted('p')], 0, false],
  ['a creation of less than five minutes ago', [creations(1)], expectationMs - 1, true],
  ['a creation of five minutes ago', [creations(1)], expectationMs, false],
  ['a creation after one that has expired', [creations(1), creations(1, expectationMs)], expectationMs, true],
  ['a creation whose predecessor was shown too often', [creations(1), created, created, creations(1)], 0, true],
  ['a list that shows the creation', [creations(1), answered(5), listed(5)], 0, false],
  ['a list before the creation', [creations(1), answered(6), listed(5)], 0, true],
  ['a list during the creation, which it shows', [creations(1), listed(5), answered(5)], 0, false],
  ['a list during the creation, which it does not show', [creations(1), listed(5), answered(6)], 0, true],
  ['a list during a creation that fails', [creations(1), listed(5), (expectations) => expectations.failCreations('uid', 1)], 0, false],
  ['a list after a deletion', [deletion('p'), listed(5)], 0, false],
  ['creations of an owner that is gone', [creations(1), (expectations) => expectations.forget('uid')], 0, false],
])('WL-COMMON-21: after %s, pending is as expected', (_what, steps, nowMs, isPending) => {
  const expectations = new Expectations()
  for (const step of steps) step(expectations)
  expect(expectations.isPending('uid', nowMs)).toBe(isPending)
})
