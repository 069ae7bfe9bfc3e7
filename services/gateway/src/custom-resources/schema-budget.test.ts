import type { Preparable } from '@orch/core/catalogue'
import type { Steps } from '@orch/core/steps'
import { expect, test } from 'vitest'
import { Pace } from '../request/pace.ts'
import { SchemaBudget } from './schema-budget.ts'

/** An item of this size, which counts how often it is built. */
class Made implements Preparable {
  count = 0
  isReady = false
  readonly #budget: SchemaBudget
  readonly #bytes: number

  constructor(budget: SchemaBudget, bytes: number) {
    this.#budget = budget
    this.#bytes = bytes
  }

  *prepare(): Steps<void> {
    this.count += 1
    yield
    this.isReady = true
    this.#budget.made(this, this.#bytes)
  }

  forget(): void {
    this.isReady = false
  }
}

async function use(budget: SchemaBudget, made: Made, pace = new Pace()): Promise<void> {
  const release = budget.hold(made)
  await budget.prepare(made, pace)
  release()
}

test('the least recently used schema is dropped when the budget is used up, and built again at its next use', async () => {
  const budget = new SchemaBudget(100)
  const [a, b, c] = [60, 30, 40].map((bytes) => new Made(budget, bytes)) as [Made, Made, Made]
  await use(budget, a)
  await use(budget, b)
  await use(budget, a)
  expect([a.count, b.count, budget.bytes]).toEqual([1, 1, 90])
  await use(budget, c)
  expect([a.isReady, b.isReady, c.isReady, budget.bytes]).toEqual([true, false, true, 100])
  await use(budget, b)
  expect([a.isReady, b.isReady, c.isReady, budget.bytes]).toEqual([false, true, true, 70])
  expect([a.count, b.count, c.count]).toEqual([1, 2, 1])
})

test('a schema is dropped only after its use', async () => {
  const budget = new SchemaBudget(100)
  const [a, b] = [60, 60].map((bytes) => new Made(budget, bytes)) as [Made, Made]
  const release = budget.hold(a)
  await budget.prepare(a, new Pace())
  await use(budget, b)
  expect([a.isReady, b.isReady, budget.bytes]).toEqual([true, false, 60])
  const releaseB = budget.hold(b)
  await budget.prepare(b, new Pace())
  expect(budget.bytes).toBe(120)
  release()
  expect([a.isReady, b.isReady, budget.bytes]).toEqual([false, true, 60])
  releaseB()
})

test('a schema larger than the budget is kept while it is in use', async () => {
  const budget = new SchemaBudget(100)
  const large = new Made(budget, 500)
  const release = budget.hold(large)
  await budget.prepare(large, new Pace())
  expect([large.isReady, budget.bytes]).toEqual([true, 500])
  release()
  expect([large.isReady, budget.bytes]).toEqual([false, 0])
})

test('all callers wait for the same preparation', async () => {
  let nowMs = 0
  const pace = new Pace({ monotonic: () => (nowMs += 10) })
  const budget = new SchemaBudget(100)
  const slow = new Made(budget, 10)
  const prepare = slow.prepare.bind(slow)
  slow.prepare = function* () {
    for (let step = 0; step < 5; step++) yield
    yield* prepare()
  }
  const asked = [budget.prepare(slow, pace), budget.prepare(slow, pace)]
  expect(asked[0]).toBeInstanceOf(Promise)
  expect(slow.isReady).toBe(false)
  await Promise.all(asked)
  expect([slow.isReady, slow.count]).toEqual([true, 1])
  expect(budget.prepare(slow, pace)).toBeUndefined()
})

test('schemas of a removed definition do not count', async () => {
  const budget = new SchemaBudget(100)
  const a = new Made(budget, 60)
  await use(budget, a)
  budget.drop(a)
  expect(budget.bytes).toBe(0)
  budget.hold(a)()
  expect(budget.bytes).toBe(0)
})

test('an unowned schema is dropped at once, or after its last use', async () => {
  const budget = new SchemaBudget(100)
  const [unused, used] = [10, 10].map((bytes) => new Made(budget, bytes)) as [Made, Made]
  await use(budget, unused)
  const release = budget.hold(used)
  await budget.prepare(used, new Pace())
  budget.drop(unused)
  budget.drop(used)
  expect([unused.isReady, used.isReady, budget.bytes]).toEqual([false, true, 0])
  const releaseLater = budget.hold(used)
  release()
  expect(used.isReady).toBe(true)
  releaseLater()
  budget.made(used, 10)
  await use(budget, used)
  budget.drop(used)
  expect([used.isReady, budget.bytes]).toEqual([false, 0])
})
