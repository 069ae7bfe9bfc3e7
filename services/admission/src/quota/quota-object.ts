import type { Entry } from '@orch/core/contracts'
import type { ApiObject } from '@orch/core/meta'
import { type Amounts, maskAmounts, type PrintedAmounts, parseAmounts, printAmounts, type ScopedSpec } from '@orch/core/quota'

/** A ResourceQuota. */
export interface QuotaObject extends ApiObject {
  readonly spec?: ScopedSpec & { readonly hard?: PrintedAmounts }
  readonly status?: { readonly hard?: PrintedAmounts; readonly used?: PrintedAmounts }
}

/** A stored ResourceQuota. */
export interface StoredQuota {
  readonly key: string
  readonly revision: number
  readonly object: QuotaObject
}

const decoder = new TextDecoder()

/** Parses a stored object. */
export function decodeQuota({ key, value }: Pick<Entry, 'key' | 'value'>): StoredQuota {
  const object: QuotaObject = JSON.parse(decoder.decode(value))
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
