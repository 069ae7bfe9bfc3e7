import type { BuiltIn } from '../schema/built-in.ts'
import { runAtOnce, StepMeter, type Steps } from '../steps.ts'
import type { ValueRules } from '../structural/schema.ts'

/** A schema of a definition as clients write it: JSONSchemaProps, decoded. */
export interface SchemaProps extends Omit<ValueRules, 'exclusiveMaximum' | 'exclusiveMinimum' | 'uniqueItems'> {
  readonly id?: string
  readonly $schema?: string
  readonly $ref?: string
  readonly description?: string
  readonly type?: string
  readonly title?: string
  readonly default?: unknown
  readonly exclusiveMaximum?: boolean
  readonly exclusiveMinimum?: boolean
  readonly uniqueItems?: boolean
  readonly items?: SchemaProps | readonly SchemaProps[]
  readonly allOf?: readonly SchemaProps[]
  readonly oneOf?: readonly SchemaProps[]
  readonly anyOf?: readonly SchemaProps[]
  readonly not?: SchemaProps
  readonly properties?: SchemaMap
  readonly additionalProperties?: SchemaProps | boolean
  readonly patternProperties?: SchemaMap
  readonly dependencies?: Readonly<Record<string, SchemaProps | readonly string[]>>
  readonly additionalItems?: SchemaProps | boolean
  readonly definitions?: SchemaMap
  readonly externalDocs?: { readonly description?: string; readonly url?: string }
  readonly example?: unknown
  readonly nullable?: boolean
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-map-type'?: string
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[]
}

/** Schemas by name. */
type SchemaMap = Readonly<Record<string, SchemaProps>>

/** A validation rule in CEL. */
export type ValidationRule = Partial<BuiltIn<'apiextensions/v1.ValidationRule'>>

/** The schema of a list's items; undefined if there is none, or one per item. */
export function itemSchema({ items }: SchemaProps): SchemaProps | undefined {
  return isList(items) ? undefined : items
}

/** The schema of undeclared properties; undefined if there is none or it is a boolean. */
export function additionalSchema({ additionalProperties }: SchemaProps): SchemaProps | undefined {
  return typeof additionalProperties === 'object' ? additionalProperties : undefined
}

/** The properties sorted by name, so that messages have a stable order. */
export function propertiesOf({ properties }: SchemaProps): [name: string, schema: SchemaProps][] {
  return sortedEntries(properties)
}

/** Map entries sorted by name. */
export function sortedEntries<T>(map: Readonly<Record<string, T>> | undefined): [string, T][] {
  return Object.entries(map ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
}

/** True if a predicate holds for a schema or for any subschema, even one in an invalid place. */
export function someSchema(root: SchemaProps | undefined, predicate: (schema: SchemaProps) => boolean): boolean {
  return runAtOnce(someSchemaInSteps(root, predicate))
}

/** Like `someSchema`, in steps. */
export function* someSchemaInSteps(root: SchemaProps | undefined, predicate: (schema: SchemaProps) => boolean): Steps<boolean> {
  const meter = schemaMeter()
  const open = root === undefined ? [] : [root]
  for (let schema = open.pop(); schema !== undefined; schema = open.pop()) {
    if (predicate(schema)) return true
    addParts(schema, open)
    if (meter.isFull()) yield
  }
  return false
}

/** Number of schemas per step, which takes some milliseconds. */
const schemasPerStep = 1_000

/** A meter that counts schemas. */
export function schemaMeter(): StepMeter {
  return new StepMeter(schemasPerStep)
}

/** Most schemas have few members, and no parts. */
function addParts(schema: SchemaProps, open: SchemaProps[]): void {
  for (const name in schema) {
    if (!partNames.has(name)) continue
    const part: unknown = schema[name as keyof SchemaProps]
    if (isPart(part) && !mapNames.has(name)) open.push(part)
    else if (typeof part === 'object' && part !== null) for (const one of Object.values(part)) if (isPart(one)) open.push(one)
  }
}

function isPart(value: unknown): value is SchemaProps {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const mapNames: ReadonlySet<string> = new Set(['properties', 'patternProperties', 'definitions', 'dependencies'])
const partNames: ReadonlySet<string> = new Set([
  ...mapNames,
  'items',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'additionalProperties',
  'additionalItems',
])

/** `Array.isArray` for readonly lists. */
export function isList<T>(value: T | readonly SchemaProps[]): value is readonly SchemaProps[] {
  return Array.isArray(value)
}

/** True if a default is given. `null` counts as absent, since typed clients send it for an absent default. */
export function hasDefault(schema: SchemaProps): boolean {
  return schema.default !== undefined && schema.default !== null
}
