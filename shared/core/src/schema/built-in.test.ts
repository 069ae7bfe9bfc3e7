import { expect, expectTypeOf, test } from 'vitest'
import type { BuiltIn } from './built-in.ts'
import { decoderOf } from './decode.ts'

type Pod = BuiltIn<'core/v1.Pod'>
type Container = BuiltIn<'core/v1.Container'>

test('object types are inferred from the descriptions', () => {
  const pod: Pod = {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'p', creationTimestamp: null },
    spec: { containers: null },
    status: {},
  }
  expect(pod).toEqual(sample('core/v1.Pod', { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p' } }))
  expectTypeOf<Pod['spec']['volumes']>().toExtend<readonly { readonly name: string }[] | undefined>()
  // A list that is always printed may be null; a field that is omitted when empty may be absent.
  expectTypeOf<Pod['spec']['containers']>().toEqualTypeOf<readonly Container[] | null>()
  expectTypeOf<Container['image']>().toEqualTypeOf<string | undefined>()
  // Fields of an inlined struct belong to its holder.
  expectTypeOf<NonNullable<Container['livenessProbe']>['httpGet']>().toExtend<{ readonly path?: string } | undefined>()
  // A recursive type.
  type Schema = BuiltIn<'apiextensions/v1.JSONSchemaProps'>
  expectTypeOf<NonNullable<Schema['properties']>[string]>().toEqualTypeOf<Schema>()
})

test('a decoder returns objects of the requested type', () => {
  const read = decoderOf('core/v1.Toleration')({ key: 'a', tolerationSeconds: 1 }, { trackUnknown: false })
  expect(read).toMatchObject({ kind: 'decoded', object: { key: 'a', tolerationSeconds: 1 } })
  expectTypeOf<Extract<typeof read, { kind: 'decoded' }>['object']['tolerationSeconds']>().toEqualTypeOf<number | undefined>()
})

/** The decoder's result for an object. */
function sample(type: string, value: object): unknown {
  const read = decoderOf(type)(value, { trackUnknown: false })
  return read.kind === 'decoded' ? read.object : undefined
}
