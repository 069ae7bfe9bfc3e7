import { isJsonObject } from '../json/member.ts'
import type { Decode } from '../schema/decode.ts'
import { MalformedEmbedded, type WalkOptions, walkObject } from './decode.ts'
import { TooDeep } from './json-value.ts'
import { readObjectMeta } from './object-meta.ts'
import type { StructuralSchema } from './schema.ts'
import { findUnknown } from './unknown-fields.ts'

type Json = Readonly<Record<string, unknown>>

/**
 * Decodes parsed JSON as an object of a custom kind: drops unknown fields, fills in defaults, sorts members by name. The object's
 * metadata and that of embedded objects must have the right types; validation checks all other types.
 */
export function decoderOfCustom(schema: StructuralSchema): Decode {
  return (value, { trackUnknown, known, keepsNulls }) => {
    if (!isJsonObject(value)) return mismatch(`expected object, got ${Array.isArray(value) ? 'array' : typeof value}`)
    try {
      const read = readObjectMeta(value['metadata'], { dropsMalformed: false, trackUnknown })
      if (read.kind === 'malformed') return mismatch(read.text, 'metadata')
      const walked = walkObject(schema, value, { prunes: true, keepsNulls, fillsDefaults: true, embedded: 'refuseMalformed' }, known)
      const unknownFields = trackUnknown && walked.hasUnknown ? findUnknown(schema, value, { isRoot: true }) : []
      const ofMetadata = read.unknownFields.map((name) => `metadata.${name}`)
      return { kind: 'decoded', object: withMeta(walked.value, read.meta), unknownFields: [...unknownFields, ...ofMetadata] }
    } catch (error) {
      if (error instanceof MalformedEmbedded || error instanceof TooDeep) return mismatch(error.message)
      throw error
    }
  }
}

/**
 * Reads a stored object by its kind's schema; returns the object itself if nothing changes. Metadata of a wrong type,
 * which only an older server can have stored, is dropped.
 */
export function renewCustom<T extends Json>(schema: StructuralSchema, object: T): T {
  return readAgain(schema, object, { fillsDefaults: true })
}

/** Like `renewCustom`, without defaults. */
export function pruneCustom<T extends Json>(schema: StructuralSchema, object: T): T {
  return readAgain(schema, object, { fillsDefaults: false })
}

/** Fills in the defaults of an object to be written. Validation decides about nulls. */
export function completeCustom<T extends Json>(schema: StructuralSchema, object: T): T {
  return readAgain(schema, object, { fillsDefaults: true, keepsNulls: true })
}

function readAgain<T extends Json>(schema: StructuralSchema, object: T, options: Pick<WalkOptions, 'fillsDefaults' | 'keepsNulls'>): T {
  const walked = walkObject(schema, object, { prunes: true, embedded: 'dropMalformed', ...options })
  const read = readObjectMeta(object['metadata'], { dropsMalformed: true, trackUnknown: false })
  return (read.kind === 'read' ? withMeta(walked.value, read.meta) : walked.value) as T
}

function mismatch(message: string, path = ''): ReturnType<Decode> {
  return { kind: 'mismatch', path, message, text: message, textWithoutPath: message }
}

function withMeta(object: Json, meta: Json): Record<string, unknown> {
  if (!Object.hasOwn(object, 'metadata')) return { ...object }
  return { ...object, metadata: meta }
}
