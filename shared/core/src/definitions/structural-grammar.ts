import { CelError } from '@orch/cel/values'
import { oldestLevel } from '../description/levels.ts'
import { type FieldError, printFieldError } from '../meta/status.ts'
import { runAtOnce, type StepMeter, type Steps } from '../steps.ts'
import { parsePattern } from '../structural/pattern.ts'
import { forbiddenValue, invalidValue, requiredValue } from '../validation/field-errors.ts'
import { isSame } from '../validation/part.ts'
import {
  additionalSchema,
  hasDefault,
  isList,
  itemSchema,
  propertiesOf,
  type SchemaProps,
  schemaMeter,
  someSchemaInSteps,
} from './schema-props.ts'

/** The position of a schema. The root and items have different rules from other positions. */
type Level = 'root' | 'item' | 'field'

const missingType: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
}

/** The reason why a schema cannot be structural; undefined if it can. */
export function findUnsupported(schema: SchemaProps): string | undefined {
  return runAtOnce(findUnsupportedInSteps(schema))
}

/** Like `findUnsupported`, in steps. */
export function* findUnsupportedInSteps(schema: SchemaProps): Steps<string | undefined> {
  let found: string | undefined
  yield* someSchemaInSteps(schema, (part) => {
    found = unsupportedIn(part)
    return found !== undefined
  })
  return found === undefined ? undefined : `OpenAPIV3Schema ${found}`
}

function unsupportedIn(schema: SchemaProps): string | undefined {
  for (const [name, isGiven] of unsupportedNames) if (isGiven(schema)) return `'${name}' is not supported`
  if (isList(schema.items) && schema.items.length > 0) return "'items' must be a schema, but is an array"
  return schema['x-kubernetes-preserve-unknown-fields'] === false
    ? "'x-kubernetes-preserve-unknown-fields' must be true or undefined"
    : undefined
}

const unsupportedNames: readonly (readonly [name: string, isGiven: (schema: SchemaProps) => boolean])[] = [
  ['id', ({ id }) => isText(id)],
  ['schema', ({ $schema }) => isText($schema)],
  ['$ref', ({ $ref }) => isText($ref)],
  ['patternProperties', ({ patternProperties }) => hasMembers(patternProperties)],
  ['dependencies', ({ dependencies }) => hasMembers(dependencies)],
  ['additionalItems', ({ additionalItems }) => additionalItems !== undefined],
  ['definitions', ({ definitions }) => hasMembers(definitions)],
]

/** The errors that make a schema non-structural, sorted by text. */
export function validateStructure(root: SchemaProps, at: string): FieldError[] {
  return runAtOnce(validateStructureInSteps(root, at))
}

/** Like `validateStructure`, in steps. */
export function* validateStructureInSteps(root: SchemaProps, at: string): Steps<FieldError[]> {
  const walk: Walk = { errors: [], meter: schemaMeter() }
  yield* checkStructure(root, 'root', at, walk)
  yield
  checkCompleteness(root, root, { at, nestedAt: at }, walk.errors)
  return walk.errors
    .map((error) => ({ error, text: printFieldError(error, oldestLevel) }))
    .sort(({ text: left }, { text: right }) => (left < right ? -1 : 1))
    .map(({ error }) => error)
}

/** Number of instructions of a pattern that are compiled as fast as one schema is checked. */
const instructionsPerSchema = 4

interface Walk {
  readonly errors: FieldError[]
  readonly meter: StepMeter
}

/** True for a structural schema; checks it in steps. */
export function* isStructuralInSteps(schema: SchemaProps): Steps<boolean> {
  return (yield* findUnsupportedInSteps(schema)) === undefined && (yield* validateStructureInSteps(schema, '')).length === 0
}

function* checkStructure(schema: SchemaProps, level: Level, at: string, walk: Walk): Steps<void> {
  const { errors, meter } = walk
  if (meter.isFull()) yield
  const items = itemSchema(schema)
  const additional = additionalSchema(schema)
  if (schema.type === 'array' && items === undefined) errors.push(requiredValue(`${at}.items`, 'must be specified'))
  if (items !== undefined) yield* checkStructure(items, 'item', `${at}.items`, walk)
  for (const [name, property] of propertiesOf(schema)) yield* checkStructure(property, 'field', `${at}.properties[${name}]`, walk)
  if (schema.additionalProperties !== undefined && level === 'root') {
    errors.push(forbiddenValue(`${at}.additionalProperties`, 'must not be used at the root'))
  }
  if (additional !== undefined) yield* checkStructure(additional, 'field', `${at}.additionalProperties`, walk)
  checkIntOrString(schema, at, errors)
  const skips = { skipsAnyOf: isIntOrString(schema.anyOf), skipsFirstAllOf: isIntOrString(schema.allOf?.[0]?.anyOf) }
  yield* checkJunctors(schema, at, walk, skips)
  checkType(schema, level, at, errors)
  checkMetaProperties(schema, level, at, errors)
}

function checkIntOrString(schema: SchemaProps, at: string, errors: FieldError[]): void {
  if (schema['x-kubernetes-int-or-string'] !== true) return
  for (const name of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const) {
    if (schema[name] === true) errors.push(invalidValue(`${at}.${name}`, true, 'must be false if x-kubernetes-int-or-string is true'))
  }
}

function checkType(schema: SchemaProps, level: Level, at: string, errors: FieldError[]): void {
  const { type = '' } = schema
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true
  const isOpen = schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true
  if (isEmbedded && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true'
    errors.push(type === '' ? requiredValue(`${at}.type`, detail) : invalidValue(`${at}.type`, type, detail))
  } else if (type === '' && !isOpen) errors.push(requiredValue(`${at}.type`, missingType[level]))
  if (isEmbedded && schema.additionalProperties !== undefined) {
    errors.push(forbiddenValue(`${at}.additionalProperties`, 'must not be used if x-kubernetes-embedded-resource is set'))
  }
  if (level === 'root' && type !== '' && type !== 'object') errors.push(invalidValue(`${at}.type`, type, 'must be object at the root'))
  if (isEmbedded && schema['x-kubernetes-preserve-unknown-fields'] !== true && !hasMembers(schema.properties)) {
    const detail = 'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields'
    errors.push(requiredValue(`${at}.properties`, detail))
  }
}

/** Every API object has apiVersion, kind and metadata, whatever its schema. */
function checkMetaProperties(schema: SchemaProps, level: Level, at: string, errors: FieldError[]): void {
  const { apiVersion, kind, metadata } = { ...schema.properties }
  const isObjectOfApi = level === 'root' || schema['x-kubernetes-embedded-resource'] === true
  for (const [name, property] of Object.entries({ kind, apiVersion })) {
    if (!isObjectOfApi || property === undefined || property.type === 'string') continue
    errors.push(invalidValue(`${at}.properties[${name}].type`, property.type ?? '', 'must be string'))
  }
  if (metadata === undefined) return
  const field = `${at}.properties[metadata]`
  if (isObjectOfApi && metadata.type !== 'object') errors.push(invalidValue(`${field}.type`, metadata.type ?? '', 'must be object'))
  if (level === 'root' && !saysOnlyNames(metadata)) {
    errors.push(forbiddenValue(field, 'must not specify anything other than name and generateName, but metadata is implicitly specified'))
  }
}

function saysOnlyNames(metadata: SchemaProps): boolean {
  const isNames = Object.keys(metadata.properties ?? {}).every((name) => name === 'name' || name === 'generateName')
  return isNames && Object.entries(metadata).every(([name, value]) => ['type', 'default', 'properties'].includes(name) || isZero(value))
}

interface Skips {
  readonly skipsAnyOf: boolean
  readonly skipsFirstAllOf: boolean
}

const noSkips: Skips = { skipsAnyOf: false, skipsFirstAllOf: false }

/** True for the only form of types that is allowed inside a junctor. */
function isIntOrString(anyOf: SchemaProps['anyOf']): boolean {
  return anyOf?.length === 2 && isSame(anyOf, [{ type: 'integer' }, { type: 'string' }])
}

/** Checks a schema's junctors and its pattern. */
function* checkJunctors(schema: SchemaProps, at: string, walk: Walk, { skipsAnyOf, skipsFirstAllOf }: Skips): Steps<void> {
  const { errors, meter } = walk
  if (!skipsAnyOf) for (const [index, part] of (schema.anyOf ?? []).entries()) yield* checkNested(part, `${at}.anyOf[${index}]`, walk)
  for (const [index, part] of (schema.allOf ?? []).entries()) {
    yield* checkNested(part, `${at}.allOf[${index}]`, walk, { skipsAnyOf: skipsFirstAllOf && index === 0, skipsFirstAllOf: false })
  }
  for (const [index, part] of (schema.oneOf ?? []).entries()) yield* checkNested(part, `${at}.oneOf[${index}]`, walk)
  if (schema.not !== undefined) yield* checkNested(schema.not, `${at}.not`, walk)
  const pattern = isText(schema.pattern) ? parsePattern(schema.pattern) : undefined
  if (pattern instanceof CelError) {
    errors.push(invalidValue(`${at}.pattern`, schema.pattern, `must be a valid regular expression, but isn't: ${pattern.message}`))
  } else if (pattern !== undefined && meter.isFull(Math.ceil(pattern.size / instructionsPerSchema))) yield
}

type Extension = keyof SchemaProps & `x-kubernetes-${string}`

const undefinedText = 'must be undefined to be structural'
const emptyText = 'must be empty to be structural'
const falseText = 'must be false to be structural'

const nestedExtensions: Readonly<Record<Extension, string>> = {
  'x-kubernetes-preserve-unknown-fields': falseText,
  'x-kubernetes-embedded-resource': falseText,
  'x-kubernetes-int-or-string': falseText,
  'x-kubernetes-list-map-keys': emptyText,
  'x-kubernetes-list-type': undefinedText,
  'x-kubernetes-map-type': undefinedText,
  'x-kubernetes-validations': emptyText,
}

/** Checks schemas inside a junctor, which restrict values but do not declare structure. */
function* checkNested(schema: SchemaProps, at: string, walk: Walk, skips: Skips = noSkips): Steps<void> {
  const { errors, meter } = walk
  if (meter.isFull()) yield
  const items = itemSchema(schema)
  const forbid = (name: string, detail: string): number => errors.push(forbiddenValue(`${at}.${name}`, detail))
  yield* checkJunctors(schema, at, walk, skips)
  if (items !== undefined) yield* checkNested(items, `${at}.items`, walk)
  for (const [name, property] of propertiesOf(schema)) yield* checkNested(property, `${at}.properties[${name}]`, walk)
  if (isText(schema.type)) forbid('type', emptyText)
  if (schema.additionalProperties !== undefined && schema.additionalProperties !== false) forbid('additionalProperties', undefinedText)
  if (hasDefault(schema)) forbid('default', undefinedText)
  for (const name of ['title', 'description'] as const) if (isText(schema[name])) forbid(name, emptyText)
  if (schema.nullable === true) forbid('nullable', falseText)
  for (const [name, detail] of Object.entries(nestedExtensions)) if (!isZero(schema[name as Extension])) forbid(name, detail)
  if (schema.properties?.['metadata'] !== undefined) forbid('properties[metadata]', 'must not be specified in a nested context')
}

/** A schema's place in a junctor, and its place in the structure outside. */
interface Places {
  readonly at: string
  readonly nestedAt: string
}

/** Every property in a junctor must also be declared outside. */
function checkCompleteness(nested: SchemaProps, outside: SchemaProps, { at, nestedAt }: Places, errors: FieldError[]): void {
  if (nested.not !== undefined) checkNestedCompleteness(nested.not, outside, { at, nestedAt: `${nestedAt}.not` }, errors)
  for (const name of ['allOf', 'anyOf', 'oneOf'] as const) {
    for (const [index, part] of (nested[name] ?? []).entries()) {
      checkNestedCompleteness(part, outside, { at, nestedAt: `${nestedAt}.${name}[${index}]` }, errors)
    }
  }
}

function checkNestedCompleteness(nested: SchemaProps, outside: SchemaProps | undefined, places: Places, errors: FieldError[]): void {
  if (outside === undefined) {
    errors.push(requiredValue(places.at, `because it is defined in ${places.nestedAt}`))
    return
  }
  const within = (part: string): Places => ({ at: `${places.at}.${part}`, nestedAt: `${places.nestedAt}.${part}` })
  checkCompleteness(nested, outside, places, errors)
  const items = itemSchema(nested)
  if (items !== undefined) checkNestedCompleteness(items, itemSchema(outside), within('items'), errors)
  for (const [name, property] of propertiesOf(nested)) {
    checkNestedCompleteness(property, outside.properties?.[name], within(`properties[${name}]`), errors)
  }
}

function isText(text: string | undefined): text is string {
  return text !== undefined && text !== ''
}

function hasMembers(map: object | undefined): boolean {
  return Object.keys(map ?? {}).length > 0
}

function isZero(value: unknown): boolean {
  return value === undefined || value === null || value === false || value === '' || (Array.isArray(value) && value.length === 0)
}
