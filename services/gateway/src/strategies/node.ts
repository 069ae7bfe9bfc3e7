import type { KindRules } from './strategy.ts'

/** A node's agent registers it with its capacity and addresses in one request. */
export const nodeStrategy: KindRules = { keepsFirstStatus: true }
