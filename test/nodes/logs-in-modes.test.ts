import { expect, test } from 'vitest'
import { anApi } from '../api/api.ts'

test('CARD-23, NODE-IO: each gateway returns the log of a Pod on a simulated node', { timeout: 120_000 }, async () => {
  const api = await anApi({ profile: 'kubernetes', nodes: 2 })
  const pods = '/api/v1/namespaces/default/pods'
  const spec = { nodeName: 'node-2', containers: [{ name: 'main', image: 'img:1' }] }
  const metadata = { name: 'web', annotations: { 'simulation.orch.io/logs': 'up' } }
  await api.post(pods, { apiVersion: 'v1', kind: 'Pod', metadata, spec })
  const phase = async () =>
    (JSON.parse((await api.get(`${pods}/web`)).text) as { readonly status: { readonly phase: string } }).status.phase
  await expect.poll(phase, { timeout: 90_000, interval: 20 }).toBe('Running')
  const logs = await api.getFromEach(`${pods}/web/log`)
  expect(logs.map(({ status, text }) => [status, text])).toEqual(logs.map(() => [200, 'up\n']))
  expect(logs.length).toBeGreaterThan(0)
})
