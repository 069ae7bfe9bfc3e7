/** meta */

export * from './api-version.ts'
export * from './base64.ts'
export * from './continue-token.ts'
export * from './duration.ts'
export { readTimeText } from './go-time.ts'
export * from './level-text.ts'
export * from './object-meta.ts'
export * from './quantity.ts'
export * from './revision.ts'
export * from './status.ts'
export * from './time.ts'
export * from './validate-names.ts'
