import type { ObjectShape } from '../apply/shape.ts'
import type { StructNode } from '../description/node.ts'
import type { IsGateOn } from '../feature-gates.ts'
import type { ApiObject } from '../meta/object-meta.ts'
import type { FieldError } from '../meta/status.ts'
import type { Names } from '../names.ts'
import type { ProtobufReading } from '../protobuf/decode.ts'
import type { Decode } from '../schema/decode.ts'
import type { Steps } from '../steps.ts'
import type { TablePrinter } from '../table/printer.ts'
import type { Part } from '../validation/part.ts'
import type { Draft } from './draft.ts'
import type { Struct } from './field-places.ts'
import type { Reshape } from './reshape.ts'

/**
 * The readers of the objects of one kind in one version. Built-in kinds derive them from the description of their type, custom kinds from
 * the schema of their definition. Each reader is made at its first use and belongs to the resource: it is freed with it. A reader that a
 * kind does not need is absent.
 */
export interface KindReaders {
  /**
   * Objects are read without a type, by a schema that gateways alone know. Another kind in a body is then a matter of validation,
   * and other services see the stored form.
   */
  readonly isUntyped: boolean
  /** Types checked, unknown fields dropped, members in the order in which they are printed. */
  readonly decode: Decode<ApiObject>
  /**
   * Fills in defaults, in place, except in frozen parts, which are copied. The object itself and its
   * metadata are not frozen. Decoding once more puts added fields in order.
   */
  readonly applyDefaults?: ((object: Draft, names: Names, isGateOn: IsGateOn) => void) | undefined
  /** Why an object of the right types in a body cannot be read all the same; undefined: it can. */
  readonly unreadable?: ((object: Part) => string | undefined) | undefined
  /** Everything that is wrong with an object beside its metadata. */
  validate(candidate: ValidationCandidate): Steps<FieldError[]>
  /** Texts for `Warning` headers about a valid object whose main part is written. */
  readonly warnings?: ((object: Part, live: Part | undefined, names: Names) => readonly string[]) | undefined
  /** As `warnings`, about an object whose status is written. */
  readonly statusWarnings?: KindReaders['warnings']
  /** The object without fields of features that are off and that the live object does not have. */
  readonly dropDisabledFields?: DropDisabledFields | undefined
  /** The object as its bytes are printed, where they differ from it. Nothing is changed in place. */
  readonly printable?: Printable | undefined
  /**
   * An object that was stored, or converted from another version, as this version reads it now: pruned and with defaults.
   * The object itself where nothing is to be done. Stored objects of built-in kinds are renewed when they are loaded.
   */
  renew<T extends Struct>(object: T): T
  /** As `renew`, without defaults: a webhook's result is complete. */
  prune<T extends Struct>(object: T): T
  /**
   * Of the schema: objects that were stored in this version under the same one need no renewal. Undefined: stored objects were
   * renewed when they were loaded.
   */
  readonly fingerprint: number | undefined
  /** The fingerprint with which objects are stored now. */
  readonly storedFingerprint: number
  /** The conversion of this version's objects to stored ones; absent if another `apiVersion` is enough. */
  readonly reshape?: Reshape | undefined
  /** The parts owned as a whole, and those owned by their parts. */
  readonly shape: ObjectShape
  readonly table: TablePrinter
  /** Version of the objects that the table reads. */
  readonly tableReads: 'stored' | 'served'
  /** The fields that selectors match, metadata included; empty values are left out. */
  readonly fieldsOf: (object: Struct) => Record<string, string>
  /** Rules of strategic merge patches; undefined: these patches are not served. */
  readonly mergeSchema: StructNode | undefined
  /** Undefined: objects have no form in Protobuf. */
  readonly protobuf: ProtobufReaders | undefined
  readonly openApi: OpenApiType
  /** The part that takes long to make and much memory; undefined for none. */
  readonly preparable: Preparable | undefined
}

/** Drops fields of features that are off from an object; those that the live object has stay. Nothing is changed in place. */
export type DropDisabledFields = <T extends Struct>(object: T, live: Struct | undefined, isGateOn: IsGateOn) => T

/** Gives an object the form in which it is printed. */
export type Printable = <T extends Struct>(object: T) => T

/** A part that is made ahead of its use, and can be freed when unused. A use of an absent one makes it at once. */
export interface Preparable {
  readonly isReady: boolean
  /** Makes it, in steps. */
  prepare(): Steps<void>
  forget(): void
}

/** An object on its way into storage. */
export interface ValidationCandidate {
  /** As it was sent, or as the patch left it: distinguishes given values from defaults. */
  readonly body: unknown
  /** Decoded and completed. */
  readonly object: Part
  /** The object that is being replaced; absent on create. */
  readonly live?: Part | undefined
  readonly part: 'main' | 'status'
  /** The subresource of the main part that is written; absent: the main part itself. */
  readonly subresource?: string
  readonly names: Names
  readonly isGateOn: IsGateOn
  /** Minor number of the release whose rules and texts they are. */
  readonly level: number
  /** Takes texts for `Warning` headers, such as errors that an unchanged value is forgiven. */
  readonly warn?: (text: string) => void
  /** True if the work is to end without a result: its request has no time left. Called within long work. */
  readonly isInterrupted?: () => boolean
  /** Measures the time of comparing parts of the object with the replaced ones. */
  readonly comparisons?: ComparisonTimer
  /** Measures the rules in CEL of custom objects. */
  readonly rules?: RuleTimer
}

/** Measures rules in CEL; times are in milliseconds. */
export interface RuleTimer {
  monotonic(): number
  /** The rules of one place of a schema have been compiled. */
  compiled(durationMs: number): void
  /** Reports that the rules of one place have been evaluated on a value. */
  evaluated(durationMs: number): void
}

/** Measures comparisons of an object with the one that it replaces. */
export interface ComparisonTimer {
  /** Makes a comparison, which may hold others. */
  time<T>(compare: () => T): T
  /** All are made. */
  end(): void
}

/** The form of objects on the Protobuf wire. */
export interface ProtobufReaders {
  /** Name of the type as the level has it, by which other services write the same messages. */
  readonly type: string
  decode(bytes: Uint8Array): ProtobufReading
  /** The message alone; the envelope has `kind` and `apiVersion`. */
  encode(object: object): Uint8Array
  /** As `encode`, as an item of a list. */
  encodeItem(object: object): Uint8Array
  encodeItems(objects: readonly object[]): Uint8Array[]
  /** As `encodeItem` and `encodeItems`, for stored objects of this version. */
  encodeStoredItem(json: Uint8Array): Uint8Array
  encodeStoredItems(jsons: readonly Uint8Array[]): Uint8Array[]
}

/** The OpenAPI description of the objects: by the description of a type, or by a schema of their own. */
export type OpenApiType = { readonly kind: 'described'; readonly type: string } | OpenApiSchema

/** A definition that no described type gives. */
export interface OpenApiSchema {
  readonly kind: 'schema'
  /** Name of the definition: `com.example.v1.Widget`. */
  readonly name: string
  /** The definition, which may be large. `refTo` refers to a described type, such as `meta/v1.ObjectMeta`, and adds it to the document. */
  schema(version: 2 | 3, refTo: (type: string) => Record<string, unknown>): Steps<Record<string, unknown>>
}
