import type { ApiObject } from '@orch/core/meta'
import { expect, test } from 'vitest'
import { start } from './start/start.ts'

interface WithSpec extends ApiObject {
  readonly spec: object
}

test('the Pods of ReplicaSets have the spec of a Pod that a client creates', async () => {
  await using server = await start({ profile: 'kubernetes', controllers: ['*', 'workloads'] })
  const address = { version: 'v1', namespaced: true } as const
  const pods = server.client.resource<WithSpec>({ ...address, group: '', plural: 'pods' })
  const sets = server.client.resource<WithSpec>({ ...address, group: 'apps', plural: 'replicasets' })
  const resources = { limits: { cpu: '1500m', memory: '1Gi' } }
  const tolerations = [{ key: 'gpu', operator: 'Exists' }]
  const spec = { automountServiceAccountToken: false, containers: [{ name: 'main', image: 'web:1', resources }], tolerations }
  const labels = { app: 'web' }
  for (const name of ['one', 'two']) {
    const template = { metadata: { labels: { ...labels, set: name } }, spec }
    const wanted = { replicas: 2, selector: { matchLabels: { ...labels, set: name } }, template }
    await sets.create({ apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name, namespace: 'default' }, spec: wanted })
  }
  await server.settled()
  const made = await pods.list({ namespace: 'default' })
  const own = await pods.create({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'own', namespace: 'default' }, spec })
  expect(made.items.map((pod) => JSON.stringify(pod.spec))).toEqual(Array(4).fill(JSON.stringify(own.spec)))
})
