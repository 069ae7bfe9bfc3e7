/** selectors */

export * from './fields.ts'
export * from './labels.ts'
