import type { Names } from '../names.ts'
import { type Amounts, maskAmounts } from './amounts.ts'
import type { Counting } from './measures.ts'
import { type ScopedSpec, scopeRequirements } from './scopes.ts'

/** Field manager of the controller that writes usage into the status of quotas. */
export function quotaManager({ controllerManager }: Names): string {
  return controllerManager
}

/** True if a quota applies to an object: it limits a resource of such objects, and the object meets every scope requirement. */
export function isQuotaFor(spec: ScopedSpec, hard: Amounts, counting: Counting, object: unknown): boolean {
  return [...hard.keys()].some(counting.concerns) && scopeRequirements(spec).every((term) => counting.isInScope(object, term))
}

/** The selection and the limits of a quota. */
interface QuotaLimits {
  readonly spec: ScopedSpec
  readonly hard: Amounts
}

/** The usage of a quota by objects of one resource. */
export function usageIn({ spec, hard }: QuotaLimits, counting: Counting, object: unknown, nowMs: number): Amounts {
  return isQuotaFor(spec, hard, counting, object) ? maskAmounts(counting.usage(object, nowMs), hard) : new Map()
}
