import type { ObjectShape } from '../apply/shape.ts'
import { goNumber } from '../json/go-text.ts'
import type { Draft } from '../kind/draft.ts'
import type { Struct } from '../kind/field-places.ts'
import type { KindReaders, OpenApiType, Preparable, ValidationCandidate } from '../kind/kind-readers.ts'
import type { ScalePaths } from '../kind/resource.ts'
import { type ApiObject, type FieldError, foregroundFinalizer, orphanFinalizer } from '../meta/index.ts'
import type { Names } from '../names.ts'
import type { Decode } from '../schema/decode.ts'
import { runAtOnce, StepMeter, type Steps } from '../steps.ts'
import type { TablePrinter } from '../table/printer.ts'
import { itemsOf, type Part, partOf } from '../validation/part.ts'
import { canonicalText } from './canonical.ts'
import { createCustomTable, type PrinterColumn } from './columns.ts'
import { parseJsonPath } from './json-path.ts'
import { sortedValue, storedDepthMax } from './json-value.ts'
import { decoderOfCustom, renewCustom } from './read-object.ts'
import { evaluateRules } from './rules/evaluate.ts'
import { RuleTree } from './rules/rule-tree.ts'
import type { StructuralSchema } from './schema.ts'
import { shapeOfCustomObject } from './shape.ts'
import { blockingError, validateCustomObject } from './validate-object.ts'

/** Facts about a version of a definition, for reading its objects. */
export interface CustomFacts {
  readonly version: string
  /** Parses the schema, at first use and again after `forget`. */
  schema(): Steps<StructuralSchema>
  /** Called after the schema was parsed. */
  onMade?(): void
  readonly columns: readonly PrinterColumn[]
  /** Paths of selectable fields, such as `.spec.color`. */
  readonly selectable: readonly string[]
  readonly scale?: ScalePaths | undefined
  openApi(): OpenApiType
}

/** The readers of a custom kind in a version. */
export class StructuralReaders implements KindReaders, Preparable {
  readonly preparable = this
  readonly isUntyped = true
  readonly tableReads = 'served'
  readonly mergeSchema = undefined
  readonly protobuf = undefined
  readonly warnings = warningsOfFinalizers
  readonly #facts: CustomFacts
  #fieldsOf: FieldTexts | undefined
  #schema: StructuralSchema | undefined
  #decode: Decode<ApiObject> | undefined
  #shape: ObjectShape | undefined
  #table: TablePrinter | undefined
  #rules: { readonly tree: RuleTree | undefined } | undefined
  #fingerprint: number | undefined

  constructor(facts: CustomFacts) {
    this.#facts = facts
  }

  /** The version's name. */
  get version(): string {
    return this.#facts.version
  }

  /** The schema for all readers. */
  get schema(): StructuralSchema {
    return this.#schema ?? runAtOnce(this.#make())
  }

  get isReady(): boolean {
    return this.#schema !== undefined
  }

  *prepare(): Steps<void> {
    yield* this.#make()
  }

  *#make(): Steps<StructuralSchema> {
    const schema = yield* this.#facts.schema()
    yield
    this.#fingerprint ??= yield* fingerprintInSteps(schema, this.#facts.version)
    this.#schema = schema
    this.#facts.onMade?.()
    return schema
  }

  /** Frees the schema tree and everything derived from it; the next use creates it again. */
  forget(): void {
    this.#schema = undefined
    this.#decode = undefined
    this.#shape = undefined
    this.#rules = undefined
  }

  /** Kept after `forget`, because reading unchanged bytes needs only this. */
  get storedFingerprint(): number {
    return this.fingerprint
  }

  get fingerprint(): number {
    return this.#fingerprint ?? fingerprintOf(this.schema, this.#facts.version)
  }

  get decode(): Decode<ApiObject> {
    // The gateway has set kind and version in every body.
    this.#decode ??= decoderOfCustom(this.schema) as Decode<ApiObject>
    return this.#decode
  }

  get shape(): ObjectShape {
    this.#shape ??= shapeOfCustomObject(this.schema)
    return this.#shape
  }

  get table(): TablePrinter {
    this.#table ??= createCustomTable(this.#facts.columns)
    return this.#table
  }

  get openApi(): OpenApiType {
    return this.#facts.openApi()
  }

  /** Prunes members that mutating admission has added, and fills in defaults. */
  applyDefaults(object: Draft): void {
    const complete = renewCustom(this.schema, object, { keepsNulls: true })
    for (const name of Object.keys(object)) if (!Object.hasOwn(complete, name)) delete object[name]
    Object.assign(object, complete)
  }

  *validate(validated: ValidationCandidate): Steps<FieldError[]> {
    const { object, live, part, level, isGateOn, warn, isInterrupted, comparisons, rules: timer } = validated
    const ratchets = live !== undefined && isGateOn('CRDValidationRatcheting')
    const candidate = { object, old: live, part, scale: this.#facts.scale, comparisons, level, ratchets }
    const errors = yield* validateCustomObject(this.schema, candidate)
    yield
    const rules = this.#ruleTree()
    const blocking = rules === undefined ? undefined : blockingError(errors, level)
    if (blocking !== undefined) errors.push(blocking)
    else if (rules !== undefined) {
      const evaluated = { value: object, old: live, ratchets, warn, isInterrupted, comparisons, timer, level }
      errors.push(...(yield* evaluateRules(rules, evaluated)).errors)
    }
    if (live !== undefined) comparisons?.end()
    return errors
  }

  #ruleTree(): RuleTree | undefined {
    this.#rules ??= { tree: RuleTree.of(this.schema, { isResource: true }) }
    return this.#rules.tree
  }

  /** Sorts members that were added after decoding. */
  printable<T extends Struct>(object: T): T {
    return sortedValue(object, 0, storedDepthMax) as T
  }

  renew<T extends Struct>(object: T): T {
    return renewCustom(this.schema, object)
  }

  prune<T extends Struct>(object: T): T {
    return renewCustom(this.schema, object, { fillsDefaults: false })
  }

  fieldsOf(object: Struct): Record<string, string> {
    this.#fieldsOf ??= createFieldTexts(this.#facts.selectable)
    const texts = this.#fieldsOf(object)
    return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''))
  }
}

/**
 * Warnings about new finalizers of a custom object that have no domain, sorted by name. Rule and
 * texts are from kube-apiserver (`validateKubeFinalizerName` for custom resources).
 */
export function warningsOfFinalizers(object: Part, live: Part | undefined, names: Pick<Names, 'namespaceFinalizer'>): readonly string[] {
  const finalizers = finalizersOf(object)
  if (finalizers.length === 0) return finalizers
  const expected = new Set([orphanFinalizer, foregroundFinalizer, names.namespaceFinalizer, ...finalizersOf(live)])
  return [...new Set(finalizers)]
    .filter((name) => !name.includes('/') && !expected.has(name))
    .sort()
    .map((name) => {
      const path = name.includes('.') ? ' including a path (/)' : ''
      const how = `prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`
      return `metadata.finalizers: ${JSON.stringify(name)}: ${how}`
    })
}

function finalizersOf(object: Part | undefined): readonly string[] {
  return itemsOf<string>(partOf(object, 'metadata'), 'finalizers')
}

/**
 * A number that changes with a schema's pruning, its defaults or the storage version: an object stored with the
 * same fingerprint is read without changes. Validation rules do not matter. It has 31 bits, so that V8 stores it without a heap object in
 * the index of storage, and is larger than the fingerprints of built-in kinds.
 */
export function fingerprintOf(schema: StructuralSchema, storedVersion: string): number {
  return runAtOnce(fingerprintInSteps(schema, storedVersion))
}

/** Like `fingerprintOf`, in steps. */
function* fingerprintInSteps(schema: StructuralSchema, storedVersion: string): Steps<number> {
  const hash = yield* hashOf(schema, new StepMeter(schemasPerStep))
  const [a, b] = hashText(`${storedVersion} ${hash.join(' ')}`)
  return ((a ^ b) & 0x3fffffff) | 0x40000000
}

/** Number of schemas that are hashed per step, which takes some milliseconds. */
const schemasPerStep = 1_000

type Hash = readonly [number, number]

const known = new WeakMap<StructuralSchema, Hash>()

function* hashOf(schema: StructuralSchema, meter: StepMeter): Steps<Hash> {
  const before = known.get(schema)
  if (before !== undefined) return before
  if (meter.isFull()) yield
  const { nullable, preservesUnknownFields, isEmbeddedResource, items, additionalProperties, properties } = schema
  const parts: unknown[] = [nullable === true, preservesUnknownFields === true, isEmbeddedResource === true]
  parts.push(
    schema.default === undefined ? [] : [canonicalText(schema.default.value)],
    items === undefined ? null : yield* hashOf(items, meter),
  )
  parts.push(typeof additionalProperties === 'object' ? yield* hashOf(additionalProperties, meter) : additionalProperties !== undefined)
  for (const [name, property] of properties ?? []) parts.push(name, yield* hashOf(property, meter))
  const hash = hashText(JSON.stringify(parts))
  known.set(schema, hash)
  return hash
}

/** Two multiplicative hashes that are mixed at the end. */
function hashText(text: string): Hash {
  let [a, b] = [0xdeadbeef, 0x41c6ce57]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    a = Math.imul(a ^ code, 2654435761)
    b = Math.imul(b ^ code, 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  return [a >>> 0, b >>> 0]
}

/** Returns the values of selectable fields by label. */
export type FieldTexts = (object: Readonly<Record<string, unknown>>) => Record<string, string>

/** Values of a version's selectable fields. An absent field is an empty text. */
export function createFieldTexts(paths: readonly string[]): FieldTexts {
  const fields = paths.map((path) => ({ label: path.replace(/^\./, ''), read: parseJsonPath(path) }))
  return (object) => {
    const texts: Record<string, string> = {}
    for (const { label, read } of fields) texts[label] = textOf(read(object)[0])
    return texts
  }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'bigint') return goNumber(value)
  return typeof value === 'boolean' ? String(value) : ''
}
