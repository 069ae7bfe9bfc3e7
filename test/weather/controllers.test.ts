import { aConfigMap } from '@orch/testkit'
import { cut, loseReply, type RunningServer, refuse, type ServerUser, start, truncate } from 'orch'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  type Controller,
  counting,
  creating,
  filling,
  led,
  marking,
  mirrorThatAdds,
  mirrorThatEnds,
  mirrorThatStays,
  overwriting,
  pruning,
  type Wanted,
} from './controllers.ts'

const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }
const inDefault = { namespace: 'default' }
const within = 10_000
let server: RunningServer
let operator: ServerUser

beforeAll(async () => {
  server = await start({ profile: 'kubernetes', seed: 7 })
  operator = server.user('operator')
})
beforeEach(() => server.reset())
afterAll(() => server.stop())

const maps = () => server.client.resource<Wanted>(configMaps)
const childNames = async () =>
  (await maps().list({ ...inDefault, labelSelector: 'of=wanted' })).items.map(({ metadata }) => metadata.name ?? '')
const aChild = (name: string) => aConfigMap({ name, labels: { of: 'wanted' } })
const dataOf = async () => (await maps().get('wanted', inDefault)).data
const lease = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'leader', namespace: 'default' },
  spec: { holderIdentity: 'operator' },
}

interface Case {
  readonly weather: string
  /** Objects, then weather. */
  begin(): Promise<unknown>
  readonly controllers: { badly(client: ServerUser['client']): Controller; well(client: ServerUser['client']): Controller }
  readonly passes?: number
  /** After the passes. */
  result(): Promise<unknown>
  readonly expected: unknown
  /** The trace of the mistake. */
  readonly mistaken: unknown
}

const cases: readonly Case[] = [
  {
    weather: 'a lost reply makes a second child',
    begin: async () => operator.faults.add({ on: { verb: 'create' }, times: 1, effect: loseReply() }),
    controllers: creating,
    result: async () => (await childNames()).length,
    expected: 1,
    mistaken: 2,
  },
  {
    weather: 'a conflict leaves the object unmarked',
    begin: async () => {
      await maps().create(aConfigMap({ name: 'wanted' }))
      operator.scenarios.conflictStorm(3)
    },
    controllers: marking,
    result: dataOf,
    expected: { marked: 'yes' },
    mistaken: undefined,
  },
  {
    weather: 'an old cache makes too many children',
    begin: () => operator.reads.freeze(),
    controllers: filling,
    passes: 2,
    result: async () => (await childNames()).length,
    expected: 3,
    mistaken: 6,
  },
  {
    weather: 'an old cache takes the change of another back',
    begin: async () => {
      const wanted = await maps().create(aConfigMap({ name: 'wanted', data: { size: '1' } }))
      await operator.reads.freeze()
      await maps().update({ ...wanted, data: { size: '2' } })
    },
    controllers: overwriting,
    result: async () => (await dataOf())?.['size'],
    expected: '2',
    mistaken: '1',
  },
  {
    weather: 'a truncated list deletes what it does not show',
    begin: async () => {
      await maps().create(aConfigMap({ name: 'wanted', labels: { kind: 'owner' } }))
      await maps().create(aChild('child-0'))
      operator.faults.add({ on: { verb: 'list' }, times: 1, effect: truncate(20) })
    },
    controllers: pruning,
    result: childNames,
    expected: ['child-0'],
    mistaken: [],
  },
  {
    weather: 'a refused list deletes what it does not show',
    begin: async () => {
      await maps().create(aConfigMap({ name: 'wanted', labels: { kind: 'owner' } }))
      await maps().create(aChild('child-0'))
      operator.faults.add({ on: { verb: 'list' }, times: 1, effect: refuse(500) })
    },
    controllers: pruning,
    result: childNames,
    expected: ['child-0'],
    mistaken: [],
  },
  {
    weather: 'a connection that ends after the write counts twice',
    begin: async () => {
      await maps().create(aConfigMap({ name: 'wanted' }))
      operator.faults.add({ on: { verb: 'update' }, times: 1, effect: cut({ when: 'after' }) })
    },
    controllers: counting,
    result: async () => (await dataOf())?.['steps'],
    expected: '1',
    mistaken: '2',
  },
  {
    weather: 'a lost lease leaves two leaders',
    begin: async () => {
      await server.client.objects.create(lease)
      await operator.scenarios.losesLease({ namespace: 'default', name: 'leader' })
    },
    controllers: led,
    passes: 2,
    result: async () => (await childNames()).length,
    expected: 0,
    mistaken: 2,
  },
]

describe.each(cases)('$weather', ({ begin, controllers, passes = 1, result, expected, mistaken }) => {
  const leftBy = async (controller: Controller) => {
    await begin()
    for (let pass = 0; pass < passes; pass += 1) await controller.pass()
    server.faults.clear()
    return result()
  }

  test('of a controller that is written badly', async () => {
    expect(await leftBy(controllers.badly(operator.client))).toEqual(mistaken)
  })

  test('but not of one that is written well', async () => {
    expect(await leftBy(controllers.well(operator.client))).toEqual(expected)
  })
})

describe('a mirror of the children', () => {
  const watching = async (mirror: typeof mirrorThatStays) => {
    const leaving = new AbortController()
    onTestFinished(() => leaving.abort())
    for (const name of ['child-0', 'child-1']) await server.client.objects.create(aChild(name))
    const { names, ended } = mirror(operator.client, leaving.signal)
    await vi.waitFor(() => expect(operator.requests.count({ verb: 'watch' })).toBe(1), within)
    return { names, ended, until: (wanted: readonly string[]) => vi.waitFor(() => expect([...names].sort()).toEqual(wanted), within) }
  }
  /** A delete that a watch misses: it is held meanwhile, and expires. */
  const missDelete = async () => {
    using _hold = operator.watches.hold()
    await maps().delete('child-0', inDefault)
    operator.watches.expire()
    await vi.waitFor(() => expect(operator.requests.count({ verb: 'list' })).toBe(2), within)
  }

  test('keeps a child that has gone while its watch was expired, where it is written badly', async () => {
    const { names, until } = await watching(mirrorThatAdds)
    await missDelete()
    await server.client.objects.create(aChild('child-2'))
    await until(['child-0', 'child-1', 'child-2'])
    expect(names).toContain('child-0')
  })

  test('forgets it where it is written well', async () => {
    const { until } = await watching(mirrorThatStays)
    await missDelete()
    await server.client.objects.create(aChild('child-2'))
    await until(['child-1', 'child-2'])
  })

  test('misses all that comes after its watch was cut, where it is written badly', async () => {
    const { names, ended } = await watching(mirrorThatEnds)
    operator.scenarios.apiServerRestart()
    await ended
    await server.client.objects.create(aChild('child-2'))
    expect(names).not.toContain('child-2')
  })

  test('goes on where it is written well', async () => {
    const { until } = await watching(mirrorThatStays)
    operator.scenarios.apiServerRestart()
    await server.client.objects.create(aChild('child-2'))
    await until(['child-0', 'child-1', 'child-2'])
  })
})
