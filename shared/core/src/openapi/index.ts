/** openapi */

export { customOpenApi, type PublishedVersion } from './custom-types.ts'
export * from './gnostic.ts'
export * from './print.ts'
export * from './v2.ts'
export * from './v3.ts'
