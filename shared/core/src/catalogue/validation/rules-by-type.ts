import { RuleBook, type TypeRules } from '../../validation/rule-book.ts'
import { validateLabelSelector } from '../../validation/selector.ts'
import * as rules from './all-rules.ts'

/** Types whose rules have another order than their fields, or that have rules besides the facets of fields. */
const rulesByType: Readonly<Record<string, TypeRules>> = Object.assign(
  { 'meta/v1.LabelSelector': [(errors, selector, at) => void errors.push(...validateLabelSelector(selector, at))] } satisfies Record<
    string,
    TypeRules
  >,
  ...Object.values<Readonly<Record<string, TypeRules>>>(rules),
)

/** Collects the rules of all types at a level. */
export function createRuleBook(level: number): RuleBook {
  return new RuleBook(level, rulesByType)
}
