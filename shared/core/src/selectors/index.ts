export * from './fields.ts'
export * from './labels.ts'
export * from './shards.ts'
export * from './wildcard.ts'
