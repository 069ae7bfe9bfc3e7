import type { ResourceAddress } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { type Chance, seededChance, systemChance, virtualClock } from '@orch/platform'
import { aConfigMap, aNamespace } from '@orch/testkit'
import { expect, test } from 'vitest'
import { type RunningServer, startWith } from '../../services/orch/src/start/start.ts'

const startTime = new Date('2030-01-01T00:00:00Z')

const core = (plural: string): ResourceAddress => ({ group: '', version: 'v1', plural, namespaced: true })
const widgets: ResourceAddress = { group: 'example.com', version: 'v1', plural: 'widgets', namespaced: true }

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}
const aWidget = (): ApiObject => ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { generateName: 'w-', namespace: 'a' } })
const anEvent: ApiObject & Record<string, unknown> = {
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { generateName: 'e-', namespace: 'a' },
  involvedObject: { kind: 'Pod', namespace: 'a', name: 'p' },
}

type Step = (server: RunningServer, chance: Chance) => Promise<unknown>

/** A name that the seed has chosen, which may be taken, or be of no object. */
const oneOf = (chance: Chance): string => `c-${Math.floor(chance.fraction() * 5)}`
const isRefused = (error: { code?: number }) => {
  expect(error.code, String(error)).toBeOneOf([403, 404, 409])
}

/** The requests that a seed chooses from. Objects that hold one another, deadlines and quotas give the controllers work. */
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

/** A server's stored state after the requests of a seed, each made when all consequences of the last have happened. */
async function dumpOf(seed: number, chance: Chance): Promise<string> {
  const clock = virtualClock({ start: startTime })
  await using server = await startWith({ clock, profile: 'kubernetes', eventTtlMs: 20_000 }, chance)
  const script = seededChance(seed).stream('script')
  await server.client.objects.create(aNamespace({ name: 'a' }))
  const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q', namespace: 'a' }, spec: { hard: { configmaps: '6' } } }
  await server.client.objects.create(quota as ApiObject)
  await server.client.objects.create(definition as ApiObject)
  await server.settled({ within: 60_000 })
  for (let count = 0; count < 10; count += 1) {
    await steps[Math.floor(script.fraction() * steps.length)]?.(server, script).catch(isRefused)
    await clock.advance(Math.floor(script.fraction() * 10_000))
  }
  expect(await server.client.resource(widgets).list()).toBeDefined()
  return await server.dump()
}

/** The chance of a seed, but for one purpose that draws from the system. */
function unseeded(chance: Chance, purpose: string): Chance {
  return { ...chance, stream: (name) => (name === purpose ? systemChance : unseeded(chance.stream(name), purpose)) }
}

/** Longest that two servers of one seed may take. */
const seedMsMax = 10_000

/** Tests of servers that have the same seed, for so many seeds from this one on. */
export function testRequestSeeds(firstSeed: number, count: number): void {
  test(
    `two servers with one seed and the same requests store the same, including uids, names and revisions, for each of ${count} seeds from ${firstSeed} on`,
    async () => {
      const dumps: string[] = []
      for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
        const first = await dumpOf(seed, seededChance(seed))
        expect(await dumpOf(seed, seededChance(seed)), `seed ${seed}`).toBe(first)
        dumps.push(first)
      }
      expect(new Set(dumps).size).toBe(count)
    },
    count * seedMsMax,
  )

  test.each(['uid', 'name', 'epoch'])('two servers with one seed differ if the %s is drawn from the system', async (purpose) => {
    const dumps = [await dumpOf(1, unseeded(seededChance(1), purpose)), await dumpOf(1, unseeded(seededChance(1), purpose))]
    expect(dumps[0]).not.toBe(dumps[1])
  })
}
