import { describe, expect, test } from 'vitest'
import { type Answer, type Api, aName, created, sharedApi } from '../api/api.ts'

const flags = ['--authorization-mode=AlwaysAllow', '--enable-admission-plugins=NodeRestriction']
const shared = sharedApi({ flags, controllers: ['-*'] })

/** A request of a node's kubelet. */
function asNode(api: Api, node: string, method: string, target: string, body?: unknown, contentType = 'application/json'): Promise<Answer> {
  const headers = { 'impersonate-user': `system:node:${node}`, 'impersonate-group': 'system:nodes', 'content-type': contentType }
  return api.send(method, target, { headers, body })
}

const merge = 'application/merge-patch+json'
const nodes = '/api/v1/nodes'
const pods = '/api/v1/namespaces/default/pods'
const aNode = (name: string, more: object = {}) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name, ...more } })

/** A new node that registers itself. */
async function registered(): Promise<{ readonly name: string; readonly uid: string }> {
  const name = aName('node')
  const { status, body, text } = await asNode(shared.api, name, 'POST', nodes, aNode(name))
  if (status !== 201) throw new Error(text)
  return { name, uid: body.metadata.uid }
}

async function aPodOn(node: string, more: object = {}): Promise<{ readonly name: string; readonly uid: string }> {
  await shared.api.post('/api/v1/namespaces/default/serviceaccounts', {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'default' },
  })
  const name = aName('pod')
  const spec = { nodeName: node, serviceAccountName: 'default', containers: [{ name: 'a', image: 'i:1' }] }
  const { metadata } = await created(shared.api, pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec, ...more })
  return { name, uid: metadata.uid }
}

describe('nodes', () => {
  test('a node registers itself, with permitted labels', async () => {
    const name = aName('node')
    const labels = {
      'orch.io/hostname': 'h',
      'node.orch.io/instance-type': 't',
      'topology.orch.io/zone': 'z',
      'kubelet.orch.io/x': 'y',
      'example.com/any': 'a',
      plain: 'p',
    }
    expect((await asNode(shared.api, name, 'POST', nodes, aNode(name, { labels }))).status).toBe(201)
  })

  test('a node may not set labels that select workloads', async () => {
    const name = aName('node')
    const labels = { 'node-restriction.orch.io/team': 'a', 'x.node-restriction.orch.io/team': 'a', 'role.orch.io/master': '' }
    const answer = await asNode(shared.api, name, 'POST', nodes, aNode(name, { labels }))
    expect(answer.status).toBe(403)
    expect(answer.body.message).toBe(
      `nodes "${name}" is forbidden: node "${name}" is not allowed to set the following labels: ` +
        'node-restriction.orch.io/team, role.orch.io/master, x.node-restriction.orch.io/team',
    )
  })

  test('a node may not change another node', async () => {
    const { name } = await registered()
    const answer = await asNode(shared.api, 'other', 'PATCH', `${nodes}/${name}`, { metadata: { labels: { a: 'b' } } }, merge)
    expect(answer.body.message).toBe(`nodes "${name}" is forbidden: node "other" is not allowed to modify node "${name}"`)
  })

  test.each([
    [{ spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } }, (name: string) => `node "${name}" is not allowed to modify taints`],
    [{ metadata: { labels: { 'x.orch.io/a': 'b' } } }, () => 'is not allowed to modify labels: x.orch.io/a'],
    [
      { spec: { configSource: { configMap: { name: 'a', namespace: 'b', kubeletConfigKey: 'k' } } } },
      (name: string) => `node "${name}" is not allowed to update configSource to a new non-nil configSource`,
    ],
  ])('a node may not set %j on itself', async (patch, why) => {
    const { name } = await registered()
    const answer = await asNode(shared.api, name, 'PATCH', `${nodes}/${name}`, patch, merge)
    expect(answer.status).toBe(403)
    expect(answer.body.message).toBe(`nodes "${name}" is forbidden: ${why(name)}`)
  })

  test('a node writes its status', async () => {
    const { name } = await registered()
    const patch = { status: { conditions: [{ type: 'Ready', status: 'True' }] } }
    expect((await asNode(shared.api, name, 'PATCH', `${nodes}/${name}/status`, patch, merge)).status).toBe(200)
  })

  test('a node without a name has no rights, and another user is not checked', async () => {
    const { name } = await registered()
    const answer = await asNode(shared.api, '', 'PATCH', `${nodes}/${name}`, { metadata: { labels: { a: 'b' } } }, merge)
    expect(answer.body.message).toContain('could not determine node from user "system:node:"')
    // With `group`, the user has this group and not the group of nodes.
    const headers = { 'impersonate-user': 'system:node:x', 'impersonate-group': 'system:authenticated', 'content-type': merge }
    const other = await shared.api.send('PATCH', `${nodes}/${name}`, { headers, body: { metadata: { labels: { a: 'b' } } } })
    expect(other.status).toBe(200)
  })
})

describe('pods', () => {
  const mirror = { 'orch.io/config.mirror': 'x' }
  const owner = (name: string, uid: string, more: object = {}) => ({ apiVersion: 'v1', kind: 'Node', name, uid, controller: true, ...more })
  const container = { name: 'a', image: 'i:1' }

  interface MirrorFields {
    readonly metadata?: object
    readonly spec?: object
  }

  async function postMirror(
    fields: (name: string, uid: string) => MirrorFields,
  ): Promise<{ answer: Answer; name: string; uid: string; pod: string }> {
    const { name, uid } = await registered()
    const pod = aName('mirror')
    const { metadata, spec } = fields(name, uid)
    const object = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: pod, annotations: mirror, ownerReferences: [owner(name, uid)], ...metadata },
      spec: { nodeName: name, containers: [container], ...spec },
    }
    return { answer: await asNode(shared.api, name, 'POST', pods, object), name, uid, pod }
  }

  test('a node creates the mirror pods of its files, and deletes them', async () => {
    const { answer, name, pod } = await postMirror(() => ({}))
    expect(answer.status).toBe(201)
    const refused = await asNode(shared.api, 'other', 'DELETE', `${pods}/${pod}`)
    expect(refused.body.message).toBe(`pods "${pod}" is forbidden: node "other" can only delete pods with spec.nodeName set to itself`)
    expect((await asNode(shared.api, name, 'DELETE', `${pods}/${pod}`)).status).toBe(200)
  })

  test.each<readonly [string, (name: string, uid: string) => MirrorFields, string]>([
    [
      'no mirror',
      () => ({ metadata: { annotations: {} } }),
      'pod does not have "orch.io/config.mirror" annotation, node "NODE" can only create mirror pods',
    ],
    ['bound to another', () => ({ spec: { nodeName: 'other' } }), 'node "NODE" can only create pods with spec.nodeName set to itself'],
    ["nobody's", () => ({ metadata: { ownerReferences: [] } }), 'node "NODE" can only create pods with an owner reference set to itself'],
    [
      'not controlled',
      (name, uid) => ({ metadata: { ownerReferences: [owner(name, uid, { controller: false })] } }),
      'node "NODE" can only create pods with a controller owner reference set to itself',
    ],
    [
      'blocking',
      (name, uid) => ({ metadata: { ownerReferences: [owner(name, uid, { blockOwnerDeletion: true })] } }),
      'node "NODE" must not set blockOwnerDeletion on an owner reference',
    ],
    ['of another uid', (name) => ({ metadata: { ownerReferences: [owner(name, 'u')] } }), 'node NODE UID mismatch: expected u got UID'],
    ['with an account', () => ({ spec: { serviceAccountName: 'a' } }), 'node "NODE" can not create pods that reference a service account'],
    [
      'with a Secret to pull by',
      () => ({ spec: { imagePullSecrets: [{ name: 's' }] } }),
      'node "NODE" can not create pods that reference secrets',
    ],
    [
      'with a Secret in its environment',
      () => ({ spec: { containers: [{ ...container, envFrom: [{ secretRef: { name: 's' } }] }] } }),
      'node "NODE" can not create pods that reference secrets',
    ],
    [
      'with a Secret for its volume',
      () => ({ spec: { volumes: [{ name: 'v', cephfs: { monitors: ['m'], secretRef: { name: 's' } } }] } }),
      'node "NODE" can not create pods that reference secrets',
    ],
    [
      'with a projected Secret',
      () => ({ spec: { volumes: [{ name: 'v', projected: { sources: [{ secret: { name: 's' } }] } }] } }),
      'node "NODE" can not create pods that reference secrets',
    ],
    [
      'with a ConfigMap',
      () => ({ spec: { volumes: [{ name: 'v', configMap: { name: 'c' } }] } }),
      'node "NODE" can not create pods that reference configmaps',
    ],
    [
      'with a variable of a ConfigMap',
      () => ({ spec: { containers: [{ ...container, env: [{ name: 'X', valueFrom: { configMapKeyRef: { name: 'c', key: 'k' } } }] }] } }),
      'node "NODE" can not create pods that reference configmaps',
    ],
    [
      'with a claim',
      () => ({ spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] } }),
      'node "NODE" can not create pods that reference persistentvolumeclaims',
    ],
  ])('a node may not create a pod: %s', async (_title, fields, why) => {
    const { answer, name, uid, pod } = await postMirror(fields)
    expect(answer.status).toBe(403)
    expect(answer.body.message).toBe(`pods "${pod}" is forbidden: ${why.replaceAll('NODE', name).replace('got UID', `got ${uid}`)}`)
  })

  test('a node writes only the status of its own pods', async () => {
    const { name } = await registered()
    const pod = await aPodOn(name)
    const status = `${pods}/${pod.name}/status`
    expect((await asNode(shared.api, name, 'PATCH', status, { status: { phase: 'Running' } }, merge)).status).toBe(200)
    const other = await asNode(shared.api, 'other', 'PATCH', status, { status: { phase: 'Running' } }, merge)
    expect(other.body.message).toBe(
      `pods "${pod.name}" is forbidden: node "other" can only update pod status for pods with spec.nodeName set to itself`,
    )
  })

  test('a node changes nothing else in a pod', async () => {
    const { name } = await registered()
    const pod = await aPodOn(name)
    const answer = await asNode(shared.api, name, 'PATCH', `${pods}/${pod.name}`, { metadata: { labels: { a: 'b' } } }, merge)
    expect(answer.body.message).toBe(
      `pods "${pod.name}" is forbidden: unexpected operation "UPDATE", node "${name}" can only create and delete mirror pods`,
    )
  })

  test('a node evicts only its own pods', async () => {
    const { name } = await registered()
    const pod = await aPodOn(name)
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod.name } }
    const other = await asNode(shared.api, 'other', 'POST', `${pods}/${pod.name}/eviction`, eviction)
    expect(other.body.message).toBe(`pods "${pod.name}" is forbidden: node other can only evict pods with spec.nodeName set to itself`)
    expect((await asNode(shared.api, name, 'POST', `${pods}/${pod.name}/eviction`, eviction)).status).toBe(201)
  })
})

describe('objects of nodes', () => {
  test('a node writes the size of a claim, and nothing else of it', async () => {
    const claim = aName('claim')
    const path = '/api/v1/namespaces/default/persistentvolumeclaims'
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
    await created(shared.api, path, { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: claim }, spec })
    const send = (at: string, patch: object) => asNode(shared.api, 'n', 'PATCH', `${path}/${claim}${at}`, patch, merge)
    expect((await send('/status', { status: { capacity: { storage: '2Gi' } } })).status).toBe(200)
    expect((await send('', { metadata: { labels: { a: 'b' } } })).body.message).toContain('may only update PVC status')
    const refused = await send('/status', { status: { phase: 'Lost' } })
    expect(refused.body.message).toBe(
      `persistentvolumeclaims "${claim}" is forbidden: node "n" is not allowed to update fields other than status.capacity and status.conditions: status`,
    )
  })

  test('a node gets tokens of accounts for pods that run on it', async () => {
    const { name } = await registered()
    const pod = await aPodOn(name)
    const token = (boundObjectRef: object | undefined, node = name) =>
      asNode(shared.api, node, 'POST', '/api/v1/namespaces/default/serviceaccounts/default/token', {
        apiVersion: 'authentication.orch.io/v1',
        kind: 'TokenRequest',
        spec: { audiences: [], boundObjectRef },
      })
    const bound = { apiVersion: 'v1', kind: 'Pod', ...pod }
    expect((await token(bound)).status).toBe(201)
    expect((await token(undefined)).body.message).toContain('node requested token not bound to a pod')
    expect((await token({ ...bound, uid: '' })).body.message).toContain('node requested token with a pod binding without a uid')
    expect((await token({ ...bound, uid: 'u' })).body.message).toContain(
      'the UID in the bound object reference (u) does not match the UID in record.',
    )
    expect((await token(bound, 'other')).body.message).toContain('node requested token bound to a pod scheduled on a different node')
  })

  test('a node renews only its own lease', async () => {
    const { name } = await registered()
    const lease = (named: string) => ({ apiVersion: 'coordination.orch.io/v1', kind: 'Lease', metadata: { name: named }, spec: {} })
    const post = (namespace: string, named: string) =>
      asNode(shared.api, name, 'POST', `/apis/coordination.orch.io/v1/namespaces/${namespace}/leases`, lease(named))
    expect((await post('orch-node-lease', name)).status).toBe(201)
    expect((await post('orch-node-lease', 'other')).body.message).toContain(
      'can only access node lease with the same name as the requesting node',
    )
    expect((await post('default', name)).body.message).toContain('can only access leases in the "orch-node-lease" system namespace')
  })

  test('KIND-CSI-04, CTRL-11: a node writes only its own CSINode', async () => {
    const { name } = await registered()
    const post = (named: string) =>
      asNode(shared.api, name, 'POST', '/apis/storage.orch.io/v1/csinodes', {
        apiVersion: 'storage.orch.io/v1',
        kind: 'CSINode',
        metadata: { name: named },
        spec: { drivers: [] },
      })
    expect((await post(name)).status).toBe(201)
    expect((await post('other')).body.message).toContain('can only access CSINode with the same name as the requesting node')
  })

  test('KIND-CSI-04, CTRL-11: a node adds drivers that register, and removes drivers that leave; another node may not', async () => {
    const [{ name }, { name: other }] = [await registered(), await registered()]
    const collection = '/apis/storage.orch.io/v1/csinodes'
    const object = { apiVersion: 'storage.orch.io/v1', kind: 'CSINode', metadata: { name }, spec: { drivers: [] } }
    expect((await asNode(shared.api, name, 'POST', collection, object)).status).toBe(201)
    const register = (by: string, ...drivers: readonly string[]) => {
      const spec = { drivers: drivers.map((driver) => ({ name: driver, nodeID: `id-${name}`, allocatable: { count: 5 } })) }
      return asNode(shared.api, by, 'PATCH', `${collection}/${name}`, { spec }, merge)
    }
    const driversOf = ({ body }: Answer) => (body['spec'] as { drivers: { name: string }[] }).drivers.map((driver) => driver.name)
    expect(driversOf(await register(name, 'a.example.com'))).toEqual(['a.example.com'])
    expect(driversOf(await register(name, 'a.example.com', 'b.example.com'))).toEqual(['a.example.com', 'b.example.com'])
    expect(driversOf(await register(name, 'b.example.com'))).toEqual(['b.example.com'])
    expect((await register(other, 'c.example.com')).status).toBe(403)
    expect(driversOf(await shared.api.get(`${collection}/${name}`))).toEqual(['b.example.com'])
  })
})
