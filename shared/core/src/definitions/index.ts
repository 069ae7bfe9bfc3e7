/** definitions */

export * from './validate-definition.ts'
