/** contracts */

export * from '../selectors/selection.ts'
export * from './admission.ts'
export * from './admission-rules.ts'
export * from './change-stream.ts'
export * from './contract.ts'
export type { Static } from './message.ts'
export * as wire from './message.ts'
export * from './nodes.ts'
export * from './service-identity.ts'
export * from './storage.ts'
export * from './store.ts'
export * from './watch.ts'
