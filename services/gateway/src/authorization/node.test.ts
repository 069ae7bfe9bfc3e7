import type { User } from '@orch/core/contracts'
import { namesOf } from '@orch/core/names'
import { createMetrics, silentLog } from '@orch/platform'
import { createFakeClock, createTinyStorage } from '@orch/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type AuthorizationMetrics, createAuthorizationMetrics } from './authorization-metrics.ts'
import type { Access } from './authorizer.ts'
import { openNodeAuthorizer } from './node.ts'

const podOfN1 = {
  nodeName: 'n1',
  serviceAccountName: 'runner',
  imagePullSecrets: [{ name: 'own' }],
  containers: [{ envFrom: [{ configMapRef: { name: 'own' } }] }],
  volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'own' } }],
  resourceClaims: [
    { name: 'r', resourceClaimName: 'own' },
    { name: 't', resourceClaimTemplateName: 't' },
  ],
}
const statusOfP = { resourceClaimStatuses: [{ name: 't', resourceClaimName: 'made' }] }

/** The decisions of the node authorizer with one pod of n1 with its claim, volume and attachment. */
async function aNodeAuthorizer({ counted, level = 25 }: { counted?: AuthorizationMetrics; level?: number } = {}) {
  const storage = createTinyStorage()
  const object = (kind: string, spec: object) => ({ kind, apiVersion: 'v1', spec })
  storage.put({ resource: 'core/pods', namespace: 'n', name: 'p', object: { ...object('Pod', podOfN1), status: statusOfP } })
  const claimRef = { namespace: 'n', name: 'own' }
  storage.put({ resource: 'core/persistentvolumes', name: 'own', object: object('PersistentVolume', { claimRef }) })
  const [slice, request] = [object('ResourceSlice', { nodeName: 'n1' }), object('PodCertificateRequest', { nodeName: 'n1' })]
  storage.put({ resource: 'resource.orch.io/resourceslices', name: 'own', object: { ...slice, apiVersion: 'resource.orch.io/v1' } })
  const certificates = { ...request, apiVersion: 'certificates.orch.io/v1beta1' }
  storage.put({ resource: 'certificates.orch.io/podcertificaterequests', namespace: 'n', name: 'own', object: certificates })
  const attachment = { ...object('VolumeAttachment', { nodeName: 'n1' }), apiVersion: 'storage.orch.io/v1' }
  storage.put({ resource: 'storage.orch.io/volumeattachments', name: 'own', object: attachment })
  const authorizer = openNodeAuthorizer({
    storage,
    names: namesOf('orch'),
    level,
    clock: createFakeClock(),
    log: silentLog,
    random: () => 0,
    counted,
  })
  onTestFinished(() => authorizer.close())
  await authorizer.load()
  await authorizer.load()
  return { storage, authorizer }
}

const aUser = (name: string, ...groups: string[]): User => ({ name, groups, uid: '', extra: {} })
const n1 = aUser('system:node:n1', 'system:authenticated', 'system:nodes')
const n2 = aUser('system:node:n2', 'system:nodes')
const anAccess = (given: object): Access =>
  ({ ...{ kind: 'resource', verb: 'get', group: '', version: 'v1', namespace: 'n', subresource: '', name: 'own' }, ...given }) as Access

const storageGroup = 'storage.orch.io'
const lease = { group: 'coordination.orch.io', resource: 'leases', namespace: 'orch-node-lease', name: 'n1' }
const csiNode = { group: storageGroup, resource: 'csinodes', namespace: '', name: 'n1' }
const readOnly = 'can only read resources of this type'
const getOnly = 'can only get individual resources of this type'
const leaseVerbs = 'can only get, create, update, patch, or delete a node lease'
const csiNodeVerbs = 'can only get, create, update, patch, or delete a CSINode'
const unrelated = "no relationship found between node 'n1' and this object"
const account = { resource: 'serviceaccounts', subresource: 'token', verb: 'create', name: 'runner' }

const podsBySelector = 'can only list/watch pods with spec.nodeName field selector'
const selecting = (field: string) => ({ resource: 'pods', name: '', selectors: { field, label: '' } })

test('changes of the graph are counted by type', async () => {
  const metrics = createMetrics({ process: false })
  const { storage } = await aNodeAuthorizer({ counted: createAuthorizationMetrics(metrics) })
  storage.remove('core/pods', 'p', 'n')
  const count = /^node_authorizer_graph_actions_duration_seconds_count\{operation="(\w+)"\} (\d+)/gm
  const counts = async () =>
    Object.fromEntries([...(await metrics.text()).matchAll(count)].map(([, operation, times]) => [operation, times]))
  await expect.poll(counts).toEqual({ AddPod: '1', AddPV: '1', AddVolumeAttachment: '1', DeletePod: '1' })
})

describe('AZC-16: a node', () => {
  test.each<[object, string]>([
    ...['list', 'watch'].flatMap((verb): [object, string][] => [
      [{ ...selecting('spec.nodeName=n1'), verb }, 'allow'],
      [{ ...selecting('status.phase!=Failed,spec.nodeName==n1'), verb, namespace: '' }, 'allow'],
      [{ ...selecting('spec.nodeName=n2'), verb }, podsBySelector],
      [{ ...selecting('spec.nodeName!=n1'), verb }, podsBySelector],
      [{ ...selecting('spec.nodeName'), verb }, podsBySelector],
      [{ resource: 'pods', name: '', verb }, podsBySelector],
      [{ resource: 'pods', name: 'p', verb }, 'allow'],
      [{ resource: 'pods', name: 'other', verb }, unrelated],
    ]),
    [{ resource: 'pods', name: 'p' }, 'allow'],
    [{ resource: 'pods', name: 'other' }, unrelated],
    [{ resource: 'pods', name: 'p', subresource: 'log' }, ''],
    [{ resource: 'pods', name: '', verb: 'create' }, 'allow'],
    [{ resource: 'pods', name: 'other', verb: 'delete' }, 'allow'],
    [{ resource: 'pods', name: '', verb: 'deletecollection' }, ''],
    [{ resource: 'pods', subresource: 'eviction', verb: 'create' }, 'allow'],
    [{ resource: 'nodes', namespace: '', name: 'n1' }, 'allow'],
    [{ resource: 'nodes', namespace: '', name: 'n1', verb: 'watch' }, 'allow'],
    [{ resource: 'nodes', namespace: '', name: '', verb: 'list' }, "node 'n1' cannot read all nodes, only its own Node object"],
    [{ resource: 'nodes', namespace: '', name: 'n2' }, "node 'n1' cannot read 'n2', only its own Node object"],
    [{ resource: 'nodes', namespace: '', name: '', verb: 'create' }, 'allow'],
    [{ resource: 'nodes', namespace: '', name: 'n1', verb: 'patch', subresource: 'status' }, 'allow'],
    [{ resource: 'nodes', namespace: '', name: 'n1', verb: 'delete' }, ''],
    [{ resource: 'nodes', namespace: '', name: 'n1', subresource: 'proxy' }, ''],
  ])('asks for %j and gets: %s', async (asked, expected) => {
    const { authorizer } = await aNodeAuthorizer()
    expect(authorizer.authorize(n1, anAccess(asked))).toEqual(
      expected === 'allow' ? { kind: 'allow', reason: '' } : { kind: 'noOpinion', reason: expected },
    )
  })
})

const slices = { group: 'resource.orch.io', resource: 'resourceslices', namespace: '' }
const claims = { group: 'resource.orch.io', resource: 'resourceclaims' }
const requests = { group: 'certificates.orch.io', resource: 'podcertificaterequests' }
const slicesBySelector = 'can only list/watch/deletecollection resourceslices with nodeName field selector'
const requestsBySelector = 'can only list/watch podcertificaterequests with nodeName field selector'
const ofNode = (name: string) => ({ name: '', selectors: { field: `spec.nodeName=${name}`, label: '' } })

describe('AUTHZ-07: at 1.37 a node', () => {
  test.each<[object, string]>([
    ...['get', 'update', 'patch', 'delete'].flatMap((verb): [object, string][] => [
      [{ ...slices, verb }, 'allow'],
      [{ ...slices, verb, name: 'others' }, unrelated],
    ]),
    [{ ...slices, verb: 'create', name: '' }, 'allow'],
    [{ ...account, subresource: '', verb: 'get' }, 'allow'],
    [{ ...account, subresource: '', verb: 'get', name: 'other' }, unrelated],
    [{ ...account, subresource: '', verb: 'list', name: '' }, 'can only create tokens for individual service accounts'],
    ...['list', 'watch', 'deletecollection'].flatMap((verb): [object, string][] => [
      [{ ...slices, verb, ...ofNode('n1') }, 'allow'],
      [{ ...slices, verb, ...ofNode('n2') }, slicesBySelector],
      [{ ...slices, verb, name: '' }, slicesBySelector],
    ]),
    [{ ...slices, subresource: 'status' }, 'cannot authorize ResourceSlice subresources'],
    [claims, 'allow'],
    [{ ...claims, name: 'made' }, 'allow'],
    [{ ...claims, name: 'others' }, unrelated],
    [{ ...claims, verb: 'list' }, getOnly],
    [requests, 'allow'],
    [{ ...requests, name: 'others' }, unrelated],
    [{ ...requests, verb: 'create', name: '' }, 'allow'],
    [{ ...requests, verb: 'list', ...ofNode('n1') }, 'allow'],
    [{ ...requests, verb: 'watch', ...ofNode('n2') }, requestsBySelector],
    [{ ...requests, verb: 'delete' }, 'nodes may not delete podcertificaterequests'],
    [{ ...requests, verb: 'update', subresource: 'status' }, 'nodes may not access the status subresource of PodCertificateRequests'],
  ])('asks for %j and gets: %s', async (asked, expected) => {
    const { authorizer } = await aNodeAuthorizer({ level: 37 })
    expect(authorizer.authorize(n1, anAccess(asked))).toEqual(
      expected === 'allow' ? { kind: 'allow', reason: '' } : { kind: 'noOpinion', reason: expected },
    )
  })

  test.each([slices, claims, requests])('has no rights to %j at 1.25', async (asked) => {
    const { authorizer } = await aNodeAuthorizer()
    expect(authorizer.authorize(n1, anAccess(asked))).toEqual({ kind: 'noOpinion', reason: '' })
  })
})

describe('AUTHZ-07: a node', () => {
  test.each<[object, string]>([
    ...['secrets', 'configmaps'].flatMap((resource): [object, string][] => [
      [{ resource }, 'allow'],
      [{ resource, verb: 'list' }, 'allow'],
      [{ resource, verb: 'watch' }, 'allow'],
      [{ resource, verb: 'update' }, readOnly],
      [{ resource, subresource: 'status' }, 'cannot read subresource'],
      [{ resource, namespace: '' }, 'can only read namespaced object of this type'],
      [{ resource, namespace: 'other' }, unrelated],
      [{ resource, name: 'others' }, unrelated],
      [{ resource, name: '' }, 'No Object name found'],
      [{ resource, group: 'apps' }, ''],
    ]),
    [{ resource: 'persistentvolumeclaims' }, 'allow'],
    [{ resource: 'persistentvolumeclaims', verb: 'list' }, getOnly],
    [{ resource: 'persistentvolumeclaims', verb: 'update' }, getOnly],
    [{ resource: 'persistentvolumeclaims', subresource: 'other' }, 'cannot get subresource'],
    [{ resource: 'persistentvolumeclaims', subresource: 'status', verb: 'update' }, 'allow'],
    [{ resource: 'persistentvolumeclaims', subresource: 'status', verb: 'patch' }, 'allow'],
    [{ resource: 'persistentvolumeclaims', subresource: 'status', verb: 'get' }, 'can only get/update/patch this type'],
    [{ resource: 'persistentvolumeclaims', subresource: 'status', verb: 'update', name: 'others' }, unrelated],
    [{ resource: 'persistentvolumes', namespace: '' }, 'allow'],
    [{ resource: 'persistentvolumes', namespace: '', verb: 'delete' }, getOnly],
    [{ resource: 'volumeattachments', group: storageGroup, namespace: '' }, 'allow'],
    [{ resource: 'volumeattachments', group: storageGroup, namespace: '', name: 'others' }, unrelated],
    [{ resource: 'volumeattachments', group: storageGroup, namespace: '', verb: 'list' }, getOnly],
    [account, 'allow'],
    [{ ...account, name: 'others' }, unrelated],
    [{ ...account, namespace: 'other' }, unrelated],
    [{ ...account, name: '' }, 'can only create tokens for individual service accounts'],
    [{ ...account, verb: 'update' }, 'can only create tokens for individual service accounts'],
    [{ ...account, subresource: '' }, 'can only create token subresource of serviceaccount'],
    ...['get', 'create', 'update', 'patch', 'delete'].flatMap((verb): [object, string][] => [
      [{ ...lease, verb }, 'allow'],
      [{ ...csiNode, verb }, 'allow'],
    ]),
    [{ ...lease, verb: 'list' }, leaseVerbs],
    [{ ...lease, verb: 'deletecollection' }, leaseVerbs],
    [{ ...lease, namespace: 'n' }, 'can only access leases in the "orch-node-lease" system namespace'],
    [{ ...lease, verb: 'create', name: '' }, 'allow'],
    [{ ...lease, name: 'n2' }, 'can only access node lease with the same name as the requesting node'],
    [{ ...csiNode, verb: 'list' }, csiNodeVerbs],
    [{ ...csiNode, subresource: 'status' }, 'cannot authorize CSINode subresources'],
    [{ ...csiNode, verb: 'create', name: '' }, 'allow'],
    [{ ...csiNode, name: 'n2' }, 'can only access CSINode with the same name as the requesting node'],
    [{ resource: 'services', verb: 'list', name: '' }, 'allow'],
    [{ resource: 'pods', subresource: 'status', verb: 'patch' }, 'allow'],
    [{ resource: 'services', verb: 'create', name: '' }, ''],
  ])('asks for %j and gets: %s', async (asked, expected) => {
    const { authorizer } = await aNodeAuthorizer()
    expect(authorizer.authorize(n1, anAccess(asked))).toEqual(
      expected === 'allow' ? { kind: 'allow', reason: '' } : { kind: 'noOpinion', reason: expected },
    )
  })

  test('gets no object that only another node needs, and no object of a deleted pod', async () => {
    const { authorizer, storage } = await aNodeAuthorizer()
    for (const resource of ['secrets', 'configmaps', 'persistentvolumeclaims'])
      expect(authorizer.authorize(n2, anAccess({ resource }))).toMatchObject({ kind: 'noOpinion' })
    expect(authorizer.authorize(n2, anAccess(account))).toMatchObject({ kind: 'noOpinion' })
    storage.remove('core/pods', 'p', 'n')
    // The change only waits for its turn.
    await new Promise((resolve) => setImmediate(resolve))
    expect(authorizer.authorize(n1, anAccess({ resource: 'secrets' }))).toMatchObject({ reason: unrelated })
    expect(authorizer.authorize(n1, anAccess({ resource: 'persistentvolumes', namespace: '' }))).toMatchObject({ reason: unrelated })
  })

  test.each([
    ['another group', aUser('system:node:n1', 'system:authenticated')],
    ['another name', aUser('n1', 'system:nodes')],
    ['the prefix within the name', aUser('x:system:node:n1', 'system:nodes')],
  ])('is not a user with %s', async (_name, user) => {
    const { authorizer } = await aNodeAuthorizer()
    expect(authorizer.authorize(user, anAccess({ resource: 'secrets' }))).toEqual({ kind: 'noOpinion', reason: '' })
    expect(authorizer.rulesOf(user, 'n')).toEqual({ rules: [] })
  })

  test('without a name is unknown', async () => {
    const { authorizer } = await aNodeAuthorizer()
    expect(authorizer.authorize(aUser('system:node:', 'system:nodes'), anAccess({ resource: 'services' }))).toEqual({
      kind: 'noOpinion',
      reason: 'unknown node for user "system:node:"',
    })
  })

  test('has access to no path, and its rules cannot be listed', async () => {
    const { authorizer } = await aNodeAuthorizer()
    expect(authorizer.authorize(n1, { kind: 'path', verb: 'get', path: '/metrics' })).toEqual({ kind: 'noOpinion', reason: '' })
    expect(authorizer.rulesOf(n1, 'n')).toEqual({
      rules: [],
      isIncomplete: true,
      error: 'node authorizer does not support user rule resolution',
    })
  })

  test('loses its updates from storage when the authorizer closes', async () => {
    const { authorizer, storage } = await aNodeAuthorizer()
    expect(storage.followers).toBe(3)
    authorizer.close()
    expect(storage.followers).toBe(0)
  })
})
