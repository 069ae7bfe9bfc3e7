import type { ObjectShape } from '../apply/shape.ts'
import { shapeOfType } from '../apply/type-shape.ts'
import { oldestLevel } from '../description/levels.ts'
import type { Defaulter, Rules, Unreadable, WarningRule } from '../kind/define-resource.ts'
import type { Struct } from '../kind/field-places.ts'
import type { DropDisabledFields, KindReaders, OpenApiType, Printable, ProtobufReaders, ValidationCandidate } from '../kind/kind-readers.ts'
import type { Reshape } from '../kind/reshape.ts'
import { type SelectableFields, selectableFieldsOf } from '../kind/selectable-fields.ts'
import type { ApiObject, FieldError } from '../meta/index.ts'
import { decodeProtobuf } from '../protobuf/decode.ts'
import {
  encodeJsonItem,
  encodeJsonItems,
  encodeProtobuf,
  encodeProtobufItem,
  encodeProtobufItems,
  hasProtobuf,
} from '../protobuf/encode.ts'
import { type Decode, decoderOf, type Node, typeNameAt } from '../schema/index.ts'
import type { Steps } from '../steps.ts'
import { fingerprintAt } from '../stored/stored-object.ts'
import type { KindTable } from '../table/kind-table.ts'
import { type TablePrinter, tablePrinterOf } from '../table/printer.ts'
import type { RuleBook, RuleContext } from '../validation/rule-book.ts'
import { emptyListsRemover } from './empty-lists.ts'
import { disabledFieldsDropper, disabledValuesRefuser, type RefuseDisabledValues } from './gated-fields.ts'
import { createRuleBook } from './validation/rules-by-type.ts'

/** Facts about a kind besides its type. */
export interface BuiltInFacts {
  readonly storedAs?: string | undefined
  readonly defaults?: Defaulter | undefined
  readonly unreadable?: Unreadable | undefined
  readonly validation?: Rules | undefined
  readonly warnings?: WarningRule | undefined
  readonly statusWarnings?: WarningRule | undefined
  readonly table?: KindTable | undefined
  readonly selectable?: SelectableFields | undefined
  readonly reshape?: Reshape | undefined
}

/** The readers of a kind whose type is described in `api`. */
export class BuiltInReaders implements KindReaders {
  readonly isUntyped = false
  readonly fingerprint = undefined
  readonly storedFingerprint: number
  readonly preparable = undefined
  readonly tableReads = 'stored'
  readonly applyDefaults: KindReaders['applyDefaults']
  readonly unreadable: Unreadable | undefined
  readonly warnings: KindReaders['warnings']
  readonly statusWarnings: KindReaders['warnings']
  readonly reshape: Reshape | undefined
  readonly #plainType: string
  readonly #level: number
  readonly #facts: BuiltInFacts
  readonly #rules: RuleBook

  constructor(type: string, facts: BuiltInFacts = {}, level: number = oldestLevel, rules: RuleBook = createRuleBook(level)) {
    this.#plainType = type
    this.#level = level
    this.storedFingerprint = fingerprintAt(level)
    const { defaults, warnings, statusWarnings } = facts
    this.applyDefaults = defaults && ((object, names, isGateOn) => defaults(object, names, isGateOn, level))
    this.unreadable = facts.unreadable
    this.warnings = warnings && ((object, live, names, isGateOn) => warnings(object, live, names, { level, isGateOn }))
    this.statusWarnings = statusWarnings && ((object, live, names, isGateOn) => statusWarnings(object, live, names, { level, isGateOn }))
    this.reshape = facts.reshape
    this.#facts = facts
    this.#rules = rules
  }

  /** The type's name at this level. */
  get type(): string {
    return keep(this, 'type', typeNameAt(this.#plainType, this.#level))
  }

  get decode(): Decode<ApiObject> {
    // The types of kinds include the members that every object has.
    return keep(this, 'decode', decoderOf(this.type, this.#level) as Decode<ApiObject>)
  }

  get shape(): ObjectShape {
    return keep(this, 'shape', shapeOfType(this.type))
  }

  get table(): TablePrinter {
    return keep(this, 'table', tablePrinterOf(this.#facts.table, this.#level))
  }

  get mergeSchema(): Node {
    return { kind: 'ref', name: this.type }
  }

  get protobuf(): ProtobufReaders | undefined {
    return keep(this, 'protobuf', protobufReadersOf(this.type))
  }

  get openApi(): OpenApiType {
    return { kind: 'described', type: this.type }
  }

  get dropDisabledFields(): DropDisabledFields | undefined {
    return keep(this, 'dropDisabledFields', disabledFieldsDropper(this.type))
  }

  get refuseDisabledValues(): RefuseDisabledValues | undefined {
    return keep(this, 'refuseDisabledValues', disabledValuesRefuser(this.type))
  }

  get printable(): Printable | undefined {
    return keep(this, 'printable', emptyListsRemover(this.type))
  }

  get fieldsOf(): SelectableFields['fieldsOf'] {
    return keep(this, 'fieldsOf', selectableFieldsOf(this.#facts))
  }

  /**
   * The errors of an object except in its metadata, by the rules of the kind. `required` and
   * enum facets apply to documents only: clients omit empty fields, and may write newer values.
   */
  *validate({ body, object, live, part, subresource = '', names, isGateOn, level }: ValidationCandidate): Steps<FieldError[]> {
    const rules = this.#rules
    const { storedAs, validation } = this.#facts
    const context: RuleContext = { body, object, live, names, isGateOn, level, rules, declared: [] }
    const ofKind = validation?.parts?.[subresource] ?? validation?.[part]
    const ofType = (): FieldError[] => (storedAs === undefined ? [] : rules.checkObject(storedAs, part, context))
    const found = ofKind === undefined ? ofType() : ofKind(object, live, names, context)
    const errors = [...(Array.isArray(found) ? found : yield* found), ...context.declared]
    if (part === 'main' && this.refuseDisabledValues !== undefined) errors.push(...this.refuseDisabledValues(object, live, isGateOn))
    return errors
  }

  renew<T extends Struct>(object: T): T {
    return object
  }

  prune<T extends Struct>(object: T): T {
    return object
  }
}

/** Replaces a getter by its result, so that it is computed once. */
function keep<K extends keyof BuiltInReaders>(readers: BuiltInReaders, name: K, value: BuiltInReaders[K]): BuiltInReaders[K] {
  Object.defineProperty(readers, name, { value, enumerable: true })
  return value
}

function protobufReadersOf(type: string): ProtobufReaders | undefined {
  if (!hasProtobuf(type)) return undefined
  return {
    type,
    decode: (bytes) => decodeProtobuf(type, bytes),
    encode: (object) => encodeProtobuf(type, object),
    encodeItem: (object) => encodeProtobufItem(type, object),
    encodeItems: (objects) => encodeProtobufItems(type, objects),
    encodeStoredItem: (json) => encodeJsonItem(type, json),
    encodeStoredItems: (jsons) => encodeJsonItems(type, jsons),
  }
}
