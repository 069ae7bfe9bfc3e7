/** definitions */

export { approvalCondition, approvalOf, isProtectedGroup, validateApproval } from './approval.ts'
export { type CustomResourcesOptions, type CustomVersion, customResources, versionsServed } from './custom-resources.ts'
export * from './definition-spec.ts'
export { defaultDeprecationWarning, deprecationWarningOf } from './deprecation.ts'
export { takenNames } from './naming.ts'
export { type Publication, publishedName, publishListSchema, publishSchema, toVersion2 } from './published-schema.ts'
export {
  decodeNamesRow,
  decodeServingRow,
  encodeNamesRow,
  encodeServingRow,
  type NamesRow,
  namesKey,
  namesPrefix,
  type ServingRow,
  servingKey,
} from './rows.ts'
export { followSchemaPath } from './schema-path.ts'
export type { SchemaProps } from './schema-props.ts'
export { type SettlingContext, settleStatus } from './settle-status.ts'
export { strictest } from './strictness.ts'
export { findUnsupported } from './structural-grammar.ts'
export { cleanupFinalizer, type TerminationStep, terminatingStatus } from './termination.ts'
export * from './validate-definition.ts'
export { checkDeprecationWarning } from './validate-parts.ts'
export { validateSchema } from './validate-schema.ts'
export { compareVersions } from './version-order.ts'
