import type { ApiObject } from '@orch/core/meta'
import { type RunningServer, start } from 'orch'
import { expect, onTestFinished, test } from 'vitest'
import { aDefinition } from '../definition.ts'

const definition: ApiObject = aDefinition({ domain: 'k8s.io', group: 'trees.io', plural: 'oaks', kind: 'Oak' })

const address = { group: 'trees.io', version: 'v1', plural: 'oaks', namespaced: true }
const oak = (name: string, finalizers: string[] = []): ApiObject => ({
  apiVersion: 'trees.io/v1',
  kind: 'Oak',
  metadata: { name, namespace: 'default', finalizers },
})

test('CRD-140, CRD-142, CRD-143, CRD-146: objects are deleted before their definition, those with finalizers delay it, and no object is created meanwhile', async () => {
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
  const refused = {
    code: 405,
    reason: 'MethodNotAllowed',
    message: 'create not allowed while custom resource definition is terminating',
  }
  await expect(oaks.create(oak('late'))).rejects.toMatchObject(refused)
  await expect(oaks.create(oak('late'), { dryRun: true })).rejects.toMatchObject(refused)
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

const reference = { apiVersion: definition.apiVersion, kind: definition.kind, name: 'oaks.trees.io' }

/** The part of a definition's status that the tests check. */
interface Conditions extends ApiObject {
  readonly status: { readonly conditions: readonly { readonly type: string; readonly reason: string; readonly message: string }[] }
}

const statusOf = (request: Promise<unknown>): Promise<unknown> =>
  request.then(
    () => 200,
    ({ code }) => code,
  )

test('CRD-143, CRD-147: objects of a definition without served versions are deleted with it, and a new definition of its name has none', async () => {
  const server = await start({ profile: 'kubernetes', controllers: ['*'] })
  onTestFinished(() => server.stop())
  const { client } = server
  const before = await client.objects.create(definition)
  const oaks = client.resource(address)
  await oaks.create(oak('a'))
  await client.objects.patch(reference, [{ op: 'replace', path: '/spec/versions/0/served', value: false }], { type: 'json' })
  await expect.poll(() => statusOf(oaks.list({ namespace: 'default' }))).toBe(404)
  await client.objects.delete(reference)
  await expect.poll(() => statusOf(client.objects.get(reference))).toBe(404)
  const after = await client.objects.create(definition)
  expect(after.metadata.uid).not.toBe(before.metadata.uid)
  expect((await oaks.list()).items).toEqual([])
  expect(await statusOf(oaks.get('a', { namespace: 'default' }))).toBe(404)
})

/** The test's finalizer keeps a definition after the server has finished its part of the deletion. */
const hold = { finalizers: ['example.com/hold'] }

/** Deletes a definition that a finalizer holds; returns the last condition after the server has removed its own finalizer. */
async function lastCondition({ client }: RunningServer, name: string): Promise<unknown> {
  const held = { ...reference, name }
  const live = () => client.objects.get<Conditions>(held)
  await client.objects.delete(held)
  await expect.poll(async () => (await live()).metadata.finalizers).toEqual(hold.finalizers)
  const condition = (await live()).status.conditions.find(({ type }) => type === 'Terminating')
  await client.objects.patch(held, { metadata: { finalizers: null } }, { type: 'merge' })
  await expect.poll(() => statusOf(live())).toBe(404)
  return condition
}

test('CRD-145: a definition that was never established is deleted without listing objects', async () => {
  const server = await start({ profile: 'kubernetes', controllers: ['*'] })
  onTestFinished(() => server.stop())
  const { client } = server
  await client.objects.create(definition)
  const oaks = client.resource(address)
  await oaks.create(oak('a'))
  const spec = { ...(definition['spec'] as object), names: { plural: 'elms', kind: 'Oak' } }
  await client.objects.create({ ...definition, metadata: { name: 'elms.trees.io', ...hold }, spec })
  expect(await lastCondition(server, 'elms.trees.io')).toMatchObject({ status: 'False', reason: 'NeverEstablished' })
  expect((await oaks.list()).items.map(({ metadata }) => metadata.name)).toEqual(['a'])
})

test('CRD-145: a definition of a built-in resource is deleted, and its objects stay', async () => {
  const server = await start({ profile: 'kubernetes', controllers: ['*'] })
  onTestFinished(() => server.stop())
  const { client } = server
  const ingress = (apiVersion: string) => ({
    apiVersion,
    kind: 'Ingress',
    metadata: { name: 'a', namespace: 'default' },
    spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } },
  })
  const ingresses = client.resource({ group: 'networking.k8s.io', version: 'v1', plural: 'ingresses', namespaced: true })
  await ingresses.create(ingress('networking.k8s.io/v1'))
  const annotations = { 'api-approved.kubernetes.io': 'unapproved, a test' }
  const names = { plural: 'ingresses', kind: 'Ingress' }
  const spec = { ...(definition['spec'] as object), group: 'networking.k8s.io', names }
  await client.objects.create({ ...definition, metadata: { name: 'ingresses.networking.k8s.io', annotations, ...hold }, spec })
  expect(await lastCondition(server, 'ingresses.networking.k8s.io')).toMatchObject({
    status: 'False',
    reason: 'OverlappingBuiltInResource',
  })
  expect((await ingresses.list()).items.map(({ metadata }) => metadata.name)).toEqual(['a'])
})

test('CRD-143: objects of a definition are deleted without admission, so that deleted webhooks do not hold it', async () => {
  const server = await start({ profile: 'kubernetes', controllers: ['customresourcedefinition'] })
  onTestFinished(() => server.stop())
  const { client } = server
  await client.objects.create(definition)
  await client.resource(address).create(oak('a'))
  const rule = { apiGroups: ['trees.io'], apiVersions: ['*'], operations: ['DELETE'], resources: ['oaks'] }
  const webhook = {
    name: 'gone.trees.io',
    clientConfig: { url: 'https://127.0.0.1:1/' },
    rules: [rule],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  }
  await client.objects.create({
    ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration', metadata: { name: 'gone' } },
    webhooks: [webhook],
  })
  const options = { namespace: 'default' }
  // The server still asks the other webhooks, also about the administrator's requests.
  await expect(client.resource(address).deleteCollection(options)).rejects.toMatchObject({ code: 500 })
  await client.objects.delete(reference)
  await expect.poll(() => statusOf(client.objects.get(reference))).toBe(404)
})
