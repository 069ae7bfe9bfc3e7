/** quota */

export * from './amounts.ts'
export * from './check.ts'
export * from './limited.ts'
export type { Counting } from './measures.ts'
export * from './pod-amounts.ts'
export * from './scopes.ts'
export * from './usage.ts'
