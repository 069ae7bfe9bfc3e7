import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Environment } from '../environment.ts'
import { kubernetesLibraries } from '../kubernetes/index.ts'
import { type CelType, listOf, mapOf, objectOf, types } from '../types.ts'
import { namesOfProperty } from '../values/escape.ts'
import { unlimitedMeter } from '../values/meter.ts'
import { type FieldNode, type ListRule, plainNode, type ViewNode, viewOf } from '../values/views.ts'
import { plan } from './plan.ts'

interface Schema {
  readonly type?: string
  readonly format?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema
  readonly items?: Schema
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
}

interface CostCase {
  readonly name: string
  readonly obj: unknown
  readonly schema: Schema
  readonly rule: string
  readonly expectRuntimeCost: number
}

const [, ...lines] = readFileSync(new URL('../cases/cost-stability.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
const cases = lines.map((line) => JSON.parse(line, (_, value) => (value?.$int === undefined ? value : BigInt(value.$int))) as CostCase)

/** A schema as declared types and as nodes that read JSON. */
class Binding {
  readonly #fields = new Map<string, ReadonlyMap<string, CelType>>()

  findField(typeName: string, field: string): CelType | undefined {
    return this.#fields.get(typeName)?.get(field)
  }

  bind(schema: Schema, path: string, isResource: boolean): { readonly type: CelType; readonly node: ViewNode } {
    if (schema['x-kubernetes-int-or-string'] === true) return { type: types.dyn, node: { kind: 'intOrString' } }
    switch (schema.type) {
      case 'number':
        return { type: types.double, node: { kind: 'double' } }
      case 'integer':
        return { type: types.int, node: plainNode }
      case 'boolean':
        return { type: types.bool, node: plainNode }
      case 'string':
        return bindText(schema.format ?? '')
      case 'array': {
        const items = this.bind(schema.items ?? {}, `${path}.@items`, false)
        return { type: listOf(items.type), node: { kind: 'list', items: items.node, rule: ruleOf(schema) } }
      }
      default:
        return this.#bindObject(schema, path, isResource || schema['x-kubernetes-embedded-resource'] === true)
    }
  }

  #bindObject(schema: Schema, path: string, isResource: boolean): { readonly type: CelType; readonly node: ViewNode } {
    if (schema.additionalProperties !== undefined) {
      const values = this.bind(schema.additionalProperties, `${path}.@values`, false)
      return { type: mapOf(types.string, values.type), node: { kind: 'map', values: values.node } }
    }
    const fieldTypes = new Map<string, CelType>()
    const fields = new Map<string, FieldNode>()
    for (const [property, field] of Object.entries({ ...(isResource ? resource : {}), ...schema.properties })) {
      if (field.type === undefined && field['x-kubernetes-int-or-string'] !== true) continue
      const bound = this.bind(field, `${path}.${property}`, false)
      for (const name of namesOfProperty(property)) {
        fieldTypes.set(name, bound.type)
        fields.set(name, { property, node: bound.node })
      }
    }
    this.#fields.set(path, fieldTypes)
    return { type: objectOf(path), node: { kind: 'object', typeName: 'object', fields } }
  }
}

const text: Schema = { type: 'string' }
const resource: Readonly<Record<string, Schema>> = {
  apiVersion: text,
  kind: text,
  metadata: { type: 'object', properties: { name: text, generateName: text } },
}

function bindText(format: string): { readonly type: CelType; readonly node: ViewNode } {
  switch (format) {
    case 'date':
      return { type: types.timestamp, node: { kind: 'date' } }
    case 'date-time':
      return { type: types.timestamp, node: { kind: 'timestamp' } }
    case 'duration':
      return { type: types.duration, node: { kind: 'duration' } }
    case 'byte':
      return { type: types.bytes, node: { kind: 'bytes' } }
    default:
      return { type: types.string, node: plainNode }
  }
}

function ruleOf(schema: Schema): ListRule {
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return { kind: 'set' }
    case 'map':
      return { kind: 'map', keys: schema['x-kubernetes-list-map-keys'] ?? [] }
    default:
      return { kind: 'atomic' }
  }
}

const libraries = new Environment({ libraries: kubernetesLibraries, mixedLiterals: true })

/** A rule's cost on an object, or a line with its failure. */
function costOf({ schema, rule, obj }: CostCase): number | string {
  const binding = new Binding()
  const { type, node } = binding.bind(schema, 'selfType', true)
  const environment = libraries.extend({
    variables: { self: type },
    provider: { findType: () => undefined, findField: (name, field) => binding.findField(name, field) },
  })
  const compiled = environment.compile(rule)
  if (compiled.kind === 'invalid') return compiled.message
  const planned = plan(compiled.ast)
  if (planned.kind === 'refused') return planned.message
  const evaluation = planned.program.evaluate({ self: viewOf(unlimitedMeter(), node, obj) }, { costLimit: 1_000_000 })
  if (evaluation.kind === 'error') return evaluation.message
  return evaluation.value === true ? evaluation.cost : 'not true'
}

test.each([...new Set(cases.map(({ name }) => name))])('CEL-53: rules on %s keep their recorded cost', (name) => {
  const wrong = cases
    .filter((each) => each.name === name)
    .map((each) => ({ rule: each.rule, wanted: each.expectRuntimeCost, found: costOf(each) }))
    .filter(({ wanted, found }) => wanted !== found)
  expect(wrong).toEqual([])
})
