import { expect, test } from 'vitest'
import { type Api, aNamespace, anApi, created } from './api.ts'

const status = { conditions: [{ type: 'Accepted', status: 'True', reason: 'r', message: 'm', lastTransitionTime: '2024-01-01T00:00:00Z' }] }

async function aPolicy(api: Api): Promise<string> {
  const path = `/apis/networking.orch.io/v1/namespaces/${await aNamespace(api)}/networkpolicies`
  await created(api, path, { metadata: { name: 'p' }, spec: { podSelector: {} } })
  return `${path}/p`
}

test('the status of a NetworkPolicy is served while its feature gate is off, and writes to it are dropped', async () => {
  const api = await anApi({ version: '1.25' })
  const path = await aPolicy(api)
  expect((await api.get(`${path}/status`)).body).toMatchObject({ kind: 'NetworkPolicy', status: {} })
  for (const at of [`${path}/status`, path]) {
    const answer = await api.patch(at, { status })
    expect({ status: answer.status, written: answer.body['status'] }).toEqual({ status: 200, written: {} })
  }
  expect((await api.get(path)).body['status']).toEqual({})
})

test('DEP-12: componentstatuses are deprecated', async () => {
  const api = await anApi({ version: '1.25' })
  expect((await api.get('/api/v1/componentstatuses')).headers.warning).toBe('299 - "v1 ComponentStatus is deprecated in v1.19+"')
})
