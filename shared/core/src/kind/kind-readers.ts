import type { ObjectShape } from '../apply/shape.ts'
import type { IsGateOn } from '../feature-gates.ts'
import type { ApiObject, FieldError } from '../meta/index.ts'
import type { Names } from '../names.ts'
import type { ProtobufReading } from '../protobuf/decode.ts'
import type { Decode, Node } from '../schema/index.ts'
import type { Steps } from '../steps.ts'
import type { TablePrinter } from '../table/printer.ts'
import type { Part } from '../validation/part.ts'
import type { Draft } from './draft.ts'
import type { Struct } from './field-places.ts'
import type { Reshape } from './reshape.ts'

/**
 * The readers for objects of one kind in one version. Built-in kinds derive them from their described type, custom kinds from
 * the schema of their definition. A reader is created at first use and freed with its resource. A reader that a
 * kind does not need is absent.
 */
export interface KindReaders {
  /**
   * True if objects are read by a schema that only gateways know. Validation then detects another kind in a body,
   * and other services use the stored form.
   */
  readonly isUntyped: boolean
  /** Checks types, drops unknown fields, and orders members as they are printed. */
  readonly decode: Decode<ApiObject>
  /**
   * Fills in defaults in place; frozen parts are copied first. The object itself and its
   * metadata are not frozen. Decoding again puts added fields in order.
   */
  readonly applyDefaults?: ((object: Draft, names: Names, isGateOn: IsGateOn) => void) | undefined
  /** The reason why a body of correct types cannot be converted; undefined if it can. */
  readonly unreadable?: ((object: Part) => string | undefined) | undefined
  /** All errors of an object except in its metadata. */
  validate(candidate: ValidationCandidate): Steps<FieldError[]>
  /** Texts for `Warning` headers about a valid object after a write of its main part. */
  readonly warnings?: ((object: Part, live: Part | undefined, names: Names, isGateOn: IsGateOn) => readonly string[]) | undefined
  /** Like `warnings`, for a write of the status. */
  readonly statusWarnings?: KindReaders['warnings']
  /** Drops fields of disabled features that the live object does not use. */
  readonly dropDisabledFields?: DropDisabledFields | undefined
  /** Undefined if every object is printed unchanged. */
  readonly printable?: Printable | undefined
  /**
   * Returns a stored or converted object as this version reads it now: pruned and with defaults.
   * An object that needs no change is returned itself. Stored objects of built-in kinds are renewed when they are loaded.
   */
  renew<T extends Struct>(object: T): T
  /** Like `renew`, without defaults, for a webhook's result, which is complete. */
  prune<T extends Struct>(object: T): T
  /**
   * The schema's fingerprint: an object that was stored in this version with the same fingerprint needs no renewal. Undefined if stored objects
   * are renewed when they are loaded.
   */
  readonly fingerprint: number | undefined
  /** The fingerprint for objects that are stored now. */
  readonly storedFingerprint: number
  /** The conversion to the stored version; undefined if changing `apiVersion` suffices. */
  readonly reshape?: Reshape | undefined
  /** The shape for server-side apply: parts owned as a whole or by their members. */
  readonly shape: ObjectShape
  readonly table: TablePrinter
  /** The version that the table reads. */
  readonly tableReads: 'stored' | 'served'
  /** The field selector values other than name and namespace; empty values are omitted. */
  readonly fieldsOf: (object: Struct) => Record<string, string>
  /** The rules of strategic merge patches; undefined if they are not supported. */
  readonly mergeSchema: Node | undefined
  /** Undefined if objects have no Protobuf form. */
  readonly protobuf: ProtobufReaders | undefined
  readonly openApi: OpenApiType
  /** A part that takes much time and memory to make; undefined if there is none. */
  readonly preparable: Preparable | undefined
}

/** Drops fields of disabled features from an object, unless the live object uses them. The object is not changed. */
export type DropDisabledFields = <T extends Struct>(object: T, live: Struct | undefined, isGateOn: IsGateOn) => T

/** Returns the printed form of an object, which is not changed. Parts that the object shares with `printed`, an object in printed form, are not searched. */
export type Printable = <T extends Struct>(object: T, printed?: Struct) => T

/** A part that can be made in advance, and freed when unused. If it is absent, a use makes it at once. */
export interface Preparable {
  readonly isReady: boolean
  /** Makes the part in steps. */
  prepare(): Steps<void>
  forget(): void
}

/** An object before it is stored. */
export interface ValidationCandidate {
  /** The body as sent, or the result of the patch, which tells given values from defaults. */
  readonly body: unknown
  /** The decoded object with defaults. */
  readonly object: Part
  /** The object to be replaced; undefined for a create. */
  readonly live?: Part | undefined
  readonly part: 'main' | 'status'
  /** The written subresource of the main part; undefined for the main part itself. */
  readonly subresource?: string
  readonly names: Names
  readonly isGateOn: IsGateOn
  /** The minor version of the release whose rules and texts apply. */
  readonly level: number
  /** Receives texts for `Warning` headers, such as errors that are tolerated in an unchanged value. */
  readonly warn?: (text: string) => void
  /** Called during long work: true ends it without a result, because the request's time is over. */
  readonly isInterrupted?: () => boolean
  /** Measures comparisons with the replaced object. */
  readonly comparisons?: ComparisonTimer
  /** Measures the CEL rules of custom objects. */
  readonly rules?: RuleTimer
}

/** Measures CEL rules, in milliseconds. */
export interface RuleTimer {
  monotonic(): number
  /** Reports the compilation of the rules at one place of a schema. */
  compiled(durationMs: number): void
  /** Reports the evaluation of the rules at one place on a value. */
  evaluated(durationMs: number): void
}

/** Measures comparisons of an object with the replaced one. */
export interface ComparisonTimer {
  /** Runs a comparison, which may contain others. */
  time<T>(compare: () => T): T
  /** Reports that all comparisons are done. */
  end(): void
}

/** The Protobuf form of objects. */
export interface ProtobufReaders {
  /** The type's name at this level, with which other services write the same messages. */
  readonly type: string
  decode(bytes: Uint8Array): ProtobufReading
  /** The message without the envelope, which contains `kind` and `apiVersion`. */
  encode(object: object): Uint8Array
  /** Like `encode`, as a list item. */
  encodeItem(object: object): Uint8Array
  encodeItems(objects: readonly object[]): Uint8Array[]
  /** Like `encodeItem` and `encodeItems`, for stored objects of this version. */
  encodeStoredItem(json: Uint8Array): Uint8Array
  encodeStoredItems(jsons: readonly Uint8Array[]): Uint8Array[]
}

/** The OpenAPI description of objects: a described type, or a schema. */
export type OpenApiType = { readonly kind: 'described'; readonly type: string } | OpenApiSchema

/** An OpenAPI definition without a described type. */
export interface OpenApiSchema {
  readonly kind: 'schema'
  /** The name of the definition: `com.example.v1.Widget`. */
  readonly name: string
  /**
   * The definition, which may be large, or that of the lists of a `listKind`. `refTo` refers to a described type, such as
   * `meta/v1.ObjectMeta`, and adds it to the document.
   */
  schema(version: 2 | 3, refTo: (type: string) => Record<string, unknown>, listKind?: string): Steps<Record<string, unknown>>
}
