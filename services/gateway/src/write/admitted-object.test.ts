import { createCatalogue } from '@orch/core/catalogue'
import { type ApiObject, StatusError } from '@orch/core/meta'
import { expect, test } from 'vitest'
import { LiveCatalogue } from '../custom-resources/live-catalogue.ts'
import { createServedResources, type Target } from '../target/target.ts'
import { isTakenWhole, takeAdmitted } from './admitted-object.ts'

const catalogue = createCatalogue('orch')
const resources = createServedResources(new LiveCatalogue(catalogue))

function targetOf(plural: string, subresource?: string): Pick<Target, 'served' | 'subresource'> {
  const served = resources.find('', 'v1', plural)
  if (served === undefined) throw new Error(`no resource ${plural}`)
  return { served, subresource: subresource === undefined ? undefined : served.subresource(subresource) }
}

const anObject = (metadata: ApiObject['metadata'], rest: object = {}): ApiObject => ({
  kind: 'K',
  apiVersion: 'v1',
  metadata: { name: 'a', namespace: 'n', ...metadata },
  ...rest,
})
const now = '2026-01-01T00:00:00Z'

/** The written form of an object that a webhook has left like this. */
function taken(own: ApiObject, left: ApiObject, { plural = 'pods', subresource = '', isNew = true } = {}): ApiObject {
  const target = targetOf(plural, subresource === '' ? undefined : subresource)
  return takeAdmitted({ target, own, left, live: isNew ? undefined : own, now })
}

test('members of the server that a webhook removes are restored, and members that it adds are dropped', () => {
  const servers = {
    selfLink: '/a',
    uid: 'u',
    resourceVersion: '5',
    generation: 3,
    creationTimestamp: now,
    deletionTimestamp: now,
    deletionGracePeriodSeconds: 30,
    managedFields: [{ manager: 'm' }],
  }
  const bare = anObject({})
  const full = anObject(servers)
  expect(taken(full, bare).metadata).toEqual(full.metadata)
  const left = taken(bare, full).metadata
  expect(left).toEqual(bare.metadata)
  expect(Object.keys(left)).toEqual(['name', 'namespace'])
  const other = anObject(Object.fromEntries(Object.keys(servers).map((field) => [field, 'other'])))
  expect(taken(full, other).metadata).toEqual(full.metadata)
})

test('a webhook’s changes of the writer’s members are accepted', () => {
  const own = anObject({ labels: { a: '1' }, annotations: { b: '1' }, finalizers: ['example.com/a'] }, { spec: { x: 1 } })
  const left = anObject({ labels: { a: '2' }, ownerReferences: [] }, { spec: { x: 2 } })
  expect(taken(own, left)).toEqual(left)
  expect(taken(own, { ...left, metadata: { ...left.metadata, name: 'b' } }).metadata.name).toBe('b')
})

test('a status that a webhook adds, changes or removes is restored, if the kind has a status subresource', () => {
  const [bare, full, other] = [anObject({}), anObject({}, { status: { phase: 'A' } }), anObject({}, { status: { phase: 'B' } })]
  expect(taken(bare, full)).not.toHaveProperty('status')
  expect(taken(bare, bare)).not.toHaveProperty('status')
  expect([taken(full, bare)['status'], taken(full, other)['status']]).toEqual([full['status'], full['status']])
  expect(taken(full, other, { plural: 'configmaps' })['status']).toEqual(other['status'])
})

test('a webhook may change only the subresource’s part, and none of the server’s members', () => {
  const own = anObject({ uid: 'u', generation: 3 }, { spec: { x: 1 }, status: { phase: 'A' } })
  const left = anObject({ uid: 'v', generation: 4, labels: { a: '1' } }, { spec: { x: 2 }, status: { phase: 'B' } })
  const through = taken(own, left, { subresource: 'status', isNew: false })
  expect(through).toEqual({ ...own, metadata: { ...own.metadata, labels: { a: '1' } }, status: { phase: 'B' } })
})

/** The refusal of a move. */
function refusalOf(own: ApiObject, left: ApiObject, isNew: boolean): unknown {
  try {
    return taken(own, left, { isNew })
  } catch (error) {
    return error instanceof StatusError ? [error.status.code, error.status.message] : error
  }
}

test('an object stays in its namespace, and an existing one keeps its name', () => {
  const own = anObject({})
  const nameless: ApiObject = { ...own, metadata: { namespace: 'n' } }
  const placeless: ApiObject = { ...own, metadata: { name: 'a' } }
  const moved = [400, 'the namespace of the provided object does not match the namespace sent on the request']
  expect(refusalOf(own, anObject({ namespace: 'm' }), true)).toEqual(moved)
  expect(refusalOf(own, anObject({ namespace: 'm' }), false)).toEqual(moved)
  for (const isNew of [true, false]) {
    expect(taken(own, placeless, { isNew }).metadata).toEqual(own.metadata)
    expect(taken(placeless, own, { plural: 'nodes', isNew }).metadata).toEqual(placeless.metadata)
    expect(taken(placeless, own, { plural: 'persistentvolumes', isNew }).metadata).toEqual(placeless.metadata)
  }
  const refused = (fields: string) => [422, expect.stringMatching(new RegExp(`^${fields}$`))]
  const name = (value: string) => `Pod "a" is invalid: metadata.name: Invalid value: "${value}": field is immutable`
  expect(refusalOf(own, anObject({ name: 'b' }), false)).toEqual(refused(name('b')))
  expect(refusalOf(own, nameless, false)).toEqual(refused(name('')))
})

test('derived members of a kind are derived again for an update, and not for a new object', () => {
  const derived: unknown[] = []
  const { served } = targetOf('pods')
  const prepareUpdate = (object: ApiObject, live: ApiObject) => {
    derived.push([object['spec'], live['spec']])
    object['spec'] = { derived: true }
  }
  const strategy = { ...served.strategy, rules: { prepareUpdate } }
  const deriving = { served: { ...served, strategy }, subresource: undefined }
  const [own, left, live] = [{ x: 1 }, { x: 2 }, { x: 3 }].map((spec) => anObject({}, { spec })) as [ApiObject, ApiObject, ApiObject]
  expect(takeAdmitted({ target: deriving, own, left, live: undefined, now })['spec']).toEqual({ x: 2 })
  expect(derived).toEqual([])
  expect(takeAdmitted({ target: deriving, own, left, live, now })['spec']).toEqual({ derived: true })
  expect(derived).toEqual([[{ x: 2 }, { x: 3 }]])
  const plain = { served: { ...served, strategy: { ...strategy, rules: {} } }, subresource: undefined }
  expect(takeAdmitted({ target: plain, own, left, live, now })['spec']).toEqual({ x: 2 })
})

test.each<[string, boolean, ApiObject, ApiObject, { subresource?: string }?]>([
  ['what a webhook has changed', true, anObject({}, { spec: { x: 1 } }), anObject({ labels: { a: '1' } }, { spec: { x: 2 } })],
  ['a member that a webhook adds', true, anObject({}), anObject({}, { spec: { x: 2 } })],
  ['not its status', false, anObject({}, { status: { phase: 'A' } }), anObject({}, { status: { phase: 'B' } })],
  ['not a status that it takes away', false, anObject({}, { status: { phase: 'A' } }), anObject({})],
  ['not what is the server’s to say', false, anObject({ uid: 'u' }), anObject({ uid: 'v' })],
  ['not what the server says alone', false, anObject({ uid: 'u' }), anObject({})],
  [
    'not the rest of it through a subresource',
    false,
    anObject({}, { spec: { x: 1 } }),
    anObject({}, { spec: { x: 2 } }),
    { subresource: 'status' },
  ],
])('the whole object is taken as admission returns it: %s', (_what, expected, own, left, { subresource = '' } = {}) => {
  expect(isTakenWhole(taken(own, left, { subresource, isNew: false }), left)).toBe(expected)
})
