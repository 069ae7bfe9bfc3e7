/** quota */

export * from './amounts.ts'
export * from './check.ts'
export * from './limited.ts'
export * from './scopes.ts'
export * from './usage.ts'
