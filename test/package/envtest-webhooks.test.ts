import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Client } from '@orch/client'
import { beforeAll, expect, test } from 'vitest'
import { answering, aWebhookServer, type Reply, toBase64, type WebhookServer, withBody } from '../admission/webhook-server.ts'
import { anEnvironment, clientOf, startGo } from './envtest-harness.ts'
import { installPackage } from './installed-package.ts'

const run = promisify(execFile)
const { project, bin } = await installPackage()
let assets = ''

beforeAll(async () => {
  const args = [bin, 'envtest-assets', 'use', '--bin-dir', join(project, 'webhooks-bin'), '-p', 'path']
  assets = (await run(process.execPath, args, { cwd: project })).stdout
})

const group = 'shop.example.com'

/**
 * One server with three webhooks: the first sets a color, the second refuses an object without either of two fields, the third converts the color
 * between versions.
 */
const shop: Reply = (called, response) => {
  const { object } = called.request
  if (called.url.startsWith('/mutate')) {
    const patch = toBase64(JSON.stringify([{ op: 'add', path: '/spec/color', value: 'blue' }]))
    const change = object.spec.color === undefined ? { patchType: 'JSONPatch', patch } : {}
    return answering(() => ({ allowed: true, ...change }))(called, response)
  }
  if (called.url.startsWith('/validate')) {
    const { color } = object.spec
    return answering(() => ({ allowed: color !== 'grey', status: { message: `no ${color} things`, code: 422 } }))(called, response)
  }
  const { uid, desiredAPIVersion: apiVersion, objects } = called.request
  const convertedObjects = objects.map((one: { spec: Record<string, unknown> }) => ({ ...one, apiVersion, spec: convert(one.spec) }))
  withBody(({ review }) => ({
    apiVersion: review.apiVersion,
    kind: 'ConversionReview',
    response: { uid, convertedObjects, result: { status: 'Success' } },
  }))(called, response)
}

function convert({ color, hue, ...rest }: Record<string, unknown>) {
  return color === undefined ? { ...rest, color: hue } : { ...rest, hue: color }
}

/** Like envtest, rewrites the contents of files: the URL of a Service's path begins with two slashes, and the CA bundle is the serving certificate. */
const clientConfigOf = ({ port, serving }: WebhookServer, path: string) => ({
  url: `https://127.0.0.1:${port}/${path}`,
  caBundle: toBase64(serving.certificate),
})

const versionOf = (name: string, field: string, storage: boolean) => ({
  name,
  served: true,
  storage,
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties: { [field]: { type: 'string' } } } },
    },
  },
})

const definitionOf = (hook: WebhookServer) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `things.${group}` },
  spec: {
    group,
    names: { kind: 'Thing', plural: 'things' },
    scope: 'Namespaced',
    versions: [versionOf('v1', 'color', true), versionOf('v2', 'hue', false)],
    conversion: {
      strategy: 'Webhook',
      webhook: { clientConfig: clientConfigOf(hook, '/convert'), conversionReviewVersions: ['v1', 'v1beta1'] },
    },
  },
})

const configurationOf = (hook: WebhookServer, kind: 'Mutating' | 'Validating') => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: `${kind}WebhookConfiguration`,
  metadata: { name: kind.toLowerCase() },
  webhooks: [
    {
      name: `${kind.toLowerCase()}.${group}`,
      clientConfig: clientConfigOf(hook, kind === 'Mutating' ? '/mutate-things' : '/validate-things/'),
      rules: [{ apiGroups: [group], apiVersions: ['v1'], operations: ['CREATE'], resources: ['things'] }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    },
  ],
})

const outcomeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'there',
    ({ message }: Error) => message,
  )

async function install(client: Client, hook: WebhookServer): Promise<void> {
  await client.objects.create(definitionOf(hook))
  const things = client.resource({ group, version: 'v2', plural: 'things', namespaced: true })
  await expect.poll(() => outcomeOf(things.list())).toBe('there')
  for (const kind of ['Mutating', 'Validating'] as const) await client.objects.create(configurationOf(hook, kind))
}

async function uninstall(client: Client, hook: WebhookServer): Promise<void> {
  const objects = [configurationOf(hook, 'Mutating'), configurationOf(hook, 'Validating'), definitionOf(hook)]
  for (const { apiVersion, kind, metadata } of objects) await client.objects.delete({ apiVersion, kind, name: metadata.name })
  for (const { apiVersion, kind, metadata } of objects) {
    const name = metadata.name
    await expect.poll(() => outcomeOf(client.objects.get({ apiVersion, kind, name }))).toContain('not found')
  }
}

test('webhooks and definitions are installed, used and deleted three times, in the way of envtest', async () => {
  const environment = await anEnvironment()
  await startGo(assets, environment)
  const client = clientOf(environment)
  // Go's servers send no content type.
  const hook = await aWebhookServer((called, response) => {
    const writeHead = response.writeHead.bind(response)
    response.writeHead = (code: number) => writeHead(code, { 'content-type': 'text/plain; charset=utf-8' })
    shop(called, response)
  })
  for (let round = 1; round <= 3; round += 1) {
    await install(client, hook)
    const [v1, v2] = ['v1', 'v2'].map((version) => client.resource({ group, version, plural: 'things', namespaced: true }))
    const thing = (name: string, spec: object) => ({
      apiVersion: `${group}/v1`,
      kind: 'Thing',
      metadata: { name, namespace: 'default' },
      spec,
    })
    await v1?.create(thing('plain', {}))
    await v1?.create(thing('red', { color: 'red' }))
    expect(await outcomeOf(v1?.create(thing('grey', { color: 'grey' })) ?? Promise.resolve())).toContain('no grey things')
    const { items = [] } = (await v2?.list()) ?? {}
    expect(items.map((one) => (one as { spec?: { hue?: string } }).spec?.hue)).toEqual(['blue', 'red'])
    await uninstall(client, hook)
  }
  const paths = new Set(hook.calls.map(({ url }) => url.replace(/\?.*/, '')))
  expect([...paths].sort()).toEqual(['/convert', '/mutate-things', '/validate-things'])
})
