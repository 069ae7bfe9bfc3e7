import type { StructuralSchema } from '../schema.ts'
import { followPath, type SchemaPath, type SchemaSteps, type WrongSchemaPath } from '../schema-path.ts'

const steps: SchemaSteps<StructuralSchema> = {
  hasProperties: ({ properties }) => (properties?.size ?? 0) > 0,
  property: ({ properties }, name) => properties?.get(name),
  values: ({ additionalProperties }) => (typeof additionalProperties === 'object' ? additionalProperties : undefined),
}

/** Where the `fieldPath` of a rule leads from the place of the rule. */
export function followFieldPath(path: string, schema: StructuralSchema): SchemaPath<StructuralSchema> | WrongSchemaPath {
  return followPath(path, schema, { steps })
}
