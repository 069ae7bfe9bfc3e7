/** tokens */

export * from './account-claims.ts'
export * from './bootstrap-token.ts'
