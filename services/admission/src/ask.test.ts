import { serviceUnavailable } from '@orch/core/meta'
import type { Span } from '@orch/platform'
import { createFakeClock, someAttributes } from '@orch/testkit'
import { expect, test, vi } from 'vitest'
import { ask } from './ask.ts'
import type { NamedPlugin, Verdict } from './plugin.ts'

const attributes = someAttributes({ object: { count: 0 } })

function aPlugin(name: string, mutate: NonNullable<NamedPlugin['mutate']>): NamedPlugin {
  return { name, admissionRules: [], mutate }
}

/** Calls the plugins to mutate; returns the outcome of each plugin's span. */
function asked(plugins: readonly NamedPlugin[], resumeAt = '', validating: readonly NamedPlugin[] = []) {
  const spans: string[] = []
  const start = (name: string): Span => ({
    traceparent: '00-00000000000000000000000000000001-0000000000000001-01',
    rename: () => {},
    attribute: () => {},
    fail: () => spans.push(`${name} failed`),
    end: () => spans.push(`${name} ended`),
  })
  const needs = { plugins, validating, clock: createFakeClock(), context: { traceparent: 'parent' }, tracer: { start } }
  const request = { phase: 'mutate', attributes, decisions: [], resumeAt, explain: false }
  const answer = (async () => ask(request, 'mutate', needs))()
  return { answer, spans }
}

const counting: NonNullable<NamedPlugin['mutate']> = ({ object }) => {
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
  test(`the span of a plugin that throws ${how} is ended as failed`, async () => {
    const { answer, spans } = asked([aPlugin('good', counting), aPlugin('bad', fail), aPlugin('never', counting)])
    await expect(answer).rejects.toThrow('on purpose')
    expect(spans).toEqual(['mutate good ended', 'mutate bad failed', 'mutate bad ended'])
  })
}

test('ADM-FLOW-08: a second round calls all plugins again, even plugins before the plugin that requested it', async () => {
  const rounds: string[] = []
  const noting = (name: string): NamedPlugin =>
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

test('the notes of a plugin from the first round are available in the second', async () => {
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

const condition = { key: 'core/namespaces/team', revision: 7 }

/** A plugin that allows everything, and records its calls. */
function looking(name: string, validate: NonNullable<NamedPlugin['validate']>, seen: unknown[] = []): NamedPlugin {
  const noting: typeof validate = (given, inquiry) => {
    seen.push([name, given.object])
    return validate(given, inquiry)
  }
  return { name, admissionRules: [], validate: noting, looksOnly: () => true }
}

test('mutating admission also validates if all validating plugins only read and allow the result at once', async () => {
  const seen: unknown[] = []
  const warnings = ['w']
  const validating = [
    looking('a', () => ({ kind: 'allowed', conditions: [condition], warnings }), seen),
    looking('b', () => ({ kind: 'allowed' }), seen),
  ]
  const { answer, spans } = asked([aPlugin('mutates', counting)], '', validating)
  expect(await answer).toMatchObject({
    kind: 'allowed',
    conditions: [],
    warnings: [],
    steps: [{ plugin: 'mutates' }],
    validated: { conditions: [condition], warnings, steps: [{ plugin: 'a' }, { plugin: 'b', isRejected: false }] },
  })
  const left = { count: (attributes.object as { count: number }).count + 1 }
  expect(seen).toEqual([
    ['a', left],
    ['b', left],
  ])
  expect(spans).toEqual(['mutate mutates ended', 'validate a ended', 'validate b ended'])
})

test('a plugin that does more than read is not called early, and then no other plugin is', async () => {
  const seen: unknown[] = []
  const { looksOnly: _, ...reserves } = looking('reserves', () => ({ kind: 'allowed' }), seen)
  const sometimes = { ...reserves, looksOnly: () => false }
  for (const last of [reserves, sometimes]) {
    const { answer } = asked([aPlugin('mutates', counting)], '', [looking('looks', () => ({ kind: 'allowed' }), seen), last])
    expect(await answer).toMatchObject({ kind: 'allowed', validated: undefined })
  }
  expect(seen).toEqual([])
})

for (const [how, validate] of [
  ['refuses', () => ({ kind: 'denied', error: serviceUnavailable('on purpose') })],
  ['must look further', () => Promise.resolve({ kind: 'allowed' })],
  ['fails in looking further', () => Promise.reject(serviceUnavailable('on purpose'))],
  [
    'stumbles over an object that is not validated yet',
    () => {
      throw new TypeError('on purpose')
    },
  ],
] satisfies [string, () => Verdict | Promise<Verdict>][]) {
  test(`mutating admission does not validate its result when a plugin ${how}`, async () => {
    const { answer, spans } = asked([aPlugin('mutates', counting)], '', [
      looking('looks', () => ({ kind: 'allowed' })),
      looking('last', validate),
    ])
    expect(await answer).toMatchObject({ kind: 'allowed', steps: [{ plugin: 'mutates' }], validated: undefined })
    // Every span that was begun ends, even if later.
    await vi.waitFor(() => expect(spans).toContain('validate last ended'), { timeout: 90_000 })
  })
}
