import { type RunningServer, start, type VirtualClock, virtualClock } from 'orch'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { image, labels, oneSet, resource } from './one-set.ts'

const claimTemplate = {
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
}

const kind = { kind: 'StatefulSet', plural: 'statefulsets', name: 'db', spec: { replicas: 1, serviceName: 'svc' } }

/** A server for the tests of a group, which move its clock. */
function sharedServer(version: string) {
  let server: RunningServer
  let clock: VirtualClock
  beforeAll(async () => {
    clock = virtualClock({ start: new Date('2026-01-01T00:00:00Z') })
    server = await start({ clock, seed: 1, profile: 'kubernetes', controllers: ['*', 'workloads'], version })
  })
  afterAll(() => server?.stop())
  return async (namespace: string) => {
    const set = await oneSet(namespace, server, clock, kind)
    const claims = set.of('', 'persistentvolumeclaims')
    return {
      ...set,
      fail: (name: string) => set.end(name, 'Failed'),
      pod: async (name: string) => (await set.pods()).find(({ metadata }) => metadata.name === name),
      setFinalizers: (claim: string, finalizers: readonly string[]) =>
        claims.patch(claim, { metadata: { finalizers } }, { type: 'merge', namespace }),
      deleteClaim: (name: string) => claims.delete(name, { namespace }),
      claim: (name: string) => claims.get(name, { namespace }),
      claimNames: () => set.namesOf(claims),
      firstRevision: async () => (await set.revisions())[0]?.data,
      revisionNames: () => set.namesOf(set.of('apps', 'controllerrevisions')),
    }
  }
}

describe('at level 1.25', () => {
  const open = sharedServer('1.25')

  test('WL-STS-12, WL-STS-19, WL-HASH-18: names, labels and events are those of that release', async () => {
    const { createSet, settle, fail, pod, podNames, revisionNames, events } = await open('release')
    await createSet({})
    await settle()
    await fail('db-0')
    await settle()
    expect(await podNames()).toEqual(['db-0'])
    const [revision] = await revisionNames()
    expect((await pod('db-0'))?.metadata.labels).toEqual({
      ...labels,
      'controller-revision-hash': revision,
      'statefulset.kubernetes.io/pod-name': 'db-0',
    })
    expect(await events()).toEqual([
      'Normal SuccessfulCreate create Pod db-0 in StatefulSet db successful',
      'Normal SuccessfulDelete delete Pod db-0 in StatefulSet db successful',
      'Warning RecreatingFailedPod StatefulSet release/db is recreating failed Pod db-0',
    ])
  })

  test('WL-STS-06, WL-STS-07: a Pod gets its claim, and waits while an earlier claim is being deleted', async () => {
    const { createSet, settle, setFinalizers, deletePod, deleteClaim, podNames, claimNames, events } = await open('claims')
    await createSet({ volumeClaimTemplates: [claimTemplate] })
    await settle()
    expect([await podNames(), await claimNames()]).toEqual([['db-0'], ['data-db-0']])
    await setFinalizers('data-db-0', ['example.com/hold'])
    await deleteClaim('data-db-0')
    await deletePod('db-0')
    await settle()
    expect(await podNames()).toEqual([])
    expect(await events()).toContain('Warning FailedCreate create Pod db-0 in StatefulSet db failed error: pvc data-db-0 is being deleted')
    await setFinalizers('data-db-0', [])
    await settle('1m')
    expect([await podNames(), await claimNames()]).toEqual([['db-0'], ['data-db-0']])
  })
})

describe('at level 1.37', () => {
  const open = sharedServer('1.37')

  test('WL-STS-10: a Pod with a matching name and labels is adopted, gets its identity, and is replaced by the update', async () => {
    const { create, createSet, settle, makeReady, pod, events } = await open('adoption')
    const before = await create('v1', 'Pod', { name: 'db-0', labels }, { spec: image(0).spec })
    await makeReady('db-0')
    await createSet({})
    await settle()
    const after = await pod('db-0')
    expect(after?.metadata.uid).not.toBe(before.metadata.uid)
    expect(after?.metadata.labels).toMatchObject({ 'statefulset.kubernetes.io/pod-name': 'db-0' })
    expect(await events()).toEqual([
      'Normal SuccessfulCreate Create Pod db-0 in StatefulSet db successful',
      'Normal SuccessfulDelete Delete Pod db-0 in StatefulSet db successful',
      'Normal SuccessfulUpdate Update Pod db-0 in StatefulSet db successful',
    ])
  })

  test('WL-STS-13: a Pod of another owner with the name blocks the set without an event, and the set creates its Pod afterwards', async () => {
    const { create, createSet, settle, deletePod, pod, events, status } = await open('foreign')
    await create('v1', 'Pod', { name: 'db-0', labels: { app: 'other' } }, { spec: image(0).spec })
    await createSet({})
    await settle()
    expect([await events(), await status()]).toMatchObject([[], { replicas: 0 }])
    await deletePod('db-0')
    await settle()
    await settle()
    expect((await pod('db-0'))?.metadata.ownerReferences).toMatchObject([{ kind: 'StatefulSet', name: 'db', controller: true }])
  })

  test('WL-STS-25: a revision name used by other data is skipped and counted', async () => {
    const { createSet, settle, revisionNames, status } = await open('collision')
    await createSet({ replicas: 0 })
    await settle()
    const [name = ''] = await revisionNames()
    const other = await open('collision-again')
    await other.create('apps/v1', 'ControllerRevision', { name }, { data: { other: true }, revision: 1 })
    await other.createSet({ replicas: 0 })
    await settle()
    const names = await other.revisionNames()
    expect(names).toHaveLength(2)
    expect([await status(), await other.status()]).toMatchObject([
      { collisionCount: 0, updateRevision: name },
      { collisionCount: 1, updateRevision: names.find((one) => one !== name) },
    ])
  })

  test('WL-HASH-19: a revision of an earlier release with an equivalent template is kept', async () => {
    const first = await open('meaning')
    await first.createSet({ replicas: 0 })
    await first.settle()
    const template = (await first.firstRevision())?.spec.template
    const earlier = { spec: { template: { ...template, metadata: { ...template?.metadata, creationTimestamp: null } } } }
    const { create, createSet, settle, revisionNames, status } = await open('meaning-again')
    await create('apps/v1', 'ControllerRevision', { name: 'db-earlier', labels }, { data: earlier, revision: 7 })
    await createSet({ replicas: 0 })
    await settle()
    expect([await revisionNames(), await status()]).toMatchObject([['db-earlier'], { updateRevision: 'db-earlier' }])
  })

  test('WL-STS-37: with OnDelete a Pod gets the new revision when a user has deleted it', async () => {
    const { createSet, settle, makeReady, patchSet, deletePod, pod, status } = await open('on-delete')
    await createSet({ updateStrategy: { type: 'OnDelete' } })
    await settle()
    await makeReady('db-0')
    await patchSet({ template: image(2) })
    await settle()
    const before = await status()
    expect((await pod('db-0'))?.metadata.labels).toMatchObject({ 'controller-revision-hash': before?.['currentRevision'] })
    expect(before?.['updateRevision']).not.toBe(before?.['currentRevision'])
    await deletePod('db-0')
    await settle()
    expect((await pod('db-0'))?.metadata.labels).toMatchObject({ 'controller-revision-hash': before?.['updateRevision'] })
  })

  test('WL-STS-31: a broken update ends only when its Pod is deleted, even after the template is reverted', async () => {
    const { createSet, settle, makeReady, patchSet, deletePod, pod, revisionNames } = await open('broken')
    await createSet({})
    await settle()
    await makeReady('db-0')
    const [sound] = await revisionNames()
    await patchSet({ template: image(2) })
    await settle()
    await patchSet({ template: image(1) })
    await settle()
    const revisionOfPod = async () => (await pod('db-0'))?.metadata.labels?.['controller-revision-hash']
    expect((await revisionNames()).filter((name) => name !== sound)).toEqual([await revisionOfPod()])
    await deletePod('db-0')
    await settle()
    expect(await revisionOfPod()).toBe(sound)
  })

  test('WL-STS-28: an outdated Pod whose deletion is refused still counts for the current revision', async () => {
    const { create, createSet, settle, makeReady, patchSet, status } = await open('refused')
    await createSet()
    await settle()
    await makeReady('db-0')
    const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['pods'] }]
    const matchConstraints = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'refused' } }, resourceRules }
    const apiVersion = 'admissionregistration.k8s.io/v1'
    const metadata = { name: 'keep-pods' }
    await create(apiVersion, 'ValidatingAdmissionPolicy', metadata, { spec: { matchConstraints, validations: [{ expression: 'false' }] } })
    const spec = { policyName: 'keep-pods', validationActions: ['Deny'] }
    await create(apiVersion, 'ValidatingAdmissionPolicyBinding', metadata, { spec })
    await settle()
    await patchSet({ template: image(2) })
    await settle()
    expect(await status()).toMatchObject({ replicas: 1, currentReplicas: 1 })
    expect(await status()).not.toHaveProperty('updatedReplicas')
  })

  test('WL-STS-40, WL-STS-52: a set without its Service runs, and only a changed template creates a revision', async () => {
    const { createSet, settle, patchSet, podNames, revisionNames } = await open('one-revision')
    await createSet({ podManagementPolicy: 'Parallel' })
    await settle()
    const before = await revisionNames()
    const persistentVolumeClaimRetentionPolicy = { whenScaled: 'Delete', whenDeleted: 'Delete' }
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 1 } }
    await patchSet({ replicas: 2, minReadySeconds: 3, persistentVolumeClaimRetentionPolicy, updateStrategy })
    await settle()
    expect([before.length, await revisionNames(), await podNames()]).toEqual([1, before, ['db-0', 'db-1']])
  })

  test('WL-STS-11: a Pod of the set with a name of another set is released', async () => {
    const { create, createSet, settle, pod, podNames } = await open('other-name')
    const { uid } = (await createSet({})).metadata
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid, controller: true }]
    await create('v1', 'Pod', { name: 'db-x', labels, ownerReferences }, { spec: image(0).spec })
    await settle()
    expect([await podNames(), (await pod('db-x'))?.metadata.ownerReferences]).toEqual([['db-0', 'db-x'], undefined])
  })

  test('WL-STS-50: a set that waits for the end of its Pod keeps its status, and creates no revision', async () => {
    const { createSet, settle, makeReady, bind, deleteSet, deletePod, revisionNames, status, setNames } = await open('foreground')
    await createSet({})
    await settle()
    await bind('db-0')
    await makeReady('db-0')
    await settle()
    await deleteSet('Foreground')
    await settle()
    const found = await status()
    expect([found, found?.['updatedReplicas'], await revisionNames()]).toMatchObject([{ replicas: 1, readyReplicas: 1 }, undefined, []])
    await deletePod('db-0')
    await settle()
    expect(await setNames()).toEqual([])
  })

  test('WL-STS-17: with Parallel, a claim that is being deleted stops the Pods after its batch', async () => {
    const { createSet, settle, setFinalizers, deleteClaim, deletePod, podNames } = await open('batches')
    await createSet({ replicas: 5, podManagementPolicy: 'Parallel', volumeClaimTemplates: [claimTemplate] })
    await settle()
    await setFinalizers('data-db-1', ['example.com/hold'])
    await deleteClaim('data-db-1')
    for (const name of ['db-1', 'db-2', 'db-3']) await deletePod(name)
    await settle()
    expect(await podNames()).toEqual(['db-0', 'db-2', 'db-4'])
  })

  test('WL-STS-44: a set that is scaled up again waits for the deletion of the claim of its earlier Pod', async () => {
    const { createSet, settle, patchSet, setFinalizers, bind, deletePod, claim, podNames, events } = await open('stale')
    const persistentVolumeClaimRetentionPolicy = { whenScaled: 'Delete', whenDeleted: 'Retain' }
    await createSet({ volumeClaimTemplates: [claimTemplate], persistentVolumeClaimRetentionPolicy })
    await settle()
    await bind('db-0')
    const { uid } = (await claim('data-db-0')).metadata
    await setFinalizers('data-db-0', ['example.com/hold'])
    await patchSet({ replicas: 0 })
    await settle()
    expect((await claim('data-db-0')).metadata.ownerReferences).toMatchObject([{ kind: 'Pod', name: 'db-0' }])
    await deletePod('db-0')
    await settle()
    await patchSet({ replicas: 1 })
    await settle()
    expect([await podNames(), (await events()).filter((event) => event.startsWith('Warning'))]).toEqual([[], []])
    await setFinalizers('data-db-0', [])
    await settle()
    expect(await podNames()).toEqual(['db-0'])
    expect((await claim('data-db-0')).metadata.uid).not.toBe(uid)
  })
})

test('WL-STS-38: without its gate the strategy Recreate of a present set stops the set, with an event', async () => {
  const namespace = 'recreate'
  const clock = virtualClock({ start: new Date('2026-01-01T00:00:00Z') })
  const options = { clock, seed: 1, profile: 'kubernetes', controllers: ['*', 'workloads'], version: '1.37' } as const
  const gated = await start({ ...options, featureGates: ['StatefulSetRecreateStrategy=true'] })
  onTestFinished(() => gated.stop())
  const { createSet, settle, podNames } = await oneSet(namespace, gated, clock, kind)
  await createSet({ updateStrategy: { type: 'Recreate' } })
  await settle()
  expect(await podNames()).toEqual(['db-0'])
  const later = virtualClock({ start: new Date(clock.now()) })
  const ungated = await gated.fork({ clock: later, featureGates: ['StatefulSetRecreateStrategy=false'] })
  onTestFinished(() => ungated.stop())
  const pods = ungated.client.resource(resource('', 'pods'))
  await pods.delete('db-0', { namespace }, { gracePeriodSeconds: 0 })
  await later.advance('2s')
  expect((await pods.list({ namespace })).items).toEqual([])
  const events = (await ungated.client.resource(resource('', 'events')).list({ namespace })).items
  const message = 'statefulset recreate/db uses Recreate strategy but feature gate StatefulSetRecreateStrategy is disabled'
  expect(events).toContainEqual(expect.objectContaining({ type: 'Warning', reason: 'UnknownStrategy', message }))
})
