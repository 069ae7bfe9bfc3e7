import type { Attributes } from '@orch/core/contracts'
import { getOrMake } from '@orch/core/memo'
import type { WebhookRule } from '../matching/criteria.ts'
import type { RequestVersion } from '../matching/equivalents.ts'
import { type Match, type MatchNeeds, matchSelectors, versionFor } from '../matching/match.ts'
import type { MatchResources } from './bound-policies.ts'

const passedOver: Match = { kind: 'passed over' }

/** The inputs of matching for one request: its version and the labels of its namespace are computed once for all policies. */
export function needsFor(attributes: Attributes, { equivalents, labelsOf }: MatchNeeds): MatchNeeds & { readonly own: RequestVersion } {
  const own = equivalents.own(attributes)
  const labels = new Map<string, ReturnType<MatchNeeds['labelsOf']>>()
  return {
    own,
    equivalents: { ...equivalents, own: () => own },
    labelsOf(namespace) {
      return getOrMake(labels, namespace, () => labelsOf(namespace))
    },
  }
}

/** Matches a request against a policy or a binding, and returns the version for it. Without rules every request matches. Only selectors may have to wait. */
export function matchResources(matched: MatchResources, attributes: Attributes, needs: MatchNeeds): Match | Promise<Match> {
  const { isEquivalentMatched } = matched
  const find = (rules: readonly WebhookRule[]) => versionFor({ rules, isEquivalentMatched }, attributes, needs.equivalents)
  const excluded = named(matched.excluded, matched.excludedNames, attributes)
  if (excluded.length > 0 && find(excluded) !== undefined) return passedOver
  const asVersion: RequestVersion | undefined =
    matched.rules.length === 0 ? needs.equivalents.own(attributes) : find(named(matched.rules, matched.names, attributes))
  if (asVersion === undefined) return passedOver
  const isForAll = matched.objectSelector.kind === 'all' && matched.namespaceSelector.kind === 'all'
  const called: Match = { kind: 'called', asVersion }
  return isForAll ? called : matchSelectors(matched, attributes, needs).then((found) => found ?? called)
}

/** The rules that match the object's name. */
function named(rules: readonly WebhookRule[], names: readonly (readonly string[])[], { name }: Attributes): readonly WebhookRule[] {
  if (names.every((wanted) => wanted.length === 0)) return rules
  return rules.filter((_rule, index) => {
    const wanted = names[index] ?? []
    return wanted.length === 0 || wanted.includes(name)
  })
}
