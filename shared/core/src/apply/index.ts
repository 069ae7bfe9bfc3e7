/** Server-side apply. */

export * from './apply.ts'
export { findUnownable, joinProblems } from './check.ts'
export * from './conflicts.ts'
export * as fieldSets from './field-set.ts'
export { Unownable } from './list-items.ts'
export { mergeApply } from './merge.ts'
export type { Versioned } from './ownership.ts'
export * from './ownership.ts'
export * from './ownership.ts'
export * from './same-owners.ts'
export type { Shape } from './shape.ts'
export * from './type-shape.ts'
