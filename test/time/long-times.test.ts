import type { ApiObject } from '@orch/core/meta'
import { type RunningServer, start, type VirtualClock, virtualClock } from 'orch'
import { expect, test } from 'vitest'

const namespace = 'default'
const pods = { group: '', version: 'v1', plural: 'pods', namespaced: true }
const jobs = { group: 'batch', version: 'v1', plural: 'jobs', namespaced: true }
const podTemplate = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'registry.example/app:1' }] } }

interface Timed extends ApiObject {
  readonly status?: { readonly phase?: string; readonly conditions?: readonly { readonly type: string; readonly reason?: string }[] }
}

interface Running {
  readonly clock: VirtualClock
  readonly server: RunningServer
  readonly jobs: () => Promise<readonly Timed[]>
}

/** A server with workload controllers at a given time, and the number of event loop turns that its clock has waited. */
async function running(
  from: string,
  work: (running: Running) => Promise<void>,
): Promise<{ readonly dump: string; readonly turns: number }> {
  const clock = virtualClock({ start: new Date(from) })
  let turns = 0
  clock.work.follow('turns', () => {
    turns += 1
    return false
  })
  await using server = await start({ clock, seed: 1, profile: 'kubernetes', controllers: ['*', 'workloads'] })
  await server.settled({ within: 60_000 })
  turns = 0
  await work({ clock, server, jobs: async () => (await server.client.resource<Timed>(jobs).list({ namespace })).items })
  return { dump: await server.dump(), turns }
}

/** A kubelet whose Pods have succeeded. */
async function finishPods({ client }: RunningServer): Promise<void> {
  for (const { metadata, status } of (await client.resource<Timed>(pods).list({ namespace })).items) {
    if (status?.phase === 'Succeeded') continue
    const patch = { status: { phase: 'Succeeded' } }
    await client.resource(pods).patch(metadata.name ?? '', patch, { namespace, type: 'merge', subresource: 'status' })
  }
}

test('a virtual month of an idle server does not fire each periodic timer separately', async () => {
  const { turns } = await running('2030-01-01T00:00:00Z', async ({ clock }) => clock.advance('720h'))
  expect(turns).toBeLessThan(1_000)
})

test('a CronJob runs over a week with a change of its time zone, identically in two runs', async () => {
  const week = () =>
    running('2030-03-28T12:00:00Z', async ({ clock, server, jobs }) => {
      const spec = {
        schedule: '30 2 * * *',
        timeZone: 'Europe/Berlin',
        successfulJobsHistoryLimit: 9,
        jobTemplate: { spec: { template: podTemplate } },
      }
      await server.client.objects.create({
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        metadata: { name: 'night', namespace },
        spec,
      } as ApiObject)
      for (let day = 0; day < 7; day += 1) {
        await clock.advance('24h')
        await finishPods(server)
      }
      await clock.advance('1s')
      const made = (await jobs()).map(({ metadata, status }) => [metadata.creationTimestamp, status?.conditions?.at(-1)?.type])
      expect(made).toEqual(
        ['29T01:30', '30T01:30']
          .map((time) => [`2030-03-${time}:00Z`, 'Complete'])
          .concat(['01', '02', '03', '04'].map((day) => [`2030-04-${day}T00:30:00Z`, 'Complete'])),
      )
    })
  const first = await week()
  expect((await week()).dump).toBe(first.dump)
  expect(first.turns).toBeLessThan(10_000)
})

test('Jobs end at their deadlines and are deleted after their TTL, identically in two runs', async () => {
  const life = () =>
    running('2030-01-01T00:00:00Z', async ({ clock, server, jobs }) => {
      const create = (name: string, spec: object) =>
        server.client.objects.create({
          apiVersion: 'batch/v1',
          kind: 'Job',
          metadata: { name, namespace },
          spec: { template: podTemplate, ...spec },
        } as ApiObject)
      await create('done', { ttlSecondsAfterFinished: 86_400 })
      await server.settled({ within: 60_000 })
      await finishPods(server)
      await create('late', { activeDeadlineSeconds: 7_200, ttlSecondsAfterFinished: 172_800 })
      const seen = async () => (await jobs()).map(({ metadata, status }) => [metadata.name, status?.conditions?.at(-1)?.reason])
      await clock.advance('1h')
      expect(await seen()).toEqual([
        ['done', 'CompletionsReached'],
        ['late', undefined],
      ])
      await clock.advance('2h')
      expect(await seen()).toEqual([
        ['done', 'CompletionsReached'],
        ['late', 'DeadlineExceeded'],
      ])
      await clock.advance('24h')
      expect(await seen()).toEqual([['late', 'DeadlineExceeded']])
      await clock.advance('48h')
      expect(await seen()).toEqual([])
    })
  const first = await life()
  expect((await life()).dump).toBe(first.dump)
  expect(first.turns).toBeLessThan(5_000)
})
