import { existsSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { readText } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type RunningServer, start } from '../index.ts'

const folder = mkdtempSync(join(tmpdir(), 'load-'))
const megabyte = 1024 * 1024
let base: RunningServer

beforeAll(async () => {
  base = await start({ profile: 'kubernetes', control: true })
})
afterAll(async () => {
  await base.stop()
  rmSync(folder, { recursive: true })
})

function write(name: string, content: string | Buffer): string {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  return path
}

const uid = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const metadataOf = (name: string, number: number, rest: object = {}) => ({
  name,
  namespace: 'shop',
  uid: uid(number),
  resourceVersion: String(1_000 - number),
  creationTimestamp: '2025-01-02T03:04:05Z',
  ...rest,
})

const namespace = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'shop', uid: uid(1), resourceVersion: '5', creationTimestamp: '2025-01-02T03:04:05Z' },
  spec: { finalizers: ['kubernetes'] },
  status: { phase: 'Active' },
}
const replicaSet = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: metadataOf('web-1', 2, { generation: 7 }),
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
  },
  status: { replicas: 1, readyReplicas: 1, observedGeneration: 7 },
}
const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-1', uid: uid(2), controller: true, blockOwnerDeletion: true }
const managedFields = [
  {
    manager: 'old',
    operation: 'Update',
    apiVersion: 'v1',
    time: '2025-01-02T03:04:05Z',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': {} },
  },
]
const configMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: metadataOf('settings', 3, {
    ownerReferences: [owner],
    managedFields,
    finalizers: ['example.com/keep'],
    deletionTimestamp: '2025-02-03T04:05:06Z',
    deletionGracePeriodSeconds: 0,
  }),
  data: { a: 'b' },
}
const secret = { apiVersion: 'v1', kind: 'Secret', metadata: metadataOf('password', 4), type: 'Opaque', data: { password: 'c2VjcmV0' } }
const token = { ...secret, metadata: metadataOf('token', 5), type: 'kubernetes.io/service-account-token' }
const event = { apiVersion: 'v1', kind: 'Event', metadata: metadataOf('e', 6), involvedObject: {} }
const unknown = { apiVersion: 'nowhere.example.com/v1', kind: 'Thing', metadata: metadataOf('thing', 7) }

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com', uid: uid(8), resourceVersion: '900' },
  spec: {
    group: 'example.com',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: { size: { type: 'integer' }, replicas: { type: 'integer', default: 2 } } },
              status: { type: 'object', properties: { ready: { type: 'boolean' } } },
            },
          },
        },
      },
    ],
  },
  status: { conditions: [], acceptedNames: { plural: '', kind: '' }, storedVersions: [] },
}
const widget = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: metadataOf('a', 9),
  spec: { size: 3, colour: 'red' },
  status: { ready: true },
}

/** An object as stored, without the members that a load adds. */
async function stored(
  { client }: RunningServer,
  { apiVersion, kind, metadata: { name = '', namespace: place } }: ApiObject,
): Promise<object> {
  const object = await client.objects.get({ apiVersion, kind, name, ...(place === undefined ? {} : { namespace: place }) })
  return { ...object, metadata: { ...object.metadata, resourceVersion: undefined } }
}
const asGiven = (object: ApiObject) => ({ ...object, metadata: { ...object.metadata, resourceVersion: undefined } })

test('a dump of kubectl is loaded in the order of revisions, with uids, owners, managers, status and deletion', async () => {
  await using server = await base.fork()
  const items = [widget, configMap, secret, token, event, unknown, replicaSet, definition, namespace]
  const path = write('dump.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  const report = await server.load(path)
  expect(report).toEqual({
    loaded: 6,
    kinds: { CustomResourceDefinition: 1, Namespace: 1, Widget: 1, Secret: 1, ConfigMap: 1, ReplicaSet: 1 },
    skipped: { Secret: 1, Event: 1 },
    unknown: { 'nowhere.example.com/v1 Thing': 1 },
    findings: [{ object: 'example.com/v1 Widget shop/a', file: path, reason: expect.stringContaining('spec.colour') }],
    unread: [],
  })
  expect(await stored(server, namespace)).toMatchObject({
    metadata: { uid: uid(1), creationTimestamp: '2025-01-02T03:04:05Z' },
    status: { phase: 'Active' },
  })
  expect(await stored(server, configMap)).toEqual(asGiven(configMap))
  expect(await stored(server, replicaSet)).toMatchObject(asGiven(replicaSet))
  expect(await stored(server, widget)).toMatchObject({ metadata: { uid: uid(9) }, spec: { size: 3 }, status: { ready: true } })
  const changes = (await server.timeline()).filter(({ name, namespace: place }) => place === 'shop' || name === 'shop')
  expect(changes.map(({ name }) => name)).toEqual(['shop', 'a', 'password', 'settings', 'web-1'])
})

const serviceRows = [
  [{ clusterIP: '10.96.0.50' }, { clusterIPs: ['10.96.0.50'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' }],
  [{ clusterIP: 'fd00::5' }, { clusterIPs: ['fd00::5'], ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack' }],
  [{ clusterIPs: ['10.96.0.51', 'fd00::6'] }, { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' }],
  [{ clusterIP: 'None' }, { clusterIPs: ['None'], ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' }],
  [
    { clusterIP: 'None', selector: { a: 'b' } },
    { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
  ],
].map(([given, shown], index): [ApiObject & Readonly<Record<string, unknown>>, object] => [
  { apiVersion: 'v1', kind: 'Service', metadata: metadataOf(`service-${index}`, 20 + index), spec: { ports: [{ port: 80 }], ...given } },
  { spec: { ...given, ...shown } },
])

/** Hand-written objects, and members that kube-apiserver 1.37.2 shows of each when its etcd holds the object as given. */
const completed: readonly (readonly [ApiObject & Readonly<Record<string, unknown>>, object])[] = [
  [{ ...secret, type: undefined }, { type: 'Opaque' }],
  [
    { ...namespace, spec: undefined, status: undefined },
    { metadata: { labels: { 'kubernetes.io/metadata.name': 'shop' } }, spec: {}, status: { phase: 'Active' } },
  ],
  [
    { ...replicaSet, spec: { ...replicaSet.spec, replicas: undefined } },
    {
      spec: { replicas: 1, template: { spec: { restartPolicy: 'Always', schedulerName: 'default-scheduler' } } },
    },
  ],
  [
    {
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      metadata: metadataOf('web', 10),
      spec: { maxReplicas: 3, scaleTargetRef: { kind: 'ReplicaSet', name: 'web-1' } },
    },
    { spec: { minReplicas: 1, maxReplicas: 3 } },
  ],
  ...serviceRows,
  [
    { ...widget, spec: {} },
    { metadata: { generation: 1 }, spec: { replicas: 2 } },
  ],
]

test('a loaded object has the defaults that kube-apiserver gives to a stored one, so that it may be updated', async () => {
  await using server = await base.fork()
  const items = [definition, ...completed.map(([object]) => object)]
  const path = write('bare.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  expect(await server.load(path)).toMatchObject({ loaded: items.length, findings: [] })
  for (const [{ kind, ...object }, expected] of completed) {
    const found = await server.client.objects.get({ kind, ...object })
    expect([kind, found]).toMatchObject([kind, expected])
  }
  const secrets = server.client.resource({ group: '', version: 'v1', plural: 'secrets', namespaced: true })
  const found = await secrets.get('password', { namespace: 'shop' })
  expect(await secrets.update(found)).toEqual(found)
})

test('a loaded Service keeps addresses and ports outside the ranges of the server when it is updated, as with kube-apiserver', async () => {
  await using server = await base.fork()
  const aService = (name: string, number: number, spec: object) => ({
    ...{ apiVersion: 'v1', kind: 'Service', metadata: metadataOf(name, number) },
    spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 12_000 + number }], ...spec },
  })
  const two = { clusterIPs: ['172.30.0.6', 'fd00::6'], ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'PreferDualStack' }
  const items = [
    aService('one', 11, { clusterIP: '172.30.0.5', clusterIPs: ['172.30.0.5'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' }),
    aService('two', 12, { clusterIP: '172.30.0.6', ...two }),
  ]
  await server.load(write('services.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [namespace, ...items] })))
  const services = server.client.resource({ group: '', version: 'v1', plural: 'services', namespaced: true })
  for (const { metadata, spec } of items) {
    const labelled = { metadata: { labels: { a: 'b' } } }
    expect(await services.patch(metadata.name, labelled, { namespace: 'shop', type: 'merge' })).toMatchObject({ ...labelled, spec })
  }
})

test('an existing object is replaced, or stays on request; values of Secrets may be omitted', async () => {
  await using server = await base.fork()
  const { client } = server
  await client.objects.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  const path = write('two.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [namespace, secret] }))
  expect(await server.load(path, { existing: 'keep', secrets: 'redact' })).toMatchObject({ loaded: 1, skipped: { Namespace: 1 } })
  expect(await stored(server, secret)).toMatchObject({ data: { password: Buffer.from('redacted').toString('base64') } })
  expect(await stored(server, namespace)).not.toMatchObject({ metadata: { uid: uid(1) } })
  expect(await server.load(path, { skip: ['Secret'] })).toMatchObject({ loaded: 1, skipped: { Secret: 1 } })
  expect(await stored(server, namespace)).toMatchObject({ metadata: { uid: uid(1) } })
})

test('a folder of must-gather is read to its depth, links aside, and files without objects are listed', async () => {
  await using server = await base.fork()
  const { apiVersion: _, kind: __, ...bare } = configMap
  write('gather/cluster-scoped-resources/core/namespaces/shop.yaml', `---\n${JSON.stringify(namespace)}\n`)
  write('gather/namespaces/shop/core/configmaps.yaml', JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMapList', items: [bare] }))
  write('gather/namespaces/shop/pods/web/web.log', 'a line')
  write('gather/version.yaml', 'just: a text\n')
  write('gather/slash.yaml', JSON.stringify({ ...configMap, metadata: { name: 'a', namespace: 'b/c' } }))
  symlinkSync(join(folder, 'gather'), join(folder, 'gather/namespaces/again'))
  const report = await server.load(join(folder, 'gather'))
  expect(report).toMatchObject({ loaded: 2, findings: [{ reason: 'its name or its namespace has a slash' }] })
  expect(report.unread).toEqual([
    { file: join(folder, 'gather/version.yaml'), reason: expect.stringContaining('has no apiVersion or no kind') },
  ])
  expect(await stored(server, configMap)).toEqual(asGiven(configMap))
})

test('an archive is read like its folder', async () => {
  await using server = await base.fork()
  const files = { 'gather/namespaces/shop.yaml': JSON.stringify(namespace), 'gather/version.yaml': 'just: a text\n', 'gather/a.log': '{}' }
  const path = write('gather.tgz', gzipSync(archive(files)))
  expect(await server.load(path)).toMatchObject({ loaded: 1, unread: [{ file: join(path, 'gather/version.yaml') }] })
})

test('a List in YAML, as kubectl prints it, is read item by item, and an error in it has its line', async () => {
  await using server = await base.fork()
  const text = `apiVersion: v1
items:
- apiVersion: v1
  kind: Namespace
  metadata:
    name: shop
- apiVersion: v1
  data:
    text: |
      - a: b

      items:
    folded: "a
      b"
  kind: ConfigMap
  metadata:
    name: settings
    namespace: shop
kind: List
metadata:
  resourceVersion: ""
`
  expect(await server.load(write('list.yaml', text))).toMatchObject({ loaded: 2, findings: [], unread: [] })
  expect(await stored(server, configMap)).toMatchObject({ data: { text: '- a: b\n\nitems:\n', folded: 'a b' } })
  await expect(server.load(write('broken.yaml', text.replace('"a', '"a"')))).rejects.toThrow(/broken\.yaml:1[34]: /)
})

test('a support bundle is read: arrays of objects in JSON and YAML, and empty lists as programs in Go print them', async () => {
  await using server = await base.fork()
  write('bundle/cluster-resources/namespaces.json', ` [${JSON.stringify(namespace)}]\n`)
  write(
    'bundle/cluster-resources/configmaps/shop.yaml',
    '- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: settings, namespace: shop}\n',
  )
  write('bundle/cluster-resources/pods/shop.json', '{"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": null}')
  write('bundle/cluster-resources/jobs/shop.yaml', 'kind: JobList\napiVersion: batch/v1\nitems: null\n')
  const groups = write('bundle/cluster-resources/groups.json', '[{"name": "apps"}]')
  const report = await server.load(join(folder, 'bundle'))
  expect(report).toMatchObject({ loaded: 2, unknown: {}, findings: [] })
  expect(report.unread).toEqual([{ file: groups, reason: `${groups}: an object has no apiVersion or no kind` }])
})

test('controllers and forks see only the complete dump: an owner may follow its dependants, and an object without its owner is deleted', async () => {
  await using server = await base.fork()
  await server.settled({ within: 60_000 })
  const metadata = metadataOf('settings', 3, { ownerReferences: [owner] })
  const dependants = Array.from({ length: 400 }, (_, number) => ({
    ...configMap,
    metadata: { ...metadata, name: `a-${number}`, uid: `${number}` },
  }))
  const gone = { ...owner, name: 'gone', uid: uid(99) }
  const orphan = { ...configMap, metadata: { ...metadata, name: 'orphan', uid: uid(98), ownerReferences: [gone] } }
  const items = [namespace, ...dependants, orphan, { ...replicaSet, metadata: { ...replicaSet.metadata, resourceVersion: '5000' } }]
  const loaded = server.load(write('owners.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items })))
  const first = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'a-0' }
  await server.eventually(first, (object) => object !== undefined, { within: '60s' })
  // A fork waits for the end of a load.
  await using fork = await server.fork()
  const configMaps = ({ client }: RunningServer) => client.resource({ group: '', version: 'v1', plural: 'configmaps', namespaced: true })
  const kept = async (of: RunningServer) =>
    (await configMaps(of).list({ namespace: 'shop' })).items.filter(({ metadata: { name = '' } }) => name.startsWith('a-'))
  expect(await kept(fork)).toHaveLength(400)
  await loaded
  await server.eventually({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'orphan' }, (object) => object === undefined, {
    within: '60s',
  })
  await server.settled({ within: 60_000 })
  expect(await kept(server)).toHaveLength(400)
})

/** Writes the checksum of a header. */
function sealHead(head: Buffer): void {
  head.write(' '.repeat(8), 148)
  head.write(
    `${head
      .reduce((sum, byte) => sum + byte)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
  )
}

/** A tar archive of POSIX. */
function archive(files: Readonly<Record<string, string>>): Buffer {
  const parts = Object.entries(files).flatMap(([name, text]) => {
    const head = Buffer.alloc(512)
    head.write(name.slice(-100))
    if (name.length > 100) head.write(name.slice(0, -101), 345)
    head.write(`${text.length.toString(8).padStart(11, '0')}\0`, 124)
    head.write('0', 156)
    head.write('ustar\0', 257)
    sealHead(head)
    return [head, Buffer.concat([Buffer.from(text)], Math.ceil(text.length / 512) * 512)]
  })
  return Buffer.concat([...parts, Buffer.alloc(1_024)])
}

test('/orch/v1/load reads a file like orch load, and uses the sender’s name for it', async () => {
  await using server = await base.fork()
  const archived = { ...configMap, metadata: { name: 'archived', namespace: 'default', uid: uid(21) } }
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"word":"aHVudGVyMg=="}}' }
  const hidden = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'hidden', namespace: 'default', annotations },
    data: { word: 'aHVudGVyMg==' },
  }
  const files = { 'gather/a.json': JSON.stringify(archived), 'gather/b.json': JSON.stringify(hidden), 'c.yaml': 'a: [' }
  const send = async (query: string, body: Uint8Array | string) => {
    const headers = { 'content-type': 'application/octet-stream' }
    const response = await server.client.transport.send({ method: 'POST', path: `/orch/v1/load${query}`, headers, body })
    return { ...JSON.parse(await readText(response)), status: response.status }
  }
  expect(await send('?name=dump.tar.gz&secrets=redact', gzipSync(archive(files)))).toMatchObject({
    ...{ status: 200, loaded: 2, kinds: { ConfigMap: 1, Secret: 1 } },
    unread: [{ file: 'dump.tar.gz/c.yaml', reason: expect.not.stringContaining(tmpdir()) }],
  })
  const redacted = Buffer.from('redacted').toString('base64')
  const found = await server.client.objects.get({ apiVersion: 'v1', kind: 'Secret', name: 'hidden', namespace: 'default' })
  expect([JSON.stringify(found).includes('aHVudGVyMg'), found]).toEqual([false, expect.objectContaining({ data: { word: redacted } })])
  expect(await send('?name=../../dump.yaml', 'a: [')).toMatchObject({ status: 400, message: expect.stringMatching(/^dump.yaml/) })
  expect(await send('?name=x.tar.gz', 'no archive')).toMatchObject({ status: 400, message: 'x.tar.gz: is no archive compressed by gzip' })
  const damaged = archive({ 'a.json': '{}' })
  damaged.write('-0000001000\0', 124)
  expect(await send('?name=x.tar.gz', gzipSync(damaged))).toMatchObject({ status: 400, message: 'x.tar.gz: the archive is damaged' })
  expect(await send('?name=a/one.yaml', `a: ${'x'.repeat(5 * megabyte)}`)).toMatchObject({
    ...{ status: 413, reason: 'RequestEntityTooLarge' },
    message: expect.stringMatching(/^one.yaml:1: an object has more than/),
  })
  for (const name of ['', '..', 'a/', 'a%00', 'x'.repeat(1_000)])
    expect([name, await send(`?name=${name}`, '{}')]).toMatchObject([name, { status: 400, message: expect.not.stringContaining(tmpdir()) }])
})

test('a report of a load has at most a thousand findings, files without objects, and kinds that are not served', async () => {
  await using server = await base.fork()
  const numbers = Array.from({ length: 1_001 }, (_, number) => number)
  const broken = numbers.map((number) => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a${number}"},"data":{"a":01}}`)
  broken[0] = '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"type":01}'
  const ofKinds = numbers.map((number) => JSON.stringify({ ...unknown, kind: `Thing${number}` }))
  const list = write('many/list.json', `{"apiVersion":"v1","kind":"List","items":[${[...broken, ...ofKinds].join()}]}`)
  for (const number of numbers) write(`many/empty/${number}.yaml`, 'just: a text\n')
  const report = await server.load(dirname(list))
  expect(report).toMatchObject({ loaded: 0, unknown: { 'nowhere.example.com/v1 Thing0': 1, others: 1 } })
  expect([report.findings.length, report.unread.length, Object.keys(report.unknown).length]).toEqual([1_000, 1_000, 1_001])
})

test('a backup of velero is loaded, each object once', async () => {
  await using server = await base.fork()
  const path = write(
    'backup.tar.gz',
    gzipSync(
      archive({
        'metadata/version': '1.1.0',
        'resources/namespaces/cluster/shop.json': JSON.stringify(namespace),
        'resources/configmaps/namespaces/shop/settings.json': JSON.stringify(configMap),
        'resources/configmaps/v1-preferredversion/namespaces/shop/settings.json': JSON.stringify({ ...configMap, data: {} }),
      }),
    ),
  )
  expect(await server.load([path])).toMatchObject({ loaded: 2, kinds: { Namespace: 1, ConfigMap: 1 } })
  expect(await stored(server, configMap)).toEqual(asGiven(configMap))
})

test.each<[string, () => string, object, string]>([
  ['a file that is not there', () => join(folder, 'absent.json'), {}, 'there is no such file or folder'],
  ['a file that is no object', () => write('list.json', '{"a":1}'), {}, 'has no apiVersion or no kind'],
  ['broken JSON', () => write('broken.json', '{"apiVersion":'), {}, 'broken.json: '],
  ['an archive that is none', () => write('none.tar.gz', 'text'), {}, 'is no archive compressed by gzip'],
  [
    'an archive without objects',
    () => write('empty.tar.gz', gzipSync(archive({ a: 'b' }))),
    {},
    'holds no objects: expected files in YAML or JSON',
  ],
  [
    'an archive that is cut off',
    () => write('cut.tar.gz', gzipSync(archive({ 'a.json': JSON.stringify(namespace) })).subarray(0, 60)),
    {},
    'cut.tar.gz: the archive is cut off',
  ],
  [
    'an archive whose bytes have changed, and whose end comes late',
    () => {
      const changed = gzipSync(Buffer.concat([archive({ 'a.json': JSON.stringify(namespace) }), Buffer.alloc(megabyte)]), { level: 0 })
      changed.write('shap', changed.indexOf('shop'))
      return write('changed.tar.gz', changed)
    },
    {},
    'changed.tar.gz: is no archive compressed by gzip',
  ],
  [
    'an archive with too many bytes of JSON, before it reads them',
    () => {
      const large = archive({ 'a.log': 'x', 'a.json': '{}' })
      // 1 GiB minus 100 bytes, because the name and the header of the file count, too.
      large.write('07777777634\0', 1_024 + 124)
      sealHead(large.subarray(1_024, 1_536))
      return write('large.tar.gz', gzipSync(Buffer.concat([large, Buffer.alloc(megabyte)]), { level: 0 }))
    },
    {},
    'large.tar.gz: the dump has more than 1073741824 bytes of YAML and JSON: load it in parts',
  ],
  ['an unknown option', () => write('x.json', JSON.stringify(namespace)), { colour: 1 }, 'load(): unknown option colour'],
  [
    'an unknown kind, where that is an error',
    () => write('y.json', JSON.stringify(unknown)),
    { unknown: 'error' },
    'its kind is not served',
  ],
])('load refuses %s with an explanation, and leaves no file open', async (_what, path, options, message) => {
  await expect(base.load(path(), options)).rejects.toThrow(message)
  await vi.waitFor(() => expect(openFiles()).toEqual([]))
})

/** The open files in the folder, where Linux lists them. */
function openFiles(): string[] {
  const descriptors = '/proc/self/fd'
  if (!existsSync(descriptors)) return []
  // The descriptor that lists them is closed by then.
  const open = readdirSync(descriptors).filter((name) => existsSync(join(descriptors, name)))
  return open.map((name) => readlinkSync(join(descriptors, name))).filter((path) => path.startsWith(folder))
}
