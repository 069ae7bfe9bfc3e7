import { expect, test } from 'vitest'
import type { Defaulter, WarningRule } from '../kind/define-resource.ts'
import { namesOf } from '../names.ts'
import { BuiltInReaders } from './built-in-readers.ts'

const ofPods = new BuiltInReaders('core/v1.Pod')
const ofConfigMaps = new BuiltInReaders('core/v1.ConfigMap')

test.each(['decode', 'shape', 'table', 'protobuf', 'dropDisabledFields', 'refuseDisabledValues', 'printable', 'fieldsOf'] as const)(
  '%s is made at its first use, and is a plain value afterwards',
  (name) => {
    const readers = new BuiltInReaders('core/v1.Pod')
    expect(Object.hasOwn(readers, name)).toBe(false)
    const made = readers[name]
    expect(made).toBeDefined()
    expect(Object.getOwnPropertyDescriptor(readers, name)?.value).toBe(made)
  },
)

test('an object without gated fields and without empty lists is returned unchanged', () => {
  const object = { metadata: { name: 'p' }, spec: { nodeName: 'n' } }
  expect(ofPods.dropDisabledFields?.(object, undefined, () => false)).toBe(object)
  expect(ofPods.refuseDisabledValues?.(object, undefined, () => false)).toEqual([])
  expect(ofPods.printable?.(object)).toBe(object)
  const { dropDisabledFields, refuseDisabledValues, printable } = ofConfigMaps
  expect([dropDisabledFields, refuseDisabledValues, printable]).toEqual([undefined, undefined, undefined])
})

test('defaults and warnings belong to the kind, and are absent if it has none', () => {
  const levels: number[] = []
  const defaults: Defaulter = (_object, _names, _isGateOn, level) => void levels.push(level)
  const warnings: WarningRule = (_object, _live, _names, { level }) => [String(level)]
  const readers = new BuiltInReaders('core/v1.Pod', { defaults, warnings }, 30)
  readers.applyDefaults?.({}, namesOf('orch'), () => true)
  expect(levels).toEqual([30])
  expect(readers.warnings?.({}, undefined, namesOf('orch'), () => true)).toEqual(['30'])
  expect([ofPods.applyDefaults, ofPods.warnings]).toEqual([undefined, undefined])
})
