import { printJson } from '@orch/core/json'
import type { BuiltIn } from '@orch/core/schema'
import type { RulesOf } from './kind-rules.ts'

const counted = ['tokenRequests', 'requiresRepublish', 'seLinuxMount'] as const

/** A driver has no generation until one of these fields changes. */
export const csiDriverStrategy: RulesOf<'storage/v1.CSIDriver'> = {
  countsOnly: (object, live) => counted.some((field) => textOf(object, field) !== textOf(live, field)),
}

function textOf({ spec }: BuiltIn<'storage/v1.CSIDriver'>, field: (typeof counted)[number]): string {
  return printJson(spec[field] ?? null)
}
