import { describe, expect, test } from 'vitest'
import { decoderOf } from '../schema/decode.ts'
import { findCreatedFields, keepCreatedFields } from './created-fields.ts'
import { emptySet, setOfPaths } from './field-set.ts'
import { hasOutline, outlineOf } from './outline.ts'
import { type OwnedObject, trackUpdate } from './ownership.ts'
import { anyScalar, deducedShape, listShape, mapShape } from './shape.ts'
import { shapeOfType } from './type-shape.ts'

const read = (object: object): OwnedObject => {
  const decoded = decoderOf('core/v1.Pod')(object, { trackUnknown: false })
  return decoded.kind === 'decoded' ? decoded.object : {}
}
const blank = read({})
const schema = shapeOfType('core/v1.Pod')
const owners = (after: OwnedObject, base: OwnedObject, manager = 'm') =>
  trackUpdate({ before: undefined, after, manager, apiVersion: 'v1', now: '2026-01-01T00:00:00Z', schema, blank: base })

type Pod = { metadata: Record<string, unknown>; spec: Record<string, unknown> }
const pod = (): Pod => ({
  metadata: { name: 'a', labels: { app: 'x' }, finalizers: ['f', 'g'] },
  spec: {
    containers: [{ name: 'c', image: 'i', args: ['1'], env: [{ name: 'A', value: '1' }], ports: [{ containerPort: 80, protocol: 'TCP' }] }],
    volumes: [{ name: 'v', emptyDir: {} }],
    nodeSelector: { a: 'b' },
    terminationGracePeriodSeconds: 30,
  },
})
const container = (changes: object) => (one: Pod) => {
  const [first] = one.spec['containers'] as object[]
  one.spec['containers'] = [{ ...first, ...changes }]
}

describe('MF-06: the owned fields of a new object equal those of a similar object', () => {
  test.each<[string, (one: Pod) => void, boolean]>([
    ['other values', container({ image: 'j', args: ['2', '3'] }), true],
    ['another name', (one) => Object.assign(one.metadata, { name: 'b', namespace: undefined }), true],
    ['another value of a label', (one) => Object.assign(one.metadata, { labels: { app: 'y' } }), true],
    ['another map that is owned as a whole', (one) => Object.assign(one.spec, { nodeSelector: { c: 'd' } }), true],
    ['another label', (one) => Object.assign(one.metadata, { labels: { part: 'x' } }), false],
    ['a label more', (one) => Object.assign(one.metadata, { labels: { app: 'x', part: 'y' } }), false],
    ['a time of creation', (one) => Object.assign(one.metadata, { creationTimestamp: '2026-01-01T00:00:00Z' }), false],
    ['a generated name', (one) => Object.assign(one.metadata, { generateName: 'a-' }), false],
    ['another item of a set', (one) => Object.assign(one.metadata, { finalizers: ['f', 'h'] }), false],
    ['a set in another order', (one) => Object.assign(one.metadata, { finalizers: ['g', 'f'] }), false],
    ['an item with another key', container({ env: [{ name: 'B', value: '1' }] }), false],
    ['an item with another of two keys', container({ ports: [{ containerPort: 80, protocol: 'UDP' }] }), false],
    ['an item more', container({ env: [{ name: 'A', value: '1' }, { name: 'B' }] }), false],
    ['a field of an item less', container({ env: [{ name: 'A' }] }), false],
    ['an empty list', container({ env: [] }), false],
    ['another source of a volume', (one) => Object.assign(one.spec, { volumes: [{ name: 'v', hostPath: { path: '/' } }] }), false],
    ['a field less', (one) => delete one.spec['terminationGracePeriodSeconds'], false],
    ['a status', (one) => Object.assign(one, { status: { phase: 'Running' } }), false],
  ])('with %s', (_what, change, isAlike) => {
    const [first, second] = [pod(), pod()]
    change(second)
    const [one, other] = [read(first), read(second)]
    const own = structuredClone(blank)
    owners(one, own)
    expect(findCreatedFields({ shape: schema, object: other, blank: own, resetFields: undefined }) !== undefined).toBe(isAlike)
    expect(owners(other, own, 'n')).toEqual(owners(other, structuredClone(blank), 'n'))
  })

  const ownedBy = (...uids: readonly unknown[]) => {
    const ownerReferences = uids.map((uid) => ({ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid, controller: true }))
    return { ...pod(), metadata: { name: 'a', labels: { app: 'x' }, ownerReferences } }
  }

  test.each<[string, readonly unknown[], boolean]>([
    ['another owner', ['2'], true],
    ['an owner whose uid is quoted', ['"}'], true],
    ['an owner with an empty uid', [''], true],
    ['two owners', ['1', '2'], false],
    ['no owner', [], false],
  ])('with %s', (_what, uids, isAlike) => {
    const own = structuredClone(blank)
    owners(read(ownedBy('1')), own)
    const other = read(ownedBy(...uids))
    expect(findCreatedFields({ shape: schema, object: other, blank: own, resetFields: undefined }) !== undefined).toBe(isAlike)
    const entries = owners(other, own, 'n')
    expect(JSON.stringify(entries)).toBe(JSON.stringify(owners(other, structuredClone(blank), 'n')))
    expect(owners(read(ownedBy(...uids)), own, 'n')[0]?.fieldsV1).toBe(entries[0]?.fieldsV1)
    const changeOf = (managedFields: typeof entries) => {
      const before = { ...other, metadata: { ...(other['metadata'] as object), managedFields } }
      const after = { ...before, metadata: { ...before.metadata, labels: { app: 'y' }, ownerReferences: [] } }
      return trackUpdate({ before, after, manager: 'o', apiVersion: 'v1', now: '2026-01-01T00:00:01Z', schema, blank: own })
    }
    expect(changeOf(entries)).toEqual(changeOf(structuredClone(entries)))
  })

  test('but not of an object with another blank form, or with other fields that the request cannot write', () => {
    const [object, fields] = [{ a: 'x' }, { 'f:a': {} }]
    const noted = { shape: mapShape(anyScalar, { isAtomic: false }), object, blank: {}, resetFields: emptySet }
    keepCreatedFields(noted, fields)
    expect(findCreatedFields(noted)).toMatchObject({ fields })
    expect(findCreatedFields({ ...noted, blank: {} })).toBeUndefined()
    expect(findCreatedFields({ ...noted, resetFields: setOfPaths([['f:status']]) })).toBeUndefined()
    expect(findCreatedFields({ ...noted, blank: undefined, resetFields: undefined })).toBeUndefined()
  })

  test('for each of the last few outlines', () => {
    const own = structuredClone(blank)
    const labelled = (label: string) => read({ ...pod(), metadata: { name: 'a', labels: { [label]: '' } } })
    const isKnown = (label: string) =>
      findCreatedFields({ shape: schema, object: labelled(label), blank: own, resetFields: undefined }) !== undefined
    for (const label of ['a', 'b', 'c', 'd']) owners(labelled(label), own)
    expect(['a', 'b', 'c', 'd'].map(isKnown)).toEqual([true, true, true, true])
    owners(labelled('e'), own)
    expect(['a', 'b', 'e'].map(isKnown)).toEqual([false, true, true])
  })
})

test('values without schema have an outline up to the end of their known fields', () => {
  const outline = outlineOf(deducedShape, { a: { b: null } }, undefined)
  expect(outline && hasOutline(outline, { a: { b: null } })).toBe(true)
  expect(outline && hasOutline(outline, { a: { b: {} } })).toBe(false)
  expect(outlineOf(deducedShape, { a: [1] }, undefined)).toBeUndefined()
  const texts = outlineOf(deducedShape, { a: 'x' }, undefined)
  expect([{ a: 'y' }, { a: 1 }, { a: {} }, { a: null }].map((value) => texts && hasOutline(texts, value))).toEqual([
    true,
    false,
    false,
    false,
  ])
})

test('the outline of a blank value differs from the outline of a changed value', () => {
  const shape = mapShape(anyScalar, { isAtomic: false })
  const outline = outlineOf(shape, { a: '' }, { a: '' })
  expect(outline && hasOutline(outline, { a: '' })).toBe(true)
  expect(outline && hasOutline(outline, { a: 'x' })).toBe(false)
})

test('a large object has no outline', () => {
  const list = listShape({ listType: 'set', items: anyScalar })
  const items = Array.from({ length: 2_000 }, (_, index) => index)
  expect(outlineOf(list, items, undefined)).toBeUndefined()
  expect(outlineOf(list, items.slice(0, 1_000), undefined)).toBeDefined()
})
