import { printJson } from '@orch/core/json'
import type { ApiObject } from '@orch/core/meta'
import type { KindRules } from './kind-rules.ts'

const counted = ['tokenRequests', 'requiresRepublish', 'seLinuxMount']

/** A driver has no generation until one of these fields changes. */
export const csiDriverStrategy: KindRules = {
  countsOnly: (object, live) => counted.some((field) => textOf(object, field) !== textOf(live, field)),
}

function textOf({ spec }: ApiObject, field: string): string {
  return printJson((spec as Readonly<Record<string, unknown>> | undefined)?.[field] ?? null)
}
