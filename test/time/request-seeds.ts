import type { ResourceAddress } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { type Chance, seededChance } from '@orch/platform'
import { aConfigMap, aNamespace } from '@orch/testkit'
import { expect, test } from 'vitest'
import type { RunningServer } from '../../services/orch/src/start/start.ts'
import { aDefinition } from '../definition.ts'
import { blocksOf, type SeededServer, SeededServers, seedMsMax } from './seeded-servers.ts'

const core = (plural: string): ResourceAddress => ({ group: '', version: 'v1', plural, namespaced: true })
const widgets: ResourceAddress = { group: 'example.com', version: 'v1', plural: 'widgets', namespaced: true }

const definition = aDefinition({ domain: 'k8s.io', group: 'example.com', plural: 'widgets', kind: 'Widget' })
const aWidget = (): ApiObject => ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { generateName: 'w-', namespace: 'a' } })
const anEvent: ApiObject & Record<string, unknown> = {
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { generateName: 'e-', namespace: 'a' },
  involvedObject: { kind: 'Pod', namespace: 'a', name: 'p' },
}

type Step = (server: RunningServer, chance: Chance) => Promise<unknown>

/** A random name that may be taken or belong to no object. */
const oneOf = (chance: Chance): string => `c-${Math.floor(chance.fraction() * 5)}`
const isRefused = (error: { code?: number }) => {
  expect(error.code, String(error)).toBeOneOf([403, 404, 409])
}

/** The requests from which a seed chooses. Objects with references, deadlines and quotas give the controllers work. */
const steps: readonly Step[] = [
  ({ client }) => client.objects.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'g-', namespace: 'a' } }),
  ({ client }, chance) => client.objects.create(aConfigMap({ name: oneOf(chance), namespace: 'a', finalizers: ['example.com/held'] })),
  ({ client }, chance) => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: oneOf(chance) }, data: { a: String(chance.fraction()) } }
    return client.resource(core('configmaps')).patch(object.metadata.name, object, { namespace: 'a', type: 'apply', fieldManager: 'ci' })
  },
  ({ client }, chance) => client.resource(core('configmaps')).delete(oneOf(chance), { namespace: 'a' }),
  ({ client }, chance) =>
    client.resource(core('configmaps')).patch(oneOf(chance), { metadata: { finalizers: null } }, { namespace: 'a', type: 'merge' }),
  ({ client }) => client.objects.create(anEvent),
  ({ client }) => client.objects.create(aWidget()),
  ({ client }) =>
    client.objects.create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { generateName: 's-', namespace: 'a' },
      spec: { ports: [{ port: 80 }] },
    } as ApiObject),
  async ({ client }) => {
    const owner: ApiObject = await client.objects.create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { generateName: 'o-', namespace: 'a' },
    })
    const { name = '', uid = '' } = owner.metadata
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid }]
    await client.objects.create({ apiVersion: 'v1', kind: 'Secret', metadata: { generateName: 'd-', namespace: 'a', ownerReferences } })
    await client.resource(core('configmaps')).delete(name, { namespace: 'a' })
  },
  async ({ client }, chance) => {
    const namespace = `n-${Math.floor(chance.fraction() * 2)}`
    await client.objects.create(aNamespace({ name: namespace }))
    await client.objects.create(aConfigMap({ name: 'inside', namespace }))
    await client.resource({ ...core('namespaces'), namespaced: false }).delete(namespace)
  },
]

/** The requests before those of a seed. */
async function prepare(server: RunningServer): Promise<void> {
  await server.client.objects.create(aNamespace({ name: 'a' }))
  const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q', namespace: 'a' }, spec: { hard: { configmaps: '6' } } }
  await server.client.objects.create(quota as ApiObject)
  await server.client.objects.create(definition as ApiObject)
  await server.settled({ within: 60_000 })
}

/** A server's stored state after a seed's requests. Each request follows after all consequences of the previous request. */
function dumpAfter(requests: number) {
  return async (seed: number, { server, clock }: SeededServer): Promise<string> => {
    const script = seededChance(seed).stream('script')
    for (let count = 0; count < requests; count += 1) {
      await steps[Math.floor(script.fraction() * steps.length)]?.(server, script).catch(isRefused)
      await clock.advance(Math.floor(script.fraction() * 10_000))
    }
    expect(await server.client.resource(widgets).list()).toBeDefined()
    return await server.dump()
  }
}

const options = { profile: 'kubernetes', eventTtlMs: 20_000 } as const

/** Tests for `count` seeds from `firstSeed` on that two servers with one seed agree after a number of requests. */
export function testRequestSeeds(firstSeed: number, count: number, requests: number): void {
  const dump = dumpAfter(requests)
  const store = 'the same requests store the same, including uids, names and revisions'
  const servers = new SeededServers(options, prepare)

  test(`two servers with one seed and ${store}`, async () => {
    const dumps = [await servers.started(firstSeed, dump), await servers.started(firstSeed, dump)]
    expect(dumps[0]).toBe(dumps[1])
  })

  test.each(blocksOf(firstSeed, count))(
    `two forks with one seed and ${store}, for each of %i seeds from %i on`,
    async (size, firstOfBlock) => {
      const dumps: string[] = []
      for (let seed = firstOfBlock; seed < firstOfBlock + size; seed += 1) {
        const first = await servers.forked(seed, dump)
        expect(await servers.forked(seed, dump), `seed ${seed}`).toBe(first)
        dumps.push(first)
      }
      expect(new Set(dumps).size).toBe(size)
    },
    count * seedMsMax,
  )

  test.each(['uid', 'time', 'epoch'])('two servers with one seed differ if the %s is taken from the system', async (purpose) => {
    const taken = () => servers.started(1, dump, purpose)
    expect(await taken()).not.toBe(await taken())
  })
}
