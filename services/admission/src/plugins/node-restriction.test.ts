import { createCatalogue } from '@orch/core/catalogue'
import type { Attributes } from '@orch/core/contracts'
import { gateOf } from '@orch/core/feature-gates'
import { createFakeClock, createTinyStorage, someAttributes } from '@orch/testkit'
import { expect, test } from 'vitest'
import type { PluginNeeds } from '../plugin.ts'
import { inquiry, pluginNeeds } from '../plugin-testing.ts'
import { nodeRestriction } from './node-restriction.ts'

const catalogue = createCatalogue('orch', { minor: 37, isGateOn: (name) => gateOf(name, 37)?.isOnByDefault === true })

const pod = (labels: Record<string, string> = {}, nodeName = 'n') => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'a', labels },
  spec: { nodeName },
  status: {},
})

/** The refusal for a node; undefined if allowed. `stored` is the object for any key, or a function. */
async function refusalOf(attributes: Partial<Attributes>, stored?: unknown, isAllowed?: boolean): Promise<string | undefined> {
  const tiny = createTinyStorage()
  const entryOf = (object: unknown) => {
    return { key: '', revision: 7, value: Buffer.from(JSON.stringify(object)), metadataStart: 0, metadataEnd: 0, writeId: '' }
  }
  const at = typeof stored === 'function' ? stored : () => stored
  const storage: PluginNeeds['storage'] =
    stored === undefined ? tiny : { ...tiny, get: async ({ key }) => ({ entry: entryOf(at(key)), revision: 7, epoch: tiny.epoch }) }
  const plugin = nodeRestriction(pluginNeeds({ storage, clock: createFakeClock(), catalogue }))
  const verdict = await plugin.mutate?.(
    someAttributes({
      operation: 'UPDATE',
      kind: 'Pod',
      resource: 'pods',
      object: undefined,
      user: { name: 'system:node:n', uid: '', groups: ['system:nodes'], extra: {} },
      ...attributes,
    }),
    isAllowed === undefined ? inquiry : { ...inquiry, decisionOn: (access) => ({ access, isAllowed, reason: '' }) },
  )
  return verdict?.kind === 'denied' ? verdict.error.status.message : undefined
}

test.each<readonly [string, Partial<Attributes>, unknown, string | undefined]>([
  [
    'labels through the status',
    { subresource: 'status', oldObject: pod(), object: pod({ a: 'b' }) },
    undefined,
    'pods "a" is forbidden: node "n" cannot update labels through pod status',
  ],
  [
    'the claims in a status',
    { subresource: 'status', oldObject: pod(), object: { ...pod(), status: { resourceClaimStatuses: [{ name: 'c' }] } } },
    undefined,
    'pods "a" is forbidden: node "n" cannot update resource claim statues',
  ],
  [
    'the claim for extended resources in a status',
    { subresource: 'status', oldObject: pod(), object: { ...pod(), status: { extendedResourceClaimStatus: { resourceClaimName: 'c' } } } },
    undefined,
    'pods "a" is forbidden: node "n" cannot update extended resource claim status',
  ],
  ['a status without other labels', { subresource: 'status', oldObject: pod(), object: pod() }, undefined, undefined],
  ['an eviction of its pod', { operation: 'CREATE', subresource: 'eviction', object: { metadata: {} } }, pod(), undefined],
  [
    'an eviction of a pod elsewhere',
    { operation: 'CREATE', subresource: 'eviction', object: { metadata: {} } },
    pod({}, 'm'),
    'pods "a" is forbidden: node n can only evict pods with spec.nodeName set to itself',
  ],
  ['an eviction of no pod', { operation: 'CREATE', subresource: 'eviction', object: { metadata: {} } }, undefined, 'pods "a" not found'],
  [
    'an eviction without a name',
    { operation: 'CREATE', subresource: 'eviction', name: '', object: { metadata: {} } },
    undefined,
    'pods "Unknown" is forbidden: could not determine pod from request data',
  ],
  [
    'another subresource',
    { operation: 'CREATE', subresource: 'binding', object: {} },
    undefined,
    `pods "a" is forbidden: unexpected pod subresource "binding", only 'status' and 'eviction' are allowed`,
  ],
])('the request of a node for %s is checked', async (_title, attributes, stored, message) => {
  expect(await refusalOf(attributes, stored)).toBe(message)
})

test('a user is a node only by its name and its group together', async () => {
  const attributes = { subresource: 'status', oldObject: pod({}, 'm'), object: pod({}, 'm') }
  const user = { uid: '', extra: {} }
  expect(await refusalOf({ ...attributes, user: { ...user, name: 'ann', groups: ['system:nodes'] } })).toBeUndefined()
  expect(await refusalOf({ ...attributes, user: { ...user, name: 'system:node:n', groups: [] } })).toBeUndefined()
})

const slice = { group: 'resource.orch.io', version: 'v1', kind: 'ResourceSlice', resource: 'resourceslices', namespace: '', name: 's' }
const sliceOf = (nodeName?: string) => ({
  kind: 'ResourceSlice',
  apiVersion: 'resource.orch.io/v1',
  metadata: { name: 's' },
  spec: { nodeName },
})

test.each([
  ['creates a slice of its own', { ...slice, operation: 'CREATE', object: sliceOf('n') }, undefined],
  [
    'creates no slice of another node',
    { ...slice, operation: 'CREATE', object: sliceOf('m') },
    'resourceslices.resource.orch.io "s" is forbidden: can only create ResourceSlice with the same NodeName as the requesting node',
  ],
  [
    'deletes no slice of several nodes',
    { ...slice, operation: 'DELETE', oldObject: sliceOf() },
    'resourceslices.resource.orch.io "s" is forbidden: can only delete ResourceSlice with the same NodeName as the requesting node',
  ],
  ['changes the slices that the authorizer lets it change', { ...slice, operation: 'UPDATE', object: sliceOf('m') }, undefined],
])('a node %s', async (_name, attributes, expected) => {
  expect(await refusalOf(attributes)).toBe(expected)
})

const request = {
  ...{ operation: 'CREATE', group: 'certificates.orch.io', version: 'v1', kind: 'PodCertificateRequest' },
  ...{ resource: 'podcertificaterequests', name: 'r' },
}
const named = { signerName: 'a.example.com/s', podName: 'p', nodeName: 'n', serviceAccountName: 'sa' }
const uids = { podUID: 'u', nodeUID: 'u', serviceAccountUID: 'u' }
const requestOf = (spec: object = {}) => ({
  ...{ kind: 'PodCertificateRequest', apiVersion: 'certificates.orch.io/v1', metadata: { name: 'r' } },
  spec: { ...named, ...uids, ...spec },
})
const kinds: Readonly<Record<string, string>> = { pods: 'Pod', nodes: 'Node', serviceaccounts: 'ServiceAccount' }
/** The Pod, its node and its account, all with one uid. */
const everything =
  (signerName = 'a.example.com/s', more: object = {}) =>
  (key: string) => ({
    ...{ kind: kinds[key.split('/')[1] ?? ''], apiVersion: 'v1', metadata: { name: 'p', uid: 'u', ...more } },
    spec: {
      nodeName: 'n',
      serviceAccountName: 'sa',
      volumes: [{ name: 'v', projected: { sources: [{ podCertificate: { signerName } }] } }],
    },
  })
const refused = 'podcertificaterequests.certificates.orch.io "r" is forbidden: '

test.each([
  ['asks for a certificate that its Pod has a volume for', requestOf(), everything(), false, undefined],
  [
    'asks no signer that its Pod does not name',
    requestOf(),
    everything('other.example.com/s'),
    false,
    `${refused}pod "team/p" does not mount a podCertificate projected volume for signer "a.example.com/s"`,
  ],
  ['asks any signer with the right to', requestOf(), everything('other.example.com/s'), true, undefined],
  [
    'asks in no name but its own',
    requestOf({ nodeName: 'm' }),
    everything(),
    false,
    `${refused}PodCertificateRequest.Spec.NodeName="m", which is not the requesting node "n"`,
  ],
  [
    'asks for the account that its Pod has',
    requestOf({ serviceAccountName: 'other' }),
    everything(),
    false,
    `${refused}PodCertificateRequest for pod "team/p" contains serviceAccountName ("other") that differs from running pod ("sa")`,
  ],
  [
    'asks for no mirror Pod',
    requestOf(),
    everything('a.example.com/s', { annotations: { 'orch.io/config.mirror': 'x' } }),
    false,
    `${refused}pod "team/p" is a mirror pod`,
  ],
])('a node %s', async (_name, object, stored, isAllowed, expected) => {
  expect(await refusalOf({ ...request, object }, stored, isAllowed)).toBe(expected)
})

test('a request with another uid of the node’s Pod fails, and may be retried', async () => {
  await expect(refusalOf({ ...request, object: requestOf({ podUID: 'w' }) }, everything(), false)).rejects.toThrow(
    'PodCertificateRequest for pod "team/p" contains pod UID ("w") which differs from running pod "u"',
  )
})

test('a node neither changes nor approves its certificate signing requests', async () => {
  expect(await refusalOf({ ...request, operation: 'UPDATE', object: requestOf() }, everything(), false)).toBe(
    `${refused}unexpected operation UPDATE`,
  )
  expect(await refusalOf({ ...request, subresource: 'status', object: requestOf() }, everything(), false)).toBe(
    `${refused}unexpected subresource status`,
  )
})

const volumes = [
  { name: 'own', projected: { sources: [{ serviceAccountToken: { audience: 'projected', path: 't' } }] } },
  { name: 'inline', csi: { driver: 'a.example.com' } },
  { name: 'claimed', persistentVolumeClaim: { claimName: 'c' } },
  { name: 'scratch', ephemeral: { volumeClaimTemplate: { spec: {} } } },
]
/** A Pod with these volumes; claim c has a volume of a former built-in plugin, the Pod's own claim one of a driver. */
const storedFor = (podVolumes: readonly object[]) => (key: string) => {
  const name = key.split('/').at(-1)
  const objects: Readonly<Record<string, object>> = {
    pods: { kind: 'Pod', spec: { nodeName: 'n', volumes: podVolumes } },
    persistentvolumeclaims: { kind: 'PersistentVolumeClaim', spec: { volumeName: name } },
    persistentvolumes: {
      kind: 'PersistentVolume',
      spec: name === 'c' ? { awsElasticBlockStore: { volumeID: 'v' } } : { csi: { driver: 'b.example.com' } },
    },
    csidrivers: { kind: 'CSIDriver', apiVersion: 'storage.orch.io/v1', spec: { tokenRequests: [{ audience: `of ${name}` }] } },
  }
  return { apiVersion: 'v1', metadata: { name, uid: 'u' }, ...objects[key.split('/')[1] ?? ''] }
}
const tokenFor = (...audiences: readonly string[]): Partial<Attributes> => ({
  ...{ operation: 'CREATE', resource: 'serviceaccounts', subresource: 'token', kind: 'TokenRequest', name: 'sa' },
  object: {
    ...{ kind: 'TokenRequest', apiVersion: 'authentication.orch.io/v1' },
    spec: { audiences, boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' } },
  },
})
const refusedAudience = (audience: string) =>
  `serviceaccounts "sa" is forbidden: system:node:n is not authorized to request tokens for audience "${audience}"`

test.each([
  ['that a projected volume names', tokenFor('projected'), volumes, undefined],
  ['that the driver of an inline volume names', tokenFor('of a.example.com'), volumes, undefined],
  ['that the driver in place of a built-in plugin names', tokenFor('of ebs.csi.aws.com'), volumes, undefined],
  ['that the driver of an ephemeral volume names', tokenFor('of b.example.com'), volumes, undefined],
  ['of another name', tokenFor('other'), volumes, refusedAudience('other')],
  ['of the server, of which no volume is', tokenFor(), volumes, refusedAudience('')],
  ['of the server', tokenFor(), [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }], undefined],
  [
    'beside a second one',
    tokenFor('projected', 'other'),
    volumes,
    'serviceaccounts "sa" is forbidden: node may only request 0 or 1 audiences',
  ],
])('a token for an audience %s is checked by the volumes of the node’s Pod', async (_title, attributes, podVolumes, expected) => {
  expect(await refusalOf(attributes, storedFor(podVolumes), false)).toBe(expected)
})

test('a node with the permission requests tokens for any audience', async () => {
  expect(await refusalOf(tokenFor('other'), storedFor(volumes), true)).toBeUndefined()
})
