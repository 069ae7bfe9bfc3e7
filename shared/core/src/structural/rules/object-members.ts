import { memo } from '@orch/cel/memo'
import type { StructuralSchema } from '../schema.ts'

const text: StructuralSchema = { type: 'string' }
/** Names of objects have at most 253 characters, even without a schema. */
const name: StructuralSchema = { type: 'string', values: { maxLength: 253 } }
const metadata: StructuralSchema = {
  type: 'object',
  properties: new Map([
    ['generateName', name],
    ['name', name],
  ]),
}

/** The schema of an object, with the members that its rules may use: `apiVersion`, `kind` and `metadata.name`. */
export const withObjectMembers: (schema: StructuralSchema) => StructuralSchema = memo((schema) => {
  if (hasMembers(schema)) return schema
  const properties = new Map([...(schema.properties ?? []), ['apiVersion', text], ['kind', text], ['metadata', metadata]] as const)
  return { ...schema, type: 'object', properties }
})

/** True if a schema declares all these members. */
function hasMembers({ properties }: StructuralSchema): boolean {
  const given = properties?.get('metadata')
  const isText = (part: StructuralSchema | undefined): boolean => part?.type === 'string'
  if (!isText(properties?.get('apiVersion')) || !isText(properties?.get('kind')) || given?.type !== 'object') return false
  return isText(given.properties?.get('name')) && isText(given.properties?.get('generateName'))
}
