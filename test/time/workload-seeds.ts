import type { ApiObject } from '@orch/core/meta'
import { type Chance, seededChance } from '@orch/platform'
import { expect, test } from 'vitest'
import type { RunningServer } from '../../services/orch/src/start/start.ts'
import { blocksOf, type SeededServer, SeededServers, seedMsMax } from './seeded-servers.ts'

const namespace = 'default'
const resource = (group: string, plural: string) => ({ group, version: 'v1', plural, namespaced: true })
const [deployments, pods] = [resource('apps', 'deployments'), resource('', 'pods')]
const podSpec = { containers: [{ name: 'c', image: 'registry.example/app:1' }] }
const selector = { matchLabels: { app: 'x' } }
const template = { metadata: { labels: selector.matchLabels }, spec: podSpec }
const jobSpec = { template: { spec: { ...podSpec, restartPolicy: 'Never' } }, ttlSecondsAfterFinished: 60 }

function create({ client }: RunningServer, apiVersion: string, kind: string, name: string, spec: object): Promise<ApiObject> {
  return client.objects.create({ apiVersion, kind, metadata: { name, namespace }, spec } as ApiObject)
}

/** Sets the phase of all Pods, like their kubelets. */
async function setPhases(server: RunningServer, phase: string): Promise<void> {
  const conditions = phase === 'Running' ? [{ type: 'Ready', status: 'True', lastTransitionTime: '2030-01-01T00:00:00Z' }] : []
  const known = server.client.resource(pods)
  for (const { metadata } of (await known.list({ namespace })).items) {
    const patch = { status: { phase, conditions } }
    // Controllers may have deleted the Pod.
    await known.patch(metadata.name ?? '', patch, { namespace, type: 'merge', subresource: 'status' }).catch(isGone)
    await server.settled({ within: 60_000 })
  }
}

const isGone = (error: { code?: number }) => expect(error.code, String(error)).toBe(404)

type Step = (server: RunningServer, chance: Chance) => Promise<unknown>

const patchWeb = ({ client }: RunningServer, spec: object) =>
  client.resource(deployments).patch('web', { spec }, { namespace, type: 'merge' })

/** The requests from which a seed chooses. Each gives several controllers work. */
const steps: readonly Step[] = [
  (server, chance) => patchWeb(server, { replicas: Math.floor(chance.fraction() * 5) }),
  (server, chance) => patchWeb(server, { template: { metadata: { annotations: { release: String(chance.fraction()) } } } }),
  (server) => setPhases(server, 'Running'),
  (server) => setPhases(server, 'Failed'),
  (server) => setPhases(server, 'Succeeded'),
  async ({ client }, chance) => {
    const { items } = await client.resource(pods).list({ namespace })
    const name = items[Math.floor(chance.fraction() * items.length)]?.metadata.name
    if (name !== undefined) await client.resource(pods).delete(name, { namespace })
  },
  (server, chance) => create(server, 'batch/v1', 'Job', `j-${chance.fraction()}`, { ...jobSpec, parallelism: 2 }),
]

/** The requests before those of a seed. */
async function prepare(server: RunningServer): Promise<void> {
  await server.settled({ within: 60_000 })
  await create(server, 'apps/v1', 'Deployment', 'web', { replicas: 3, selector, template })
  await server.settled({ within: 60_000 })
  await create(server, 'batch/v1', 'CronJob', 'often', { schedule: '* * * * *', jobTemplate: { spec: jobSpec } })
  await server.settled({ within: 60_000 })
  await create(server, 'v1', 'Service', 'web', { selector: selector.matchLabels, ports: [{ port: 80 }] })
}

/** A server's stored state after a seed's requests. Each request follows after all consequences of the previous request. */
async function dumpAfter(seed: number, { server, clock }: SeededServer): Promise<string> {
  const script = seededChance(seed).stream('script')
  for (let count = 0; count < 5; count += 1) {
    await clock.advance(Math.floor(script.fraction() * 60_000))
    await steps[Math.floor(script.fraction() * steps.length)]?.(server, script)
    await server.settled({ within: 60_000 })
  }
  await clock.advance('5s')
  const dump = await server.dump()
  for (const reason of ['ScalingReplicaSet', 'SuccessfulCreate']) expect(dump).toContain(`"reason":"${reason}"`)
  return dump
}

/** Tests that two servers with the same seed agree, for a number of seeds from this seed on. */
export function testWorkloadSeeds(firstSeed: number, count: number): void {
  const servers = new SeededServers({ profile: 'kubernetes', controllers: ['*', 'workloads'] }, prepare)

  test('two servers with one seed and workload controllers store the same, including events', async () => {
    const dumps = [await servers.started(firstSeed, dumpAfter), await servers.started(firstSeed, dumpAfter)]
    expect(dumps[0]).toBe(dumps[1])
  })

  test.each(blocksOf(firstSeed, count))(
    'two forks with one seed and workload controllers store the same, for each of %i seeds from %i on',
    async (size, first) => {
      for (let seed = first; seed < first + size; seed += 1) {
        expect(await servers.forked(seed, dumpAfter), `seed ${seed}`).toBe(await servers.forked(seed, dumpAfter))
      }
    },
    count * seedMsMax,
  )

  test('two servers with workload controllers differ if the name of a Pod is drawn from the system', async () => {
    const dump = () => servers.started(1, dumpAfter, 'name')
    expect(await dump()).not.toBe(await dump())
  })
}
