import { followPath, type SchemaPath, type SchemaSteps, type WrongSchemaPath } from '../structural/schema-path.ts'
import { additionalSchema, type SchemaProps } from './schema-props.ts'

const stepsOfProps: SchemaSteps<SchemaProps> = {
  hasProperties: ({ properties = {} }) => Object.keys(properties).length > 0,
  property: ({ properties = {} }, name) => (Object.hasOwn(properties, name) ? properties[name] : undefined),
  values: additionalSchema,
}

/**
 * Follows a path such as `.spec.color` or `['a.b'].c` through the properties of a schema. Keys of maps are named like properties;
 * items of lists cannot be.
 */
export function followSchemaPath(
  path: string,
  root: SchemaProps,
  options: { readonly allowsBrackets?: boolean } = {},
): SchemaPath<SchemaProps> | WrongSchemaPath {
  return followPath(path, root, { steps: stepsOfProps, ...options })
}
