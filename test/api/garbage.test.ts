import { describe, expect, test } from 'vitest'
import { type Answer, aNamespace, type Body, created, sharedApi, until } from './api.ts'

const server = sharedApi()

const reference = ({ apiVersion, kind, metadata }: Body, fields: Record<string, unknown> = {}) => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid,
  ...fields,
})

/** A ConfigMap with these owners. */
const owned = (name: string, ...ownerReferences: object[]) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ownerReferences } })

const withPolicy = (propagationPolicy: string) => ({ kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy })
const isGone = ({ status }: Answer) => status === 404
const gone = async (target: string) => {
  const { status } = await until(() => server.api.get(target), isGone)
  expect(status).toBe(404)
}
const ownersOf = ({ body }: Answer) => body.metadata['ownerReferences']

/** The collector hears of this dependant late: the dependant loses its owner after the deletion of the owner. */
const forgotten = (target: string) =>
  until(
    () => server.api.get(target),
    (answer) => answer.status !== 200 || ownersOf(answer) === undefined,
  )

async function aPlace() {
  const namespace = await aNamespace(server.api)
  const path = `/api/v1/namespaces/${namespace}/configmaps`
  return { namespace, path, make: (object: object) => created(server.api, path, object) }
}

describe('background deletion', () => {
  test('DEL-12: dependants are deleted after their owner, and then their dependants', async () => {
    const { path, make } = await aPlace()
    const top = await make(owned('top'))
    const middle = await make(owned('middle', reference(top)))
    await make(owned('bottom', reference(middle)))
    await make(owned('other'))
    const { body } = await server.api.delete(`${path}/top`)
    expect(body['status']).toBe('Success')
    await gone(`${path}/middle`)
    await gone(`${path}/bottom`)
    expect((await server.api.get(`${path}/other`)).status).toBe(200)
  })

  test('DEL-12: an object with another owner stays, and loses the reference to the deleted one', async () => {
    const { path, make } = await aPlace()
    const first = await make(owned('first'))
    const second = await make(owned('second'))
    await make(owned('child', reference(first), reference(second)))
    await server.api.delete(`${path}/first`)
    const child = await until(
      () => server.api.get(`${path}/child`),
      (answer) => (ownersOf(answer) as unknown[]).length === 1,
    )
    expect(ownersOf(child)).toEqual([reference(second)])
    await server.api.delete(`${path}/second`)
    await gone(`${path}/child`)
  })

  test('DEL-12: an owner of the same name with another uid counts as absent', async () => {
    const { path, make } = await aPlace()
    const owner = await make(owned('owner'))
    await make(owned('child', { ...reference(owner), uid: '11111111-2222-3333-4444-555555555555' }))
    await gone(`${path}/child`)
    expect((await server.api.get(`${path}/owner`)).status).toBe(200)
  })

  test('DEL-12: an owner in another namespace counts as absent, with an Event', async () => {
    const here = await aPlace()
    const there = await aPlace()
    const owner = await there.make(owned('owner'))
    const child = await here.make(owned('child', reference(owner)))
    await gone(`${here.path}/child`)
    const { body } = await until(
      () => server.api.get(`/api/v1/namespaces/${here.namespace}/events`),
      (answer) => answer.body.items.length > 0,
    )
    expect(body.items[0]).toMatchObject({
      reason: 'OwnerRefInvalidNamespace',
      type: 'Warning',
      involvedObject: { kind: 'ConfigMap', name: 'child', uid: child.metadata.uid },
    })
    expect(body.items[0]!['message']).toContain(`does not exist in namespace "${here.namespace}"`)
  })

  test('DEL-12: an invalid owner reference does not affect other dependants', async () => {
    const here = await aPlace()
    const there = await aPlace()
    const owner = await here.make(owned('owner'))
    await here.make(owned('child', reference(owner)))
    await here.make(owned('misled', { ...reference(owner), name: 'another' }))
    await there.make(owned('misled', { ...reference(owner), name: 'another' }))
    await there.make(owned('misplaced', reference(owner)))
    for (const name of ['misled', 'misplaced']) await gone(`${there.path}/${name}`)
    await gone(`${here.path}/misled`)
    expect((await server.api.patch(`${here.path}/child`, { data: { a: 'b' } })).status).toBe(200)
    // The collector collects this object after the child, so it has checked the child by then.
    await here.make(owned('stray', { ...reference(owner), uid: 'none' }))
    await gone(`${here.path}/stray`)
    expect(ownersOf(await server.api.get(`${here.path}/child`))).toEqual([reference(owner)])
  })

  test.each(['a/b', 'a,b', '..', '%61'])('DEL-12: an owner with an impossible name delays no deletion: %s', async (name) => {
    const { path, make } = await aPlace()
    const owner = await make(owned('owner'))
    const nobody = { ...reference(owner), name, uid: 'none' }
    await make(owned('stray', nobody))
    await make(owned('child', nobody, reference(owner, { blockOwnerDeletion: true })))
    await gone(`${path}/stray`)
    await server.api.delete(`${path}/owner`, withPolicy('Foreground'))
    await gone(`${path}/owner`)
    expect((await server.api.get(`${path}/child`)).status).toBe(404)
  })

  test('DEL-12: a cluster-scoped object with an owner in a namespace stays, with an Event', async () => {
    const { make } = await aPlace()
    const owner = await make(owned('owner'))
    const cluster = await created(server.api, '/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { generateName: 'owned-', ownerReferences: [reference(owner)] },
    })
    const isAbout = ({ involvedObject }: Body) => (involvedObject as { uid?: string }).uid === cluster.metadata.uid
    await until(
      () => server.api.get('/api/v1/namespaces/default/events'),
      ({ body }) => body.items.some(isAbout),
    )
    expect((await server.api.get(`/api/v1/nodes/${cluster.metadata.name}`)).status).toBe(200)
  })

  test('DEL-12: a cluster-scoped object may own an object in a namespace', async () => {
    const { path, make } = await aPlace()
    const node = await created(server.api, '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { generateName: 'owner-' } })
    await make(owned('child', reference(node)))
    await make(owned('later', reference(node)))
    await server.api.delete(`/api/v1/nodes/${node.metadata.name}`)
    await gone(`${path}/child`)
    await gone(`${path}/later`)
  })

  test('DEL-12: a thousand dependants are deleted', async () => {
    const { path, make } = await aPlace()
    const owner = await make(owned('owner'))
    const names = Array.from({ length: 1000 }, (_, index) => `child-${index}`)
    // Each concurrent request would open another connection, and only a fast machine makes a thousand handshakes at once.
    while (names.length > 0) await Promise.all(names.splice(0, 50).map((name) => make(owned(name, reference(owner)))))
    await server.api.delete(`${path}/owner`)
    const list = await until(
      () => server.api.get(`${path}?limit=1`),
      ({ body }) => body.items.length === 0,
    )
    expect(list.status).toBe(200)
  }, 180_000)
})

describe('foreground deletion', () => {
  test('DEL-12: an owner is deleted after its blocking dependants, and these after theirs', async () => {
    const { path, make } = await aPlace()
    const top = await make(owned('top'))
    const middle = await make(owned('middle', reference(top, { blockOwnerDeletion: true })))
    const { metadata } = await make(owned('bottom', reference(middle, { blockOwnerDeletion: true })))
    const held = { metadata: { finalizers: ['example.com/held'] } }
    expect((await server.api.patch(`${path}/${metadata.name}`, held)).status).toBe(200)
    const { body } = await server.api.delete(`${path}/top`, withPolicy('Foreground'))
    expect(body.metadata.finalizers).toEqual(['foregroundDeletion'])
    const isMarked = (answer: Answer) => answer.body.metadata.deletionTimestamp !== undefined
    await until(() => server.api.get(`${path}/bottom`), isMarked)
    expect((await server.api.get(`${path}/middle`)).body.metadata.finalizers).toEqual(['foregroundDeletion'])
    expect((await server.api.get(`${path}/top`)).body.metadata.finalizers).toEqual(['foregroundDeletion'])
    await server.api.patch(`${path}/bottom`, { metadata: { finalizers: null } })
    await gone(`${path}/top`)
    for (const name of ['middle', 'bottom']) expect((await server.api.get(`${path}/${name}`)).status).toBe(404)
  })

  test('DEL-12: a dependant that does not block is not waited for', async () => {
    const { path, make } = await aPlace()
    const owner = await make(owned('owner'))
    const child = owned('child', reference(owner))
    await make({ ...child, metadata: { ...child.metadata, finalizers: ['example.com/held'] } })
    await server.api.delete(`${path}/owner`, withPolicy('Foreground'))
    await gone(`${path}/owner`)
    await server.api.patch(`${path}/child`, { metadata: { finalizers: null } })
    await gone(`${path}/child`)
  })

  test('DEL-12: a cycle is deleted', async () => {
    const { path, make } = await aPlace()
    const first = await make(owned('first'))
    const second = await make(owned('second', reference(first, { blockOwnerDeletion: true })))
    const owners = { metadata: { ownerReferences: [reference(second, { blockOwnerDeletion: true })] } }
    expect((await server.api.patch(`${path}/first`, owners)).status).toBe(200)
    await server.api.delete(`${path}/first`, withPolicy('Foreground'))
    await gone(`${path}/first`)
    await gone(`${path}/second`)
  })

  test('DEL-12: a cycle that waits for itself is deleted, after the other objects that it waits for', async () => {
    const { path, make } = await aPlace()
    const names = ['first', 'second', 'third']
    const members = await Promise.all(names.map((name) => make(owned(name))))
    const block = (owner: Body) => reference(owner, { blockOwnerDeletion: true })
    const holders = await Promise.all(
      members.map((member) => {
        const holder = owned(`${member.metadata.name}-holder`, block(member))
        return make({ ...holder, metadata: { ...holder.metadata, finalizers: ['example.com/held'] } })
      }),
    )
    for (const name of names) await server.api.delete(`${path}/${name}`, withPolicy('Foreground'))
    for (const [index, name] of names.entries()) {
      const owners = { metadata: { ownerReferences: [block(members[(index + 1) % names.length]!)] } }
      expect((await server.api.patch(`${path}/${name}`, owners)).status).toBe(200)
    }
    for (const [index, { metadata }] of holders.entries()) {
      expect((await server.api.get(`${path}/${names[index]}`)).body.metadata.finalizers).toEqual(['foregroundDeletion'])
      await server.api.patch(`${path}/${metadata.name}`, { metadata: { finalizers: null } })
    }
    for (const name of names) await gone(`${path}/${name}`)
  })
})

describe('orphaning', () => {
  test('DEL-12: keeps dependants and removes their owner reference', async () => {
    const { path, make } = await aPlace()
    const owner = await make(owned('owner'))
    await make(owned('child', reference(owner)))
    const { body } = await server.api.delete(`${path}/owner`, withPolicy('Orphan'))
    expect(body.metadata.finalizers).toEqual(['orphan'])
    await gone(`${path}/owner`)
    const child = await forgotten(`${path}/child`)
    expect({ status: child.status, owners: ownersOf(child) }).toEqual({ status: 200, owners: undefined })
  })

  test('DEL-12: deletes a dependant with its owner if it is added after the others were orphaned and a finalizer delays the owner', async () => {
    const { path, make } = await aPlace()
    const plain = owned('owner')
    const owner = await make({ ...plain, metadata: { ...plain.metadata, finalizers: ['example.com/held'] } })
    await make(owned('child', reference(owner)))
    await server.api.delete(`${path}/owner`, withPolicy('Orphan'))
    await until(
      () => server.api.get(`${path}/owner`),
      ({ body }) => body.metadata.finalizers.length === 1,
    )
    await make(owned('later', reference(owner)))
    await server.api.patch(`${path}/owner`, { metadata: { finalizers: null } })
    await gone(`${path}/later`)
    expect((await server.api.get(`${path}/child`)).status).toBe(200)
  })

  test('DEL-12: is the default for ReplicationControllers', async () => {
    const { namespace, path, make } = await aPlace()
    const controllers = `/api/v1/namespaces/${namespace}/replicationcontrollers`
    const spec = { template: { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } } }
    for (const [name, policy, isKept] of [
      ['kept', undefined, true],
      ['taken', 'Background', false],
    ] as const) {
      const owner = await created(server.api, controllers, { apiVersion: 'v1', kind: 'ReplicationController', metadata: { name }, spec })
      await make(owned(name, reference(owner)))
      await server.api.delete(`${controllers}/${name}`, policy === undefined ? undefined : withPolicy(policy))
      await gone(`${controllers}/${name}`)
      if (isKept) expect((await forgotten(`${path}/${name}`)).status).toBe(200)
      else await gone(`${path}/${name}`)
    }
  })
})
