import { describe, expect, test } from 'vitest'
import { lastAppliedOf, withLastApplied } from './apply.ts'
import type { OwnedObject } from './ownership.ts'

const annotation = 'client.example.com/last-applied-configuration'
const other = 'example.com/note'

const annotated = (annotations: Record<string, unknown>): OwnedObject => ({ kind: 'Widget', metadata: { name: 'one', annotations } })
const annotationsOf = (object: OwnedObject) => (object['metadata'] as { annotations?: Record<string, string> }).annotations

describe('SSA-50: the configuration of a client-side apply', () => {
  test('is the object in the annotation', () => {
    expect(lastAppliedOf(annotated({ [annotation]: '{"a":1}' }), annotation)).toEqual({ a: 1 })
  })

  test.each<[string, OwnedObject]>([
    ['without metadata', { kind: 'Widget' }],
    ['without annotations', { metadata: { name: 'one' } }],
    ['with another annotation only', annotated({ [other]: '{}' })],
    ['whose annotation is no text', annotated({ [annotation]: 5 })],
    ['whose annotation is a number in JSON', annotated({ [annotation]: '5' })],
  ])('is absent from an object %s', (_which, object) => {
    expect(lastAppliedOf(object, annotation)).toBeUndefined()
  })
})

describe('SSA-52: the annotation after an apply', () => {
  const live = annotated({ [annotation]: '{}', [other]: 'kept' })

  test.each<[string, OwnedObject]>([
    ['has no annotations', { metadata: { name: 'one' } }],
    ['has others only', annotated({ [other]: 'x' })],
    ['has an empty one', annotated({ [annotation]: '' })],
  ])('is not added to an object that %s', (_which, object) => {
    expect(withLastApplied(object, { kind: 'Widget' }, annotation)).toBe(object)
  })

  test('is the configuration with sorted keys, also in lists, and exact integers beyond 2^53', () => {
    const config = { spec: { b: [{ d: 1, c: 9007199254740993n }, 'x'], a: null }, kind: 'Widget' }
    expect(annotationsOf(withLastApplied(live, config, annotation))).toEqual({
      [annotation]: '{"kind":"Widget","spec":{"a":null,"b":[{"c":9007199254740993,"d":1},"x"]}}\n',
      [other]: 'kept',
    })
  })

  test('does not contain itself, but other annotations of the configuration', () => {
    const config = annotated({ [annotation]: 'old', [other]: 'x' })
    expect(annotationsOf(withLastApplied(live, config, annotation))?.[annotation]).toBe(
      '{"kind":"Widget","metadata":{"annotations":{"example.com/note":"x"},"name":"one"}}\n',
    )
    const alone = annotated({ [annotation]: 'old' })
    expect(annotationsOf(withLastApplied(live, alone, annotation))?.[annotation]).toBe('{"kind":"Widget","metadata":{"name":"one"}}\n')
  })

  test('that is up to date leaves the same object', () => {
    const current = withLastApplied(live, { kind: 'Widget' }, annotation)
    expect(withLastApplied(current, { kind: 'Widget' }, annotation)).toBe(current)
  })

  test('is removed if all annotations together would have more than 256 KiB', () => {
    const text = '{"kind":"Widget"}\n'
    const room = 256 * 1024 - text.length - annotation.length - other.length
    const full = (bytes: number) => annotated({ [annotation]: '{}', [other]: `é${'x'.repeat(bytes - 2)}` })
    expect(annotationsOf(withLastApplied(full(room), { kind: 'Widget' }, annotation))?.[annotation]).toBe(text)
    expect(Object.keys(annotationsOf(withLastApplied(full(room + 1), { kind: 'Widget' }, annotation)) ?? {})).toEqual([other])
  })
})
