import type { ApiObject } from '@orch/core/meta'
import { start } from 'orch'
import { expect, onTestFinished, test } from 'vitest'

const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
const clientConfig = { url: 'https://127.0.0.1:1/convert' }
const definition: ApiObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'oaks.trees.io' },
  spec: {
    group: 'trees.io',
    scope: 'Namespaced',
    names: { plural: 'oaks', kind: 'Oak' },
    conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } },
    versions: [
      { name: 'v2', served: true, storage: false, schema },
      { name: 'v1', served: true, storage: true, schema },
    ],
  },
}

test('objects of a definition with a conversion webhook are served in the stored version; another one is a 500 that says why, and loses nothing', async () => {
  const server = await start({ profile: 'kubernetes', controllers: ['*'] })
  onTestFinished(() => server.stop())
  const { client } = server
  await client.objects.create(definition)
  const at = (version: string) => client.resource({ group: 'trees.io', version, plural: 'oaks', namespaced: true })
  await at('v1').create({ apiVersion: 'trees.io/v1', kind: 'Oak', metadata: { name: 'a', namespace: 'default' }, height: 3 })
  expect(await at('v1').get('a', { namespace: 'default' })).toMatchObject({ height: 3 })
  const message =
    'Internal error occurred: conversion webhook for trees.io/v2, Kind=Oak failed: conversion webhooks are not called by this server; trees.io/v1 is the version in which objects are stored'
  const requests = [
    () => at('v2').get('a', { namespace: 'default' }),
    () => at('v2').list({ namespace: 'default' }),
    () => at('v2').watch({ namespace: 'default' }),
    () => at('v2').create({ apiVersion: 'trees.io/v2', kind: 'Oak', metadata: { name: 'b', namespace: 'default' } }),
    () => at('v2').patch('a', { height: 4 }, { type: 'merge', namespace: 'default' }),
  ]
  for (const request of requests) await expect(request()).rejects.toThrow(message)
  const metadata = { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' }
  const path = '/apis/trees.io/v2/namespaces/default/oaks/a'
  expect(await client.request({ method: 'GET', path, headers: metadata })).toMatchObject({ metadata: { name: 'a' } })
  await client.objects.delete({ apiVersion: definition.apiVersion, kind: definition.kind, name: 'oaks.trees.io' })
  await expect
    .poll(() =>
      at('v1')
        .list()
        .catch(({ code }) => code),
    )
    .toBe(404)
})

test('CRD-155: a namespace goes with objects that cannot be converted into the preferred version', async () => {
  const server = await start({ profile: 'kubernetes', controllers: ['*'] })
  onTestFinished(() => server.stop())
  const { client } = server
  await client.objects.create(definition)
  await client.objects.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'forest' } })
  const oaks = client.resource({ group: 'trees.io', version: 'v1', plural: 'oaks', namespaced: true })
  await oaks.create({ apiVersion: 'trees.io/v1', kind: 'Oak', metadata: { name: 'a', namespace: 'forest' } })
  const preferred = await client.request<{ preferredVersion: { version: string } }>({ method: 'GET', path: '/apis/trees.io' })
  expect(preferred.preferredVersion.version).toBe('v2')
  const namespace = { apiVersion: 'v1', kind: 'Namespace', name: 'forest' }
  await client.objects.delete(namespace)
  await expect
    .poll(() =>
      client.objects.get(namespace).then(
        () => 200,
        ({ code }) => code,
      ),
    )
    .toBe(404)
  expect((await oaks.list()).items).toEqual([])
})
