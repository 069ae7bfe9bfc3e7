import type { ApiObject } from '@orch/core/meta'
import { type RunningServer, start, type VirtualClock, virtualClock } from 'orch'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

interface Volume extends ApiObject {
  readonly spec: { readonly claimRef?: { readonly name?: string } }
  readonly status: { readonly phase?: string; readonly message?: string }
}

interface Claim extends ApiObject {
  readonly spec: { readonly volumeName?: string; readonly storageClassName?: string }
  readonly status: { readonly phase?: string; readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

interface Event extends ApiObject {
  readonly reason?: string
  readonly message?: string
  readonly count?: number
  readonly involvedObject: { readonly name?: string }
}

let server: RunningServer
let clock: VirtualClock

beforeAll(async () => {
  clock = virtualClock({ start: new Date('2026-01-01T00:00:00Z') })
  server = await start({ clock, seed: 1, profile: 'kubernetes', controllers: ['*', 'workloads'] })
})

afterAll(() => server?.stop())

/** The objects of one test: a namespace, and a storage class with a unique name. */
async function inNamespace(name: string) {
  const { client } = server
  const resource = <T extends ApiObject>(plural: string) => client.resource<T>({ group: '', version: 'v1', plural, namespaced: true })
  const [claims, volumes, events] = [
    resource<Claim>('persistentvolumeclaims'),
    resource<Volume>('persistentvolumes'),
    resource<Event>('events'),
  ]
  const pods = resource('pods')
  const create = (object: object) => client.objects.create(object as ApiObject)
  await create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  const common = { accessModes: ['ReadWriteOnce'], storageClassName: name }
  return {
    claims,
    volumes,
    pods,
    create,
    createClaim: (claim: string, spec: object = {}) =>
      create({
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: claim, namespace: name },
        spec: { ...common, resources: { requests: { storage: '1Gi' } }, ...spec },
      }),
    createVolume: (volume: string, spec: object = {}) =>
      create({
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        metadata: { name: volume },
        spec: { ...common, capacity: { storage: '1Gi' }, hostPath: { path: '/x' }, persistentVolumeReclaimPolicy: 'Retain', ...spec },
      }),
    createPod: (pod: string, volume: object, metadata: object = {}) =>
      create({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: pod, namespace: name, ...metadata },
        spec: { containers: [{ name: 'c', image: 'i' }], volumes: [{ name: 'data', ...volume }] },
      }),
    claim: async (claim: string) => claims.get(claim, { namespace: name }),
    phases: async () => {
      const found = (await claims.list({ namespace: name })).items.map(({ metadata, status }) => [metadata.name, status.phase])
      return Object.fromEntries(found)
    },
    /** `REASON MESSAGE` of the events about an object in any namespace; events of volumes are in `default`. */
    told: async (about: string) => {
      const found = [...(await events.list({ namespace: name })).items, ...(await events.list({ namespace: 'default' })).items]
      return found.filter(({ involvedObject }) => involvedObject.name === about).map(({ reason, message }) => `${reason} ${message}`)
    },
    deleteClaim: (claim: string) => claims.delete(claim, { namespace: name }),
  }
}

const settle = () => clock.advance(0)

describe('the binder of volumes', () => {
  test('WL-PV-09, WL-PV-10: gives a volume to one of two claims, and the next volume to the other at once', async () => {
    const { createClaim, createVolume, phases } = await inNamespace('two')
    await createClaim('a')
    await createClaim('b')
    await settle()
    await createVolume('two-1')
    await settle()
    expect(await phases()).toEqual({ a: 'Bound', b: 'Pending' })
    await createVolume('two-2')
    await settle()
    expect(await phases()).toEqual({ a: 'Bound', b: 'Bound' })
  })

  test('WL-PV-09: gives many volumes to as many claims, one each', async () => {
    const { createClaim, createVolume, phases, volumes, claims } = await inNamespace('many')
    const numbers = Array.from({ length: 30 }, (_, index) => index)
    await Promise.all(numbers.flatMap((index) => [createClaim(`c${index}`), createVolume(`many-${index}`)]))
    await settle()
    expect(new Set(Object.values(await phases()))).toEqual(new Set(['Bound']))
    const taken = (await claims.list({ namespace: 'many' })).items.map(({ metadata, spec }) => [spec.volumeName, metadata.name] as const)
    const given = (await volumes.list()).items.filter(({ metadata }) => metadata.name?.startsWith('many-'))
    expect(new Map(given.map(({ metadata, spec }) => [metadata.name, spec.claimRef?.name]))).toEqual(new Map(taken))
    expect(new Set(taken.map(([volume]) => volume)).size).toBe(30)
  })

  test('WL-PV-05, WL-PV-10: binds a claim to its named volume as soon as that exists', async () => {
    const { createClaim, createVolume, claim } = await inNamespace('named')
    await createClaim('c', { volumeName: 'named-v' })
    await settle()
    expect((await claim('c')).status.phase).toBe('Pending')
    await createVolume('named-v', { storageClassName: 'named' })
    await settle()
    expect(await claim('c')).toMatchObject({
      metadata: { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
      status: { phase: 'Bound', capacity: { storage: '1Gi' } },
    })
  })

  test('is no manager of the time that the server gives to a new phase', async () => {
    const { volumes, createVolume } = await inNamespace('phase-time')
    await createVolume('timed')
    await clock.advance('1m')
    const { metadata, status } = await volumes.get('timed')
    expect(status).toMatchObject({ phase: 'Available', lastPhaseTransitionTime: expect.any(String) })
    expect(metadata.managedFields?.find(({ subresource }) => subresource === 'status')?.fieldsV1).toEqual({ 'f:status': { 'f:phase': {} } })
  })

  test('WL-PV-08: marks a claim without its volume as Lost', async () => {
    const { createClaim, createVolume, claim, volumes, told } = await inNamespace('lost')
    await createVolume('lost-v')
    await createClaim('c')
    await settle()
    await volumes.patch('lost-v', { metadata: { finalizers: null } }, { type: 'merge' })
    await volumes.delete('lost-v')
    await settle()
    expect((await claim('c')).status).toMatchObject({ phase: 'Lost' })
    expect(await told('c')).toEqual(['ClaimLost Bound claim has lost its PersistentVolume. Data on the volume is lost!'])
  })

  test('WL-PV-03: repairs a binding whose volume lost its reference to the claim', async () => {
    const { createClaim, createVolume, claim, volumes } = await inNamespace('again')
    await createVolume('again-v')
    await createClaim('c')
    await settle()
    await volumes.patch('again-v', { spec: { claimRef: null } }, { type: 'merge' })
    await settle()
    expect(await volumes.get('again-v')).toMatchObject({ spec: { claimRef: { name: 'c' } }, status: { phase: 'Bound' } })
    expect((await claim('c')).status.phase).toBe('Bound')
  })

  test('WL-PV-18, WL-PV-19: deletes directories of test volumes, and refuses to delete and recycle others with a reason', async () => {
    const { createClaim, createVolume, deleteClaim, volumes, told } = await inNamespace('policies')
    const policies: Readonly<Record<string, object>> = {
      tmp: { persistentVolumeReclaimPolicy: 'Delete', hostPath: { path: '/tmp/x' } },
      dir: { persistentVolumeReclaimPolicy: 'Delete' },
      recycled: { persistentVolumeReclaimPolicy: 'Recycle' },
    }
    for (const [volume, spec] of Object.entries(policies)) {
      await createVolume(volume, spec)
      await createClaim(volume, { volumeName: volume })
    }
    await settle()
    for (const volume of Object.keys(policies)) await deleteClaim(volume)
    await settle()
    const left = (await volumes.list()).items.filter(({ metadata }) => policies[metadata.name ?? ''] !== undefined)
    const why = 'host_path deleter only supports /tmp/.+ but received provided /x'
    expect(Object.fromEntries(left.map(({ metadata, status }) => [metadata.name, [status.phase, status.message]]))).toEqual({
      dir: ['Failed', why],
      recycled: ['Failed', 'No recycler plugin found for the volume!'],
    })
    expect(await told('dir')).toEqual([`VolumeFailedDelete ${why}`])
    expect(await told('recycled')).toEqual(['VolumeFailedRecycle No recycler plugin found for the volume!'])
  })

  test('WL-PV-20: gives a released volume without a reference to a waiting claim', async () => {
    const { createClaim, createVolume, deleteClaim, volumes, phases } = await inNamespace('released')
    await createVolume('released-v')
    await createClaim('first')
    await settle()
    await deleteClaim('first')
    await createClaim('second')
    await settle()
    expect(await phases()).toEqual({ second: 'Pending' })
    expect((await volumes.get('released-v')).status.phase).toBe('Released')
    await volumes.patch('released-v', { spec: { claimRef: null } }, { type: 'merge' })
    await settle()
    expect(await phases()).toEqual({ second: 'Bound' })
  })

  test('WL-PV-06, WL-PV-12: calls a provisioner when the class appears', async () => {
    const { create, createClaim, claim, told } = await inNamespace('late')
    await createClaim('c')
    await settle()
    expect(await told('c')).toEqual(['ProvisioningFailed storageclass.storage.k8s.io "late" not found'])
    await create({ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: 'late' }, provisioner: 'p.example.com' })
    await settle()
    expect((await claim('c')).metadata.annotations).toEqual({
      'volume.beta.kubernetes.io/storage-provisioner': 'p.example.com',
      'volume.kubernetes.io/storage-provisioner': 'p.example.com',
    })
  })
})

test('WL-PV-11: a bound claim is Unused until a Pod refers to it, and again after the Pod has finished', async () => {
  const { createClaim, createVolume, createPod, claim, pods } = await inNamespace('unused')
  const conditions = async () => (await claim('c')).status.conditions?.map(({ type, status }) => `${type}=${status}`)
  await createVolume('unused-v')
  await createClaim('c')
  await settle()
  expect(await conditions()).toEqual(['Unused=True'])
  await createPod('user', { persistentVolumeClaim: { claimName: 'c' } })
  await settle()
  expect(await conditions()).toEqual(['Unused=False'])
  await pods.patch('user', { status: { phase: 'Succeeded' } }, { type: 'merge', subresource: 'status', namespace: 'unused' })
  await settle()
  expect(await conditions()).toEqual(['Unused=True'])
})

test('WL-PV-16, NODE-VOL-16: an ephemeral volume has a claim of the Pod, which is created again after its deletion', async () => {
  const { createPod, claim, claims } = await inNamespace('ephemeral')
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
  const volumeClaimTemplate = { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } }, spec }
  const pod = await createPod('user', { ephemeral: { volumeClaimTemplate } })
  await settle()
  const made = await claim('user-data')
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'user', uid: pod.metadata.uid, controller: true, blockOwnerDeletion: true }
  expect(made).toMatchObject({ metadata: { labels: { a: 'b' }, annotations: { c: 'd' }, ownerReferences: [owner] }, spec })
  await claims.delete('user-data', { namespace: 'ephemeral' })
  await settle()
  const again = await claim('user-data')
  expect(again.metadata.uid).not.toBe(made.metadata.uid)
  expect(again.metadata.ownerReferences).toEqual([owner])
})
