import { describe, expect, test } from 'vitest'
import { runAtOnce } from '../steps.ts'
import { parseStructural } from '../structural/parse.ts'
import { shapeOfCustomObject as shapeOfParsedCustomObject } from '../structural/shape.ts'
import { type ApplyOptions, type ApplyOutcome, applyToInSteps } from './apply.ts'
import { conflictStatus } from './conflicts.ts'
import { setOfPaths } from './field-set.ts'
import { managedFieldsOf, type OwnedObject, trackUpdate } from './ownership.ts'
import { sameOwners } from './same-owners.ts'
import type { ObjectShape, Shape } from './shape.ts'
import { shapeOfType } from './type-shape.ts'

function shapeOfCustomObject(schema: unknown): ObjectShape {
  return shapeOfParsedCustomObject(schema === undefined ? undefined : parseStructural(schema))
}

const applyTo = (options: ApplyOptions) => runAtOnce(applyToInSteps(options))

const keyed = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['port', 'protocol'],
  items: {
    type: 'object',
    properties: {
      port: { type: 'integer' },
      protocol: { type: 'string', default: 'TCP' },
      name: { type: 'string' },
      note: { type: 'string' },
    },
  },
}
const texts = { type: 'array', items: { type: 'string' } }
const map = { type: 'object', additionalProperties: { type: 'string' } }
const specProperties = {
  size: { type: 'integer' },
  color: { type: 'string' },
  ports: keyed,
  tags: { ...texts, 'x-kubernetes-list-type': 'set' },
  whole: texts,
  labels: map,
  wholeMap: { ...map, 'x-kubernetes-map-type': 'atomic' },
  wholeStruct: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } }, 'x-kubernetes-map-type': 'atomic' },
  struct: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } },
}
const schema = shapeOfCustomObject({ type: 'object', properties: { spec: { type: 'object', properties: specProperties } } })
const apiVersion = 'example.com/v1'
const annotation = 'client.example.com/last-applied-configuration'

type Spec = Record<string, unknown>

const widget = (spec: Spec, metadata: Record<string, unknown> = {}, version = apiVersion): OwnedObject => ({
  apiVersion: version,
  kind: 'Widget',
  metadata: { name: 'one', namespace: 'default', ...metadata },
  ...(Object.keys(spec).length === 0 ? {} : { spec }),
})

/** Applies a sequence of writes to one object, and keeps the object with its owners. */
class Story {
  live: OwnedObject | undefined
  shape: Shape = schema
  private second = 0

  apply(manager: string, config: Spec | OwnedObject, options: Partial<ApplyOptions> = {}): ApplyOutcome {
    const body = 'kind' in config ? config : widget(config)
    const outcome = applyTo({
      live: this.live,
      config: body,
      manager,
      apiVersion,
      force: false,
      schema: this.shape,
      now: this.now(),
      lastAppliedAnnotation: annotation,
      ...options,
    })
    if (outcome.kind === 'applied') this.keep(outcome.object, outcome.managedFields)
    return outcome
  }

  update(manager: string, after: Spec | OwnedObject, options: { subresource?: string; apiVersion?: string } = {}): void {
    const body = 'kind' in after ? after : widget(after, { managedFields: managedFieldsOf(this.live) })
    const managedFields = trackUpdate({
      before: this.live,
      after: body,
      manager,
      apiVersion,
      now: this.now(),
      schema: this.shape,
      ...options,
    })
    this.keep(body, managedFields)
  }

  get spec(): unknown {
    return this.live?.['spec']
  }

  /** `manager operation` → the set of `.spec`, or the whole set if it contains more. */
  get owners(): Record<string, unknown> {
    const entries = managedFieldsOf(this.live) ?? []
    return Object.fromEntries(entries.map((entry) => [`${entry.manager} ${entry.operation}`, entry.fieldsV1?.['f:spec'] ?? entry.fieldsV1]))
  }

  private keep(object: OwnedObject, managedFields: unknown): void {
    this.live = { ...object, metadata: { ...(object['metadata'] as object), uid: 'u', managedFields } }
  }

  private now(): string {
    return `2026-01-01T00:00:${String(this.second++).padStart(2, '0')}Z`
  }
}

const paths = (outcome: ApplyOutcome) =>
  outcome.kind === 'conflicts' ? outcome.conflicts.map(({ manager, path }) => `${manager} ${path}`) : outcome.kind

describe('one applier', () => {
  test('SSA-04 SSA-07: an apply creates the object, and its entry names the applied fields', () => {
    const story = new Story()
    const outcome = story.apply('m1', { size: 1, labels: { a: 'x' } })
    expect(outcome).toMatchObject({ kind: 'applied', changed: true })
    expect(managedFieldsOf(story.live)).toEqual([
      {
        manager: 'm1',
        operation: 'Apply',
        apiVersion,
        time: '2026-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': { 'f:labels': { 'f:a': {} }, 'f:size': {} } },
      },
    ])
  })

  test('SSA-05 SSA-25: a second applier merges without having read', () => {
    const story = new Story()
    story.apply('m1', { size: 1 })
    story.apply('m2', { color: 'red' })
    expect(story.spec).toEqual({ size: 1, color: 'red' })
    expect(story.owners).toEqual({ 'm1 Apply': { 'f:size': {} }, 'm2 Apply': { 'f:color': {} } })
  })

  test('changes nothing, not even a time, when it applies the same again', () => {
    const story = new Story()
    story.apply('m1', { size: 1, tags: ['a'], ports: [{ port: 1 }] })
    const before = managedFieldsOf(story.live)
    expect(story.apply('m1', { size: 1, tags: ['a'], ports: [{ port: 1 }] })).toMatchObject({ changed: false })
    expect(managedFieldsOf(story.live)).toEqual(before)
  })

  test('owns an empty map itself, and does not own an empty list by items', () => {
    const story = new Story()
    story.apply('m1', { labels: {}, tags: [], whole: [] })
    expect(story.owners).toEqual({ 'm1 Apply': { 'f:labels': {}, 'f:whole': {} } })
  })

  test('SSA-20: a dropped field is removed when no other manager owns it', () => {
    const story = new Story()
    story.apply('m1', { size: 1, color: 'red', struct: { a: 'x' } })
    story.apply('m1', { size: 1 })
    expect(story.spec).toEqual({ size: 1 })
  })

  test('SSA-26: a field that was never applied stays', () => {
    const story = new Story()
    story.update('m0', { color: 'red' })
    story.apply('m1', { size: 1 })
    story.apply('m1', {})
    expect(story.spec).toEqual({ color: 'red' })
  })

  test('SSA-24: removes dropped items, and keeps items of others', () => {
    const story = new Story()
    story.apply('m1', { tags: ['a', 'b'], ports: [{ port: 1 }, { port: 2 }] })
    story.apply('m2', { tags: ['b', 'c'], ports: [{ port: 2, name: 'two' }] })
    story.apply('m1', { tags: ['a'] })
    expect(story.spec).toEqual({ tags: ['a', 'b', 'c'], ports: [{ port: 2, name: 'two' }] })
  })

  test('SSA-26: keeps unowned fields of an item that it drops and another applier keeps', () => {
    const story = new Story()
    story.apply('m1', { ports: [{ port: 1 }, { port: 2 }] })
    story.apply('m2', { ports: [{ port: 1, name: 'a' }] })
    const noted = (story.spec as { ports: object[] }).ports.map((port) => ({ ...port, note: 'n' }))
    story.live = { ...story.live, spec: { ports: noted } }
    story.apply('m1', { size: 1 })
    expect(story.spec).toEqual({ size: 1, ports: [{ port: 1, name: 'a', note: 'n' }] })
  })

  test('SSA-58: that drops all its fields no longer has an entry', () => {
    const story = new Story()
    story.apply('m1', { size: 1 })
    story.apply('m2', { color: 'red' })
    story.apply('m1', {})
    expect(Object.keys(story.owners)).toEqual(['m2 Apply'])
  })

  test('has no fields in its entry that cannot be owned', () => {
    const story = new Story()
    story.apply('m1', widget({}, { labels: { a: 'b' }, finalizers: ['example.com/f'], uid: 'u', creationTimestamp: null }))
    expect(managedFieldsOf(story.live)?.[0]?.fieldsV1).toEqual({
      'f:metadata': { 'f:finalizers': { 'v:"example.com/f"': {} }, 'f:labels': { 'f:a': {} } },
    })
  })
})

describe('an apply changes the object', () => {
  const applied = (isChanged: boolean) => ({ kind: 'applied', changed: isChanged })

  test('for another value of the same fields', () => {
    const story = new Story()
    story.apply('m1', { size: 1 })
    expect(story.apply('m1', { size: 2 })).toMatchObject(applied(true))
  })

  test('for an owner that is added, is removed, or owns more', () => {
    const story = new Story()
    story.apply('m1', { size: 1, color: 'red' })
    expect(story.apply('m2', { size: 1 })).toMatchObject(applied(true))
    expect(story.apply('m2', { size: 1, color: 'red' })).toMatchObject(applied(true))
    expect(story.apply('m2', {})).toMatchObject(applied(true))
    expect(Object.keys(story.owners)).toEqual(['m1 Apply'])
  })

  test('a first apply without fields changes nothing', () => {
    const story = new Story()
    story.apply('m1', { size: 1 })
    expect(story.apply('m2', {})).toMatchObject(applied(false))
  })
})

describe('conflicts', () => {
  test('SSA-11 SSA-34: do not arise from equal values, which are shared', () => {
    const story = new Story()
    story.apply('m1', { size: 1 })
    expect(story.apply('m2', { size: 1 }).kind).toBe('applied')
    expect(story.owners).toEqual({ 'm1 Apply': { 'f:size': {} }, 'm2 Apply': { 'f:size': {} } })
  })

  test('SSA-12: arise for an owner that changes a shared value', () => {
    const story = new Story()
    story.apply('m1', { size: 1 })
    story.apply('m2', { size: 1 })
    expect(paths(story.apply('m1', { size: 2 }))).toEqual(['m2 .spec.size'])
  })

  test('SSA-14 SSA-32: with force the value changes and the other owners lose the field', () => {
    const story = new Story()
    story.apply('m1', { size: 1, color: 'red' })
    expect(paths(story.apply('m2', { size: 2 }))).toEqual(['m1 .spec.size'])
    story.apply('m2', { size: 2 }, { force: true })
    expect(story.spec).toEqual({ size: 2, color: 'red' })
    expect(story.owners).toEqual({ 'm2 Apply': { 'f:size': {} }, 'm1 Apply': { 'f:color': {} } })
  })

  test('SSA-33 SSA-55 SSA-21: do not arise when an owner drops a shared field, and the other owner keeps the value', () => {
    const story = new Story()
    story.apply('m1', { size: 1 })
    story.apply('m2', { size: 1 })
    story.apply('m1', {})
    expect(story.spec).toEqual({ size: 1 })
    expect(story.owners).toEqual({ 'm2 Apply': { 'f:size': {} } })
  })

  test('SSA-56: a field is handed over through a second manager', () => {
    const story = new Story()
    story.apply('main', { size: 1, color: 'red' })
    story.apply('temporary', { size: 1 })
    story.apply('main', { color: 'red' })
    expect(story.spec).toEqual({ size: 1, color: 'red' })
    story.update('scaler', { size: 5, color: 'red' })
    expect(story.owners).toEqual({ 'main Apply': { 'f:color': {} }, 'scaler Update': { 'f:size': {} } })
  })

  test('SSA-57: arise in the hand-over of a field that the controller has changed, and no step remains', () => {
    const story = new Story()
    story.apply('main', { size: 1, color: 'red' })
    story.update('scaler', { size: 5, color: 'red' })
    expect(paths(story.apply('temporary', { size: 1 }))).toEqual(['scaler .spec.size'])
    story.apply('main', { color: 'red' })
    expect(story.spec).toEqual({ size: 5, color: 'red' })
  })

  test('ERR-13: a single conflict has its Status', () => {
    const story = new Story()
    story.apply('m1', { size: 1 })
    const outcome = story.apply('m2', { size: 2 })
    expect(outcome.kind === 'conflicts' && conflictStatus(outcome.conflicts).status).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Apply failed with 1 conflict: conflict with "m1": .spec.size',
      reason: 'Conflict',
      details: { causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "m1"', field: '.spec.size' }] },
      code: 409,
    })
  })

  test('several conflicts are listed manager by manager, updates with their version and subresource', () => {
    const story = new Story()
    story.apply('m1', { size: 1, color: 'red', ports: [{ port: 1, name: 'a' }] })
    story.update('edit', { size: 1, color: 'red', ports: [{ port: 1, name: 'a' }], whole: ['x'] })
    story.update('scale', { size: 9, color: 'red', ports: [{ port: 1, name: 'a' }], whole: ['x'] }, { subresource: 'scale' })
    const outcome = story.apply('m2', { size: 2, color: 'blue', whole: ['y'], ports: [{ port: 1, name: 'b' }] })
    expect(outcome.kind === 'conflicts' && conflictStatus(outcome.conflicts).message).toBe(
      [
        'Apply failed with 4 conflicts: conflicts with "edit" using example.com/v1:',
        '- .spec.whole',
        'conflicts with "m1":',
        '- .spec.color',
        '- .spec.ports[port=1,protocol="TCP"].name',
        'conflicts with "scale" with subresource "scale" using example.com/v1:',
        '- .spec.size',
      ].join('\n'),
    )
  })

  test('many conflicts are counted, and listed up to a million characters', () => {
    const owner = { manager: 'other', operation: 'Apply', apiVersion: 'v1', subresource: '' } as const
    const conflicts = Array.from({ length: 60_000 }, (_, index) => ({ ...owner, path: `.data.key${index}` }))
    const { message, status } = conflictStatus(conflicts)
    expect(message).toMatch(/^Apply failed with 60000 conflicts: conflicts with "other":\n- \.data\.key0\n/)
    const listed = status.details?.causes?.length ?? 0
    expect(listed).toBeGreaterThan(20_000)
    expect(listed).toBeLessThan(40_000)
    expect(message.endsWith(`- .data.key${listed - 1}`)).toBe(true)
  })
})

describe('topology', () => {
  test('SSA-36 SSA-37: items of sets and maps are owned one by one, keys with defaults too', () => {
    const story = new Story()
    story.apply('m1', { tags: ['a'], ports: [{ port: 1, name: 'one' }] })
    story.apply('m2', { tags: ['b'], ports: [{ port: 1, protocol: 'UDP' }] })
    expect(story.spec).toEqual({
      tags: ['a', 'b'],
      ports: [
        { port: 1, name: 'one' },
        { port: 1, protocol: 'UDP' },
      ],
    })
    expect(story.owners['m1 Apply']).toEqual({
      'f:ports': { 'k:{"port":1,"protocol":"TCP"}': { '.': {}, 'f:name': {}, 'f:port': {} } },
      'f:tags': { 'v:"a"': {} },
    })
  })

  test.each<[string, Spec, Spec]>([
    ['SSA-38 SSA-30: list', { whole: ['a'] }, { whole: ['b'] }],
    ['SSA-41: map', { wholeMap: { a: '1' } }, { wholeMap: { b: '2' } }],
    ['SSA-43 SSA-46: struct', { wholeStruct: { a: '1' } }, { wholeStruct: { b: '2' } }],
  ])('%s of type atomic belongs to one manager as a whole', (_name, first, second) => {
    const story = new Story()
    story.apply('m1', first)
    expect(paths(story.apply('m2', second))).toEqual([`m1 .spec.${Object.keys(first)[0]}`])
    story.apply('m2', second, { force: true })
    expect(story.spec).toEqual(second)
  })

  test('SSA-42: managers own their own keys of a granular map', () => {
    const story = new Story()
    story.apply('m1', { labels: { a: '1' } })
    story.apply('m2', { labels: { b: '2' } })
    story.apply('m1', { labels: {} })
    expect(story.spec).toEqual({ labels: { b: '2' } })
  })

  test('merged lists keep the applied order, and other items keep their place', () => {
    const story = new Story()
    story.update('m0', { tags: ['a', 'b', 'c', 'd'] })
    story.apply('m1', { tags: ['a', 'a2', 'c', 'c2'] })
    expect(story.spec).toEqual({ tags: ['a', 'b', 'a2', 'c', 'd', 'c2'] })
  })

  test('SSA-47: an owner of items owns the whole list once it is atomic, and later changes conflict', () => {
    const story = new Story()
    story.apply('m1', { labels: { a: '1' } })
    story.shape = withSpec({ labels: { ...map, 'x-kubernetes-map-type': 'atomic' } })
    expect(paths(story.apply('m2', { labels: { b: '2' } }))).toEqual(['m1 .spec.labels'])
  })

  test('SSA-48: the items of a list that was atomic have no owner', () => {
    const story = new Story()
    story.shape = withSpec({ labels: { ...map, 'x-kubernetes-map-type': 'atomic' } })
    story.apply('m1', { labels: { a: '1' } })
    story.shape = withSpec({ labels: map })
    expect(story.apply('m2', { labels: { a: '2' } }).kind).toBe('applied')
  })

  test('SSA-29 SSA-30: without schema, objects are owned member by member and lists whole', () => {
    const story = new Story()
    story.shape = shapeOfCustomObject(undefined)
    story.apply('m1', { a: { b: 1 }, list: [{ name: 'x' }] })
    story.apply('m2', { a: { c: 2 } })
    expect(story.spec).toEqual({ a: { b: 1, c: 2 }, list: [{ name: 'x' }] })
    expect(paths(story.apply('m2', { list: [] }))).toEqual(['m1 .spec.list'])
  })
})

function withSpec(properties: Record<string, unknown>): Shape {
  return shapeOfCustomObject({ type: 'object', properties: { spec: { type: 'object', properties } } })
}

describe('configurations that cannot be applied', () => {
  const prefix = 'failed to create typed patch object (default/one; example.com/v1, Kind=Widget): '
  test.each<[string, OwnedObject, string]>([
    ['an unknown field', widget({ nope: 1 }), `${prefix}.spec.nope: field not declared in schema`],
    ['a text for a number', widget({ size: 'x' }), `${prefix}.spec.size: expected numeric (int or float), got string`],
    ['a number for a text', widget({ color: 1 }), `${prefix}.spec.color: expected string, got &value.valueUnstructured{Value:1}`],
    ['a text for a list', widget({ tags: 'x' }), `${prefix}.spec.tags: expected list, got &{x}`],
    ['a list for a map', widget({ labels: ['x'] }), `${prefix}.spec.labels: expected map, got &{[x]}`],
    ['SSA-36: the same item twice', widget({ tags: ['a', 'a'] }), `${prefix}.spec.tags: duplicate entries for key [="a"]`],
    [
      'SSA-40: the same keys twice',
      widget({ ports: [{ port: 1 }, { port: 1 }] }),
      `${prefix}.spec.ports: duplicate entries for key [port=1,protocol="TCP"]`,
    ],
    [
      'two mistakes',
      widget({ size: true, nope: 1 }),
      `${prefix}errors:\n  .spec.size: expected numeric (int or float), got bool\n  .spec.nope: field not declared in schema`,
    ],
    ['SSA-19: managedFields', widget({}, { managedFields: [] }), 'metadata.managedFields must be nil'],
    [
      'another version',
      widget({}, {}, 'example.com/v9'),
      'Incorrect version specified in apply patch. Specified patch version: example.com/v9, expected: example.com/v1',
    ],
    [
      'no version',
      { kind: 'Widget', metadata: { name: 'one' } },
      'Incorrect version specified in apply patch. Specified patch version: , expected: example.com/v1',
    ],
  ])('%s', (_name, config, message) => {
    expect(new Story().apply('m1', config)).toEqual({ kind: 'invalid', message })
  })

  test('a live object that does not fit the current schema', () => {
    const story = new Story()
    story.live = widget({ size: 'x' }, { uid: 'u' })
    const message =
      'failed to create typed live object (default/one; example.com/v1, Kind=Widget): .spec.size: expected numeric (int or float), got string'
    expect(story.apply('m1', { size: 1 })).toEqual({ kind: 'invalid', message })
  })

  test('with nesting beyond the limit', () => {
    const story = new Story()
    story.shape = shapeOfCustomObject(undefined)
    let deep: unknown = 1
    for (let level = 0; level < 5_000; level++) deep = { a: deep }
    expect(story.apply('m1', { deep })).toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining('nested deeper than 1000 levels'),
    })
  })
})

describe('first apply after other writes', () => {
  test('an untracked object is owned by before-first-apply', () => {
    const story = new Story()
    story.live = widget({ size: 1, color: 'red' }, { uid: 'u' })
    expect(paths(story.apply('m1', { size: 2 }))).toEqual(['before-first-apply .spec.size'])
    story.apply('m1', { size: 1 })
    expect(story.owners).toEqual({ 'm1 Apply': { 'f:size': {} }, 'before-first-apply Update': { '.': {}, 'f:color': {}, 'f:size': {} } })
  })

  const clientSide = (spec: Spec) => {
    const body = widget(spec)
    return widget(spec, { annotations: { [annotation]: `${JSON.stringify(body)}\n` } })
  }

  test('SSA-49: kubectl takes over from its client-side apply', () => {
    const story = new Story()
    story.update('kubectl-client-side-apply', clientSide({ size: 1, color: 'red' }))
    expect(story.apply('kubectl', { size: 2, color: 'red' }).kind).toBe('applied')
    expect(story.spec).toEqual({ size: 2, color: 'red' })
  })

  test('SSA-50: only fields that other managers changed conflict', () => {
    const story = new Story()
    story.update('kubectl-client-side-apply', clientSide({ size: 1 }))
    const { metadata } = clientSide({ size: 1 })
    story.update('edit', { ...widget({ size: 1, color: 'blue' }), metadata })
    expect(paths(story.apply('kubectl', { size: 2, color: 'red' }))).toEqual(['edit .spec.color'])
  })

  test('SSA-50: a field whose value another manager has changed since the client-side apply conflicts', () => {
    const story = new Story()
    story.update('kubectl-client-side-apply', clientSide({ size: 1, color: 'red', labels: { a: 'x' }, tags: ['t'] }))
    const { metadata } = clientSide({ size: 1, color: 'red', labels: { a: 'x' }, tags: ['t'] })
    story.update('scaler', { ...widget({ size: 5, color: 'red', labels: { a: 'y' }, tags: ['t'] }), metadata })
    const configuration = { size: 1, color: 'blue', labels: { a: 'x' }, tags: ['t'] }
    expect(paths(story.apply('kubectl', configuration))).toEqual(['scaler .spec.size', 'scaler .spec.labels.a'])
    expect(story.spec).toMatchObject({ size: 5, color: 'red', labels: { a: 'y' } })
    expect(story.apply('kubectl', configuration, { force: true }).kind).toBe('applied')
    expect(story.spec).toEqual(configuration)
  })

  test('SSA-49: a value that other managers also applied is taken over while it equals the value of the client-side apply', () => {
    const story = new Story()
    story.update('kubectl-client-side-apply', clientSide({ size: 1 }))
    story.apply('ci', { size: 1 })
    expect(story.apply('kubectl', { size: 2 }).kind).toBe('applied')
    expect(story.owners).toEqual({ 'kubectl Apply': { 'f:size': {} }, 'kubectl-client-side-apply Update': expect.anything() })
  })

  test.each<[string, (text: string) => string]>([
    ['of another version', (text) => text.replace(apiVersion, 'example.com/v2')],
    ['that is not JSON', (text) => text.slice(1)],
    ['that is a list', (text) => `[${text}]`],
    ['that does not fit the schema', (text) => text.replace('"spec":{', '"spec":{"ports":7,')],
    ['that is empty', () => ''],
  ])('SSA-50: a last-applied configuration %s takes over nothing', (_name, spoil) => {
    const story = new Story()
    const { metadata, ...rest } = clientSide({ size: 1 })
    const text = `${JSON.stringify(widget({ size: 1 }))}\n`
    story.update('kubectl-client-side-apply', {
      ...rest,
      metadata: { ...(metadata as object), annotations: { [annotation]: spoil(text) } },
    })
    expect(paths(story.apply('kubectl', { size: 2 }))).toEqual(['kubectl-client-side-apply .spec.size'])
  })

  test('SSA-50: a field removed from the client-side apply conflicts with its other owner', () => {
    const story = new Story()
    story.update('kubectl-client-side-apply', clientSide({ size: 1, color: 'red' }))
    story.update('edit', clientSide({ color: 'red', size: 2 }))
    story.live = { ...story.live, spec: { color: 'red' } }
    expect(paths(story.apply('kubectl', { size: 2, color: 'red' }))).toEqual(['edit .spec.size'])
  })

  test('SSA-51: another manager does not take over', () => {
    const story = new Story()
    story.update('kubectl-client-side-apply', clientSide({ size: 1 }))
    expect(paths(story.apply('other', { size: 2 }))).toEqual(['kubectl-client-side-apply .spec.size'])
  })

  test('SSA-52: the annotation follows the applies of kubectl, keys in order', () => {
    const story = new Story()
    story.update('kubectl-client-side-apply', clientSide({ size: 1 }))
    story.apply('kubectl', { size: 2 })
    const text = '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"one","namespace":"default"},"spec":{"size":2}}\n'
    expect(story.live).toMatchObject({ metadata: { annotations: { [annotation]: text } } })
    const before = story.live
    expect(story.apply('kubectl', { size: 2 })).toMatchObject({ changed: false })
    expect(story.live).toEqual(before)
  })

  test('SSA-52: an apply that changes the annotation alone changes the object', () => {
    const story = new Story()
    story.apply('kubectl', { size: 1 })
    const { live } = story
    story.live = { ...live, metadata: { ...(live?.['metadata'] as object), annotations: { [annotation]: '{}' } } }
    expect(story.apply('kubectl', { size: 1 })).toMatchObject({ changed: true, object: { metadata: { annotations: expect.anything() } } })
    expect(story.apply('kubectl', { size: 1 })).toMatchObject({ changed: false })
  })

  test('SSA-52: an apply of another manager leaves the annotation', () => {
    const story = new Story()
    story.update('kubectl-client-side-apply', clientSide({ size: 1 }))
    story.apply('other', { color: 'red' })
    expect(story.live).toMatchObject({ metadata: { annotations: { [annotation]: `${JSON.stringify(widget({ size: 1 }))}\n` } } })
  })
})

describe('versions', () => {
  const v2 = 'example.com/v2'
  /** In v2 the field `color` is named `paint`. */
  const otherSchema = withSpec({ size: { type: 'integer' }, paint: { type: 'string' } })
  const toVersion = (object: unknown, version: string) => {
    const { spec, ...rest } = object as { spec?: Spec } & OwnedObject
    const renamed = Object.fromEntries(
      Object.entries(spec ?? {}).map(([key, value]) => [
        version === v2 ? key.replace('color', 'paint') : key.replace('paint', 'color'),
        value,
      ]),
    )
    const shape = version === v2 ? otherSchema : schema
    return version === v2 || version === apiVersion ? { object: { ...rest, apiVersion: version, spec: renamed }, shape } : undefined
  }
  const inV2 = (story: Story): Partial<ApplyOptions> => ({
    live: toVersion(story.live, v2)?.object as OwnedObject,
    apiVersion: v2,
    schema: otherSchema,
    convert: toVersion,
  })

  test('SSA-53: an applier that changes its version still drops fields applied through the earlier version', () => {
    const story = new Story()
    story.apply('m1', { size: 1, color: 'red' })
    story.apply('m1', widget({ size: 1 }, {}, v2), inV2(story))
    expect(story.spec).toEqual({ size: 1 })
    expect(managedFieldsOf(story.live)).toMatchObject([{ apiVersion: v2, fieldsV1: { 'f:spec': { 'f:size': {} } } }])
  })

  test('SSA-20, SSA-53: a field applied through another version is dropped by its meaning, even if the new version has another field of that name', () => {
    const shape = withSpec({ near: { type: 'string' }, far: { type: 'string' } })
    // v2 swaps the names of the fields.
    const swapped = (object: unknown, version: string) => {
      const { spec, ...rest } = object as { spec?: Spec | null } & OwnedObject
      if (rest['apiVersion'] === version) return { object: { ...rest, spec }, shape }
      const renamed = Object.entries(spec ?? {}).map(([key, value]) => [key === 'near' ? 'far' : 'near', value] as const)
      return { object: { ...rest, apiVersion: version, spec: Object.fromEntries(renamed) }, shape }
    }
    const story = new Story()
    story.shape = shape
    story.apply('m1', { near: 'x' })
    const live = swapped(story.live, v2).object
    expect(live['spec']).toEqual({ far: 'x' })
    story.apply('m1', widget({ near: 'y' }, {}, v2), { live, apiVersion: v2, schema: shape, convert: swapped })
    expect(story.spec).toEqual({ near: 'y' })
  })

  test('conflicts are found in the version of the owner', () => {
    const story = new Story()
    story.apply('m1', { color: 'red' })
    expect(paths(story.apply('m2', widget({ paint: 'blue' }, {}, v2), inV2(story)))).toEqual(['m1 .spec.color'])
  })

  test('owners of a version that is no longer served are dropped', () => {
    const story = new Story()
    story.apply('m1', { color: 'red' })
    story.apply('m2', widget({ size: 1 }, {}, 'example.com/v3'), { apiVersion: 'example.com/v3', convert: () => undefined })
    expect(Object.keys(story.owners)).toEqual(['m2 Apply'])
  })

  test('replacing a dropped owner by another one with the same value changes the object', () => {
    const story = new Story()
    story.apply('m1', { color: 'red' })
    const outcome = story.apply('m2', widget({ color: 'red' }, {}, 'example.com/v3'), {
      live: { ...story.live, apiVersion: 'example.com/v3' },
      apiVersion: 'example.com/v3',
      convert: () => undefined,
    })
    expect(outcome).toMatchObject({ kind: 'applied', changed: true })
    expect(Object.keys(story.owners)).toEqual(['m2 Apply'])
  })

  test('the same fields through another version change the entry', () => {
    const story = new Story()
    story.apply('m1', { size: 1 })
    expect(story.apply('m1', widget({ size: 1 }, {}, v2), inV2(story))).toMatchObject({
      changed: true,
      managedFields: [{ apiVersion: v2 }],
    })
  })

  test('an owner whose version cannot represent the changed object is dropped', () => {
    const story = new Story()
    story.apply('m1', { size: 1 })
    const convert = (object: unknown, version: string) =>
      (object as { spec: Spec }).spec['color'] === undefined ? toVersion(object, version) : undefined
    const live = { ...toVersion(story.live, v2)?.object, spec: { size: 1 } } as OwnedObject
    const notYet = (object: unknown, version: string) =>
      (object as { spec: Spec }).spec['paint'] === undefined ? convert(object, version) : undefined
    expect(story.apply('m2', widget({ paint: 'red' }, {}, v2), { ...inV2(story), live, convert: notYet }).kind).toBe('applied')
    expect(Object.keys(story.owners)).toEqual(['m2 Apply'])
  })

  test('an apply is refused if the version of an owner has no path for an item, and a failed conversion is reported', () => {
    const keyedByNote = withSpec({ ports: { ...keyed, 'x-kubernetes-list-map-keys': ['note'] } })
    const story = new Story()
    story.apply('m1', widget({ ports: [{ port: 1 }] }, {}, v2), { apiVersion: v2 })
    const config = { ports: [{ port: 2 }] }
    const live = { ...story.live, apiVersion }
    const convert = (object: unknown) => ({ object, shape: keyedByNote })
    expect(story.apply('m2', config, { live, convert })).toEqual({
      kind: 'invalid',
      message: `associative list with keys has an element that omits all key fields ["note"] (and doesn't have default values for any key fields)`,
    })
    const failing = () => {
      throw new Error('no such conversion')
    }
    expect(() => story.apply('m2', config, { live, convert: failing })).toThrow('no such conversion')
  })
})

describe('built-in types', () => {
  const pod = shapeOfType('core/v1.Pod')
  const applyPod = (spec: Spec) =>
    applyTo({
      live: undefined,
      config: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec },
      manager: 'm1',
      apiVersion: 'v1',
      force: false,
      schema: pod,
      now: '2026-01-01T00:00:00Z',
    })

  test('SSA-35: lists are merged by the list types of the schema, also by keys with defaults', () => {
    const outcome = applyPod({
      containers: [{ name: 'c', ports: [{ containerPort: 80 }], command: ['a', 'b'], resources: { limits: { cpu: 1 } } }],
    })
    expect(outcome.kind === 'applied' && outcome.managedFields[0]?.fieldsV1?.['f:spec']).toEqual({
      'f:containers': {
        'k:{"name":"c"}': {
          '.': {},
          'f:command': {},
          'f:name': {},
          'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
          'f:resources': { 'f:limits': { 'f:cpu': {} } },
        },
      },
    })
  })

  test('the core group is printed as a slash before the version in messages', () => {
    expect(applyPod({ nope: 1 })).toMatchObject({
      message: 'failed to create typed patch object (/p; /v1, Kind=Pod): .spec.nope: field not declared in schema',
    })
  })
})

describe('requests that cannot write everything', () => {
  const resetFields = setOfPaths([['f:spec', 'f:color']])

  test('SSA-66: a field that the request cannot write is neither owned nor in conflict', () => {
    const story = new Story()
    story.apply('m1', { color: 'red' })
    expect(story.apply('m2', { size: 1, color: 'blue' }, { resetFields, subresource: 'status' }).kind).toBe('applied')
    expect(managedFieldsOf(story.live)).toMatchObject([{ manager: 'm1' }, { manager: 'm2', subresource: 'status' }])
    expect(story.owners).toEqual({ 'm1 Apply': { 'f:color': {} }, 'm2 Apply': { 'f:size': {} } })
  })

  test('entries that differ only in their times are equal', () => {
    const story = new Story()
    story.apply('m1', { size: 1 })
    const entries = managedFieldsOf(story.live) ?? []
    expect(
      sameOwners(
        entries,
        entries.map((entry) => ({ ...entry, time: '2030-01-01T00:00:00Z' })),
      ),
    ).toBe(true)
    expect(sameOwners(entries, [])).toBe(false)
  })
})
