import type { ObjectShape } from '../apply/shape.ts'
import { shapeOfType } from '../apply/type-shape.ts'
import type { IsGateOn } from '../feature-gates.ts'
import type { ApiObject } from '../meta/object-meta.ts'
import type { FieldError } from '../meta/status.ts'
import type { Names } from '../names.ts'
import { decodeProtobuf } from '../protobuf/decode.ts'
import { encodeProtobuf, encodeProtobufItem, encodeProtobufItems, hasProtobuf } from '../protobuf/encode.ts'
import { type Decode, decoderOf } from '../schema/decode.ts'
import type { StructNode } from '../schema/node.ts'
import { validateRequired } from '../schema/required.ts'
import { resolveStruct } from '../schema/resolve.ts'
import type { Steps } from '../steps.ts'
import { type TablePrinter, tablePrinterOf } from '../table/printer.ts'
import type { Reshape } from './conversion/reshape.ts'
import type { Draft } from './defaults/draft.ts'
import { withoutEmptyLists } from './empty-lists.ts'
import type { Struct } from './field-places.ts'
import { dropDisabledFields, refuseDisabledValues } from './gated-fields.ts'
import type { KindReaders, OpenApiType, ProtobufReaders, ValidationCandidate } from './kind-readers.ts'
import type { Defaulter, KindTable, Rules, WarningRule } from './kinds/define-resource.ts'
import { type SelectableFields, selectableFieldsOf } from './selectable-fields.ts'
import type { Part } from './validation/part.ts'

/** What a kind says of its objects beside their type. */
export interface BuiltInFacts {
  readonly defaults?: Defaulter | undefined
  readonly validation?: Rules | undefined
  readonly warnings?: WarningRule | undefined
  readonly table?: KindTable | undefined
  readonly selectable?: SelectableFields | undefined
  readonly reshape?: Reshape | undefined
}

/** The readers of a kind whose type is described in `api`. */
export class BuiltInReaders implements KindReaders {
  readonly type: string
  readonly isUntyped = false
  readonly fingerprint = undefined
  readonly preparable = undefined
  readonly tableReads = 'stored'
  readonly #facts: BuiltInFacts
  #decode: Decode<ApiObject> | undefined
  #shape: ObjectShape | undefined
  #table: TablePrinter | undefined
  #protobuf: { readonly readers: ProtobufReaders | undefined } | undefined
  #fieldsOf: SelectableFields['fieldsOf'] | undefined

  constructor(type: string, facts: BuiltInFacts = {}) {
    this.type = type
    this.#facts = facts
  }

  get decode(): Decode<ApiObject> {
    // Types of kinds have the members that every object has.
    this.#decode ??= decoderOf(this.type) as Decode<ApiObject>
    return this.#decode
  }

  get reshape(): Reshape | undefined {
    return this.#facts.reshape
  }

  get shape(): ObjectShape {
    this.#shape ??= shapeOfType(this.type)
    return this.#shape
  }

  get table(): TablePrinter {
    this.#table ??= tablePrinterOf(this.#facts.table)
    return this.#table
  }

  get mergeSchema(): StructNode {
    return resolveStruct(this.type)
  }

  get protobuf(): ProtobufReaders | undefined {
    this.#protobuf ??= { readers: protobufReadersOf(this.type) }
    return this.#protobuf.readers
  }

  get openApi(): OpenApiType {
    return { kind: 'described', type: this.type }
  }

  applyDefaults(object: Draft, names: Names, isGateOn: IsGateOn): void {
    this.#facts.defaults?.(object, names, isGateOn)
  }

  validate(candidate: ValidationCandidate): Steps<FieldError[]> {
    return validateBuiltIn(this.type, this.#facts.validation, candidate)
  }

  warnings(object: Part, live: Part | undefined, names: Names): readonly string[] {
    return this.#facts.warnings?.(object, live, names) ?? []
  }

  dropDisabledFields<T extends Struct>(object: T, live: Struct | undefined, isGateOn: IsGateOn): T {
    return dropDisabledFields(this.type, object, live, isGateOn)
  }

  printable<T extends Struct>(object: T): T {
    return withoutEmptyLists(this.type, object)
  }

  renew<T extends Struct>(object: T): T {
    return object
  }

  prune<T extends Struct>(object: T): T {
    return object
  }

  fieldsOf(object: Struct): Record<string, string> {
    this.#fieldsOf ??= selectableFieldsOf(this.#facts)
    return this.#fieldsOf(object)
  }
}

function protobufReadersOf(type: string): ProtobufReaders | undefined {
  if (!hasProtobuf(type)) return undefined
  return {
    decode: (bytes) => decodeProtobuf(type, bytes),
    encode: (object) => encodeProtobuf(type, object),
    encodeItem: (object) => encodeProtobufItem(type, object),
    encodeItems: (objects) => encodeProtobufItems(type, objects),
  }
}

/**
 * Everything that is wrong with an object beside its metadata; empty when nothing is. A kind's own rules know more of a field
 * than its type does, so the type only speaks of fields that they say nothing about.
 */
function* validateBuiltIn(
  type: string,
  rules: Rules | undefined,
  { body, object, live, part, names, isGateOn }: ValidationCandidate,
): Steps<FieldError[]> {
  const found = rules?.[part]?.(object, live, names, { body, isGateOn }) ?? []
  const own = Array.isArray(found) ? found : yield* found
  if (part === 'main') own.push(...refuseDisabledValues(type, object, live, isGateOn))
  if (rules?.areComplete === true || rules?.areComplete === part) return own
  const general = validateRequired(type, body, part)
  if (general.length === 0) return own
  const reported = new Set(own.map((error) => error.field))
  const reportedAbove = new Set(own.flatMap((error) => fieldsAbove(error.field)))
  return [
    ...own,
    ...general.filter(({ field }) => !reported.has(field) && !reportedAbove.has(field) && !reported.has(field.replace(/\[\d+\]$/, ''))),
  ]
}

/** What is said of a part of a field is said of the field. */
function fieldsAbove(field: string): string[] {
  return [...field.matchAll(/[.[]/g)].map(({ index }) => field.slice(0, index))
}
