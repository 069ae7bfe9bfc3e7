/** openapi */

export { customOpenApi, type PublishedVersion } from './custom-types.ts'
export * from './gnostic.ts'
export { encodeOpenApi3InSteps } from './gnostic3.ts'
export * from './print.ts'
export * from './v2.ts'
export * from './v3.ts'
