import type { StructuralSchema } from '../schema.ts'

const text: StructuralSchema = { type: 'string' }
/** Names of objects have at most 253 characters, which is known without a schema. */
const name: StructuralSchema = { type: 'string', values: { maxLength: 253 } }
const metadata: StructuralSchema = {
  type: 'object',
  properties: new Map([
    ['generateName', name],
    ['name', name],
  ]),
}

const known = new WeakMap<StructuralSchema, StructuralSchema>()

/** The schema of an object with the members for its rules: `apiVersion`, `kind` and its name, and nothing else of its metadata. */
export function withObjectMembers(schema: StructuralSchema): StructuralSchema {
  if (hasMembers(schema)) return schema
  const before = known.get(schema)
  if (before !== undefined) return before
  const properties = new Map([...(schema.properties ?? []), ['apiVersion', text], ['kind', text], ['metadata', metadata]] as const)
  const widened: StructuralSchema = { ...schema, type: 'object', properties }
  known.set(schema, widened)
  return widened
}

/** A schema that says all of it may say more. */
function hasMembers({ properties }: StructuralSchema): boolean {
  const given = properties?.get('metadata')
  const isText = (part: StructuralSchema | undefined): boolean => part?.type === 'string'
  if (!isText(properties?.get('apiVersion')) || !isText(properties?.get('kind')) || given?.type !== 'object') return false
  return isText(given.properties?.get('name')) && isText(given.properties?.get('generateName'))
}
