import { isJsonObject, objectsIn, printJson } from '../json/index.ts'
import { runAtOnce, type Steps } from '../steps.ts'
import type { ExpressionRule, Junctors, SchemaType, StructuralSchema, ValueRules } from './schema.ts'

type Json = Readonly<Record<string, unknown>>

/** Number of schemas that are parsed per step, which takes some milliseconds. */
const schemasPerStep = 1_000

/**
 * Parses a valid `openAPIV3Schema` to a tree. Members without effect are ignored. If an interner is given,
 * equal parts are shared with schemas that it has seen before.
 */
export function parseStructural(schema: unknown, interner = new SchemaInterner()): StructuralSchema {
  return runAtOnce(parseStructuralInSteps(schema, interner))
}

/** Like `parseStructural`, in steps. */
export function* parseStructuralInSteps(schema: unknown, interner = new SchemaInterner()): Steps<StructuralSchema> {
  return yield* parse(isJsonObject(schema) ? schema : {}, { interner, count: 0 })
}

interface Progress {
  readonly interner: SchemaInterner
  count: number
}

function* parse(schema: Json, progress: Progress): Steps<StructuralSchema> {
  progress.count += 1
  if (progress.count % schemasPerStep === 0) yield
  const { items, additionalProperties } = schema
  const tree: Mutable<StructuralSchema> = ownFacets(schema)
  const properties = yield* parseProperties(schema['properties'], progress)
  if (properties !== undefined) tree.properties = properties
  if (isJsonObject(items)) tree.items = yield* parse(items, progress)
  if (isJsonObject(additionalProperties)) tree.additionalProperties = yield* parse(additionalProperties, progress)
  else if (typeof additionalProperties === 'boolean') tree.additionalProperties = additionalProperties
  const junctors = yield* parseJunctors(schema, progress)
  if (junctors !== undefined) tree.junctors = junctors
  return progress.interner.intern(tree)
}

function* parseProperties(properties: unknown, progress: Progress): Steps<StructuralSchema['properties']> {
  if (!isJsonObject(properties)) return undefined
  const tree = new Map<string, StructuralSchema>()
  for (const name of Object.keys(properties).sort()) {
    const property = properties[name]
    if (isJsonObject(property)) tree.set(name, yield* parse(property, progress))
  }
  return tree
}

function* parseJunctors(schema: Json, progress: Progress): Steps<Junctors | undefined> {
  const tree: Mutable<Junctors> = {}
  for (const name of ['allOf', 'anyOf', 'oneOf'] as const) {
    const schemas = objectsIn(schema[name])
    if (schemas.length === 0) continue
    const parts: StructuralSchema[] = []
    for (const part of schemas) parts.push(yield* parse(part, progress))
    tree[name] = parts
  }
  if (isJsonObject(schema['not'])) tree.not = yield* parse(schema['not'], progress)
  return Object.keys(tree).length === 0 ? undefined : tree
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

const types: ReadonlySet<unknown> = new Set<SchemaType>(['object', 'array', 'string', 'integer', 'number', 'boolean'])

function isType(value: unknown): value is SchemaType {
  return types.has(value)
}

function ownFacets(schema: Json): Mutable<StructuralSchema> {
  const tree: Mutable<StructuralSchema> = {}
  if (isType(schema['type'])) tree.type = schema['type']
  if (schema['nullable'] === true) tree.nullable = true
  if (schema['default'] !== undefined) tree.default = { value: schema['default'] }
  addExtensions(tree, schema)
  const values = valueRules(schema)
  if (values !== undefined) tree.values = values
  return tree
}

function addExtensions(tree: Mutable<StructuralSchema>, schema: Json): void {
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) tree.preservesUnknownFields = true
  if (schema['x-kubernetes-embedded-resource'] === true) tree.isEmbeddedResource = true
  if (schema['x-kubernetes-int-or-string'] === true) tree.isIntOrString = true
  const listType = schema['x-kubernetes-list-type']
  if (listType === 'atomic' || listType === 'set' || listType === 'map') tree.listType = listType
  const keys = textsOf(schema['x-kubernetes-list-map-keys'])
  if (keys.length > 0) tree.listMapKeys = keys
  const mapType = schema['x-kubernetes-map-type']
  if (mapType === 'atomic' || mapType === 'granular') tree.mapType = mapType
  const rules = objectsIn(schema['x-kubernetes-validations']).map(expressionRule)
  if (rules.length > 0) tree.rules = rules
}

function expressionRule(rule: Json): ExpressionRule {
  const read: Mutable<ExpressionRule> = { rule: textOf(rule['rule']) ?? '' }
  for (const name of ['message', 'messageExpression', 'reason', 'fieldPath'] as const) {
    const text = textOf(rule[name])
    if (text !== undefined && text !== '') read[name] = text
  }
  if (typeof rule['optionalOldSelf'] === 'boolean') read.optionalOldSelf = rule['optionalOldSelf']
  return read
}

const amounts = [
  'maximum',
  'minimum',
  'multipleOf',
  'maxLength',
  'minLength',
  'maxItems',
  'minItems',
  'maxProperties',
  'minProperties',
] as const

function valueRules(schema: Json): ValueRules | undefined {
  const rules: Mutable<ValueRules> = {}
  for (const name of ['format', 'pattern'] as const) {
    const text = textOf(schema[name])
    if (text !== undefined && text !== '') rules[name] = text
  }
  for (const name of amounts) {
    const amount = schema[name]
    if (typeof amount === 'number' || typeof amount === 'bigint') rules[name] = Number(amount)
  }
  for (const name of ['exclusiveMaximum', 'exclusiveMinimum', 'uniqueItems'] as const) if (schema[name] === true) rules[name] = true
  if (Array.isArray(schema['enum']) && schema['enum'].length > 0) rules.enum = schema['enum']
  const required = textsOf(schema['required'])
  if (required.length > 0) rules.required = required
  return Object.keys(rules).length === 0 ? undefined : rules
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

/**
 * Shares equal schemas. Parts must be interned before the whole, so that wholes can be compared by the numbers of their
 * parts. All versions of a definition use one interner, because their schemas are mostly equal.
 */
export class SchemaInterner {
  readonly #byText = new Map<string, StructuralSchema>()
  readonly #numbers = new Map<StructuralSchema, number>()

  /** The shared instance of this schema, whose parts were all interned here. */
  intern(schema: StructuralSchema): StructuralSchema {
    const text = this.#textOf(schema)
    const known = this.#byText.get(text)
    if (known !== undefined) return known
    this.#byText.set(text, schema)
    this.#numbers.set(schema, this.#numbers.size)
    return schema
  }

  #textOf(schema: StructuralSchema): string {
    const { properties, items, additionalProperties, junctors, ...rest } = schema
    // Most schemas have no parts. Their text never equals that of a schema with parts.
    if (properties === undefined && items === undefined && additionalProperties === undefined && junctors === undefined)
      return printJson(schema)
    const parts: unknown[] = [rest, this.#numberOf(items)]
    parts.push(typeof additionalProperties === 'boolean' ? additionalProperties : this.#numberOf(additionalProperties))
    parts.push(properties === undefined ? null : [...properties].flatMap(([name, property]) => [name, this.#numberOf(property)]))
    if (junctors !== undefined)
      parts.push(this.#numbersOf(junctors.allOf), this.#numbersOf(junctors.anyOf), this.#numbersOf(junctors.oneOf))
    if (junctors !== undefined) parts.push(this.#numberOf(junctors.not))
    return printJson(parts)
  }

  #numberOf(schema: StructuralSchema | undefined): number | null {
    return schema === undefined ? null : (this.#numbers.get(schema) ?? null)
  }

  #numbersOf(schemas: readonly StructuralSchema[] | undefined): unknown {
    return schemas === undefined ? null : schemas.map((schema) => this.#numberOf(schema))
  }
}
