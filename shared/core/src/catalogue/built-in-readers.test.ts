import { expect, test } from 'vitest'
import { BuiltInReaders } from './built-in-readers.ts'

const ofPods = new BuiltInReaders('core/v1.Pod')
const ofConfigMaps = new BuiltInReaders('core/v1.ConfigMap')

test.each(['decode', 'shape', 'table', 'protobuf', 'dropDisabledFields', 'refuseDisabledValues', 'printable', 'fieldsOf'] as const)(
  '%s is made at its first use, and is a plain value from then on',
  (name) => {
    const readers = new BuiltInReaders('core/v1.Pod')
    expect(Object.hasOwn(readers, name)).toBe(false)
    const made = readers[name]
    expect(made).toBeDefined()
    expect(Object.getOwnPropertyDescriptor(readers, name)?.value).toBe(made)
  },
)

test.each(['dropDisabledFields', 'refuseDisabledValues', 'printable'] as const)(
  '%s is absent where the type has no such fields, and that is found out once',
  (name) => {
    expect(ofPods[name]).toBeDefined()
    expect(ofConfigMaps[name]).toBeUndefined()
    expect(Object.hasOwn(ofConfigMaps, name)).toBe(true)
  },
)

test('defaults and warnings are those of the kind, absent if it has none', () => {
  const defaults = () => {}
  const warnings = () => []
  const readers = new BuiltInReaders('core/v1.Pod', { defaults, warnings })
  expect([readers.applyDefaults, readers.warnings]).toEqual([defaults, warnings])
  expect([ofPods.applyDefaults, ofPods.warnings]).toEqual([undefined, undefined])
})
