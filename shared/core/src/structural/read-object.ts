import { isJsonObject } from '../json/member.ts'
import type { Decode } from '../schema/decode.ts'
import { MalformedEmbedded, type WalkOptions, walkObject } from './decode.ts'
import { OutOfBounds } from './json-value.ts'
import { objectMembers, readObjectMeta } from './object-meta.ts'
import type { StructuralSchema } from './schema.ts'

type Json = Readonly<Record<string, unknown>>

/**
 * Decodes parsed JSON as an object of a custom kind: drops unknown fields, fills in defaults, sorts members by name. The object's
 * metadata and that of embedded objects must have the right types; validation checks all other types.
 */
export function decoderOfCustom(schema: StructuralSchema): Decode {
  return (value, { trackUnknown, known, keepsNulls, old }) => {
    if (!isJsonObject(value)) return mismatch(`expected object, got ${Array.isArray(value) ? 'array' : typeof value}`)
    try {
      const read = readObjectMeta(value['metadata'], { dropsMalformed: false, trackUnknown })
      if (read.kind === 'malformed') return mismatch(read.text, 'metadata')
      const walk = (fillsDefaults: boolean) =>
        walkObject(schema, value, { prunes: true, keepsNulls, fillsDefaults, embedded: 'refuseMalformed' }, known)
      const walked = inBounds(() => walk(true)) ?? walk(!lacksDefaults(schema, old))
      const unknownFields = trackUnknown && walked.hasUnknown ? findUnknown(schema, value, { isRoot: true }) : []
      const ofMetadata = read.unknownFields.map((name) => `metadata.${name}`).sort()
      return { kind: 'decoded', object: withMeta(walked.value, read.meta), unknownFields: [...ofMetadata, ...unknownFields] }
    } catch (error) {
      if (error instanceof MalformedEmbedded || error instanceof OutOfBounds) return mismatch(error.message)
      throw error
    }
  }
}

const stored = { prunes: true, embedded: 'dropMalformed', fillsDefaults: true } as const

/**
 * Reads a stored object by its kind's schema, or one to be written; returns the object itself if nothing changes. Metadata of a wrong type,
 * which only an older server can have stored, is dropped.
 */
export function renewCustom<T extends Json>(schema: StructuralSchema, object: T, options: Partial<WalkOptions> = {}): T {
  const walk = { ...stored, ...options }
  const walked = inBounds(() => walkObject(schema, object, walk)) ?? walkObject(schema, object, { ...walk, fillsDefaults: false })
  const read = readObjectMeta(object['metadata'], { dropsMalformed: true, trackUnknown: false })
  return (read.kind === 'read' ? withMeta(walked.value, read.meta) : walked.value) as T
}

/** True if an object is read without defaults, since they are too many. */
function lacksDefaults(schema: StructuralSchema, object: unknown): boolean {
  return isJsonObject(object) && inBounds(() => walkObject(schema, object, stored)) === undefined
}

/** Undefined for a result that is out of bounds. */
function inBounds<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch (error) {
    if (error instanceof OutOfBounds) return undefined
    throw error
  }
}

function mismatch(message: string, path = ''): ReturnType<Decode> {
  return { kind: 'mismatch', path, message, text: message, textWithoutPath: message }
}

function withMeta(object: Json, meta: Json): Record<string, unknown> {
  if (!Object.hasOwn(object, 'metadata')) return { ...object }
  return { ...object, metadata: meta }
}

/** Maximum number of reported unknown fields. */
const unknownFieldsMax = 100

/** The slow counterpart of the pruning walk. It tracks paths, and runs only if a field was dropped. */
interface Search {
  /** True if the value is an object with metadata. */
  readonly isRoot: boolean
  readonly pruned: string[]
  readonly ofMetadata: string[]
}

/**
 * Paths of the fields that pruning drops, sorted, then those of embedded metadata: `spec.items[0].foo`. At most
 * a hundred are reported.
 */
export function findUnknown(schema: StructuralSchema, value: unknown, { isRoot }: { readonly isRoot: boolean }): string[] {
  const search: Search = { isRoot, pruned: [], ofMetadata: [] }
  visit(isRoot ? { ...schema, isEmbeddedResource: true } : schema, value, '', search)
  return [...search.pruned.sort(), ...search.ofMetadata.sort()].slice(0, unknownFieldsMax)
}

function visit(schema: StructuralSchema | undefined, value: unknown, path: string, search: Search): void {
  if (Array.isArray(value)) {
    if (schema?.preservesUnknownFields === true && schema.items === undefined) return
    for (const [index, item] of value.entries()) visit(schema?.items, item, `${path}[${index}]`, search)
  } else if (isJsonObject(value)) visitObject(schema ?? {}, value, path, search)
}

function visitObject(schema: StructuralSchema, object: Record<string, unknown>, path: string, search: Search): void {
  const { additionalProperties } = schema
  const isOuter = search.isRoot && path === ''
  for (const name of Object.keys(object)) {
    const here = path === '' ? name : `${path}.${name}`
    if (schema.isEmbeddedResource === true && objectMembers.has(name)) {
      if (name === 'metadata' && !isOuter) addMetadata(object[name], here, search)
      continue
    }
    const property = schema.properties?.get(name)
    if (property !== undefined) visit(property, object[name], here, search)
    else if (additionalProperties !== undefined) {
      visit(typeof additionalProperties === 'boolean' ? undefined : additionalProperties, object[name], here, search)
    } else if (schema.preservesUnknownFields !== true && (path !== '' || !objectMembers.has(name))) search.pruned.push(here)
  }
}

function addMetadata(meta: unknown, path: string, search: Search): void {
  const read = readObjectMeta(meta, { dropsMalformed: true, trackUnknown: true })
  if (read.kind === 'read') for (const name of read.unknownFields) search.ofMetadata.push(`${path}.${name}`)
}
