import type { ApiObject } from '@orch/core/meta'
import { virtualClock } from '@orch/platform'
import { describe, expect, onTestFinished, test } from 'vitest'
import { start } from '../start/start.ts'
import type { StartOptions } from '../start/start-settings.ts'

interface Any extends ApiObject {
  readonly [member: string]: unknown
}

const namespace = 'default'
const group = 'simulation.orch.io'
const startedAt = new Date('2030-01-01T00:00:00Z')

async function aServer(options: StartOptions = {}) {
  const clock = virtualClock({ start: startedAt })
  const server = await start({ nodes: 1, clock, seed: 7, controllers: ['namespace'], ...options })
  onTestFinished(() => server.stop())
  const { client } = server
  const settled = () => server.settled({ within: 60_000 })
  const resource = (plural: string, itsGroup = '', namespaced = true) =>
    client.resource<Any>({ group: itsGroup, version: 'v1', plural, namespaced })
  const podScripts = resource('podscripts', group)
  const clusterPodScripts = resource('clusterpodscripts', group, false)
  await settled()
  return { server, clock, settled, resource, pods: resource('pods'), podScripts, clusterPodScripts }
}

const aPod = (name: string, labels: Readonly<Record<string, string>> = {}, annotations: Readonly<Record<string, string>> = {}): Any => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, labels, annotations } },
  spec: { nodeName: 'node-1', restartPolicy: 'Never', containers: [{ name: 'main', image: 'img:1' }] },
})

const aScript = (name: string, spec: object): Any => ({
  ...{ apiVersion: `${group}/v1`, kind: 'PodScript', metadata: { name, namespace }, spec },
})

const aClusterScript = (name: string, spec: object): Any => ({
  ...{ apiVersion: `${group}/v1`, kind: 'ClusterPodScript', metadata: { name }, spec },
})

const exits = (exitCode: number) => ({ containers: [{ name: '*', starts: [{ runFor: '1s', exitCode }] }] })

test('PodScripts and ClusterPodScripts are served with simulated nodes, and an invalid script is refused with the field', async () => {
  const { podScripts } = await aServer({ profile: 'kubernetes' })
  const refused = (spec: object) => podScripts.create(aScript('wrong', spec), { dryRun: true }).catch((error: Error) => error.message)
  const main = (entry: object) => ({ containers: [{ name: 'main', ...entry }] })
  const texts = await Promise.all([
    refused({}),
    refused({ probability: 1.5, containers: [] }),
    refused(main({ starts: [{ runFor: 'soon' }] })),
    refused(main({ starts: [{ exitCode: 256 }] })),
    refused({ containers: [{ name: 'a' }, { name: 'a' }] }),
    refused(main({ starts: Array.from({ length: 10_000 }, () => ({})) })),
  ])
  expect(texts).toEqual([
    expect.stringContaining('spec.containers: Required value'),
    expect.stringContaining('spec.probability: Invalid value: 1.5: spec.probability in body should be less than or equal to 1'),
    expect.stringContaining('spec.containers[0].starts[0].runFor: Invalid value: "soon"'),
    expect.stringContaining('spec.containers[0].starts[0].exitCode: Invalid value: 256'),
    expect.stringContaining('spec.containers[1]: Duplicate value'),
    expect.stringContaining('spec.containers[0].starts: Too many: 10000: must have at most 1000 items'),
  ])
  const plain = await start({ seed: 7 })
  onTestFinished(() => plain.stop())
  await expect(plain.client.discover(group, 'v1')).rejects.toMatchObject({ code: 404 })
})

test('a Pod follows the most specific PodScript, then the ClusterPodScript, then its annotations, and the scripts count their Pods', async () => {
  const { clock, settled, pods, podScripts, clusterPodScripts } = await aServer()
  await clusterPodScripts.create(aClusterScript('all', { ...exits(3), images: ['img:*'] }))
  await podScripts.create(aScript('general', exits(4)))
  await podScripts.create(aScript('worker', { selector: { matchLabels: { app: 'worker' } }, ...exits(5) }))
  await podScripts.create(aScript('broken', { selector: { matchExpressions: [{ key: 'app', operator: 'In' }] }, ...exits(6) }))
  await settled()
  const annotations = { [`${group}/exit-code`]: '9', [`${group}/start-delay`]: '2s' }
  await pods.create(aPod('worker', { app: 'worker' }, annotations))
  await pods.create(aPod('other'))
  await settled()
  await podScripts.delete('general', { namespace })
  await settled()
  await pods.create(aPod('late'))
  await clock.advance('3s')
  const codes = (await pods.list()).items.map(({ metadata, status }) => {
    const [{ state }] = (status as { containerStatuses: [{ state: { terminated?: { exitCode: number } } }] }).containerStatuses
    return [metadata.name, state.terminated?.exitCode]
  })
  expect(codes).toEqual([
    ['late', 3],
    ['other', 4],
    ['worker', 5],
  ])
  const counts = async () => [...(await podScripts.list()).items, ...(await clusterPodScripts.list()).items].map(({ status }) => status)
  const problem = "spec.selector: values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty"
  expect(await counts()).toEqual([{ matchedPods: 0, problem }, { matchedPods: 1 }, { matchedPods: 3 }])
  await pods.delete('worker', { namespace })
  await settled()
  expect(await counts()).toEqual([{ matchedPods: 0, problem }, { matchedPods: 0 }, { matchedPods: 2 }])
})

describe('a script with a probability', () => {
  test('selects the same Pods in two runs with one seed', async () => {
    const texts: string[] = []
    for (const _ of [1, 2]) {
      const { server, clock, settled, pods, podScripts } = await aServer()
      await podScripts.create(aScript('some', { probability: 0.5, ...exits(1) }))
      await settled()
      for (let index = 0; index < 20; index += 1) {
        await pods.create(aPod(`p-${index}`))
        await settled()
      }
      await clock.advance('2s')
      const phases = (await pods.list()).items.map(({ status }) => (status as { phase: string }).phase)
      expect(new Set(phases)).toEqual(new Set(['Failed', 'Running']))
      texts.push(await server.dump())
      await server.stop()
    }
    expect(texts[1]).toBe(texts[0])
  })
})
