import type { ApiObject } from '@orch/core/meta'
import { type RunningServer, start, type VirtualClock, virtualClock } from 'orch'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

interface Any extends ApiObject {
  readonly spec: Readonly<Record<string, unknown>>
  readonly status: Readonly<Record<string, unknown>>
}

interface Event extends ApiObject {
  readonly reason?: string
  readonly message?: string
  readonly involvedObject: { readonly name?: string }
  readonly source?: { readonly component?: string }
}

const driver = 'simulated.csi.orch.io'
let server: RunningServer
let clock: VirtualClock

beforeAll(async () => {
  clock = virtualClock({ start: new Date('2026-01-01T00:00:00Z') })
  server = await start({ clock, seed: 1, nodes: 2, profile: 'kubernetes' })
  await clock.advance(0)
})

afterAll(() => server?.stop())

const namespace = 'default'
const resource = <T extends ApiObject = Any>(plural: string, group = '') =>
  server.client.resource<T>({ group, version: 'v1', plural, namespaced: true })
const create = (object: object) => server.client.objects.create(object as ApiObject)
const claimNamed = (name: string) => resource('persistentvolumeclaims').get(name, { namespace })
const volumeNamed = (name: unknown) => resource('persistentvolumes').get(String(name))
const patchClaim = (name: string, patch: object) => resource('persistentvolumeclaims').patch(name, patch, { type: 'merge', namespace })
const createClass = (name: string, rest: object = {}) =>
  create({ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name }, provisioner: driver, ...rest })
const createClaim = (name: string, spec: object = {}) =>
  create({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  })
const createPod = (name: string, claimName: string, spec: object = {}) =>
  create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: {
      containers: [{ name: 'c', image: 'i' }],
      volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }],
      terminationGracePeriodSeconds: 0,
      ...spec,
    },
  })
const told = async (about: string) => {
  const { items } = await resource<Event>('events').list({ namespace })
  return items
    .filter(({ involvedObject, source }) => involvedObject.name === about && source?.component === driver)
    .map(({ reason, message }) => `${reason} ${message}`)
    .sort()
}
const refused = (request: Promise<unknown>) =>
  request.then(
    () => 'answered',
    (error: { reason?: string }) => error.reason,
  )

describe('the provisioner of simulated nodes', () => {
  test('NODE-VOL-04, NODE-VOL-09: has the default class and its driver', async () => {
    const [standard] = (await resource('storageclasses', 'storage.k8s.io').list()).items
    expect(standard).toMatchObject({
      metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      provisioner: driver,
      reclaimPolicy: 'Delete',
      volumeBindingMode: 'WaitForFirstConsumer',
      allowVolumeExpansion: true,
    })
    const [only] = (await resource('csidrivers', 'storage.k8s.io').list()).items
    expect(only).toMatchObject({ metadata: { name: driver }, spec: { attachRequired: true } })
  })

  test('NODE-VOL-03, NODE-VOL-04, NODE-VOL-05, WL-PV-15: creates a volume for a claim when its first Pod has a node', async () => {
    await createClaim('data')
    await clock.advance(0)
    expect((await claimNamed('data')).status).toEqual({ phase: 'Pending' })
    await createPod('user', 'data')
    // The scheduler binds a Pod to a node when the Pod's claims are bound.
    await clock.advance(2_000)
    const pod = await resource('pods').get('user', { namespace })
    const claim = await claimNamed('data')
    const { uid } = claim.metadata
    expect(claim).toMatchObject({
      metadata: {
        annotations: {
          'volume.kubernetes.io/selected-node': pod.spec['nodeName'],
          'volume.kubernetes.io/storage-provisioner': driver,
          'pv.kubernetes.io/bind-completed': 'yes',
        },
      },
      spec: { storageClassName: 'standard', volumeName: `pvc-${uid}` },
      status: { phase: 'Bound', capacity: { storage: '1Gi' } },
    })
    expect(await volumeNamed(`pvc-${uid}`)).toMatchObject({
      metadata: {
        annotations: { 'pv.kubernetes.io/provisioned-by': driver },
        finalizers: expect.arrayContaining(['external-provisioner.volume.kubernetes.io/finalizer', 'kubernetes.io/pv-protection']),
      },
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '1Gi' },
        claimRef: { name: 'data', uid },
        csi: { driver, volumeHandle: `pvc-${uid}` },
        persistentVolumeReclaimPolicy: 'Delete',
        storageClassName: 'standard',
      },
      status: { phase: 'Bound' },
    })
    expect(await told('data')).toEqual([
      'Provisioning External provisioner is provisioning volume for claim "default/data"',
      `ProvisioningSucceeded Successfully provisioned volume pvc-${uid}`,
    ])
  })

  test('NODE-VOL-07: expands a volume when its claim requests more', async () => {
    await createClass('grow', { allowVolumeExpansion: true })
    await createClaim('grown', { storageClassName: 'grow' })
    await clock.advance(0)
    await patchClaim('grown', { spec: { resources: { requests: { storage: '3Gi' } } } })
    await clock.advance(0)
    const claim = await claimNamed('grown')
    expect(claim.status['capacity']).toEqual({ storage: '3Gi' })
    expect((await volumeNamed(claim.spec['volumeName'])).spec['capacity']).toEqual({ storage: '3Gi' })
    expect((await told('grown')).filter((event) => !event.startsWith('Provisioning'))).toEqual([
      `Resizing External resizer is resizing volume ${claim.spec['volumeName']}`,
      'VolumeResizeSuccessful Resize volume succeeded',
    ])
  })

  test('NODE-VOL-06, WL-PV-18: deletes the volume of a deleted claim, and keeps a volume with policy Retain', async () => {
    await createClass('gone')
    await createClass('kept', { reclaimPolicy: 'Retain' })
    for (const name of ['gone', 'kept']) await createClaim(name, { storageClassName: name })
    await clock.advance(0)
    const [gone, kept] = [(await claimNamed('gone')).spec['volumeName'], (await claimNamed('kept')).spec['volumeName']]
    for (const name of ['gone', 'kept']) await resource('persistentvolumeclaims').delete(name, { namespace })
    await clock.advance(0)
    expect(await refused(volumeNamed(gone))).toBe('NotFound')
    expect((await volumeNamed(kept)).status['phase']).toBe('Released')
  })

  test('NODE-VOL-04: rejects a node outside the allowed topologies, with the reason', async () => {
    const matchLabelExpressions = [{ key: 'kubernetes.io/hostname', values: ['node-9'] }]
    await createClass('zonal', { volumeBindingMode: 'WaitForFirstConsumer', allowedTopologies: [{ matchLabelExpressions }] })
    await createClaim('zonal', { storageClassName: 'zonal' })
    await patchClaim('zonal', { metadata: { annotations: { 'volume.kubernetes.io/selected-node': 'node-1' } } })
    await clock.advance(0)
    const claim = await claimNamed('zonal')
    expect([claim.status['phase'], claim.metadata.annotations?.['volume.kubernetes.io/selected-node']]).toEqual(['Pending', undefined])
    expect(await told('zonal')).toContain(
      'ProvisioningFailed failed to provision volume with StorageClass "zonal": the selected node "node-1" is in none of the allowed topologies',
    )
  })

  test('NODE-VOL-04: makes a volume with an allowed topology reachable only from nodes of that topology', async () => {
    const matchLabelExpressions = [{ key: 'kubernetes.io/hostname', values: ['node-1', 'node-2'] }]
    await createClass('hosts', { volumeBindingMode: 'WaitForFirstConsumer', allowedTopologies: [{ matchLabelExpressions }] })
    await createClaim('host', { storageClassName: 'hosts' })
    await patchClaim('host', { metadata: { annotations: { 'volume.kubernetes.io/selected-node': 'node-2' } } })
    await clock.advance(0)
    const volume = await volumeNamed((await claimNamed('host')).spec['volumeName'])
    const matchExpressions = [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['node-2'] }]
    expect(volume.spec['nodeAffinity']).toEqual({ required: { nodeSelectorTerms: [{ matchExpressions }] } })
  })
})

test('WL-STS-05, NODE-VOL-04: a StatefulSet with claims runs, each Pod with its own volume', async () => {
  const labels = { app: 'db' }
  await create({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db', namespace },
    spec: {
      serviceName: 'db',
      replicas: 3,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      volumeClaimTemplates: [
        { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } } },
      ],
    },
  })
  await clock.advance(60_000)
  expect((await resource('statefulsets', 'apps').get('db', { namespace })).status).toMatchObject({ readyReplicas: 3, replicas: 3 })
  const claims = await Promise.all([0, 1, 2].map((ordinal) => claimNamed(`data-db-${ordinal}`)))
  expect(claims.map(({ status }) => status['phase'])).toEqual(['Bound', 'Bound', 'Bound'])
  expect(new Set(claims.map(({ spec }) => spec['volumeName'])).size).toBe(3)
})

describe('the attachment of volumes', () => {
  const attachments = () => resource('volumeattachments', 'storage.k8s.io').list()
  const attachedTo = async (node: string) => (await resource('nodes').get(node)).status['volumesAttached']
  const bind = (pod: string, node: string) =>
    server.client.request({
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/pods/${pod}/binding`,
      body: { apiVersion: 'v1', kind: 'Binding', metadata: { name: pod }, target: { kind: 'Node', name: node } },
    })
  const toldPod = async (pod: string) => {
    const { items } = await resource<Event>('events').list({ namespace })
    return items.filter(({ involvedObject, reason }) => involvedObject.name === pod && reason?.endsWith('AttachVolume') === true)
  }

  test('NODE-VOL-10, NODE-VOL-11, NODE-VOL-12: puts a volume on the node of its Pod, and ends after the Pod', async () => {
    await createClass('attached')
    await createClaim('attached', { storageClassName: 'attached' })
    await clock.advance(0)
    const volume = String((await claimNamed('attached')).spec['volumeName'])
    await createPod('holder', 'attached', { schedulerName: 'none' })
    await bind('holder', 'node-1')
    await clock.advance(0)
    const of = (await attachments()).items.find(
      ({ spec }) => (spec['source'] as { persistentVolumeName?: string }).persistentVolumeName === volume,
    )
    expect(of).toMatchObject({
      metadata: { name: expect.stringMatching(/^csi-[0-9a-f]{64}$/), finalizers: ['external-attacher/simulated-csi-orch-io'] },
      spec: { attacher: driver, nodeName: 'node-1' },
      status: { attached: true },
    })
    expect(await attachedTo('node-1')).toContainEqual({ name: `kubernetes.io/csi/${driver}^${volume}`, devicePath: '' })
    expect((await toldPod('holder')).map(({ reason, message }) => [reason, message])).toEqual([
      ['SuccessfulAttachVolume', `AttachVolume.Attach succeeded for volume "${volume}" `],
    ])
    await resource('pods').delete('holder', { namespace }, { gracePeriodSeconds: 0 })
    await clock.advance(0)
    expect((await attachments()).items.map(({ metadata }) => metadata.name)).not.toContain(of?.metadata.name)
    expect((await attachedTo('node-1')) ?? []).not.toContainEqual({ name: `kubernetes.io/csi/${driver}^${volume}`, devicePath: '' })
  })

  test('NODE-VOL-13: of a volume for one node is refused to another node until it is free', async () => {
    await createClass('single')
    await createClaim('single', { storageClassName: 'single' })
    await clock.advance(0)
    const volume = String((await claimNamed('single')).spec['volumeName'])
    for (const [pod, node] of [
      ['first', 'node-1'],
      ['second', 'node-2'],
    ] as const) {
      await createPod(pod, 'single', { schedulerName: 'none' })
      await bind(pod, node)
      await clock.advance(0)
    }
    expect((await toldPod('second')).map(({ message }) => message)).toEqual([
      `Waiting for detach for volume "${volume}" Volume is already used by pod(s) first`,
    ])
    await resource('pods').delete('first', { namespace }, { gracePeriodSeconds: 0 })
    await clock.advance(0)
    expect(await attachedTo('node-2')).toContainEqual({ name: `kubernetes.io/csi/${driver}^${volume}`, devicePath: '' })
  })
})
