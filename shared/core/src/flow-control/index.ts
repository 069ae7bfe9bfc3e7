export * from './mandatory.ts'
