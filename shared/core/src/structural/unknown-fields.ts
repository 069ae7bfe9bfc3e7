import { isJsonObject } from '../json/member.ts'
import { objectMembers, readObjectMeta } from './object-meta.ts'
import type { StructuralSchema } from './schema.ts'

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
