import type { ObjectShape } from '../apply/shape.ts'
import type { Draft } from '../kind/draft.ts'
import type { Struct } from '../kind/field-places.ts'
import type { KindReaders, OpenApiType, Preparable, ValidationCandidate } from '../kind/kind-readers.ts'
import type { ScalePaths } from '../kind/resource.ts'
import type { ApiObject } from '../meta/object-meta.ts'
import { foregroundFinalizer, orphanFinalizer } from '../meta/object-meta.ts'
import type { FieldError } from '../meta/status.ts'
import type { Names } from '../names.ts'
import type { Decode } from '../schema/decode.ts'
import { runAtOnce, type Steps } from '../steps.ts'
import type { TablePrinter } from '../table/printer.ts'
import type { Part } from '../validation/part.ts'
import { itemsOf, partOf } from '../validation/part.ts'
import { createCustomTable, type PrinterColumn } from './columns.ts'

import { fingerprintInSteps, fingerprintOf } from './fingerprint.ts'
import { sortedValue, storedDepthMax } from './json-value.ts'
import { completeCustom, decoderOfCustom, pruneCustom, renewCustom } from './read-object.ts'
import { evaluateRules } from './rules/evaluate.ts'
import { RuleTree } from './rules/rule-tree.ts'
import type { StructuralSchema } from './schema.ts'
import { createFieldTexts, type FieldTexts } from './selectable.ts'
import { shapeOfCustomObject } from './shape.ts'
import { blockingError, validateCustomObject } from './validate-object.ts'

/** Facts about a version of a definition, for reading its objects. */
export interface CustomFacts {
  /** The name of the version. */
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
    const complete = completeCustom(this.schema, object)
    for (const name of Object.keys(object)) if (!Object.hasOwn(complete, name)) delete object[name]
    Object.assign(object, complete)
  }

  *validate({ object, live, part, level, warn, isInterrupted, comparisons, rules: timer }: ValidationCandidate): Steps<FieldError[]> {
    const errors = validateCustomObject(this.schema, { object, old: live, part, scale: this.#facts.scale, comparisons, level })
    yield
    const rules = this.#ruleTree()
    const blocking = rules === undefined ? undefined : blockingError(errors)
    if (blocking !== undefined) errors.push(blocking)
    else if (rules !== undefined) {
      const candidate = { value: object, old: live, ratchets: live !== undefined, warn, isInterrupted, comparisons, timer, level }
      errors.push(...(yield* evaluateRules(rules, candidate)).errors)
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
    return pruneCustom(this.schema, object)
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
