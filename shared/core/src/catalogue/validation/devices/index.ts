import type { TypeRules } from '../../../validation/rule-book.ts'
import { claimStatusRules, taintRuleRules } from './claim-status.ts'
import { configurationRules } from './configuration.ts'
import { deviceRules } from './device.ts'
import { claimRules } from './device-claim.ts'
import { expressionRules } from './expressions.ts'
import { sliceRules } from './resource-slice.ts'

/** The types of devices, and of claims for them. */
export const dynamicResourceRules: Readonly<Record<string, TypeRules>> = {
  ...claimRules,
  ...claimStatusRules,
  ...configurationRules,
  ...deviceRules,
  ...expressionRules,
  ...sliceRules,
  ...taintRuleRules,
}
