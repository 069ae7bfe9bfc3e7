import { expect, test } from 'vitest'
import { sharedApi } from './api.ts'

const server = sharedApi()

test('the former storage versions of a definition are in its status', async () => {
  const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' }
  const schema = { openAPIV3Schema: { type: 'object' } }
  const { status, body } = await server.api.post('/apis/apiextensions.orch.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.orch.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: { group: 'example.com', names, scope: 'Namespaced', versions: [{ name: 'v1', served: true, storage: true, schema }] },
  })
  expect(status).toBe(201)
  expect(body.status).toMatchObject({ storedVersions: ['v1'] })
  const versions = [
    { name: 'v2', served: true, storage: true, schema },
    { name: 'v1', served: true, storage: false, schema },
  ]
  const path = '/apis/apiextensions.orch.io/v1/customresourcedefinitions/widgets.example.com'
  const changed = await server.api.patch(path, { spec: { versions } })
  expect(changed.body.status).toMatchObject({ storedVersions: ['v1', 'v2'] })
})

test('a definition without versions is a 422 with the former storage versions of its status', async () => {
  const names = { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' }
  for (const versions of [undefined, null, []]) {
    const { status, body } = await server.api.post('/apis/apiextensions.orch.io/v1/customresourcedefinitions', {
      apiVersion: 'apiextensions.orch.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'gadgets.example.com' },
      spec: { group: 'example.com', names, scope: 'Namespaced', versions },
    })
    expect([status, body['message']]).toEqual([422, expect.stringContaining('spec.versions')])
  }
})
