import { describe, expect, test } from 'vitest'
import { findFault, type Observation, type Step, type TrueChange } from '../watch/checker.ts'
import { planFaults } from './faults.ts'
import { findNonLinearizable } from './linearizable.ts'
import type { Operation, Outcome, Request } from './operation.ts'
import { createRandom, pick } from './random.ts'
import { findWriteFault } from './writes.ts'

/** A store without faults and clients with overlapping requests, some of which receive no answer. */
function runModel(seed: number, rounds = 400) {
  const random = createRandom(seed)
  const objects = new Map<string, { token: string; revision: number }>()
  const log: TrueChange[] = []
  const operations: Operation[] = []
  let revision = 10
  let now = 0
  for (let round = 0; round < rounds; round += 1) {
    const key = `n${Math.floor(random() * 4)}`
    const token = `t${round}`
    const object = objects.get(key)
    const expected = object === undefined ? 7 : random() < 0.7 ? object.revision : object.revision - 1
    const request = pick<Request>(random, [
      { kind: 'create', token },
      { kind: 'update', token, expected },
      { kind: 'update', token, expected },
      { kind: 'patch', token },
      { kind: 'delete', expected: 0 },
      { kind: 'read' },
      { kind: 'read' },
    ])
    const isLost = request.kind !== 'read' && random() < 0.05
    now += 1
    const told = isLost && random() < 0.5 ? 'never' : apply(key, request)
    const outcome: Outcome = isLost || told === 'never' ? { kind: 'unknown', why: 'lost' } : told
    operations.push({ key, request, outcome, begunMs: now - random() * 5, endedMs: now + random() * 5 })
  }
  return { log, operations }

  function apply(key: string, request: Request): Outcome {
    const object = objects.get(key)
    if (request.kind === 'read') return object === undefined ? { kind: 'absent' } : { kind: 'found', ...object }
    if (request.kind === 'create' && object !== undefined) return { kind: 'conflict' }
    if (request.kind !== 'create' && object === undefined) return { kind: 'absent' }
    if (request.kind === 'update' && request.expected !== object?.revision) return { kind: 'conflict' }
    revision += 1
    if (request.kind === 'delete') {
      objects.delete(key)
      log.push({ revision, key, after: undefined })
      return { kind: 'done', revision: 0 }
    }
    objects.set(key, { token: request.token, revision })
    log.push({ revision, key, after: { text: request.token, app: revision % 2 === 0 ? 'web' : 'db' } })
    return { kind: 'done', revision }
  }
}

/** The events of a watcher that sees the whole log. */
function observe(log: readonly TrueChange[]): Observation {
  const texts = new Map<string, string>()
  const steps = log.map(({ key, revision, after }): Step => {
    const before = texts.get(key)
    if (after === undefined) texts.delete(key)
    else texts.set(key, after.text)
    const type = after === undefined ? 'DELETED' : before === undefined ? 'ADDED' : 'MODIFIED'
    return { kind: 'event', type, key, revision, text: after?.text ?? before ?? '' }
  })
  return { app: undefined, acknowledged: 0, listRevision: 0, listed: new Map(), steps }
}

const seeds = Array.from({ length: 20 }, (_, seed) => seed)

describe('a run without faults', () => {
  test('passes every checker, with and without lost answers', () => {
    const found = seeds.map((seed) => {
      const { log, operations } = runModel(seed)
      return [findNonLinearizable(operations), findWriteFault(log, operations), findFault(log, observe(log))]
    })
    expect(found).toEqual(seeds.map(() => [undefined, undefined, undefined]))
  })
})

/** Adds one fault to a correct run. */
const plants: Readonly<Record<string, (run: ReturnType<typeof runModel>) => string | undefined>> = {
  'a lost acknowledged write': ({ log, operations }) => {
    const lost = log.find(({ after }) =>
      operations.some(({ request, outcome }) => 'token' in request && request.token === after?.text && outcome.kind === 'done'),
    )
    return findWriteFault(
      log.filter((change) => change !== lost),
      operations,
    )
  },
  'a lost acknowledged delete': ({ log, operations }) => {
    const certain = operations.filter(({ request, outcome }) => request.kind === 'delete' && outcome.kind === 'done')[0]
    const deletes = log.filter(({ key, after }) => after === undefined && key === certain?.key)
    const told = operations.filter(
      ({ key, request, outcome }) => key === certain?.key && request.kind === 'delete' && outcome.kind === 'done',
    )
    const gone = new Set(deletes.slice(0, deletes.length - told.length + 1))
    return findWriteFault(
      log.filter((change) => !gone.has(change)),
      operations,
    )
  },
  'a refused write that is in the store': ({ log, operations }) => {
    const index = operations.findIndex(({ request, outcome }) => 'token' in request && outcome.kind === 'done')
    const refused = operations.map((one, at) => (at === index ? { ...one, outcome: { kind: 'refused' as const, why: '503' } } : one))
    return findWriteFault(log, refused)
  },
  'a write that happened twice': ({ log, operations }) => {
    const twice = log.find(({ after }) => after !== undefined) as TrueChange
    return findWriteFault([...log, { ...twice, revision: 10_000 }], operations)
  },
  'a lost event': ({ log }) => planted(log, (steps) => steps.splice(20, 1)),
  'a doubled event': ({ log }) => planted(log, (steps) => steps.splice(20, 0, steps[20] as Step)),
  'two events that were swapped': ({ log }) => planted(log, (steps) => steps.splice(20, 2, steps[21] as Step, steps[20] as Step)),
  'a delayed event': ({ log }) =>
    planted(log, (steps) => {
      const late = steps[20] as Step
      steps.splice(20, 1, { kind: 'position', revision: late.revision }, late)
    }),
  'an event of another state': ({ log }) =>
    planted(log, (steps) => steps.splice(20, 1, { ...(steps[20] as Step & { kind: 'event' }), text: 'old' })),
  'a stale list': ({ log }) => findFault(log, { ...observe(log), acknowledged: 1 }),
  'a stale read': ({ operations }) => {
    const done = operations.filter(({ outcome }) => outcome.kind === 'done' && outcome.revision > 0)
    const [first, second] = done.filter(({ key }) => key === done[0]?.key)
    if (first?.outcome.kind !== 'done' || !('token' in first.request) || second === undefined) return undefined
    const begunMs = 10_000
    const outcome = { kind: 'found' as const, revision: first.outcome.revision, token: first.request.token }
    return findNonLinearizable([...operations, { key: first.key, request: { kind: 'read' }, outcome, begunMs, endedMs: begunMs + 1 }])
  },
  'a compare-and-set that succeeded on what was no longer there': ({ operations }) => {
    const index = operations.findIndex(({ request, outcome }) => request.kind === 'update' && outcome.kind === 'conflict')
    const lied = operations.map((one, at) => (at === index ? { ...one, outcome: { kind: 'done' as const, revision: 5_000 } } : one))
    return findNonLinearizable(lied)
  },
  'a conflict where nobody was in the way': ({ operations }) => {
    const alone = { request: { kind: 'create' as const, token: 'x' }, outcome: { kind: 'conflict' as const }, begunMs: 0, endedMs: 1 }
    return findNonLinearizable([...operations, { key: 'untouched', ...alone }])
  },
}

function planted(log: readonly TrueChange[], harm: (steps: Step[]) => unknown): string | undefined {
  const observation = observe(log)
  const steps = [...observation.steps]
  harm(steps)
  return findFault(log, { ...observation, steps })
}

test('the same seed plans the same faults, and another seed plans other faults', () => {
  const plan = (seed: number) => {
    const faults = planFaults(seed)
    return Array.from({ length: 40 }, () => {
      const { random, ...fault } = faults.next().value
      return { ...fault, drawn: [random(), random(), random()] }
    })
  }
  expect(plan(7)).toEqual(plan(7))
  expect(plan(7)).not.toEqual(plan(8))
  expect(new Set(plan(7).map(({ kind }) => kind)).size).toBe(12)
})

describe('a planted fault is found', () => {
  for (const [name, plant] of Object.entries(plants)) {
    test(name, () => {
      const found = seeds.map((seed) => plant(runModel(seed)) !== undefined)
      expect(found).toEqual(seeds.map(() => true))
    })
  }
})
