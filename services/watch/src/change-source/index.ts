/** Changes from the published stream, with storage as the fallback. */
export { type ChangeSource, type ChangeSourceOptions, createChangeSource } from './change-source.ts'
export type { ChangeSourceLimits } from './limits.ts'
