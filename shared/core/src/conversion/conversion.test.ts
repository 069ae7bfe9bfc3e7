import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { namesOf } from '../names.ts'
import { type ConvertedObject, objectsToConvert, restoreMetadata, takeConverted } from './objects.ts'
import { createConversionRequest, readConversionResponse } from './review.ts'

// biome-ignore lint/suspicious/noExplicitAny: tables of several shapes.
const tables: Record<string, { readonly cases: readonly any[] }> = JSON.parse(
  readFileSync(new URL('./cases/conversion.json', import.meta.url), 'utf8'),
)
const cases = (name: string) => (tables[name]?.cases ?? []).map((row) => [row.name, row] as const)
const names = namesOf('kubernetes')

describe('CRD-123: strategy None changes only the version', () => {
  test.each(cases('conversion-none').filter(([, row]) => row.expectedFailure === ''))(
    'as in the recorded case: %s',
    (_, { sourceObject, toVersion, expectedObject }) => {
      const convert = (object: ConvertedObject) => ({ ...object, apiVersion: toVersion })
      const given = sourceObject.items === undefined ? convert(sourceObject) : sourceObject.items.map(convert)
      expect(given).toEqual(expectedObject.items ?? expectedObject)
    },
  )
})

describe('CRD-127: only objects of another version are sent', () => {
  test.each(cases('conversion-objects'))('as in the recorded case: %s', (_, { object, apiVersion, expectObjects = [] }) => {
    const objects = object.items ?? (object.apiVersion === undefined ? [] : [object])
    expect(objectsToConvert(objects, apiVersion)).toEqual(expectObjects.map((entry: { object: unknown }) => entry.object))
  })
})

describe('CRD-126: the review has the first version that both sides know', () => {
  test.each(cases('conversion-requests'))('as in the recorded case: %s', (_, { versions, expectErr, expectRequest }) => {
    const objects = [{ apiVersion: 'foo/v2', kind: 'Widget' }]
    const create = () => createConversionRequest({ versions, uid: 'uid', desiredApiVersion: 'foo/v1', objects }, names)
    if (expectErr !== undefined) return expect(create).toThrow(expectErr)
    const { uid, desiredAPIVersion } = expectRequest.request
    const apiVersion = `apiextensions.k8s.io/${versions[0]}`
    expect(create().review).toEqual({ kind: 'ConversionReview', apiVersion, request: { uid, desiredAPIVersion, objects } })
  })

  test('in the orch profile it has the group of that profile', () => {
    const { review } = createConversionRequest({ versions: ['v1'], uid: 'u', desiredApiVersion: 'foo/v1', objects: [] }, namesOf('orch'))
    expect(review).toMatchObject({ apiVersion: 'apiextensions.orch.io/v1' })
  })
})

describe('CRD-128, CRD-129: answers that are accepted and refused', () => {
  // Go's "unknown type" and a missing type correspond over HTTP to an object without a response, and to null.
  const rows = cases('conversion-responses').map(
    ([name, row]) =>
      [
        name,
        row.expectErr === 'unrecognized response type' && row.response !== undefined ? { ...row, expectErr: 'no response provided' } : row,
      ] as const,
  )

  test.each(rows)('are read as recorded: %s', (name, { response = null, expectErr, expectObjects = [] }) => {
    const version = name.includes('v1beta1') ? 'v1beta1' : name.includes('v1') ? 'v1' : 'v1beta1'
    const read = () => readConversionResponse(response, { version, uid: 'uid' }, names)
    if (expectErr !== undefined) return expect(read).toThrow(expectErr)
    expect(read().map((object) => ({ object }))).toEqual(expectObjects.map(({ object }: { object: unknown }) => ({ object: { object } })))
  })
})

describe('CRD-130: a webhook changes only labels and annotations of the metadata', () => {
  test.each(cases('conversion-restore-meta'))('as in the recorded case: %s', (_, { original, converted, expected, expectedError }) => {
    const { annotations } = converted.metadata ?? {}
    if (annotations?.foo?.repeat !== undefined) annotations.foo = annotations.foo.repeat.repeat(annotations.foo.length)
    const restored = restoreMetadata(original, converted)
    if (expectedError) return expect(restored).toHaveProperty('problem')
    // The original has no metadata to restore.
    expect(restored).toEqual({ object: expected })
  })
})

describe('CRD-128: the objects of a webhook', () => {
  const original = (name: string, apiVersion = 'foo/v2') => ({
    apiVersion,
    kind: 'Widget',
    metadata: { name, namespace: 'n', uid: `u-${name}`, finalizers: ['f'] },
  })
  const converted = (name: string, more: object = {}) => ({ ...original(name, 'foo/v1'), ...more })
  const take = (objects: readonly ConvertedObject[], given: readonly unknown[]) =>
    takeConverted({ asked: 'foo/v2, Kind=Widget', desiredApiVersion: 'foo/v1', objects, level: 25 }, given)

  test('replace the sent objects, in order, and leave the other objects unchanged', () => {
    const objects = [original('a'), original('b', 'foo/v1'), original('c')]
    expect(take(objects, [converted('a', { spec: 1 }), converted('c', { spec: 3 })])).toEqual([
      converted('a', { spec: 1 }),
      original('b', 'foo/v1'),
      converted('c', { spec: 3 }),
    ])
  })

  test.each([
    ['too few', [], 'conversion webhook for foo/v2, Kind=Widget returned 0 objects, expected 1'],
    [
      'no object',
      [[]],
      'conversion webhook for foo/v2, Kind=Widget returned invalid converted object at index 0: an object with apiVersion and kind',
    ],
    ['another version', [original('a')], 'at index 0: invalid groupVersion (expected foo/v1, received foo/v2)'],
    ['another kind', [converted('a', { kind: 'Gadget' })], 'at index 0: invalid kind (expected Widget, received Gadget)'],
    ['another name', [converted('a', { metadata: { name: 'b', namespace: 'n', uid: 'u-a' } })], 'must have the same name: a != b'],
    [
      'another namespace',
      [converted('a', { metadata: { name: 'a', namespace: 'm', uid: 'u-a' } })],
      'must have the same namespace: n != m',
    ],
    ['another uid', [converted('a', { metadata: { name: 'a', namespace: 'n', uid: 'x' } })], 'must have the same UID: u-a != x'],
    [
      'bad labels',
      [converted('a', { metadata: { name: 'a', namespace: 'n', uid: 'u-a', labels: { '-': 'x' } } })],
      'returned invalid metadata in object at index 0: metadata.labels: Invalid value: "-"',
    ],
  ])('%s is refused', (_, given, message) => {
    expect(() => take([original('a')], given)).toThrow(message)
  })
})
