export * from './json-patch.ts'
export * from './merge-patch.ts'
export * from './strategic-merge.ts'
