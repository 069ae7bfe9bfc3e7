import { type FieldError, type LevelText, textSince } from '../meta/index.ts'
import type { Steps } from '../steps.ts'
import { parseStructuralInSteps } from '../structural/parse.ts'
import { validateRules } from '../structural/rules/limits.ts'
import { forbiddenValue, invalidValue, requiredValue, unsupportedValue } from '../validation/field-errors.ts'
import { validateDefaults } from './default-values.ts'
import { validateListItems, validateListType, validateMapType } from './list-grammar.ts'
import { followSchemaPath } from './schema-path.ts'
import {
  additionalSchema,
  hasDefault,
  isList,
  itemSchema,
  propertiesOf,
  type SchemaProps,
  schemaMeter,
  someSchemaInSteps,
  sortedEntries,
  type ValidationRule,
} from './schema-props.ts'
import { knownTypes, type Strictness } from './strictness.ts'
import { findUnsupported, findUnsupportedInSteps, validateStructureInSteps } from './structural-grammar.ts'

/** The context for checking a version's schema, besides tolerated errors. */
export interface SchemaContext {
  readonly hasStatus: boolean
  readonly needsStructure: boolean
  readonly strictness: Strictness
  /** True for an unchanged schema, whose rules may exceed the limits. */
  readonly isUnchanged?: boolean
}

/** All errors of a version's schema. */
export function* validateSchema(schema: SchemaProps, at: string, context: SchemaContext): Steps<FieldError[]> {
  const errors = context.hasStatus ? checkRootBesideStatus(schema, at) : []
  if (schema.nullable === true) errors.push(forbiddenValue(`${at}.nullable`, 'nullable cannot be true at the root'))
  const unsupported = context.needsStructure ? yield* findUnsupportedInSteps(schema) : undefined
  if (context.needsStructure && unsupported === undefined) addAll(errors, yield* validateStructural(schema, at, context))
  const check = new SchemaCheck(context)
  yield* check.check(schema, { at, isRoot: true, isInsideMeta: false })
  yield
  const hasTypes = context.needsStructure && unsupported === undefined && errors.length === 0
  addAll(errors, check.errors)
  if (hasTypes && (yield* someSchemaInSteps(schema, (schema) => (schema['x-kubernetes-validations'] ?? []).length > 0))) {
    // A rule is checked only if the structure and the defaults at its place are valid.
    const unsound = placesAbove(check.errors)
    const { storedExpressions: stored, level } = context.strictness
    const isUnsupported = ({ reason }: FieldError): boolean => reason === 'FieldValueNotSupported'
    const unsupportedFields = new Set(check.errors.filter(isUnsupported).map(({ field }) => field))
    const options = {
      forgivesCost: context.isUnchanged === true,
      isSound: (place: string) => !unsound.has(place),
      isUncorrelatable: (place: string) => unsupportedFields.has(`${place}.x-kubernetes-map-type`),
      stored,
      level,
    }
    const parsed = yield* parseStructuralInSteps(schema)
    yield
    addAll(errors, yield* validateRules(parsed, at, options))
  }
  // Most errors that make a schema non-structural were already reported at their places.
  return errors.length === 0 && unsupported !== undefined ? [invalidValue(at, '', unsupported)] : errors
}

/** Adds errors one by one, because there may be too many for one call with spread arguments. */
function addAll(errors: FieldError[], more: readonly FieldError[]): void {
  for (const error of more) errors.push(error)
}

/** The paths of errors and of everything that contains them. */
function placesAbove(errors: readonly FieldError[]): ReadonlySet<string> {
  const places = new Set<string>()
  for (const { field } of errors) {
    places.add(field)
    for (let at = field.indexOf('.'); at >= 0; at = field.indexOf('.', at + 1)) places.add(field.slice(0, at))
  }
  return places
}

/** Validates defaults if the structure is valid, since they must fit it. */
function* validateStructural(schema: SchemaProps, at: string, { strictness }: SchemaContext): Steps<FieldError[]> {
  yield
  const errors = yield* validateStructureInSteps(schema, at)
  yield
  return errors.length > 0
    ? errors
    : yield* validateDefaults(schema, at, { needsPruned: strictness.needsPrunedDefaults, level: strictness.level })
}

/** Fields at a schema's root with their names in messages, in kube-apiserver's order. */
const rootFields: Readonly<Record<string, string>> = {
  description: 'Description',
  type: 'Type',
  format: 'Format',
  title: 'Title',
  maximum: 'Maximum',
  exclusiveMaximum: 'ExclusiveMaximum',
  minimum: 'Minimum',
  exclusiveMinimum: 'ExclusiveMinimum',
  maxLength: 'MaxLength',
  minLength: 'MinLength',
  pattern: 'Pattern',
  maxItems: 'MaxItems',
  minItems: 'MinItems',
  uniqueItems: 'UniqueItems',
  multipleOf: 'MultipleOf',
  required: 'Required',
  items: 'Items',
  properties: 'Properties',
  externalDocs: 'ExternalDocs',
  example: 'Example',
  'x-kubernetes-preserve-unknown-fields': 'XPreserveUnknownFields',
  'x-kubernetes-validations': 'XValidations',
}

/** Only `properties.status` can validate the status, so the root must have no other constraints. */
function checkRootBesideStatus(schema: SchemaProps, at: string): FieldError[] {
  if (schema.type !== undefined && schema.type !== '' && schema.type !== 'object') {
    const detail = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
    return [invalidValue(`${at}.type`, schema.type, detail)]
  }
  const isStray = Object.entries(schema).some(([name, value]) => rootFields[name] === undefined && value !== false && value !== '')
  if (!isStray) return []
  const allowed = Object.values(rootFields).join(' ')
  return [invalidValue(at, schema, `only [${allowed}] fields are allowed at the root of the schema if the status subresource is enabled`)]
}

/** The place of a schema. */
interface Place {
  readonly at: string
  readonly isRoot: boolean
  /** True below the apiVersion, kind or metadata of an API object. */
  readonly isInsideMeta: boolean
  /** The reason why no default is allowed here; undefined if defaults are allowed. */
  readonly forbidsDefaults?: string
}

const metaFields = ['apiVersion', 'kind', 'metadata']
const resourceMeta = 'inside additionalProperties applying to object metadata'

/** Checks a schema and all its subschemas. */
class SchemaCheck {
  readonly errors: FieldError[] = []
  readonly #strictness: Strictness
  readonly #meter = schemaMeter()

  constructor({ strictness }: SchemaContext) {
    this.#strictness = strictness
  }

  *check(schema: SchemaProps, place: Place): Steps<void> {
    const { at } = place
    if (this.#meter.isFull()) yield
    this.#checkFields(schema, place)
    if (schema.uniqueItems === true) {
      const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'
      this.errors.push(forbiddenValue(`${at}.uniqueItems`, detail))
    }
    yield* this.#checkAdditional(schema, place)
    for (const [name, property] of propertiesOf(schema)) yield* this.check(property, placeOfProperty(schema, name, place))
    yield* this.#checkJunctors(schema, place)
    yield* this.#checkItems(schema, place)
    for (const [name, part] of sortedEntries(schema.dependencies)) {
      if (!isList(part as SchemaProps)) yield* this.check(part as SchemaProps, below(place, `dependencies[${name}]`))
    }
    if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
      this.errors.push(invalidValue(`${at}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined'))
    }
    this.errors.push(...validateMapType(schema, at), ...validateListType(schema, at, this.#strictness))
    if (this.#strictness.needsSoundListItems) this.errors.push(...validateListItems(schema, at))
    this.errors.push(...validateRuleTexts(schema, at))
  }

  /** Refuses fields that a schema must not have, or not here. */
  #checkFields(schema: SchemaProps, { at, isInsideMeta, forbidsDefaults }: Place): void {
    const { type = '' } = schema
    const forbid = (name: string, detail: string): number => this.errors.push(forbiddenValue(`${at}.${name}`, detail))
    if (this.#strictness.needsKnownTypes && type !== '' && !knownTypes.includes(type)) {
      this.errors.push(unsupportedValue(`${at}.type`, type, knownTypes))
    }
    if (hasDefault(schema) && forbidsDefaults !== undefined) forbid('default', `must not be set ${forbidsDefaults}`)
    for (const name of ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'] as const) {
      if (isGiven(schema[name])) forbid(name, `${name} is not supported`)
    }
    if (type === 'null') forbid('type', 'type cannot be set to null, use nullable as an alternative')
    if (isList(schema.items) && schema.items.length > 0) forbid('items', 'items must be a schema object and not an array')
    if (isInsideMeta && schema['x-kubernetes-embedded-resource'] === true) {
      forbid('x-kubernetes-embedded-resource', 'must not be used inside of resource meta')
    }
  }

  *#checkAdditional(schema: SchemaProps, place: Place): Steps<void> {
    const { additionalProperties } = schema
    const additional = additionalSchema(schema)
    if (additionalProperties !== undefined && additionalProperties !== true && Object.keys(schema.properties ?? {}).length > 0) {
      const detail = 'additionalProperties and properties are mutual exclusive'
      this.errors.push(forbiddenValue(`${place.at}.additionalProperties`, detail))
    }
    if (additional === undefined) return
    // The key to which the default belongs is unknown.
    const forbidsDefaults = place.isInsideMeta ? { forbidsDefaults: resourceMeta } : {}
    yield* this.check(additional, { ...below(place, 'additionalProperties'), ...forbidsDefaults })
  }

  *#checkJunctors(schema: SchemaProps, place: Place): Steps<void> {
    if (schema.not !== undefined) yield* this.check(schema.not, below(place, 'not'))
    for (const name of ['allOf', 'oneOf', 'anyOf'] as const) {
      for (const [index, part] of (schema[name] ?? []).entries()) yield* this.check(part, below(place, `${name}[${index}]`))
    }
    for (const [name, part] of sortedEntries(schema.definitions)) yield* this.check(part, below(place, `definitions[${name}]`))
  }

  *#checkItems(schema: SchemaProps, place: Place): Steps<void> {
    const items = itemSchema(schema)
    if (items !== undefined) yield* this.check(items, below(place, 'items'))
    if (!isList(schema.items)) return
    for (const [index, item] of schema.items.entries()) yield* this.check(item, below(place, `items[${index}]`))
  }
}

function below(place: Place, name: string): Place {
  return { ...place, at: `${place.at}.${name}`, isRoot: false }
}

function placeOfProperty(schema: SchemaProps, name: string, place: Place): Place {
  const inner = below(place, `properties[${name}]`)
  if (!metaFields.includes(name) || !(place.isRoot || schema['x-kubernetes-embedded-resource'] === true)) return inner
  return { ...inner, isInsideMeta: true, ...(place.isRoot && { forbidsDefaults: `in top-level ${name}` }) }
}

function isGiven(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0
  return value !== undefined && value !== ''
}

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']

/** The rules of `x-kubernetes-validations` that do not depend on the expressions. */
function validateRuleTexts(schema: SchemaProps, at: string): FieldError[] {
  const rules = schema['x-kubernetes-validations'] ?? []
  if (rules.length === 0) return []
  // The check walks over the schema, and many rules may have the same path.
  const canBeFollowed = rules.some(({ fieldPath = '' }) => fieldPath !== '') && findUnsupported(schema) === undefined
  return rules.flatMap((rule, index) => {
    const place = `${at}.x-kubernetes-validations[${index}]`
    const followed = canBeFollowed ? schema : undefined
    return [...checkTexts(rule, place), ...checkFieldPath(rule.fieldPath ?? '', followed, `${place}.fieldPath`)]
  })
}

function checkTexts({ rule = '', message = '', messageExpression = '', reason }: ValidationRule, at: string): FieldError[] {
  const errors: FieldError[] = []
  if (rule.trim() === '') errors.push(requiredValue(`${at}.rule`, 'rule is not specified'))
  else errors.push(...checkMessage(message, rule, `${at}.message`))
  if (messageExpression !== '' && messageExpression.trim() === '') {
    errors.push(requiredValue(`${at}.messageExpression`, 'messageExpression must be non-empty if specified'))
  }
  if (reason !== undefined && !reasons.includes(reason)) errors.push(unsupportedValue(`${at}.reason`, reason, reasons))
  return errors
}

function checkMessage(message: string, rule: string, field: string): FieldError[] {
  const trimmed = message.trim()
  if (message !== '' && trimmed === '') return [invalidValue(field, message, named('message', 'must be non-empty if specified'))]
  if (hasLineBreaks(trimmed)) return [invalidValue(field, message, named('message', 'must not contain line breaks'))]
  return trimmed === '' && hasLineBreaks(rule.trim())
    ? [requiredValue(field, 'message must be specified if rule contains line breaks')]
    : []
}

/** Before 1.34, messages begin with the name of the field. */
const named = (name: string, why: string): LevelText => textSince(34, { before: `${name} ${why}`, after: why })

function checkFieldPath(path: string, schema: SchemaProps | undefined, field: string): FieldError[] {
  if (path === '') return []
  const errors = path.trim() === '' ? [invalidValue(field, path, named('fieldPath', 'must be non-empty if specified'))] : []
  if (hasLineBreaks(path)) errors.push(invalidValue(field, path, named('fieldPath', 'must not contain line breaks')))
  const isWrong = schema !== undefined && followSchemaPath(path, schema).kind === 'wrong'
  return isWrong ? [...errors, invalidValue(field, path, named('fieldPath', 'must be a valid path'))] : errors
}

function hasLineBreaks(text: string): boolean {
  return /[\n\r]/.test(text)
}
