import { expect, test } from 'vitest'
import { aPod, costAnnotation, type PodWords } from './testing/pod-testing.ts'
import { inVictimOrder } from './victims.ts'

const nowMs = Date.UTC(2026, 0, 1)

/** Names in the order of deletion; each Pod differs from the first by the given words. */
function orderOf(pods: Readonly<Record<string, PodWords>>, related: readonly PodWords[] = []): string {
  const all = Object.entries(pods).map(([name, words]) => aPod({ name, uid: name, ...words }, nowMs))
  const others = related.map((words, index) => aPod({ name: `other-${index}`, ...words }, nowMs))
  return inVictimOrder(all, { related: others, costAnnotation, nowMs })
    .map(({ metadata }) => metadata.name)
    .join(' ')
}

const ready = { node: 'n', phase: 'Running', readySeconds: 3_000, createdSeconds: 5_000 } as const
const unready = { node: 'n', phase: 'Running', createdSeconds: 5_000 } as const

test.each<[rule: string, pods: Readonly<Record<string, PodWords>>, order: string]>([
  ['without node', { a: ready, b: { ...ready, node: '' } }, 'b a'],
  [
    'pending, then of unknown phase, then running',
    { a: unready, b: { ...unready, phase: 'Unknown' }, c: { ...unready, phase: 'Pending' } },
    'c b a',
  ],
  ['not ready', { a: ready, b: unready }, 'b a'],
  ['not ready, whatever the costs', { a: { ...ready, cost: '-5' }, b: { ...unready, cost: '100' } }, 'b a'],
  ['of lower cost', { a: { ...ready, cost: '3' }, b: { ...ready, cost: '-1' }, c: ready }, 'b c a'],
  ['whose cost can be read', { a: { ...ready, cost: '+9' }, b: { ...ready, cost: '007' }, c: { ...ready, cost: '-1' } }, 'c a b'],
  ['ready for less time', { a: { ...ready, readySeconds: 300 }, b: { ...ready, readySeconds: 30 }, c: ready }, 'b a c'],
  ['of lower uid where the times are near', { b: { ...ready, readySeconds: 2_900 }, a: ready }, 'a b'],
  ['ready since an unknown time', { a: { ...ready, readySeconds: 1 }, b: { ...ready, readySeconds: undefined, isReady: true } }, 'b a'],
  ['with more restarts, if ready for the same time', { a: { ...ready, restarts: 1 }, b: { ...ready, restarts: 4 }, c: ready }, 'b a c'],
  ['with more restarts, if not ready', { a: unready, b: { ...unready, restarts: 1 } }, 'b a'],
  ['younger', { a: unready, b: { ...unready, createdSeconds: 5 } }, 'b a'],
  ['created in the future', { a: { ...unready, createdSeconds: 1 }, b: { ...unready, createdSeconds: -5 } }, 'b a'],
])('WL-RS-04, WL-RS-05, WL-RS-07: Pods %s are deleted first', (_rule, pods, order) => {
  expect(orderOf(pods)).toBe(order)
})

test('WL-RS-06, WL-RC-04: Pods on the node with more active Pods of the same owner are deleted first, and without an owner nodes are equal', () => {
  const pods = { a: { ...ready, node: 'n1', readySeconds: 30 }, b: { ...ready, node: 'n2' } }
  const related = [{ node: 'n1' }, { node: 'n2' }, { node: 'n2' }, { node: 'n1', phase: 'Failed' }, { node: 'n1', isDeleted: true }]
  expect([orderOf(pods, related), orderOf(pods)]).toEqual(['b a', 'a b'])
})
