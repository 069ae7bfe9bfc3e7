import type { Client } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { sleep, systemClock } from '@orch/platform'
import { findBackend } from '@orch/testkit/backends'
import { aFolder } from '@orch/testkit/folder'
import { expect, onTestFinished, test } from 'vitest'
import { startProcess } from '../e2e/server-process.ts'
import { createRandom } from './random.ts'
import { findRolloutFaults, PlayedNodes, type PodChange, pods, type RolloutPod } from './rollouts.ts'
import { chaosSeed } from './seed.ts'
import { openServiceSet } from './service-set.ts'
import { until } from './waiting.ts'

const rounds = Number(process.env['ORCH_CHAOS_WORKLOAD_KILLS'] ?? 25)
const namespace = 'default'
const controllers = '--controllers=*,workloads'
const replicas = 8
const [etcd, nats] = [await findBackend('etcd'), await findBackend('nats-server')]
const missing = [etcd, nats].flatMap((backend) => (backend.kind === 'missing' ? [`[skipped: ${backend.reason}]`] : []))

/** A cluster whose controllers the test can kill. */
interface Stage {
  client(): Client
  /** Kills the controllers, and starts them again. */
  kill(): Promise<void>
}

test(`rollouts and Jobs continue when the server is killed, ${rounds} times, seed ${chaosSeed}`, {
  timeout: rounds * 60_000,
}, async () => {
  const dataDir = aFolder()
  const startAgain = () => startProcess([controllers, '--watch-history=24h'], { dataDir })
  let server = await startAgain()
  await runRounds({
    client: () => server.client,
    async kill() {
      server.signal('SIGKILL')
      await server.exited
      server = await startAgain()
    },
  })
})

test.skipIf(missing.length > 0)(
  `rollouts and Jobs continue when separate controllers are killed, ${rounds} times, seed ${chaosSeed} ${missing.join('; ')}`,
  { timeout: rounds * 60_000 },
  async () => {
    const set = await openServiceSet({
      etcdPath: etcd.kind === 'found' ? etcd.path : '',
      natsPath: nats.kind === 'found' ? nats.path : '',
      counts: { gateway: 1, storage: 1, watch: 1 },
      flags: { controllers: [controllers, '--leader-elect=false'] },
      isLinked: false,
    })
    onTestFinished(() => set.close())
    const [one] = set.of('controllers')
    if (one === undefined) throw new Error('the set has controllers')
    await runRounds({
      client: () => set.clients[0] as Client,
      async kill() {
        await one.kill()
        one.start()
        await one.ready(60_000)
      },
    })
  },
)

interface Workload extends ApiObject {
  readonly status?: Readonly<Record<string, unknown>>
}

const deployments = { group: 'apps', version: 'v1', plural: 'deployments', namespaced: true }
const replicaSets = { group: 'apps', version: 'v1', plural: 'replicasets', namespaced: true }
const jobs = { group: 'batch', version: 'v1', plural: 'jobs', namespaced: true }
const labels = { app: 'web' }

function deploymentOf(image: string): ApiObject {
  const strategy = { rollingUpdate: { maxSurge: 2, maxUnavailable: 1 } }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image }] } }
  const spec = { replicas, strategy, selector: { matchLabels: labels }, template }
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec } as ApiObject
}

function jobOf(name: string): ApiObject {
  const spec = {
    completions: 4,
    parallelism: 2,
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'task:1' }] } },
  }
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name, namespace }, spec } as ApiObject
}

async function runRounds(stage: Stage): Promise<void> {
  const random = createRandom(chaosSeed)
  const nodes = new PlayedNodes(stage.client)
  onTestFinished(() => nodes.stop())
  const faults: string[] = []
  for (let round = 0; round < rounds && faults.length === 0; round++) {
    const image = `img:${round}`
    const job = `job-${round}`
    const before = await stage.client().resource<RolloutPod>(pods).list({ namespace })
    await stage
      .client()
      .resource(deployments)
      .patch('web', deploymentOf(image), { type: 'apply', namespace, fieldManager: 'chaos', force: true })
    await stage.client().resource(jobs).create(jobOf(job))
    await sleep(systemClock, random() * 400)
    await stage.kill()
    await settled(stage, image, job)
    const { status = {} } = await stage.client().resource<Workload>(jobs).get(job, { namespace })
    const after = await stage.client().resource<RolloutPod>(pods).list({ namespace })
    const changes = await changesBetween(stage.client(), before.metadata.resourceVersion, after.metadata.resourceVersion)
    const found = findRolloutFaults({
      before: before.items,
      changes,
      after: after.items,
      owners: await ownersOf(stage.client()),
      deployment: { replicas, maxSurge: 2, image },
      job: { name: job, completions: 4, succeeded: Number(status['succeeded'] ?? 0) },
    })
    faults.push(...found.map((fault) => `round ${round}: ${fault}`))
    await removeJob(stage, job)
  }
  expect(faults).toEqual([])
}

/** Deletes a Job and waits until its Pods are gone. */
async function removeJob(stage: Stage, job: string): Promise<void> {
  const options = { propagationPolicy: 'Background' } as const
  await stage.client().resource(jobs).delete(job, { namespace }, options)
  await until(async () => {
    const { items } = await stage
      .client()
      .resource<RolloutPod>(pods)
      .list({ namespace, labelSelector: `job-name=${job}` })
    return items.length === 0
  })
}

/** Waits until the rollout is complete, the Job has ended and no Pod is terminating. */
async function settled(stage: Stage, image: string, job: string): Promise<void> {
  await until(async () => {
    const client = stage.client()
    const {
      metadata,
      spec,
      status = {},
    } = await client.resource<Workload & { spec: { template: object } }>(deployments).get('web', { namespace })
    if (!JSON.stringify(spec).includes(`"${image}"`) || status['observedGeneration'] !== metadata.generation) return false
    if (status['updatedReplicas'] !== replicas || status['replicas'] !== replicas || status['availableReplicas'] !== replicas) return false
    const { status: ofJob = {} } = await client.resource<Workload>(jobs).get(job, { namespace })
    if (ofJob['completionTime'] === undefined) return false
    const { items } = await client.resource<RolloutPod>(pods).list({ namespace })
    return items.every((pod) => pod.metadata.deletionTimestamp == null)
  })
}

async function ownersOf(client: Client): Promise<string[]> {
  const sets = await client.resource(replicaSets).list({ namespace })
  const ofJobs = await client.resource(jobs).list({ namespace })
  return [...sets.items.map(({ metadata }) => `ReplicaSet/${metadata.name}`), ...ofJobs.items.map(({ metadata }) => `Job/${metadata.name}`)]
}

/** All changes of Pods after one revision and up to another. */
async function changesBetween(client: Client, from = '', to = ''): Promise<PodChange[]> {
  const changes: PodChange[] = []
  const ending = new AbortController()
  const events = await client
    .resource<RolloutPod>(pods)
    .watch({ namespace, resourceVersion: from, allowWatchBookmarks: true, timeoutSeconds: 2, signal: ending.signal })
  for await (const { type, object } of events) {
    if (Number(object.metadata.resourceVersion) > Number(to)) break
    if (type !== 'BOOKMARK') changes.push({ type, object })
  }
  ending.abort()
  return changes
}
