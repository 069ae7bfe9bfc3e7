import type { ApiObject } from '@orch/core/meta'
import { start } from 'orch'
import { expect, onTestFinished, test } from 'vitest'

const definition: ApiObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'oaks.trees.io' },
  spec: {
    group: 'trees.io',
    scope: 'Namespaced',
    names: { plural: 'oaks', kind: 'Oak' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}

const address = { group: 'trees.io', version: 'v1', plural: 'oaks', namespaced: true }
const oak = (name: string, finalizers: string[] = []): ApiObject => ({
  apiVersion: 'trees.io/v1',
  kind: 'Oak',
  metadata: { name, namespace: 'default', finalizers },
})

test('CRD-140, CRD-142, CRD-143, CRD-146: objects go before their definition, those with finalizers hold it, and none is created meanwhile', async () => {
  const server = await start({ profile: 'kubernetes', controllers: ['*'] })
  onTestFinished(() => server.stop())
  const { client } = server
  await client.objects.create(definition)
  const oaks = client.resource(address)
  for (const object of [oak('free'), oak('held', ['example.com/hold'])]) await oaks.create(object)
  const reference = { apiVersion: definition.apiVersion, kind: definition.kind, name: 'oaks.trees.io' }
  const stored = () => client.objects.get<ApiObject & { readonly status: { readonly conditions: readonly object[] } }>(reference)
  const namesOfOaks = async () => (await oaks.list({ namespace: 'default' })).items.map(({ metadata }) => metadata.name)
  const watch = await oaks.watch({ namespace: 'default' })
  await client.objects.delete(reference)
  await expect.poll(namesOfOaks).toEqual(['held'])
  await expect
    .poll(async () => (await stored()).status.conditions)
    .toContainEqual(expect.objectContaining({ type: 'Terminating', status: 'True', reason: 'InstanceDeletionInProgress' }))
  expect((await stored()).metadata.finalizers).toEqual(['customresourcecleanup.apiextensions.k8s.io'])
  await expect(oaks.create(oak('late'))).rejects.toThrow('create not allowed while custom resource definition is terminating')
  await oaks.patch('held', { metadata: { finalizers: null } }, { type: 'merge', namespace: 'default' })
  await expect
    .poll(() =>
      stored().then(
        () => 'there',
        ({ code }) => code,
      ),
    )
    .toBe(404)
  await expect.poll(() => namesOfOaks().catch(({ code }) => code)).toBe(404)
  const gone: (string | undefined)[] = []
  for await (const { type, object } of watch) if (type === 'DELETED') gone.push(object.metadata.name)
  expect(gone).toEqual(['free', 'held'])
})
