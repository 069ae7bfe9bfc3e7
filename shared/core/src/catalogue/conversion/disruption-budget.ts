import { isJsonObject } from '../../json/member.ts'
import type { ApiObject } from '../../meta/object-meta.ts'
import { type Names, subdomainLabel } from '../../names.ts'
import { changedAt, type Json } from './parts.ts'

/** A selector term about a label that no Pod has. */
interface Term {
  readonly key: string
  readonly operator: 'Exists' | 'DoesNotExist'
}

/** Converts a PodDisruptionBudget from v1beta1, where an empty selector matches no Pod, to v1, where it matches all. */
export function budgetToFirst(budget: ApiObject, names: Names): ApiObject {
  return changedAt(budget, place, (selector) => {
    if (isEmpty(selector)) return { matchExpressions: [term(names, 'Exists')] }
    if (isOnly(selector, term(names, 'DoesNotExist'))) return {}
    const { matchExpressions } = selector
    if (!Array.isArray(matchExpressions)) return selector
    return { ...selector, matchExpressions: matchExpressions.filter((one) => !isJsonObject(one) || one['key'] !== labelOf(names)) }
  })
}

/** Converts a PodDisruptionBudget from v1 to v1beta1. */
export function budgetToBeta(budget: ApiObject, names: Names): ApiObject {
  return changedAt(budget, place, (selector) => {
    if (isOnly(selector, term(names, 'Exists'))) return {}
    return isEmpty(selector) ? { matchExpressions: [term(names, 'DoesNotExist')] } : selector
  })
}

const place = ['spec', 'selector']

function isEmpty({ matchLabels, matchExpressions }: Json): boolean {
  return isNone(matchLabels) && isNone(matchExpressions)
}

function isOnly({ matchLabels, matchExpressions }: Json, { key, operator }: Term): boolean {
  if (!isNone(matchLabels) || !Array.isArray(matchExpressions) || matchExpressions.length !== 1) return false
  const [only] = matchExpressions
  return isJsonObject(only) && only['key'] === key && only['operator'] === operator && isNone(only['values'])
}

function isNone(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)
}

function term(names: Names, operator: Term['operator']): Term {
  return { key: labelOf(names), operator }
}

function labelOf(names: Names): string {
  return subdomainLabel(names, 'pdb', 'deprecated-v1beta1-empty-selector-match')
}
