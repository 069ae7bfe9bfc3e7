import type { ByteFields } from '@orch/core/cbor'
import type { Names } from '@orch/core/names'
import type { Beside } from './openapi-part.ts'

/** A job of the thread of texts. */
export type TextJob =
  | { readonly kind: 'parseYaml'; readonly bytes: Uint8Array }
  /** JSON as YAML. */
  | { readonly kind: 'printYaml'; readonly bytes: Uint8Array }
  /** Indented JSON. */
  | { readonly kind: 'prettyJson'; readonly bytes: Uint8Array }
  /** CBOR as JSON. */
  | { readonly kind: 'readCbor'; readonly bytes: Uint8Array }
  | PrintCborJob

/** JSON as CBOR. */
interface PrintCborJob {
  readonly kind: 'printCbor'
  readonly bytes: Uint8Array
  /** The places of bytes in the object. */
  readonly fields?: ByteFields | undefined
}

/** Its result; a failure is the error that the same work would have thrown here. */
export type TextAnswer =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** The value of a YAML text as JSON, which is parsed faster than a copied object. */
  | { readonly kind: 'json'; readonly bytes: Uint8Array; readonly repeats: readonly string[] }
  /** The value of a YAML text that JSON cannot express, such as integers beyond 2^53. */
  | { readonly kind: 'value'; readonly value: unknown; readonly repeats: readonly string[]; readonly hasBigIntegers: boolean }
  | { readonly kind: 'malformed'; readonly message: string }
  | { readonly kind: 'tooManyValues' }
  | { readonly kind: 'failed'; readonly error: unknown }

/** A body to parse for an audit event. */
export interface AuditBodyJob {
  readonly kind: 'auditBody'
  readonly bytes: Uint8Array
  readonly profile: Names['profile']
  readonly reading: BodyReading
  /** False if only its metadata are needed. */
  readonly isPrinted: boolean
}

/** The parsed body; without metadata it is no object. */
export type AuditBodyAnswer =
  | { readonly kind: 'auditBody'; readonly metadata: BodyMetadata | undefined; readonly bytes?: Uint8Array }
  | { readonly kind: 'failed'; readonly error: unknown }

/** An OpenAPI 2 document of a remote server, of which the part below `root` is needed. */
export interface ReadOpenApiJob {
  readonly kind: 'readOpenApi'
  /** Transferred: they can no longer be read here. */
  readonly bytes: Uint8Array
  readonly root: string
  /** Title of the same part as OpenAPI 3; undefined if that is not needed. */
  readonly title3: string | undefined
}

/** A definition of a part, without its content: its name, its hash, and the names of the definitions that it refers to. */
export type DefinitionFacts = readonly [name: string, hash: string, ...references: string[]]

/** Bytes, and the hash by which they are known. */
export interface HashedBytes {
  readonly bytes: Uint8Array
  readonly hash: string
}

/** Such a part as JSON. */
export interface OpenApiPart extends HashedBytes {
  /** `DefinitionFacts[]` as JSON, since bytes are moved between threads, and values are copied one by one. */
  readonly facts: Uint8Array
}

/** The contents of a document; `as3` is the part as OpenAPI 3. */
interface ReadOpenApi {
  readonly kind: 'readOpenApi'
  readonly part: OpenApiPart
  readonly as3: HashedBytes | undefined
}

export type ReadOpenApiAnswer = ReadOpenApi | { readonly kind: 'noOpenApi' } | { readonly kind: 'failed'; readonly error: unknown }

/** A part to be added to other definitions. */
export interface JoinOpenApiJob {
  readonly kind: 'joinOpenApi'
  readonly bytes: Uint8Array
  readonly beside: Beside
  /** The title and the version of the larger document. */
  readonly info: { readonly title: string; readonly version: string }
}

/** The members of both maps as JSON, without braces, and the whole in Protobuf. */
export interface JoinedOpenApi {
  readonly kind: 'joinOpenApi'
  readonly paths: Uint8Array
  readonly definitions: Uint8Array
  readonly encoded: Uint8Array
}

export type JoinOpenApiAnswer = JoinedOpenApi | { readonly kind: 'failed'; readonly error: unknown }

export type ThreadJob = TextJob | AuditBodyJob | ReadOpenApiJob | JoinOpenApiJob

/** All results of the thread. */
export type ThreadAnswer = TextAnswer | AuditBodyAnswer | ReadOpenApiAnswer | JoinOpenApiAnswer

/** An event's facts about an object's namespace and name, from the object itself. */
export interface BodyMetadata {
  readonly name: string
  readonly namespace: string
  readonly uid: string
  readonly resourceVersion: string
}

/** The reading of a body for an event. */
export interface BodyReading {
  /** Media type, without parameters. */
  readonly contentType: string
  /** The minor version of the known fields. */
  readonly level: number
  readonly omitManagedFields: boolean
  /** True if the request is about tokens, which are omitted at every level, as they would give access to every reader of the log. */
  readonly withholdsTokens: boolean
}
