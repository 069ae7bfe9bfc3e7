import { isJsonObject } from '../json/member.ts'
import { joinTexts } from '../meta/level-text.ts'
import type { FieldError } from '../meta/status.ts'
import type { StepMeter, Steps } from '../steps.ts'
import { validateValue } from '../structural/check-value.ts'
import { walkValue } from '../structural/decode.ts'
import { validateEmbedded, validateEmbeddedObject } from '../structural/embedded.ts'
import { noField } from '../structural/field-path.ts'
import { isTooDeep, tooDeepText } from '../structural/json-value.ts'
import { parseStructuralInSteps } from '../structural/parse.ts'
import { evaluateRules, type RuleCandidate } from '../structural/rules/evaluate.ts'
import { compilationMeter, RuleTree } from '../structural/rules/rule-tree.ts'
import type { StructuralSchema } from '../structural/schema.ts'
import { invalidValue } from '../validation/field-errors.ts'
import { hasDefault, type SchemaProps, schemaMeter, someSchemaInSteps } from './schema-props.ts'

/** The rules by which defaults are checked. */
interface DefaultContext {
  readonly needsPruned: boolean
  /** The minor version of the release whose rules apply. */
  readonly level: number
}

/** The errors of defaults in a structural schema: each default must be valid under its own schema. */
export function* validateDefaults(root: SchemaProps, at: string, { needsPruned, level }: DefaultContext): Steps<FieldError[]> {
  const errors: FieldError[] = []
  const rules = new DefaultRules()
  yield* visitDefaults(root, at, function* (found) {
    const problems = yield* checkDefault(found, { needsPruned, level })
    errors.push(...(problems.length > 0 ? problems : yield* rules.check(found)))
  })
  return errors
}

/** True if a default of a structural schema has fields that the schema lacks. */
export function* hasUnprunedDefault(root: SchemaProps): Steps<boolean> {
  let isFound = false
  // biome-ignore lint/correctness/useYield: a single default is quick to check.
  yield* visitDefaults(root, '', function* (found) {
    isFound ||= found.surround === undefined && !isTooDeep(found.value) && hasUnknownFields(found)
  })
  return isFound
}

/** A default at its place. */
interface FoundDefault {
  readonly at: string
  readonly schema: StructuralSchema
  readonly value: unknown
  /** Makes the API object whose metadata or type contains the value; undefined outside of metadata. */
  readonly surround: Surround | undefined
}

type Surround = (value: unknown) => unknown

/** Called for each default. */
type OnFound = (found: FoundDefault) => Steps<void>

function* visitDefaults(root: SchemaProps, at: string, found: OnFound): Steps<void> {
  if (!(yield* someSchemaInSteps(root, hasDefault))) return
  const schema: StructuralSchema = { ...(yield* parseStructuralInSteps(root)), isEmbeddedResource: true }
  yield
  yield* visit(schema, { at, surround: undefined, isMeta: false, meter: schemaMeter() }, found)
}

interface Place {
  readonly at: string
  /** Makes the next enclosing API object from the value here. */
  readonly surround: Surround | undefined
  /** True within the `apiVersion`, `kind` or `metadata` of such an object. */
  readonly isMeta: boolean
  readonly meter: StepMeter
}

const metaFields = ['apiVersion', 'kind', 'metadata']

/** Values of maps cannot have defaults. */
function* visit(schema: StructuralSchema, { at, meter, ...place }: Place, found: OnFound): Steps<void> {
  if (meter.isFull()) yield
  const isObjectOfApi = schema.isEmbeddedResource === true
  const { surround = identity, isMeta } = isObjectOfApi ? { isMeta: false } : place
  const given = schema.default
  if (given !== undefined && given.value !== null) {
    yield* found({ at: `${at}.default`, schema, value: given.value, surround: isMeta ? surround : undefined })
  }
  if (schema.items !== undefined)
    yield* visit(schema.items, { at: `${at}.items`, isMeta, meter, surround: (value) => surround([value]) }, found)
  for (const [name, property] of schema.properties ?? []) {
    const inner = { at: `${at}.properties[${name}]`, meter, isMeta: isMeta || (isObjectOfApi && metaFields.includes(name)) }
    yield* visit(property, { ...inner, surround: (value) => surround({ [name]: value }) }, found)
  }
}

function identity(value: unknown): unknown {
  return value
}

function* checkDefault(found: FoundDefault, { needsPruned, level }: DefaultContext): Steps<FieldError[]> {
  const { at, schema, value, surround } = found
  if (isTooDeep(value)) return [invalidValue(at, value, tooDeepText)]
  if (surround !== undefined) return yield* checkMeta(found, surround, level)
  const errors = needsPruned && hasUnknownFields(found) ? [invalidValue(at, value, 'must not have unknown fields')] : []
  const ofEmbedded = validateEmbedded(schema, value, { path: at, level })
  return [...errors, ...(ofEmbedded.length > 0 ? firstOfTypes(ofEmbedded) : yield* checkValue(found))]
}

/** Only the type errors, if a member of an embedded object has a wrong type. */
function firstOfTypes(errors: readonly FieldError[]): readonly FieldError[] {
  const ofType = errors.find(
    ({ field, message }) => field.endsWith('.metadata') || (typeof message === 'string' && message.endsWith('must be a string')),
  )
  return ofType === undefined ? errors : [ofType]
}

/** A default within metadata must produce valid metadata of an otherwise empty object. */
function* checkMeta(found: FoundDefault, surround: Surround, level: number): Steps<FieldError[]> {
  const { at, value } = found
  const surrounding = surround(value)
  const object = { apiVersion: 'validation/v1', kind: 'Validation', ...(isJsonObject(surrounding) && surrounding) }
  const problems = validateEmbeddedObject(object, { path: '', level }).map(({ field, message }) => joinTexts([field, message], ': '))
  if (problems.length === 0) return yield* checkValue(found)
  const list = problems.length === 1 ? problems : ['[', joinTexts(problems, ', '), ']']
  return [invalidValue(at, value, joinTexts(['must result in valid metadata: ', ...list]))]
}

function* checkValue({ at, schema, value }: FoundDefault): Steps<FieldError[]> {
  return (yield* validateValue(schema, value)).map((error) => ({ ...error, field: placeBelow(at, error.field) }))
}

/** Evaluates the rules on defaults, with the same cost limit as for one object. */
class DefaultRules {
  readonly #compilation = compilationMeter()
  #budget: number | undefined;

  *check({ at, schema, value }: FoundDefault): Steps<readonly FieldError[]> {
    const rules = RuleTree.of(schema, { isResource: schema.isEmbeddedResource === true })
    if (rules === undefined || (this.#budget ?? 0) < 0) return []
    // A default is first added and then kept unchanged, so the rules must pass on create and on update.
    const errors = yield* this.#evaluate(rules, { value, old: value, path: at })
    return errors.length > 0 ? errors : yield* this.#evaluate(rules, { value, path: at })
  }

  *#evaluate(rules: RuleTree, candidate: RuleCandidate): Steps<readonly FieldError[]> {
    const { errors, budget } = yield* evaluateRules(rules, {
      ...candidate,
      compilation: this.#compilation,
      ...(this.#budget !== undefined && { budget: this.#budget }),
    })
    this.#budget = budget
    return errors
  }
}

function placeBelow(at: string, field: string): string {
  if (field === '' || field === noField) return at
  return field.startsWith('[') ? `${at}${field}` : `${at}.${field}`
}

function hasUnknownFields({ schema, value }: FoundDefault): boolean {
  const isRoot = schema.isEmbeddedResource === true
  return walkValue(schema, value, { prunes: true, fillsDefaults: false, embedded: 'keep', isRoot }).hasUnknown
}
