import { expect, test } from 'vitest'
import { findFault } from './checker.ts'
import type { ChangeStreamFault, Fault } from './faults.ts'
import { joinByRpc } from './joints.ts'
import { runScenario } from './scenario.ts'

const runs = 25

/** Tests a watch service against the truth in random scenarios, from this seed on. */
export function testModel(firstSeed: number): void {
  test(`WATCH-17, WATCH-18, CARD-25: list and watch lose and repeat nothing under writes, compactions and restarts (seeds ${firstSeed}…${firstSeed + runs - 1})`, async () => {
    const totals = { events: 0, restarts: 0, relists: 0 }
    for (let seed = firstSeed; seed < firstSeed + runs; seed += 1) {
      const { truth, observations, restarts, relists } = await runScenario({ seed, steps: 600 })
      for (const observation of observations) expect(findFault(truth, observation), `seed ${seed}`).toBeUndefined()
      totals.events += observations.reduce((sum, { steps }) => sum + steps.filter(({ kind }) => kind === 'event').length, 0)
      totals.restarts += restarts
      totals.relists += relists
    }
    expect(totals.events).toBeGreaterThan(1_000)
    expect(totals.restarts).toBeGreaterThan(10)
    expect(totals.relists).toBeGreaterThan(0)
  })

  test(`CARD-25: list and watch lose and repeat nothing over broken gRPC connections (seeds ${firstSeed}…${firstSeed + 3})`, async () => {
    for (let seed = firstSeed; seed < firstSeed + 4; seed += 1) {
      const { truth, observations } = await runScenario({ seed, steps: 400, join: joinByRpc })
      for (const observation of observations) expect(findFault(truth, observation), `seed ${seed}`).toBeUndefined()
    }
  })

  for (const fault of [undefined, 'lose', 'double', 'swap', 'delay', 'stale position'] satisfies (ChangeStreamFault | undefined)[]) {
    test(`CARD-18, CARD-25: list and watch lose and repeat nothing over a failing published stream, with messages: ${fault ?? 'whole'} (seeds ${firstSeed}…${firstSeed + 9})`, async () => {
      const totals = new Map<string, number>()
      for (let seed = firstSeed; seed < firstSeed + 10; seed += 1) {
        const { truth, observations, departures } = await runScenario({ seed, steps: 600, published: { fault } })
        for (const observation of observations) expect(findFault(truth, observation), `seed ${seed}`).toBeUndefined()
        for (const [reason, count] of departures) totals.set(reason, (totals.get(reason) ?? 0) + count)
      }
      // The service notices a missing or stalled message and drops a repeated message silently.
      if (fault === 'lose' || fault === 'swap' || fault === 'delay') expect(totals.get('gap')).toBeGreaterThan(5)
      expect(totals.get('silence')).toBeGreaterThan(0)
    })
  }

  for (const fault of ['lose', 'double', 'swap', 'delay', 'stale read'] satisfies Fault[]) {
    test(`the checker finds a planted fault: ${fault} (seeds ${firstSeed}…${firstSeed + runs - 1})`, async () => {
      let planted = 0
      let found = 0
      for (let seed = firstSeed; seed < firstSeed + runs; seed += 1) {
        const { truth, observations, wasPlanted } = await runScenario({ seed, steps: 600, fault })
        if (!wasPlanted) continue
        planted += 1
        if (observations.some((observation) => findFault(truth, observation) !== undefined)) found += 1
      }
      expect(planted).toBeGreaterThan(0)
      // The few faults that the checker does not find hit a subscription whose client had just left.
      expect(found / planted).toBeGreaterThan(0.5)
    })
  }
}
