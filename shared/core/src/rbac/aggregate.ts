import { jsonEqual } from '../json/equal.ts'
import { matchesLabels, toLabelRequirements } from '../selectors/labels.ts'
import type { PolicyRule, RoleObject } from './rule.ts'

/**
 * The rules that a role with an aggregation rule has to have: those of all other cluster roles that one of its selectors means,
 * in the order of their names, none twice.
 */
export function aggregatedRules(role: RoleObject, clusterRoles: Iterable<RoleObject>): PolicyRule[] {
  const selectors = (role.aggregationRule?.clusterRoleSelectors ?? []).map(toLabelRequirements)
  const isMeant = ({ metadata }: RoleObject): boolean =>
    metadata.name !== role.metadata.name &&
    selectors.some((reading) => reading.kind === 'selector' && matchesLabels(reading.requirements, metadata.labels))
  const sources = [...clusterRoles].filter(isMeant).sort((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1))
  const rules: PolicyRule[] = []
  for (const source of sources) {
    for (const rule of source.rules ?? []) if (!rules.some((known) => jsonEqual(known, rule))) rules.push(rule)
  }
  return rules
}

function nameOf({ metadata }: RoleObject): string {
  return metadata.name ?? ''
}
