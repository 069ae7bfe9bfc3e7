import { expect, test } from 'vitest'
import { readAppliedFields } from './apply.ts'
import { findUnownable, ownedDepthMax } from './check.ts'
import { anyScalar, deducedShape, listShape, type ObjectShape, type Shape } from './shape.ts'
import { toFieldSet } from './to-field-set.ts'

const text: Shape = { kind: 'scalar', type: 'string' }
const field = (name: string, shape: Shape) => [name, { element: `f:${name}`, shape }] as const
const shapeOf = (): ObjectShape => ({
  kind: 'object',
  isAtomic: false,
  fields: new Map([
    field('image', text),
    field('port', anyScalar),
    field('args', listShape({ listType: 'atomic', items: text })),
    field('ports', listShape({ listType: 'map', items: deducedShape, keys: ['name'] })),
    field('names', listShape({ listType: 'set', items: text })),
    field('raw', { kind: 'untyped', isAtomic: true }),
  ]),
  values: undefined,
})
const config = { image: 'a', port: 1, args: ['x'], ports: [{ name: 'p', inner: { a: null } }], names: ['n'], raw: { a: [1] } }

test('SSA-07: a configuration similar to an applied one has the same fields', () => {
  const shape = shapeOf()
  const set = readAppliedFields(shape, config)
  expect(set).toEqual(toFieldSet(shape, config))
  expect(readAppliedFields(shape, { ...config, image: 'b', args: ['y', 'z'], raw: 7 })).toBe(set)
})

test.each<[string, object]>([
  ['a value of another type', { image: 1 }],
  ['an object where a scalar is meant', { port: {} }],
  ['a list whose items are of another type', { args: ['x', 1] }],
  ['no list', { args: 'x' }],
  ['an item twice', { ports: [{ name: 'p' }, { name: 'p' }] }],
  ['an item without its key', { ports: [{ inner: { a: null } }] }],
  ['a member of a set twice', { names: ['n', 'n'] }],
  ['an unknown field', { more: 1 }],
])('%s is found in a configuration that otherwise equals the previous one', (_what, change) => {
  const shape = shapeOf()
  readAppliedFields(shape, config)
  const problems = findUnownable(shapeOf(), { ...config, ...change })
  expect(problems.length).toBeGreaterThan(0)
  expect(readAppliedFields(shape, { ...config, ...change })).toEqual({ problems })
})

test('the allowed depth of a value does not depend on earlier applies', () => {
  const shape = shapeOf()
  readAppliedFields(shape, config)
  const nested = (levels: number) => ({ ...config, raw: JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`) as unknown })
  expect(readAppliedFields(shape, nested(ownedDepthMax - 1))).not.toHaveProperty('problems')
  expect(readAppliedFields(shape, nested(ownedDepthMax))).toHaveProperty('problems')
  expect(findUnownable(shape, nested(ownedDepthMax - 1))).toEqual([])
  expect(findUnownable(shape, nested(ownedDepthMax))).toHaveLength(1)
})

test('a configuration with other fields, other keys, or null for a value has other fields', () => {
  const shape = shapeOf()
  for (const other of [
    config,
    { image: 'a' },
    { ...config, ports: [{ name: 'q' }] },
    { ...config, ports: null },
    { ...config, names: [] },
  ]) {
    expect(readAppliedFields(shape, other)).toEqual(toFieldSet(shape, other))
  }
})
