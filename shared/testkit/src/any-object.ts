import { decodeJson } from '@orch/core/json'
import { isScalar, type Node, resolveNode, resolveStruct, type ScalarNode, type StructNode, typeNameAt } from '@orch/core/schema'
import fc, { type Arbitrary } from 'fast-check'

/**
 * A random value of a type, such as `core/v1.Pod` or `core/v1.Pod@30`. A Pod template is an empty object, except within a PodTemplate: the other types
 * of a level contain the same template, by reference, so that its readers are the same functions.
 */
export function anyOfType(type: string, which: 'some' | 'all'): Arbitrary<Record<string, unknown>> {
  const [name, level = 0] = type.split('@')
  const template = resolveStruct(typeNameAt('core/v1.PodTemplateSpec', Number(level)))
  return anyStruct(resolveStruct(type), which, name === 'core/v1.PodTemplate' ? [] : [template])
}

/**
 * A random value of a struct, with some or all of its fields. Empty lists and maps, and fields without a wire form, are left out. Inside an ancestor, the
 * ancestor is an empty object.
 */
export function anyStruct(node: StructNode, which: 'some' | 'all', ancestors: readonly Node[] = []): Arbitrary<Record<string, unknown>> {
  if (ancestors.includes(node)) return fc.constant({})
  const fields = node.fields.filter(({ tag }) => tag !== undefined)
  const members = fields.map((one) => [one.name, anyValue(one.node, which, [...ancestors, node])] as const)
  return fc.record(Object.fromEntries(members), which === 'all' ? {} : { requiredKeys: [] })
}

function anyValue(declared: Node, which: 'some' | 'all', ancestors: readonly Node[]): Arbitrary<unknown> {
  const node = resolveNode(declared)
  if (isScalar(node)) return anyScalar[node.kind]
  switch (node.kind) {
    case 'ref':
      return anyValue(node, which, ancestors)
    case 'struct':
      return anyStruct(node, which, ancestors)
    case 'list':
      return fc.array(anyValue(node.items, which, ancestors), { minLength: 1, maxLength: 2 })
    case 'map':
      return fc.dictionary(anyText, anyValue(node.values, which, ancestors), { minKeys: 1, maxKeys: 2, noNullPrototype: true })
    case 'variant': {
      const forms = [node.object, node.array, node.boolean].filter((form) => form !== undefined)
      return fc.oneof(...forms.map((form) => anyValue(form.node, which, ancestors)))
    }
    case 'string':
      return anyText
  }
}

const anyText = fc.string({ unit: 'grapheme', maxLength: 60 })
const anySecond = fc.integer({ min: 0, max: Date.parse('9999-12-31T23:59:59Z') / 1000 }).map((seconds) => seconds * 1000)
const anyJson = fc.jsonValue({ maxDepth: 2 }).map((value) => asRead(JSON.stringify(value)))

const anyMembers = fc.dictionary(anyText, anyJson, { maxKeys: 2, noNullPrototype: true })
const secondText = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, 19)

const anyScalar: Readonly<Record<ScalarNode['kind'], Arbitrary<unknown>>> = {
  boolean: fc.boolean(),
  int32: fc.oneof(fc.integer(), fc.constantFrom(0, -(2 ** 31), 2 ** 31 - 1)),
  int64: fc.oneof(fc.maxSafeInteger(), fc.constantFrom(-(2n ** 63n), 2n ** 63n - 1n, 0)),
  double: fc.double({ noNaN: true, noDefaultInfinity: true }),
  bytes: fc.uint8Array({ maxLength: 5 }).map((bytes) => btoa(String.fromCharCode(...bytes))),
  time: anySecond.map((milliseconds) => `${secondText(milliseconds)}Z`),
  microTime: fc.tuple(anySecond, fc.nat(999_999)).map(([milliseconds, micro]) => {
    return `${secondText(milliseconds)}.${String(micro).padStart(6, '0')}Z`
  }),
  quantity: fc.tuple(fc.integer(), fc.constantFrom('', 'm', 'Ki', 'G')).map(([amount, suffix]) => `${amount}${suffix}`),
  intOrString: fc.oneof(fc.integer(), anyText),
  raw: anyMembers,
  json: anyJson.filter((value) => value !== null),
  fieldsV1: anyMembers,
}

function asRead(json: string): unknown {
  const decoded = decodeJson(json)
  if (decoded.kind === 'malformed') throw new Error(decoded.message)
  return decoded.value
}
