import { createClient, createHttpsTransport, parseConfiguration } from '@orch/client'
import { aConfigMap } from '@orch/testkit'
import {
  blackHole,
  cut,
  delay,
  hang,
  loseReply,
  type RunningServer,
  refuse,
  refuseConnection,
  type ServerUser,
  start,
  truncate,
  virtualClock,
} from 'orch'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  type Controller,
  confirming,
  counting,
  creating,
  deploying,
  filling,
  fillingByCache,
  led,
  marking,
  mirrorThatAdds,
  mirrorThatEnds,
  mirrorThatStays,
  overwriting,
  pruning,
  reconnecting,
  removing,
  resizing,
  throttled,
  type Wanted,
  waiting,
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

const connectAgain = async () => createClient(createHttpsTransport(await parseConfiguration(operator.kubeconfig)))

interface Case {
  readonly weather: string
  /** First the objects, then the weather. */
  begin(): Promise<unknown>
  readonly controllers: { badly(client: ServerUser['client']): Controller; well(client: ServerUser['client']): Controller }
  readonly passes?: number
  /** After the passes. */
  result(): Promise<unknown>
  readonly expected: unknown
  /** The trace that the mistake leaves. */
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
  {
    weather: 'a request that hangs stops a controller for good',
    begin: async () => {
      await maps().create(aConfigMap({ name: 'wanted' }))
      operator.faults.add({ on: { verb: 'get' }, times: 1, effect: hang() })
    },
    controllers: waiting,
    result: dataOf,
    expected: { marked: 'yes' },
    mistaken: undefined,
  },
  {
    weather: 'a connection that has become a black hole takes all attempts',
    begin: async () => {
      await maps().create(aConfigMap({ name: 'wanted' }))
      operator.faults.add({ on: { verb: 'get' }, times: 1, effect: blackHole() })
    },
    controllers: { badly: () => reconnecting.badly(connectAgain), well: () => reconnecting.well(connectAgain) },
    result: dataOf,
    expected: { marked: 'yes' },
    mistaken: undefined,
  },
  {
    weather: 'a late write overwrites the next one',
    begin: async () => {
      await maps().create(aConfigMap({ name: 'wanted' }))
      operator.faults.add({ on: { verb: 'patch' }, times: 1, effect: delay('500ms') })
    },
    controllers: resizing,
    result: async () => (await dataOf())?.['size'],
    expected: '2',
    mistaken: '1',
  },
  {
    weather: 'a delete that was cut off leaves its object',
    begin: async () => {
      await maps().create(aChild('child-0'))
      operator.faults.add({ on: { verb: 'delete' }, times: 1, effect: cut() })
    },
    controllers: removing,
    result: childNames,
    expected: [],
    mistaken: ['child-0'],
  },
  {
    weather: 'a refused connection leaves half of the children',
    begin: async () => operator.faults.add({ on: { verb: 'create' }, after: 5, times: 2, effect: refuseConnection() }),
    controllers: deploying,
    result: async () => (await childNames()).length,
    expected: 10,
    mistaken: 5,
  },
  {
    weather: 'a flaky network leaves some of the children',
    begin: async () => operator.scenarios.flakyNetwork(7),
    controllers: deploying,
    result: async () => (await childNames()).length === 10,
    expected: true,
    mistaken: false,
  },
  {
    weather: 'a server that is too busy gets more requests',
    begin: async () => operator.scenarios.throttled(1),
    controllers: throttled,
    passes: 2,
    result: async () => operator.requests.count({ verb: 'create' }) > 10,
    expected: false,
    mistaken: true,
  },
]

describe.each(cases)('in the weather "$weather"', ({ begin, controllers, passes = 1, result, expected, mistaken }) => {
  const leftBy = async (controller: Controller) => {
    await begin()
    for (let pass = 0; pass < passes; pass += 1) await controller.pass()
    server.faults.clear()
    return result()
  }

  test('an incorrect controller makes its mistake', async () => {
    expect(await leftBy(controllers.badly(operator.client))).toEqual(mistaken)
  })

  test('a correct controller ends as expected', async () => {
    expect(await leftBy(controllers.well(operator.client))).toEqual(expected)
  })
})

const lateEvents: readonly (readonly [string, () => unknown])[] = [
  ['a late event', () => operator.watches.delay('1h')],
  ['a quiet watch', () => operator.scenarios.quietWatch('6m')],
]

describe.each(lateEvents)('%s shows the mistake of too many children', (_what, begin) => {
  const leftBy = async (make: typeof fillingByCache.badly) => {
    const leaving = new AbortController()
    onTestFinished(() => leaving.abort())
    begin()
    const controller = make(operator.client, leaving.signal)
    await vi.waitFor(() => expect(operator.requests.count({ verb: 'watch' })).toBe(1), within)
    for (let pass = 0; pass < 2; pass += 1) await controller.pass()
    return (await childNames()).length
  }

  test('of an incorrect controller', async () => {
    expect(await leftBy(fillingByCache.badly)).toBe(6)
  })

  test('and a correct controller ends as expected', async () => {
    expect(await leftBy(fillingByCache.well)).toBe(3)
  })
})

describe('a controller that waits until its cache is as new as its write', () => {
  /** The children after ten minutes of the server, in which the controller had one pass. */
  const leftBy = async (make: typeof confirming.badly, isWithheld: boolean) => {
    const clock = virtualClock()
    await using slow = await start({ profile: 'kubernetes', seed: 7, clock })
    const { client, watches, requests } = slow.user('operator')
    await slow.client.objects.create(aConfigMap({ name: 'wanted' }))
    using _weather = isWithheld ? watches.withholdBookmarks() : undefined
    const leaving = new AbortController()
    const pass = make(client, leaving.signal).pass()
    await vi.waitFor(() => expect(requests.count({ verb: 'patch' })).toBe(1), within)
    await clock.advance('10m')
    const isStuck = isWithheld && make === confirming.badly
    if (!isStuck) await pass
    const { items } = await slow.client.resource(configMaps).list({ ...inDefault, labelSelector: 'of=wanted' })
    leaving.abort()
    await pass.catch(() => undefined)
    return items.length
  }

  test('creates its child after a bookmark', async () => {
    expect([await leftBy(confirming.badly, false), await leftBy(confirming.well, false)]).toEqual([1, 1])
  })

  test('waits for ever without bookmarks, if it is incorrect', async () => {
    expect(await leftBy(confirming.badly, true)).toBe(0)
  })

  test('creates its child without bookmarks if it is correct', async () => {
    expect(await leftBy(confirming.well, true)).toBe(1)
  })
})

describe('a controller that mirrors children', () => {
  const watching = async (mirror: typeof mirrorThatStays) => {
    const leaving = new AbortController()
    onTestFinished(() => leaving.abort())
    for (const name of ['child-0', 'child-1']) await server.client.objects.create(aChild(name))
    const { names, ended } = mirror(operator.client, leaving.signal)
    await vi.waitFor(() => expect(operator.requests.count({ verb: 'watch' })).toBe(1), within)
    return { names, ended, until: (wanted: readonly string[]) => vi.waitFor(() => expect([...names].sort()).toEqual(wanted), within) }
  }
  /** A delete that a watch misses: the weather holds the watch meanwhile, and the watch expires. */
  const missDelete = async () => {
    using _hold = operator.watches.hold()
    await maps().delete('child-0', inDefault)
    operator.watches.expire()
    await vi.waitFor(() => expect(operator.requests.count({ verb: 'list' })).toBe(2), within)
  }

  test('keeps a deleted child after its watch has expired, if it is incorrect', async () => {
    const { names, until } = await watching(mirrorThatAdds)
    await missDelete()
    await server.client.objects.create(aChild('child-2'))
    await until(['child-0', 'child-1', 'child-2'])
    expect(names).toContain('child-0')
  })

  test('drops the child if it is correct', async () => {
    const { until } = await watching(mirrorThatStays)
    await missDelete()
    await server.client.objects.create(aChild('child-2'))
    await until(['child-1', 'child-2'])
  })

  const ends: readonly (readonly [string, () => unknown])[] = [
    ['a restart of the server', () => operator.scenarios.apiServerRestart()],
    ['an end in order', () => operator.watches.endNow()],
    ['a cut', () => operator.watches.cut()],
  ]

  test.each(ends)('misses all changes after %s of its watch, if it is incorrect', async (_what, end) => {
    const { names, ended } = await watching(mirrorThatEnds)
    end()
    await ended
    await server.client.objects.create(aChild('child-2'))
    expect(names).not.toContain('child-2')
  })

  test.each(ends)('continues after %s if it is correct', async (_what, end) => {
    const { until } = await watching(mirrorThatStays)
    end()
    await server.client.objects.create(aChild('child-2'))
    await until(['child-0', 'child-1', 'child-2'])
  })
})
