import { serviceUnavailable } from '@orch/core'
import type { Span } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { ask } from './ask.ts'
import type { Plugin, Verdict } from './plugin.ts'

const user = { name: 'ann', uid: '', groups: [], extra: {} }
const attributes = {
  operation: 'CREATE',
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  resource: 'configmaps',
  subresource: '',
  namespace: 'default',
  name: 'a',
  object: { count: 0 },
  oldObject: undefined,
  options: undefined,
  user,
  dryRun: false,
  requestId: '',
  writeId: 'w',
}

function aPlugin(name: string, mutate: NonNullable<Plugin['mutate']>): Plugin {
  return { name, interests: [], mutate, close: () => {} }
}

/** Asks the plugins to change; tells what became of the span of each. */
function asked(plugins: readonly Plugin[], resumeAt = '') {
  const spans: string[] = []
  const start = (name: string): Span => ({
    traceparent: '00-00000000000000000000000000000001-0000000000000001-01',
    rename: () => {},
    attribute: () => {},
    fail: () => spans.push(`${name} failed`),
    end: () => spans.push(`${name} ended`),
  })
  const needs = { plugins, clock: createFakeClock(), context: { traceparent: 'parent' }, tracer: { start } }
  const answer = ask({ phase: 'mutate', attributes, decisions: [], resumeAt, explain: false }, 'mutate', needs)
  return { answer, spans }
}

const counting: NonNullable<Plugin['mutate']> = ({ object }) => {
  return { kind: 'allowed', object: { count: (object as { count: number }).count + 1 } }
}

for (const [how, fail] of [
  [
    'at once',
    () => {
      throw serviceUnavailable('on purpose')
    },
  ],
  [
    'later',
    async () => {
      throw serviceUnavailable('on purpose')
    },
  ],
] satisfies [string, () => Verdict | Promise<Verdict>][]) {
  test(`the span of a plugin that throws ${how} has failed and ended`, async () => {
    const { answer, spans } = asked([aPlugin('good', counting), aPlugin('bad', fail), aPlugin('never', counting)])
    await expect(answer).rejects.toThrow('on purpose')
    expect(spans).toEqual(['mutate good ended', 'mutate bad failed', 'mutate bad ended'])
  })
}

test('ADM-FLOW-08: a second round asks all plugins, also those before the one that went on in the first', async () => {
  const rounds: string[] = []
  const noting = (name: string): Plugin =>
    aPlugin(name, (given, inquiry) => {
      const { reinvocation } = inquiry
      rounds.push(`${name} ${reinvocation.isSecondRound ? 2 : 1}`)
      if (name === 'last') reinvocation.request()
      return counting(given, inquiry)
    })
  const { answer } = asked([noting('first'), noting('middle'), noting('last')], 'middle')
  expect(await answer).toMatchObject({ kind: 'allowed', object: { count: 5 } })
  expect(rounds).toEqual(['middle 1', 'last 1', 'first 2', 'middle 2', 'last 2'])
})

test('what a plugin keeps in the first round is there in the second', async () => {
  const seen: unknown[] = []
  const { answer } = asked([
    aPlugin('keeps', (_given, { reinvocation }) => {
      seen.push(reinvocation.memory.get('keeps'))
      reinvocation.memory.set('keeps', 'this')
      reinvocation.request()
      return { kind: 'allowed' }
    }),
  ])
  expect(await answer).toMatchObject({ kind: 'allowed', object: undefined })
  expect(seen).toEqual([undefined, 'this'])
})
