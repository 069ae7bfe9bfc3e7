import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ApiObject } from '@orch/core/meta'
import { silentLog } from '@orch/platform'
import { expect, onTestFinished, test } from 'vitest'
import { type RunningServer, start } from './start.ts'
import type { StartOptions } from './start-settings.ts'
import type { WebhookHandler } from './webhook-endpoint.ts'

async function aServer(options: StartOptions = {}): Promise<RunningServer> {
  const server = await start({ profile: 'kubernetes', ...options })
  onTestFinished(() => server.stop())
  return server
}

function aFile(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'install-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'objects.yaml')
  writeFileSync(file, text)
  return file
}

const webhooks = (kind: 'Mutating' | 'Validating') => `
apiVersion: admissionregistration.k8s.io/v1
kind: ${kind}WebhookConfiguration
metadata: {name: hooks}
webhooks:
- name: hooks.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {service: {namespace: system, name: hooks, path: /config-maps}}
  rules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
`

const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } })

test('install applies the objects of files, namespaces before their contents, and repeating it changes nothing', async () => {
  const server = await aServer()
  const file = aFile(`
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: mine}, data: {k: v}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: mine}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {generateName: b-, namespace: mine}}
`)
  const installed = await server.install(file)
  expect(installed.map(({ kind }) => kind)).toEqual(['Namespace', 'ConfigMap', 'ConfigMap'])
  expect(installed[1]).toMatchObject({ metadata: { name: 'a', uid: expect.any(String) }, data: { k: 'v' } })
  await expect(server.install([file])).resolves.toHaveLength(3)
})

test('install accepts objects that a server has printed, and logs the ignored members', async () => {
  const lines: string[] = []
  const log = { ...silentLog, info: (_fields: object, message: string) => lines.push(message) }
  const server = await aServer({ log })
  const [installed] = await server.install(
    aFile(`
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  namespace: default
  uid: 3d1b5c0e-6a4c-4a3f-8a51-1f2f4d0c7a11
  resourceVersion: "99999"
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: gone, uid: 3d1b5c0e-6a4c-4a3f-8a51-1f2f4d0c7a12}]
  managedFields: [{manager: kubectl, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {}}]
data: {mode: "0444"}
`),
  )
  expect(installed).toMatchObject({ data: { mode: '0444' } })
  expect(installed?.metadata.uid).not.toBe('3d1b5c0e-6a4c-4a3f-8a51-1f2f4d0c7a11')
  expect(lines).toContain(
    'resourceVersion, uid, managedFields and ownerReferences are set aside: only the server that the object came from knows what they mean',
  )
})

test('install rejects for an absent file and for a refused object', async () => {
  const server = await aServer()
  await expect(server.install('/no/such/file')).rejects.toThrow('/no/such/file: there is no such file or folder')
  await expect(server.install(aFile('{apiVersion: v1, kind: ConfigMap, metadata: {name: A, namespace: default}}'))).rejects.toThrow(
    'is invalid',
  )
})

test('webhooks with a service are called at the handler, under their path; a patch is an array of operations', async () => {
  const server = await aServer()
  const calls: string[] = []
  const endpoint = await server.webhookEndpoint((review, path) => {
    calls.push(`${review.kind} ${path}`)
    return { allowed: true, patch: [{ op: 'add', path: '/data', value: { by: 'webhook' } }] }
  })
  expect(endpoint).toMatchObject({
    host: '127.0.0.1',
    port: expect.any(Number),
    certificateAuthority: expect.stringContaining('CERTIFICATE'),
  })
  await server.install(aFile(webhooks('Mutating')))
  expect(await server.client.objects.create<ApiObject>(configMap('a'))).toMatchObject({ data: { by: 'webhook' } })
  expect(calls).toEqual(['AdmissionReview /config-maps'])
})

test('a handler that throws counts as a failed webhook', async () => {
  const server = await aServer()
  await server.webhookEndpoint(() => {
    throw new Error('out of order')
  })
  await server.install(aFile(webhooks('Validating')))
  await expect(server.client.objects.create(configMap('a'))).rejects.toThrow('failed calling webhook')
})

test('start with webhooks calls them from the first request on, and after a reset', async () => {
  const handler = () => ({ allowed: false, status: { message: 'not today' } })
  const server = await aServer({ webhooks: { paths: [aFile(webhooks('Validating'))], handler } })
  await expect(server.client.objects.create(configMap('a'))).rejects.toThrow('not today')
  await server.reset()
  await expect(server.client.objects.create(configMap('a'))).rejects.toThrow('not today')
})

test('start with files that cannot be installed rejects, and leaves nothing running', async () => {
  await expect(start({ profile: 'kubernetes', crds: ['/no/such/folder'] })).rejects.toThrow('there is no such file or folder')
})

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer}
              color: {type: string, default: blue}
            x-kubernetes-validations: [{rule: 'self.size <= 10', message: too large}]
`

interface Widget extends ApiObject {
  readonly spec: { readonly size: number; readonly color?: string }
}

const widget = (name: string, size: number): Widget => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name, namespace: 'default' },
  spec: { size },
})

test('CRD-74, CRD-156: start with definitions serves their kinds at once, with the types of the user, and after a reset', async () => {
  const server = await aServer({ crds: [aFile(definition)] })
  const created = await server.client.objects.create<Widget>(widget('a', 3))
  expect(created.spec.color).toBe('blue')
  await expect(server.client.objects.create(widget('b', 11))).rejects.toThrow('too large')
  await server.reset()
  const widgets = server.client.resource<Widget>({ group: 'example.com', version: 'v1', plural: 'widgets', namespaced: true })
  expect((await widgets.list({ namespace: 'default' })).items).toEqual([])
  await expect(server.client.objects.create(widget('a', 3))).resolves.toMatchObject({ spec: { color: 'blue' } })
})

const convertedDefinition = definition.replace(
  '  versions:',
  `  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig: {service: {name: converter, namespace: team, path: /convert}}
  versions:
  - name: v2
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}`,
)

test('CRD-126, CRD-156: the conversion webhook of a definition is called at the handler, under its path', async () => {
  const paths: string[] = []
  const handler: WebhookHandler = ({ request }, path) => {
    const { desiredAPIVersion: apiVersion, objects } = request as { desiredAPIVersion: string; objects: readonly Widget[] }
    paths.push(path)
    const convertedObjects = objects.map((object) => ({ ...object, apiVersion, spec: { ...object.spec, size: object.spec.size * 2 } }))
    return { result: { status: 'Success' }, convertedObjects }
  }
  const server = await aServer({ crds: [aFile(convertedDefinition)], webhooks: { paths: [], handler } })
  await server.client.objects.create<Widget>(widget('a', 3))
  const reference = { apiVersion: 'example.com/v2', kind: 'Widget', name: 'a', namespace: 'default' }
  expect(await server.client.objects.get<Widget>(reference)).toMatchObject({ spec: { size: 6, color: 'blue' } })
  expect(paths).toEqual(['/convert'])
})

test('CRD-74: an object after its definition in one file is installed', async () => {
  const server = await aServer()
  const installed = await server.install(aFile(`${JSON.stringify(widget('a', 3))}\n---${definition}`))
  expect(installed.map(({ kind }) => kind)).toEqual(['CustomResourceDefinition', 'Widget'])
})

test('CRD-54: a definition whose names are in use is reported by name, with the reason', async () => {
  const server = await aServer({ crds: [aFile(definition)] })
  const other = definition.replaceAll('widgets', 'gadgets')
  await expect(server.install(aFile(other))).rejects.toThrow(
    'gadgets.example.com: version v1 is not served: "WidgetList" is already in use',
  )
})

test('a definition in a group of the server itself is refused by name', async () => {
  const server = await aServer()
  const text = definition
    .replaceAll('example.com', 'networking.k8s.io')
    .replace('metadata: {', "metadata: {annotations: {api-approved.kubernetes.io: 'unapproved, a test'}, ")
  await expect(server.install(aFile(text))).rejects.toThrow('networking.k8s.io is a group of the server itself')
})
