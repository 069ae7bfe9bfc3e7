export * from './query-values.ts'
export * from './resolve-read.ts'
export * from './resolve-selection.ts'
