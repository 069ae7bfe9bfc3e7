import type { Transport } from '@orch/client'
import { notFound } from '@orch/core/meta'
import { describe, expect, test } from 'vitest'
import { bytesOf, configMaps, nodes, testContext } from '../controller-testing.ts'
import { collect } from './collect.ts'
import { Graph } from './graph.ts'
import type { ReportMisplaced } from './misplaced-owner.ts'
import { type Metadata, observe } from './observed.ts'
import { Owners } from './owners.ts'

const goingInForeground = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['foregroundDeletion'] }
const ownedBy = (...owners: Metadata[]) => ({
  ownerReferences: owners.map(({ uid = '', name = '', namespace }) => {
    return { apiVersion: 'v1', kind: namespace === undefined ? 'Node' : 'ConfigMap', name, uid, blockOwnerDeletion: true }
  }),
})

const resourceOf = ({ namespace }: Metadata) => (namespace === undefined ? nodes : configMaps)
const pathOf = ({ namespace, name }: Metadata) =>
  namespace === undefined ? `/api/v1/nodes/${name}` : `/api/v1/namespaces/${namespace}/configmaps/${name}`

interface World {
  /** The objects that the collector has observed; all by default. */
  readonly known?: readonly Metadata[]
  /** Uids of owners known to be deleted without their dependants. */
  readonly parted?: readonly string[]
}

/** The requests and changes of one pass, with only these objects, all observed. */
async function lookAt(uid: string, objects: readonly Metadata[]): Promise<{ changes: unknown[]; asked: string[] }> {
  const { changes, asked } = await look(uid, objects)
  return { changes, asked }
}

/** The requests, changes, reports and notes of one pass. */
async function look(uid: string, objects: readonly Metadata[], { known = objects, parted = [] }: World = {}) {
  const asked: string[] = []
  const dropped: string[] = []
  const reported: string[] = []
  const changes: unknown[] = []
  const send: Transport['send'] = async ({ method, path, body }) => {
    if (method === 'GET') asked.push(path)
    else changes.push({ method, path, ...(JSON.parse(String(body)) as object) })
    const metadata = objects.find((object) => pathOf(object) === path)
    const answer = metadata === undefined ? notFound({ group: '', resource: 'configmaps' }, path).status : { metadata }
    return { status: metadata === undefined ? 404 : 200, headers: {}, body: bytesOf(answer) }
  }
  const context = testContext(send)
  const graph = new Graph()
  for (const object of known) graph.put({ ...observe(object), resource: resourceOf(object) })
  const owners = new Owners(context, [configMaps, nodes])
  for (const gone of parted) owners.setParted(gone)
  const report: ReportMisplaced = async (node, owner, standing) => void reported.push(`${node.uid} ${owner.uid} ${standing}`)
  await collect(uid, { context, graph, owners, report, dropped: (gone) => void dropped.push(gone) })
  return { changes, asked, dropped, reported, isParted: owners.isParted(uid) }
}

const aDependant = (namespace: string, ...owners: Metadata[]): Metadata => {
  return { uid: 'd', name: 'd', namespace, resourceVersion: '7', ...ownedBy(...owners) }
}
/** The objects that the dependant owns. */
const belowOf = (dependant: Metadata): Metadata => ({
  uid: 'b',
  name: 'b',
  namespace: dependant.namespace as string,
  ...ownedBy(dependant),
})

const deletion = (namespace: string, propagationPolicy: string) => ({
  method: 'DELETE',
  path: `/api/v1/namespaces/${namespace}/configmaps/d`,
  propagationPolicy,
  preconditions: { uid: 'd', resourceVersion: '7' },
})

test('DEL-12: an owner under foreground deletion waits for dependants in its namespace, without a request', async () => {
  const owner: Metadata = { uid: 'o', name: 'o', namespace: 'n', ...goingInForeground }
  const dependant = aDependant('n', owner)
  expect(await lookAt('d', [owner, dependant, belowOf(dependant)])).toEqual({
    changes: [deletion('n', 'Foreground')],
    asked: [pathOf(dependant)],
  })
})

test('DEL-12: a cluster-scoped owner under foreground deletion waits for dependants of any namespace, without a request', async () => {
  const owner: Metadata = { uid: 'o', name: 'o', ...goingInForeground }
  const dependant = aDependant('n', owner)
  expect(await lookAt('d', [owner, dependant, belowOf(dependant)])).toEqual({
    changes: [deletion('n', 'Foreground')],
    asked: [pathOf(dependant)],
  })
})

test('DEL-12: an owner under foreground deletion in another namespace counts as absent', async () => {
  const owner: Metadata = { uid: 'o', name: 'o', namespace: 'other', ...goingInForeground }
  const dependant = aDependant('n', owner)
  expect((await lookAt('d', [owner, dependant, belowOf(dependant)])).changes).toEqual([deletion('n', 'Background')])
})

test('DEL-12: a reference to a waiting or misplaced owner is removed beside an owner that exists', async () => {
  const solid: Metadata = { uid: 's', name: 's', namespace: 'n' }
  for (const namespace of ['n', 'other']) {
    const owner: Metadata = { uid: 'o', name: 'o', namespace, ...goingInForeground }
    const { ownerReferences } = ownedBy(solid)
    const { changes } = await lookAt('d', [owner, solid, aDependant('n', solid, owner)])
    expect(changes).toMatchObject([{ method: 'PATCH', metadata: { ownerReferences } }])
  }
})

const going = (...finalizers: string[]) => ({ deletionTimestamp: '2026-01-01T00:00:00Z', finalizers })
const aMap = (uid: string, more: object = {}): Metadata => ({ uid, name: uid, namespace: 'n', resourceVersion: `of ${uid}`, ...more })
const patch = (of: Metadata, metadata: object) => {
  const { uid, resourceVersion } = of
  return { method: 'PATCH', path: expect.stringContaining(pathOf(of)), metadata: { uid, resourceVersion, ...metadata } }
}
const remove = (of: Metadata, propagationPolicy: string) => {
  const { uid, resourceVersion } = of
  return { method: 'DELETE', path: pathOf(of), propagationPolicy, preconditions: { uid, resourceVersion } }
}

describe('DEL-12: the collector sends no request and changes nothing', () => {
  test('for an unknown object, and for an object that waits for finalizers of others', async () => {
    const owner = aMap('o')
    const nothing = { changes: [], asked: [], dropped: [], reported: [], isParted: false }
    expect(await look('x', [owner])).toEqual(nothing)
    expect(await look('d', [aMap('d', { ...going('a/b'), ...ownedBy(owner) })])).toEqual(nothing)
  })

  test('for an object that is being deleted, has no owners, or has only existing owners', async () => {
    const owner = aMap('o')
    const known = [aMap('d', ownedBy(owner))]
    expect(await look('d', [aMap('d', { ...going('a/b'), ...ownedBy(owner) })], { known })).toMatchObject({ changes: [], reported: [] })
    expect(await look('d', [aMap('d')], { known })).toMatchObject({ changes: [], asked: [pathOf(aMap('d'))] })
    expect(await look('d', [owner, aMap('d', ownedBy(owner))], { known })).toMatchObject({ changes: [], reported: ['d o solid'] })
  })
})

test('DEL-12: an object that is absent, or whose name another object has taken, is reported as absent', async () => {
  const known = [aMap('d', ownedBy(aMap('o')))]
  expect(await look('d', [], { known })).toMatchObject({ changes: [], dropped: ['d'] })
  expect(await look('d', [{ ...aMap('d'), uid: 'other' }], { known })).toMatchObject({ changes: [], dropped: ['d'] })
})

describe('DEL-12: an object whose owners are all deleted', () => {
  test.each([
    ['Background', {}],
    ['Background', { finalizers: ['a/b'] }],
    ['Orphan', { finalizers: ['a/b', 'orphan'] }],
    ['Foreground', { finalizers: ['foregroundDeletion'] }],
  ])('is deleted with %s propagation according to its finalizers: %j', async (policy, more) => {
    const dependant = aMap('d', { ...ownedBy(aMap('o'), aMap('p')), ...more })
    expect(await look('d', [dependant])).toMatchObject({ changes: [remove(dependant, policy)], reported: ['d o absent', 'd p absent'] })
  })

  test('is deleted with Background propagation if an owner waits and it has no dependants', async () => {
    const owner = aMap('o', goingInForeground)
    const dependant = aMap('d', ownedBy(owner))
    expect((await look('d', [owner, dependant])).changes).toEqual([remove(dependant, 'Background')])
  })

  test('is deleted with Background propagation if no owner waits, with or without dependants', async () => {
    const dependant = aMap('d', ownedBy(aMap('o')))
    expect((await look('d', [dependant, belowOf(dependant)])).changes).toEqual([remove(dependant, 'Background')])
  })

  test('stays if an owner orphaned it, and loses only the reference to that owner', async () => {
    const [o, p] = [aMap('o'), aMap('p')]
    const dependant = aMap('d', ownedBy(o, p))
    expect((await look('d', [dependant], { parted: ['o'] })).changes).toEqual([patch(dependant, ownedBy(p))])
    expect((await look('d', [dependant], { parted: ['o', 'p'] })).changes).toEqual([patch(dependant, { ownerReferences: null })])
  })

  test('is not released by an owner that still exists', async () => {
    const [o, p] = [aMap('o', goingInForeground), aMap('p')]
    const dependant = aMap('d', ownedBy(o, p))
    expect((await look('d', [dependant, o], { parted: ['o'] })).changes).toEqual([remove(dependant, 'Background')])
  })
})

test('DEL-12: a cluster-scoped object that names an owner in a namespace is not changed', async () => {
  const { namespace: _namespace, ...rest } = aMap('d', ownedBy(aMap('o'), { uid: 'x', name: 'x' }))
  expect(await look('d', [rest])).toMatchObject({ changes: [], reported: ['d o misplaced', 'd x absent'] })
})

test('LIM-12: only the first hundred of many owners are reported', async () => {
  const owners = Array.from({ length: 101 }, (_, index) => aMap(`o${index}`))
  const { reported } = await look('d', [aMap('d', ownedBy(...owners))])
  expect(reported).toEqual(owners.slice(0, 100).map(({ uid }) => `d ${uid} absent`))
})

describe('DEL-12: an object under foreground deletion', () => {
  const owner = aMap('o', going('a/b', 'foregroundDeletion'))
  const blocker = aMap('d', ownedBy(owner))

  test('waits for dependants with blockOwnerDeletion', async () => {
    expect((await look('o', [owner, blocker])).changes).toEqual([])
  })

  test.each([
    ['without dependants', []],
    ['with one that does not block', [{ ...blocker, ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'o' }] }]],
    ['with one in another namespace', [{ ...blocker, namespace: 'other' }]],
  ])('%s loses the finalizer foregroundDeletion, and no other finalizer', async (_name, others) => {
    expect((await look('o', [owner, ...others])).changes).toEqual([patch(owner, { finalizers: ['a/b'] })])
    const alone = aMap('o', goingInForeground)
    expect((await look('o', [alone, ...others])).changes).toEqual([patch(alone, { finalizers: null })])
  })

  test('in a cycle no longer blocks the owner that waits for it, and still blocks other owners', async () => {
    const other = aMap('x', goingInForeground)
    const below = aMap('d', { ...goingInForeground, ...ownedBy(aMap('o')) })
    const top = aMap('o', { ...goingInForeground, ...ownedBy(below, other) })
    const [first, second] = ownedBy(below, other).ownerReferences
    expect((await look('o', [top, below, other])).changes).toEqual([
      patch(top, { ownerReferences: [{ ...first, blockOwnerDeletion: false }, second] }),
    ])
    const { ownerReferences } = ownedBy(below)
    const unblocked = { ...top, ownerReferences: ownerReferences.map((one) => ({ ...one, blockOwnerDeletion: false })) }
    expect((await look('o', [unblocked, below])).changes).toEqual([])
  })
})

describe('DEL-12: an object that orphans its dependants', () => {
  const owner = aMap('o', going('orphan'))
  const other = aMap('x')

  test('is removed from the references of its dependants before its deletion, and from no object of another namespace', async () => {
    const [d, e, f] = [aMap('d', ownedBy(owner)), aMap('e', ownedBy(other, owner)), { ...aMap('f', ownedBy(owner)), namespace: 'other' }]
    const { changes, isParted } = await look('o', [owner, d, e, f])
    expect(changes).toEqual([patch(d, { ownerReferences: null }), patch(e, ownedBy(other)), patch(owner, { finalizers: null })])
    expect(isParted).toBe(true)
  })

  test('is not recorded as orphaned while it has other finalizers', async () => {
    const held = aMap('o', going('orphan', 'a/b'))
    expect(await look('o', [held])).toMatchObject({ changes: [patch(held, { finalizers: ['a/b'] })], isParted: false })
  })

  test('does not change dependants that are deleted or have lost the reference', async () => {
    const known = [owner, aMap('d', ownedBy(owner)), aMap('e', ownedBy(owner))]
    expect((await look('o', [owner, aMap('d', ownedBy(other))], { known })).changes).toEqual([patch(owner, { finalizers: null })])
  })

  test('is removed from the references of any number of dependants', async () => {
    const dependants = Array.from({ length: 50 }, (_, index) => aMap(`d${index}`, ownedBy(owner)))
    const { changes } = await look('o', [owner, ...dependants])
    expect(changes).toHaveLength(51)
  })
})
