import { type Client, createClient, createHttpsTransport, parseConfiguration } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { virtualClock } from '@orch/platform'
import { aConfigMap, aNamespace, clusterStarter } from '@orch/testkit'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type RunningServer, start } from './start.ts'
import type { StartOptions } from './start-settings.ts'

const startCluster = clusterStarter({ embedded: start })
const inDefault = { namespace: 'default' }
const core = (plural: string, namespaced = true) => ({ group: '', version: 'v1', plural, namespaced })
const create = <T extends object>({ client }: RunningServer, object: T) => client.objects.create(object as unknown as ApiObject)

/** A fork that ends with the test. */
async function forkOf(server: RunningServer, options?: StartOptions): Promise<RunningServer> {
  const fork = await server.fork(options)
  onTestFinished(() => fork.stop())
  return fork
}

const outcomeOf = (writing: Promise<unknown>) =>
  writing.then(
    () => 201,
    (error: { code?: number }) => error.code,
  )

const definition = (properties: object) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties } } }],
  },
})
const definitions = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions', namespaced: false }
const aWidget = (name: string, size: unknown) => ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name, ...inDefault }, size })
const aService = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, ...inDefault },
  spec: { type: 'NodePort', ports: [{ port: 80 }] },
})
const admissionGroup = 'admissionregistration.k8s.io'
const aPolicy = (expression: string) => ({
  apiVersion: `${admissionGroup}/v1`,
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: 'names' },
  spec: {
    matchConstraints: { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }] },
    validations: [{ expression }],
  },
})
const policies = { group: admissionGroup, version: 'v1', plural: 'validatingadmissionpolicies', namespaced: false }
const aSecret = (name: string, namespace = 'default') => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace } })
const rbac = 'rbac.authorization.k8s.io'

/** Longer than a busy machine takes. */
const waiting = { timeout: 60_000, interval: 100 }

describe('a fork and its base', () => {
  let base: RunningServer
  beforeAll(async () => {
    base = await start({ profile: 'kubernetes', serviceNodePortRange: '31000-31001' })
    await create(base, definition({ size: { type: 'integer' } }))
    await create(base, {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'q', namespace: 'default' },
      spec: { hard: { configmaps: '4' } },
    })
    await create(base, aConfigMap({ name: 'first', data: { x: '1' } }))
    await create(base, aService('kept'))
    await create(base, aPolicy('object.metadata.name != "bad"'))
    const binding = {
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: 'names' },
      spec: { policyName: 'names', validationActions: ['Deny'] },
    }
    await create(base, { apiVersion: `${admissionGroup}/v1`, ...binding })
    await create(base, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'reader', ...inDefault } })
    await vi.waitFor(async () => expect(await outcomeOf(create(base, aSecret('bad')))).toBe(422))
    await base.settled({ within: 60_000 })
  })
  afterAll(() => base.stop())

  test('have the same objects, uids and revisions, on separate ports', async () => {
    // The digits of a port may also be a part of a uid.
    const dumpOf = async (server: RunningServer) =>
      (await server.dump()).replaceAll(new RegExp(`(?<![\\da-f])${new URL(server.url).port}(?![\\da-f])`, 'g'), '<port>')
    // By the machine's clock each server renews a Lease at intervals.
    const fork = await vi.waitFor(async () => {
      const made = await forkOf(base)
      const [dumpOfFork, dumpOfBase] = [await dumpOf(made), await dumpOf(base)]
      expect(dumpOfFork).toBe(dumpOfBase)
      return made
    }, waiting)
    expect(fork.url).not.toBe(base.url)
    const port = Number(new URL(fork.url).port)
    expect(await fork.client.resource(core('services')).get('kubernetes', inDefault)).toMatchObject({
      spec: { ports: [{ targetPort: port }] },
    })
    expect(await fork.client.resource(core('endpoints')).get('kubernetes', inDefault)).toMatchObject({ subsets: [{ ports: [{ port }] }] })
  })

  test('each keep quotas, addresses, roles, definitions, policies and dependants separate', async () => {
    const one = await forkOf(base)
    const other = await forkOf(one)
    const maps = (server: RunningServer) => server.client.resource(core('configmaps'))
    const rows: readonly {
      readonly what: string
      /** Only in this fork. */
      readonly change: () => Promise<unknown>
      readonly seen: (server: RunningServer) => Promise<unknown>
      readonly inOne: unknown
      readonly inOthers: unknown
    }[] = [
      {
        what: 'a recent object',
        change: () => maps(one).patch('first', { data: { x: 'one' } }, { ...inDefault, type: 'merge' }),
        seen: async (server) => ((await maps(server).get('first', inDefault)) as { data?: unknown }).data,
        inOne: { x: 'one' },
        inOthers: { x: '1' },
      },
      {
        what: 'the account of a quota',
        change: () => Promise.all(['a', 'b'].map((name) => create(one, aConfigMap({ name })))),
        seen: (server) => outcomeOf(create(server, aConfigMap({ name: 'c' }))),
        inOne: 403,
        inOthers: 201,
      },
      {
        what: 'allocated ports',
        change: () => create(one, aService('taken')),
        seen: (server) => outcomeOf(create(server, aService('wanted'))),
        inOne: 500,
        inOthers: 201,
      },
      {
        what: 'roles',
        change: () =>
          create(one, {
            apiVersion: `${rbac}/v1`,
            kind: 'ClusterRoleBinding',
            metadata: { name: 'reads' },
            roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'view' },
            subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace: 'default' }],
          }),
        seen: async (server) => {
          const spec = { user: 'system:serviceaccount:default:reader', resourceAttributes: { verb: 'list', resource: 'pods' } }
          const review = await create(server, { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec, metadata: {} })
          return (review as { status?: { allowed?: boolean } }).status?.allowed
        },
        inOne: true,
        inOthers: false,
      },
      {
        what: 'schemas of definitions',
        change: () =>
          one.client.resource(definitions).patch('widgets.example.com', definition({ size: { type: 'string' } }), { type: 'merge' }),
        seen: (server) => outcomeOf(create(server, aWidget('w', 'large'))),
        inOne: 201,
        inOthers: 422,
      },
      {
        what: 'expressions of policies',
        change: () => one.client.resource(policies).patch('names', aPolicy('object.metadata.name != "worse"'), { type: 'merge' }),
        seen: (server) => outcomeOf(create(server, aSecret('bad'))),
        inOne: 201,
        inOthers: 422,
      },
      {
        what: 'admission rules',
        change: () => one.client.resource(policies).delete('names'),
        // Only the other servers' policy refuses the second object.
        seen: async (server) => {
          const first = await outcomeOf(create(server, aSecret('worse')))
          return [first, first === 201 && (await outcomeOf(create(server, aSecret('bad', 'kube-public'))))]
        },
        inOne: [201, 201],
        inOthers: [201, 422],
      },
    ]
    for (const { what, change, seen, inOne, inOthers } of rows) {
      await change()
      await expect.poll(() => seen(one), { message: `${what} in the fork` }).toEqual(inOne)
      expect(await seen(other), `${what} in a fork of it`).toEqual(inOthers)
      expect(await seen(await forkOf(base)), `${what} in another fork`).toEqual(inOthers)
    }
    expect((await maps(base).list(inDefault)).items).toHaveLength(1)
  })

  test('each collect their own garbage', async () => {
    const maps = (server: RunningServer) => server.client.resource(core('configmaps'))
    const one = await forkOf(base)
    const owner = await create(one, aConfigMap({ name: 'owner' }))
    const { name = '', uid = '' } = owner.metadata
    await create(one, aConfigMap({ name: 'owned', ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid }] }))
    const other = await forkOf(one)
    await maps(one).delete('owner', inDefault)
    await expect.poll(() => outcomeOf(maps(one).get('owned', inDefault))).toBe(404)
    await other.settled({ within: 60_000 })
    expect((await maps(other).list(inDefault)).items.map(({ metadata }) => metadata.name)).toEqual(['first', 'owned', 'owner'])
    await maps(other).delete('owner', inDefault)
    await expect.poll(() => outcomeOf(maps(other).get('owned', inDefault))).toBe(404)
  })

  test('continue lists and revisions of the base, and watches of the base stay with the base', async () => {
    const maps = ({ client }: RunningServer) => client.resource(core('configmaps'))
    const own = await forkOf(base)
    for (const name of ['m1', 'm2']) await create(own, aConfigMap({ name }))
    const page = await maps(own).list({ ...inDefault, limit: 1 })
    const watch = await maps(own).watch({ ...inDefault, resourceVersion: page.metadata.resourceVersion })
    const fork = await forkOf(own)
    await create(fork, aConfigMap({ name: 'forked' }))
    await maps(own).delete('m1', inDefault)
    const rest = await maps(fork).list({ ...inDefault, limit: 9, continue: page.metadata.continue })
    expect(rest.items.map(({ metadata }) => metadata.name)).toEqual(['m1', 'm2'])
    expect((await watch.next()).value).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'm1' } } })
    const resumed = await maps(fork).watch({ ...inDefault, resourceVersion: page.metadata.resourceVersion })
    expect((await resumed.next()).value).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'forked' } } })
    await Promise.all([watch.return(), resumed.return()])
  })

  test('accept the same certificates and tokens', async () => {
    const fork = await forkOf(base)
    const token = await base.client.request<{ status: { token: string } }>({
      method: 'POST',
      path: '/api/v1/namespaces/default/serviceaccounts/reader/token',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
    })
    const configuration = await parseConfiguration(base.kubeconfig)
    const { certificateAuthority } = configuration
    const userOf = async (client: Client) => {
      onTestFinished(() => client.close())
      const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
      const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
      const { status } = await client.request<{ status: { userInfo: { username: string } } }>({ method: 'POST', path, body: review })
      return status.userInfo.username
    }
    const withToken = {
      server: fork.url,
      token: token.status.token,
      ...(certificateAuthority === undefined ? {} : { certificateAuthority }),
    }
    expect(await userOf(createClient(createHttpsTransport(withToken)))).toBe('system:serviceaccount:default:reader')
    expect(await userOf(createClient(createHttpsTransport({ ...configuration, server: fork.url })))).toBe('kubernetes-admin')
  })

  test('have the same users', async () => {
    const own = await forkOf(base)
    own.user('reader', { rules: [{ verbs: ['list'], apiGroups: [''], resources: ['configmaps'] }] })
    const fork = await forkOf(own)
    const { client } = fork.user('reader')
    expect((await client.resource(core('configmaps')).list(inDefault)).items).toHaveLength(1)
    await expect(client.resource(core('secrets')).list(inDefault)).rejects.toMatchObject({ code: 403 })
    expect(own.user('reader').requests()).toEqual([])
  })

  test('may be reset and restored, also to snapshots of one another', async () => {
    const fork = await forkOf(base)
    const names = async (server: RunningServer) =>
      (await server.client.resource(core('configmaps')).list(inDefault)).items.map(({ metadata }) => metadata.name)
    await create(fork, aConfigMap({ name: 'later' }))
    const later = fork.snapshot()
    const second = await start({ from: later })
    onTestFinished(() => second.stop())
    await fork.reset()
    expect([await names(fork), await names(second), await names(base)]).toEqual([['first'], ['first', 'later'], ['first']])
    await second.reset()
    expect(await names(second)).toEqual(['first', 'later'])
    await fork.restore(later)
    expect(await names(fork)).toEqual(['first', 'later'])
    await second.restore(base.snapshot())
    expect(await names(second)).toEqual(['first'])
  })

  test('a fork may be started again with other settings: its state is read as after a restart', async () => {
    const fork = await forkOf(base, { version: '1.30', controllers: ['*', '-garbage-collector'], nodes: 1, eventTtlMs: 5_000 })
    expect(await fork.client.request({ method: 'GET', path: '/version' })).toMatchObject({ minor: '30' })
    expect(await fork.client.resource(core('configmaps')).get('first', inDefault)).toEqual(
      await base.client.resource(core('configmaps')).get('first', inDefault),
    )
    expect(fork.nodes.names).toEqual(['node-1'])
    expect(await outcomeOf(create(fork, aWidget('w', 'large')))).toBe(422)
    const again = await forkOf(fork)
    expect(again.nodes.names).toEqual(['node-1'])
  })

  test('options that a fork cannot have are refused', async () => {
    await expect(base.fork({ profile: 'orch' })).rejects.toThrow('profile: orch: the stored objects have the names of profile kubernetes')
    await expect(base.fork({ clock: virtualClock() })).rejects.toThrow('clock: a fork has a virtual clock if its base has one')
    await expect(start({ from: { revision: 1 } })).rejects.toThrow('a snapshot is made by server.snapshot()')
  })
})

test('controllers of a fork start with the first change of what they watch, unless a controller of its base has work or a pending timer', async () => {
  const base = await startCluster({ mode: 'embedded', options: {} })
  await base.settled({ within: 60_000 })
  const controllers = (server: RunningServer) => server.requests().filter(({ user }) => user.startsWith('system:'))
  const quiet = await forkOf(base)
  await quiet.settled({ within: 60_000 })
  expect(controllers(quiet)).toEqual([])
  const absent = { apiVersion: 'v1', kind: 'ConfigMap', name: 'none', uid: 'none' }
  await create(quiet, aConfigMap({ name: 'stray', ownerReferences: [absent] }))
  await expect.poll(() => outcomeOf(quiet.client.resource(core('configmaps')).get('stray', inDefault)), waiting).toBe(404)
  // The controller recounts a quota's use at intervals.
  await create(base, { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q', ...inDefault }, spec: { hard: { pods: '1' } } })
  await base.settled({ within: 60_000 })
  for (const options of [{}, { controllers: ['namespace'] }]) {
    const busy = await forkOf(base, options)
    await busy.settled({ within: 60_000 })
    expect(controllers(busy)).not.toEqual([])
  }
})

test('a claim that waits for a Pod of the base is released by the deletion of the Pod in a fork', async () => {
  const base = await startCluster({ mode: 'embedded', options: {} })
  const claims = ({ client }: RunningServer) => client.resource(core('persistentvolumeclaims'))
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } } }
  await create(base, { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'c', ...inDefault }, spec: claim })
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }]
  const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i' }], volumes }
  await create(base, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', ...inDefault }, spec })
  await claims(base).delete('c', inDefault)
  await base.settled({ within: 60_000 })
  const fork = await forkOf(base)
  await fork.settled({ within: 60_000 })
  expect(fork.requests().filter(({ user }) => user.endsWith(':pvc-protection-controller'))).toEqual([])
  await fork.client.resource(core('pods')).delete('p', inDefault, { gracePeriodSeconds: 0 })
  await expect.poll(() => outcomeOf(claims(fork).get('c', inDefault)), waiting).toBe(404)
  expect((await claims(base).get('c', inDefault)).metadata.deletionTimestamp).toBeDefined()
})

test('dependants that a fork has from its base are deleted with their owner', async () => {
  const base = await startCluster({ mode: 'embedded', options: {} })
  const { metadata } = await create(base, aConfigMap({ name: 'owner' }))
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: metadata.uid ?? '' }
  await create(base, aConfigMap({ name: 'child', ownerReferences: [owner] }))
  await base.settled({ within: 60_000 })
  const fork = await forkOf(base)
  const maps = fork.client.resource(core('configmaps'))
  await maps.delete('owner', inDefault)
  await fork.settled({ within: 60_000 })
  expect(await outcomeOf(maps.get('child', inDefault))).toBe(404)
})

test('a fork is ready before it has plugins, and its first write meets the policies of its base', async () => {
  const base = await startCluster({ mode: 'embedded', options: { profile: 'kubernetes' } })
  const apiVersion = 'admissionregistration.k8s.io/v1'
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }
  const spec = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'false', message: 'none' }] }
  await create(base, { apiVersion, kind: 'ValidatingAdmissionPolicy', metadata: { name: 'none' }, spec })
  const binding = { policyName: 'none', validationActions: ['Deny'] }
  await create(base, { apiVersion, kind: 'ValidatingAdmissionPolicyBinding', metadata: { name: 'none' }, spec: binding })
  const fork = await forkOf(base)
  const readyz = await fork.client.transport.send({ method: 'GET', path: '/readyz', headers: {} })
  expect([readyz.status, await outcomeOf(create(fork, aConfigMap({ name: 'a' })))]).toEqual([200, 422])
})

test('controllers of a fork see what a fault hides from those of its base', async () => {
  const base = await startCluster({ mode: 'embedded', options: {} })
  using _hold = base.user('system:serviceaccount:orch-system:generic-garbage-collector').watches.hold()
  const absent = { apiVersion: 'v1', kind: 'ConfigMap', name: 'none', uid: 'none' }
  await create(base, aConfigMap({ name: 'stray', ownerReferences: [absent] }))
  await base.settled({ within: 60_000 })
  const fork = await forkOf(base)
  await expect.poll(() => outcomeOf(fork.client.resource(core('configmaps')).get('stray', inDefault)), waiting).toBe(404)
})

test('a fork continues after its base has stopped, with the webhooks of the base, and the base after its fork has stopped', async () => {
  const handler = () => ({ allowed: false, status: { message: 'not here' } })
  const base = await start({ profile: 'kubernetes' })
  const { host, port } = await base.webhookEndpoint(handler)
  expect(host).toBe('127.0.0.1')
  await create(base, aNamespace({ name: 'a' }))
  const first = await base.fork()
  await first.stop()
  await create(base, aNamespace({ name: 'b' }))
  const snapshot = base.snapshot()
  const second = await base.fork()
  await base.stop()
  expect(await second.webhookEndpoint({ host, port, certificateAuthority: '' })).toMatchObject({ port })
  await expect(fetchCode(port)).resolves.toBeGreaterThan(0)
  expect(await second.client.resource(core('namespaces', false)).get('b')).toMatchObject({ metadata: { name: 'b' } })
  await second.stop()
  await expect(fetchCode(port)).rejects.toThrow()
  const third = await start({ from: snapshot })
  await expect(fetchCode(port)).resolves.toBeGreaterThan(0)
  await third.stop()
  await expect(fetchCode(port)).rejects.toThrow()
})

/** The status of an answer of the webhook endpoint; the client does not verify the certificate. */
async function fetchCode(port: number): Promise<number> {
  const { request } = await import('node:https')
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', rejectUnauthorized: false, method: 'POST' }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sent.once('error', reject)
    sent.end()
  })
}

test('a second start with the same settings has the objects of the first start, with its own port, authorities, namespaces and epoch', async () => {
  const options = { profile: 'kubernetes', serviceClusterIpRange: '10.77.0.0/24', controllers: ['-*'] } as const
  const servers = [await startCluster({ mode: 'embedded', options }), await startCluster({ mode: 'embedded', options })] as const
  const [first, second] = servers
  const plain = (text: string) => text.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:]+Z/g, '')
  const [one = '', two = ''] = await Promise.all(servers.map((server) => server.dump()))
  expect(plain(two)).toBe(plain(one))
  expect([two.includes(`"port":${new URL(first.url).port}`), one.split('\n')[0]]).not.toContain(two.split('\n')[0])
  const system = { namespace: 'kube-system' }
  const seenBy = async ({ client, kubeconfig }: RunningServer) => {
    const { uid } = (await client.resource(core('namespaces', false)).get('kube-system')).metadata
    const published = await client
      .resource<ApiObject & { data: object }>(core('configmaps'))
      .get('extension-apiserver-authentication', system)
    const { certificateAuthority } = await parseConfiguration(kubeconfig)
    expect(published.data).toMatchObject({ 'client-ca-file': certificateAuthority })
    return [uid, JSON.stringify(published.data)]
  }
  const [ofFirst = [], ofSecond = []] = await Promise.all(servers.map(seenBy))
  expect(ofFirst.map((value, index) => value === ofSecond[index])).toEqual([false, false])
  const { certificateAuthority } = await parseConfiguration(second.kubeconfig)
  const stranger = { ...(await parseConfiguration(first.kubeconfig)), server: second.url, certificateAuthority: certificateAuthority ?? '' }
  const client = createClient(createHttpsTransport(stranger))
  onTestFinished(() => client.close())
  await expect(client.resource(core('configmaps')).list(inDefault)).rejects.toMatchObject({ code: 401 })
  const page = await first.client.resource(core('namespaces', false)).list({ limit: 1 })
  const elsewhere = second.client.resource(core('namespaces', false)).list({ limit: 1, continue: page.metadata.continue })
  await expect(elsewhere).rejects.toMatchObject({ code: 410 })
})

test('two forks and their base store the same after the same requests, with a seed and a clock', async () => {
  const clock = virtualClock({ start: new Date('2030-01-01T00:00:00Z') })
  const base = await startCluster({ mode: 'embedded', options: { clock, seed: 7, profile: 'kubernetes' } })
  await create(base, aNamespace({ name: 'a' }))
  await create(base, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'g-', namespace: 'a' } })
  await base.settled({ within: 60_000 })
  const snapshot = base.snapshot()
  const dumpAfter = async (server: RunningServer) => {
    for (let count = 0; count < 3; count += 1) {
      await create(server, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'g-', namespace: 'a' } })
      await create(server, { ...aService(''), metadata: { generateName: 's-', namespace: 'a' } })
      await server.settled({ within: 60_000 })
    }
    return server.dump()
  }
  const forks = await Promise.all([start({ from: snapshot }), start({ from: snapshot })])
  onTestFinished(async () => void (await Promise.all(forks.map((fork) => fork.stop()))))
  const dumps = [await dumpAfter(base), ...(await Promise.all(forks.map(dumpAfter)))]
  expect(new Set(dumps).size).toBe(1)
  const other = await start({ from: snapshot, seed: 8 })
  onTestFinished(() => other.stop())
  expect(await dumpAfter(other)).not.toBe(dumps[0])
})

test('simulated nodes run in a fork too, and switched-off nodes stay off', async () => {
  const base = await startCluster({ mode: 'embedded', options: { profile: 'kubernetes', nodes: 1 } })
  await base.nodes.add({ name: 'second' })
  base.nodes.get('second').stop()
  const fork = await forkOf(base)
  expect(fork.nodes.names).toEqual(['node-1', 'second'])
  expect([fork.nodes.get('node-1').isRunning, fork.nodes.get('second').isRunning]).toEqual([true, false])
  await create(fork, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', ...inDefault },
    spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'i' }] },
  })
  const pods = ({ client }: RunningServer) => client.resource(core('pods'))
  await expect.poll(() => pods(fork).get('p', inDefault)).toMatchObject({ status: { phase: 'Running' } })
  expect((await pods(base).list(inDefault)).items).toEqual([])
})
