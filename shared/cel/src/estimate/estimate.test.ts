import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Environment } from '../environment.ts'
import { kubernetesLibraries } from '../kubernetes/index.ts'
import { type CelType, listOf, mapOf, objectOf, type TypeProvider, types } from '../types.ts'
import { escapeProperty } from '../values/escape.ts'
import { replaces } from './calls.ts'
import { estimateCost, type SizeHints } from './estimate.ts'

/** A schema as cases give it. */
interface Schema {
  readonly type?: string
  readonly format?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly additionalProperties?: Schema
  readonly required?: readonly string[]
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly maxItems?: number
  readonly maxLength?: number
  readonly maxProperties?: number
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string }[]
}

/** A place of a schema: its type, the most that it holds, and the bytes of its smallest value. */
interface Declared {
  readonly type: CelType
  readonly max: number
  readonly smallest: number
  readonly fields?: ReadonlyMap<string, Declared>
  readonly inner?: Declared
  readonly key?: Declared
}

const requestBytesMax = 3_145_728
const text: Declared = { type: types.string, max: 0, smallest: 2 }

class Declarations implements TypeProvider, SizeHints {
  readonly root: Declared | undefined
  readonly #objects = new Map<string, Declared>()

  constructor(schema: Schema) {
    this.root = this.#declare(schema)
  }

  findType(): undefined {
    return undefined
  }

  findField(typeName: string, field: string): CelType | undefined {
    return this.#objects.get(typeName)?.fields?.get(field)?.type
  }

  estimateSize(path: readonly string[]) {
    let at = this.root
    for (const step of path.slice(1)) at = step === '@keys' ? at?.key : step.startsWith('@') ? at?.inner : at?.fields?.get(step)
    return at === undefined ? undefined : { min: 0n, max: BigInt(at.max) }
  }

  #declare(schema: Schema): Declared | undefined {
    if (schema['x-kubernetes-int-or-string'] === true) {
      return { type: types.dyn, max: (schema.maxLength ?? (requestBytesMax - 2) / 4) * 4, smallest: 1 }
    }
    switch (schema.type) {
      case 'array': {
        const inner = schema.items && this.#declare(schema.items)
        const max = schema.maxItems ?? Math.floor((requestBytesMax - 2) / ((inner?.smallest ?? 0) + 1))
        return inner && { type: listOf(inner.type), max, smallest: 2, inner }
      }
      case 'object':
        return schema.additionalProperties === undefined
          ? this.#declareObject(schema)
          : this.#declareMap(schema, schema.additionalProperties)
      case 'string':
        return declareText(schema)
      case 'boolean':
        return { type: types.bool, max: 0, smallest: 4 }
      case 'integer':
        return { type: types.int, max: 0, smallest: 1 }
      case 'number':
        return { type: types.double, max: 0, smallest: 1 }
      default:
        return undefined
    }
  }

  #declareMap(schema: Schema, values: Schema): Declared | undefined {
    const inner = this.#declare(values)
    const max = schema.maxProperties ?? Math.floor((requestBytesMax - 2) / ((inner?.smallest ?? 0) + 6))
    return inner && { type: mapOf(types.string, inner.type), max, smallest: 2, inner, key: text }
  }

  #declareObject(schema: Schema): Declared {
    const name = `object${this.#objects.size}`
    const fields = new Map<string, Declared>()
    this.#objects.set(name, { type: objectOf(name), max: 0, smallest: 2, fields })
    let smallest = 2
    const meta = { type: 'string' }
    const members = { apiVersion: meta, kind: meta, metadata: { type: 'object', properties: { name: meta, generateName: meta } } }
    const properties = { ...schema.properties, ...(schema['x-kubernetes-embedded-resource'] === true ? members : {}) }
    for (const [property, inner] of Object.entries<Schema>(properties)) {
      const declared = this.#declare(inner)
      if (declared === undefined) continue
      fields.set(escapeProperty(property) ?? '', declared)
      if (schema.required?.includes(property) && inner.default === undefined) smallest += property.length + 4 + declared.smallest
    }
    const object = { type: objectOf(name), max: 0, smallest, fields }
    this.#objects.set(name, object)
    return object
  }
}

function declareText({ format, maxLength, enum: values }: Schema): Declared {
  const longest = values === undefined ? undefined : Math.max(...values.map((value) => String(value).length))
  switch (format) {
    case 'byte':
      return { type: types.bytes, max: maxLength ?? requestBytesMax - 2, smallest: 2 }
    case 'duration':
      return { type: types.duration, max: 32, smallest: 3 }
    case 'date':
      return { type: types.timestamp, max: 12, smallest: 12 }
    case 'date-time':
      return { type: types.timestamp, max: 32, smallest: 21 }
    default:
      return { type: types.string, max: maxLength === undefined ? (longest ?? requestBytesMax - 2) : maxLength * 4, smallest: 2 }
  }
}

const environment = new Environment({ libraries: kubernetesLibraries })

function readCases<Case>(file: string): readonly Case[] {
  const [, ...lines] = readFileSync(new URL(`../cases/${file}.jsonl`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
  return lines.map((line): Case => JSON.parse(line))
}

/** The most that a rule at the root of a schema costs. */
function estimate(schema: Schema, rule: string): bigint | string {
  const declarations = new Declarations(schema)
  const self = declarations.root?.type ?? types.dyn
  const variables = { self, oldSelf: self }
  const compiled = environment.extend({ variables, provider: declarations }).compile(rule)
  return compiled.kind === 'invalid' ? compiled.message : estimateCost(compiled.ast, declarations).max
}

interface StableCase {
  readonly name: string
  readonly schema: Schema
  readonly rule: string
  readonly expectEstimatedCost: number | { readonly $int: string }
}

test.each(readCases<StableCase>('estimated-cost-stability'))('CEL-53: $name: $rule is estimated as by kube-apiserver', (row) => {
  const expected = row.expectEstimatedCost
  expect(estimate(row.schema, row.rule)).toBe(BigInt(typeof expected === 'object' ? expected.$int : expected))
})

interface BoundedCase {
  readonly name: string
  readonly schemaUnbounded: Schema
  readonly schemaBounded: Schema
  readonly expectedCalcCost?: number
  readonly expectCalcCostExceedsLimit?: number
  readonly expectedSetCost?: number
  readonly expectSetCostExceedsLimit?: number
}

/** Finds the one rule of a schema, and estimates it at its place. */
function estimateRule(schema: Schema): bigint | string | undefined {
  const [rule] = schema['x-kubernetes-validations'] ?? []
  if (rule !== undefined) return estimate(schema, rule.rule)
  const inner = [...Object.values(schema.properties ?? {}), schema.items, schema.additionalProperties]
  for (const one of inner) {
    const found = one && estimateRule(one)
    if (found !== undefined) return found
  }
  return undefined
}

test.each(readCases<BoundedCase>('cost-estimation'))(
  'CEL-49, CEL-53: the cost is estimated with and without bounds in the schema: $name',
  (row) => {
    const unbounded = estimateRule(row.schemaUnbounded)
    const bounded = estimateRule(row.schemaBounded)
    if (row.expectedCalcCost !== undefined) expect(unbounded).toBe(BigInt(row.expectedCalcCost))
    else expect(unbounded).toBeGreaterThan(BigInt(row.expectCalcCostExceedsLimit ?? 0))
    if (row.expectedSetCost !== undefined) expect(bounded).toBe(BigInt(row.expectedSetCost))
    else expect(bounded).toBeGreaterThan(BigInt(row.expectSetCostExceedsLimit ?? 0))
  },
)

interface ResultSizeCase {
  readonly name: string
  readonly targetSize: NumberBounds
  readonly argSizes: readonly NumberBounds[]
  readonly expectSize: NumberBounds
}

interface NumberBounds {
  readonly min: number
  readonly max: number
}

const sized = ({ min, max }: NumberBounds) => ({
  expr: undefined,
  type: types.string,
  size: { min: BigInt(min), max: BigInt(max) },
  isSized: true,
  element: () => undefined,
})

test.each(readCases<ResultSizeCase>('result-sizes'))(
  'CEL-48: the size of a result is estimated: $name',
  ({ targetSize, argSizes, expectSize }) => {
    const { size } = replaces({ args: [targetSize, ...argSizes].map(sized) })
    expect(size).toEqual({ min: BigInt(expectSize.min), max: BigInt(expectSize.max) })
  },
)

test('CEL-47: matches costs the same as a function and as a member', () => {
  const schema = { type: 'string', maxLength: 100 }
  expect(estimate(schema, "matches(self, '^a+$')")).toBe(estimate(schema, "self.matches('^a+$')"))
})

test.each([
  // The right side may be skipped.
  ['a == 1 && b == 1', 2, 4],
  ['a == 1 || b == 1', 2, 4],
  // The condition, and the cheaper or the more expensive branch.
  ['a == 1 ? b == 1 : b + a + a == 1', 4, 8],
  // The list, five times the condition and the step, and the result.
  ['list.all(x, x == a)', 2, 5 * (2 + 4) + 2],
])('CEL-47: %s costs from %i to %i', (expression, min, max) => {
  const variables = { a: types.int, b: types.int, list: listOf(types.int) }
  const compiled = environment.extend({ variables }).compile(expression)
  if (compiled.kind === 'invalid') throw new Error(compiled.message)
  const estimateSize = (path: readonly string[]) => (path.join() === 'list' ? { min: 0n, max: 5n } : undefined)
  expect(estimateCost(compiled.ast, { estimateSize })).toEqual({ min: BigInt(min), max: BigInt(max) })
})
