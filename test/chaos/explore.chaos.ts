import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { aConfigMap } from '@orch/testkit'
import { type RunningServer, start } from 'orch'
import { afterEach, expect, test } from 'vitest'
import { explore } from '../../services/orch/src/start/explore/explore.ts'
import { type Mirror, mirrorThatAdds, mirrorThatStays } from '../weather/controllers.ts'

const explorationVariable = 'ORCH_EXPLORE'
/** The number of seeds within which the exploration must find a known mistake. */
const seedsMax = 200

const maps = (client: Client) =>
  client.resource<ApiObject & { readonly data?: object }>({ group: '', version: 'v1', plural: 'configmaps', namespaced: true })
const leases = (client: Client) =>
  client.resource<ApiObject & { readonly spec: object }>({
    group: 'coordination.k8s.io',
    version: 'v1',
    plural: 'leases',
    namespaced: true,
  })
const inDefault = { namespace: 'default' }
const childrenOf = async (client: Client) => (await maps(client).list({ ...inDefault, labelSelector: 'app=web' })).items
const child = (name: string, rest: object = {}) => {
  const object = aConfigMap({ name })
  return { ...object, metadata: { ...object.metadata, labels: { app: 'web' }, ...rest } }
}

type Controller = (client: Client) => Promise<void>

/** A common mistake of controllers: a controller that makes it, a controller that does not, and the check of the end state. */
interface Mistake {
  readonly name: string
  prepare(server: RunningServer): Promise<unknown>
  /** Makes a controller with separate memory. */
  bad(server: RunningServer): Controller
  good(server: RunningServer): Controller
  isRight(server: RunningServer): Promise<boolean>
}

/** Runs a controller on events as a cluster would; the final objects are right or wrong. */
function testOf({ prepare, isRight }: Mistake, make: (server: RunningServer) => Controller) {
  return async (exploration: string): Promise<boolean> => {
    process.env[explorationVariable] = exploration
    await using server = await start({ profile: 'kubernetes' })
    await prepare(server)
    const controller = make(server)
    const { client } = server.user('operator')
    for (let turn = 0; turn < 6; turn += 1) await controller(client).catch(() => {})
    server.faults.clear()
    for (let turn = 0; turn < 2; turn += 1) await controller(client).catch(() => {})
    return await isRight(server)
  }
}

afterEach(() => {
  delete process.env[explorationVariable]
})

const nothing = async () => {}
const codeIs = (wanted: number) => (error: { readonly code?: number }) => {
  if (error.code !== wanted) throw error
}

const mistakes: readonly Mistake[] = [
  {
    name: 'a second child after a lost reply',
    prepare: nothing,
    bad: () => async (client) => {
      if ((await childrenOf(client)).length > 0) return
      const unnamed = child('', { name: undefined, generateName: 'web-' })
      await maps(client)
        .create(unnamed)
        .catch(() => maps(client).create(unnamed))
    },
    good: () => async (client) => {
      if ((await childrenOf(client)).length === 0) await maps(client).create(child('web-0')).then(nothing, codeIs(409))
    },
    isRight: async ({ client }) => (await childrenOf(client)).length === 1,
  },
  {
    name: 'a child too few after a scale-down by an old cache',
    async prepare({ client }) {
      for (const name of ['web-0', 'web-1', 'web-2']) await maps(client).create(child(name))
    },
    bad: () => async (client) => {
      const names = (await childrenOf(client)).map(({ metadata }) => metadata.name ?? '').sort()
      if (names.length <= 2) return
      for (const name of names)
        if (
          await maps(client)
            .delete(name, inDefault)
            .then(
              () => true,
              ({ code }) => code !== 404,
            )
        )
          return
    },
    good: () => async (client) => {
      const names = (await childrenOf(client)).map(({ metadata }) => metadata.name ?? '').sort()
      for (const name of names.slice(2)) await maps(client).delete(name, inDefault).then(nothing, codeIs(404))
    },
    isRight: async ({ client }) => (await childrenOf(client)).length === 2,
  },
  {
    name: 'a status that a stale update has taken back',
    prepare: ({ client }) => maps(client).create(aConfigMap({ name: 'goal', data: { step: '0' } })),
    bad: (server) =>
      besideAnother(server, async (client) => {
        const { data, metadata } = await maps(client).get('goal', inDefault)
        const { resourceVersion: _, ...unversioned } = metadata
        await maps(client).update({ ...aConfigMap({ name: 'goal' }), metadata: unversioned, data: { ...Object(data), step: '1' } })
      }),
    good: (server) =>
      besideAnother(server, async (client) => {
        await maps(client).patch('goal', { data: { step: '1' } }, { ...inDefault, type: 'merge' })
      }),
    async isRight(server) {
      const { data } = await maps(server.client).get('goal', inDefault)
      const acknowledged = server.requests({ user: 'other', verb: 'patch', changed: true }).length
      return Object.keys(Object(data)).filter((key) => key.startsWith('seen-')).length >= acknowledged
    },
  },
  {
    name: 'a leader that writes on without its lease',
    async prepare({ client }) {
      await leases(client).create({
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'lock', namespace: 'default' },
        spec: { holderIdentity: 'operator' },
      })
      await maps(client).create(aConfigMap({ name: 'goal' }))
    },
    bad: () => leader(false),
    good: () => leader(true),
    isRight: async (server) => {
      const writes = server.requests({ user: 'operator' })
      const lost = writes.findIndex(({ resource, code, fault }) => resource === 'leases' && fault === 'a lost lease' && code === 409)
      return lost < 0 || !writes.slice(lost).some(({ resource, changed }) => resource === 'configmaps' && changed)
    },
  },
  {
    name: 'two managers that undo one another without end',
    prepare: ({ client }) => maps(client).create(aConfigMap({ name: 'goal' })),
    bad: (server) => twoManagers(server, false),
    good: (server) => twoManagers(server, true),
    isRight: async (server) => server.requests({ user: /^(operator|two)$/, verb: 'patch', changed: true }).length <= 2,
  },
  {
    name: 'a child that was deleted before a relist and stays in the cache',
    async prepare({ client }) {
      for (let number = 0; number < 10; number += 1) await maps(client).create(mirrored(number))
    },
    bad: (server) => mirroring(server, mirrorThatAdds),
    good: (server) => mirroring(server, mirrorThatStays),
    async isRight(server) {
      const { mirror, leaving } = mirrors.get(server) ?? {}
      const there = await maps(server.client).list({ ...inDefault, labelSelector: 'of=wanted' })
      const wanted = there.items.map(({ metadata }) => metadata.name ?? '').sort()
      const isSame = () => [...(mirror?.names ?? [])].sort().join() === wanted.join()
      for (const endsMs = performance.now() + 2_000; !isSame() && performance.now() < endsMs; ) await sleep(10)
      leaving?.abort()
      return isSame()
    },
  },
]

const mirrored = (number: number) => aConfigMap({ name: `child-${number}`, labels: { of: 'wanted' } })

/** The caches of the runs; each ends with its run. */
const mirrors = new WeakMap<RunningServer, { readonly mirror: Mirror; readonly leaving: AbortController }>()

/** A controller with a cache of all children. Another client deletes one child each turn. */
function mirroring(server: RunningServer, make: typeof mirrorThatStays): Controller {
  let turn = 0
  return async (client) => {
    if (turn === 0) {
      const leaving = new AbortController()
      mirrors.set(server, { mirror: make(client, leaving.signal), leaving })
    }
    await maps(server.client).delete(`child-${turn}`, inDefault)
    turn += 1
    await maps(client).get('child-9', inDefault).catch(nothing)
  }
}

/** Another client writes to the same object at the same time. */
function besideAnother(server: RunningServer, own: Controller): Controller {
  let turn = 0
  return async (client) => {
    turn += 1
    const note = { data: { [`seen-${turn}`]: 'yes' } }
    await Promise.allSettled([own(client), maps(server.user('other').client).patch('goal', note, { ...inDefault, type: 'merge' })])
  }
}

/** Each turn renews the lease and then writes. */
function leader(stops: boolean): Controller {
  let isLeading = true
  return async (client) => {
    const renewed = await leases(client)
      .patch('lock', { spec: { holderIdentity: 'operator' } }, { ...inDefault, type: 'merge' })
      .then(
        () => true,
        () => false,
      )
    if (!renewed && stops) isLeading = false
    if (isLeading) await maps(client).patch('goal', { data: { turn: String(Math.random()) } }, { ...inDefault, type: 'merge' })
  }
}

/** Two managers that each adopt an object without an owner and hold the adopted objects. In the correct form, each adoption states the object's version. */
function twoManagers(server: RunningServer, claimsVersion: boolean): Controller {
  const manager = (name: string): Controller => {
    let owns = false
    return async (client) => {
      const { data, metadata } = await maps(client).get('goal', { ...inDefault, resourceVersion: '0' })
      const owner = Object(data).owner
      owns ||= owner === name
      if (owner === name || (owner !== undefined && !owns)) return
      const version = claimsVersion ? { metadata: { resourceVersion: metadata.resourceVersion } } : {}
      await maps(client).patch('goal', { ...version, data: { owner: name } }, { ...inDefault, type: 'merge' })
      owns = true
    }
  }
  const [one, two] = [manager('one'), manager('two')]
  return async (client) => void (await Promise.allSettled([one(client), two(server.user('two').client)]))
}

test.each(mistakes)('explore finds $name without a hint, and passes the correct controller', async (mistake) => {
  let tried = 0
  const failure = await explore({ first: 1, last: seedsMax }, testOf(mistake, mistake.bad), () => {
    tried += 1
  })
  expect(failure).toBeDefined()
  process.stdout.write(`${mistake.name}: seed ${failure?.seed} after ${tried} seeds: ${failure?.faults.join('; ') || 'no fault'}\n`)
  expect(await testOf(mistake, mistake.bad)(failure?.exploration ?? '')).toBe(false)
  expect(await testOf(mistake, mistake.good)(failure?.exploration ?? '')).toBe(true)
})
