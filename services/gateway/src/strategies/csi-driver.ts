import { printJson } from '@orch/core/json'
import type { BuiltIn } from '@orch/core/schema'
import type { RulesOf } from './kind-rules.ts'

const counted = ['tokenRequests', 'requiresRepublish', 'seLinuxMount'] as const

/** The first level at which any change of the spec counts. */
const allCountedSince = 26

/** A driver has no generation until a counted field has changed. */
export const csiDriverStrategy: RulesOf<'storage/v1.CSIDriver'> = {
  countsOnly: (object, live, level) =>
    level >= allCountedSince
      ? printJson(object.spec) !== printJson(live.spec)
      : counted.some((field) => textOf(object, field) !== textOf(live, field)),
}

function textOf({ spec }: BuiltIn<'storage/v1.CSIDriver'>, field: (typeof counted)[number]): string {
  return printJson(spec[field] ?? null)
}
