import type { ApiObject } from '@orch/core/meta'
import { type RunningServer, start } from 'orch'
import { beforeAll, describe, expect, test } from 'vitest'
import { authorityPem } from '../api/certificate-request.ts'
import { execBySpdy } from './tunnels.ts'

const namespace = 'default'
const events = { group: '', version: 'v1', plural: 'events', namespaced: true } as const
let server: RunningServer
beforeAll(async () => {
  server = await start({ profile: 'kubernetes', nodes: 1, seed: 7 })
  await create('ConfigMap', 'settings', { data: { level: 'debug', color: 'blue' }, binaryData: { raw: '/wD+' } })
  await create('ServiceAccount', 'reader', {})
  await create('Secret', 'key', { stringData: { password: 'pass' } })
  await create(
    'Pod',
    'web',
    {
      spec: {
        serviceAccountName: 'reader',
        initContainers: [
          {
            name: 'first',
            image: 'busybox',
            command: ['sh', '-c', 'echo made > /data/made'],
            volumeMounts: [{ name: 'work', mountPath: '/data' }],
          },
        ],
        containers: [
          {
            name: 'main',
            image: 'img:1',
            resources: { limits: { cpu: '1500m' } },
            volumeMounts: [
              { name: 'settings', mountPath: '/etc/settings' },
              { name: 'settings', mountPath: '/etc/level.txt', subPath: 'level' },
              { name: 'chosen', mountPath: '/etc/chosen', readOnly: true },
              { name: 'work', mountPath: '/data' },
              { name: 'all', mountPath: '/etc/all' },
            ],
          },
          { name: 'side', image: 'img:1', volumeMounts: [{ name: 'work', mountPath: '/shared' }] },
        ],
        volumes: [
          { name: 'settings', configMap: { name: 'settings' } },
          {
            name: 'chosen',
            configMap: {
              name: 'settings',
              items: [
                { key: 'color', path: 'a/b' },
                { key: 'raw', path: 'raw' },
              ],
            },
          },
          { name: 'work', emptyDir: {} },
          {
            name: 'all',
            projected: {
              sources: [
                { secret: { name: 'key' } },
                { configMap: { name: 'absent', optional: true } },
                {
                  downwardAPI: {
                    items: [
                      { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } },
                      { path: 'cpu', resourceFieldRef: { containerName: 'main', resource: 'limits.cpu' } },
                    ],
                  },
                },
                { serviceAccountToken: { path: 'token', audience: 'vault', expirationSeconds: 600 } },
              ],
            },
          },
        ],
      },
    },
    { labels: { app: 'web', tier: 'front' } },
  )
  await server.settled({ within: 60_000 })
  return () => server.stop()
})

async function create(kind: string, name: string, rest: object, metadata: object = {}): Promise<void> {
  await server.client.objects.create({ apiVersion: 'v1', kind, metadata: { name, namespace, ...metadata }, ...rest } as ApiObject)
}

const exec = (container: string, ...words: readonly string[]) => execIn('web', container, ...words)

async function execIn(pod: string, container: string, ...words: readonly string[]) {
  const query = words.map((word) => `command=${encodeURIComponent(word)}`).join('&')
  const path = `/api/v1/namespaces/${namespace}/pods/${pod}/exec?${query}&container=${container}&stdout=true&stderr=true`
  const { stdout, stderr } = await execBySpdy(server, path, {})
  return stdout + stderr
}

describe('the volumes of a simulated Pod', () => {
  test.each([
    [['cat', '/etc/settings/level'], 'debug'],
    [['ls', '/etc/settings'], 'color\nlevel\nraw\n'],
    [['cat', '/etc/level.txt'], 'debug'],
    [['cat', '/etc/chosen/a/b'], 'blue'],
    [['cat', '/etc/all/password'], 'pass'],
    [['cat', '/etc/all/labels'], 'app="web"\ntier="front"'],
    [['cat', '/etc/all/cpu'], '2'],
    [['sh', '-c', 'echo no > /etc/settings/level'], 'sh: write error: Read-only file system\n'],
  ])('NODE-VOL-17: have the files of their objects: %j', async (words, output) => {
    expect(await exec('main', ...words)).toBe(output)
  })

  test('have the certificates of trust bundles, and a Pod waits for those that are not optional', async () => {
    const bundle = (name: string, spec: object, labels?: object) =>
      server.client.objects.create({
        ...{ apiVersion: 'certificates.k8s.io/v1', kind: 'ClusterTrustBundle', metadata: { name, labels } },
        spec: { trustBundle: authorityPem, ...spec },
      } as ApiObject)
    const selector = { signerName: 'shop.example.com/web', labelSelector: { matchLabels: { tier: 'front' } } }
    const sources = [
      { clusterTrustBundle: { name: 'root', path: 'root.pem' } },
      { clusterTrustBundle: { ...selector, path: 'front.pem' } },
      { clusterTrustBundle: { name: 'absent', optional: true, path: 'absent.pem' } },
    ]
    const containers = [{ name: 'main', image: 'img:1', volumeMounts: [{ name: 'trust', mountPath: '/trust' }] }]
    await bundle('shop.example.com:web:back', { signerName: selector.signerName }, { tier: 'back' })
    await create('Pod', 'trusting', { spec: { containers, volumes: [{ name: 'trust', projected: { sources } }] } })
    await server.settled({ within: 60_000 })
    const pod = { apiVersion: 'v1', kind: 'Pod', namespace, name: 'trusting' }
    expect(await server.client.objects.get(pod)).toMatchObject({ status: { phase: 'Pending' } })
    const { items } = await server.client.resource<ApiObject & { message: string }>(events).list({ namespace })
    const problems = 'clustertrustbundle "root" not found, combination of signerName and labelSelector matched zero ClusterTrustBundles'
    expect(items.map(({ message }) => message)).toContain(`MountVolume.SetUp failed for volume "trust" : [${problems}]`)
    await bundle('root', {})
    for (const name of ['one', 'two']) await bundle(`shop.example.com:web:${name}`, { signerName: selector.signerName }, { tier: 'front' })
    await expect.poll(async () => Object(await server.client.objects.get(pod)).status.phase, { timeout: 60_000 }).toBe('Running')
    const read = (file: string) => execIn('trusting', 'main', 'cat', `/trust/${file}.pem`)
    expect([await read('root'), await read('front'), await read('absent')]).toEqual([authorityPem, authorityPem, ''])
  })

  test('have a token of the account, for the audience', async () => {
    const { aud, 'kubernetes.io': kubernetes } = JSON.parse(
      Buffer.from((await exec('main', 'cat', '/etc/all/token')).split('.')[1] ?? '', 'base64url').toString(),
    )
    expect([aud, kubernetes.pod.name]).toEqual([['vault'], 'web'])
  })

  test('show a change of a ConfigMap and of labels to the next command', async () => {
    const maps = server.client.resource({ group: '', version: 'v1', plural: 'configmaps', namespaced: true })
    await maps.patch('settings', { data: { level: 'info' } }, { type: 'merge', namespace })
    expect(await exec('main', 'cat', '/etc/settings/level')).toBe('info')
  })

  test.each([
    ['$(WHERE)', 'missing value for WHERE'],
    ['$(ROOT)', 'error SubPath `/a` must not be an absolute path'],
    ['$(UP)', "unable to provision SubPath `../a`: must not contain '..'"],
  ])('NODE-SIM-37: keep a container with the path %j waiting, until a change of the Pod makes it right', async (subPathExpr, message) => {
    const name = `path-${message.length}`
    const env = [
      { name: 'WHERE', valueFrom: { fieldRef: { fieldPath: "metadata.annotations['where']" } } },
      { name: 'ROOT', value: '/a' },
      { name: 'UP', value: '../a' },
    ]
    const containers = [{ name: 'main', image: 'img:1', env, volumeMounts: [{ name: 'work', mountPath: '/data', subPathExpr }] }]
    await create('Pod', name, { spec: { containers, volumes: [{ name: 'work', emptyDir: {} }] } })
    await server.settled({ within: 60_000 })
    const pods = server.client.resource({ group: '', version: 'v1', plural: 'pods', namespaced: true })
    const state = { waiting: { reason: 'CreateContainerConfigError', message } }
    expect(await pods.get(name, { namespace })).toMatchObject({ status: { phase: 'Pending', containerStatuses: [{ state }] } })
    await pods.patch(name, { metadata: { annotations: { where: 'b' } } }, { type: 'merge', namespace })
    await server.settled({ within: 60_000 })
    expect(await pods.get(name, { namespace })).toMatchObject({ status: { phase: subPathExpr === '$(WHERE)' ? 'Running' : 'Pending' } })
  })

  test('are shared by its containers', async () => {
    expect(await exec('side', 'cat', '/shared/made')).toBe('made\n')
    await exec('side', 'sh', '-c', 'echo more >> /shared/made')
    expect(await exec('main', 'cat', '/data/made')).toBe('made\nmore\n')
  })

  test('stay when the account of their token is gone', async () => {
    const accounts = server.client.resource({ group: '', version: 'v1', plural: 'serviceaccounts', namespaced: true })
    const read = async () => [await exec('main', 'cat', '/etc/hostname'), await exec('main', 'cat', '/etc/all/password')]
    const before = await read()
    await accounts.delete('reader', { namespace })
    expect([before, await read()]).toEqual([before, ['web\n', 'pass']])
  })
})
