import type { Entry } from '@orch/core/contracts'
import { parseBytes } from '@orch/core/json'
import type { ApiObject } from '@orch/core/meta'
import { type Amounts, maskAmounts, parseAmounts, printAmounts } from '@orch/core/quota'
import type { BuiltIn } from '@orch/core/schema'

/** A ResourceQuota. */
export type QuotaObject = ApiObject & Partial<Pick<BuiltIn<'core/v1.ResourceQuota'>, 'spec' | 'status'>>

/** A stored ResourceQuota. */
export type StoredQuota = ReturnType<typeof decodeQuota>

/** Parses a stored object. */
export function decodeQuota({ key, value }: Pick<Entry, 'key' | 'value'>) {
  const object: QuotaObject = parseBytes(value)
  return { key, revision: Number(object.metadata.resourceVersion), object }
}

/** The limits in force: of the status, or initially of the spec. */
export function hardOf({ spec, status }: QuotaObject): Amounts {
  return parseAmounts(status?.hard ?? spec?.hard)
}

/** All counted resources: those of the status and of the spec. */
export function countedNames({ spec, status }: QuotaObject): Set<string> {
  return new Set([...Object.keys(spec?.hard ?? {}), ...Object.keys(status?.hard ?? {})])
}

/** The usage in the status for these totals. */
export function usedOf(quota: QuotaObject, total: Amounts): Record<string, string> {
  return printAmounts(maskAmounts(total, hardOf(quota)))
}
