export * from './account-claims.ts'
export * from './bootstrap-token.ts'
export * from './unused-tokens.ts'
