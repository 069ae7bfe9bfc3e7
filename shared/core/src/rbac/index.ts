export * from './aggregate.ts'
export * from './covers.ts'
export * from './policy.ts'
export * from './rule.ts'
