import type { ApiObject } from '@orch/core/meta'
import { virtualClock } from '@orch/platform'
import { beforeAll, describe, expect, test } from 'vitest'
import { type RunningServer, start } from '../start/start.ts'

interface Any extends ApiObject {
  readonly [member: string]: unknown
}

interface PodSeen extends ApiObject {
  readonly status: {
    readonly phase?: string
    readonly podIP?: string
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
    readonly containerStatuses?: readonly { readonly state?: object }[]
  }
}

interface EventSeen extends ApiObject {
  readonly reason: string
  readonly message: string
  readonly involvedObject: { readonly name?: string }
}

const clock = virtualClock({ start: new Date('2030-01-01T00:00:00Z') })
const namespace = 'default'
let server: RunningServer
beforeAll(async () => {
  server = await start({ profile: 'kubernetes', nodes: 2, clock, seed: 7 })
  await settled()
  return () => server.stop()
})

const settled = () => server.settled({ within: 60_000 })
const create = (kind: string, name: string, rest: object, apiVersion = 'v1') =>
  server.client.objects.create({ apiVersion, kind, metadata: { name, namespace }, ...rest } as Any)
const resource = <T extends ApiObject = Any>(plural: string, group = '', namespaced = true) =>
  server.client.resource<T>({ group, version: 'v1', plural, namespaced })
const podNamed = (name: string) => resource<PodSeen>('pods').get(name, { namespace })

async function aPod(name: string, container: object, rest: object = {}): Promise<void> {
  await create('Pod', name, { spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'i', ...container }], ...rest } })
  await settled()
}

/** Texts of the warnings about a Pod. */
async function warnings(name: string): Promise<string[]> {
  const { items } = await resource<EventSeen>('events').list({ namespace, fieldSelector: 'type=Warning' })
  return items.filter(({ involvedObject }) => involvedObject.name === name).map(({ reason, message }) => `${reason} ${message}`)
}

const stateOf = async (name: string) => (await podNamed(name)).status.containerStatuses?.[0]?.state

describe('a container whose environment names objects', () => {
  test('NODE-SIM-37: waits in CreateContainerConfigError until the objects and keys exist', async () => {
    const env = [
      { name: 'LEVEL', valueFrom: { configMapKeyRef: { name: 'settings', key: 'level' } } },
      { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'credentials', key: 'token' } } },
      { name: 'NONE', valueFrom: { configMapKeyRef: { name: 'absent', key: 'level', optional: true } } },
      { name: 'BOTH', value: '$(LEVEL)/$(TOKEN) $$(LEVEL) $(OTHER)' },
      { name: 'ADDRESS', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
      { name: 'CPUS', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
      { name: 'MEMORY', valueFrom: { resourceFieldRef: { resource: 'requests.memory', divisor: '1Mi' } } },
    ]
    const envFrom = [{ prefix: 'S_', configMapRef: { name: 'settings' } }]
    let seen: Readonly<Record<string, string>> = {}
    using _script = server.nodes.script({ name: 'configured' }, (c) => {
      c.onStart(async (run) => {
        seen = run.env
        await run.sleep('1h')
      })
    })
    await aPod('configured', { env, envFrom, resources: { requests: { memory: '64Mi' } } })
    const waiting = (message: string) => ({ waiting: { reason: 'CreateContainerConfigError', message } })
    expect(await stateOf('configured')).toEqual(waiting('configmap "settings" not found'))
    await create('ConfigMap', 'settings', { data: { other: '1' } })
    await settled()
    expect(await stateOf('configured')).toEqual(waiting(`couldn't find key level in ConfigMap ${namespace}/settings`))
    await resource('configmaps').patch('settings', { data: { level: 'debug' } }, { type: 'merge', namespace })
    await settled()
    expect(await stateOf('configured')).toEqual(waiting('secret "credentials" not found'))
    // A kubelet also tries again by itself.
    await clock.advance('10s')
    await create('Secret', 'credentials', { data: { token: Buffer.from('s3cret').toString('base64') } })
    await settled()
    expect(await stateOf('configured')).toMatchObject({ running: {} })
    expect(new Set(await warnings('configured'))).toEqual(
      new Set([
        'Failed Error: configmap "settings" not found',
        `Failed Error: couldn't find key level in ConfigMap ${namespace}/settings`,
        'Failed Error: secret "credentials" not found',
      ]),
    )
    const { status } = await podNamed('configured')
    expect(seen).toMatchObject({
      LEVEL: 'debug',
      TOKEN: 's3cret',
      BOTH: 'debug/s3cret $(LEVEL) $(OTHER)',
      S_level: 'debug',
      S_other: '1',
      ADDRESS: status.podIP,
      CPUS: '8',
      MEMORY: '64',
    })
    expect(seen).not.toHaveProperty('NONE')
  })

  test('has its new resources after a restart for a resize', async () => {
    const seen: (string | undefined)[] = []
    using _script = server.nodes.script({ name: 'resized' }, (c) => {
      c.onStart(async ({ env, sleep }) => {
        seen.push(env['MEMORY'])
        await sleep('1h')
      })
    })
    const env = [{ name: 'MEMORY', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } } }]
    const withMemory = (memory: string) => ({ name: 'main', resources: { limits: { memory }, requests: { memory } } })
    await aPod('resized', { env, ...withMemory('64Mi'), resizePolicy: [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }] })
    const resized = { spec: { containers: [withMemory('128Mi')] } }
    await resource('pods').patch('resized', resized, { type: 'strategic', subresource: 'resize', namespace })
    await settled()
    expect(seen).toEqual(['64', '128'])
  })
})

test('NODE-SIM-37, NODE-VOL-17: a Pod whose volume names a missing object stays in ContainerCreating, without an address, and reports each attempt', async () => {
  const volumes = [
    { name: 'v', configMap: { name: 'late', items: [{ key: 'a', path: 'a' }] } },
    { name: 'w', secret: { secretName: 'never', optional: true } },
  ]
  await aPod('mounting', {}, { volumes })
  const { status } = await podNamed('mounting')
  expect(status).toMatchObject({ phase: 'Pending', containerStatuses: [{ state: { waiting: { reason: 'ContainerCreating' } } }] })
  expect(status.podIP).toBeUndefined()
  expect(status.conditions).toContainEqual(expect.objectContaining({ type: 'PodReadyToStartContainers', status: 'False' }))
  await create('ConfigMap', 'late', { data: { b: '1' } })
  await settled()
  await clock.advance('2s')
  await settled()
  expect(new Set(await warnings('mounting'))).toEqual(
    new Set([
      'FailedMount MountVolume.SetUp failed for volume "v" : configmap "late" not found',
      'FailedMount MountVolume.SetUp failed for volume "v" : configmap references non-existent config key: a',
    ]),
  )
  await resource('configmaps').patch('late', { data: { a: '1' } }, { type: 'merge', namespace })
  await settled()
  expect((await podNamed('mounting')).status).toMatchObject({ phase: 'Running', podIP: expect.any(String) })
})

test('NODE-VOL-08, NODE-VOL-12, NODE-VOL-15: a node has a CSINode, a Pod waits until its volume is attached there, and one volume too many keeps a Pod away', async () => {
  const node = await server.nodes.add({ name: 'small', zone: 'b', volumesMax: 1 })
  await settled()
  const csiNodes = resource('csinodes', 'storage.k8s.io', false)
  expect(await csiNodes.get('small')).toMatchObject({
    metadata: { ownerReferences: [{ kind: 'Node', name: 'small' }] },
    spec: {
      drivers: [
        { name: 'simulated.csi.orch.io', nodeID: 'small', topologyKeys: ['topology.kubernetes.io/zone'], allocatable: { count: 1 } },
      ],
    },
  })
  const claim = (name: string) =>
    create('PersistentVolumeClaim', name, { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } })
  const pod = (name: string, claimName: string) =>
    create('Pod', name, {
      spec: {
        nodeSelector: { 'kubernetes.io/hostname': 'small' },
        containers: [{ name: 'main', image: 'i' }],
        volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }],
      },
    })
  for (const name of ['one', 'two']) await claim(name)
  await pod('a', 'one')
  await settled()
  await clock.advance('2s')
  await settled()
  expect((await podNamed('a')).status.phase).toBe('Running')
  const { items } = await resource<EventSeen>('events').list({ namespace, fieldSelector: 'involvedObject.name=a' })
  const order = items.map(({ reason }) => reason).filter((reason) => reason === 'SuccessfulAttachVolume' || reason === 'Started')
  expect(order.sort()).toEqual(['Started', 'SuccessfulAttachVolume'])
  // A volume counts once, even in two Pods; another volume exceeds the limit.
  await pod('b', 'one')
  await pod('c', 'two')
  await settled()
  await clock.advance('2s')
  await settled()
  expect((await podNamed('b')).status.phase).toBe('Running')
  expect(await warnings('c')).toContainEqual(expect.stringContaining('node(s) exceed max volume count'))
  await node.delete()
})
