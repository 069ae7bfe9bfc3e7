import type { Attributes } from '@orch/core/contracts'
import type { RequestVersion } from '../webhooks/equivalents.ts'
import { type Match, type MatchNeeds, matchSelectors, versionFor } from '../webhooks/match.ts'
import type { WebhookRule } from '../webhooks/webhook.ts'
import type { MatchResources } from './bound-policies.ts'

const passedOver: Match = { kind: 'passed over' }

/** Whether a policy or a binding is about a request, and in which words it sees it. Without rules it is about every request. */
export async function matchResources(matched: MatchResources, attributes: Attributes, needs: MatchNeeds): Promise<Match> {
  const { isEquivalentMatched } = matched
  const find = (rules: readonly WebhookRule[]) => versionFor({ rules, isEquivalentMatched }, attributes, needs.equivalents)
  if (find(named(matched.excluded, matched.excludedNames, attributes)) !== undefined) return passedOver
  const asVersion: RequestVersion | undefined =
    matched.rules.length === 0 ? needs.equivalents.own(attributes) : find(named(matched.rules, matched.names, attributes))
  if (asVersion === undefined) return passedOver
  return (await matchSelectors(matched, attributes, needs)) ?? { kind: 'called', asVersion }
}

/** The rules that are about the object's name. */
function named(rules: readonly WebhookRule[], names: readonly (readonly string[])[], { name }: Attributes): readonly WebhookRule[] {
  return rules.filter((_rule, index) => {
    const wanted = names[index] ?? []
    return wanted.length === 0 || wanted.includes(name)
  })
}
