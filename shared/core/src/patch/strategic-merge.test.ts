import { describe, expect, test } from 'vitest'
import type { Node } from '../description/node.ts'
import { resolveType } from '../schema/resolve.ts'
import { strategicMerge } from './strategic-merge.ts'

const pod = resolveType('core/v1.Pod')
const podSpec: Node = { kind: 'ref', name: 'core/v1.PodSpec' }
const container = resolveType('core/v1.Container')
const meta = resolveType('meta/v1.ObjectMeta')
const deployment = resolveType('apps/v1.DeploymentSpec')

const merge = (original: unknown, patch: unknown, schema: Node = podSpec) => {
  const outcome = strategicMerge(original, patch, schema)
  return outcome.kind === 'patched' ? outcome.value : outcome.error.status
}

const containers = (...items: object[]) => ({ containers: items })

describe('PATCH-03: members', () => {
  test.each<[string, object, object, object]>([
    ['a value replaces', { nodeName: 'a' }, { nodeName: 'b' }, { nodeName: 'b' }],
    ['null removes', { nodeName: 'a', hostname: 'h' }, { nodeName: null }, { hostname: 'h' }],
    ['null for what is not there is nothing', {}, { nodeName: null }, {}],
    ['objects merge', { nodeSelector: { a: '1' } }, { nodeSelector: { b: '2' } }, { nodeSelector: { a: '1', b: '2' } }],
    ['$patch: replace', { nodeSelector: { a: '1' } }, { nodeSelector: { $patch: 'replace', b: '2' } }, { nodeSelector: { b: '2' } }],
    ['$patch: delete', { nodeSelector: { a: '1' } }, { nodeSelector: { $patch: 'delete' } }, { nodeSelector: {} }],
    ['a new object comes without nulls', {}, { nodeSelector: { a: '1', b: null } }, { nodeSelector: { a: '1' } }],
    ['a new object with $patch is left out', {}, { nodeSelector: { $patch: 'replace', a: '1' } }, {}],
    [
      'other directives of a new object become fields',
      {},
      { nodeSelector: { $retainKeys: ['a'] } },
      { nodeSelector: { $retainKeys: ['a'] } },
    ],
  ])('%s', (_name, original, patch, expected) => {
    expect(merge(original, patch)).toEqual(expected)
  })
})

describe('PATCH-04: lists', () => {
  test('are merged by the key of the schema', () => {
    const original = containers({ name: 'a', image: '1' }, { name: 'b', image: '1' })
    expect(merge(original, containers({ name: 'b', image: '2' }, { name: 'c', image: '1' }))).toEqual(
      containers({ name: 'a', image: '1' }, { name: 'b', image: '2' }, { name: 'c', image: '1' }),
    )
  })

  test('PATCH-05: without a merge strategy are replaced', () => {
    expect(merge({ command: ['a', 'b'] }, { command: ['c'] }, container)).toEqual({ command: ['c'] })
  })

  test('of ports are merged only by port number, unlike the keys of ownership', () => {
    const original = { ports: [{ containerPort: 1, protocol: 'TCP', name: 'x' }] }
    expect(merge(original, { ports: [{ containerPort: 1, protocol: 'UDP' }] }, container)).toEqual({
      ports: [{ containerPort: 1, protocol: 'UDP', name: 'x' }],
    })
  })

  test('lose every item of the key in an item with $patch: delete', () => {
    expect(merge(containers({ name: 'a' }, { name: 'b' }), containers({ name: 'a', $patch: 'delete' }))).toEqual(containers({ name: 'b' }))
  })

  test('are replaced as a whole by an item with $patch: replace', () => {
    const patch = containers({ name: 'b' }, { $patch: 'replace' })
    expect(merge(containers({ name: 'a' }), patch)).toEqual(containers({ name: 'b' }))
    expect(merge({}, patch)).toEqual(containers({ name: 'b' }))
  })

  test('that are absent get nothing from a deletion', () => {
    expect(merge({}, containers({ name: 'a', $patch: 'delete' }, { name: 'b' }))).toEqual(containers({ name: 'b' }))
  })

  test('of scalars have unique values after a merge', () => {
    expect(merge({ finalizers: ['a', 'b'] }, { finalizers: ['b', 'c'] }, meta)).toEqual({ finalizers: ['a', 'b', 'c'] })
  })

  test('lose the values in $deleteFromPrimitiveList', () => {
    expect(merge({ finalizers: ['a', 'b', 'a'] }, { '$deleteFromPrimitiveList/finalizers': ['a'] }, meta)).toEqual({ finalizers: ['b'] })
    expect(merge({ finalizers: ['a'] }, { '$deleteFromPrimitiveList/finalizers': null }, meta)).toEqual({})
    expect(merge({ finalizers: ['a'] }, { '$deleteFromPrimitiveList/finalizers': 'a' }, meta)).toEqual({ finalizers: ['a'] })
  })
})

describe('order', () => {
  test('follows $setElementOrder for values, and other values keep their place', () => {
    expect(merge({ finalizers: ['1', '2', '9', '3', '4'] }, { '$setElementOrder/finalizers': ['2', '1', '4', '3'] }, meta)).toEqual({
      finalizers: ['2', '1', '9', '4', '3'],
    })
  })

  test('follows $setElementOrder for items together with their changes', () => {
    const original = containers({ name: 'a' }, { name: 'server' }, { name: 'b' })
    const patch = { '$setElementOrder/containers': [{ name: 'c' }, { name: 'b' }, { name: 'a' }], containers: [{ name: 'c' }] }
    expect(merge(original, patch)).toEqual(containers({ name: 'c' }, { name: 'server' }, { name: 'b' }, { name: 'a' }))
  })

  test('puts new items in the places of deleted items', () => {
    const original = containers({ name: '1' }, { name: '4' })
    const patch = {
      '$setElementOrder/containers': [{ name: '2' }, { name: '3' }],
      containers: [{ name: '2' }, { name: '3' }, { name: '1', $patch: 'delete' }],
    }
    expect(merge(original, patch)).toEqual(containers({ name: '4' }, { name: '2' }, { name: '3' }))
  })

  test('is ignored for an absent list', () => {
    expect(merge({}, { '$setElementOrder/containers': [{ name: 'a' }] })).toEqual({})
  })
})

describe('$retainKeys', () => {
  test('keeps only the named members', () => {
    const original = { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } }
    expect(merge(original, { strategy: { $retainKeys: ['type'], type: 'Recreate' } }, deployment)).toEqual({
      strategy: { type: 'Recreate' },
    })
  })

  test('removes a member that is null beside it, named or not', () => {
    const original = { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } }
    expect(merge(original, { strategy: { $retainKeys: ['type'], type: 'Recreate', rollingUpdate: null } }, deployment)).toEqual({
      strategy: { type: 'Recreate' },
    })
    expect(merge(original, { strategy: { $retainKeys: ['type', 'rollingUpdate'], rollingUpdate: null } }, deployment)).toEqual({
      strategy: { type: 'RollingUpdate' },
    })
    expect(merge({ nodeSelector: { a: '1' } }, { nodeSelector: { $retainKeys: ['a'], b: null } })).toEqual({ nodeSelector: { a: '1' } })
  })

  test('does not need to name directives for lists beside it', () => {
    const original = { ...containers({ name: 'a', image: '1' }), nodeName: 'n' }
    expect(merge(original, { $retainKeys: ['containers'], '$setElementOrder/containers': [{ name: 'a' }] })).toEqual(
      containers({ name: 'a', image: '1' }),
    )
    expect(merge({ finalizers: ['x', 'y'] }, { $retainKeys: ['finalizers'], '$deleteFromPrimitiveList/finalizers': ['x'] })).toEqual({
      finalizers: ['y'],
    })
  })
})

describe('refused patches', () => {
  test.each<[string, object, object, number, string]>([
    ['no key', containers({ name: 'a' }), containers({ image: 'x' }), 422, 'map: map[image:x] does not contain declared merge key: name'],
    ['an unknown directive', { nodeSelector: {} }, { nodeSelector: { $patch: 'x' } }, 422, 'unknown patch type: x in map: map[$patch:x]'],
    ['a directive of null', {}, { $patch: null }, 422, 'unknown patch type: %!s(<nil>) in map: map[$patch:<nil>]'],
    ['a directive that is a number', {}, { $patch: 1 }, 422, 'unknown patch type: %!s(int64=1) in map: map[$patch:1]'],
    ['$patch: merge of an object', {}, { $patch: 'merge' }, 422, 'unknown patch type: merge in map: map[$patch:merge]'],
    [
      '$patch: merge of an item',
      containers({ name: 'a' }),
      containers({ name: 'a', $patch: 'merge' }),
      422,
      'merging lists cannot yet be specified in the patch',
    ],
    [
      'an unknown directive of an item',
      containers({ name: 'a' }),
      containers({ name: 'a', $patch: 'x' }),
      422,
      'unknown patch type: x in map: map[$patch:x name:a]',
    ],
    [
      'another order than asked for',
      containers({ name: 'a' }, { name: 'b' }),
      { '$setElementOrder/containers': [{ name: 'a' }, { name: 'b' }], ...containers({ name: 'b' }, { name: 'a' }) },
      422,
      "The order in patch list:\n[map[name:b] map[name:a]]\n doesn't match $setElementOrder list:\n[map[name:a] map[name:b]]\n",
    ],
    ['lists in lists', containers(), { containers: [[1]] }, 422, 'lists of lists are not supported'],
    [
      'a list beside an object',
      containers({ name: 'a' }),
      { containers: [[]] },
      422,
      'list element types are not identical: [[map[name:a]] [[]]]',
    ],
    ['mixed items', containers({ name: 'a' }), { containers: ['x'] }, 422, 'list element types are not identical: [[map[name:a]] [x]]'],
    ['retainKeys that is no list', { nodeSelector: {} }, { nodeSelector: { $retainKeys: 'a' } }, 400, 'invalid patch format of retainKeys'],
    [
      'a member that is not retained',
      { nodeSelector: {} },
      { nodeSelector: { $retainKeys: [], a: '1' } },
      400,
      'invalid patch format of retainKeys',
    ],
    ['a directive without field', {}, { $setElementOrder: [] }, 400, 'invalid patch format of setElementOrder list'],
    ['a deletion without field', {}, { '$deleteFromPrimitiveList/': [] }, 400, 'invalid patch format of primitive list'],
    [
      'an order that is no list',
      {},
      { '$setElementOrder/containers': {} },
      422,
      'expected a []interface {}, but received a map[string]interface {}',
    ],
    ['an order of null', {}, { '$setElementOrder/containers': null }, 422, 'expected a []interface {}, but received a %!s(<nil>)'],
    [
      'an order of texts for items with keys',
      containers({ name: 'a' }),
      { '$setElementOrder/containers': ['a'] },
      422,
      'value for key 0 is not a map',
    ],
    [
      'an order of no field',
      {},
      { '$setElementOrder/nope': ['a'] },
      422,
      'unable to find api field in struct PodSpec for the json field "nope"',
    ],
  ])('%s', (_name, original, patch, code, message) => {
    expect(merge(original, patch)).toMatchObject({ code, message })
  })

  test('a patch that is no object', () => {
    const message = 'json: cannot unmarshal array into Go value of type map[string]interface {}'
    expect(merge({}, [])).toMatchObject({ code: 400, message })
  })
})

test('the inputs are not changed', () => {
  const original = { metadata: { finalizers: ['a'] }, spec: { ...containers({ name: 'a' }) } }
  const patch = {
    metadata: { '$setElementOrder/finalizers': ['b', 'a'], finalizers: ['b'] },
    spec: containers({ name: 'a', $patch: 'delete' }),
  }
  const copies = structuredClone([original, patch])
  strategicMerge(original, patch, pod)
  expect([original, patch]).toEqual(copies)
})

test('lists of many items are merged in linear time', () => {
  const items = Array.from({ length: 5_000 }, (_, index) => ({ name: `c${index}` }))
  const patch = { '$setElementOrder/containers': [...items].reverse(), containers: [...items].reverse() }
  expect(merge(containers(...items), patch)).toEqual(containers(...[...items].reverse()))
})

test('LIM-12: a patch may have 1,000 levels, and a deeper patch is refused before anything is merged', () => {
  const nested = (levels: number): object => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`)
  expect(strategicMerge({}, nested(1_000), pod)).toEqual({ kind: 'patched', value: nested(1_000) })
  for (const levels of [1_001, 9_990]) {
    const outcome = strategicMerge({}, nested(levels), pod)
    expect(outcome).toMatchObject({ kind: 'refused', error: { code: 400, message: 'the patch is nested deeper than 1000 levels' } })
  }
})

test('PATCH-04: items with one key are merged one after the other, unless a patch repeats too many', () => {
  const repeated = (count: number) =>
    containers(...Array.from({ length: count }, (_, index) => ({ name: 'a', env: [{ name: `e${index}`, value: '1' }] })))
  expect(merge(containers({ name: 'a' }), repeated(2))).toEqual(
    containers({
      name: 'a',
      env: [
        { name: 'e1', value: '1' },
        { name: 'e0', value: '1' },
      ],
    }),
  )
  const message = 'the patch repeats items with one key: together they may have 2097152 bytes'
  expect(merge(containers({ name: 'a' }), repeated(5_000))).toMatchObject({ code: 400, reason: 'BadRequest', message })
})
