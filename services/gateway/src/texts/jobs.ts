import type { Names } from '@orch/core/names'
import type { BodyMetadata, BodyReading } from '../audit/read-body.ts'

/** What the thread of texts is asked. */
export type TextJob =
  | { readonly kind: 'parseYaml'; readonly bytes: Uint8Array }
  /** JSON as YAML. */
  | { readonly kind: 'printYaml'; readonly bytes: Uint8Array }
  /** JSON as people read it. */
  | { readonly kind: 'prettyJson'; readonly bytes: Uint8Array }

/** What it answers; a failure is the error that the same work would have thrown here. */
export type TextAnswer =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** The value of a YAML text, as JSON: that is read faster than a copied object. */
  | { readonly kind: 'json'; readonly bytes: Uint8Array; readonly duplicates: readonly string[] }
  /** The value of a YAML text that JSON has no words for, such as integers beyond 2^53. */
  | { readonly kind: 'value'; readonly value: unknown; readonly duplicates: readonly string[]; readonly hasBigIntegers: boolean }
  | { readonly kind: 'malformed'; readonly message: string }
  | { readonly kind: 'tooManyValues' }
  | { readonly kind: 'failed'; readonly error: unknown }

/** A body that is read for an audit event. */
export interface AuditBodyJob {
  readonly kind: 'auditBody'
  readonly bytes: Uint8Array
  readonly profile: Names['profile']
  readonly reading: BodyReading
  /** False: only its metadata are wanted. */
  readonly isPrinted: boolean
}

/** What such a body tells; without metadata it is no object. */
export type AuditBodyAnswer =
  | { readonly kind: 'auditBody'; readonly metadata: BodyMetadata | undefined; readonly bytes?: Uint8Array }
  | { readonly kind: 'failed'; readonly error: unknown }

/** All that the thread does. */
export type ThreadJob = TextJob | AuditBodyJob

/** All that it answers. */
export type ThreadAnswer = TextAnswer | AuditBodyAnswer
