import type { KindRules } from './strategy.ts'

/** Addresses and ports are reserved beside the write; see `allocation`. */
export const serviceStrategy: KindRules = {
  prepareCreate(object) {
    object.status = { loadBalancer: {} }
  },
}
