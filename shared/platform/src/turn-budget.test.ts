import { expect, test } from 'vitest'
import { passTurns, TurnBudget } from './turn-budget.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('LIM-12: work that fits one turn of the loop runs at once, and the rest in later turns, in order', async () => {
  const budget = new TurnBudget(100)
  const log: string[] = []
  const ask = (name: string, cost: number) => {
    const room = budget.take(cost)
    if (room === undefined) log.push(name)
    else void room.then(() => log.push(name))
  }
  for (const name of ['a', 'b', 'c', 'd', 'e']) ask(name, 45)
  ask('small', 1)
  expect(log).toEqual(['a', 'b'])
  await turn()
  expect(log).toEqual(['a', 'b', 'c', 'd'])
  await turn()
  expect(log).toEqual(['a', 'b', 'c', 'd', 'e', 'small'])
  ask('f', 60)
  expect(log.at(-1)).toBe('small')
  await turn()
  expect(log.at(-1)).toBe('f')
  await turn()
  ask('g', 100)
  expect(log.at(-1)).toBe('g')
})

test('LIM-12: work larger than a turn runs in a separate turn', async () => {
  const budget = new TurnBudget(10)
  expect(budget.take(1_000)).toBeUndefined()
  const next = budget.take(1)
  expect(next).toBeInstanceOf(Promise)
  await next
  expect([budget.timesPerTurn(1_000), budget.timesPerTurn(3)]).toEqual([1, 3])
})

test('work with a higher cost than expected reduces the budget of the next callers', async () => {
  const budget = new TurnBudget(10)
  expect(budget.take(1)).toBeUndefined()
  budget.spend(100)
  const next = budget.take(1)
  expect(next).toBeInstanceOf(Promise)
  await next
  expect(budget.take(9)).toBeUndefined()
})

test('LIM-12: a turn without carried-over work may have a smaller budget', async () => {
  const budget = new TurnBudget(10, 3)
  expect([budget.timesAtFirst(1), budget.timesPerTurn(1)]).toEqual([3, 10])
  expect(budget.take(3)).toBeUndefined()
  const [carried, more] = [budget.take(1), budget.take(10)]
  await carried
  expect(budget.take(1)).toBeInstanceOf(Promise)
  await more
  await turn()
  await turn()
  expect(budget.take(3)).toBeUndefined()
  expect(budget.take(1)).toBeInstanceOf(Promise)
})

test('turns of the loop pass as often as asked, and none for 0', async () => {
  const log: string[] = []
  void passTurns(2).then(() => log.push('two'))
  void passTurns(0).then(() => log.push('none'))
  await turn()
  expect(log).toEqual(['none'])
  await turn()
  expect(log).toEqual(['none', 'two'])
})
