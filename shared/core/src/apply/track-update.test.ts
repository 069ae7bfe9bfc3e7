import { describe, expect, test, vi } from 'vitest'
import type { ManagedFieldsEntry } from '../meta/object-meta.ts'
import { decoderOf } from '../schema/decode.ts'
import { runAtOnce } from '../steps.ts'
import { parseStructural } from '../structural/parse.ts'
import { shapeOfCustomObject as shapeOfParsedCustomObject } from '../structural/shape.ts'
import { type ApplyOptions, applyToInSteps } from './apply.ts'
import { setOfPaths } from './field-set.ts'
import { type OwnedObject, type TrackOptions, trackUpdate } from './ownership.ts'
import type { ObjectShape } from './shape.ts'
import { shapeOfType } from './type-shape.ts'

function shapeOfCustomObject(schema: unknown): ObjectShape {
  return shapeOfParsedCustomObject(schema === undefined ? undefined : parseStructural(schema))
}

const applyTo = (options: ApplyOptions) => runAtOnce(applyToInSteps(options))

const schema = shapeOfCustomObject({
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer' },
        color: { type: 'string' },
        tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
      },
    },
    status: { type: 'object', properties: { ready: { type: 'boolean' } } },
  },
})
const apiVersion = 'example.com/v1'
const now = '2026-01-01T00:00:10Z'

const widget = (
  spec: Record<string, unknown>,
  metadata: Record<string, unknown> = {},
  more: Record<string, unknown> = {},
): OwnedObject => ({
  apiVersion,
  kind: 'Widget',
  metadata: { name: 'one', ...metadata },
  spec,
  ...more,
})

const track = (options: Partial<TrackOptions> & Pick<TrackOptions, 'before' | 'after'>): ManagedFieldsEntry[] =>
  trackUpdate({ manager: 'edit', apiVersion, now, schema, ...options })

const entry = (manager: string, fieldsV1: Record<string, unknown>, more: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry => ({
  manager,
  operation: 'Update',
  apiVersion,
  time: '2026-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1,
  ...more,
})

const applied = (manager: string, spec: Record<string, unknown>) =>
  entry(manager, { 'f:spec': Object.fromEntries(Object.keys(spec).map((key) => [`f:${key}`, {}])) }, { operation: 'Apply' })

describe('create', () => {
  test('SSA-08, MF-01, MF-04, MF-05: the creator owns the fields that it set, containers included', () => {
    expect(track({ before: undefined, after: widget({ size: 1, labels: { a: 'b' } }, { labels: { x: 'y' }, uid: 'u' }) })).toEqual([
      {
        manager: 'edit',
        operation: 'Update',
        apiVersion,
        time: now,
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:metadata': { 'f:labels': { '.': {}, 'f:x': {} } },
          'f:spec': { '.': {}, 'f:labels': { '.': {}, 'f:a': {} }, 'f:size': {} },
        },
      },
    ])
  })

  test('fields that every object of a built-in kind has are not owned by their presence', () => {
    const decode = (object: unknown) => {
      const decoded = decoderOf('core/v1.Pod')(object, { trackUnknown: false })
      if (decoded.kind === 'mismatch') throw new Error(decoded.message)
      return decoded.object
    }
    const after = decode({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } })
    const [created] = track({ before: undefined, after, blank: decode({}), schema: shapeOfType('core/v1.Pod'), apiVersion: 'v1' })
    expect(created?.fieldsV1).toEqual({
      'f:spec': { 'f:containers': { 'k:{"name":"c"}': { '.': {}, 'f:image': {}, 'f:name': {}, 'f:resources': {} } } },
    })
  })
})

describe('update', () => {
  const owners = [applied('m1', { size: 1, color: 'red' })]
  const before = widget({ size: 1, color: 'red' }, { uid: 'u', managedFields: owners })

  test('SSA-09 SSA-10 SSA-15: a manager that changes a field owns it, and no other manager does', () => {
    expect(track({ before, after: widget({ size: 2, color: 'red' }, { managedFields: owners }) })).toEqual([
      applied('m1', { color: 'red' }),
      entry('edit', { 'f:spec': { 'f:size': {} } }, { time: now }),
    ])
  })

  test('a removed field has no owner', () => {
    expect(track({ before, after: widget({ color: 'red' }) })).toEqual([applied('m1', { color: 'red' })])
  })

  test('a write that changes nothing leaves the entries unchanged', () => {
    expect(track({ before, after: widget({ size: 1, color: 'red' }) })).toEqual(owners)
  })

  test('a second update adds to the same entry', () => {
    const first = track({ before, after: widget({ size: 2, color: 'red' }) })
    const second = track({
      before: widget({ size: 2, color: 'red' }, { managedFields: first }),
      after: widget({ size: 2, color: 'blue' }),
      now: '2026-01-01T00:00:20Z',
    })
    expect(second).toEqual([entry('edit', { 'f:spec': { 'f:color': {}, 'f:size': {} } }, { time: '2026-01-01T00:00:20Z' })])
  })

  test('MF-03: an update through another version has an entry of its own', () => {
    const convert = (object: unknown) => ({ object, shape: schema })
    const first = track({ before, after: widget({ size: 2, color: 'red' }) })
    const second = track({
      before: widget({ size: 2, color: 'red' }, { managedFields: first }),
      after: widget({ size: 3, color: 'blue' }),
      apiVersion: 'example.com/v2',
      convert,
    })
    expect(second).toEqual([entry('edit', { 'f:spec': { 'f:color': {}, 'f:size': {} } }, { apiVersion: 'example.com/v2', time: now })])
  })

  test('an untracked object stays untracked until the first apply', () => {
    expect(track({ before: widget({ size: 1 }, { uid: 'u' }), after: widget({ size: 2 }) })).toEqual([])
  })

  test('SSA-66: an update of the status has an entry with the subresource', () => {
    const after = widget({ size: 1, color: 'red' }, {}, { status: { ready: true } })
    expect(track({ before, after, subresource: 'status' })[1]).toEqual(
      entry('edit', { 'f:status': { '.': {}, 'f:ready': {} } }, { time: now, subresource: 'status' }),
    )
  })

  test('a field that the request cannot write is not owned', () => {
    const after = widget({ size: 2, color: 'red' }, {}, { status: { ready: true } })
    expect(track({ before, after, resetFields: setOfPaths([['f:status']]) })[1]?.fieldsV1).toEqual({ 'f:spec': { 'f:size': {} } })
  })

  test('entries of another version are dropped without a conversion', () => {
    const managedFields = [...owners, entry('m2', { 'f:spec': { 'f:color': {} } }, { apiVersion: 'example.com/v2' })]
    const live = widget({ size: 1, color: 'red' }, { uid: 'u', managedFields })
    expect(track({ before: live, after: widget({ size: 1, color: 'red' }) })).toEqual(owners)
  })

  test('an error of a conversion is reported', () => {
    const convert = () => {
      throw new Error('no such conversion')
    }
    const managedFields = [entry('m2', { 'f:spec': { 'f:color': {} } }, { apiVersion: 'example.com/v2' })]
    const live = widget({ size: 1, color: 'red' }, { uid: 'u', managedFields })
    expect(() => track({ before: live, after: widget({ size: 2, color: 'red' }), convert })).toThrow('no such conversion')
  })

  test('lists whose items cannot be owned one by one leave the entries unchanged', () => {
    expect(track({ before, after: widget({ size: 2, tags: [['a']] }) })).toEqual(owners)
  })

  test('an item that a manager repeats is owned by it, and by the manager that removes the repetition afterwards', () => {
    const written = (tags: string[], found: ManagedFieldsEntry[]) => widget({ size: 1, color: 'red', tags }, { managedFields: found })
    const ownersOfTags = (found: ManagedFieldsEntry[]) =>
      found.filter(({ fieldsV1 }) => JSON.stringify(fieldsV1).includes('f:tags')).map(({ manager }) => manager)
    const single = track({ before, after: written(['a'], owners), manager: 'first' })
    const both = track({ before: written(['a'], single), after: written(['a', 'a'], single), manager: 'second' })
    expect(ownersOfTags(both)).toEqual(['first', 'second'])
    expect(both.at(-1)?.fieldsV1).toEqual({ 'f:spec': { 'f:tags': { 'v:"a"': {} } } })
    const again = track({ before: written(['a', 'a'], both), after: written(['a'], both), manager: 'third' })
    expect(ownersOfTags(again)).toEqual(['first', 'third'])
  })

  test('the inputs are not changed', () => {
    const copy = structuredClone(before)
    track({ before, after: widget({ size: 2 }) })
    expect(before).toEqual(copy)
  })
})

describe('entries in the request', () => {
  const owners = [applied('m1', { size: 1 })]
  const before = widget({ size: 1, color: 'red' }, { uid: 'u', managedFields: owners })

  test('SSA-59 SSA-60 SSA-61: one empty entry clears the list', () => {
    expect(track({ before, after: widget({ size: 1, color: 'red' }, { managedFields: [{}] }) })).toEqual([])
  })

  test('SSA-62: an empty list resets all entries, even if the object no longer shows the list', () => {
    expect(track({ before, after: widget({ size: 1, color: 'red' }, { managedFields: [] }) })).toEqual([])
    expect(track({ before, after: widget({ size: 1, color: 'red' }), isReset: true })).toEqual([])
  })

  test('SSA-63: a reset with other changes resets first, and then the writer owns the changes', () => {
    expect(track({ before, after: widget({ size: 1, color: 'blue' }, { managedFields: [{}] }) })).toEqual([
      entry('edit', { 'f:spec': { 'f:color': {} } }, { time: now }),
    ])
  })

  test('a reset through a subresource is ignored', () => {
    expect(track({ before, after: widget({ size: 1, color: 'red' }, { managedFields: [{}] }), subresource: 'status' })).toEqual(owners)
  })

  test('entries may be set', () => {
    const given = [entry('other', { 'f:spec': { 'f:color': {} } })]
    expect(track({ before, after: widget({ size: 1, color: 'red' }, { managedFields: given }) })).toEqual(given)
  })

  test('entries in a request to a subresource are ignored', () => {
    const given = [entry('other', { 'f:spec': { 'f:color': {} } })]
    const after = widget({ size: 1, color: 'red' }, { managedFields: given })
    expect(track({ before, after, subresource: 'status' })).toEqual(owners)
  })

  test.each<[string, unknown]>([
    ['text', 'x'],
    ['list with a text among entries', [...owners, 'x']],
  ])('a %s is no reset', (_name, managedFields) => {
    expect(track({ before, after: widget({ size: 1, color: 'red' }, { managedFields }) })).toEqual(owners)
  })

  test.each([
    ['operation', { operation: 'Create' }],
    ['form', { fieldsType: 'FieldsV2' }],
    ['version', { apiVersion: '' }],
    ['set', { fieldsV1: { nonsense: {} } }],
  ])('entries with an unknown %s are ignored, and the entries of the object stay', (_name, wrong) => {
    const given = [{ ...entry('other', {}), ...wrong }]
    expect(track({ before, after: widget({ size: 1, color: 'red' }, { managedFields: given }) })).toEqual(owners)
  })

  test('MF-07: a set may be called fields, as it once was', () => {
    const { fieldsV1, ...old } = applied('m1', { size: 1 })
    const live = widget({ size: 1 }, { uid: 'u', managedFields: [{ ...old, fields: fieldsV1 }] })
    expect(track({ before: live, after: widget({ size: 1 }) })).toEqual(owners)
  })
})

describe('the limit of update entries', () => {
  const second = (count: number) => `2026-01-01T00:00:${String(count).padStart(2, '0')}Z`

  test('joins the oldest into ancient-changes, which keeps their fields', () => {
    let live = widget({ labels: {} }, { uid: 'u', managedFields: [applied('m0', { size: 1 })] })
    for (let count = 0; count < 13; count++) {
      const labels = { ...((live['spec'] as Record<string, object>)['labels'] ?? {}), [`l${count}`]: 'x' }
      const managedFields = track({ before: live, after: widget({ labels }), manager: `u${count}`, now: second(count) })
      live = widget({ labels }, { uid: 'u', managedFields })
    }
    const entries = (live['metadata'] as Record<string, ManagedFieldsEntry[]>)['managedFields'] ?? []
    const updates = entries.filter(({ operation }) => operation === 'Update')
    expect(updates.map(({ manager }) => manager)).toEqual(['ancient-changes', 'u4', 'u5', 'u6', 'u7', 'u8', 'u9', 'u10', 'u11', 'u12'])
    expect(updates[0]).toMatchObject({
      time: second(3),
      fieldsV1: { 'f:spec': { 'f:labels': { 'f:l0': {}, 'f:l1': {}, 'f:l2': {}, 'f:l3': {} } } },
    })
  })
})

describe('a writer that changes only fields that it already owns', () => {
  const given = entry('edit', { 'f:spec': { 'f:size': {}, 'f:color': {} } }, { time: '2026-01-01T00:00:00Z' })
  const before = widget({ size: 1, color: 'red' }, { uid: 'u', managedFields: [given] })
  const changed = (managedFields: ManagedFieldsEntry[], size: number, time: string) =>
    track({ before, after: widget({ size, color: 'red' }, { managedFields }), now: time })

  test('has its fields printed in order, and later reuses the same fields', () => {
    const first = changed([given], 2, '2026-01-01T00:00:20Z')
    expect(JSON.stringify(first)).toBe(
      JSON.stringify([entry('edit', { 'f:spec': { 'f:color': {}, 'f:size': {} } }, { time: '2026-01-01T00:00:20Z' })]),
    )
    const second = changed(first, 3, '2026-01-01T00:00:30Z')
    expect(second).toEqual([{ ...first[0], time: '2026-01-01T00:00:30Z' }])
    expect(second[0]?.fieldsV1).toBe(first[0]?.fieldsV1)
  })

  test('has other fields printed once it owns more', () => {
    const first = changed([given], 2, '2026-01-01T00:00:20Z')
    const after = widget({ size: 3, color: 'red', tags: ['a'] }, { managedFields: first })
    expect(track({ before, after })[0]?.fieldsV1).toEqual({
      'f:spec': { 'f:color': {}, 'f:size': {}, 'f:tags': { '.': {}, 'v:"a"': {} } },
    })
    expect(first[0]?.fieldsV1).toEqual({ 'f:spec': { 'f:color': {}, 'f:size': {} } })
  })
})

describe('entries that are joined', () => {
  const updates = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      entry(`u${index}`, { 'f:spec': { 'f:labels': { [`f:l${index}`]: {} } } }, { time: `2026-01-01T00:00:0${index % 10}Z` }),
    )
  const labels = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`l${index}`, 'x']))
  const managersAfter = (managedFields: ManagedFieldsEntry[]) =>
    track({ before: widget({ labels }), after: widget({ labels }, { managedFields }) }).map(({ manager }) => manager)

  test('are the oldest, in any order of the list', () => {
    const newestFirst = updates(10).toReversed()
    const late = entry('late', { 'f:spec': { 'f:labels': { 'f:l10': {} } } }, { time: '2026-01-01T00:00:30Z' })
    const managers = managersAfter([late, ...newestFirst])
    expect(managers).toEqual(['ancient-changes', 'u2', 'u3', 'u4', 'u5', 'u6', 'u7', 'u8', 'u9', 'late'])
  })

  test('are none with ten updates, beside any number of appliers', () => {
    const appliers = Array.from({ length: 8 }, (_, index) => applied(`a${index}`, { labels }))
    const managers = managersAfter([...appliers, ...updates(10)])
    expect(managers).toHaveLength(18)
    expect(managers).not.toContain('ancient-changes')
  })

  test('have the same version', () => {
    const [oldest, ...rest] = updates(10)
    const late = entry('late', { 'f:spec': { 'f:labels': { 'f:l10': {} } } }, { time: '2026-01-01T00:00:30Z' })
    const managedFields = [{ ...(oldest as ManagedFieldsEntry), apiVersion: 'example.com/v2' }, ...rest, late]
    const after = widget({ labels }, { managedFields })
    const entries = track({ before: widget({ labels }), after, convert: (object) => ({ object, shape: schema }) })
    expect(entries.map(({ manager }) => manager)).toEqual(['u0', 'ancient-changes', 'u3', 'u4', 'u5', 'u6', 'u7', 'u8', 'u9', 'late'])
  })
})

test('LIM-12: the cost of joining old entries grows linearly with them', () => {
  const steps = (count: number): number => {
    const labels = Object.fromEntries(Array.from({ length: count }, (_, index) => [`l${index}`, 'x']))
    const managedFields = Object.keys(labels).map((name) => entry(`m-${name}`, { 'f:spec': { 'f:labels': { [`f:${name}`]: {} } } }))
    const set = vi.spyOn(Map.prototype, 'set')
    const entries = track({ before: widget({ labels }), after: widget({ labels, size: 1 }, { managedFields }) })
    const calls = set.mock.calls.length
    set.mockRestore()
    expect(entries).toHaveLength(10)
    return calls
  }
  expect(steps(2_000) / steps(1_000)).toBeLessThan(2.2)
})

describe('the order of entries', () => {
  test('puts appliers first, then sorts by time, manager, version and subresource', () => {
    const managedFields = [
      entry('b', { 'f:spec': { 'f:size': {} } }),
      entry('a', { 'f:spec': { 'f:size': {} } }, { subresource: 'x' }),
      entry('a', { 'f:spec': { 'f:size': {} } }),
      entry('late', { 'f:spec': { 'f:size': {} } }, { operation: 'Apply', time: '2026-01-01T00:00:09Z' }),
      entry('early', { 'f:spec': { 'f:size': {} } }, { operation: 'Apply' }),
    ]
    const live = widget({ size: 1, color: 'red' }, { managedFields })
    const outcome = applyTo({ live, config: widget({ color: 'red' }), manager: 'new', apiVersion, force: false, schema, now })
    expect(outcome.kind === 'applied' && outcome.managedFields.map(({ manager, subresource = '' }) => manager + subresource)).toEqual([
      'new',
      'early',
      'late',
      'a',
      'ax',
      'b',
    ])
  })
})

test('an update whose managedFields have other orders of keys, as YAML sorts them, changes nothing', () => {
  const port = (number: number) => `k:{"port":${number}}`
  const [first, second] = [{ [port(80)]: {} }, { [port(443)]: {} }]
  const owners = [entry('m1', { 'f:spec': { 'f:size': {}, 'f:tags': { ...first, ...second } } })]
  const sorted = [entry('m1', { 'f:spec': { 'f:size': {}, 'f:tags': { ...second, ...first } } })]
  const before = widget({ size: 1 }, { uid: 'u', managedFields: owners })
  expect(JSON.stringify(track({ before, after: widget({ size: 1 }, { managedFields: sorted }) }))).toBe(JSON.stringify(owners))
})
