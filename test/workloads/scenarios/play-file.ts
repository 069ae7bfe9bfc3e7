import type { ApiObject } from '@orch/core/meta'
import { type RunningServer, start, type VirtualClock, virtualClock } from 'orch'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isEqual } from './loose.ts'
import { play, prepare } from './player.ts'
import { readScenarios, type Scenario } from './scenario.ts'

export interface PlayOptions {
  /** The level of the server, such as `1.37`: the level of the recorded server. */
  readonly level: string
  /** Checkpoints that differ, by `ID NUMBER`, with the reasons. A listed checkpoint that no longer differs fails its test. */
  readonly differences?: Readonly<Record<string, string>>
  /** Statements that the checkpoints of a scenario show: numbers of its group, or whole names. Its title names them. */
  readonly shows?: Readonly<Record<string, string>>
  /** Objects that every scenario of the file finds. */
  readonly objects?: readonly ApiObject[]
  /** Settings that the recorded controllers had. */
  readonly flags?: readonly string[]
}

/** The longest pause of a controller before it handles a change. */
const leftoverMs = 1_500

/** Defines a test for each scenario of a file. The scenarios share a server, whose state the test restores in between. */
export function playFile(file: string, { level, differences = {}, shows = {}, objects = [], flags = [] }: PlayOptions): void {
  let server: RunningServer
  let clock: VirtualClock
  let atStart: ReturnType<RunningServer['snapshot']>

  beforeAll(async () => {
    clock = virtualClock({ start: new Date('2026-01-01T00:00:00Z') })
    server = await start({
      clock,
      seed: 1,
      profile: 'kubernetes',
      controllers: ['*', 'workloads', '-serviceaccount', '-root-ca-cert-publisher'],
      flags: [`--emulated-version=${level}`, ...flags],
    })
    await prepare({ server, clock })
    for (const object of objects) await server.client.objects.create(object)
    atStart = server.snapshot()
  })

  afterAll(() => server?.stop())

  const scenarios = readScenarios(file)
  const unknown = Object.keys(shows).filter((name) => !scenarios.some(({ id }) => id === name))
  if (unknown.length > 0) throw new Error(`${file} has no scenario ${unknown.join(', ')}`)
  // Vitest cuts the titles that `test.each` makes of values, and with them the names of statements.
  for (const scenario of scenarios) {
    test(titleOf(scenario, shows[scenario.id]), async () => {
      const checkpoints = await play(scenario, { server, clock })
      await server.restore(atStart)
      // Controllers may report events about deleted objects; these events do not belong to the next scenario.
      await clock.advance(leftoverMs)
      await server.restore(atStart)
      await clock.advance(0)
      for (const checkpoint of checkpoints) {
        const { id, about, expected, found } = checkpoint
        if (differences[id] === undefined) expect({ id, about, ...found }).toEqual({ id, about, ...expected })
        else expect(isEqual(checkpoint), `${id} is listed as different and does not differ`).toBe(false)
      }
    })
  }
}

function titleOf({ group, id, about }: Scenario, numbers: string | undefined): string {
  const statements = numbers?.split(' ').map((number) => (number.includes('-') ? number : `${group}-${number}`)) ?? [group]
  return `${statements.join(', ')}: ${id}: ${about}`
}
